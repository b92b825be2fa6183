/** Generates docs/states.md: the states of a payment, their transitions and the timers, as tables and as a diagram. */
import { BRANDS } from '../../src/rules/brands.ts';
import { BLOCKING_ATTEMPTS, RETRY_SCHEDULE_MS } from '../../src/rules/callbacks.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import {
  isRetriable,
  type PaymentEvent,
  STATE_NAMES,
  STATES,
  type StateName,
  transitionsFrom,
} from '../../src/rules/states.ts';
import { code, duration, page, table } from './markdown.ts';

const STATE_MEANS: Record<StateName, string> = {
  PREPARE: 'Stored; the payer chooses a payment method, or the provider has not answered yet.',
  REDIRECT: 'The payer must continue on another page.',
  '3DS': 'The payer must complete 3-D Secure, on the payment page, at the card issuer or at the provider.',
  PENDING: 'Authorised and waiting for a capture, or waiting for the outcome from the provider.',
  SETTLED: 'Paid.',
  DECLINED: 'Declined by the provider, or not completed by the payer.',
  VOID: 'Cancelled before any money moved.',
  REVERSAL: 'The authorisation was released.',
  REFUND: 'Refunded in full.',
  CHARGEBACK: 'Charged back by the payer’s bank.',
  EXPIRED: 'Authorised, but not captured in time.',
};

const EVENT_MEANS: Record<PaymentEvent, string> = {
  redirected: 'the provider requires the payer to continue on another page',
  challenged: 'the payer has to authenticate by 3-D Secure, or the card issuer requires a challenge',
  accepted: 'the provider accepted the payment and will report the outcome later',
  unanswered: 'the provider was called and did not answer; it is queried until it does',
  authorised: 'the provider reserved the amount',
  settled: 'the provider moved the money',
  declined: 'the provider declined',
  abandoned: 'the payer did not finish in time, or left a 3-D Secure challenge for another card',
  captured: 'an authorised amount was captured',
  voided: 'the merchant or the operator cancelled the payment',
  reversed: 'the merchant or the operator released the authorisation',
  expired: 'the authorisation was not captured within the account’s `authorisation_days`',
  partlyRefunded: 'a part was refunded',
  refunded: 'the whole captured amount was refunded',
  chargedBack: 'the payer’s bank charged the payment back, or a part of it',
  chargebackReversed:
    'the provider returned the money of a chargeback: the payment has the state from before it, which is `REFUND` if a refund completed meanwhile',
  secondChargedBack: 'the bank took the money once more after a reversal',
  acceptedLate: 'an operator accepted a success that the provider reported after the payment had ended',
  lateRefunded: 'the operator sent the money of such a late success back to the payer; no callback is sent',
};

const pauses = (list: readonly number[]): string => list.map(duration).join(', ');

/** The timers; every number comes from the limits. */
function timers(): string[][] {
  const { queryBackoffMs, lateQueryBackoffMs, notificationRetryMs, scheduleRetryMs } = LIMITS;
  const ownTime = Object.entries(BRANDS).flatMap(([label, { payerTimeMs }]) =>
    payerTimeMs === undefined ? [] : [`${duration(payerTimeMs)} for ${code(label)}`],
  );
  return [
    [
      `A payment is ${code('PREPARE')} for ${duration(LIMITS.submissionMs)}, because its process stopped`,
      'its provider is queried',
    ],
    [
      'The outcome is unknown, the provider reports it later, or the payer was redirected',
      `the provider is queried after ${duration(queryBackoffMs[0])}, then at intervals of ${pauses(queryBackoffMs)}; the last interval is repeated ${LIMITS.dailyQueries} times`,
    ],
    [
      'The outcome is unknown, and all these intervals have passed',
      `the payment gets the attention mark ${code('unresolved')}, and the provider is still queried once a day`,
    ],
    [
      'A connector answers again after at least three unanswered calls',
      'its open payments are queried soon, one after the other',
    ],
    [
      `The provider reports twice in a row that it has no such payment, and ${duration(LIMITS.submissionMs + LIMITS.neverReceivedMs)} have passed since the gateway last started to submit it`,
      `it is ${code('DECLINED')}, unless its connector cannot determine this; the provider is still queried for a late success`,
    ],
    [
      `The payer’s time is over: ${duration(LIMITS.payerMs)} after the sale, ${ownTime.join(', ')}; with Checkout when the session expires, and ${duration(LIMITS.challengeMs)} after the redirect to the card issuer`,
      `the provider is queried once more; a payment that succeeded counts as a success, any other is ${code('DECLINED')} (${code('abandoned')}). While the provider does not answer, a redirected payment stays open and is queried again`,
    ],
    [
      `An accepted payment has no outcome after the pending time of its [brand](brands.md)`,
      'the same: one more query, then it is declined',
    ],
    [
      `The payment has ended without success in one of these ways`,
      `the provider is still queried, in case the payment succeeds late: after ${duration(lateQueryBackoffMs[0])}, then at intervals of ${pauses(lateQueryBackoffMs)}`,
    ],
    [
      'An authorisation is older than the account’s `authorisation_days`',
      `it is voided at the provider and then ${code('EXPIRED')}; a capture, void or reversal in progress finishes first`,
    ],
    [
      `A capture, void or refund has no outcome after ${duration(LIMITS.submissionMs)}, because its process stopped`,
      'its provider is queried for the operation',
    ],
    [
      'The outcome of an operation is unknown, or the provider reports it later',
      `the provider is queried at intervals of ${pauses(queryBackoffMs)}; the last interval is repeated ${LIMITS.dailyQueries} times`,
    ],
    [
      'The provider has no such operation',
      'it is sent again with the same id, unless the connector does not support idempotent repeats',
    ],
    ['A scheduled charge is due', 'it is charged under its own order number'],
    [
      'A scheduled charge is declined',
      `it is retried after ${pauses(scheduleRetryMs)}; then it is given up, and the schedule continues with the next date`,
    ],
    [
      'The outcome of a scheduled charge, or of the first payment, is not known yet',
      `the schedule checks again after ${duration(LIMITS.scheduleWaitMs)}`,
    ],
    [
      'A merchant’s server does not accept a callback',
      `it is retried after ${pauses(RETRY_SCHEDULE_MS)}, each interval up to a fifth shorter or longer; then it is ${code('parked')}. Later callbacks of the payment are sent after ${BLOCKING_ATTEMPTS} failed attempts`,
    ],
    [
      'A provider notification arrives for an unknown payment',
      `it is retried after ${pauses(notificationRetryMs)}; then it is ${code('unmatched')}`,
    ],
  ];
}

export function states(): string {
  const events = Object.entries(EVENT_MEANS);
  return page(
    'States of a payment',
    'src/rules/states.ts and src/rules/limits.ts',
    `
This page lists the states of a payment, the events that change them, and the timers. Only the transitions in this table
are possible. A provider notification without a transition, such as a decline of a settled payment, is recorded in the
history of the payment and has no effect. If a payment succeeds at the provider after it has ended without success, it is
put on the operator’s [attention list](operator/attention-list.md), because money may have moved.

Checkout uses the same states in lower case, except that ${code('DECLINED')} is ${code('decline')}.`,
    table(
      ['State', 'Meaning', '`result` of a sale', 'Order may be tried again', 'Transitions'],
      STATE_NAMES.map((state) => [
        code(state),
        STATE_MEANS[state],
        code(STATES[state].result),
        isRetriable(state) ? 'yes' : 'no',
        transitionsFrom(state)
          .map(([event, to]) => `${event} → ${code(to)}`)
          .join(', ') || 'final',
      ]),
    ),
    `
A sale whose provider did not answer has \`result\` ${code('UNDEFINED')} and \`status\` ${code('PENDING')} until the
outcome is known. The gateway does not decline it before the provider has answered.`,
    '## Diagram',
    `
The transitions of the table above as a picture. A state that an event does not change, the decisions of operators
about late successes, and the way back from a chargeback are not drawn.`,
    '![Diagram of the states of a payment and their transitions](states.svg)',
    '## Events',
    table(
      ['Event', 'Meaning'],
      events.map(([event, means]) => [code(event), means]),
    ),
    `
The history of a payment also contains rows that do not change the state. For a capture, void, reversal or refund these
are ${code('requested …')} when the amount is reserved, before the provider is called; ${code('refused …')} when the
provider declined it; and ${code('unanswered …')} for each call without an outcome. A completed operation has the event
from the table.

Rows that move money tell the amount: \`amount\` of \`settled\`, \`captured\`, \`acceptedLate\`, \`partlyRefunded\` and
\`refunded\` is what was captured or refunded by this event; that of \`chargedBack\` and \`secondChargedBack\` is what the bank
took, at most what is left of the payment; that of \`chargebackReversed\` is what came back.`,
    '## Timers',
    table(['Condition', 'Effect'], timers()),
  );
}
