/** The single writer of state: every event in every state, and fifty concurrent events. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordChargeback } from '../../../src/core/chargebacks/report.ts';
import { advance as advanceOnly, type EventInput } from '../../../src/core/payments/advance.ts';
import { type PaymentEvent, STATE_NAMES, type StateName } from '../../../src/rules/states.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import type { PaymentWithDetails } from '../../../src/store/payments/payments.ts';
import { EVENTS, TRANSITIONS } from '../../support/expected.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { preparedPayment } from '../../support/payments.ts';

let shop: TestGateway;
beforeAll(async () => {
  shop = await startTestGateway();
});
afterAll(async () => {
  await shop.close();
});

/** The events that bring a payment into each state. */
const EVENTS_TO: Record<StateName, PaymentEvent[]> = {
  PREPARE: [],
  REDIRECT: ['redirected'],
  '3DS': ['challenged'],
  PENDING: ['authorised'],
  SETTLED: ['settled'],
  DECLINED: ['declined'],
  VOID: ['authorised', 'voided'],
  REVERSAL: ['authorised', 'reversed'],
  REFUND: ['settled', 'refunded'],
  CHARGEBACK: ['settled', 'chargedBack'],
  EXPIRED: ['authorised', 'expired'],
};

const eventInput = (event: PaymentEvent): EventInput => ({
  event,
  actor: 'provider',
  ...(event === 'declined' || event === 'abandoned' ? { declineReason: 'A test.' } : {}),
});

const takesBack = (event: PaymentEvent): boolean => event === 'chargedBack' || event === 'secondChargedBack';

/** As a notification is applied: a chargeback is put on the list first. */
const advance: typeof advanceOnly = async (gateway, payment, input) => {
  if (takesBack(input.event)) await recordChargeback(gateway, payment, {});
  return advanceOnly(gateway, payment, input);
};

/** A payment that events have brought into this state. */
async function paymentIn(state: StateName): Promise<PaymentWithDetails> {
  const opened = preparedPayment(shop);
  expect(await shop.gateway.payments.open(opened)).toBe(true);
  let payment: PaymentWithDetails = opened;
  for (const event of EVENTS_TO[state]) payment = await advance(shop.gateway, payment, eventInput(event));
  expect(payment.state).toBe(state);
  return payment;
}

const stored = (payment: PaymentWithDetails) => shop.gateway.payments.find(payment) as Promise<PaymentWithDetails>;

describe.each(STATE_NAMES)('in %s', (state) => {
  test.each(EVENTS)('%s', async (event) => {
    const payment = await paymentIn(state);
    const before = await stored(payment);
    const writing = advance(shop.gateway, payment, eventInput(event));
    if (event === 'acceptedLate' && TRANSITIONS[state][event]) {
      // Only an operator's decision can do this; what a provider reports is refused by the database.
      await expect(writing).rejects.toThrow(/captured_fits_state|transitions_are_legal/);
      return expect(await stored(payment)).toEqual(before);
    }
    const returned = await writing;
    const after = await stored(payment);
    const history = await shop.gateway.payments.history(payment);
    const to = TRANSITIONS[state][event];
    expect(returned.state).toBe(to ?? state);
    expect(after).toMatchObject({ state: to ?? state, historyLength: before.historyLength + 1 });
    expect(history.at(-1)).toMatchObject({
      seq: before.historyLength + 1,
      event: to ? event : `noted ${event}`,
      fromState: state,
      toState: to ?? state,
      actor: 'provider',
    });
    const isEndedUnpaid = ['DECLINED', 'EXPIRED', 'VOID', 'REVERSAL'].includes(state);
    const isNewMoney =
      event === 'settled' || event === 'captured' || (event === 'authorised' && before.authorised === 0n);
    const isUnexpected = takesBack(event) && !to && state !== 'CHARGEBACK';
    const attention = isEndedUnpaid && isNewMoney ? 'late_success' : isUnexpected ? 'unexpected_chargeback' : null;
    if (!to) {
      const same = { historyLength: 0, updatedAt: 0 };
      expect({ ...after, ...same }).toEqual({ ...before, ...same, attention });
    }
  });
});

test.each<[PaymentEvent[], Partial<PaymentWithDetails>]>([
  [['authorised'], { authorised: 1000n, captured: 0n, refunded: 0n }],
  [['accepted'], { authorised: 0n, captured: 0n, refunded: 0n, inDoubt: false }],
  [['unanswered'], { authorised: 0n, captured: 0n, refunded: 0n, inDoubt: true }],
  [['unanswered', 'settled'], { authorised: 1000n, captured: 1000n, refunded: 0n, inDoubt: false }],
  [['unanswered', 'declined'], { authorised: 0n, captured: 0n, inDoubt: false, declineReason: 'A test.' }],
  [['authorised', 'captured'], { authorised: 1000n, captured: 1000n, refunded: 0n }],
  [['settled', 'refunded'], { authorised: 1000n, captured: 1000n, refunded: 1000n }],
  [['settled', 'chargedBack'], { authorised: 1000n, captured: 1000n, refunded: 0n }],
  [['settled', 'chargedBack', 'chargebackReversed'], { authorised: 1000n, captured: 1000n, refunded: 0n }],
])('writes the amounts after %j', async (events, amounts) => {
  let payment: PaymentWithDetails = preparedPayment(shop);
  await shop.gateway.payments.open(payment as ReturnType<typeof preparedPayment>);
  for (const event of events) payment = await advance(shop.gateway, payment, eventInput(event));
  expect(payment).toMatchObject(amounts);
  expect(await stored(payment)).toMatchObject(amounts);
});

test('cannot capture a payment that was never authorised: the database refuses, and nothing changes', async () => {
  const opened = preparedPayment(shop);
  await shop.gateway.payments.open(opened);
  const pending = await advance(shop.gateway, opened, eventInput('accepted'));
  await expect(advance(shop.gateway, pending, eventInput('captured'))).rejects.toThrow('captured_fits_state');
  expect(await stored(pending)).toMatchObject({ state: 'PENDING', historyLength: 2, captured: 0n });
});

describe('fifty concurrent events', () => {
  const RIVAL_EVENTS: PaymentEvent[] = [
    'settled',
    'declined',
    'expired',
    'voided',
    'reversed',
    'captured',
    'abandoned',
  ];

  /** All events start from the same version of the payment. */
  async function race(gateways: TestGateway['gateway'][], rivals = RIVAL_EVENTS) {
    const payment = await paymentIn('PENDING');
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        advance(
          gateways[index % gateways.length] as TestGateway['gateway'],
          payment,
          eventInput(rivals[index % rivals.length] as PaymentEvent),
        ),
      ),
    );
    return { results, after: await stored(payment), history: await shop.gateway.payments.history(payment) };
  }

  const expectUnbrokenHistory = ({ after, history }: Awaited<ReturnType<typeof race>>) => {
    expect(history.map((row) => row.seq)).toEqual(Array.from({ length: 52 }, (_, index) => index + 1));
    expect(history.map((row) => row.fromState)).toEqual([null, ...history.slice(0, -1).map((row) => row.toState)]);
    expect(history.at(-1)?.toState).toBe(after.state);
    expect(after.historyLength).toBe(52);
  };

  test('applies one, records the others as noted, and returns the same state for all', async () => {
    const outcome = await race([shop.gateway]);
    expectUnbrokenHistory(outcome);
    const [winner, ...notes] = outcome.history.slice(2);
    expect(winner).toMatchObject({ fromState: 'PENDING', event: expect.not.stringMatching(/^noted /) });
    expect(['SETTLED', 'DECLINED', 'EXPIRED', 'VOID', 'REVERSAL']).toContain(winner?.toState);
    expect(notes.map((row) => row.event)).toEqual(Array(49).fill(expect.stringMatching(/^noted /)));
    expect(new Set(outcome.results.map((payment) => payment.state))).toEqual(new Set([winner?.toState]));
  });

  test('does the same with two processes', async () => {
    const outcome = await race([shop.gateway, await shop.anotherGateway()]);
    expectUnbrokenHistory(outcome);
    const transitions = outcome.history.slice(2).filter((row) => !row.event.startsWith('noted '));
    expect(transitions).toMatchObject([{ seq: 3, fromState: 'PENDING', toState: outcome.after.state }]);
    expect(new Set(outcome.results.map((payment) => payment.state))).toEqual(new Set([outcome.after.state]));
  });

  test('returns the stored payment for the event that was applied and for those that were not', async () => {
    const payment = await paymentIn('PENDING');
    const events: PaymentEvent[] = ['settled', 'declined', 'voided', 'expired'];
    const [settled, declined, voided, expired] = await Promise.all(
      events.map((event) => advance(shop.gateway, payment, eventInput(event))),
    );
    const { state, captured, declineReason } = await stored(payment);
    for (const returned of [settled, declined, voided, expired]) {
      expect(returned).toMatchObject({ state, captured, declineReason });
    }
  });

  test('verify reports a state that was written without a history entry', async () => {
    const payment = await paymentIn('PENDING');
    await advance(shop.gateway, payment, eventInput('settled'));
    await shop.rows(`update payments set state = 'VOID', captured = 0 where payment_id = '${payment.paymentId}'`);
    expect((await verifyAt(shop.connection)).violations).toEqual([
      `The state of a payment is not that of its latest history row: payment ${payment.paymentId}.`,
      `The ledger entries of payment ${payment.paymentId} differ from its amounts.`,
    ]);
    await shop.rows(`update payments set state = 'SETTLED', captured = 1000 where payment_id = '${payment.paymentId}'`);
  });
});

test('every invariant of the database holds', async () => {
  const { violations, payments } = await verifyAt(shop.connection);
  expect(violations).toEqual([]);
  expect(payments).toBeGreaterThan(165n);
});
