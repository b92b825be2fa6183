/** One chaos run: shops buy while faults happen; then everything comes to rest and is compared. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { chanceFrom } from '../support/chance.ts';
import { type Database, startDatabase } from './database.ts';
import { FAULTS } from './faults.ts';
import { judge, type Verdict } from './judge.ts';
import { type MerchantServer, startMerchantServer } from './merchant-server.ts';
import { type Account, createShop, newRecords, type Patience, type Records, type Shop } from './shop.ts';
import { type Stage, setStage, untilReady } from './stage.ts';

export const SHOPS = 6;

export interface ChaosOptions {
  seed: number;
  seconds: number;
  /** The names of the faults to choose from; all unless given. */
  faults?: readonly string[];
  say?: (line: string) => void;
}

export interface ChaosReport extends Verdict {
  /** The faults, with when they began, in seconds. */
  faults: string[];
  requests: Record<string, number>;
  starts: Record<string, number>;
  /** The folder with the logs of the processes. */
  folder: string;
}

export async function runChaos({ seed, seconds, faults, say = () => undefined }: ChaosOptions): Promise<ChaosReport> {
  const stage = await setStage('chaos', startDatabase);
  const merchant = await startMerchantServer();
  try {
    await untilReady(stage);
    say(`Logs: ${stage.folder}`);
    const records = newRecords();
    const shops = await openShops(stage, merchant, records, { seed, count: SHOPS });
    const closing = new AbortController();
    const buying = shops.map((shop) => shop.run(closing.signal));
    const happened = await disturb(stage, merchant, records, {
      seed,
      seconds,
      faults: faults ?? Object.keys(FAULTS),
      say,
    });
    closing.abort();
    await restore(stage);
    await Promise.all(buying);
    say(`The shops are closed: ${records.payments.size} payments known. Waiting until nothing is left to do.`);
    await comeToRest(stage, records, say);
    const verdict = await judge(stage, records, merchant);
    return {
      ...verdict,
      faults: happened,
      requests: Object.fromEntries([...records.counts].toSorted()),
      starts: Object.fromEntries([...stage.gateways, stage.simulator].map(({ name, starts }) => [name, starts])),
      folder: stage.folder,
    };
  } finally {
    await stage.close();
    await merchant.close();
  }
}

/** Opens shops, whose callbacks the merchant server receives; `patience` is how long and how often they try. */
export const openShops = (
  stage: Stage,
  merchant: MerchantServer,
  records: Records,
  { seed, count, patience }: { seed: number; count: number; patience?: Patience },
): Promise<Shop[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const account = await newAccount(stage);
      await stage.admin('PATCH', `/accounts/${account.mid}`, { callback_url: merchant.urlFor(account.mid) });
      const shop = createShop(stage.url, account, `shop${index + 1}`, {
        chance: chanceFrom(seed * 100 + index),
        records,
        ...(patience && { patience }),
      });
      merchant.addAccount(account.mid, shop.turnpike);
      return shop;
    }),
  );

async function newAccount(stage: Stage): Promise<Account> {
  const settings = { requests_per_second: 0, account_uuid: crypto.randomUUID() };
  const { status, body } = await stage.admin('POST', '/accounts', { name: 'Chaos', ...settings });
  if (status !== 201) throw new Error(`The account was not created: ${JSON.stringify(body)}`);
  return body as Account;
}

/** Lets faults happen, one or two at a time, until the time is over. */
async function disturb(
  stage: Stage<Database>,
  merchant: MerchantServer,
  records: Records,
  { seed, seconds, faults, say }: Required<ChaosOptions>,
): Promise<string[]> {
  const chance = chanceFrom(seed * 100 + 99);
  const happened: string[] = [];
  const started = performance.now();
  const elapsed = (): number => (performance.now() - started) / 1000;
  const underWay = new Set<Promise<void>>();
  /** A fault of the database may not meet another one: each restores the state that it found. */
  const busy = new Set<string>();
  while (elapsed() < seconds) {
    await pause(chance.between(500, 5000));
    const name = chance.of(faults);
    const subject = name.split(' ').at(-1) ?? '';
    if (busy.has(subject)) continue;
    busy.add(subject);
    const at = elapsed().toFixed(1);
    const fault = FAULTS[name]?.(stage, merchant, chanceFrom(chance.upTo(2 ** 31))) ?? Promise.resolve('unknown');
    const done = fault
      .catch((error) => {
        records.wrong.push(`The fault "${name}" could not be undone: ${error}`);
        return 'failed';
      })
      .then((detail) => {
        const line = `${at} s: ${name} ${detail}`.trim();
        happened.push(line);
        say(line);
      })
      .finally(() => {
        busy.delete(subject);
        underWay.delete(done);
      });
    underWay.add(done);
  }
  await Promise.all(underWay);
  return happened;
}

async function restore(stage: Stage): Promise<void> {
  await untilReady(stage);
  await stage.provider('POST', '/faults', { mode: 'none' });
}

/** How far the clock is moved, in seconds, so that everything that waits falls due. */
const STEPS = [5, 15, 60, 120, 300, 900, 3600, 7200, 21_600, 86_400, 86_400, 604_800];

/** Moves the clock until nothing is left to do. */
export async function comeToRest(stage: Stage, records: Records, say: (line: string) => void): Promise<void> {
  // Processes that were killed hold claims until their leases end.
  await pause(5000);
  for (const advance_seconds of STEPS) {
    const { status } = await stage.admin('POST', '/clock', { advance_seconds });
    if (status !== 200) records.wrong.push(`The clock could not be moved: HTTP ${status}.`);
    say(`The clock was moved by ${advance_seconds} s; ${await untilQuiet(stage)}`);
  }
}

/** Waits until the notifications of the provider and the callbacks that are due were processed. */
async function untilQuiet(stage: Stage): Promise<string> {
  const client = new pg.Client(stage.database.connection);
  await client.connect();
  const snapshot = async (): Promise<string> =>
    JSON.stringify(
      (
        await client.query(`select (select count(*) from history) as history,
          (select count(*) from callbacks where state = 'delivered') as delivered,
          (select count(*) from provider_notifications where state = 'new') as notifications`)
      ).rows[0],
    );
  let before = '';
  for (let still = 0, left = 300; still < 5 && left > 0; left--) {
    const now = await snapshot();
    still = now === before ? still + 1 : 0;
    before = now;
    await pause(300);
  }
  await client.end();
  return before;
}
