/** A payment shows the strongest of its marks, until what each one is about is decided or resolved. */
import { afterAll, describe, expect, test } from 'vitest';
import { receiveNotifications } from '../../../src/core/payments/notifications.ts';
import { newId } from '../../../src/lib/crypto/id.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { openShop } from '../../support/gateway.ts';
import { scriptProvider } from '../../support/scripted-provider.ts';

const provider = scriptProvider();
const shop = openShop({ connectors: { vcard: provider.connector } });

afterAll(async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

/** The provider sends a notification. */
const tell = (reference: string, body: Record<string, unknown>): Promise<void> =>
  receiveNotifications(shop.gateway, 'vcard', [{ eventId: newId(), reference, body: { ...body, reference } }]);
const settled = (id: string, more: Record<string, unknown> = {}) =>
  tell(id, { type: 'payment', status: 'settled', amount: '1000', currency: 'USD', ...more });
const markOf = async (id: string): Promise<string | null> => (await shop.inspect(id)).attention;
const decide = (id: string, resolve: string) => shop.admin('POST', `/payments/${id}/attention`, { resolve });

async function sale(status: 'SETTLED' | 'DECLINED', fields = {}): Promise<string> {
  const providerReference = `at-provider-${newId()}`;
  if (status === 'SETTLED') provider.does({ submit: () => ({ kind: 'settled', providerReference }) });
  else provider.does({ submit: () => ({ kind: 'declined', reason: 'No.' }) });
  const { body } = await shop.sale(fields);
  expect(body).toMatchObject({ status });
  provider.does({});
  return body.trans_id;
}

/** A payment that was declined, and that the provider reports as paid afterwards. */
async function lateSuccess(): Promise<string> {
  const id = await sale('DECLINED');
  await settled(id);
  expect(await markOf(id)).toBe('late_success');
  return id;
}

describe('a late success', () => {
  test('stays marked after a report with a wrong amount, and is accepted with the amount of the payment', async () => {
    const id = await lateSuccess();
    await settled(id, { amount: '1001' });
    expect(await markOf(id)).toBe('late_success');
    expect((await decide(id, 'accept')).body).toMatchObject({ status: 'SETTLED', captured: '10.00', attention: null });
  });

  /** An authorisation that the provider first does not know, and of which it reports later that 4.00 were captured. */
  async function latePart(): Promise<string> {
    provider.does({ submit: () => ({ kind: 'unknown' }), query: () => ({ kind: 'notFound' }) });
    const { body } = await shop.sale({ auth: 'Y' });
    const id = body.trans_id;
    for (let tries = 0; tries < 20 && (await shop.inspect(id)).status !== 'DECLINED'; tries++)
      await shop.advanceClock(50);
    provider.does({ query: () => ({ kind: 'settled', captured: { amount: 400n } }) });
    await shop.advanceClock(60);
    await expect.poll(() => markOf(id)).toBe('late_success');
    return id;
  }

  test('of a part is accepted with what was captured, and the ledger has that', async () => {
    const id = await latePart();
    expect((await shop.inspect(id)).provider_calls.at(-1)).toMatchObject({ outcome: 'settled', reported: '4.00 USD' });
    expect((await decide(id, 'accept')).body).toMatchObject({ status: 'SETTLED', captured: '4.00' });
    expect((await shop.inspect(id)).money).toMatchObject({ gross: '4.00' });
    expect((await shop.admin('POST', `/payments/${id}/refund`, {})).body).toMatchObject({ status: 'REFUND' });
  });

  test('of a part is sent back with what was captured', async () => {
    const id = await latePart();
    expect((await decide(id, 'refund')).body.operation).toMatchObject({ operation: 'late_refund', amount: '4.00' });
    expect(provider.calls(id)).toContain('refund 400');
    expect((await shop.inspect(id)).money).toMatchObject({ gross: '4.00', refunded: '4.00' });
  });

  test('of a payment that was paid twice stays marked after a chargeback and its reversal', async () => {
    const id = await sale('SETTLED');
    await settled(id, { id: 'another-payment' });
    for (const [type, status] of [
      ['chargeback', 'CHARGEBACK'],
      ['chargeback_reversed', 'SETTLED'],
    ]) {
      await tell(id, { type });
      expect(await shop.inspect(id)).toMatchObject({ status, attention: 'late_success' });
    }
  });

  test('is marked again once the chargeback of it is reversed', async () => {
    const id = await lateSuccess();
    await tell(id, { type: 'chargeback' });
    expect(await markOf(id)).toBe('unexpected_chargeback');
    await tell(id, { type: 'chargeback_reversed' });
    expect(await markOf(id)).toBe('late_success');
    await decide(id, 'dismiss');
    expect(await markOf(id)).toBeNull();
  });

  test('is not marked again once the money was sent back', async () => {
    const id = await lateSuccess();
    await decide(id, 'refund');
    for (const type of ['chargeback', 'chargeback_reversed']) await tell(id, { type });
    expect(await markOf(id)).toBeNull();
  });
});

describe('a refund without an outcome', () => {
  const unknown = () => ({ kind: 'unknown' }) as const;
  const refund = (id: string, amount: string) => shop.admin('POST', `/payments/${id}/refund`, { amount });
  const SOON = 5;

  /** A payment with a refund of 4.00 that the provider knows nothing of, after all pauses between queries. */
  async function unresolved(): Promise<string> {
    const id = await sale('SETTLED');
    provider.does({ operate: unknown, queryOperation: unknown });
    await refund(id, '4.00');
    await shop.rows(`update operations set query_count = 9 where payment_id = '${id}'`);
    await shop.advanceClock(SOON);
    await expect.poll(() => markOf(id)).toBe('unresolved');
    return id;
  }

  /** The provider knows the outcome of the refund now. */
  async function resolve(id: string): Promise<void> {
    provider.does({});
    await shop.advanceClock(86_400);
    await expect.poll(async () => (await shop.inspect(id)).operations[0].state).toBe('done');
  }

  test('stays marked after a chargeback and its reversal, until it has one', async () => {
    const id = await unresolved();
    for (const [type, status] of [
      ['chargeback', 'CHARGEBACK'],
      ['chargeback_reversed', 'SETTLED'],
      ['chargeback', 'CHARGEBACK'],
    ]) {
      await tell(id, { type });
      expect(await shop.inspect(id)).toMatchObject({ status, attention: 'unresolved' });
    }
    await resolve(id);
    expect(await shop.inspect(id)).toMatchObject({ refunded: '4.00', attention: null });
  });

  test.each([
    ['is done', { kind: 'done' }],
    ['is declined', { kind: 'declined', reason: 'No.' }],
    ['is pending', { kind: 'accepted' }],
  ] as const)('stays marked when another one %s', async (_, outcome) => {
    const id = await unresolved();
    for (const operate of [() => outcome, unknown]) {
      const queryOperation = ({ amount }: { amount: bigint }) => (amount === 400n ? unknown() : outcome);
      provider.does({ operate, queryOperation });
      await refund(id, '1.00');
      await shop.advanceClock(SOON);
      await expect
        .poll(async () => (await shop.inspect(id)).operations.at(-1).state)
        .toBe(outcome.kind === 'accepted' ? 'sent' : outcome.kind);
      expect(await markOf(id)).toBe('unresolved');
    }
    await resolve(id);
    await expect.poll(() => markOf(id)).toBeNull();
  });

  test('is marked when a late success that hid it is dismissed', async () => {
    const id = await unresolved();
    await settled(id, { id: 'another-payment' });
    expect(await markOf(id)).toBe('late_success');
    await decide(id, 'dismiss');
    expect(await markOf(id)).toBe('unresolved');
    await decide(id, 'dismiss');
    expect(await markOf(id)).toBeNull();
  });
});

test('an operation that failed after it was done stays marked when a refund gets its outcome by a query', async () => {
  const id = await sale('SETTLED');
  await shop.admin('POST', `/payments/${id}/refund`, { amount: '1.00' });
  const operation = (await shop.inspect(id)).operations[0].operation_id;
  const failed = { reference: id, operation, type: 'operation', status: 'declined' };
  await receiveNotifications(shop.gateway, 'vcard', [{ eventId: newId(), reference: id, operation, body: failed }]);
  expect(await markOf(id)).toBe('unresolved');
  provider.does({ operate: () => ({ kind: 'unknown' }) });
  await shop.admin('POST', `/payments/${id}/refund`, { amount: '2.00' });
  await shop.advanceClock(5);
  await expect.poll(async () => (await shop.inspect(id)).refunded).toBe('3.00');
  expect(await markOf(id)).toBe('unresolved');
});
