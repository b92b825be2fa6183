/** The state table of payments, compared with a second copy. */
import { describe, expect, test } from 'vitest';
import {
  isRetriable,
  legalTransitions,
  nextState,
  type PaymentEvent,
  STATE_NAMES,
  STATES,
} from '../../src/rules/states.ts';
import { EVENTS, TRANSITIONS } from '../support/expected.ts';

test('the table has exactly these transitions', () => {
  expect(Object.fromEntries(STATE_NAMES.map((name) => [name, STATES[name].on]))).toEqual(TRANSITIONS);
});

describe.each(STATE_NAMES)('from %s', (from) => {
  test.each(EVENTS)('%s leads to the state in the table, or is refused', (event) => {
    expect(nextState(from, event)).toBe((TRANSITIONS[from] as Partial<Record<PaymentEvent, string>>)[event]);
  });
});

test('a chargeback of a payment that was refunded meanwhile returns to REFUND', () => {
  expect(nextState('CHARGEBACK', 'chargebackReversed', true)).toBe('REFUND');
  expect(nextState('SETTLED', 'chargedBack', true)).toBe('CHARGEBACK');
});

test('the result of a sale follows from the state', () => {
  expect(Object.fromEntries(STATE_NAMES.map((name) => [name, STATES[name].result]))).toEqual({
    PREPARE: 'UNDEFINED',
    REDIRECT: 'REDIRECT',
    '3DS': 'REDIRECT',
    PENDING: 'SUCCESS',
    SETTLED: 'SUCCESS',
    DECLINED: 'DECLINED',
    VOID: 'SUCCESS',
    REVERSAL: 'SUCCESS',
    REFUND: 'SUCCESS',
    CHARGEBACK: 'SUCCESS',
    EXPIRED: 'DECLINED',
  });
});

test('an order may be paid again after DECLINED, VOID, REVERSAL and EXPIRED only', () => {
  expect(STATE_NAMES.filter(isRetriable)).toEqual(['DECLINED', 'VOID', 'REVERSAL', 'EXPIRED']);
});

test('these transitions change the state', () => {
  expect(legalTransitions().filter((transition) => new Set(transition.split('>')).size === 2)).toEqual([
    '3DS>DECLINED',
    '3DS>PENDING',
    '3DS>SETTLED',
    'CHARGEBACK>REFUND',
    'CHARGEBACK>SETTLED',
    'DECLINED>SETTLED',
    'EXPIRED>SETTLED',
    'PENDING>DECLINED',
    'PENDING>EXPIRED',
    'PENDING>REVERSAL',
    'PENDING>SETTLED',
    'PENDING>VOID',
    'PREPARE>3DS',
    'PREPARE>DECLINED',
    'PREPARE>PENDING',
    'PREPARE>REDIRECT',
    'PREPARE>SETTLED',
    'REDIRECT>DECLINED',
    'REDIRECT>PENDING',
    'REDIRECT>SETTLED',
    'REVERSAL>SETTLED',
    'SETTLED>CHARGEBACK',
    'SETTLED>REFUND',
    'VOID>SETTLED',
  ]);
});
