/** The states of a payment and the events that move it, as tables and as a diagram. */
import { BRANDS } from '../../src/rules/brands.ts';
import { BLOCKING_ATTEMPTS, RETRY_SCHEDULE_MS } from '../../src/rules/callbacks.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { isRetriable, type PaymentEvent, STATE_NAMES, STATES, type StateName } from '../../src/rules/states.ts';
import { code, duration, page, table } from './markdown.ts';

const STATE_MEANS: Record<StateName, string> = {
  PREPARE: 'Written down; the payer chooses how to pay, or the provider has not answered yet.',
  REDIRECT: 'The payer has to go to another page.',
  '3DS': 'The payer has to pass the check of the card’s bank.',
  PENDING: 'Authorised and waiting for a capture, or waiting for the provider’s outcome.',
  SETTLED: 'Paid.',
  DECLINED: 'Refused by the provider, or never finished by the payer.',
  VOID: 'Cancelled before any money moved.',
  REVERSAL: 'The authorisation was given back.',
  REFUND: 'Paid back in full.',
  CHARGEBACK: 'Taken back by the payer’s bank.',
  EXPIRED: 'Authorised, but not captured in time.',
};

const EVENT_MEANS: Record<PaymentEvent, string> = {
  redirected: 'the provider needs the payer on another page',
  challenged: 'the card’s bank wants to see the payer',
  accepted: 'the provider took the payment and will tell the outcome later',
  unanswered: 'the provider was called and did not answer; it is asked again until it does',
  authorised: 'the provider reserved the amount',
  settled: 'the provider moved the money',
  declined: 'the provider refused',
  abandoned: 'the payer did not finish in time',
  captured: 'an authorised amount was taken',
  voided: 'the merchant or the operator cancelled',
  reversed: 'the merchant or the operator gave the authorisation back',
  expired: 'nobody captured the authorisation within the account’s `authorisation_days`',
  partlyRefunded: 'a part was paid back',
  refunded: 'everything was paid back',
  chargedBack: 'the payer’s bank took the money back',
};

const pauses = (list: readonly number[]): string => list.map(duration).join(', ');

/** What happens by itself, and when; every number is a row of the limits. */
function whatTimeBrings(): string[][] {
  const { queryBackoffMs, lateQueryBackoffMs, notificationRetryMs, scheduleRetryMs } = LIMITS;
  const ownTime = Object.entries(BRANDS).flatMap(([label, { payerTimeMs }]) =>
    payerTimeMs === undefined ? [] : [`${duration(payerTimeMs)} for ${code(label)}`],
  );
  return [
    [
      `A payment is ${code('PREPARE')} for ${duration(LIMITS.submissionMs)}, because its process died`,
      'its provider is asked',
    ],
    [
      'The outcome is unknown, or the provider said that it comes later, or the payer was redirected',
      `the provider is asked after ${duration(queryBackoffMs[0])}, and again after ${pauses(queryBackoffMs)}; the last pause repeats ${LIMITS.dailyQueries} times`,
    ],
    [
      'The outcome is unknown, and all these pauses are over',
      `the payment gets the attention ${code('unresolved')}, and is still asked about once a day`,
    ],
    [
      'A connector answers again after at least three calls without an answer',
      'what it left open is asked about soon, one payment after the other',
    ],
    [
      `The provider says twice in a row that it has no such payment, and ${duration(LIMITS.submissionMs + LIMITS.neverReceivedMs)} have passed since the payment could be sent last`,
      `it is ${code('DECLINED')}, unless the provider’s connector cannot know that; it is still asked about, as below`,
    ],
    [
      `The payer’s time is over: ${duration(LIMITS.payerMs)} after the sale, ${ownTime.join(', ')}; with Checkout when the session ends, and ${duration(LIMITS.challengeMs)} after the way to the card’s bank`,
      `the provider is asked once more; a payment that succeeded is a success, any other is ${code('DECLINED')} (${code('abandoned')}). While the provider does not answer, a redirected payment stays open and is asked about again`,
    ],
    [
      `A payment that its provider has accepted has no outcome after the time in the row of its [brand](brands.md)`,
      'the same: a last question, then it is declined',
    ],
    [
      `After that`,
      `the provider is still asked, in case money comes late: after ${duration(lateQueryBackoffMs[0])}, and again after ${pauses(lateQueryBackoffMs)}`,
    ],
    [
      'An authorisation is older than the account’s `authorisation_days`',
      `it is voided at the provider, and then ${code('EXPIRED')}; a capture, void or reversal that is under way decides first`,
    ],
    [
      `A capture, void or refund has no outcome after ${duration(LIMITS.submissionMs)}, because its process died`,
      'its provider is asked about the operation',
    ],
    [
      'The outcome of an operation is unknown, or the provider said that it comes later',
      `the provider is asked about it after ${pauses(queryBackoffMs)}; the last pause repeats ${LIMITS.dailyQueries} times`,
    ],
    [
      'The provider has no such operation',
      'it is sent again with the same id, unless the provider’s connector cannot repeat safely',
    ],
    ['The date of a scheduled charge has come', 'it is charged, under an order number of its own'],
    [
      'A scheduled charge is declined',
      `it is tried again after ${pauses(scheduleRetryMs)}; then it is given up, and the next date follows`,
    ],
    [
      'The outcome of a scheduled charge, or of the first payment, is not known yet',
      `the schedule looks again after ${duration(LIMITS.scheduleWaitMs)}`,
    ],
    [
      'A merchant’s server does not take a callback',
      `it is sent again after ${pauses(RETRY_SCHEDULE_MS)}, each up to a fifth shorter or longer; then it is ${code('parked')}; later callbacks of its payment pass it after ${BLOCKING_ATTEMPTS} failed tries`,
    ],
    [
      'News come for a payment that nobody knows',
      `they are tried again after ${pauses(notificationRetryMs)}; then they are ${code('unmatched')}`,
    ],
  ];
}

export function states(): string {
  const transitionsFrom = (state: StateName) => Object.entries(STATES[state].on) as [PaymentEvent, StateName][];
  const finals = STATE_NAMES.filter((state) => transitionsFrom(state).length === 0);
  // An identifier of a diagram may not begin with a digit.
  const id = (state: StateName): string => (/^\d/.test(state) ? `State${state}` : state);
  const arrows = STATE_NAMES.flatMap((from) => {
    const byTarget = Map.groupBy(transitionsFrom(from), ([, to]) => to);
    return [...byTarget].map(
      ([to, transitions]) => `  ${id(from)} --> ${id(to)}: ${transitions.map(([event]) => event).join(', ')}`,
    );
  });
  const events = Object.entries(EVENT_MEANS);
  return page(
    'States of a payment',
    'src/rules/states.ts and src/rules/limits.ts',
    `
A payment is in one of these states, and only the events below move it. States only move forward. News that the table
does not allow, such as a decline of a payment that is settled, are noted in the history of the payment and change
nothing. A success that comes after a payment was given up also goes on the operator’s
[attention list](operator-guide.md#the-attention-list), because money may have moved.

Checkout tells the same states in small letters, and says ${code('decline')} for ${code('DECLINED')}.`,
    table(
      ['State', 'Means', '`result` of a sale', 'Order may be tried again', 'Events and where they lead'],
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
outcome is known. It is never declined by guess.`,
    '## Events',
    table(
      ['Event', 'Means'],
      events.map(([event, means]) => [code(event), means]),
    ),
    `
The history of a payment has further rows, which leave the state as it is. Those of a capture, void, reversal or refund
are ${code('requested …')} when it is reserved, before the provider is called; ${code('refused …')} when the provider
declined it; ${code('unanswered …')} each time its outcome could not be told. When it is done, there is the event from the
table.`,
    '## What time brings',
    table(['When', 'What happens'], whatTimeBrings()),
    '## Diagram',
    [
      '```mermaid',
      'stateDiagram-v2',
      ...STATE_NAMES.filter((state) => id(state) !== state).map((state) => `  state "${state}" as ${id(state)}`),
      '  [*] --> PREPARE: opened',
      ...arrows,
      ...finals.map((state) => `  ${id(state)} --> [*]`),
      '```',
    ].join('\n'),
  );
}
