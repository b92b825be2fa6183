/** The control API: scenarios, refusals and the ledger. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLedger, type Payment } from '../../simulator/ledger.ts';
import { newReference, startTestSimulator, type TestSimulator, waitUntil } from './test-simulator.ts';

let simulator: TestSimulator;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.close());

const submitted = async (fields: Record<string, unknown>): Promise<string> =>
  (await simulator.submit(fields)).body.reference;

/** A payment in each state, and the outcome of each provider status. */
const STATES: Record<string, { fields: Record<string, unknown>; outcomes: Record<string, string | 409> }> = {
  redirect: {
    fields: { brand: 'bank-a' },
    outcomes: { executed: 'settled', rejected: 'declined', pending: 'pending' },
  },
  pending: { fields: { brand: 'upi-a' }, outcomes: { executed: 'settled', rejected: 'declined', pending: 'pending' } },
  sending: {
    fields: { direction: 'out' },
    outcomes: { executed: 'settled', rejected: 'declined', pending: 'pending' },
  },
  authorised: { fields: { capture: false }, outcomes: { executed: 'settled', rejected: 'declined', pending: 409 } },
  settled: { fields: {}, outcomes: { executed: 'settled', rejected: 409, pending: 409 } },
  declined: {
    fields: { identifier: 'decline@example.com' },
    outcomes: { executed: 'settled', rejected: 'declined', pending: 'pending' },
  },
};
const transitions = Object.entries(STATES).flatMap(([state, { fields, outcomes }]) =>
  Object.entries(outcomes).map(([reported, outcome]) => ({ state, fields, reported, outcome })),
);

describe('provider_status', () => {
  test.each(transitions)('$state, reported as $reported: $outcome', async ({ fields, reported, outcome }) => {
    const reference = await submitted(fields);
    const before = await simulator.movements(reference);
    const { status, body } = await simulator.control(reference, { provider_status: reported });
    if (outcome === 409) {
      expect([status, body]).toEqual([409, { error: expect.stringMatching(/ cannot become /) }]);
      expect(simulator.receiver.forPayment(reference)).toEqual([]);
      expect(await simulator.movements(reference)).toEqual(before);
      return;
    }
    expect([status, body.status]).toEqual([200, outcome]);
    expect(simulator.receiver.forPayment(reference).map(({ body: notification }) => notification.status)).toEqual([
      outcome,
    ]);
    expect(await simulator.movements(reference)).toHaveLength(outcome === 'settled' ? 1 : 0);
  });

  test('a payout that is reported as pending stays pending until the next report', async () => {
    const reference = await submitted({ direction: 'out' });
    await simulator.control(reference, { provider_status: 'pending' });
    await simulator.control(reference, { provider_status: 'executed' });
    expect(await simulator.movements(reference)).toEqual(['payout out 1000 EUR']);
  });
});

describe('bank_callback', () => {
  test.each([
    ['ACSC', 'executed', 1],
    ['ACCC', 'executed', 1],
    ['RJCT', 'rejected', 0],
    ['PDNG', 'pending', 0],
    ['ACSP', 'pending', 0],
    ['XXXX', 'pending', 0],
    ['constructor', 'pending', 0],
  ])('%s: the bank reports it, and the payment is %s', async (code, expected, movements) => {
    const reference = await submitted({ brand: 'ips', currency: 'RSD' });
    const { body } = await simulator.control(reference, { bank_callback: code });
    expect(body.status).toBe(expected);
    expect(simulator.receiver.forPayment(reference).map((notification) => notification.body)).toEqual([
      { reference, type: 'bank_status', code, amount: '1000', currency: 'RSD' },
    ]);
    expect(await simulator.movements(reference)).toHaveLength(movements);
  });

  test('a rejected payment can still be executed, once; repeated statuses only send notifications', async () => {
    const reference = await submitted({ brand: 'ips', currency: 'RSD' });
    for (const code of ['RJCT', 'ACSC', 'PDNG', 'ACSC']) await simulator.control(reference, { bank_callback: code });
    expect((await simulator.control(reference, { bank_callback: 'RJCT' })).status).toBe(409);
    expect(simulator.receiver.forPayment(reference).map(({ body }) => body.code)).toEqual([
      'RJCT',
      'ACSC',
      'PDNG',
      'ACSC',
    ]);
    expect(await simulator.movements(reference)).toEqual(['sale in 1000 RSD']);
  });
});

describe('chargeback', () => {
  test('charges back a settled payment, once', async () => {
    const reference = await submitted({});
    expect((await simulator.control(reference, { chargeback: true })).status).toBe(200);
    expect((await simulator.control(reference, { chargeback: true })).status).toBe(409);
    expect(simulator.receiver.forPayment(reference).map(({ body }) => body)).toEqual([
      { reference, type: 'chargeback', amount: '1000', currency: 'EUR' },
    ]);
    expect(await simulator.movements(reference)).toEqual(['sale in 1000 EUR', 'chargeback out 1000 EUR']);
  });

  test.each([
    ['that waits for the payer', { brand: 'upi-a' }],
    ['that is only authorised', { capture: false }],
    ['that was declined', { identifier: 'decline@example.com' }],
    ['that is a payout', { direction: 'out' }],
  ])('refuses a payment %s', async (_name, fields) => {
    const reference = await submitted(fields);
    expect(await simulator.control(reference, { chargeback: true })).toMatchObject({ status: 409 });
  });

  test('of an unknown payment only sends the notification', async () => {
    const reference = newReference();
    const unknown = { amount: '500', currency: 'USD', notify_url: simulator.receiver.url };
    const { status, body } = await simulator.control(reference, { chargeback: true, unknown });
    expect([status, body.notifications]).toEqual([200, [expect.objectContaining({ tries: 1, delivered: true })]]);
    expect(simulator.receiver.forPayment(reference)[0]?.body).toEqual({
      reference,
      type: 'chargeback',
      amount: '500',
      currency: 'USD',
    });
    expect((await simulator.query(reference)).status).toBe(404);
  });
});

describe('refusals', () => {
  test.each([
    [{}],
    [{ provider_status: 'paid' }],
    [{ provider_status: 'executed', chargeback: true }],
    [{ bank_callback: '' }],
    [{ bank_callback: 7 }],
    [{ chargeback: false }],
    [[]],
    ['executed'],
  ])('%j is 400', async (body) => {
    const reference = await submitted({ brand: 'upi-a' });
    expect(await simulator.control(reference, body)).toEqual({ status: 400, body: { error: expect.any(String) } });
    expect((await simulator.query(reference)).body.status).toBe('pending');
  });

  test('an unknown reference is 404', async () => {
    expect((await simulator.control(newReference(), { chargeback: true })).status).toBe(404);
    expect((await simulator.call('GET', `/control/payments/${newReference()}`)).status).toBe(404);
  });

  test('an unknown payment requires its data', async () => {
    expect((await simulator.control(newReference(), { chargeback: true, unknown: {} })).status).toBe(400);
  });

  test('an unknown payment can only be charged back', async () => {
    const unknown = { amount: '500', currency: 'USD', notify_url: simulator.receiver.url };
    const { status, body } = await simulator.control(newReference(), { provider_status: 'executed', unknown });
    expect([status, body.error]).toEqual([409, 'Without a simulated provider only a chargeback can be told.']);
  });
});

test('the ledger lists every movement once, in order, in pages', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'turnpike-ledger-')), 'simulator.sqlite');
  const before = await startTestSimulator({ file });
  const references = await Promise.all(
    Array.from({ length: 2 }, async () => (await before.submit()).body.reference as string),
  );
  await before.close();
  const ledger = openLedger(file);
  const payment = ledger.payment(references[0] as string) as Payment;
  ledger.transaction(() => {
    for (let count = 0; count < 999; count++) {
      const copy = { ...payment, reference: `copy-${count}`, token: `token-${count}` };
      ledger.addPayment(copy);
      const { reference, amount, currency } = copy;
      ledger.addMovement({ reference, operation: '', kind: 'sale', direction: 'in', amount, currency });
      references.push(reference);
    }
  });
  ledger.close();

  const small = await startTestSimulator({ file });
  const { body: first } = await small.call('GET', '/control/ledger');
  expect(first.items).toHaveLength(1000);
  expect(first.next).toBe(first.items.at(-1).id);
  const { body: second } = await small.call('GET', `/control/ledger?after=${first.next}`);
  expect(second).toEqual({
    items: [
      {
        id: first.next + 1,
        reference: expect.any(String),
        brand: 'pin-a',
        mid: 'mid-1',
        operation: '',
        kind: 'sale',
        direction: 'in',
        amount: '1000',
        currency: 'EUR',
        at: expect.any(Number),
      },
    ],
    next: null,
  });
  const seen = [...first.items, ...second.items].map(({ reference }) => reference);
  expect(seen.toSorted()).toEqual(references.toSorted());
  expect((await small.call('GET', '/control/ledger?after=x')).status).toBe(400);
  await small.close();
  await rm(dirname(file), { recursive: true });
});

test('amounts keep every digit', async () => {
  const amount = '999999999999999999';
  const { body } = await simulator.submit({ amount });
  expect(body.amount).toBe(amount);
  await simulator.operate(body.reference, 'refund', 'op', '1');
  await simulator.control(body.reference, { chargeback: true });
  expect(await simulator.movements(body.reference)).toEqual([
    `sale in ${amount} EUR`,
    'refund out 1 EUR',
    'chargeback out 999999999999999998 EUR',
  ]);
  await waitUntil(() => simulator.receiver.forPayment(body.reference).length === 1);
});
