/** Texts of the panel in French. */
import type { PanelTexts } from '../texts.ts';

export const erasure: PanelTexts['erasure'] = {
  action: 'Effacer les données personnelles',
  title: 'Effacer les données personnelles',
  lead: 'Le payeur l’a demandé, ou vous n’avez plus besoin des données. C’est irréversible.',
  lost: 'Ce qui est perdu',
  losses: [
    'Nom, adresse e-mail, téléphone, adresse, adresse IP et tout ce qui identifie le payeur',
    'Les champs du moyen de paiement et les données propres du marchand',
    'La carte enregistrée : son jeton ne fonctionne plus, les paiements récurrents sont refusés et les abonnements qui l’utilisent se terminent',
    'Le contenu des callbacks, les appels d’API conservés et le contenu des notifications du prestataire',
  ],
  stays: 'Ce qui reste',
  kept: [
    'Montants, dates, états, historique, tous les identifiants et la carte masquée : le paiement peut être remboursé',
    'Les justificatifs d’une rétrofacturation et le texte que le payeur a accepté, sans le nom',
    'Les sauvegardes écrites auparavant, et ce qu’ont le prestataire et le marchand',
  ],
  scope: 'Paiements à effacer',
  order: 'Toutes les tentatives de cette commande',
  payer: 'Tous les paiements de {email} dans ce compte',
  confirm: 'Effacer définitivement',
  partly: 'Effacé. Ces paiements ne sont pas terminés et gardent leurs données :',
  more: 'Ce payeur a d’autres paiements : renvoyez le formulaire.',
  erasedAt: 'Données personnelles effacées',
  bodyErased: 'Le contenu a été effacé.',
};
