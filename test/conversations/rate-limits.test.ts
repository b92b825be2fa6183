/** A provider with too many calls: the payment waits and is sent again, once, within its time. */
import { describe, expect, test } from 'vitest';
import { RateLimited } from '../../src/connectors/connector.ts';
import { createPacer } from '../../src/lib/flow/pacer.ts';
import { callsPerSecondOf } from '../../src/rules/connectors.ts';
import { STRIPE_CREDENTIALS, startStripe } from '../doubles/stripe.ts';
import { openShop } from '../support/gateway.ts';
import { brandSale } from '../support/operations.ts';
import { connect } from '../support/providers.ts';

const shop = openShop({ simulator: true });

describe('with one route', () => {
  const limit = (count: number) =>
    shop.gateway.simulator?.control('POST', '/faults', { mode: 'rate_limited', brand: 'pin-a', count });

  test('a call that is rejected once is repeated: the payment is settled, and charged once', async () => {
    await limit(1);
    const { body } = await shop.post(brandSale('pin-a', shop.merchant));
    expect(body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
    const { items } = (await shop.sandbox('GET', '/ledger')).body;
    expect(items.filter(({ reference }: { reference: string }) => reference === body.trans_id)).toHaveLength(1);
  });

  test('a provider that rejects every call declines the payment in the end', async () => {
    await limit(5);
    const { body } = await shop.post(brandSale('pin-a', shop.merchant));
    expect(body).toMatchObject({ status: 'DECLINED', decline_reason: 'The provider never received the payment.' });
  });
});

test.each([
  ['2', 2000],
  ['0', 0],
  [undefined, undefined],
  ['soon', undefined],
])('Retry-After: %s', (header, ms) => {
  expect(new RateLimited('Too many.', header).retryAfterMs).toBe(ms);
});

test.each([
  ['stripe', 'sandbox', {}, 25],
  ['stripe', 'production', {}, 100],
  ['stripe-hosted', 'production', {}, 100],
  ['stripe', 'production', { calls_per_second: 7 }, 7],
  ['adyen', 'production', { calls_per_second: 7 }, 7],
  // They document no number.
  ['adyen', 'production', {}, undefined],
  ['mollie', 'production', {}, undefined],
  ['paypal', 'production', {}, undefined],
  ['checkout', 'production', {}, undefined],
] as const)('the calls per second of %s in %s with %j: %s', (connector, environment, settings, expected) => {
  expect(callsPerSecondOf(connector, settings, environment)).toBe(expected);
});

describe('the setting calls_per_second', () => {
  test.each([0, 1.5, -1, 10_001, 'many', null])('%j is refused', async (calls_per_second) => {
    const { status, body } = await shop.admin('POST', '/connections', {
      connector: 'mollie',
      name: 'Mollie',
      credentials: { api_key: 'test_key' },
      settings: { calls_per_second },
    });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('settings.calls_per_second')]);
  });

  test('spreads the calls of a connection', async () => {
    const stripe = await startStripe();
    const settings = { api_base: stripe.url, calls_per_second: 1 };
    const connection_id = await connect(shop, { credentials: STRIPE_CREDENTIALS }, { connector: 'stripe', settings });
    const before = performance.now();
    for (const _ of [1, 2, 3]) await shop.admin('POST', `/connections/${connection_id}/check`);
    // Each check makes a call or more; one of them may be sent at once. Timers may be a little early.
    expect(performance.now() - before).toBeGreaterThan(1950);
    await stripe.close();
  });
});

test('a pacer lets a second of calls through at once, then one after the other', () => {
  const pacer = createPacer(4);
  expect([1, 2, 3, 4, 5, 6].map(() => pacer.take(10_000))).toEqual([0, 0, 0, 0, 250, 500]);
  expect(pacer.take(20_000)).toBe(0);
});
