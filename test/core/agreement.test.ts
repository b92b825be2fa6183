/** Reports that contradict each other, come late or tell another amount: what each leads to, and who is told. */
import { beforeEach, describe, expect, test } from 'vitest';
import { processEverythingDue } from '../../src/core/due.ts';
import { voidPayment } from '../../src/core/payments/change.ts';
import { receiveNotification } from '../../src/core/payments/notifications.ts';
import { recordWrongAmount } from '../../src/core/payments/record.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { verifyAt } from '../../src/store/verify.ts';
import { type Answer, type Fields, openShop } from '../support/gateway.ts';
import { type OperationAction, operationFields } from '../support/operations.ts';
import { scriptProvider } from '../support/scripted-provider.ts';

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
  receiveNotification(shop.gateway, 'vcard', { eventId: `event-${++events}`, reference, body: { reference, ...body } });
const SETTLED = { type: 'payment', status: 'settled', amount: '1000', currency: 'USD' };
const callbacks = async (id: string): Promise<string[]> =>
  (await shop.inspect(id)).callbacks.map((callback: { type: string }) => callback.type);
const onList = async (attention: string): Promise<string[]> =>
  (await shop.admin('GET', `/payments?attention=${attention}&limit=500`)).body.items.map(
    (item: { payment_id: string }) => item.payment_id,
  );

/** A void that waits until it is let go, so that something else can happen meanwhile. */
async function voiding(id: string) {
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

describe('a settlement is reported while a void is under way', () => {
  test('the void decides first, and the operator sees the conflict', async () => {
    const id = await authorised();
    const end = await voiding(id);
    await report(id, SETTLED);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: 'conflict', captured: '0.00' });
    expect(await onList('conflict')).toContain(id);
    await end('done');
  });

  test('it is voided, and the provider confirms that nothing was taken: VOID, and the conflict is over', async () => {
    const id = await authorised();
    const end = await voiding(id);
    await report(id, SETTLED);
    await end('done');
    provider.does({ query: () => ({ kind: 'declined', reason: 'Voided.' }) });
    await shop.advanceClock(1);
    expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', attention: null, captured: '0.00' });
    expect(await callbacks(id)).toEqual(['sale', 'void']);
  });

  test('it is voided, but the provider has taken the money: VOID, and a late success on the list', async () => {
    const id = await authorised();
    const end = await voiding(id);
    await report(id, SETTLED);
    await end('done');
    provider.does({ query: () => ({ kind: 'settled' }) });
    await shop.advanceClock(1);
    expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', attention: 'late_success' });
    expect(await onList('late_success')).toContain(id);
  });

  test('the void is refused: the provider is asked, and the payment is SETTLED', async () => {
    const id = await authorised();
    const end = await voiding(id);
    await report(id, SETTLED);
    await end('declined');
    provider.does({ query: () => ({ kind: 'settled' }) });
    await shop.advanceClock(1);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null, captured: '10.00' });
    expect(await callbacks(id)).toEqual(['sale', 'void', 'sale']);
  });

  test('the void is refused, and the amount is still only reserved: it expires on its own day', async () => {
    const id = await authorised();
    const end = await voiding(id);
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

test('a settlement that was reported is remembered while the void has no outcome, however long that takes', async () => {
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

describe('a void of ours that the provider reports on its own', () => {
  const VOIDED = { type: 'payment', status: 'voided', amount: '1000', currency: 'USD' };

  test('leaves the outcome to the operation: VOID, told once', async () => {
    const id = await authorised();
    const end = await voiding(id);
    await report(id, VOIDED);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: null });
    await end('done');
    expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', attention: null });
    expect(await callbacks(id)).toEqual(['sale', 'void']);
  });

  test('and then refuses because it is voided already: the provider is asked, and the payment is DECLINED', async () => {
    const id = await authorised();
    const end = await voiding(id);
    await report(id, VOIDED);
    await end('declined');
    provider.does({ query: () => ({ kind: 'declined', reason: 'Voided.' }) });
    await shop.advanceClock(1);
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', attention: null });
  });
});

describe('a chargeback', () => {
  test('after a full refund: the state stays, the merchant is told, and the operator sees it', async () => {
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
  ] as const)('of a payment that is %s: told and on the list', async (status, make, then) => {
    if (status === 'DECLINED') provider.does({ submit: () => ({ kind: 'declined', reason: 'No.' }) });
    const id = await make();
    await then(id);
    await report(id, { type: 'chargeback' });
    expect(await shop.inspect(id)).toMatchObject({ status, attention: 'unexpected_chargeback' });
    expect((await callbacks(id)).at(-1)).toBe('chargeback');
  });

  test('before the settlement was reported: the provider is asked, and says that it was settled', async () => {
    const id = await authorised();
    provider.does({ query: () => ({ kind: 'settled' }) });
    await report(id, { type: 'chargeback' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect(await callbacks(id)).toEqual(['sale', 'sale', 'chargeback']);
  });

  test('before the settlement, and the provider does not know of one yet: it waits for it, on the list', async () => {
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

  test('before the settlement, which comes days later: it is applied then', async () => {
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

  test('twice: the second one changes nothing and is not told', async () => {
    const id = await sale();
    await report(id, { type: 'chargeback' });
    await report(id, { type: 'chargeback' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect(await callbacks(id)).toEqual(['sale', 'chargeback']);
  });
});

describe('another amount than ours', () => {
  test('told while the payment changes: the doubt is noted all the same', async () => {
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
  ] as const)('of a %s is not believed: it stays open, on the list, and is asked about', async (action, verb, make) => {
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

  test('when an authorisation expires: asked about for a bounded time, on the list', async () => {
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

describe('an authorisation whose time is over', () => {
  const week = (): Promise<void> => shop.advanceClock(7 * DAY);

  test('is voided at the provider, and then EXPIRED', async () => {
    const id = await authorised();
    await week();
    expect(provider.calls(id)).toEqual(['submit', 'void 1000']);
    expect(await shop.inspect(id)).toMatchObject({ status: 'EXPIRED', attention: null });
    expect((await shop.events(id)).slice(1)).toEqual(['authorised', 'requested expiry', 'expired']);
    expect(await callbacks(id)).toEqual(['sale', 'expiry']);
  });

  test('stays PENDING while the provider does not answer, and is asked about until it does', async () => {
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

  test('the provider refuses because it has settled it: SETTLED', async () => {
    const id = await authorised();
    provider.does({ operate: () => ({ kind: 'declined', reason: 'No.' }), query: () => ({ kind: 'settled' }) });
    await week();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '10.00' });
    expect(await callbacks(id)).toEqual(['sale', 'sale']);
  });

  test('the provider refuses because it has let go of it: EXPIRED', async () => {
    const id = await authorised();
    provider.does({
      operate: () => ({ kind: 'declined', reason: 'No.' }),
      query: () => ({ kind: 'declined', reason: 'Lapsed.' }),
    });
    await week();
    expect(await shop.inspect(id)).toMatchObject({ status: 'EXPIRED', attention: null });
    expect(await callbacks(id)).toEqual(['sale', 'expiry']);
  });

  test('is not prolonged by a report that it is authorised', async () => {
    const id = await authorised();
    await shop.advanceClock(6 * DAY);
    await report(id, { type: 'payment', status: 'authorised', amount: '1000', currency: 'USD' });
    await shop.advanceClock(DAY);
    expect((await shop.inspect(id)).status).toBe('EXPIRED');
  });

  test('the provider refuses and still holds it: EXPIRED, and an operator has to look', async () => {
    const id = await authorised();
    provider.does({ operate: () => ({ kind: 'declined', reason: 'No.' }) });
    await week();
    expect(await shop.inspect(id)).toMatchObject({ status: 'EXPIRED', attention: 'unresolved' });
  });

  test('a process that dies before the provider answers: another one finishes it', async () => {
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

describe('an outcome that nobody ever tells', () => {
  test('is asked about for a bounded time, so that the history does not grow for ever', async () => {
    provider.does({ submit: () => ({ kind: 'unknown' }), query: () => ({ kind: 'unknown' }) });
    const id = await sale();
    await shop.advanceClock(60 * DAY);
    const most = 2 + LIMITS.queryBackoffMs.length + LIMITS.dailyQueries + 1;
    expect(await shop.events(id)).toHaveLength(most);
    await shop.advanceClock(60 * DAY);
    expect(await shop.events(id)).toHaveLength(most);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true, attention: 'unresolved' });
  });

  test('of an operation likewise', async () => {
    const id = await sale();
    provider.does({ operate: () => ({ kind: 'unknown' }), queryOperation: () => ({ kind: 'unknown' }) });
    await send('CREDITVOID', id);
    await shop.advanceClock(100 * DAY);
    const { length } = await shop.events(id);
    await shop.advanceClock(100 * DAY);
    expect(await shop.events(id)).toHaveLength(length);
    expect(await shop.inspect(id)).toMatchObject({ attention: 'unresolved', operations: [{ state: 'sent' }] });
  });

  test('of an operation, told after days: it is off the list again', async () => {
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

test('after all of this every invariant holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
