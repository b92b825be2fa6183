/** A provider with too many calls: the payment waits and is sent again, once, within its time. */
import { describe, expect, test } from 'vitest';
import { RateLimited } from '../../src/connectors/connector.ts';
import { createPacer } from '../../src/lib/flow/pacer.ts';
import { openShop } from '../support/gateway.ts';
import { brandSale } from '../support/operations.ts';

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

test('a pacer lets a second of calls through at once, then one after the other', () => {
  const pacer = createPacer(4);
  expect([1, 2, 3, 4, 5, 6].map(() => pacer.take(10_000))).toEqual([0, 0, 0, 0, 250, 500]);
  expect(pacer.take(20_000)).toBe(0);
});
