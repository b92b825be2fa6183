/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const tokens: PanelTexts['tokens'] = {
  name: 'Name',
  nameHint: 'Was ihn benutzt, etwa Überwachung.',
  nameProblem: 'Geben Sie einen Namen von höchstens 100 Zeichen ein.',
  role: 'Rolle',
  accounts: 'Konten',
  created: 'Erstellt',
  expires: 'Läuft ab',
  never: 'Nie',
  days: 'Tage',
  lastUsed: 'Zuletzt benutzt',
  revoke: 'Widerrufen',
  create: 'Token erstellen',
  createdTitle: 'Token erstellt',
  token: 'Token',
  none: 'Keine API-Tokens',
  noneHint: 'Erstellen Sie einen für jedes Programm, das die API für Betreiber aufruft.',
};
