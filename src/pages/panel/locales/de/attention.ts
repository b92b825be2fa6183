/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const attention: PanelTexts['attention'] = {
  lead: 'Zahlungen, deren Status hier und deren Geld beim Anbieter voneinander abweichen können, und Erstattungen, die eine zweite Person brauchen.',
  marks: 'Gründe',
  actions: 'Entscheiden',
  none: 'Es gibt nichts zu klären',
  noneHint: 'Meldet ein Anbieter etwas, das nicht zu einer Zahlung passt, erscheint die Zahlung hier.',
  noneOfMark: 'Keine Zahlung hat diese Markierung',
  noneOfMarkHint: 'Wählen Sie oben einen anderen Grund oder ein anderes Konto.',
  note: 'Notiz',
  noteHint: 'Warum. Der Verlauf der Zahlung und das Protokoll behalten sie.',
  reported: 'Vom Anbieter gemeldet',
  reserved: 'nur reserviert',
  inProgress: 'Eine Erstattung läuft. Die Markierung verschwindet, wenn der Anbieter sie ausgeführt hat.',
  resolutions: { accept: 'Annehmen', refund: 'Erstatten', dismiss: 'Verwerfen' },
  titles: {
    accept: 'Den späten Erfolg annehmen',
    refund: 'Das Geld zurücksenden',
    dismiss: 'Die Markierung verwerfen',
  },
  confirm: {
    accept:
      'Das Geld zählt: Die Zahlung gilt als bezahlt, und der Shop bekommt den Callback eines Erfolgs. Das lässt sich nicht rückgängig machen, aber die Zahlung kann später erstattet werden.',
    refund:
      'Der Anbieter sendet das Geld an den Zahler zurück. Die Zahlung bleibt, wie sie ist, und der Shop bekommt keinen Callback. Das lässt sich nicht rückgängig machen.',
    dismiss: 'Nur die Markierung wird entfernt. Beim Anbieter ändert sich nichts, und die Zahlung bleibt, wie sie ist.',
  },
};
