/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const operators: PanelTexts['operators'] = {
  name: 'Name',
  email: 'E-Mail-Adresse',
  refundLimit: 'Grenze für Erstattungen',
  refundLimitHint:
    'So viel darf diese Person von einer Zahlung höchstens erstatten, in deren Währung, zum Beispiel 50.00. Leer heißt: keine Grenze.',
  refundLimitProblem: 'Geben Sie eine Zahl wie 50.00 ein, oder nichts.',
  noLimit: 'Keine Grenze',
  delete: 'Löschen',
  role: 'Rolle',
  state: 'Zustand',
  lastSignIn: 'Letzte Anmeldung',
  change: 'Ändern',
  save: 'Speichern',
  suspend: 'Sperren',
  resume: 'Sperre aufheben',
  invite: 'Benutzer einladen',
  inviteButton: 'Einladung erstellen',
  inviteAgain: 'Neuer Link',
  invited: 'Einladung erstellt',
  inviteHint:
    'Senden Sie diesen Link an den Benutzer. Er gilt einmal, sieben Tage lang, und wird nicht noch einmal gezeigt.',
  link: 'Link',
  accounts: 'Konten',
  emailProblem: 'Geben Sie eine E-Mail-Adresse ein.',
  emailInUse: 'Es gibt schon einen Benutzer mit dieser Adresse.',
  you: 'Sie',
  states: { invited: 'eingeladen', active: 'aktiv', suspended: 'gesperrt' },
  mailed: 'Die Einladung wurde per E-Mail gesendet.',
  notMailed: 'Die E-Mail konnte nicht gesendet werden:',
  mailedHint:
    'Sie können diesen Link auch selbst senden. Er gilt einmal, sieben Tage lang, und wird nicht noch einmal gezeigt.',
};
