/** Cached accounts keep no memory besides their own. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createAccount, findAccount } from '../../src/core/accounts.ts';
import { commandCaller } from '../../src/core/principal.ts';
import { openShop } from '../support/gateway.ts';

const shop = openShop();

test('a cached account does not keep the pools that its secrets were read into', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const held = (): number => {
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const mids: string[] = [];
  for (let count = 0; count < 60; count++) {
    mids.push((await createAccount(shop.gateway, commandCaller('test'), `Shop ${count}`, {})).account.mid);
  }
  const before = held();
  for (const mid of mids) {
    await findAccount(shop.gateway, mid);
    // Other work uses the pools, too, so that the secrets of two accounts are seldom in the same one.
    for (let size = 0; size < Buffer.poolSize; size += 1000) Buffer.allocUnsafe(1000);
  }
  expect(held() - before).toBeLessThan((mids.length * Buffer.poolSize) / 4);
});
