/** Texts of the panel in French. */
import type { PanelTexts } from '../texts.ts';

export const attention: PanelTexts['attention'] = {
  lead: 'Des paiements dont l’état ici et l’argent chez le prestataire peuvent différer, et des remboursements qui demandent une deuxième personne.',
  marks: 'Motifs',
  actions: 'Décider',
  none: 'Rien ne demande votre attention',
  noneHint: 'Quand un prestataire signale quelque chose qui ne correspond pas à un paiement, le paiement apparaît ici.',
  noneOfMark: 'Aucun paiement n’a cette marque',
  noneOfMarkHint: 'Choisissez un autre motif ci-dessus, ou un autre compte.',
  note: 'Note',
  noteHint: 'Pourquoi. L’historique du paiement et le journal la conservent.',
  reported: 'Signalé par le prestataire',
  reserved: 'seulement réservé',
  inProgress: 'Un remboursement est en cours. La marque disparaît quand le prestataire l’a fait.',
  resolutions: { accept: 'Accepter', refund: 'Rembourser', dismiss: 'Écarter' },
  titles: { accept: 'Accepter le succès tardif', refund: 'Renvoyer l’argent', dismiss: 'Écarter la marque' },
  confirm: {
    accept:
      'L’argent compte : le paiement est considéré comme payé et la boutique reçoit le callback d’un succès. C’est irréversible, mais le paiement pourra être remboursé plus tard.',
    refund:
      'Le prestataire renvoie l’argent au payeur. Le paiement reste tel quel et la boutique ne reçoit pas de callback. C’est irréversible.',
    dismiss: 'Seule la marque est retirée. Rien ne change chez le prestataire et le paiement reste tel quel.',
  },
};
