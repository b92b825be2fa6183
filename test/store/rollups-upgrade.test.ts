/** The sums of reports after an upgrade: rows from before it are added in portions, newest payments first. */
import { expect, test } from 'vitest';
import { overview, rollUp } from '../../src/core/reports.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrateAt } from '../../src/store/migrate.ts';
import { createRollupStore } from '../../src/store/rollups.ts';
import { verifyAt } from '../../src/store/verify.ts';
import { checkoutOf } from '../support/checkout.ts';
import { openShop } from '../support/gateway.ts';
import { operationsOf } from '../support/operations.ts';

const shop = openShop({ simulator: true });
const at = operationsOf(shop);

const TOTALS = ['0030_rollup_totals.sql', '0034_totals_progress.sql'];

/** Takes the schema back to the one before the totals. */
const UNDO_TOTALS = `
  drop table rollup_totals, rollup_account_totals, rollup_decline_totals, rollup_call_totals, rollup_delivery_totals;
  alter table rollup_progress drop column totals_before, drop column totals_progress;
  delete from migrations where name in ('${TOTALS.join(`', '`)}')`;

/** Takes the schema back to the one before the sums. */
const UNDO = `
  ${UNDO_TOTALS};
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
  expect(await migrateAt(shop.connection)).toEqual(['0017_rollups.sql', ...TOTALS]);
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

test('figures are the same while totals are filled', async () => {
  const gateway = shop.gateway;
  const merchant = await shop.newMerchant();
  await shop.advanceClock(3 * 86_400, merchant.mid);
  for (const each of [shop.merchant, merchant]) {
    await shop.sale({}, each);
    await shop.sale({ identifier: 'decline@example.com' }, each);
  }
  await rollUp(gateway);
  const end = Math.ceil(Date.now() / 3.6e6) * 3.6e6;
  const read = async () => {
    const { openWork: _, ...figures } = await overview(gateway, {
      from: end - 8.64e7,
      to: end + 5 * 8.64e7,
      mids: null,
    });
    return figures;
  };
  const figures = await read();
  expect(figures.byMid).toHaveLength(2);
  const filledBefore = async () => (await shop.rows('select totals_before as at from rollup_progress'))[0]?.at;

  await shop.rows(UNDO_TOTALS);
  expect(await migrateAt(shop.connection)).toEqual(TOTALS);
  expect(await filledBefore()).not.toBeNull();
  expect(await read()).toEqual(figures);
  // The newest day is filled, the other is not; and a payment of the other day is added before it is filled.
  expect(await gateway.rollups.addPortion()).toBe(true);
  expect(await filledBefore()).not.toBeNull();
  expect(await shop.rows('select distinct mid from rollup_account_totals')).toEqual([{ mid: merchant.mid }]);
  expect(await read()).toEqual(figures);
  await shop.sale();
  const after = await read();
  expect(after.totals.payments).toBe(figures.totals.payments + 1);
  await rollUp(gateway);
  expect(await filledBefore()).toBeNull();
  expect(await read()).toEqual(after);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

test('totals are filled again after an earlier version, which knows none, has added to the sums', async () => {
  const { gateway } = shop;
  await rollUp(gateway);
  await shop.sale();
  const range = { from: Date.now() - 8.64e7, to: Date.now() + 8.64e7, mids: null };
  const { totals, byMid } = await overview(gateway, range);
  const names = ['rollup_totals', 'rollup_account_totals', 'rollup_call_totals', 'rollup_decline_totals'];
  await shop.rows(names.map((name) => `create table kept_${name} as table ${name}`).join(';'));
  const { totals_progress } = (await shop.rows('select totals_progress from rollup_progress'))[0] ?? {};
  await rollUp(gateway);
  // What the earlier version leaves behind: the sums have the sale, the totals do not.
  await shop.rows(names.map((name) => `truncate ${name}; insert into ${name} table kept_${name}`).join(';'));
  await shop.rows(`update rollup_progress set totals_progress = '${totals_progress}'`);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  expect(await overview(gateway, range)).toMatchObject({ totals, byMid });
  await rollUp(gateway);
  expect(await shop.rows('select totals_before from rollup_progress')).toEqual([{ totals_before: null }]);
  expect(await overview(gateway, range)).toMatchObject({ totals, byMid });
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  await shop.rows(`drop table ${names.map((name) => `kept_${name}`).join(', ')}`);
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
