/** A provider that was down answers again: payments in doubt are queried soon. */
import { expect, test } from 'vitest';
import { LIMITS } from '../../../src/rules/limits.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { BRAND_EXPECTATIONS } from '../../support/brand-expectations.ts';
import { type Answer, openShop, saleFields } from '../../support/gateway.ts';
import { scriptProvider } from '../../support/scripted-provider.ts';

const provider = scriptProvider();
const shop = openShop({ connectors: { upstream: provider.connector } });

const pinSale = (): Promise<Answer> =>
  shop.post(saleFields(shop.merchant, { brand: 'pin-a', identifier: '', ...BRAND_EXPECTATIONS['pin-a']?.complete }));

test('after an outage the backlog is queried soon, before its long backoff is over', async () => {
  provider.does({
    submit: () => ({ kind: 'unknown' }),
    query: () => Promise.reject(new Error('The provider is down.')),
  });
  const ids = await Promise.all(Array.from({ length: 20 }, async () => (await pinSale()).body.trans_id as string));
  // By then the next query would be due more than five minutes later.
  await shop.advanceClock(500);
  const [before] = await shop.rows(
    `select extract(epoch from min(due_at) - max(updated_at))::int as pause from payments where in_doubt and brand = 'pin-a'`,
  );
  expect(before?.pause).toBeGreaterThan(300);
  provider.does({});
  // The first answered call shows that the provider is back.
  expect((await pinSale()).body.status).toBe('SETTLED');
  const open = async (): Promise<number> =>
    Number((await shop.rows(`select count(*) from payments where in_doubt and brand = 'pin-a'`))[0]?.count);
  await expect
    .poll(async () => {
      await shop.advanceClock(2);
      return open();
    })
    .toBe(0);
  expect((await shop.inspect(ids[0] as string)).status).toBe('SETTLED');
});

test('the early query is additional: it does not use up a scheduled one', async () => {
  provider.does({
    submit: () => ({ kind: 'unknown' }),
    query: () => Promise.reject(new Error('The provider is down.')),
  });
  const id = (await pinSale()).body.trans_id as string;
  await shop.advanceClock(500);
  const queryCount = async (): Promise<unknown> =>
    (await shop.rows(`select query_count from payments where payment_id = '${id}'`))[0]?.query_count;
  const before = await queryCount();
  await shop.gateway.payments.hasten('upstream');
  await shop.advanceClock(LIMITS.backlogPauseMs / 1000);
  expect(provider.calls(id).length).toBeGreaterThan(Number(before) + 1);
  expect(await queryCount()).toBe(before);
});

test('every invariant holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
