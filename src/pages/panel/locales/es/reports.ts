/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const reports: PanelTexts['reports'] = {
  from: 'Desde (UTC)',
  to: 'Hasta (UTC)',
  account: 'Cuenta',
  allAccounts: 'Todas las cuentas',
  groupBy: 'Agrupar por',
  groups: {
    day: 'Día',
    mid: 'Cuenta',
    brand: 'Método',
    currency: 'Moneda',
    connection: 'Proveedor',
    decline_class: 'Tipo de rechazo',
  },
  show: 'Mostrar informe',
  notADay: 'Escriba una fecha como 2026-07-31.',
  fromAfterTo: 'El primer día no debe ser posterior al último.',
  unknownAccount: 'Elija una cuenta de la lista.',
  rows: 'Informe',
  totals: 'Totales',
  payments: 'Pagos',
  settled: 'Pagados',
  declined: 'Rechazados',
  captured: 'Capturado',
  refunded: 'Reembolsado',
  chargedBack: 'Contracargos',
  paidOut: 'Desembolsado',
  net: 'Neto',
  tooLong:
    'Este informe es demasiado largo para una página. Descárguelo como CSV, acorte el periodo o agrupe por menos.',
  none: 'No ocurrió nada en este periodo',
  noneHint: 'Elija otros días u otra cuenta.',
};
