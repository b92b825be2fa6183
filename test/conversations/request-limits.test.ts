/** Too many requests of one account or one address are refused with 429; other clients are not affected. */
import { beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';
import { checkoutOf } from '../support/checkout.ts';
import { type Answer, type Merchant, openShop, saleFields, sign } from '../support/gateway.ts';
import { holdRates } from '../support/hold-rates.ts';

const PER_ADDRESS = 2;
const shop = openShop({ trustedProxies: ['127.0.0.1'], requestsPerAddress: PER_ADDRESS });
const checkout = checkoutOf(shop);

const REFUSAL = { result: 'ERROR', error_code: 100000, error_message: 'Too many requests.', errors: [] };
const limited = async (limit: string): Promise<number> => {
  const text = await (await fetch(`${shop.url}/metrics`)).text();
  return Number(new RegExp(`^turnpike_requests_limited_total{limit="${limit}"} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
};
const statusOf = ({ client_key, password }: Merchant, from?: string): Promise<Answer> => {
  const trans_id = '01990000-0000-7000-8000-000000000000';
  const fields = { action: 'GET_TRANS_STATUS', client_key, trans_id, hash: sign(password, trans_id) };
  return shop.post(fields, from === undefined ? {} : { 'x-forwarded-for': from });
};
let pass: ReturnType<typeof holdRates>;
beforeEach(() => {
  pass = holdRates();
});
const flood = (send: () => Promise<Answer>, times = 40): Promise<Answer[]> =>
  Promise.all(Array.from({ length: times }, send));
const refusedAmong = (answers: Answer[]): Answer[] => answers.filter(({ status }) => status === 429);

/** Expects that a burst of this rate passed, and that all others were refused. */
function expectRefusals(answers: Answer[], perSecond: number): void {
  const refused = refusedAmong(answers);
  expect(answers.length - refused.length).toBe((perSecond * LIMITS.rateBurstMs) / 1000);
  for (const { body, headers } of refused) {
    expect(body).toEqual(REFUSAL);
    expect(headers.get('retry-after')).toMatch(/^[1-9]$/);
  }
}

describe('an account', () => {
  test('is refused above its limit, status queries included; others are not', async () => {
    const merchant = await shop.newMerchant({ requests_per_second: 2 });
    const before = await limited('account');
    const answers = await flood(() => statusOf(merchant));
    expectRefusals(answers, 2);
    expect(await limited('account')).toBe(before + refusedAmong(answers).length);
    expect((await statusOf(shop.merchant)).status).toBe(400);
  });

  test('shares one limit between both protocols', async () => {
    const merchant = await shop.newMerchant({ requests_per_second: 1 });
    const [ofPost, ofCheckout] = await Promise.all([
      flood(() => statusOf(merchant)),
      flood(() => checkout.send('payment/status', { order_id: 'any' }, merchant)),
    ]);
    expectRefusals([...ofPost, ...ofCheckout], 1);
  });

  test('has no limit when the setting is 0, and a changed limit applies at once', async () => {
    const merchant = await shop.newMerchant({ requests_per_second: 0 });
    expect(refusedAmong(await flood(() => statusOf(merchant), 100))).toEqual([]);
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { requests_per_second: 1 });
    expectRefusals(await flood(() => statusOf(merchant)), 1);
  });

  test('is refused after the checks of the key and the address, and before every later check', async () => {
    const merchant = await shop.newMerchant({ requests_per_second: 1 });
    const good = saleFields(merchant);
    const answers = await flood(() => shop.post({ ...good, hash: 'wrong', brand: '' }));
    expectRefusals(answers, 1);
    expect(new Set(answers.map(({ body }) => body.error_message))).toEqual(
      new Set(['Too many requests.', 'Request data is invalid.']),
    );
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { ip_allowlist: ['203.0.113.7'] });
    const before = await limited('account');
    const foreign = await flood(() => shop.post({ ...good, hash: 'wrong', brand: '' }));
    expect(new Set(foreign.map(({ body }) => body.error_message))).toEqual(
      new Set(['Request from this ip is not allowed.']),
    );
    expect(await limited('account')).toBe(before);
    const earlier = await flood(() => shop.post({ ...good, action: 'NOPE' }));
    expect(new Set(earlier.map(({ status }) => status))).toEqual(new Set([404]));
  });

  test('may continue after the time in retry-after', async () => {
    const merchant = await shop.newMerchant({ requests_per_second: 5 });
    const refused = refusedAmong(await flood(() => statusOf(merchant), 100));
    const seconds = Number(refused.at(-1)?.headers.get('retry-after'));
    expect((await statusOf(merchant)).status).toBe(429);
    pass(seconds * 1000);
    expect((await statusOf(merchant)).status).toBe(400);
  });
});

describe('an address', () => {
  test('is refused above its limit, and other addresses are not', async () => {
    const before = await limited('address');
    const answers = await flood(() => statusOf(shop.merchant, '198.51.100.1'));
    expectRefusals(answers, PER_ADDRESS);
    expect(await limited('address')).toBe(before + refusedAmong(answers).length);
    expect((await statusOf(shop.merchant, '198.51.100.2')).status).toBe(400);
  });

  test('of IPv6 counts with its /64', async () => {
    let host = 0;
    const answers = await flood(() => statusOf(shop.merchant, `2001:db8:1:1::${(++host).toString(16)}`));
    expectRefusals(answers, PER_ADDRESS);
    expect((await statusOf(shop.merchant, '2001:db8:1:2::1')).status).toBe(400);
  });

  test('is refused before the body is read', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.3' };
    const answers = await flood(() => shop.post({ action: 'NOPE' }, headers));
    expectRefusals(answers, PER_ADDRESS);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404, 429]));
  });

  test('is refused by Checkout too', async () => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.5' };
    const answers = await flood(async () => {
      const response = await fetch(`${shop.url}/api/v1/session`, { method: 'POST', headers, body: '{}' });
      return { status: response.status, body: await response.json(), headers: response.headers };
    });
    expectRefusals(answers, PER_ADDRESS);
  });

  test('of the host itself has no limit', async () => {
    expect(refusedAmong(await flood(() => statusOf(shop.merchant), 100))).toEqual([]);
  });

  test('may still read pages, health and the admin API', async () => {
    await flood(() => statusOf(shop.merchant, '198.51.100.4'));
    const headers = { 'x-forwarded-for': '198.51.100.4' };
    for (const path of ['/health/live', '/openapi.json', '/pay/none', '/admin/api/accounts']) {
      expect((await fetch(shop.url + path, { headers })).status, path).not.toBe(429);
    }
  });
});
