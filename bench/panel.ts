/** Measures the panel and the admin API over a large database: the time of each page, and its plans where it is slow. */
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { foldProjections } from '../src/core/projections/projections.ts';
import { createLog } from '../src/lib/text/log.ts';
import { utcDay } from '../src/lib/time/day.ts';
import { openGateway } from '../src/server/gateway.ts';
import { accountId, type Size } from './generate.ts';
import { adminToken, percentile, progress, startServer } from './harness.ts';
import { clusterIn, prepareDatabase, signIn } from './prepared.ts';

const SIZE: Size = {
  payments: Number(process.env.BENCH_PAYMENTS ?? 5_000_000),
  accounts: Number(process.env.BENCH_ACCOUNTS ?? 500),
  days: Number(process.env.BENCH_DAYS ?? 365),
};
const FOLDER = process.env.BENCH_DATA_DIR ?? join(tmpdir(), 'turnpike-bench-panel');
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 50);
const TARGET_MS = 200;
const SEARCH_TARGET_P95_MS = 150;
const CSV_SECONDS = Number(process.env.BENCH_SECONDS ?? 8);

/** Random payments of the database, whose values the pages are asked for. */
interface Sample {
  paymentId: string;
  n: number;
  email: string;
  amount: string;
}

async function samples(client: pg.Client): Promise<Sample[]> {
  const { rows } = await client.query<{ paymentId: string; orderId: string; email: string; amount: string }>(
    `select payment_id as "paymentId", order_id as "orderId", details #>> '{payer,email}' as email, amount_text as amount
     from payments where order_id = any($1)`,
    [Array.from({ length: REQUESTS }, () => `order-${1 + Math.floor(Math.random() * SIZE.payments)}`)],
  );
  return rows.map(({ orderId, ...row }) => ({ ...row, n: Number(orderId.slice(6)) }));
}

const day = (daysAgo: number): string => utcDay(Date.now() - daysAgo * 86_400_000);
const randomAccount = (): string => accountId(Math.floor(Math.random() ** 3 * SIZE.accounts));

type Page = [name: string, path: (sample: Sample) => string];

const query = (path: string, parameters: Record<string, string>): string =>
  `${path}?${new URLSearchParams(parameters)}`;
const search = (q: string): string => query('/admin/payments', { q });

const PAGES: readonly Page[] = [
  ['overview, 1 day', () => '/admin'],
  ['overview, 30 days', () => '/admin?days=30'],
  ['overview of one account (API)', () => query('/admin/api/overview', { mid: randomAccount(), from: day(30) })],
  ['report by day, 30 days', () => query('/admin/reports', { group_by: 'day', from: day(30), to: day(0) })],
  [
    'report by brand and currency, a year (API)',
    () => query('/admin/api/reports', { group_by: 'brand,currency', from: day(365) }),
  ],
  ['report by account, 30 days (API)', () => query('/admin/api/reports', { group_by: 'mid', from: day(30) })],
  ['payments', () => '/admin/payments'],
  ['payments, a page in the middle', ({ paymentId }) => query('/admin/payments', { cursor: paymentId })],
  ['payments of one account', () => query('/admin/payments', { mid: randomAccount() })],
  ['payments of the smallest account', () => query('/admin/payments', { mid: accountId(SIZE.accounts - 1) })],
  ['payments, declined', () => query('/admin/payments', { status: 'DECLINED' })],
  ['payments, settled', () => query('/admin/payments', { status: 'SETTLED' })],
  [
    'payments, chargebacks of one account',
    () => query('/admin/payments', { status: 'CHARGEBACK', mid: randomAccount() }),
  ],
  ['payments of one brand', () => query('/admin/payments', { brand: 'upi-b' })],
  ['payments of a rare brand of one account', () => query('/admin/payments', { brand: 'doc-a', mid: randomAccount() })],
  ['payments that need attention', () => query('/admin/payments', { attention: 'late_success' })],
  ['payments of one day', ({ n }) => query('/admin/payments', { from: day(n % SIZE.days), to: day(n % SIZE.days) })],
  [
    'declined payments of one account and month',
    () => query('/admin/payments', { status: 'DECLINED', mid: randomAccount(), from: day(60), to: day(30) }),
  ],
  ['search: order', ({ n }) => search(`order-${n}`)],
  ['search: beginning of orders', ({ n }) => search(`order-${String(n).slice(0, 3)}`)],
  ['search: payment id', ({ paymentId }) => search(paymentId)],
  ['search: e-mail', ({ email }) => search(email)],
  ['search: amount', ({ amount }) => search(amount)],
  ['search: last four digits', ({ n }) => search(String(n % 10_000).padStart(4, '0'))],
  ["search: provider's reference", ({ n }) => search(`ref-${n}`)],
  ['search: e-mail and amount', ({ email, amount }) => search(`${email} ${amount}`)],
  ['search: part of an order', ({ n }) => search(String(n).slice(-5))],
  ['search: part of an e-mail', ({ email }) => search(email.slice(3, -8))],
  ['search: a word of all payments', () => search('tea')],
  ['search: the name of all payers', () => search('ADA')],
  ['search: a word of all and a rare one', ({ n }) => search(`tea ref-${n}`)],
  [
    'search: a word of all, declined, one account',
    () => query('/admin/payments', { q: 'tea', status: 'DECLINED', mid: randomAccount() }),
  ],
  ['search: a common amount (API)', ({ amount }) => query('/admin/api/payments', { q: amount.replace('.', ',') })],
  ['search: nothing matches', ({ n }) => search(`nothing-${n}`)],
  ['one payment', ({ paymentId }) => `/admin/payments/${paymentId}`],
  ['one payment (API)', ({ paymentId }) => `/admin/api/payments/${paymentId}`],
  ['callbacks', () => '/admin/callbacks'],
  ['callbacks, parked', () => query('/admin/callbacks', { state: 'parked' })],
  ['callbacks of one account (API)', () => query('/admin/api/callbacks', { mid: randomAccount() })],
  ['API calls', () => '/admin/requests'],
  ['API calls, refused, of one account', () => query('/admin/requests', { outcome: 'refused', mid: randomAccount() })],
  ['API calls of an order', ({ n }) => query('/admin/requests', { order_id: `order-${n}` })],
  ['accounts', () => '/admin/accounts'],
  ['audit log', () => '/admin/audit'],
];

export interface PageResult {
  name: string;
  p50: number;
  p95: number;
  p99: number;
  isOnTarget: boolean;
}

export interface PanelResult {
  pages: PageResult[];
  csvRowsPerSecond: number;
}

export async function measurePanel(): Promise<PanelResult> {
  const { database, masterKey } = await prepareDatabase(FOLDER, SIZE, { session_preload_libraries: 'auto_explain' });
  const { connection } = database;
  const log = createLog('silent', { write: () => undefined });
  const { gateway, close } = await openGateway({ connection, environment: 'sandbox', masterKey, log });
  // An existing database may be older than some of the sums.
  await foldProjections(gateway);
  const cookie = await signIn(gateway);
  await close();
  const client = new pg.Client(connection);
  await client.connect();
  const server = await startServer('gateway', {}, { connection, masterKey });
  const headers = { cookie: `__Host-turnpike_session=${cookie}`, authorization: `Bearer ${adminToken}` };
  const get = (path: string): Promise<Response> => fetch(new URL(path, server.url), { headers, redirect: 'manual' });
  const timed = async (path: string): Promise<number> => {
    const started = performance.now();
    const response = await get(path);
    await response.text();
    if (response.status !== 200) throw new Error(`The response to ${path} has status ${response.status}.`);
    return performance.now() - started;
  };

  const chosen = await samples(client);
  const pages: PageResult[] = [];
  for (const [name, path] of PAGES) {
    const paths = chosen.map(path);
    for (const one of paths.slice(0, 3)) await timed(one);
    const requests: [ms: number, path: string][] = [];
    for (const one of paths) requests.push([await timed(one), one]);
    requests.sort(([a], [b]) => a - b);
    const sorted = requests.map(([ms]) => ms);
    const [p50, p95, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.95), percentile(sorted, 0.99)];
    const isOnTarget = name.startsWith('search') ? p95 <= SEARCH_TARGET_P95_MS : p99 <= TARGET_MS;
    pages.push({ name, p50, p95, p99, isOnTarget });
    const times = `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
    progress(`${name}: ${times}${isOnTarget ? '' : ', over the target'}`);
    if (!isOnTarget) progress(await plansOf(client, () => timed(requests.at(-1)?.[1] as string)));
  }

  const csvRowsPerSecond = await measureCsv(await get(query('/admin/payments.csv', { from: day(SIZE.days) })));
  progress(`CSV: ${Math.round(csvRowsPerSecond).toLocaleString('en')} rows per second`);
  await server.stop();
  await client.end();
  await database.stop();
  return { pages, csvRowsPerSecond };
}

/** Runs a page again while PostgreSQL logs the plans of its slow statements, and returns them. */
async function plansOf(client: pg.Client, run: () => Promise<unknown>): Promise<string> {
  const log = `${clusterIn(FOLDER)}.log`;
  const settings = { log_min_duration: '20', log_analyze: 'on', log_buffers: 'on', log_parameter_max_length: '0' };
  const apply = async (write: (name: string, value: string) => string): Promise<void> => {
    for (const [name, value] of Object.entries(settings)) await client.query(write(name, value));
    await client.query('select pg_reload_conf()');
    // The servers of other connections read the settings before their next statement.
    await new Promise((resolve) => setTimeout(resolve, 200));
  };
  const { size } = await stat(log);
  await apply((name, value) => `alter system set auto_explain.${name} = '${value}'`);
  await run();
  await apply((name) => `alter system reset auto_explain.${name}`);
  return (await readFile(log, 'utf8')).slice(size).trim() || 'No statement of this page took 20 ms when it ran again.';
}

/** Reads an export for some seconds, and counts its lines. */
async function measureCsv(response: Response): Promise<number> {
  const started = performance.now();
  let lines = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    for (const byte of chunk) if (byte === 10) lines++;
    if (performance.now() - started > CSV_SECONDS * 1000) break;
  }
  return lines / ((performance.now() - started) / 1000);
}
