/** The life of a payment, written out a second time by hand and compared with the table. */
import { describe, expect, test } from 'vitest';
import { isRetriable, legalMoves, nextState, type PaymentEvent, STATE_NAMES, STATES } from '../../src/rules/states.ts';

const TABLE = {
  PREPARE: {
    redirected: 'REDIRECT',
    challenged: '3DS',
    accepted: 'PENDING',
    unanswered: 'PENDING',
    authorised: 'PENDING',
    settled: 'SETTLED',
    declined: 'DECLINED',
    abandoned: 'DECLINED',
  },
  REDIRECT: {
    accepted: 'PENDING',
    unanswered: 'PENDING',
    authorised: 'PENDING',
    settled: 'SETTLED',
    declined: 'DECLINED',
    abandoned: 'DECLINED',
  },
  '3DS': {
    accepted: 'PENDING',
    unanswered: 'PENDING',
    authorised: 'PENDING',
    settled: 'SETTLED',
    declined: 'DECLINED',
    abandoned: 'DECLINED',
  },
  PENDING: {
    authorised: 'PENDING',
    settled: 'SETTLED',
    captured: 'SETTLED',
    declined: 'DECLINED',
    abandoned: 'DECLINED',
    voided: 'VOID',
    reversed: 'REVERSAL',
    expired: 'EXPIRED',
  },
  SETTLED: { partlyRefunded: 'SETTLED', refunded: 'REFUND', chargedBack: 'CHARGEBACK' },
  DECLINED: {},
  VOID: {},
  REVERSAL: {},
  REFUND: {},
  CHARGEBACK: {},
  EXPIRED: {},
};

const EVENTS: PaymentEvent[] = [
  'redirected',
  'challenged',
  'accepted',
  'unanswered',
  'authorised',
  'settled',
  'declined',
  'abandoned',
  'captured',
  'voided',
  'reversed',
  'expired',
  'partlyRefunded',
  'refunded',
  'chargedBack',
];

test('the table is this one, no move more and no move less', () => {
  expect(Object.fromEntries(STATE_NAMES.map((name) => [name, STATES[name].on]))).toEqual(TABLE);
});

describe.each(STATE_NAMES)('from %s', (from) => {
  test.each(EVENTS)('%s leads where the table says, or nowhere', (event) => {
    expect(nextState(from, event)).toBe((TABLE[from] as Partial<Record<PaymentEvent, string>>)[event]);
  });
});

test('the result of a sale-shaped answer follows from the state', () => {
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

test('an order may be tried again after DECLINED, VOID, REVERSAL and EXPIRED only', () => {
  expect(STATE_NAMES.filter(isRetriable)).toEqual(['DECLINED', 'VOID', 'REVERSAL', 'EXPIRED']);
});

test('the moves that change the state are these', () => {
  expect(legalMoves().filter((move) => new Set(move.split('>')).size === 2)).toEqual([
    '3DS>DECLINED',
    '3DS>PENDING',
    '3DS>SETTLED',
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
    'SETTLED>CHARGEBACK',
    'SETTLED>REFUND',
  ]);
});
