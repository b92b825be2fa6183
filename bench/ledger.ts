/** Measures the ledger over a large database: reading it, how far it is behind sales, what it costs them, and a rebuild. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { openDatabase } from '../src/store/database/database.ts';
import { ledger } from '../src/store/ledger/projection.ts';
import { PROJECTIONS } from '../src/store/projections/all.ts';
import { createProjectionStore, type ProjectionStore } from '../src/store/projections/projections.ts';
import { foldAll } from './fold-all.ts';
import { accountId, PLAN_ID, type Size } from './generate.ts';
import {
  adminToken,
  type Merchant,
  measure,
  median,
  newMerchant,
  onClearUp,
  percentile,
  progress,
  rows,
  SECONDS,
  type Server,
  saleForm,
  startServer,
} from './harness.ts';
import { postgresCpu } from './postgres-cpu.ts';
import { prepareDatabase } from './prepared.ts';

const SIZE: Size = {
  payments: Number(process.env.BENCH_PAYMENTS ?? 10_000_000),
  accounts: Number(process.env.BENCH_ACCOUNTS ?? 1000),
  days: Number(process.env.BENCH_DAYS ?? 365),
  isPriced: true,
  projection: ledger.name,
};
const FOLDER = process.env.BENCH_DATA_DIR ?? join(tmpdir(), 'turnpike-bench-ledger');
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 50);
const RATE = Number(process.env.BENCH_RATE ?? 2000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
/** A rebuild of ten million payments takes most of an hour. */
const REBUILT_MOST = 1_000_000;
const SAMPLE_MS = 200;
const FOLD_NAME = 'turnpike bench fold';

export interface LedgerResult {
  /** Milliseconds. */
  balance: number;
  trialBalance: number;
  /** Seconds. */
  lag: number;
  /** The CPU time of a sale while the ledger is folded to that without. */
  cost: number;
}

/** Requests of the admin API one after another, after a few that do not count; returns their times. */
async function measureReads(
  name: string,
  { server, client }: { server: Server; client: pg.Client },
  path: () => string,
): Promise<number[]> {
  const times: number[] = [];
  const cpu = async () => ({ gateway: (await server.usage()).cpuSeconds, postgres: await saleCpu(client) });
  let before = await cpu();
  for (let request = -3; request < REQUESTS; request++) {
    const address = new URL(`/admin/api${path()}`, server.url);
    if (request === 0) before = await cpu();
    const started = performance.now();
    const response = await fetch(address, { headers: { authorization: `Bearer ${adminToken}` } });
    await response.text();
    if (response.status !== 200) throw new Error(`The response to ${address} has status ${response.status}.`);
    if (request >= 0) times.push(performance.now() - started);
  }
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  const after = await cpu();
  const used = (side: 'gateway' | 'postgres'): string => (((after[side] - before[side]) / REQUESTS) * 1000).toFixed(1);
  rows.push({ name, perSecond: 1000 / p50, p50, p99 });
  progress(`${name}: ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  progress(`${name}: CPU time ${used('gateway')} ms in the gateway, ${used('postgres')} ms in PostgreSQL`);
  return times;
}

/** A merchant whose sales have a fee. */
async function pricedMerchant(url: URL): Promise<Merchant> {
  const merchant = await newMerchant(url);
  const response = await fetch(new URL(`/admin/api/accounts/${merchant.mid}/price-plan`, url), {
    method: 'PUT',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ plan_id: PLAN_ID }),
  });
  if (response.status !== 200) throw new Error(await response.text());
  return merchant;
}

/** The ages of the oldest event that is not folded, while sales are made at a steady rate and the work loop folds. */
async function measureLag(server: Server, projections: ProjectionStore): Promise<number> {
  const merchant = await pricedMerchant(server.url as URL);
  const name = `(l) SALE at ${RATE.toLocaleString('en')} a second`;
  const lags: number[] = [];
  let isOver = false;
  const sampling = (async () => {
    for (; !isOver; await pause(SAMPLE_MS)) lags.push((await projections.statuses([ledger]))[0]?.secondsBehind ?? 0);
  })();
  await measure(name, server, () => saleForm(merchant), { perSecond: RATE }).finally(() => {
    isOver = true;
  });
  await sampling;
  const [p50, p99] = [percentile(lags, 0.5), percentile(lags, 0.99)];
  progress(`(l) lag of the ledger: ${p50.toFixed(1)} s, p99 ${p99.toFixed(1)} s`);
  rows.push({ name: '(l) lag of the ledger', perSecond: 1 / p50, p50: p50 * 1000, p99: p99 * 1000 });
  return p99;
}

/** The seconds of CPU time of the connections of the gateway, without those of this process, which fold. */
async function saleCpu(client: pg.Client): Promise<number> {
  const { rows: folding } = await client.query<{ pid: number }>(
    'select pid from pg_stat_activity where application_name = $1',
    [FOLD_NAME],
  );
  const { backends } = await postgresCpu(client);
  for (const { pid } of folding) backends.delete(pid);
  return [...backends.values()].reduce((sum, seconds) => sum + seconds, 0);
}

const KINDS = ['without', 'with'] as const;

/**
 * The CPU time of a sale in the gateway and PostgreSQL while another process folds, to that while none does: the median
 * of several rounds. What folding itself takes is printed.
 */
async function measureCost(server: Server, client: pg.Client, projections: ProjectionStore): Promise<number> {
  const merchant = await pricedMerchant(server.url as URL);
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const cpu = { without: 0, with: 0 };
    for (const kind of round % 2 === 1 ? KINDS : KINDS.toReversed()) {
      await foldAll(projections, ledger);
      let isOver = kind === 'without';
      const folding = (async () => {
        for (; !isOver; await pause(ledger.everyMs)) await foldAll(projections, ledger);
      })();
      const before = { gateway: (await server.usage()).cpuSeconds, postgres: await saleCpu(client) };
      const { perSecond } = await measure(
        `(l) SALE ${kind} the ledger, round ${round}`,
        server,
        () => saleForm(merchant),
        { perSecond: RATE, warmUp: 0 },
      );
      const gateway = (await server.usage()).cpuSeconds - before.gateway;
      const postgres = (await saleCpu(client)) - before.postgres;
      isOver = true;
      await folding;
      const sales = perSecond * SECONDS;
      cpu[kind] = (gateway + postgres) / sales;
      progress(
        `(l) a sale ${kind}: ${((gateway / sales) * 1e6).toFixed(0)} µs in the gateway, ${((postgres / sales) * 1e6).toFixed(0)} µs in PostgreSQL`,
      );
      if (kind === 'without') await reportFold(client, projections, sales);
    }
    ratios.push(cpu.with / cpu.without);
  }
  return median(ratios);
}

/** Folds what sales left, while nothing else runs, and prints what that takes for each sale. */
async function reportFold(client: pg.Client, projections: ProjectionStore, sales: number): Promise<void> {
  const before = { own: process.cpuUsage(), postgres: (await postgresCpu(client)).all };
  await foldAll(projections, ledger);
  const { user, system } = process.cpuUsage(before.own);
  const postgres = (await postgresCpu(client)).all - before.postgres;
  progress(
    `(l) folding a sale: ${((user + system) / sales).toFixed(0)} µs in the gateway, ${((postgres / sales) * 1e6).toFixed(0)} µs in PostgreSQL`,
  );
}

/** All payments again, in portions as the work loop folds them. */
async function measureRebuild(client: pg.Client, projections: ProjectionStore): Promise<void> {
  const { rows: found } = await client.query<{ count: number }>('select count(*)::int as count from payments');
  const started = performance.now();
  await projections.rebuild(ledger);
  await foldAll(projections, ledger);
  const perSecond = (found[0]?.count ?? 0) / ((performance.now() - started) / 1000);
  progress(`(l) rebuild: ${Math.round(perSecond).toLocaleString('en')} payments per second`);
  rows.push({ name: '(l) payments of a rebuild', perSecond });
}

export async function measureLedger(): Promise<LedgerResult> {
  const { database, masterKey } = await prepareDatabase(FOLDER, SIZE, {});
  onClearUp(() => database.stop());
  const { connection } = database;
  const client = new pg.Client(connection);
  // The server is stopped after an error.
  client.on('error', () => undefined);
  await client.connect();
  const own = { ...connection, application_name: FOLD_NAME };
  const folding = openDatabase(own, () => undefined);
  const projections = createProjectionStore(folding);
  await foldAll(projections, ledger);

  // The work loop of a gateway would use CPU time beside the reads.
  const requests = await startServer('requests', {}, { connection, masterKey });
  const moment = (): string => new Date(Date.now() - Math.random() * SIZE.days * 86_400_000).toISOString();
  const site = { server: requests, client };
  const largest = await measureReads('balance of the largest account', site, () => `/accounts/${accountId(0)}/balance`);
  const random = (): string => accountId(Math.floor(Math.random() ** 3 * SIZE.accounts));
  await measureReads('balance of an account', site, () => `/accounts/${random()}/balance`);
  await measureReads('trial balance now', site, () => '/ledger/trial-balance');
  const trials = await measureReads('trial balance at a moment', site, () => `/ledger/trial-balance?at=${moment()}`);
  await measureReads('entries of an account', site, () => `/ledger/entries?mid=${random()}`);
  const merchant = await newMerchant(requests.url as URL);
  await measure('(l) SALE, to warm up', requests, () => saleForm(merchant), { perSecond: RATE });
  const cost = await measureCost(requests, client, projections);
  await requests.stop();

  // The work loop would fold what these sales left in the other projections.
  for (const projection of PROJECTIONS) await foldAll(projections, projection);
  const server = await startServer('gateway', {}, { connection, masterKey });
  const lag = await measureLag(server, projections);
  await server.stop();
  if (SIZE.payments <= REBUILT_MOST) await measureRebuild(client, projections);
  await folding.close();
  await client.end();
  return { balance: median(largest), trialBalance: Math.max(...trials), lag, cost };
}
