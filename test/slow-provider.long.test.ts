/** Three processes and a slow provider: whatever is paused, late or skewed, both sides agree about every payment. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { verifyAt } from '../src/store/installation/verify.ts';
import { query } from './support/database.ts';
import { ADMIN_TOKEN, type Answer, newOrderId, saleFields } from './support/gateway.ts';
import {
  clearAway,
  newDatabase,
  newDataDir,
  ROOT,
  type RunningGateway,
  type Socket,
  startGateway,
} from './support/process.ts';
import { type SlowProvider, startSlowProvider } from './support/slow-provider.ts';

/** A second of the provider and of those who pause: a sample runs in a twentieth of the time. */
const SECOND = 1000;
const AT_ONCE = 160;
const LATER = 60;
/** By how much the clocks of the processes differ, whatever the size. */
const SKEW_MS = 30_000;

/** Numbers from 0 to 1 that look like chance and are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const chance = seeded(11);
let provider: SlowProvider;
let connection: Socket;
let http: RunningGateway;
let all: RunningGateway;
let work: RunningGateway;

beforeAll(async () => {
  // Up to 25 seconds in all: sometimes the money moves early and the answer is late, sometimes the reverse.
  provider = await startSlowProvider({
    processing: () => chance() * 12.5 * SECOND * (chance() < 0.5 ? 2 : 0.5),
    answer: () => chance() * 6 * SECOND,
    query: () => chance() * SECOND,
  });
  const database = await newDatabase();
  connection = database.connection;
  const variables = {
    DATABASE_URL: database.url,
    DATA_DIR: await newDataDir(),
    TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN,
    TURNPIKE_PROVIDER_URL: provider.url,
    TURNPIKE_PROVIDER_KEY: 'key-of-the-slow-provider',
    TURNPIKE_PROVIDER_NOTIFICATION_SECRET: Buffer.alloc(32, 7).toString('base64'),
    NODE_OPTIONS: `--import=${join(ROOT, 'test/support/skewed-clock.ts')}`,
  };
  const start = (role: string, skewMs: number): Promise<RunningGateway> =>
    startGateway({ ...variables, TURNPIKE_ROLE: role, CLOCK_SKEW_MS: String(skewMs) });
  http = await start('http', -SKEW_MS);
  [all, work] = await Promise.all([start('all', 0), start('work', SKEW_MS)]);
});
afterAll(async () => {
  await clearAway();
  await provider.close();
});

interface Sent {
  orderId: string;
  gateway: RunningGateway;
}

/** Sends a sale and waits for its answer as long as it takes. */
async function sell({ orderId, gateway }: Sent): Promise<Answer> {
  const fields = saleFields(http.merchant, {
    brand: 'pin-a',
    identifier: '',
    order_id: orderId,
    'parameters[pin]': '1234567890123456',
  });
  const response = await fetch(`${gateway.url}/post`, { method: 'POST', body: new URLSearchParams(fields) });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

const freeze = async (gateway: RunningGateway, ms: number): Promise<void> => {
  gateway.signal('SIGSTOP');
  try {
    await pause(ms);
  } finally {
    gateway.signal('SIGCONT');
  }
};

test('at the end both ledgers are equal, and no order was charged twice', { timeout: 300_000 }, async () => {
  const sales: Sent[] = Array.from({ length: AT_ONCE }, (_, index) => ({
    orderId: newOrderId(),
    gateway: index % 2 === 0 ? http : all,
  }));
  const begun = performance.now();
  const answers = sales.map(sell);
  const freezes = [
    pause(1.5 * SECOND).then(() => freeze(http, 40 * SECOND)),
    pause(8 * SECOND).then(() => freeze(work, 40 * SECOND)),
  ];
  for (let count = 0; count < LATER; count++) {
    await pause(0.4 * SECOND);
    const sale = { orderId: newOrderId(), gateway: chance() < 0.5 ? http : all };
    sales.push(sale);
    answers.push(sell(sale));
  }
  await Promise.all(freezes);
  const first = await Promise.all(answers);
  for (const { status } of first) expect([200, 503]).toContain(status);

  // A shop sends an order that was declined or turned away once more.
  await pause(Math.max(0, 60 * SECOND - (performance.now() - begun)));
  const isRetried = ({ status, body }: Answer): boolean => status === 503 || body.result === 'DECLINED';
  const retried = sales.filter((_, index) => isRetried(first[index] as Answer));
  for (const { status, body } of await Promise.all(retried.map((sale) => sell({ ...sale, gateway: all })))) {
    // An order that was given up in vain, because it was paid after all, would be a duplicate.
    expect([200, 503], JSON.stringify(body)).toContain(status);
  }
  await vi.waitFor(() => expect(provider.underWay()).toBe(0), { timeout: 60_000, interval: 250 });

  // Everything that is still to be asked about falls due.
  for (const seconds of [60, 120, 900, 7200]) {
    expect((await all.admin('POST', '/clock', { advance_seconds: seconds })).status).toBe(200);
  }
  const { rows } = await query(connection, `select payment_id as id, order_id, state, attention from payments`);
  const settledHere = rows.filter(({ state }) => state === 'SETTLED');
  expect(rows.filter(({ state }) => !['SETTLED', 'DECLINED'].includes(state))).toEqual([]);
  expect(rows.filter(({ attention }) => attention !== null)).toEqual([]);
  expect(settledHere.map(({ id }) => id).sort()).toEqual(provider.settled.toSorted());
  const orders = settledHere.map(({ order_id }) => order_id);
  expect(new Set(orders).size).toBe(orders.length);
  expect(orders.length).toBeGreaterThan(AT_ONCE / 2);
  expect((await verifyAt(connection)).violations).toEqual([]);
});
