/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const hashDebugger: PanelTexts['debugger'] = {
  intro: 'Averigüe por qué la pasarela responde «Hash is not valid» a una solicitud de un comercio.',
  account: 'Cuenta',
  choose: 'Elija una cuenta',
  chooseAccount: 'Elija una cuenta de la lista y escriba la solicitud otra vez.',
  request: 'Cuerpo de la solicitud',
  requestHint: 'El cuerpo completo, exactamente como se envió: el formulario de /post o el JSON de Checkout.',
  hidden:
    'La solicitud no se vuelve a mostrar, porque contiene un secreto o un número de tarjeta, o porque la cuenta no se conoce.',
  path: 'Ruta de la solicitud',
  inferred: 'Deducirla de los campos',
  pathHint: 'Solo hace falta si dos operaciones tienen los mismos campos.',
  explain: 'Explicar',
  right: 'El hash es correcto.',
  rightWithMistakes: 'El hash es correcto, pero puede haber otro error.',
  wrong: 'El hash no es correcto.',
  hints: 'Qué hacer',
  mistakes: 'Errores:',
  signedText: 'Texto firmado',
  signedHint: 'Los valores en su orden, en mayúsculas, y después la contraseña, que se muestra como ***.',
  signedHintReversed:
    'El texto de la receta reversed_md5, invertido en parte, en mayúsculas; la contraseña se muestra como ***.',
  operation: 'Operación',
  noDigests: 'Su rol no muestra el MD5 ni el SHA-1: con ellos se puede enviar la solicitud.',
  fields: 'Campos firmados en su orden',
  noFields: 'El hash de esta operación se forma solo con la contraseña.',
  field: 'Campo',
  value: 'Valor',
  noValue: 'no enviado',
  refused: 'Solicitudes rechazadas',
  refusedHint:
    'O elija una solicitud reciente cuyo hash se rechazó. La pasarela la explicó al llegar: no conserva ni el hash ni la contraseña.',
  noRefused: 'Últimamente no se rechazó ninguna solicitud por su hash.',
  allRefused: 'Todas las solicitudes rechazadas',
  at: 'Fecha',
  order: 'Pedido',
  mistake: 'Error',
  notExplained:
    'Esta solicitud no se explicó, porque se rechazaron demasiadas al mismo tiempo. Escriba su cuerpo abajo.',
  ofCall: 'Solicitud de',
  showCall: 'Mostrar la llamada a la API',
  noDigestsOfCall: 'El MD5 y el SHA-1 solo se muestran para una solicitud que se escribe abajo.',
};
