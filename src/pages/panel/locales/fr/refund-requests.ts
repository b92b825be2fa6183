/** Texts of the panel in French. */
import type { PanelTexts } from '../texts.ts';

export const refundRequests: PanelTexts['refundRequests'] = {
  title: 'Remboursements à approuver',
  hint: 'Une autre personne qui peut rembourser décide. Le paiement est vérifié à nouveau avant l’envoi du remboursement.',
  waits: 'Un remboursement attend une deuxième personne',
  asked: '{name} a demandé un remboursement de {amount}.',
  own: 'Vous avez demandé ce remboursement : une autre personne doit décider.',
  approve: 'Approuver et rembourser',
  refuse: 'Refuser',
  requestedBy: 'Demandé par',
  note: 'Note',
  none: 'Aucun remboursement n’attend',
  noneHint:
    'Les remboursements à partir du montant indiqué dans les réglages d’un compte apparaissent ici jusqu’à ce qu’une deuxième personne décide.',
  requested: 'Remboursement de {amount} demandé ; une deuxième personne doit l’approuver',
  approved: 'Remboursement de {amount} approuvé',
  refused: 'Remboursement de {amount} refusé',
  notSent: 'Le remboursement n’a pas été envoyé',
  notSentHint:
    'Le paiement a changé depuis la demande. Refusez ce remboursement et demandez-en un autre s’il est encore nécessaire.',
  toPayment: 'Aller au paiement',
};
