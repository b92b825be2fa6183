/** Batched payment writes: the size of a statement, and the deadline for new payments. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Outage } from '../../../src/lib/flow/faults.ts';
import { LIMITS } from '../../../src/rules/limits.ts';
import { type Database, openDatabase } from '../../../src/store/database/database.ts';
import { createPaymentStore } from '../../../src/store/payments/payments.ts';
import { readBinaryArray } from '../../support/binary-array.ts';
import { openShop } from '../../support/gateway.ts';
import { preparedPayment } from '../../support/payments.ts';

const shop = openShop();
let database: Database;
beforeAll(() => {
  database = openDatabase(shop.connection, () => undefined);
});
afterAll(() => database.close());

const MEGABYTE = 1024 * 1024;

test('writes payments with large attachments, and no statement with several payments exceeds the limit', async () => {
  const statements: { bytes: number; payments: number }[] = [];
  const writes: Database['writes'] = {
    query(statement) {
      const columns = statement.values as Buffer[];
      const bytes = columns.reduce((sum, column) => sum + column.length, 0);
      statements.push({ bytes, payments: readBinaryArray(columns[0] as Buffer).length });
      return database.writes.query(statement);
    },
    end: () => database.writes.end(),
  };
  const store = createPaymentStore({ ...database, writes }, () => undefined);
  const sizes = [...Array<number>(24).fill(0.4), 6, 6, ...Array<number>(24).fill(0)];
  const payments = sizes.map((megabytes) => {
    const payment = preparedPayment(shop);
    const attachment = 'A'.repeat(megabytes * MEGABYTE);
    return { ...payment, details: { ...payment.details, parameters: { attachment } } };
  });
  expect(await Promise.all(payments.map((payment) => store.open(payment)))).toEqual(sizes.map(() => true));
  expect(statements.reduce((sum, { payments }) => sum + payments, 0)).toBe(sizes.length);
  for (const { bytes, payments } of statements) {
    // Values that are not counted, such as ids, are small.
    if (payments > 1) expect(bytes).toBeLessThan(LIMITS.batchBytes + 0.1 * MEGABYTE);
  }
  for (const index of [0, 24, 49]) {
    const payment = payments[index] as (typeof payments)[number];
    expect((await store.find(payment))?.details).toEqual(payment.details);
  }
});

test('a new payment after the deadline is an outage and is not written; a transition at the same time is', async () => {
  const inTime = createPaymentStore(database, () => undefined);
  const payment = preparedPayment(shop);
  expect(await inTime.open(payment)).toBe(true);
  const batches: [string, number][] = [];
  const late = createPaymentStore(database, (name, size) => batches.push([name, size]), {
    now: () => Date.now() - LIMITS.hotStatementTimeoutMs - 1000,
  });
  const refused = preparedPayment(shop);
  const [opening, transitioning] = await Promise.allSettled([
    late.open(refused),
    late.transition({
      before: payment,
      after: { ...payment, state: 'DECLINED', historyLength: 2, dueAt: null, declineReason: 'Declined.' },
      event: 'declined',
      actor: 'provider',
      call: undefined,
    }),
  ]);
  expect(batches).toEqual([
    ['open', 1],
    ['transition', 1],
  ]);
  expect(opening).toMatchObject({ status: 'rejected', reason: expect.any(Outage) });
  expect(transitioning).toEqual({ status: 'fulfilled', value: true });
  expect(await inTime.findByOrder(refused)).toBeUndefined();
  expect(await inTime.open(refused)).toBe(true);
});

test('a new payment whose statement ends after the deadline is an outage and is not written', async () => {
  const payment = preparedPayment(shop);
  await shop.rows(`
    create function hold_insert() returns trigger language plpgsql as $$ begin
      if new.order_id = '${payment.orderId}' then perform pg_sleep(0.6); end if;
      return new;
    end $$;
    create trigger hold_insert before insert on payments for each row execute function hold_insert()`);
  // The deadline is 300 ms away when the statement is sent.
  const store = createPaymentStore(database, () => undefined, {
    now: () => Date.now() - LIMITS.hotStatementTimeoutMs + 300,
  });
  await expect(store.open(payment)).rejects.toThrow(Outage);
  expect(await store.find(payment)).toBe(undefined);
  await shop.rows('drop trigger hold_insert on payments');
  expect(await createPaymentStore(database, () => undefined).open(payment)).toBe(true);
});
