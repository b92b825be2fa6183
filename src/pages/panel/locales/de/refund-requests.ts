/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const refundRequests: PanelTexts['refundRequests'] = {
  title: 'Zu genehmigende Erstattungen',
  hint: 'Eine andere Person, die erstatten darf, entscheidet. Die Zahlung wird neu geprüft, bevor die Erstattung gesendet wird.',
  waits: 'Eine Erstattung wartet auf eine zweite Person',
  asked: '{name} hat eine Erstattung von {amount} angefordert.',
  own: 'Sie haben diese Erstattung angefordert: Eine andere Person muss entscheiden.',
  approve: 'Genehmigen und erstatten',
  refuse: 'Ablehnen',
  requestedBy: 'Angefordert von',
  note: 'Notiz',
  none: 'Keine Erstattung wartet',
  noneHint:
    'Erstattungen ab dem Betrag in den Einstellungen eines Kontos erscheinen hier, bis eine zweite Person entscheidet.',
  requested: 'Erstattung von {amount} angefordert; eine zweite Person muss sie genehmigen',
  approved: 'Erstattung von {amount} genehmigt',
  refused: 'Erstattung von {amount} abgelehnt',
  notSent: 'Die Erstattung wurde nicht gesendet',
  notSentHint:
    'Die Zahlung hat sich geändert, seit die Erstattung angefordert wurde. Lehnen Sie diese Erstattung ab und fordern Sie eine andere an, falls sie noch nötig ist.',
  toPayment: 'Zur Zahlung',
};
