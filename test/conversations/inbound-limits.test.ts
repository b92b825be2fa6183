/** Notifications of providers: limits of rate and size, and unsigned ones that must not fill the database. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';
import { API_KEY, type MollieDouble, startMollie } from '../doubles/mollie.ts';
import { STRIPE_CREDENTIALS } from '../doubles/stripe.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { holdRates } from '../support/hold-rates.ts';
import { shortenLimits } from '../support/limits.ts';
import { connect, route } from '../support/providers.ts';

shortenLimits({ notificationsPerAddress: 5, notificationsPerConnection: 10 });
const shop = openShop({ trustedProxies: ['127.0.0.1'] });
let mollie: MollieDouble;
let merchant: Merchant;
const ids: Record<string, string> = {};

beforeAll(async () => {
  mollie = await startMollie();
  const settings = { api_base: mollie.url, methods: { 'bank-a': 'ideal' } };
  for (const name of ['mollie', 'flooded'])
    ids[name] = await connect(shop, { credentials: { api_key: API_KEY } }, { connector: 'mollie', settings });
  ids.stripe = await connect(shop, { credentials: STRIPE_CREDENTIALS }, { connector: 'stripe' });
  merchant = await shop.newMerchant();
  await route(shop, merchant.mid, [{ connection_id: ids.mollie }]);
});
afterAll(() => mollie.close());
beforeEach(() => void holdRates());

let addresses = 0;
/** An address that nothing was sent from yet. */
const newAddress = (): string => `203.0.${Math.floor(++addresses / 250)}.${addresses % 250}`;
const send = async (path: string, body: string, from = newAddress(), headers: Fields = {}) => {
  const response = await fetch(`${shop.url}/inbound/${path}`, {
    method: 'POST',
    body,
    headers: { 'x-forwarded-for': from, ...headers },
  });
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('retry-after') };
};
const flood = async (times: number, one: (index: number) => ReturnType<typeof send>): Promise<number[]> =>
  (await Promise.all(Array.from({ length: times }, (_, index) => one(index)))).map(({ status }) => status);
const share = (statuses: number[], status: number): number => statuses.filter((each) => each === status).length;
const limited = async (limit: string): Promise<number> => {
  const text = await (await fetch(`${shop.url}/metrics`)).text();
  return Number(new RegExp(`^turnpike_requests_limited_total{limit="${limit}"} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
};
const stored = async (): Promise<number> =>
  Number((await shop.rows('select count(*)::int as count from provider_notifications'))[0]?.count);

const sale = async (): Promise<{ id: string; at: string }> => {
  const complete = BRAND_EXPECTATIONS['bank-a']?.complete;
  const { body } = await shop.sale({ brand: 'bank-a', identifier: '', ...complete }, merchant);
  return { id: body.trans_id, at: mollie.find(body.trans_id)?.payment.id as string };
};

describe('rates', () => {
  test('an address is refused above its limit, also at connections that do not exist; others are not', async () => {
    const from = newAddress();
    const statuses = await flood(40, (n) => send(n % 2 ? `mollie/${ids.mollie}` : 'mollie/unknown', 'id=tr_x', from));
    expect([share(statuses, 200) + share(statuses, 404), share(statuses, 429)]).toEqual([15, 25]);
    expect(await send(`mollie/${ids.mollie}`, 'id=tr_x', from)).toMatchObject({ status: 429, retryAfter: '1' });
    expect(await limited('notification_address')).toBe(share(statuses, 429) + 1);
    expect((await send(`mollie/${ids.mollie}`, 'id=tr_x')).status).toBe(200);
  });

  test('a connection is refused above its limit, whoever sends; others are not', async () => {
    const statuses = await flood(60, () => send(`mollie/${ids.flooded}`, 'id=tr_x'));
    expect([share(statuses, 200), share(statuses, 429)]).toEqual([30, 30]);
    expect(await limited('connection')).toBe(share(statuses, 429));
    expect((await send(`mollie/${ids.mollie}`, 'id=tr_x')).status).toBe(200);
    // The limit is counted before the signature, so that verifying one costs little.
    const forged = await flood(60, () => send(`stripe/${ids.stripe}`, '{}', newAddress(), { 'stripe-signature': 'x' }));
    expect([share(forged, 401), share(forged, 429)]).toEqual([30, 30]);
  });
});

test('a body above the limit is refused with 413, and one at the limit is read', async () => {
  const big = 'x'.repeat(LIMITS.notificationBytes);
  for (const path of [`mollie/${ids.mollie}`, 'upstream', '3ds'])
    expect((await send(path, `${big}x`)).status, path).toBe(413);
  expect((await send(`mollie/${ids.mollie}`, big)).status).toBe(200);
});

describe('unsigned notifications', () => {
  shortenLimits({ notificationsPerConnection: 10_000 });

  test('with unknown ids are answered like any other, and neither stored nor asked about', async () => {
    const { at } = await sale();
    const known = await send(`mollie/${ids.mollie}`, `id=${at}`);
    const [before, calls] = [await stored(), mollie.calls.length];
    for (let n = 0; n < 20; n++) expect(await send(`mollie/${ids.mollie}`, `id=tr_random${n}`)).toEqual(known);
    // A payment of another connection is unknown here, too.
    expect(await send(`mollie/${ids.flooded}`, `id=${at}`)).toMatchObject({ status: expect.toBeOneOf([200, 429]) });
    expect([await stored(), mollie.calls.length]).toEqual([before, calls]);
    expect((await shop.admin('GET', '/notifications?state=unmatched')).body.items).toEqual([]);
  });

  test('about one payment are stored in one row, at a limited rate; the provider sends a refused one again', async () => {
    const { id, at } = await sale();
    const before = await stored();
    const statuses = await flood(30, () => send(`mollie/${ids.mollie}`, `id=${at}`));
    expect([share(statuses, 200), share(statuses, 429)]).toEqual([12, 18]);
    expect(await stored()).toBe(before + 1);
    expect(await limited('unsigned_notification')).toBe(18);
    mollie.pay(at);
    expect((await send(`mollie/${ids.mollie}`, `id=${at}`)).status).toBe(429);
    expect((await shop.inspect(id)).status).toBe('REDIRECT');
    // The others are not affected, and the work loop finds the outcome as well.
    const other = await sale();
    mollie.pay(other.at);
    expect((await send(`mollie/${ids.mollie}`, `id=${other.at}`)).status).toBe(200);
    expect((await shop.inspect(other.id)).status).toBe('SETTLED');
    await shop.advanceClock(6, merchant.mid);
    expect((await shop.inspect(id)).status).toBe('SETTLED');
  });

  test('a later one is applied, although an earlier one brought nothing', async () => {
    const { id, at } = await sale();
    for (const isPaid of [false, true]) {
      if (isPaid) mollie.pay(at);
      await send(`mollie/${ids.mollie}`, `id=${at}`);
      expect(await shop.inspect(id)).toMatchObject({
        status: isPaid ? 'SETTLED' : 'REDIRECT',
        notifications: [{ event_id: at, state: 'applied' }],
      });
    }
  });
});
