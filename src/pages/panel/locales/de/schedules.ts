/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const schedules: PanelTexts['schedules'] = {
  name: 'Name',
  state: 'Zustand',
  active: 'Aktiv',
  stopped: 'Beendet',
  stoppedAt: 'Beendet',
  subscriptionStates: { active: 'aktiv', finished: 'abgeschlossen', ended: 'beendet' },
  finished: 'Ausgelaufen',
  interval: 'Rhythmus',
  intervalText: 'Alle {interval}, {count}-mal',
  dayOfMonth: 'Tag des Monats',
  delays: 'Abstände vor der ersten Abbuchung',
  next: 'Nächste Abbuchung',
  terms: 'Bedingungen',
  subscriptions: 'Abonnements',
  activeSubscriptions: 'Aktive Abonnements',
  noSubscriptions: 'Noch keine Zahlung benutzt dieses Abo.',
  firstOf: 'Die ersten von allen, nach der Zeit der nächsten Abbuchung:',
  firstPayment: 'Erste Zahlung',
  occurrences: 'Abbuchungen',
  failed: 'Aufgegeben',
  charges: 'Zahlungen dieses Abos',
  noCharges: 'Noch wurde nichts abgebucht.',
  stop: 'Beenden',
  stopSchedule: 'Abo beenden',
  stopConfirm:
    'Für kein Abonnement davon wird mehr abgebucht. Gemachte Zahlungen bleiben, wie sie sind. Das lässt sich nicht rückgängig machen.',
  stopSubscription: 'Abonnement beenden',
  stopSubscriptionConfirm:
    'Für dieses Abonnement wird nichts mehr abgebucht; die anderen gehen weiter. Eine laufende Abbuchung wird abgeschlossen. Das lässt sich nicht rückgängig machen.',
  done: {
    schedule: 'Das Abo ist beendet: Nichts mehr wird abgebucht.',
    subscription: 'Das Abonnement ist beendet: Dafür wird nichts mehr abgebucht.',
  },
  none: 'Keine Abos',
  noneHint: 'Ein Shop legt eines über die API an, wenn ein Zahler abonniert. Der Leitfaden für Händler beschreibt das.',
};
