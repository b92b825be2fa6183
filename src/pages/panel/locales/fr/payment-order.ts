/** Texts of the panel in French. */
import type { PanelTexts } from '../texts.ts';

export const paymentOrder: PanelTexts['paymentOrder'] = {
  title: 'Lignes de commande',
  name: 'Article',
  quantity: 'Quantité',
  unit: 'Prix unitaire',
  amount: 'Montant',
  subtotal: 'Sous-total',
  shipping: 'Livraison',
  tax: 'Taxe',
  discount: 'Remise',
  total: 'Total',
  receipt: 'Reçu par e-mail',
  receiptAttempt: 'Reçu par e-mail, tentative {attempt}',
  states: { waiting: 'en attente', sent: 'envoyé', failed: 'échoué' },
};
