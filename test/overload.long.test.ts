/** Overload: beyond its capacity the gateway refuses new payments early, and everything else goes on. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyAt } from '../src/store/installation/verify.ts';
import { query } from './support/database.ts';
import { ADMIN_TOKEN, type Answer, newOrderId } from './support/gateway.ts';
import {
  clearAway,
  NO_SIMULATOR,
  newDatabase,
  newDataDir,
  type RunningGateway,
  type Socket,
  startGateway,
} from './support/process.ts';

/** Each payment takes the database this long, so that the capacity does not depend on the machine. */
const WRITE_MS = 20;
const CAPACITY = 1000 / WRITE_MS;
const LOAD_SECONDS = 20;
/** Eight seconds of work that arrive at once, so that some is refused however slowly the clients have sent the rest. */
const BURST = 8 * CAPACITY;

let gateway: RunningGateway;
let connection: Socket;
beforeAll(async () => {
  const database = await newDatabase();
  connection = database.connection;
  gateway = await startGateway({
    DATABASE_URL: database.url,
    DATA_DIR: await newDataDir(),
    TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN,
    ...NO_SIMULATOR,
  });
  await gateway.admin('PATCH', `/accounts/${gateway.merchant.mid}`, { requests_per_second: 0 });
});
afterAll(clearAway);

test('at four times its capacity new payments wait a bounded time or are refused', { timeout: 300_000 }, async () => {
  const { body: first } = await gateway.sale();
  expect(first.status).toBe('SETTLED');
  await query(
    connection,
    `create function take_time() returns trigger language plpgsql as
       $$ begin perform pg_sleep(${WRITE_MS / 1000}); return new; end $$;
     create trigger take_time before insert on payments for each row execute function take_time()`,
  );
  const sales: Promise<Answer>[] = [];
  const reads: Promise<Answer>[] = [];
  const send = (count: number): void => {
    for (let sent = 0; sent < count; sent++) sales.push(gateway.sale({ order_id: newOrderId() }));
  };
  for (let tenth = 0; tenth < LOAD_SECONDS * 10; tenth++) {
    send((CAPACITY * 4) / 10);
    reads.push(gateway.status(first.trans_id));
    await pause(100);
  }
  send(BURST);
  const answers = await Promise.all(sales);
  const accepted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 503);
  expect(accepted.length + refused.length).toBe(answers.length);
  expect(accepted.length).toBeGreaterThan(CAPACITY);
  expect(refused.length).toBeGreaterThan(CAPACITY);
  for (const { body } of accepted) expect(body.status).toBe('SETTLED');
  for (const { headers, body } of refused) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body).toMatchObject({ result: 'ERROR', error_code: 100000 });
  }
  for (const { status, body } of await Promise.all(reads)) expect([status, body.status]).toEqual([200, 'SETTLED']);

  // The load is over: the next payment is accepted, and nothing that was refused was written.
  expect((await gateway.sale()).body.status).toBe('SETTLED');
  const { rows } = await query(connection, 'select count(*)::int as count from payments');
  expect(rows[0].count).toBe(accepted.length + 2);
  expect((await verifyAt(connection)).violations).toEqual([]);
});
