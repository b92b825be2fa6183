/** Payer deadlines: a payment ends only after a last query to its provider, and every payment ends. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/connectors/connector.ts';
import { receiveNotifications } from '../../../src/core/payments/notifications.ts';
import { readClock } from '../../../src/core/sandbox/clock.ts';
import { BRANDS } from '../../../src/rules/brands.ts';
import { LIMITS } from '../../../src/rules/limits.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { BRAND_EXPECTATIONS } from '../../support/brand-expectations.ts';
import { type Fields, type Merchant, openShop, saleFields } from '../../support/gateway.ts';
import { scriptProvider } from '../../support/scripted-provider.ts';

const provider = scriptProvider();
const shop = openShop({ connectors: { upstream: provider.connector } });
beforeEach(() => provider.does({}));

const HOUR = 3600;
const REDIRECTED: Outcome = { kind: 'redirected', url: 'https://pay.example/1', method: 'GET', params: {} };
const ACCEPTED: Outcome = { kind: 'accepted' };
const SETTLED: Outcome = { kind: 'settled' };
const UNKNOWN: Outcome = { kind: 'unknown' };

/** A sale of a new account, submitted with this outcome. */
async function opened(brand: string, first: Outcome, fields: Fields = {}) {
  const merchant = await shop.newMerchant({ account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41' });
  provider.does({ submit: () => first, query: () => first });
  const complete = BRAND_EXPECTATIONS[brand]?.complete;
  const { body } = await shop.post(saleFields(merchant, { brand, identifier: '', ...complete, ...fields }));
  return { merchant, id: body.trans_id as string, orderId: body.order_id as string };
}
/** Moves the clock of an account without processing what is due. */
async function timePasses({ mid }: Merchant, seconds: number): Promise<void> {
  await shop.gateway.installation.moveClock(mid, seconds * 1000);
  await readClock(shop.gateway);
}
const statusOf = async (id: string, merchant: Merchant): Promise<string> =>
  (await shop.status(id, merchant)).body.status;

describe('a redirected payer whose hour is over', () => {
  test('has paid: the last query finds it, on a status request', async () => {
    const { id, merchant } = await opened('hosted-b', REDIRECTED);
    await timePasses(merchant, HOUR);
    provider.does({ query: () => SETTLED });
    expect(await statusOf(id, merchant)).toBe('SETTLED');
    expect(await shop.inspect(id)).toMatchObject({ captured: '10.00', attention: null });
  });

  test('has paid: the last query finds it, in the work loop', async () => {
    const { id, merchant } = await opened('hosted-b', REDIRECTED);
    await timePasses(merchant, HOUR);
    provider.does({ query: () => SETTLED });
    await shop.advanceClock(0, merchant.mid);
    expect((await shop.inspect(id)).status).toBe('SETTLED');
  });

  test('has paid: a repeat of the order finds it and opens no second payment', async () => {
    const { id, merchant, orderId } = await opened('hosted-b', REDIRECTED);
    await timePasses(merchant, HOUR);
    provider.does({ query: () => SETTLED });
    const complete = BRAND_EXPECTATIONS['hosted-b']?.complete;
    const again = saleFields(merchant, { brand: 'hosted-b', identifier: '', ...complete, order_id: orderId });
    expect((await shop.post(again)).body).toMatchObject({ error_message: 'order_id: Duplicate payment.' });
    expect((await shop.inspect(id)).status).toBe('SETTLED');
  });

  test('has not paid according to the provider: DECLINED', async () => {
    const { id, merchant } = await opened('hosted-b', REDIRECTED);
    await timePasses(merchant, HOUR);
    expect(await statusOf(id, merchant)).toBe('DECLINED');
    expect((await shop.inspect(id)).decline_reason).toBe('The payer did not finish in time.');
    expect(provider.calls(id).at(-1)).toBe('query');
  });

  test('applies a success that is reported before the payment was declined', async () => {
    const { id, merchant } = await opened('hosted-b', REDIRECTED);
    await timePasses(merchant, HOUR + 1);
    const body = { type: 'payment', reference: id, status: 'settled', amount: '1000', currency: 'USD' };
    await receiveNotifications(shop.gateway, 'upstream', [{ eventId: `late-${id}`, reference: id, body }]);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null });
  });

  test('the provider does not answer: the payment stays open and is queried until it does', async () => {
    const { id, merchant } = await opened('hosted-b', REDIRECTED);
    await timePasses(merchant, HOUR);
    provider.does({ query: () => UNKNOWN });
    expect(await statusOf(id, merchant)).toBe('REDIRECT');
    await shop.advanceClock(600, merchant.mid);
    expect((await shop.inspect(id)).status).toBe('REDIRECT');
    const queries = provider.calls(id).length;
    expect(queries).toBeLessThan(20);
    provider.does({ query: () => SETTLED });
    await shop.advanceClock(900, merchant.mid);
    expect((await shop.inspect(id)).status).toBe('SETTLED');
  });

  test('the provider never answers: marks the payment, and the queries end', async () => {
    const { id, merchant } = await opened('hosted-b', REDIRECTED);
    provider.does({ query: () => UNKNOWN });
    await shop.advanceClock(3 * 86_400, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({ status: 'REDIRECT', attention: 'unresolved' });
    await shop.advanceClock(60 * 86_400, merchant.mid);
    const queries = provider.calls(id).length;
    expect(queries).toBeLessThan(60);
    await shop.advanceClock(60 * 86_400, merchant.mid);
    expect(provider.calls(id)).toHaveLength(queries);
    expect(await shop.rows(`select due_at from payments where payment_id = '${id}'`)).toEqual([{ due_at: null }]);
  });

  test('status requests without an answer do not use up queries of the work loop', async () => {
    const { id, merchant } = await opened('hosted-b', REDIRECTED);
    await timePasses(merchant, HOUR);
    provider.does({ query: () => UNKNOWN });
    for (let polls = 0; polls < 50; polls++) expect(await statusOf(id, merchant)).toBe('REDIRECT');
    expect(await shop.inspect(id)).toMatchObject({ status: 'REDIRECT', attention: null });
    expect(await shop.events(id)).toEqual(['opened', 'redirected']);
  });
});

describe('a payment that its provider has accepted', () => {
  const WAITING = Object.entries(BRANDS).filter(
    ([, { connector, payerTimeMs }]) => connector === 'upstream' && payerTimeMs === undefined,
  );

  test.each(WAITING.map(([brand]) => brand))('%s has a time limit in its table entry', (brand) => {
    expect(BRANDS[brand]?.pendingMs).toBeGreaterThanOrEqual(LIMITS.dayMs);
  });

  test.each([
    ['ips', 1, { order_currency: 'RSD' }],
    ['crypto-a', 3, {}],
    ['upi-b', 1, {}],
    ['telecom-a', 7, {}],
    ['payout-a', 30, {}],
  ] as [string, number, Fields][])('%s is declined after %i days, after a last query', async (brand, days, fields) => {
    const { id, merchant } = await opened(brand, ACCEPTED, fields);
    await shop.advanceClock(days * 86_400 - 60, merchant.mid);
    expect((await shop.inspect(id)).status).toBe('PENDING');
    await shop.advanceClock(120, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The payer did not finish in time.',
    });
  });

  test('that succeeded just before the deadline is SETTLED', async () => {
    const { id, merchant } = await opened('crypto-a', ACCEPTED);
    await timePasses(merchant, 3 * 86_400);
    provider.does({ query: () => SETTLED });
    expect(await statusOf(id, merchant)).toBe('SETTLED');
  });

  test('has no deadline while its outcome is unknown', async () => {
    const { id, merchant } = await opened('crypto-a', UNKNOWN);
    await shop.advanceClock(10 * 86_400, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true, attention: 'unresolved' });
  });
});

test('every invariant holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
