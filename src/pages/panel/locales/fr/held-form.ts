/** Texts of the panel in French. */
import type { PanelTexts } from '../texts.ts';

export const heldForm: PanelTexts['heldForm'] = {
  intro:
    'Rien n’a encore été modifié. Prouvez d’abord qui vous êtes, puis revenez à cet onglet : votre saisie est conservée.',
  confirm: 'Confirmer dans un nouvel onglet',
  goOn: 'Continuer',
  cancel: 'Annuler',
  confirmed: 'Vous avez confirmé que c’est bien vous',
  backToForm: 'Fermez cet onglet et continuez dans celui d’où vous venez.',
};
