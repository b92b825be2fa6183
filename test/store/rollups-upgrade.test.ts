/** The sums of reports after an upgrade: rows from before it are added in portions, newest payments first. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { migrateAt } from '../../src/store/migrate.ts';
import { createRollupStore } from '../../src/store/rollups.ts';
import { checkoutOf } from '../support/checkout.ts';
import { openShop } from '../support/gateway.ts';
import { operationsOf } from '../support/operations.ts';

const shop = openShop({ simulator: true });
const at = operationsOf(shop);

/** Takes the schema back to the one before the migration. */
const UNDO = `
  drop table rollups, rollup_declines, rollup_calls, rollup_deliveries, rollup_progress;
  drop domain rollup_grain;
  alter table history drop column number, drop column amount;
  alter table callback_attempts drop column number;
  delete from migrations where name = '0017_rollups.sql'`;

test('figures are the same as without the upgrade', async () => {
  const { mid } = shop.merchant;
  await shop.admin('PATCH', `/accounts/${mid}`, { callback_url: `${shop.url}/sandbox/callbacks/${mid}` });
  const ids = [await at.settled('vcard'), await at.settled('pin-a'), await at.authorised('pin-a')] as const;
  await at.send('CREDITVOID', ids[0], { amount: '1.00' });
  await at.send('CREDITVOID', ids[0], { amount: '2.00' });
  await at.send('CREDITVOID', ids[1], { amount: '0.50' });
  await at.control(ids[1], { chargeback: true });
  await at.becomes(ids[1], 'CHARGEBACK');
  await at.send('CAPTURE', ids[2], { amount: '7.00' });
  await shop.sale({ identifier: 'decline@example.com' });
  await checkoutOf(shop).paid();
  await checkoutOf(shop).open();
  await shop.gateway.deliverer.drain();
  const read = async () => {
    const { items, complete } = (await shop.admin('GET', '/reports?group_by=mid,brand,connection')).body;
    const { totals, declines, latency, callbacks } = (await shop.admin('GET', '/overview')).body;
    return { figures: { items, totals, declines, latency, callbacks }, complete };
  };
  const { figures } = await read();
  expect(figures.totals.payments).toBe(6);
  expect(figures.totals.amounts).toMatchObject([
    { captured: '37.00', refunded: '3.50', charged_back: '9.50', net: '24.00' },
  ]);
  expect(figures.callbacks.delivered).toBeGreaterThan(5);

  await shop.rows(UNDO);
  expect(await migrateAt(shop.connection)).toEqual(['0017_rollups.sql']);
  expect(await read()).toMatchObject({ complete: false, figures: { items: [] } });
  const database = openDatabase(shop.connection, () => undefined);
  try {
    const store = createRollupStore(database, { rows: 3, payments: 2 });
    expect(await store.addPortion()).toBe(true);
    const started = await read();
    expect(started.complete).toBe(false);
    expect(started.figures.totals.payments).toBe(2);
    let portions = 1;
    while (await store.addPortion()) portions++;
    expect(portions).toBeGreaterThanOrEqual(3);
    expect(await read()).toEqual({ figures, complete: true });

    // Payments from before the upgrade go on, in small portions too.
    await at.send('CREDITVOID', ids[0], { amount: '0.25' });
    for (let made = 0; made < 3; made++) await shop.sale();
    const after = await read();
    expect(after.figures.totals.amounts).toMatchObject([{ captured: '67.00', refunded: '3.75' }]);
    while (await store.addPortion());
    expect(await read()).toEqual(after);
    expect(await shop.rows('select history_number - last_value as left from rollup_progress, history_number')).toEqual([
      { left: '0' },
    ]);
  } finally {
    await database.close();
  }
});

test('an empty database has nothing to add', async () => {
  const other = await shop.anotherGateway();
  await shop.rows(`${UNDO}; truncate payments, history, operations, callbacks, callback_attempts`);
  await migrateAt(shop.connection);
  expect(await shop.rows('select history_number, backfill_before from rollup_progress')).toEqual([
    { history_number: '0', backfill_before: null },
  ]);
  expect(await other.rollups.addPortion()).toBe(false);
  await shop.sale();
  expect((await shop.admin('GET', '/reports')).body).toMatchObject({ complete: true, items: [{ payments: 1 }] });
  expect(await other.rollups.addPortion()).toBe(false);
  expect((await shop.admin('GET', '/reports')).body).toMatchObject({ complete: true, items: [{ payments: 1 }] });
});
