/** Claims of due rows do not read the index entries of rows that were due before, however many a vacuum has left. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generate } from '../../../bench/generate.ts';
import { createDueEndpoints } from '../../../src/core/callbacks/due-endpoints.ts';
import { createDueRows, type DueStore } from '../../../src/core/due/rows.ts';
import type { CallbackStore } from '../../../src/store/callbacks/callbacks.ts';
import { INDEX_ONLY } from '../../../src/store/database/database.ts';
import { prepareSession } from '../../../src/store/database/session.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { readingOf } from '../../support/plan.ts';
import { openRecordedStores, type Statement } from '../../support/plans.ts';

const SIZE = { payments: 5000, accounts: 1, days: 30 };
const CONNECTOR = 'upstream';
/** An index page has some 200 entries. */
const MANY_PAGES = 20;
const FEW_PAGES = 12;

let shop: TestGateway;
let statements: Statement[];
let close: () => Promise<void>;
let payments: DueStore<unknown>;
let operations: DueStore<unknown>;
let callbacks: CallbackStore;

beforeAll(async () => {
  shop = await startTestGateway();
  ({ statements, payments, operations, callbacks, close } = openRecordedStores(shop.connection));
  for (const table of ['payments', 'operations', 'callbacks'])
    await shop.rows(`alter table ${table} set (autovacuum_enabled = off)`);
  await generate(shop.connection, SIZE, () => undefined);
  await shop.rows(`insert into operations (mid, operation_id, payment_id, connector, verb, amount, state, query_count, requested_at)
    select mid, gen_random_uuid(), payment_id, connector, 'refund', 1, 'done', 0, created_at from payments`);
  for (const due of [`now() - random() * interval '1 hour' - interval '1 minute'`, 'null']) {
    await shop.rows(`update payments set due_at = ${due}`);
    await shop.rows(`update operations set due_at = ${due}`);
    await shop.rows(`update callbacks set due_at = ${due}`);
  }
});
afterAll(async () => {
  await close();
  await shop.close();
});

/** Makes some rows due; the claims of earlier tests have ended. */
async function makeDue(table: string, ago: string): Promise<number> {
  await shop.rows(`update ${table} set due_at = null where due_at is not null`);
  const rows = await shop.rows(`update ${table} set due_at = now() - interval '${ago}'
    where (mid, payment_id) in (select mid, payment_id from payments order by payment_id limit 3) returning 1`);
  return rows.length;
}

/** The pages that the recorded statements read to find due rows: run again, they find none to write. */
async function pagesRead(): Promise<number> {
  const readings = [];
  for (const { text, values, isHot } of statements.splice(0)) {
    const client = new pg.Client(shop.connection);
    await client.connect();
    await prepareSession(client, isHot ? INDEX_ONLY : {});
    await client.query('begin');
    readings.push((await readingOf(client, text, values)).pages);
    await client.end();
  }
  return Math.max(...readings);
}

test.each([
  ['payments', () => payments],
  ['operations', () => operations],
])('after a sweep, due %s are claimed without reading outdated entries', async (table, storeOf) => {
  const due = createDueRows(storeOf(), shop.gateway.clock.now);
  const made = await makeDue(table, '10 minutes');
  expect(await due.connectors(false)).toEqual([CONNECTOR]);
  expect(await due.claim(CONNECTOR, 100)).toHaveLength(made);
  expect(await pagesRead(), 'a sweep reads all entries').toBeGreaterThan(MANY_PAGES);

  await makeDue(table, '1 second');
  await due.connectors(false);
  expect(await due.claim(CONNECTOR, 100)).toHaveLength(made);
  expect(statements).toHaveLength(1);
  expect(await pagesRead()).toBeLessThanOrEqual(FEW_PAGES);
});

test.each([
  ['payments', () => payments],
  ['operations', () => operations],
])('a sweep finds due %s that the claims before it passed over', async (table, storeOf) => {
  const due = createDueRows(storeOf(), shop.gateway.clock.now);
  await due.connectors(true);
  await due.claim(CONNECTOR, 100);
  const made = await makeDue(table, '10 minutes');
  await due.connectors(false);
  expect(await due.claim(CONNECTOR, 100)).toEqual([]);
  await due.connectors(true);
  expect(await due.claim(CONNECTOR, 2)).toHaveLength(2);
  expect(await due.claim(CONNECTOR, 100), 'a claim of all that it asked for is not complete').toHaveLength(made - 2);
});

test('after a sweep, due callbacks are found and claimed without reading outdated entries', async () => {
  const due = createDueEndpoints({ callbacks, clock: shop.gateway.clock });
  const claim = async (): Promise<number> => {
    await due.search();
    const requests = due.take(() => 100);
    return (await callbacks.claimDue(shop.gateway.clock.now(), requests, 100)).rows.length;
  };
  statements.length = 0;
  const made = await makeDue('callbacks', '10 minutes');
  expect(await claim()).toBe(made);
  expect(await pagesRead(), 'a sweep reads all entries').toBeGreaterThan(MANY_PAGES);

  await makeDue('callbacks', '1 second');
  expect(await claim()).toBe(made);
  expect(statements).toHaveLength(2);
  expect(await pagesRead()).toBeLessThanOrEqual(FEW_PAGES);

  await makeDue('callbacks', '10 minutes');
  due.requestSweep();
  expect(await claim()).toBe(made);
});
