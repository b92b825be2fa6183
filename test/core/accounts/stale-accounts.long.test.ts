/** A process that silently lost its connection for changes still stops using stale accounts. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { changeAccount, createAccount, findAccountByKey, rotateSecret } from '../../../src/core/accounts/accounts.ts';
import type { Gateway } from '../../../src/core/context.ts';
import { commandCaller } from '../../../src/core/operators/principal.ts';
import { LIMITS } from '../../../src/rules/limits.ts';
import { type FreezingProxy, startFreezingProxy } from '../../support/faulty-database.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';

const BY = commandCaller('test');
const SLOW_POLL = { timeout: 45_000 };

let proxy: FreezingProxy;
let shop: TestGateway;
let other: Gateway;
beforeAll(async () => {
  proxy = await startFreezingProxy(inject('database'));
  shop = await startTestGateway({ through: proxy, logLevel: 'error' });
  other = await shop.anotherGateway(shop.connection);
});
afterAll(async () => {
  await shop.close();
  await proxy.close();
});

test('uses a changed password and allowlist after five seconds at most', async () => {
  const merchants = [await shop.newMerchant(), await shop.newMerchant()] as const;
  for (const merchant of merchants) expect((await shop.sale({}, merchant)).status).toBe(200);
  proxy.freeze('listen turnpike_changes');
  // Twice: after the first rotation the old password stays valid for a while.
  await rotateSecret(other, BY, merchants[0].mid, 'password');
  await rotateSecret(other, BY, merchants[0].mid, 'password');
  await changeAccount(other, BY, merchants[1].mid, { settings: { ip_allowlist: ['192.0.2.1'] } });
  const until = performance.now() + LIMITS.accountAgeMs;
  // Requests use the cached accounts, which does not keep them in the cache.
  while (performance.now() < until) {
    for (const merchant of merchants) await shop.sale({}, merchant);
    await pause(100);
  }
  const messages = await Promise.all(
    merchants.map(async (merchant) => (await shop.sale({}, merchant)).body.error_message),
  );
  expect(messages).toEqual(['Hash is not valid', 'Request from this ip is not allowed.']);
  // The connection was opened again: the next change is noticed at once.
  await expect
    .poll(async () => {
      await shop.sale();
      await changeAccount(other, BY, shop.merchant.mid, { settings: { ip_allowlist: ['192.0.2.1'] } });
      await pause(500);
      const { status } = await shop.sale();
      await changeAccount(other, BY, shop.merchant.mid, { settings: { ip_allowlist: [] } });
      await pause(500);
      return [status, (await shop.sale()).status];
    }, SLOW_POLL)
    .toEqual([400, 200]);
});

test('caches for a moment that a key is unknown, and finds an account that is created here at once', async () => {
  let reads = 0;
  const { findByKey } = shop.gateway.accounts;
  shop.gateway.accounts.findByKey = (...key) => {
    reads++;
    return findByKey(...key);
  };
  const unknown = `test_${'0'.repeat(32)}`;
  await Promise.all(Array.from({ length: 50 }, () => findAccountByKey(shop.gateway, 'clientKey', unknown)));
  expect(reads).toBe(1);
  const { account } = await createAccount(shop.gateway, BY, 'New Shop', {});
  await findAccountByKey(shop.gateway, 'clientKey', unknown);
  expect(reads).toBe(2);
  expect(await findAccountByKey(shop.gateway, 'clientKey', account.clientKey)).toMatchObject({ mid: account.mid });
  // A key of one kind is not found as the other kind, and that lookup does not affect the right one.
  expect(await findAccountByKey(shop.gateway, 'clientKey', account.merchantKey)).toBeUndefined();
  expect(await findAccountByKey(shop.gateway, 'merchantKey', account.merchantKey)).toMatchObject({ mid: account.mid });
});
