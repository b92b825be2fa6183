/** The payer's time per method, by the setting of the account: in sales, in sessions and at the provider. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AdyenDouble, startAdyen } from '../doubles/adyen.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { checkoutOf, fill } from '../support/checkout.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { connect, route } from '../support/providers.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);
const TOO_LATE = { status: 'DECLINED', decline_reason: 'The payer did not finish in time.' };
let merchant: Merchant;
beforeAll(async () => {
  merchant = await shop.newMerchant({ payer_minutes: { 'hosted-b': 10, 'transfer-a': '20' } });
});

const sell = async (brand: string, of: Merchant): Promise<string> => {
  const { body } = await shop.sale({ brand, identifier: '', ...BRAND_EXPECTATIONS[brand]?.complete }, of);
  expect(body, JSON.stringify(body)).toMatchObject({ trans_id: expect.any(String) });
  return body.trans_id;
};
/** The minutes between the sale and the end of the payer's time. */
const minutesOf = async (id: string): Promise<number> => {
  const minutes = 'extract(epoch from payer_until - created_at)::float / 60 as minutes';
  const [row] = await shop.rows(`select ${minutes} from payments where payment_id = '${id}'`);
  return Number(row?.minutes);
};

describe('a sale', () => {
  test('ends after the minutes of the account', async () => {
    const id = await sell('hosted-b', merchant);
    expect(await minutesOf(id)).toBe(10);
    await shop.advanceClock(9 * 60, merchant.mid);
    expect((await shop.status(id, merchant)).body.status).toBe('REDIRECT');
    await shop.advanceClock(61, merchant.mid);
    expect((await shop.status(id, merchant)).body).toMatchObject(TOO_LATE);
  });

  test('of a method with a time of its own has that of the account, also while it is pending', async () => {
    const id = await sell('transfer-a', merchant);
    expect(await minutesOf(id)).toBe(20);
    await shop.advanceClock(19 * 60, merchant.mid);
    expect((await shop.status(id, merchant)).body.status).toBe('PENDING');
    await shop.advanceClock(61, merchant.mid);
    expect((await shop.status(id, merchant)).body).toMatchObject(TOO_LATE);
  });

  test('of a method, or an account, without the setting has the time of the gateway', async () => {
    expect(await minutesOf(await sell('doc-a', merchant))).toBe(60);
    const other = await shop.newMerchant();
    expect(await minutesOf(await sell('hosted-b', other))).toBe(60);
    expect(await minutesOf(await sell('transfer-a', other))).toBe(5);
  });
});

describe('a session', () => {
  test.each([
    [60, 10],
    [5, 5],
  ])('of %i minutes leaves the payer of the method %i', async (session_expiry, expected) => {
    const session = await checkout.open({ session_expiry, methods: ['hosted-b'] }, merchant);
    expect(await minutesOf(session.id)).toBeCloseTo(session_expiry, 3);
    await fill(session.url, { method: 'hosted-b', ...BRAND_EXPECTATIONS['hosted-b']?.complete });
    expect((await shop.inspect(session.id)).status).toBe('REDIRECT');
    // The time of the method begins when the payer chooses it.
    const minutes = await minutesOf(session.id);
    expect(minutes).toBeGreaterThanOrEqual(expected - 0.001);
    expect(minutes).toBeLessThan(expected + 5);
  });
});

describe('at the provider', () => {
  let adyen: AdyenDouble;
  beforeAll(async () => {
    adyen = await startAdyen();
  });
  afterAll(() => adyen.close());

  test('the page closes when the payer’s time is over', async () => {
    const settings = { api_base: adyen.url, mode: 'hosted', methods: { 'hosted-b': 'ideal' } };
    const id = await connect(shop, { credentials: adyen.credentials }, { connector: 'adyen', settings });
    const buyer = await shop.newMerchant({ payer_minutes: { 'hosted-b': 10 } });
    await route(shop, buyer.mid, [{ connection_id: id }]);
    const { payer_until } = await shop.inspect(await sell('hosted-b', buyer));
    const { expiresAt } = adyen.calls.find(({ path }) => path === '/sessions')?.body ?? {};
    expect(Math.floor(Date.parse(String(expiresAt)) / 1000)).toBe(Math.floor(Date.parse(`${payer_until}`) / 1000));
  });
});

test.each([{ nothing: 10 }, { ideal: 0 }, { ideal: 721 }, { ideal: 'soon' }, 15])('%j is refused', async (value) => {
  const { status, body } = await shop.admin('PATCH', `/accounts/${merchant.mid}`, { payer_minutes: value });
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('payer_minutes')]);
});
