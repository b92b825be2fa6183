/** Texts of the panel in French. */
import type { PanelTexts } from '../texts.ts';

export const accountChoice: PanelTexts['accountChoice'] = {
  title: 'Comptes',
  all: 'Tous',
  hint: 'Ne voit que les comptes choisis. Aucun choix signifie tous les comptes. Le rôle Marchand en demande au moins un.',
  restrictedHint: 'Ne voit que les comptes choisis. Choisissez au moins un des vôtres.',
  more: 'Autres identifiants de comptes, un par ligne',
  problem: 'Aucun compte n’a l’un de ces identifiants.',
  restricted: 'Choisissez au moins un compte.',
  missing: 'Un marchand a besoin d’au moins un compte.',
};
