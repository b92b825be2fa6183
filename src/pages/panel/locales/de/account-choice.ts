/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const accountChoice: PanelTexts['accountChoice'] = {
  title: 'Konten',
  all: 'Alle',
  hint: 'Sieht nur die gewählten Konten. Keines gewählt heißt alle Konten. Die Rolle Händler braucht mindestens eines.',
  restrictedHint: 'Sieht nur die gewählten Konten. Wählen Sie mindestens eines von Ihren.',
  more: 'Weitere Konto-IDs, eine je Zeile',
  problem: 'Es gibt kein Konto mit einer dieser IDs.',
  restricted: 'Wählen Sie mindestens ein Konto.',
  missing: 'Ein Händler braucht mindestens ein Konto.',
};
