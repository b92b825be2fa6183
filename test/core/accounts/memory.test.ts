/** Cached accounts keep no memory besides their own. */
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createAccount, findAccount } from '../../../src/core/accounts/accounts.ts';
import { commandCaller } from '../../../src/core/operators/principal.ts';
import { openShop } from '../../support/gateway.ts';

const shop = openShop();

test('a cached account does not keep the pools that its secrets were read into', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const { gateway } = shop;
  const pools: WeakRef<object>[] = [];
  const reading = {
    ...gateway,
    accounts: {
      ...gateway.accounts,
      async find(mid: string) {
        const row = await gateway.accounts.find(mid);
        if (row) pools.push(new WeakRef(row.password.buffer));
        return row;
      },
    },
  };
  const accounts: unknown[] = [];
  for (let count = 0; count < 60; count++) {
    const { account } = await createAccount(gateway, commandCaller('test'), `Shop ${count}`, {});
    accounts.push(await findAccount(reading, account.mid));
    // Other work uses the pools, too, so that the secrets of two accounts are seldom in the same one.
    for (let size = 0; size < Buffer.poolSize; size += 1000) Buffer.allocUnsafe(1000);
  }
  await turn();
  collect();
  expect(pools).toHaveLength(accounts.length);
  expect(pools.filter((pool) => pool.deref() !== undefined).length).toBeLessThan(accounts.length / 4);
});
