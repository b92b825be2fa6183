/** `npm run bench`: the throughput of the gateway, and ratios within one run; arguments select sections by name. */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { wireHash } from '../src/lib/crypto/hash.ts';
import { newSecret } from '../src/lib/crypto/id.ts';
import { measureCallbacks } from './callbacks.ts';
import { measureCardSales } from './card-sales.ts';
import { measureCheckout } from './checkout.ts';
import { compareWith } from './compare.ts';
import { measureFolds } from './folds.ts';
import {
  CONNECTIONS,
  clearUp,
  type Measured,
  type Merchant,
  makeRequests,
  measure,
  median,
  newMerchant,
  newOrder,
  progress,
  type Row,
  rows,
  SECONDS,
  type Server,
  saleForm,
  startGateway,
  startServer,
  WARM_UP_SECONDS,
  wal,
} from './harness.ts';
import { measureInvoices } from './invoices.ts';
import { measureLedger } from './ledger.ts';
import { measureLinks } from './links.ts';
import { load } from './load.ts';
import { measurePgbench } from './pgbench.ts';
import { measureProcesses } from './processes.ts';
import { measureRisk } from './risk.ts';
import { measureRoutes } from './routes.ts';
import { measureSettlements } from './settlements.ts';
import { printTable } from './table.ts';
import { measureWalletSales } from './wallet-sales.ts';
import { measureWallets } from './wallets.ts';

/** One brand of each kind: settled at once, redirect, approval in an app, QR code, payout. */
const MIX: Record<string, string>[] = [
  { brand: 'vcard', identifier: 'success@example.com' },
  { brand: 'pin-a', 'parameters[pin]': '1234567890123456' },
  { brand: 'hosted-b', 'parameters[toCurrency]': 'EUR' },
  { brand: 'upi-b', 'parameters[upi_id]': 'asha@upi', order_currency: 'INR' },
  { brand: 'ips', order_currency: 'RSD' },
  { brand: 'doc-a', 'parameters[document_number]': '12345678' },
  { brand: 'agg-a', payer_country: 'TR', order_currency: 'TRY' },
  { brand: 'p2p-b', 'parameters[SecurityQuestionAnswer]': 'blue-teapot' },
];
let mixed = 0;
function mixedForm({ client_key, password }: Merchant): string {
  const order = newOrder();
  const sale: Record<string, string> = {
    action: 'SALE',
    client_key,
    order_id: order,
    order_amount: '19.99',
    order_currency: 'USD',
    order_description: 'A payment of the benchmark',
    payer_ip: '203.0.113.7',
    return_url: 'https://shop.example/return',
    ...MIX[mixed++ % MIX.length],
  };
  const signed = ['identifier', 'order_id', 'order_amount', 'order_currency'].map((name) => sale[name] ?? '');
  return new URLSearchParams({ ...sale, hash: wireHash(signed, password) }).toString();
}

// A real response of the gateway for the empty handler, so that both send the same bytes.
async function sampleResponse(): Promise<Record<string, string>> {
  const server = await startServer('gateway');
  const url = server.url as URL;
  const response = await fetch(new URL('/post', url), {
    method: 'POST',
    body: new URLSearchParams(saleForm(await newMerchant(url))),
  });
  const answer = (await response.json()) as Record<string, string>;
  await server.stop();
  return answer;
}

async function measureEmptyHandler(name: string, answer: Record<string, string>): Promise<Row> {
  const server = await startServer('empty', answer);
  const merchant = { mid: '', merchant_key: '', client_key: `test_${newSecret()}`, password: newSecret() };
  const row = await measure(name, server, () => saleForm(merchant));
  await server.stop();
  return row;
}

async function measureSql(): Promise<Row> {
  const name = '(b) the same SQL without HTTP';
  const server = await startServer('sql');
  const drive = async (seconds: number): Promise<number> => {
    server.child.send({ request: 'sql', seconds, concurrency: CONNECTIONS });
    return ((await once(server.child, 'message'))[0] as { perSecond: number }).perSecond;
  };
  progress(`${name}: warming up and measuring`);
  await drive(WARM_UP_SECONDS / 2);
  const row = { name, perSecond: await drive(SECONDS) };
  await server.stop();
  rows.push(row);
  return row;
}

const measureSale = (name: string, { server, merchant }: Measured): Promise<Row> =>
  measure(name, server, () => saleForm(merchant), { countsWal: true });

/** Measures two servers alternately on the same tables; returns the ratio of the second to the first. */
async function measureInTurns(
  names: [string, string],
  [first, second]: [Measured, Measured],
  { connections, rounds }: { connections: number; rounds: number },
): Promise<number> {
  const ratios: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const options = { connections, warmUp: round === 1 ? WARM_UP_SECONDS / 2 : 1 };
    const sales = async (name: string, { server, merchant }: Measured): Promise<number> =>
      (await measure(`${name}, round ${round}`, server, () => saleForm(merchant), options)).perSecond;
    const before = await sales(names[0], first);
    ratios.push((await sales(names[1], second)) / before);
  }
  return ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
}

async function measureStatus(server: Server, merchant: Merchant): Promise<Row> {
  const ids: string[] = [];
  for (let count = 0; count < 500; count++) {
    const response = await fetch(new URL('/post', server.url), {
      method: 'POST',
      body: new URLSearchParams(saleForm(merchant)),
    });
    ids.push(((await response.json()) as { trans_id: string }).trans_id);
  }
  let next = 0;
  const forms = ids.map(
    (id) =>
      `action=GET_TRANS_STATUS&client_key=${merchant.client_key}&trans_id=${id}&hash=${wireHash([id], merchant.password)}`,
  );
  return measure('(e) status reads', server, () => forms[next++ % forms.length] as string);
}

/** A request to `/post` whose hash covers one value. */
const signedForm = ({ client_key, password }: Merchant, action: string, field: string, value: string, rest = '') =>
  `action=${action}&client_key=${client_key}&${field}=${value}&hash=${wireHash([value], password)}${rest}`;

/** Creates the payments for an operation with the load generator, and returns their ids. */
async function preparePayments(server: Server, merchant: Merchant, isAuthorisation: boolean): Promise<string[]> {
  const { hostname: host, port } = server.url as URL;
  const form = () => saleForm(merchant) + (isAuthorisation ? '&auth=Y' : '');
  const seconds = Math.ceil(SECONDS * 1.6);
  await load({ host, port: Number(port), connections: CONNECTIONS, seconds, requests: makeRequests(seconds, form) });
  const state = isAuthorisation ? 'PENDING' : 'SETTLED';
  const { rows: found } = await wal.query<{ id: string }>(
    'select payment_id as id from payments where mid = $1 and state = $2 order by payment_id desc limit 200000',
    [merchant.mid, state],
  );
  return found.map(({ id }) => id);
}

/** Measures an operation. Each payment allows it once, so there is no warm-up. */
async function measureOperation(server: Server, action: 'CAPTURE' | 'VOID' | 'CREDITVOID'): Promise<Row> {
  const merchant = await newMerchant(server.url as URL);
  const ids = await preparePayments(server, merchant, action !== 'CREDITVOID');
  let next = 0;
  const form = () => signedForm(merchant, action, 'trans_id', ids[next++ % ids.length] as string);
  return measure(`(o) ${action}`, server, form, { warmUp: 0, requests: ids.length });
}

async function measureRecurring({ server, merchant }: Measured): Promise<Row> {
  const response = await fetch(new URL('/post', server.url), {
    method: 'POST',
    body: new URLSearchParams(`${saleForm(merchant)}&recurring_init=Y`),
  });
  const first = (await response.json()) as { trans_id: string; recurring_token: string };
  const rest = `&order_amount=9.99&order_description=Again&recurring_first_trans_id=${first.trans_id}&recurring_token=${first.recurring_token}`;
  const form = () => signedForm(merchant, 'RECURRING_SALE', 'order_id', newOrder(), rest);
  return measure('(o) RECURRING_SALE', server, form, { warmUp: WARM_UP_SECONDS / 2 });
}

const SCHEDULES = Number(process.env.BENCH_SCHEDULES ?? 100_000);

/** Measures sales while many schedules are due: how much the p99 of the sales rises, and how long the charges take. */
async function measureSchedules({ server, merchant }: Measured): Promise<{ slowdown: number }> {
  const options = { connections: 8, warmUp: 2 };
  const alone = await measure('(s) SALE on 8 connections', server, () => saleForm(merchant), options);
  const other = await newMerchant(server.url as URL);
  await wal.query(
    `with firsts as (
       insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
         amount_text, currency, amount, authorised, captured, is_authorisation, is_recurring_init, fingerprint,
         descriptor, recurring_token, details, created_at, updated_at)
       select $1, gen_random_uuid(), 'first-' || n, 1, 's2s', 'vcard', 'vcard', 'SETTLED', 1, '19.99', 'USD', 1999,
         1999, 1999, false, true, '', 'Bench', 'token', '{"description": "A subscription", "payer": {},
         "identifier": "success@example.com"}', now() - interval '1 day', now()
       from generate_series(1, $2::int) n returning payment_id
     ), terms as (
       insert into schedules (mid, schedule_id, name, interval_length, interval_unit, payments_count, delays, version,
         created_at)
       values ($1, gen_random_uuid(), 'Daily', 1, 'day', 2, 0, 1, now()) returning schedule_id
     )
     insert into subscriptions (mid, subscription_id, schedule_id, first_payment_id, state, occurrences, declines,
       failed, anchor_at, anchor_day, intervals, schedule_version, next_at, due_at, created_at)
     select $1, gen_random_uuid(), schedule_id, payment_id, 'active', 0, 0, 0, now() - interval '1 day', 1, 1, 1, now(),
       now(), now() from firsts, terms`,
    [other.mid, SCHEDULES],
  );
  const started = performance.now();
  const countRemaining = async (): Promise<number> =>
    Number((await wal.query('select count(*) from subscriptions where occurrences = 0')).rows[0]?.count);
  const duringCharges = await measure('(s) SALE while schedules are due', server, () => saleForm(merchant), {
    ...options,
    warmUp: 0,
  });
  const remainingAfterLoad = await countRemaining();
  progress(`(s) ${SCHEDULES - remainingAfterLoad} of ${SCHEDULES} schedules charged meanwhile`);
  for (let remaining = remainingAfterLoad; remaining > 0; remaining = await countRemaining()) {
    progress(`(s) ${remaining} schedules remaining`);
    await new Promise((resolve) => setTimeout(resolve, 5000));
  }
  const seconds = (performance.now() - started) / 1000;
  rows.push({
    name: `(s) ${SCHEDULES.toLocaleString('en')} charges of schedules`,
    perSecond: SCHEDULES / seconds,
  });
  return { slowdown: (duringCharges.p99 as number) / (alone.p99 as number) };
}

type Goal = [name: string, measured: number, target: number];

async function sale(): Promise<Goal[]> {
  const answer = await sampleResponse();
  const empty = await measureEmptyHandler('(a) Fastify with an empty handler', answer);
  await measureSql();
  const single = await startGateway('single');
  const gateway = await startGateway('gateway');
  const oneConnection = await measureInTurns(['(c1) one connection', '(d1) one connection'], [single, gateway], {
    connections: 1,
    rounds: 3,
  });
  const unbatched = await measureSale('(c) SALE, one transaction per request', single);
  await single.server.stop();
  const batched = await measureSale('(d) SALE', gateway);
  const yardsticks = await measurePgbench();
  const status = await measureStatus(gateway.server, gateway.merchant);
  await gateway.server.stop();
  const emptyAgain = await measureEmptyHandler('(a) again', answer);
  const a = (empty.perSecond + emptyAgain.perSecond) / 2;
  const memory = batched.memory as { before: number; after: number };
  return [
    ['SALE to empty handler, d / a', batched.perSecond / a, 0.5],
    ...yardsticks.map(([name, { perSecond }]): Goal => [`SALE to ${name}`, batched.perSecond / perSecond, 1]),
    ['SALE to one transaction per request, d / c', batched.perSecond / unbatched.perSecond, 2.5],
    ['status reads to empty handler, e / a', status.perSecond / a, 0.7],
    ['SALE on one connection, d1 / c1', oneConnection, 1],
    ['350 MB to the memory of the gateway', 350e6 / memory.after, 1],
  ];
}

/** Measures sales and the yardsticks in turns, because other programs on the machine slow down both. */
async function yardsticks(): Promise<Goal[]> {
  const gateway = await startGateway('gateway');
  const ratios = new Map<string, number[]>();
  for (let round = 1; round <= YARDSTICK_ROUNDS; round++) {
    const options = { warmUp: round === 1 ? WARM_UP_SECONDS : 1 };
    const sales = await measure(`(d) SALE, round ${round}`, gateway.server, () => saleForm(gateway.merchant), options);
    for (const [name, { perSecond }] of await measurePgbench()) {
      ratios.set(name, [...(ratios.get(name) ?? []), sales.perSecond / perSecond]);
    }
  }
  await gateway.server.stop();
  return [...ratios].map(([name, values]) => [`SALE to ${name}`, median(values), 1]);
}

async function operations(): Promise<Goal[]> {
  const gateway = await startGateway('gateway');
  const measured = [];
  for (const action of ['CAPTURE', 'VOID', 'CREDITVOID'] as const) {
    measured.push(await measureOperation(gateway.server, action));
  }
  measured.push(await measureRecurring(gateway));
  const { perSecond } = await measure('(o) SALE for comparison', gateway.server, () => saleForm(gateway.merchant), {
    warmUp: 1,
  });
  await gateway.server.stop();
  return measured.map((row): Goal => [`${row.name.slice(4)} to SALE`, row.perSecond / perSecond, 0.6]);
}

async function schedules(): Promise<Goal[]> {
  const gateway = await startGateway('gateway');
  const { slowdown } = await measureSchedules(gateway);
  await gateway.server.stop();
  return [['2 × p99 of SALE to its p99 while schedules are due', 2 / slowdown, 1]];
}

async function brands(): Promise<Goal[]> {
  const gateway = await startGateway('gateway');
  const all = await startGateway('brands');
  const names: [string, string] = ['(f) vcard, other brands disabled', '(g) vcard, all brands enabled'];
  const withBrands = await measureInTurns(names, [gateway, all], { connections: CONNECTIONS, rounds: 3 });
  await gateway.server.stop();
  await measure('(h) a mix of eight brands', all.server, () => mixedForm(all.merchant));
  await all.server.stop();
  return [['vcard with all brands to vcard alone, g / f', withBrands, 0.9]];
}

async function callbacks(): Promise<Goal[]> {
  const gateway = await startGateway('gateway');
  const { deliveredShare, backlogRate } = await measureCallbacks(gateway);
  await gateway.server.stop();
  return [
    ['callbacks of the backlog to SALE', backlogRate, 0.5],
    ['share of callbacks delivered when the load ends', deliveredShare, 0.98],
  ];
}

async function checkout(): Promise<Goal[]> {
  const gateway = await startGateway('brands');
  const { perSecond } = await measure('(p) SALE for comparison', gateway.server, () => saleForm(gateway.merchant));
  const { sessions, pages } = await measureCheckout(gateway);
  await gateway.server.stop();
  return [
    ['sessions to SALE', sessions.perSecond / perSecond, 0.8],
    ['payment pages to SALE', pages.perSecond / perSecond, 0.5],
  ];
}

async function panel(): Promise<Goal[]> {
  const { measurePanel } = await import('./panel.ts');
  const { pages, csvRowsPerSecond } = await measurePanel();
  for (const { name, p50, p99 } of pages) rows.push({ name, perSecond: 1000 / p50, p50, p99 });
  rows.push({ name: 'rows of CSV', perSecond: csvRowsPerSecond });
  return [
    [
      'share of pages within 200 ms (p99), or 150 ms (p95) for a search',
      pages.filter((page) => page.isOnTarget).length / pages.length,
      1,
    ],
  ];
}

async function growth(): Promise<Goal[]> {
  const { measureGrowth } = await import('./growth.ts');
  const { growthTables, shareOnTarget, writeGrowth } = await import('./growth-report.ts');
  const result = await measureGrowth();
  const settings = ['BENCH_SIZES', 'BENCH_ACCOUNTS', 'BENCH_ROUNDS', 'BENCH_SHARED_BUFFERS']
    .filter((name) => process.env[name] !== undefined)
    .map((name) => `${name}=${process.env[name]} `);
  await writeGrowth(result, `${settings.join('')}npm run bench -- growth`);
  console.log(`\n${growthTables(result)}`);
  return [
    ['figures whose CPU time in the gateway grew by at most 15 %', shareOnTarget(result, 'gateway'), 1],
    ['figures whose CPU time in PostgreSQL grew by at most 15 %', shareOnTarget(result, 'database'), 1],
    ['figures whose buffers grew by at most 15 %', shareOnTarget(result, 'buffers'), 1],
  ];
}

const YARDSTICK_ROUNDS = 3;

const SECTIONS: Readonly<Record<string, () => Promise<Goal[]>>> = {
  sale,
  operations,
  schedules,
  brands,
  callbacks,
  checkout,
  panel,
  growth,
  yardsticks,
  wallets: async () => {
    await measureWallets();
    return [['1.5 × p99 of SALE to its p99 beside 10 % wallets', 1.5 / (await measureWalletSales()), 1]];
  },
  cards: async () => {
    const { cards, tokens } = await measureCardSales();
    return [
      ['1.3 × the CPU time of a sale to that of a card sale', 1.3 / cards, 1],
      ['1.3 × the CPU time of a sale to that of a card sale with a token', 1.3 / tokens, 1],
    ];
  },
  routes: async () => [['sales with routes to sales without, per CPU second', await measureRoutes(), 0.98]],
  risk: async () => {
    const { cpu, p99Ms } = await measureRisk();
    return [
      ['1.1 × the CPU time of a sale without risk rules to that with 500', 1.1 / cpu, 1],
      ['2 ms to what risk rules add to the p99', p99Ms <= 0 ? 1 : 2 / p99Ms, 1],
    ];
  },
  ledger: async () => {
    const { balance, trialBalance, lag, cost } = await measureLedger();
    return [
      ['10 ms to the balance of the largest account', 10 / balance, 1],
      ['1 s to the slowest trial balance at a moment', 1000 / trialBalance, 1],
      ['10 s to the p99 of the lag of the ledger', 10 / lag, 1],
      ['1.03 × the CPU time of a sale to that while the ledger is folded', 1.03 / cost, 1],
    ];
  },
  settlements: async () => {
    const { seconds, together } = await measureSettlements();
    return [
      ['120 s to the cuts of 5,000 accounts in three currencies', 120 / seconds, 1],
      ['a cut alone to a cut together with others, in seconds', together, 3],
    ];
  },
  folds: async () => {
    await measureFolds();
    return [];
  },
  links: async () => [['opens of one link per second and two cores to 10,000', (await measureLinks()) / 10_000, 1]],
  invoices: async () => [['one hour to the time of 100,000 reminders', await measureInvoices(), 1]],
  processes: async () => [['sales per CPU second of four processes to one', await measureProcesses(), 0.8]],
};

/** Sections that run only when they are named, because they take long. */
const ON_REQUEST = [
  ...['panel', 'growth', 'folds', 'ledger', 'processes', 'risk', 'settlements', 'yardsticks', 'links', 'invoices'],
];

/** The goals of the sections that the arguments name, or of all that need no name. */
async function runSections(names: string[]): Promise<Goal[]> {
  const chosen = names.length > 0 ? names : Object.keys(SECTIONS).filter((name) => !ON_REQUEST.includes(name));
  const unknown = chosen.filter((name) => !Object.hasOwn(SECTIONS, name));
  if (unknown.length > 0) throw new Error(`There is no benchmark ${unknown.join(', ')}.`);
  const goals: Goal[] = [];
  for (const name of chosen) goals.push(...((await SECTIONS[name]?.()) ?? []));
  return goals;
}

/** `compare <commit>` is the only section with an argument, so it runs alone. */
async function compare([commit, ...rest]: string[]): Promise<Goal[]> {
  if (commit === undefined || rest.length > 0) throw new Error('Name one commit: npm run bench -- compare <commit>');
  return (await compareWith(commit)).map(([name, ratio]) => [`${name}, times better`, ratio, 1]);
}

// The servers of PostgreSQL outlive this process, unless they are stopped.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void clearUp().finally(() => process.exit(1)));
}
const [first, ...others] = process.argv.slice(2);
const goals = await (first === 'compare' ? compare(others) : runSections(process.argv.slice(2))).finally(clearUp);

const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
const cells = (row: Row): string[] => [
  row.name,
  Math.round(row.perSecond).toLocaleString('en'),
  row.p50?.toFixed(1) ?? '',
  row.p99?.toFixed(1) ?? '',
  row.perCore === undefined ? '' : Math.round(row.perCore).toLocaleString('en'),
  row.memory === undefined ? '' : `${mb(row.memory.before)} → ${mb(row.memory.after)}`,
  row.walBytes === undefined ? '' : Math.round(row.walBytes).toLocaleString('en'),
];

console.log(
  `\n${CONNECTIONS} connections, durable commits, ${availableParallelism()} cores shared by load, gateway and PostgreSQL\n`,
);
if (rows.length > 0) {
  printTable(['', 'per second', 'p50 ms', 'p99 ms', 'per CPU s', 'memory', 'WAL bytes'], rows.map(cells));
}
console.log('');
if (goals.length > 0) {
  printTable(
    ['Ratio', 'measured', 'target', ''],
    goals.map(([name, measured, target]) => [
      name,
      measured.toFixed(2),
      `≥ ${target}`,
      measured >= target ? 'yes' : 'no',
    ]),
  );
}
