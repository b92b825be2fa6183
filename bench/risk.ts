/** Measures what risk rules cost a sale: 500 rules, a list of a million entries and velocities, against an account without. */
import { wireHash } from '../src/lib/crypto/hash.ts';
import {
  adminToken,
  type Merchant,
  measure,
  median,
  newMerchant,
  newOrder,
  progress,
  startServer,
  WARM_UP_SECONDS,
  wal,
} from './harness.ts';
import { postgresCpu } from './postgres-cpu.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const RULES = Number(process.env.BENCH_RISK_RULES ?? 500);
const ENTRIES = Number(process.env.BENCH_RISK_ENTRIES ?? 1_000_000);
/** The same rate for both: what the process does besides sales costs the same then, and p99 is not that of a full queue. */
const RATE = Number(process.env.BENCH_RISK_RATE ?? 1000);
const VELOCITIES = 5;
const LISTS = 5;

let payers = 0;
/** Each payer has an address and an e-mail address, so that velocities have as many keys as there are sales. */
function payerSaleForm({ client_key, password }: Merchant): string {
  const order = newOrder();
  const payer = ++payers % 10_000;
  return new URLSearchParams({
    ...{ action: 'SALE', client_key, brand: 'vcard', identifier: 'success@example.com', order_id: order },
    ...{ order_amount: '19.99', order_currency: 'USD', order_description: 'A payment of the benchmark' },
    ...{ payer_email: `payer${payer}@example.com`, payer_ip: `10.0.${payer >> 8}.${payer & 255}` },
    return_url: 'https://shop.example/return',
    hash: wireHash(['success@example.com', order, '19.99', 'USD'], password),
  }).toString();
}

async function call(url: URL, path: string, body: object): Promise<Record<string, string>> {
  const response = await fetch(new URL(`/admin/api${path}`, url), {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json() as Promise<Record<string, string>>;
}

/** None of them matches, so that each one is evaluated to its end. */
async function addRules(url: URL, { mid }: Merchant): Promise<void> {
  const { list_id } = await call(url, '/risk/lists', { mid, name: 'A million', kind: 'email' });
  await wal.query(
    `insert into risk_list_entries (list_id, entry_id, value, created_by, created_at)
     select $1, gen_random_uuid(), 'bad' || n || '@example.com', 'bench', now() from generate_series(1, $2::int) n`,
    [list_id, ENTRIES],
  );
  await wal.query('analyze risk_list_entries');
  const condition = (index: number): object => {
    const large = { field: 'amount', op: '>', value: `${1000 + index}.00`, currency: 'USD' };
    if (index < LISTS) return { all: [{ field: 'email', op: 'in_list', value: list_id }, large] };
    if (index < LISTS + VELOCITIES) {
      const velocity = { measure: 'count', by: [index % 2 === 0 ? 'email' : 'ip'], within: `${index + 1}m` };
      return { velocity, op: '>', value: 1_000_000 };
    }
    return { all: [large, { field: 'payer_country', op: 'in', value: ['DE', 'FR', 'IT'] }] };
  };
  for (let index = 0; index < RULES; index++)
    await call(url, '/risk/rules', {
      ...{ mid, name: `Rule ${index}`, state: 'on', action: { kind: 'block' }, condition: condition(index) },
    });
}

const KINDS = ['no rules', 'rules'] as const;

/**
 * Returns the CPU time of the gateway for a sale with rules divided by that without, and by how many milliseconds its
 * p99 is longer: the medians of several rounds. The CPU time of PostgreSQL is printed.
 */
export async function measureRisk(): Promise<{ cpu: number; p99Ms: number }> {
  const server = await startServer('gateway');
  const url = server.url as URL;
  const merchants = { 'no rules': await newMerchant(url), rules: await newMerchant(url) };
  await addRules(url, merchants.rules);
  const [ratios, longer]: [number[], number[]] = [[], []];
  for (let round = 1; round <= ROUNDS; round++) {
    const found = { 'no rules': { perCore: 0, p99: 0 }, rules: { perCore: 0, p99: 0 } };
    for (const kind of round % 2 === 1 ? KINDS : KINDS.toReversed()) {
      const before = await postgresCpu(wal);
      const { perCore = 0, p99 = 0 } = await measure(
        `(r) sales with ${kind}, round ${round}`,
        server,
        () => payerSaleForm(merchants[kind]),
        { warmUp: round === 1 ? WARM_UP_SECONDS : 1, perSecond: RATE },
      );
      progress(
        `(r) ${kind}: ${((await postgresCpu(wal)).all - before.all).toFixed(1)} s of PostgreSQL, with the warm-up`,
      );
      found[kind] = { perCore, p99 };
    }
    ratios.push(found['no rules'].perCore / found.rules.perCore);
    longer.push(found.rules.p99 - found['no rules'].p99);
  }
  await server.stop();
  return { cpu: median(ratios), p99Ms: median(longer) };
}
