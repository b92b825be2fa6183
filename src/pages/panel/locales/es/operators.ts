/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const operators: PanelTexts['operators'] = {
  name: 'Nombre',
  email: 'Correo electrónico',
  refundLimit: 'Límite de reembolso',
  refundLimitHint:
    'Lo máximo que esta persona puede reembolsar de un pago, en su moneda, por ejemplo 50.00. Déjelo vacío para no poner límite.',
  refundLimitProblem: 'Escriba un número como 50.00, o nada.',
  noLimit: 'Sin límite',
  delete: 'Eliminar',
  role: 'Rol',
  state: 'Estado',
  lastSignIn: 'Último inicio de sesión',
  change: 'Cambiar',
  save: 'Guardar',
  suspend: 'Suspender',
  resume: 'Levantar la suspensión',
  invite: 'Invitar a un usuario',
  inviteButton: 'Crear invitación',
  inviteAgain: 'Enlace nuevo',
  invited: 'Invitación creada',
  inviteHint: 'Envíe este enlace al usuario. Funciona una sola vez, durante siete días, y no se vuelve a mostrar.',
  link: 'Enlace',
  accounts: 'Cuentas',
  emailProblem: 'Escriba una dirección de correo electrónico.',
  emailInUse: 'Ya hay un usuario con esta dirección.',
  you: 'usted',
  states: { invited: 'invitado', active: 'activo', suspended: 'suspendido' },
  mailed: 'La invitación se envió por correo electrónico.',
  notMailed: 'El correo no se pudo enviar:',
  mailedHint:
    'También puede enviar este enlace usted. Funciona una sola vez, durante siete días, y no se vuelve a mostrar.',
};
