/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const erasure: PanelTexts['erasure'] = {
  action: 'Borrar los datos personales',
  title: 'Borrar los datos personales',
  lead: 'El pagador lo pidió, o usted ya no necesita los datos. Esto no se puede deshacer.',
  lost: 'Qué se pierde',
  losses: [
    'El nombre, el correo electrónico, el teléfono, la dirección, la dirección IP y todo lo demás que identifica al pagador',
    'Los campos del método de pago y los datos propios del comercio',
    'La tarjeta guardada: su token deja de funcionar, los cobros recurrentes se rechazan y terminan las suscripciones que la usan',
    'Los cuerpos de los callbacks, las llamadas a la API guardadas y los cuerpos de las notificaciones del proveedor',
  ],
  stays: 'Qué se conserva',
  kept: [
    'Los importes, las fechas, los estados, el historial, todos los ID y la tarjeta enmascarada: el pago se puede reembolsar',
    'Los archivos de prueba de un contracargo y el texto que el pagador aceptó, sin el nombre',
    'Las copias de seguridad escritas antes, y lo que tienen el proveedor y el comercio',
  ],
  scope: 'Pagos que se borran',
  order: 'Todos los intentos de este pedido',
  payer: 'Todos los pagos de {email} en esta cuenta',
  confirm: 'Borrar definitivamente',
  partly: 'Borrado. Estos pagos no han terminado y conservan sus datos:',
  more: 'Hay más pagos de este pagador: envíe el formulario otra vez.',
  erasedAt: 'Datos personales borrados',
  bodyErased: 'El cuerpo se borró.',
};
