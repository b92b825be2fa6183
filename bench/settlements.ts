/** Measures the cuts of many accounts, together and one by one, and a payout of many transfers. */
import type { Caller } from '../src/core/operators/principal.ts';
import { setBankAccount, setPayoutAccount } from '../src/core/settlements/bank-accounts.ts';
import { cutCycles } from '../src/core/settlements/cuts.ts';
import { processDueSettlements } from '../src/core/settlements/due.ts';
import { decidePayout, makePayout, payoutFile } from '../src/core/settlements/payouts.ts';
import { newId } from '../src/lib/crypto/id.ts';
import { createLog } from '../src/lib/text/log.ts';
import { composeEntry } from '../src/rules/ledger.ts';
import { openGateway } from '../src/server/gateway.ts';
import { addEntries } from '../src/store/ledger/entries.ts';
import { connection, masterKey, progress, rows, wal } from './harness.ts';

const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 5000);
const CURRENCIES = ['EUR', 'USD', 'GBP'];
/** Of each account and currency, for each cut. */
const ENTRIES = 4;
const IBAN = 'DE89370400440532013000';
const DAY_MS = 86_400_000;

const person = (name: string): Caller => ({ kind: 'operator', id: newId(), name, address: null });

/** Returns how many seconds the work took, which concerns this many things. */
async function timed(name: string, count: number, work: () => Promise<unknown>): Promise<number> {
  progress(`(u) ${name}: ${count}`);
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  progress(`(u) ${name}: ${seconds.toFixed(1)} s`);
  rows.push({ name: `(u) ${name}, ${count.toLocaleString('en')}`, perSecond: count / seconds });
  return seconds;
}

async function createAccounts(): Promise<string[]> {
  const mids = Array.from({ length: ACCOUNTS }, newId);
  await wal.query(
    `insert into accounts (mid, name, environment, client_key, merchant_key, password, callback_secret, settings, created_at)
     select mid, 'Shop', 'sandbox', 'test_' || mid, 'test_m' || mid, '', '', '{}', now() from unnest($1::uuid[]) mid`,
    [mids],
  );
  const owners = 'from unnest($1::uuid[]) mid, unnest($2::text[]) currency';
  await wal.query(
    `insert into settlement_terms (mid, currency, valid_from, cycle, delay_days)
     select mid, currency, now() - interval '2 days', 'daily', 0 ${owners}`,
    [mids, CURRENCIES],
  );
  await wal.query(`insert into settlement_cycles (mid, currency) select mid, currency ${owners}`, [mids, CURRENCIES]);
  return mids;
}

/** Adds entries of the day before to every balance. */
async function addToBalances(mids: readonly string[], now: number): Promise<void> {
  for (let first = 0; first < mids.length; first += 100) {
    const entries = mids
      .slice(first, first + 100)
      .flatMap((mid) =>
        CURRENCIES.flatMap((currency) =>
          Array.from({ length: ENTRIES }, () =>
            composeEntry(
              { sourceId: newId(), category: 'adjustment', mid, currency, postedAt: now - DAY_MS },
              { amount: 1000n },
            ),
          ),
        ),
      );
    await wal.query('begin');
    await addEntries(wal, entries);
    await wal.query('commit');
  }
  await wal.query('analyze');
}

/** Returns the seconds of the cuts of all balances, for 5,000 accounts, and how many times longer each takes alone. */
export async function measureSettlements(): Promise<{ seconds: number; together: number }> {
  const log = createLog('warn', process.stderr);
  const { gateway, close } = await openGateway({ connection, environment: 'sandbox', masterKey, log });
  const [author, approver] = [person('author'), person('approver')];
  const mids = await createAccounts();

  await addToBalances(mids, gateway.clock.now());
  await wal.query('update settlement_cycles set due_at = now()');
  const balances = mids.length * CURRENCIES.length;
  const seconds = await timed('cuts', balances, () => processDueSettlements(gateway, () => false));

  // The cuts of today become those of yesterday, so that each account gets another settlement.
  await wal.query(`update settlements set until_at = until_at - interval '1 day'`);
  await addToBalances(mids, gateway.clock.now());
  const alone = mids.slice(0, ACCOUNTS / 10);
  const secondsAlone = await timed('cuts, one by one', alone.length, async () => {
    for (const mid of alone) await cutCycles(gateway, [{ mid, currency: 'EUR' }]);
  });
  await wal.query(`update settlement_cycles set due_at = now() where currency = 'EUR'`);
  await processDueSettlements(gateway, () => false);

  for (const mid of mids) await setBankAccount(gateway, author, mid, { currency: 'EUR', holder: 'Müller', iban: IBAN });
  await setPayoutAccount(gateway, author, { currency: 'EUR', holder: 'Operator', iban: IBAN });
  await wal.query(`update settlements set state = 'approved', decided_by = 'bench', decided_at = now()`);
  const found = await wal.query<{ settlement_id: string }>(
    `select settlement_id from settlements where currency = 'EUR' and payout > 0 limit 10000`,
  );
  const settlement_ids = found.rows.map(({ settlement_id: id }) => id);
  let payoutId = '';
  await timed('transfers of a payout, made', settlement_ids.length, async () => {
    ({ payoutId } = await makePayout(gateway, author, { settlement_ids, format: 'pain.001' }));
  });
  await timed('the same, approved', settlement_ids.length, () => decidePayout(gateway, approver, payoutId, 'approved'));
  await timed('the same, as a file', settlement_ids.length, () => payoutFile(gateway, payoutId));
  await close();
  return { seconds: (seconds / ACCOUNTS) * 5000, together: secondsAlone / alone.length / (seconds / balances) };
}
