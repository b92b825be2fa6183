/** The strings behind the scenes: what can be ordered, what is refused, and what the ledger tells. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLedger, type Payment } from '../../simulator/ledger.ts';
import { newReference, startTestSimulator, type TestSimulator, until } from './test-simulator.ts';

let simulator: TestSimulator;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.close());

const submitted = async (fields: Record<string, unknown>): Promise<string> =>
  (await simulator.submit(fields)).body.reference;

/** How a payment comes into each state, and what the provider may be told to say then. */
const STATES: Record<string, { fields: Record<string, unknown>; say: Record<string, string | 409> }> = {
  redirect: { fields: { brand: 'bank-a' }, say: { executed: 'settled', rejected: 'declined', pending: 'pending' } },
  pending: { fields: { brand: 'upi-a' }, say: { executed: 'settled', rejected: 'declined', pending: 'pending' } },
  sending: { fields: { direction: 'out' }, say: { executed: 'settled', rejected: 'declined', pending: 'pending' } },
  authorised: { fields: { capture: false }, say: { executed: 'settled', rejected: 'declined', pending: 409 } },
  settled: { fields: {}, say: { executed: 'settled', rejected: 409, pending: 409 } },
  declined: {
    fields: { identifier: 'decline@example.com' },
    say: { executed: 'settled', rejected: 'declined', pending: 'pending' },
  },
};
const sayings = Object.entries(STATES).flatMap(([state, { fields, say }]) =>
  Object.entries(say).map(([saying, outcome]) => ({ state, fields, saying, outcome })),
);

describe('provider_status', () => {
  test.each(sayings)('$state, told to be $saying: $outcome', async ({ fields, saying, outcome }) => {
    const reference = await submitted(fields);
    const before = await simulator.moved(reference);
    const { status, body } = await simulator.control(reference, { provider_status: saying });
    if (outcome === 409) {
      expect([status, body]).toEqual([409, { error: expect.stringMatching(/ cannot become /) }]);
      expect(simulator.ear.of(reference)).toEqual([]);
      expect(await simulator.moved(reference)).toEqual(before);
      return;
    }
    expect([status, body.status]).toEqual([200, outcome]);
    expect(simulator.ear.of(reference).map(({ body: notifications }) => notifications.status)).toEqual([outcome]);
    expect(await simulator.moved(reference)).toHaveLength(outcome === 'settled' ? 1 : 0);
  });

  test('a payout that is told to be pending is held until it is told otherwise', async () => {
    const reference = await submitted({ direction: 'out' });
    await simulator.control(reference, { provider_status: 'pending' });
    await simulator.control(reference, { provider_status: 'executed' });
    expect(await simulator.moved(reference)).toEqual(['payout out 1000 EUR']);
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
  ])('%s: the bank says so, and the payment is %s', async (code, word, movements) => {
    const reference = await submitted({ brand: 'ips', currency: 'RSD' });
    const { body } = await simulator.control(reference, { bank_callback: code });
    expect(body.status).toBe(word);
    expect(simulator.ear.of(reference).map((notifications) => notifications.body)).toEqual([
      { reference, type: 'bank_status', code, amount: '1000', currency: 'RSD' },
    ]);
    expect(await simulator.moved(reference)).toHaveLength(movements);
  });

  test('the bank may change its mind once: paid after all, and told as often as it likes', async () => {
    const reference = await submitted({ brand: 'ips', currency: 'RSD' });
    for (const code of ['RJCT', 'ACSC', 'PDNG', 'ACSC']) await simulator.control(reference, { bank_callback: code });
    expect((await simulator.control(reference, { bank_callback: 'RJCT' })).status).toBe(409);
    expect(simulator.ear.of(reference).map(({ body }) => body.code)).toEqual(['RJCT', 'ACSC', 'PDNG', 'ACSC']);
    expect(await simulator.moved(reference)).toEqual(['sale in 1000 RSD']);
  });
});

describe('chargeback', () => {
  test('of a settled payment, once', async () => {
    const reference = await submitted({});
    expect((await simulator.control(reference, { chargeback: true })).status).toBe(200);
    expect((await simulator.control(reference, { chargeback: true })).status).toBe(409);
    expect(simulator.ear.of(reference).map(({ body }) => body)).toEqual([
      { reference, type: 'chargeback', amount: '1000', currency: 'EUR' },
    ]);
    expect(await simulator.moved(reference)).toEqual(['sale in 1000 EUR', 'chargeback out 1000 EUR']);
  });

  test.each([
    ['that waits', { brand: 'upi-a' }],
    ['that is only authorised', { capture: false }],
    ['that was declined', { identifier: 'decline@example.com' }],
    ['that goes out', { direction: 'out' }],
  ])('not of a payment %s', async (_name, fields) => {
    const reference = await submitted(fields);
    expect(await simulator.control(reference, { chargeback: true })).toMatchObject({ status: 409 });
  });

  test('of a payment that never came here only the news are sent', async () => {
    const reference = newReference();
    const unknown = { amount: '500', currency: 'USD', notify_url: simulator.ear.url };
    const { status, body } = await simulator.control(reference, { chargeback: true, unknown });
    expect([status, body.notifications]).toEqual([200, [expect.objectContaining({ tries: 1, delivered: true })]]);
    expect(simulator.ear.of(reference)[0]?.body).toEqual({
      reference,
      type: 'chargeback',
      amount: '500',
      currency: 'USD',
    });
    expect((await simulator.ask(reference)).status).toBe(404);
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
    expect((await simulator.ask(reference)).body.status).toBe('pending');
  });

  test('an unknown reference is 404', async () => {
    expect((await simulator.control(newReference(), { chargeback: true })).status).toBe(404);
    expect((await simulator.call('GET', `/control/payments/${newReference()}`)).status).toBe(404);
  });

  test('an unknown payment needs to be described', async () => {
    expect((await simulator.control(newReference(), { chargeback: true, unknown: {} })).status).toBe(400);
  });

  test('an unknown payment has no provider that could say anything else', async () => {
    const unknown = { amount: '500', currency: 'USD', notify_url: simulator.ear.url };
    const { status, body } = await simulator.control(newReference(), { provider_status: 'executed', unknown });
    expect([status, body.error]).toEqual([409, 'Without a simulated provider only a chargeback can be told.']);
  });
});

test('the ledger has every movement once, in order, page by page', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'turnpike-ledger-')), 'world.sqlite');
  const before = await startTestSimulator({ file });
  const references = await Promise.all(
    Array.from({ length: 2 }, async () => (await before.submit()).body.reference as string),
  );
  await before.close();
  const books = openLedger(file);
  const payment = books.payment(references[0] as string) as Payment;
  books.transaction(() => {
    for (let count = 0; count < 999; count++) {
      const copy = { ...payment, reference: `copy-${count}`, token: `token-${count}` };
      books.addPayment(copy);
      const { reference, amount, currency } = copy;
      books.addMovement({ reference, operation: '', kind: 'sale', direction: 'in', amount, currency });
      references.push(reference);
    }
  });
  books.close();

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
  expect(await simulator.moved(body.reference)).toEqual([
    `sale in ${amount} EUR`,
    'refund out 1 EUR',
    'chargeback out 999999999999999998 EUR',
  ]);
  await until(() => simulator.ear.of(body.reference).length === 1);
});
