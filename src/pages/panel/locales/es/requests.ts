/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const requests: PanelTexts['requests'] = {
  call: 'Llamada a la API',
  at: 'Fecha',
  account: 'Cuenta',
  noAccount: 'Clave desconocida',
  action: 'Acción',
  outcome: 'Resultado',
  outcomes: { accepted: 'Aceptada', refused: 'Rechazada' },
  error: 'Error',
  errorCode: 'Código de error',
  order: 'Pedido',
  took: 'Duración',
  payment: 'Pago',
  id: 'ID',
  requestId: 'ID de la solicitud',
  protocol: 'Protocolo',
  protocols: { s2s: 'S2S, /post', checkout: 'Checkout, /api/v1' },
  address: 'Dirección del cliente',
  status: 'Respuesta',
  request: 'Solicitud',
  field: 'Campo',
  value: 'Valor',
  answer: 'Respuesta',
  noFields: 'El cuerpo no se pudo leer, o no tiene campos.',
  masked:
    'Los secretos, los hashes, los tokens, los números de tarjeta y los campos que la pasarela no conoce están enmascarados.',
  explain: 'Por qué el hash no es correcto',
  none: 'No hay llamadas a la API',
  noneHint: 'Aquí aparecen las llamadas rechazadas de los últimos siete días y una muestra de las aceptadas.',
  nothingFound: 'Ninguna llamada coincide',
  nothingFoundHint:
    'Quite un filtro. Las llamadas se conservan siete días, como máximo 1000 de cada resultado por cuenta.',
};
