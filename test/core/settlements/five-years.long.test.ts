/** Five virtual years of daily, weekly and monthly cycles from three processes that are killed: at the end everything is paid. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { readClock } from '../../../src/core/installation/catch-up.ts';
import { foldProjections } from '../../../src/core/projections/projections.ts';
import { newMasterKey } from '../../../src/lib/crypto/seal.ts';
import { lastCut } from '../../../src/rules/settlement-calendar.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { chanceFrom } from '../../support/chance.ts';
import { compiledIn } from '../../support/compiled.ts';
import { type Answer, type Merchant, startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { ROOT } from '../../support/process.ts';

const SEED = Number(process.env.SEED) || Date.now() % 1_000_000_000;
const DAY_MS = 86_400_000;
const YEARS = 1826;
/** After the last sale, until the last reserve is released. */
const AFTERWARDS = 190;
const PROGRAM = fileURLToPath(new URL('../../support/settling-process.ts', import.meta.url));

const TERMS = [
  { cycle: 'daily', delay_days: 1, reserve: { percent: '10', days: 180 } },
  {
    ...{ cycle: 'weekly', weekday: 5, delay_days: 2, reserve: { percent: '5', days: 90 } },
    ...{ time_zone: 'Europe/Berlin', cut_off: '17:30', business_days: true },
  },
  { cycle: 'monthly', day: 31, delay_days: 3, time_zone: 'America/New_York' },
];

const masterKey = newMasterKey();
let shop: TestGateway;
let accountant: string;
const merchants: Merchant[] = [];
const processes: ChildProcess[] = [];

const done = async (...args: Parameters<TestGateway['admin']>): Promise<Answer['body']> => {
  const { status, body } = await shop.admin(...args);
  expect([200, 201], JSON.stringify(body)).toContain(status);
  return body;
};

async function start(): Promise<ChildProcess> {
  const argument = JSON.stringify({ connection: shop.connection, masterKey });
  const child = spawn(process.execPath, [PROGRAM, argument], {
    env: { ...process.env, ...compiledIn(ROOT) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`A process ended: ${code}`)));
  });
  child.removeAllListeners('exit');
  return child;
}

beforeAll(async () => {
  shop = await startTestGateway({ masterKey });
  ({ token: accountant } = await done('POST', '/tokens', { name: 'Books', role: 'accountant' }));
  const years = Array.from({ length: 8 }, (_, index) => new Date().getUTCFullYear() + index);
  const holidays = years.flatMap((year) => [`${year}-12-25`, `${year}-12-26`, `${year}-01-01`]);
  await done('PUT', '/holidays', { holidays: holidays.map((day) => ({ day, name: 'Holiday' })) });
  for (const terms of TERMS) {
    const merchant = await shop.newMerchant();
    await done('PUT', `/accounts/${merchant.mid}/settlement-terms`, { currency: 'USD', ...terms });
    const bank = { currency: 'USD', holder: 'Shop', iban: 'DE89370400440532013000' };
    await done('PUT', `/accounts/${merchant.mid}/bank-account`, bank);
    merchants.push(merchant);
  }
  processes.push(...(await Promise.all([1, 2, 3].map(start))));
});
afterAll(async () => {
  for (const child of processes) child.kill('SIGKILL');
  await shop.close();
});

/** When something can happen next: a reserve is released, or a cut has entries or pays what was pending. */
const NEXT = `
  select min(at) as at from (
    select due_at as at from reserve_slices
    union all
    select c.due_at from settlement_cycles c where exists (
      select from ledger_entries e
      where e.mid = c.mid and format('merchant:%s:balance', e.mid) = any (e.accounts) and not exists (
        select from settlement_entries s
        where s.mid = e.mid and s.source_id = e.source_id and s.seq = e.seq and s.category = e.category)
    ) or (
      select s.withheld @> '[{"reason": "pending"}]' from settlements s
      where s.mid = c.mid and s.state <> 'void' order by s.number desc limit 1)
  ) moments`;

/** Moves the clock by these days, and waits until the processes have done what is due. */
async function advance(days: number): Promise<void> {
  await shop.gateway.installation.moveClock(undefined, days * DAY_MS);
  await readClock(shop.gateway);
  const now = new Date(shop.gateway.clock.now()).toISOString();
  const due = `select (select count(*) from settlement_cycles where due_at <= '${now}')::int
    + (select count(*) from reserve_slices where due_at <= '${now}')::int as due`;
  while (((await shop.rows(due))[0]?.due as number) > 0) await pause(5);
}

/** How many days it is until something can happen, at most this many. */
async function daysUntilNext(most: number): Promise<number> {
  const at = (await shop.rows(NEXT))[0]?.at as Date | null;
  const days = at === null ? most : Math.ceil((Number(at) - shop.gateway.clock.now()) / DAY_MS);
  return Math.max(1, Math.min(most, days));
}

/** Pays every settlement of an account; if refunds have left too little, they wait for the next time. */
async function payOut({ mid }: Merchant, record: (index: number) => 'paid' | 'returned'): Promise<void> {
  const items = async (state: string): Promise<Answer['body'][]> =>
    (await done('GET', `/settlements?mid=${mid}&state=${state}&limit=100`)).items;
  for (const { settlement_id: id } of await items('draft')) await done('POST', `/settlements/${id}/approve`);
  const payable = (await items('approved')).filter(({ payout }) => payout !== '0.00');
  if (payable.length === 0) return;
  const ids = payable.map(({ settlement_id: id }) => id);
  const payout = await done('POST', '/payouts', { settlement_ids: ids, format: 'csv' });
  const path = `/payouts/${payout.payout_id}`;
  if ((await shop.admin('POST', `${path}/approve`, undefined, accountant)).status !== 200) {
    await done('POST', `${path}/refuse`, undefined, accountant);
    return;
  }
  for (const [index, { transfer_id: id }] of payout.transfers.entries())
    await done('POST', `${path}/transfers/${id}`, { state: record(index) });
}

/** What the ledger has for each account, in minor units from its debit side. */
async function balances(): Promise<Map<string, string>> {
  const { items, totals } = await done('GET', '/ledger/trial-balance');
  for (const { debit, credit } of totals) expect(debit).toBe(credit);
  return new Map(items.map((item: { account: string; balance: string }) => [item.account, item.balance]));
}

test('five years', async () => {
  const chance = chanceFrom(SEED);
  onTestFailed(() => console.error(`Repeat it with SEED=${SEED}.`));
  let kills = 0;
  let restarting = Promise.resolve();
  for (let day = 0; day < YEARS + AFTERWARDS; ) {
    const isSaleDay = day < YEARS && day % 30 === 0;
    if (isSaleDay) {
      for (const merchant of merchants) {
        const amount = `${99 + chance.upTo(900)}.${9 + chance.upTo(90)}`;
        const { trans_id: id } = (await shop.sale({ order_amount: amount }, merchant)).body;
        if (chance.oneIn(0.2)) await done('POST', `/payments/${id}/refund`, { amount: '50.00' });
      }
    }
    if (day % 120 === 60) {
      // Amid the cuts of this day, while the process before is already back.
      await restarting;
      const place = kills++ % processes.length;
      const killed = processes[place] as ChildProcess;
      const killing = pause(chance.between(0, 30)).then(() => killed.kill('SIGKILL'));
      restarting = killing.then(start).then((child) => {
        processes[place] = child;
      });
    }
    // Days on which nothing happens are passed together, but for some, on which a cycle finds nothing to settle.
    const most = 30 - (day % 30);
    const days = isSaleDay || chance.oneIn(0.1) ? 1 : await daysUntilNext(most);
    await advance(days);
    day += days;
    if (day % 90 === 0)
      for (const merchant of merchants) await payOut(merchant, (index) => (index % 7 === 3 ? 'returned' : 'paid'));
  }
  await restarting;
  // What the bank returned is settled by the next cut.
  for (const merchant of merchants) {
    await payOut(merchant, () => 'paid');
    await done('POST', '/settlements', { mid: merchant.mid, currency: 'USD' });
    await payOut(merchant, () => 'paid');
  }
  expect(kills).toBe(17);

  const settlements = await shop.rows(`select * from settlements where cut_by = 'settlement cycle'`);
  const holidays = new Set((await done('GET', '/holidays')).items.map(({ day }: { day: string }) => day));
  for (const [index, { mid }] of merchants.entries()) {
    const [terms] = await shop.gateway.terms.current(mid);
    const cuts = settlements
      .filter((one) => one.mid === mid)
      .map(({ until_at: until }) => Number(new Date(until as string)));
    // Each sale, 30 days after the one before, has a cut of its own; two may be in the same month.
    expect(cuts.length).toBeGreaterThanOrEqual([61, 61, 55][index] as number);
    expect(new Set(cuts).size).toBe(cuts.length);
    for (const cut of cuts) expect(terms && lastCut(terms, cut, holidays as Set<string>)).toBe(cut);
  }

  const before = await balances();
  const [connector] = [...before.keys()].flatMap((account) => /^provider:([^:]+):/.exec(account)?.[1] ?? []);
  const receivable = before.get(`provider:${connector}:receivable`);
  const day = new Date(shop.gateway.clock.now()).toISOString().slice(0, 10);
  const payment = { connector, currency: 'USD', amount: receivable, reference: 'all', received_on: day };
  await done('POST', '/provider-payments', payment);
  const after = await balances();
  expect(Object.fromEntries([...after].filter(([, balance]) => Number(balance) !== 0))).toEqual({});
  for (const { mid } of merchants) {
    const [balance] = (await done('GET', `/accounts/${mid}/balance`)).items;
    expect(balance).toMatchObject({ available: '0.00', pending: '0.00', reserve: '0.00', in_transit: '0.00' });
  }
  await foldProjections(shop.gateway);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
}, 1_800_000);
