/** The commands `projections` and `projections rebuild`, and the metrics of projections. */
import { expect, test } from 'vitest';
import { foldProjections } from '../../src/core/projections/projections.ts';
import { newMasterKey } from '../../src/lib/crypto/seal.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { openShop } from '../support/gateway.ts';
import { databaseUrl } from '../support/process.ts';
import { turnpike } from './turnpike.ts';

const MASTER_KEY = newMasterKey();
const shop = openShop({ masterKey: MASTER_KEY });

const command = (...words: string[]) =>
  turnpike(
    {
      DATABASE_URL: databaseUrl(shop.connection as Parameters<typeof databaseUrl>[0]),
      TURNPIKE_MASTER_KEY: MASTER_KEY,
    },
    ['projections', ...words],
  );
const listed = async () => {
  const { items } = (await command('--json')).json();
  return items.find(({ name }: { name: string }) => name === 'reports');
};
const gauge = async (name: string): Promise<number> => {
  const text = await shop.gateway.metrics.text();
  return Number(new RegExp(`^turnpike_projection_${name}\\{projection="reports"\\} (\\S+)$`, 'm').exec(text)?.[1]);
};
const complete = async () => (await shop.admin('GET', '/reports')).body.complete;

test('what waits is listed, and is a metric', async () => {
  await shop.sale();
  expect(await listed()).toMatchObject({ position: { history: 0 }, rows_behind: 2, backfilled: null });
  expect(await gauge('rows_behind')).toBe(2);
  await shop.rows(`update history set at = at - interval '90 seconds'`);
  expect((await listed()).seconds_behind).toBeGreaterThanOrEqual(90);
  expect(await gauge('seconds_behind')).toBeGreaterThanOrEqual(90);
  await foldProjections(shop.gateway);
  expect(await listed()).toMatchObject({
    position: { history: 2 },
    rows_behind: 0,
    seconds_behind: 0,
    backfilled: null,
  });
  expect([await gauge('rows_behind'), await gauge('seconds_behind'), await gauge('backfilled')]).toEqual([0, 0, 1]);
  const { output } = await command();
  expect(output).toMatch(/^name +position +rows behind +seconds +backfill\nreports +2 +0 +0 +complete\n/);
});

test('a rebuild empties the projection, and running gateways build it again', async () => {
  const figures = async () => (await shop.admin('GET', '/reports')).body.items;
  const before = await figures();
  const rebuilt = await command('rebuild', 'reports');
  expect([rebuilt.code, rebuilt.output]).toEqual([0, expect.stringContaining('build the projection reports again')]);
  expect([await complete(), await listed(), await gauge('backfilled')]).toMatchObject([false, { backfilled: 0 }, 0]);
  expect((await command()).output).toMatch(/^reports +2 +0 +0 +0 %$/m);
  await foldProjections(shop.gateway);
  expect([await complete(), await figures()]).toEqual([true, before]);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  expect(shop.logs.some((line) => line.includes('projection built'))).toBe(true);
});

test('a projection that does not exist is a mistake; one that is built for the first time is not built again', async () => {
  const unknown = await command('rebuild', 'sums');
  expect([unknown.code, unknown.messages]).toEqual([2, expect.stringContaining('There is no projection sums.')]);
  await shop.rows(`update projections set backfill_before = 'ffffffff-ffff-ffff-ffff-ffffffffffff', callback_attempts_since = 0
    where name = 'reports'`);
  const first = await command('rebuild', 'reports');
  expect([first.code, first.messages]).toEqual([1, expect.stringContaining('for the first time')]);
  await shop.rows(`update projections set backfill_before = null where name = 'reports'`);
});
