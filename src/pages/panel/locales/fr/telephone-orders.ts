/** The texts of the telephone orders in French. */
import type { PanelTexts } from '../texts.ts';

export const telephoneOrders: PanelTexts['telephoneOrders'] = {
  hint: 'Saisissez ce que le client commande. La page suivante demande la carte. Ne notez pas le numéro de la carte.',
  account: 'Compte',
  amount: 'Montant',
  currency: 'Devise',
  description: 'Ce qui est commandé',
  order: 'Numéro de commande',
  orderHint: 'Laissez vide pour un nouveau numéro.',
  make: 'Continuer vers la carte',
  notAllowed:
    'Aucun compte n’accepte de commandes par téléphone. L’exploitant de la passerelle les autorise dans les réglages d’un compte.',
  taken: 'Commandes que vous avez prises',
  takenAt: 'Prise',
  status: 'État',
};
