/** Contradictory, late and wrong provider reports: the resulting state, callbacks and operator marks. */
import { beforeEach, describe, expect, test } from 'vitest';
import { processEverythingDue } from '../../../src/core/due/due.ts';
import { voidPayment } from '../../../src/core/payments/change.ts';
import { receiveNotifications } from '../../../src/core/payments/notifications.ts';
import { recordWrongAmount } from '../../../src/core/payments/record.ts';
import { LIMITS } from '../../../src/rules/limits.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { type Answer, type Fields, openShop } from '../../support/gateway.ts';
import { type OperationAction, operationFields } from '../../support/operations.ts';
import { scriptProvider } from '../../support/scripted-provider.ts';

const provider = scriptProvider();
const shop = openShop({ connectors: { vcard: provider.connector } });
beforeEach(() => provider.does({}));

const DAY = 86_400;

const sale = async (fields: Fields = {}): Promise<string> => (await shop.sale(fields)).body.trans_id;
const authorised = (): Promise<string> => sale({ auth: 'Y' });
const send = (action: OperationAction, id: string, fields: Fields = {}): Promise<Answer> =>
  shop.post(operationFields(shop.merchant, action, id, fields));
const found = async (id: string) => {
  const payment = await shop.gateway.payments.findAnywhere(id);
  if (!payment) throw new Error(`There is no payment ${id}.`);
  return payment;
};
let events = 0;
const report = (reference: string, body: Record<string, unknown>): Promise<void> =>
  receiveNotifications(shop.gateway, 'vcard', [
    { eventId: `event-${++events}`, reference, body: { reference, ...body } },
  ]);
const SETTLED = { type: 'payment', status: 'settled', amount: '1000', currency: 'USD' };
const callbacks = async (id: string): Promise<string[]> =>
  (await shop.inspect(id)).callbacks.map((callback: { type: string }) => callback.type);
const onList = async (attention: string): Promise<string[]> =>
  (await shop.admin('GET', `/payments?attention=${attention}&limit=500`)).body.items.map(
    (item: { payment_id: string }) => item.payment_id,
  );

/** Starts a void whose outcome the test sends later. */
async function startVoid(id: string) {
  const { promise, resolve } = Promise.withResolvers<'done' | 'declined'>();
  provider.does({
    operate: async () => ((await promise) === 'done' ? { kind: 'done' } : { kind: 'declined', reason: 'Too late.' }),
  });
  const voided = voidPayment(shop.gateway, await found(id), 'merchant');
  await expect.poll(() => provider.calls(id)).toContain('void 1000');
  return async (outcome: 'done' | 'declined') => {
    resolve(outcome);
    await voided;
  };
}

describe('a settlement reported while a void is in flight', () => {
  test('waits for the outcome of the void and marks the conflict', async () => {
    const id = await authorised();
    const end = await startVoid(id);
    await report(id, SETTLED);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: 'conflict', captured: '0.00' });
    expect(await onList('conflict')).toContain(id);
    await end('done');
  });

  test('voided, and the provider confirms that nothing was captured: VOID, and the mark is cleared', async () => {
    const id = await authorised();
    const end = await startVoid(id);
    await report(id, SETTLED);
    await end('done');
    provider.does({ query: () => ({ kind: 'declined', reason: 'Voided.' }) });
    await shop.advanceClock(1);
    expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', attention: null, captured: '0.00' });
    expect(await callbacks(id)).toEqual(['sale', 'void']);
  });

  test('voided, but the provider has captured: VOID, and a late success on the list', async () => {
    const id = await authorised();
    const end = await startVoid(id);
    await report(id, SETTLED);
    await end('done');
    provider.does({ query: () => ({ kind: 'settled' }) });
    await shop.advanceClock(1);
    expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', attention: 'late_success' });
    expect(await onList('late_success')).toContain(id);
  });

  test('void declined: the provider is queried, and the payment is SETTLED', async () => {
    const id = await authorised();
    const end = await startVoid(id);
    await report(id, SETTLED);
    await end('declined');
    provider.does({ query: () => ({ kind: 'settled' }) });
    await shop.advanceClock(1);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null, captured: '10.00' });
    expect(await callbacks(id)).toEqual(['sale', 'void', 'sale']);
  });

  test('void declined, and the payment is still only authorised: it expires on its date', async () => {
    const id = await authorised();
    const end = await startVoid(id);
    await report(id, SETTLED);
    await end('declined');
    provider.does({});
    await shop.advanceClock(1);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: null });
    await shop.advanceClock(6 * DAY);
    expect((await shop.inspect(id)).status).toBe('PENDING');
    await shop.advanceClock(DAY);
    expect((await shop.inspect(id)).status).toBe('EXPIRED');
  });
});

test('keeps the mark of a reported settlement as long as the void has no outcome', async () => {
  const id = await authorised();
  provider.does({ operate: () => ({ kind: 'unknown' }), queryOperation: () => ({ kind: 'unknown' }) });
  await send('VOID', id);
  await report(id, SETTLED);
  await shop.advanceClock(3 * DAY);
  expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: 'conflict' });
  provider.does({ query: () => ({ kind: 'settled' }) });
  await shop.advanceClock(DAY);
  expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', attention: 'late_success' });
});

describe('our void, reported by a notification of the provider', () => {
  const VOIDED = { type: 'payment', status: 'voided', amount: '1000', currency: 'USD' };

  test('leaves the outcome to the operation: VOID, with one callback', async () => {
    const id = await authorised();
    const end = await startVoid(id);
    await report(id, VOIDED);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: null });
    await end('done');
    expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', attention: null });
    expect(await callbacks(id)).toEqual(['sale', 'void']);
  });

  test('and then declined because it is voided already: the provider is queried, and the payment is DECLINED', async () => {
    const id = await authorised();
    const end = await startVoid(id);
    await report(id, VOIDED);
    await end('declined');
    provider.does({ query: () => ({ kind: 'declined', reason: 'Voided.' }) });
    await shop.advanceClock(1);
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', attention: null });
  });
});

describe('a chargeback', () => {
  test('after a full refund: the state stays, a callback is sent, and the payment is on the list', async () => {
    const id = await sale();
    await send('CREDITVOID', id);
    expect((await shop.inspect(id)).status).toBe('REFUND');
    await report(id, { type: 'chargeback' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'REFUND', attention: 'unexpected_chargeback' });
    expect(await callbacks(id)).toEqual(['sale', 'refund', 'chargeback']);
    expect(await onList('unexpected_chargeback')).toContain(id);
  });

  test.each([
    ['VOID', () => authorised(), (id: string) => send('VOID', id)],
    ['REVERSAL', () => authorised(), (id: string) => send('CREDITVOID', id)],
    ['DECLINED', () => sale({ identifier: 'decline@example.com' }), async () => undefined],
  ] as const)('of a payment that is %s: sends a callback and marks the payment', async (status, make, then) => {
    if (status === 'DECLINED') provider.does({ submit: () => ({ kind: 'declined', reason: 'No.' }) });
    const id = await make();
    await then(id);
    await report(id, { type: 'chargeback' });
    expect(await shop.inspect(id)).toMatchObject({ status, attention: 'unexpected_chargeback' });
    expect((await callbacks(id)).at(-1)).toBe('chargeback');
  });

  test('before the settlement was reported: the provider is queried and reports the settlement', async () => {
    const id = await authorised();
    provider.does({ query: () => ({ kind: 'settled' }) });
    await report(id, { type: 'chargeback' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect(await callbacks(id)).toEqual(['sale', 'sale', 'chargeback']);
  });

  test('before the settlement, which the provider does not report yet: waits for it, on the list', async () => {
    const id = await authorised();
    await report(id, { type: 'chargeback' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: 'unexpected_chargeback' });
    expect(await callbacks(id)).toEqual(['sale']);
    await shop.advanceClock(60);
    expect((await shop.events(id)).filter((event) => event === 'noted chargedBack')).toHaveLength(1);
    await report(id, SETTLED);
    await shop.advanceClock(3600);
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect(await callbacks(id)).toEqual(['sale', 'sale', 'chargeback']);
  });

  test('before the settlement, which comes days later: is applied then', async () => {
    const id = await authorised();
    await report(id, { type: 'chargeback' });
    await shop.advanceClock(3 * DAY);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: 'unexpected_chargeback' });
    await report(id, SETTLED);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: 'unexpected_chargeback' });
    await shop.advanceClock(DAY);
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect((await callbacks(id)).at(-1)).toBe('chargeback');
  });

  test('twice: the second one changes nothing and has no callback', async () => {
    const id = await sale();
    await report(id, { type: 'chargeback' });
    await report(id, { type: 'chargeback' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect(await callbacks(id)).toEqual(['sale', 'chargeback']);
  });
});

describe('a wrong amount', () => {
  test('reported while the payment changes: the payment is marked', async () => {
    provider.does({ submit: () => ({ kind: 'unknown' }) });
    const id = await sale();
    const before = await found(id);
    await report(id, SETTLED);
    const call = { verb: 'notification', connector: 'vcard', outcome: 'settled, wrong amount', tookMs: 0 } as const;
    await recordWrongAmount(shop.gateway, before, 'provider', call);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: 'wrong_amount' });
  });

  test.each([
    ['CAPTURE', 'capture', () => authorised()],
    ['VOID', 'void', () => authorised()],
    ['CREDITVOID', 'refund', () => sale()],
  ] as const)('of a %s is not applied: it stays open, on the list, and is queried', async (action, verb, make) => {
    const id = await make();
    provider.does({
      operate: () => ({ kind: 'done', reportedAmount: { amount: 999n, currency: 'USD' } }),
      queryOperation: () => ({ kind: 'done', reportedAmount: { amount: 1000n, currency: 'USD' } }),
    });
    const { body } = await send(action, id);
    expect(['UNDEFINED', 'ACCEPTED']).toContain(body.result);
    const before = await shop.inspect(id);
    expect(before).toMatchObject({ attention: 'wrong_amount', operations: [{ state: 'sent', operation: verb }] });
    expect(before.callbacks).toHaveLength(1);
    await shop.advanceClock(5);
    expect(await shop.inspect(id)).toMatchObject({ attention: null, operations: [{ state: 'done' }] });
    expect(await callbacks(id)).toEqual(['sale', verb]);
  });

  test('when an authorisation expires: queried for a bounded time, on the list', async () => {
    const id = await authorised();
    provider.does({
      operate: () => ({ kind: 'declined', reason: 'No.' }),
      query: () => ({ kind: 'settled', reportedAmount: { amount: 400n, currency: 'USD' } }),
    });
    await shop.advanceClock(100 * DAY);
    const { operations, attention, status } = await shop.inspect(id);
    expect([status, attention]).toEqual(['PENDING', 'wrong_amount']);
    expect(operations.length).toBeLessThan(60);
    await shop.advanceClock(100 * DAY);
    expect((await shop.inspect(id)).operations).toHaveLength(operations.length);
  });
});

describe('an authorisation that expires', () => {
  const week = (): Promise<void> => shop.advanceClock(7 * DAY);

  test('is voided at the provider, and then EXPIRED', async () => {
    const id = await authorised();
    await week();
    expect(provider.calls(id)).toEqual(['submit', 'void 1000']);
    expect(await shop.inspect(id)).toMatchObject({ status: 'EXPIRED', attention: null });
    expect((await shop.events(id)).slice(1)).toEqual(['authorised', 'requested expiry', 'expired']);
    expect(await callbacks(id)).toEqual(['sale', 'expiry']);
  });

  test('stays PENDING while the provider does not answer, and is queried until it does', async () => {
    const id = await authorised();
    provider.does({ operate: () => ({ kind: 'unknown' }), queryOperation: () => ({ kind: 'unknown' }) });
    await week();
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', operations: [{ state: 'sent' }] });
    expect((await send('CAPTURE', id)).body).toMatchObject({ error_code: 208003 });
    provider.does({});
    await shop.advanceClock(60);
    expect((await shop.inspect(id)).status).toBe('EXPIRED');
    expect(await callbacks(id)).toEqual(['sale', 'expiry']);
  });

  test('void declined because the payment is settled: SETTLED', async () => {
    const id = await authorised();
    provider.does({ operate: () => ({ kind: 'declined', reason: 'No.' }), query: () => ({ kind: 'settled' }) });
    await week();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '10.00' });
    expect(await callbacks(id)).toEqual(['sale', 'sale']);
  });

  test('void declined because the authorisation was released: EXPIRED', async () => {
    const id = await authorised();
    provider.does({
      operate: () => ({ kind: 'declined', reason: 'No.' }),
      query: () => ({ kind: 'declined', reason: 'Lapsed.' }),
    });
    await week();
    expect(await shop.inspect(id)).toMatchObject({ status: 'EXPIRED', attention: null });
    expect(await callbacks(id)).toEqual(['sale', 'expiry']);
  });

  test('is not extended by a repeated report of the authorisation', async () => {
    const id = await authorised();
    await shop.advanceClock(6 * DAY);
    await report(id, { type: 'payment', status: 'authorised', amount: '1000', currency: 'USD' });
    await shop.advanceClock(DAY);
    expect((await shop.inspect(id)).status).toBe('EXPIRED');
  });

  test('void declined, and the provider still holds it: EXPIRED, and marked for the operator', async () => {
    const id = await authorised();
    provider.does({ operate: () => ({ kind: 'declined', reason: 'No.' }) });
    await week();
    expect(await shop.inspect(id)).toMatchObject({ status: 'EXPIRED', attention: 'unresolved' });
  });

  test('after a crash before the provider answers, another process finishes the expiry', async () => {
    const id = await authorised();
    const { promise, resolve } = Promise.withResolvers<never>();
    provider.does({ operate: () => promise });
    const other = await shop.anotherGateway();
    await shop.gateway.installation.moveClock(shop.merchant.mid, 7 * DAY * 1000);
    const dying = processEverythingDue(other);
    await expect.poll(() => provider.calls(id)).toContain('void 1000');
    provider.does({});
    await shop.advanceClock(LIMITS.submissionMs / 1000, shop.merchant.mid);
    expect((await shop.inspect(id)).status).toBe('EXPIRED');
    resolve(undefined as never);
    await dying;
    expect(await callbacks(id)).toEqual(['sale', 'expiry']);
  });
});

describe('an outcome that is never reported', () => {
  test('is queried for a bounded time, so that the history stays bounded', async () => {
    provider.does({ submit: () => ({ kind: 'unknown' }), query: () => ({ kind: 'unknown' }) });
    const id = await sale();
    await shop.advanceClock(60 * DAY);
    const most = 2 + LIMITS.queryBackoffMs.length + LIMITS.dailyQueries + 1;
    expect(await shop.events(id)).toHaveLength(most);
    await shop.advanceClock(60 * DAY);
    expect(await shop.events(id)).toHaveLength(most);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true, attention: 'unresolved' });
  });

  test('of an operation is queried for a bounded time, too', async () => {
    const id = await sale();
    provider.does({ operate: () => ({ kind: 'unknown' }), queryOperation: () => ({ kind: 'unknown' }) });
    await send('CREDITVOID', id);
    await shop.advanceClock(100 * DAY);
    const { length } = await shop.events(id);
    await shop.advanceClock(100 * DAY);
    expect(await shop.events(id)).toHaveLength(length);
    expect(await shop.inspect(id)).toMatchObject({ attention: 'unresolved', operations: [{ state: 'sent' }] });
  });

  test('of an operation, reported after days: clears the mark', async () => {
    const id = await sale();
    provider.does({ operate: () => ({ kind: 'unknown' }), queryOperation: () => ({ kind: 'unknown' }) });
    await send('CREDITVOID', id);
    await shop.advanceClock(3 * DAY);
    expect((await shop.inspect(id)).attention).toBe('unresolved');
    provider.does({});
    await shop.advanceClock(DAY);
    expect(await shop.inspect(id)).toMatchObject({ status: 'REFUND', attention: null });
  });
});

test('every invariant holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
