/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const refundRequests: PanelTexts['refundRequests'] = {
  title: 'Reembolsos por aprobar',
  hint: 'Decide otra persona que puede reembolsar. El pago se comprueba de nuevo antes de enviar el reembolso.',
  waits: 'Un reembolso espera a una segunda persona',
  asked: '{name} solicitó un reembolso de {amount}.',
  own: 'Usted solicitó este reembolso: tiene que decidir otra persona.',
  approve: 'Aprobar y reembolsar',
  refuse: 'Rechazar',
  requestedBy: 'Solicitado por',
  note: 'Nota',
  none: 'Ningún reembolso espera',
  noneHint:
    'Los reembolsos a partir del importe indicado en los ajustes de una cuenta aparecen aquí hasta que decida una segunda persona.',
  requested: 'Reembolso de {amount} solicitado; tiene que aprobarlo una segunda persona',
  approved: 'Reembolso de {amount} aprobado',
  refused: 'Reembolso de {amount} rechazado',
  notSent: 'El reembolso no se envió',
  notSentHint:
    'El pago ha cambiado desde que se solicitó el reembolso. Rechace este reembolso y solicite otro si todavía hace falta.',
  toPayment: 'Ir al pago',
};
