/** The callback tables, compared with a second copy: the callback of each event, and the retry schedule. */
import { expect, test } from 'vitest';
import {
  CALLBACK_ACTIONS,
  CALLBACK_EVENTS,
  CALLBACK_HASH_FIELDS,
  isStep,
  RETRY_AFTER_MOST_MS,
  RETRY_JITTER,
  RETRY_SCHEDULE_MS,
  s2sResult,
} from '../../src/rules/callbacks.ts';
import { STATE_NAMES, STATES, type StateName } from '../../src/rules/states.ts';

test('every event has one callback type and one status', () => {
  const callbacks = Object.fromEntries(
    Object.entries(CALLBACK_EVENTS).map(([event, { type, status }]) => [event, `${type} ${status}`]),
  );
  expect(callbacks).toEqual({
    redirected: 'redirect waiting',
    challenged: '3ds waiting',
    authenticated: '3ds success',
    accepted: 'sale waiting',
    unanswered: 'sale undefined',
    authorised: 'sale success',
    settled: 'sale success',
    declined: 'sale fail',
    abandoned: 'sale fail',
    captured: 'capture success',
    voided: 'void success',
    reversed: 'reversal success',
    partlyRefunded: 'refund success',
    refunded: 'refund success',
    expired: 'expiry success',
    chargedBack: 'chargeback success',
    secondChargedBack: 'chargeback success',
    chargebackReversed: 'chargeback fail',
    acceptedLate: 'sale success',
  });
});

test('every event of the state table has a callback, except the refund of a late success', () => {
  const events = new Set(STATE_NAMES.flatMap((state) => Object.keys(STATES[state].on)));
  events.delete('lateRefunded');
  expect(Object.keys(CALLBACK_EVENTS).toSorted()).toEqual([...events, 'authenticated'].toSorted());
});

test('the /post action of each type', () => {
  expect(CALLBACK_ACTIONS).toEqual({
    ...{ sale: 'SALE', recurring: 'RECURRING_SALE', redirect: 'SALE', '3ds': 'SALE' },
    ...{ capture: 'CAPTURE', void: 'VOID', reversal: 'CREDITVOID', refund: 'CREDITVOID' },
    ...{ chargeback: 'CHARGEBACK', expiry: 'EXPIRY' },
  });
});

test.each<[status: 'success' | 'fail' | 'waiting' | 'undefined', state: StateName, result: string]>([
  ['success', 'SETTLED', 'SUCCESS'],
  ['success', 'PENDING', 'SUCCESS'],
  ['success', 'EXPIRED', 'SUCCESS'],
  ['success', 'VOID', 'SUCCESS'],
  ['fail', 'DECLINED', 'DECLINED'],
  ['fail', 'PENDING', 'DECLINED'],
  ['fail', 'SETTLED', 'DECLINED'],
  ['waiting', 'PENDING', 'SUCCESS'],
  ['waiting', 'REDIRECT', 'REDIRECT'],
  ['waiting', '3DS', 'REDIRECT'],
  ['undefined', 'PENDING', 'UNDEFINED'],
])('%s in %s is %s', (status, state, result) => {
  expect(s2sResult({ type: 'sale', status }, state)).toBe(result);
});

test('the hash covers these fields in this order', () => {
  expect(CALLBACK_HASH_FIELDS).toEqual({
    checkout: ['id', 'order_number', 'order_amount', 'order_currency', 'order_description'],
    s2s: ['trans_id', 'order_id', 'status'],
  });
});

test('retries for more than three days with growing pauses', () => {
  const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
  expect(RETRY_SCHEDULE_MS).toEqual([
    ...[10, 30].map((seconds) => seconds * SECOND),
    ...[1, 5, 15, 30].map((minutes) => minutes * MINUTE),
    ...[1, 2, 4, 8, 12, 24, 24].map((hours) => hours * HOUR),
  ]);
  expect([RETRY_JITTER, RETRY_AFTER_MOST_MS]).toEqual([0.2, HOUR]);
});

test('steps in between: by the state over /post, by the type over Checkout', () => {
  const steps = STATE_NAMES.filter((state) => isStep('s2s', CALLBACK_EVENTS.settled, state));
  expect(steps.toSorted()).toEqual(['3DS', 'PREPARE', 'REDIRECT']);
  const types = Object.values(CALLBACK_EVENTS).filter((event) => isStep('checkout', event, 'SETTLED'));
  expect([...new Set(types.map(({ type }) => type))].toSorted()).toEqual(['3ds', 'redirect']);
});
