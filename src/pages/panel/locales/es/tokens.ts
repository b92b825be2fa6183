/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const tokens: PanelTexts['tokens'] = {
  name: 'Nombre',
  nameHint: 'Qué lo usa, por ejemplo «Monitorización».',
  nameProblem: 'Escriba un nombre de 100 caracteres como máximo.',
  role: 'Rol',
  accounts: 'Cuentas',
  created: 'Creado',
  expires: 'Caduca',
  never: 'Nunca',
  days: 'días',
  lastUsed: 'Último uso',
  revoke: 'Revocar',
  create: 'Crear token',
  createdTitle: 'Token creado',
  token: 'Token',
  none: 'No hay tokens de API',
  noneHint: 'Cree uno para cada programa que llame a la API de administración.',
};
