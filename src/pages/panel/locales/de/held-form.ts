/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const heldForm: PanelTexts['heldForm'] = {
  intro:
    'Noch wurde nichts geändert. Weisen Sie sich zuerst aus und kommen Sie dann in diesen Tab zurück: Ihre Eingaben bleiben erhalten.',
  confirm: 'In neuem Tab bestätigen',
  goOn: 'Weiter',
  cancel: 'Abbrechen',
  confirmed: 'Sie haben bestätigt, dass Sie es sind',
  backToForm: 'Schließen Sie diesen Tab und machen Sie in dem weiter, aus dem Sie kamen.',
};
