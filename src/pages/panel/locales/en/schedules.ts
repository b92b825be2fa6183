/** The texts of the schedules in English. */

export const schedules = {
  name: 'Name',
  state: 'State',
  active: 'Active',
  stopped: 'Stopped',
  stoppedAt: 'Stopped',
  subscriptionStates: { active: 'active', finished: 'finished', ended: 'stopped' },
  finished: 'Ended',
  interval: 'Rhythm',
  intervalText: 'Every {interval}, {count} times',
  dayOfMonth: 'Day of the month',
  delays: 'Intervals before the first charge',
  next: 'Next charge',
  terms: 'Terms',
  subscriptions: 'Subscriptions',
  activeSubscriptions: 'Active subscriptions',
  noSubscriptions: 'No payment uses this schedule yet.',
  firstOf: 'The first of all, by the time of the next charge:',
  firstPayment: 'First payment',
  occurrences: 'Charges',
  failed: 'Given up',
  charges: 'Payments of this schedule',
  noCharges: 'Nothing was charged yet.',
  stop: 'Stop',
  stopSchedule: 'Stop the schedule',
  stopConfirm:
    'Nothing more is charged for any subscription of this schedule. Payments that were made stay as they are. This cannot be undone.',
  stopSubscription: 'Stop the subscription',
  stopSubscriptionConfirm:
    'Nothing more is charged for this subscription; the others of the schedule go on. A charge that is being made is finished. This cannot be undone.',
  done: {
    schedule: 'The schedule is stopped: nothing more is charged.',
    subscription: 'The subscription is stopped: nothing more is charged for it.',
  } as Readonly<Record<string, string>>,
  none: 'No schedules',
  noneHint: 'A shop creates one through the API when a payer subscribes. The guide for merchants says how.',
};
