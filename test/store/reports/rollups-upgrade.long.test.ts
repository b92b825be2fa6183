/** The sums of reports after an upgrade: rows from before it are added in portions, newest payments first. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { foldProjections } from '../../../src/core/projections/projections.ts';
import { overview } from '../../../src/core/reports/reports.ts';
import { LAST_ID } from '../../../src/lib/crypto/id.ts';
import { migrateAt } from '../../../src/store/database/migrate.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import type { Numbers } from '../../../src/store/projections/portions.ts';
import { reports } from '../../../src/store/reports/projection.ts';
import { checkoutOf } from '../../support/checkout.ts';
import { openShop } from '../../support/gateway.ts';
import { operationsOf } from '../../support/operations.ts';
import { openPool } from '../../support/pool.ts';
import { addAsPreviousVersion, type PreviousPortion } from '../../support/previous-sums.ts';

const shop = openShop({ simulator: true });
const at = operationsOf(shop);

const TOTALS = ['0030_rollup_totals.sql', '0034_totals_progress.sql'];
const PROJECTIONS = ['0053_projections.sql', '0054_reports_projection.sql', '0106_decline_classes.sql'];
const forget = (names: readonly string[]): string => `delete from migrations where name in ('${names.join("', '")}')`;

/** Takes the schema back to the one before projections. */
const UNDO_PROJECTIONS = `
  drop view rollup_progress;
  create table rollup_progress (
    is_only boolean primary key default true check (is_only), history_number bigint not null,
    callback_attempts_number bigint not null, backfill_before uuid, totals_before timestamptz, totals_progress text
  );
  insert into rollup_progress
  select true, history_number, callback_attempts_number, backfill_before, totals_before, totals_progress
  from projections where name = 'reports';
  drop table projections, rollup_decline_classes;
  ${forget(PROJECTIONS)}`;

/** Takes the schema back to the one before the totals. */
const UNDO_TOTALS = `
  ${UNDO_PROJECTIONS};
  drop table rollup_totals, rollup_account_totals, rollup_decline_totals, rollup_call_totals, rollup_delivery_totals;
  alter table rollup_progress drop column totals_before, drop column totals_progress;
  ${forget(TOTALS)}`;

/** Takes the schema back to the one before the sums. */
const UNDO = `
  ${UNDO_TOTALS};
  drop table rollups, rollup_declines, rollup_calls, rollup_deliveries, rollup_progress;
  drop domain rollup_grain;
  alter table history drop column number, drop column amount;
  alter table callback_attempts drop column number;
  ${forget(['0017_rollups.sql'])}`;

/** Folds one portion, and returns whether there is more. */
const foldPortion = async (portion = reports.portion): Promise<boolean> => {
  const settled = (await shop.gateway.projections.settled()) as Numbers;
  return (await shop.gateway.projections.fold({ ...reports, portion }, settled)).hasMore;
};

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
  expect(await migrateAt(shop.connection)).toEqual(['0017_rollups.sql', ...TOTALS, ...PROJECTIONS]);
  expect(await read()).toMatchObject({ complete: false, figures: { items: [] } });
  const small = { rows: 3, payments: 2 };
  expect(await foldPortion(small)).toBe(true);
  const started = await read();
  expect(started.complete).toBe(false);
  expect(started.figures.totals.payments).toBe(2);
  let portions = 1;
  while (await foldPortion(small)) portions++;
  expect(portions).toBeGreaterThanOrEqual(3);
  expect(await read()).toEqual({ figures, complete: true });

  // Payments from before the upgrade go on, in small portions too.
  await at.send('CREDITVOID', ids[0], { amount: '0.25' });
  for (let made = 0; made < 3; made++) await shop.sale();
  const after = await read();
  expect(after.figures.totals.amounts).toMatchObject([{ captured: '67.00', refunded: '3.75' }]);
  while (await foldPortion(small));
  expect(await read()).toEqual(after);
  expect(await shop.rows('select history_number - last_value as left from rollup_progress, history_number')).toEqual([
    { left: '0' },
  ]);
});

test('figures are the same while totals are filled', async () => {
  const gateway = shop.gateway;
  const merchant = await shop.newMerchant();
  await shop.advanceClock(3 * 86_400, merchant.mid);
  for (const each of [shop.merchant, merchant]) {
    await shop.sale({}, each);
    await shop.sale({ identifier: 'decline@example.com' }, each);
  }
  await foldProjections(gateway);
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
  expect(await migrateAt(shop.connection)).toEqual([...TOTALS, ...PROJECTIONS]);
  expect(await filledBefore()).not.toBeNull();
  expect(await read()).toEqual(figures);
  // The newest day is filled, the other is not; and a payment of the other day is added before it is filled.
  expect(await foldPortion()).toBe(true);
  expect(await filledBefore()).not.toBeNull();
  expect(await shop.rows('select distinct mid from rollup_account_totals')).toEqual([{ mid: merchant.mid }]);
  expect(await read()).toEqual(figures);
  await shop.sale();
  const after = await read();
  expect(after.totals.payments).toBe(figures.totals.payments + 1);
  await foldProjections(gateway);
  expect(await filledBefore()).toBeNull();
  expect(await read()).toEqual(after);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

test('totals are filled again if an earlier version, which knows none, added to the sums before the upgrade', async () => {
  const { gateway } = shop;
  await foldProjections(gateway);
  await shop.sale();
  const range = { from: Date.now() - 8.64e7, to: Date.now() + 8.64e7, mids: null };
  const { totals, byMid } = await overview(gateway, range);
  const names = ['rollup_totals', 'rollup_account_totals', 'rollup_call_totals', 'rollup_decline_totals'];
  await shop.rows(names.map((name) => `create table kept_${name} as table ${name}`).join(';'));
  const { totals_progress } = (await shop.rows('select totals_progress from rollup_progress'))[0] ?? {};
  await foldProjections(gateway);
  // What the earlier version leaves behind: the sums have the sale, the totals do not.
  await shop.rows(names.map((name) => `truncate ${name}; insert into ${name} table kept_${name}`).join(';'));
  await shop.rows(UNDO_PROJECTIONS);
  await shop.rows(`update rollup_progress set totals_progress = '${totals_progress}'`);
  expect(await migrateAt(shop.connection)).toEqual(PROJECTIONS);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  expect(await overview(gateway, range)).toMatchObject({ totals, byMid });
  await foldProjections(gateway);
  expect(await shop.rows('select totals_before from rollup_progress')).toEqual([{ totals_before: null }]);
  expect(await overview(gateway, range)).toMatchObject({ totals, byMid });
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  await shop.rows(`drop table ${names.map((name) => `kept_${name}`).join(', ')}`);
});

describe('beside the previous version', () => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = openPool({ ...shop.connection, max: 4 });
  });
  afterAll(() => pool.end());

  test('each row is added once, and the totals stay filled', async () => {
    await foldProjections(shop.gateway);
    const portions: PreviousPortion[] = [];
    let isDone = false;
    const adding = [
      () => foldProjections(shop.gateway),
      async () => void portions.push(await addAsPreviousVersion(pool)),
    ].map(async (add) => {
      while (!isDone) await add();
    });
    for (let made = 0; made < 60; made += 10) await Promise.all(Array.from({ length: 10 }, () => shop.sale()));
    isDone = true;
    await Promise.all(adding);
    expect(portions).not.toContain('unfilled totals');
    await shop.sale();
    expect(await addAsPreviousVersion(pool)).toMatchObject({ rows: expect.any(Number), isBackfilling: false });
    expect((await verifyAt(shop.connection)).violations).toEqual([]);
    expect(
      await shop.rows(`select totals_before, p.history_number - s.last_value as left
        from projections p, history_number s where name = 'reports'`),
    ).toEqual([{ totals_before: null, left: '0' }]);
  });

  test('both versions take turns in a backfill from before the sums were introduced', async () => {
    await foldProjections(shop.gateway);
    await shop.rows('update history set number = null; update callback_attempts set number = null');
    const sums = ['rollups', 'rollup_declines', 'rollup_calls', 'rollup_deliveries'];
    const totals = ['rollup_totals', 'rollup_account_totals', 'rollup_decline_totals', 'rollup_call_totals'];
    await shop.rows([...sums, ...totals, 'rollup_delivery_totals'].map((table) => `delete from ${table}`).join(';'));
    await shop.rows(`update rollup_progress set backfill_before = '${LAST_ID}'`);
    await foldPortion({ rows: 1, payments: 2 });
    expect(await addAsPreviousVersion(pool)).toMatchObject({ isBackfilling: true });
    await foldPortion({ rows: 1, payments: 2 });
    expect((await verifyAt(shop.connection)).violations).toEqual([]);
    await foldProjections(shop.gateway);
    expect(await addAsPreviousVersion(pool)).toMatchObject({ isBackfilling: false });
    expect((await verifyAt(shop.connection)).violations).toEqual([]);
  });

  test('it adds nothing during a rebuild, and goes on afterwards', async () => {
    await shop.sale();
    expect(await shop.gateway.projections.rebuild(reports)).toBe(true);
    expect(await addAsPreviousVersion(pool)).toBe('locked');
    expect(await foldPortion({ rows: 1, payments: 2 })).toBe(true);
    await shop.sale();
    expect(await addAsPreviousVersion(pool)).toBe('locked');
    expect((await verifyAt(shop.connection)).violations).toEqual([]);
    await foldProjections(shop.gateway);
    await shop.sale();
    expect(await addAsPreviousVersion(pool)).toMatchObject({ isBackfilling: false });
    expect((await verifyAt(shop.connection)).violations).toEqual([]);
  });
});

test('an empty database has nothing to add', async () => {
  const other = await shop.anotherGateway();
  await shop.rows(`${UNDO}; truncate payments, history, operations, callbacks, callback_attempts`);
  await migrateAt(shop.connection);
  expect(await shop.rows('select history_number, backfill_before from rollup_progress')).toEqual([
    { history_number: '0', backfill_before: null },
  ]);
  await foldProjections(other);
  await shop.sale();
  expect((await shop.admin('GET', '/reports')).body).toMatchObject({ complete: true, items: [{ payments: 1 }] });
  await foldProjections(other);
  expect((await shop.admin('GET', '/reports')).body).toMatchObject({ complete: true, items: [{ payments: 1 }] });
});
