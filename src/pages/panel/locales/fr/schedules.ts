/** Texts of the panel in French. */
import type { PanelTexts } from '../texts.ts';

export const schedules: PanelTexts['schedules'] = {
  name: 'Nom',
  state: 'État',
  active: 'Actif',
  stopped: 'Arrêté',
  stoppedAt: 'Arrêté',
  subscriptionStates: { active: 'actif', finished: 'terminé', ended: 'arrêté' },
  finished: 'Terminé',
  interval: 'Rythme',
  intervalText: 'Tous les {interval}, {count} fois',
  dayOfMonth: 'Jour du mois',
  delays: 'Intervalles avant le premier débit',
  next: 'Prochain débit',
  terms: 'Conditions',
  subscriptions: 'Souscriptions',
  activeSubscriptions: 'Souscriptions actives',
  noSubscriptions: 'Aucun paiement n’utilise encore cet abonnement.',
  firstOf: 'Les premières de toutes, selon la date du prochain débit :',
  firstPayment: 'Premier paiement',
  occurrences: 'Débits',
  failed: 'Abandonnés',
  charges: 'Paiements de cet abonnement',
  noCharges: 'Rien n’a encore été débité.',
  stop: 'Arrêter',
  stopSchedule: 'Arrêter l’abonnement',
  stopConfirm:
    'Plus rien n’est débité pour aucune souscription. Les paiements faits restent tels quels. C’est irréversible.',
  stopSubscription: 'Arrêter la souscription',
  stopSubscriptionConfirm:
    'Plus rien n’est débité pour cette souscription ; les autres continuent. Un débit en cours est mené à terme. C’est irréversible.',
  done: {
    schedule: 'L’abonnement est arrêté : plus rien n’est débité.',
    subscription: 'La souscription est arrêtée : plus rien n’est débité pour elle.',
  },
  none: 'Aucun abonnement',
  noneHint: 'Une boutique en crée un par l’API quand un payeur s’abonne. Le guide des marchands l’explique.',
};
