/** One run: a seed decides everything that happens; at the end all sides are compared. */
import { startDueWork } from '../../src/core/due/due.ts';
import { receiveNotifications } from '../../src/core/payments/notifications.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { isNext } from '../../src/store/callbacks/callbacks.ts';
import { createFaults } from './faults.ts';
import type { Installation } from './installation.ts';
import { brokenInvariants } from './invariants.ts';
import { ledgerFaults } from './ledger.ts';
import { createMerchantServer } from './merchant-server.ts';
import { startProcesses } from './processes.ts';
import { createProvider } from './provider.ts';
import { createScheduler } from './scheduler.ts';
import { createShop } from './shop.ts';
import { START, useScheduler } from './virtual-time.ts';

export interface RunResult {
  seed: number;
  /** What is wrong; empty if all invariants hold. */
  wrong: string[];
  /** Equal for two runs that took the same steps. */
  digest: string;
  steps: number;
  trace: readonly string[];
}

/** The work loop looks for work once a second; so soon after something became due at the earliest. */
const [LEAST_PAUSE_MS, WORK_PAUSE_MS] = [50, 1000];
/** The ledger is folded and compared once in so many looks for work, at others in each run. */
const LEDGER_EVERY = 10;

/** When a callback, and when anything else is due; without the kinds of which nothing is, work takes fewer statements. */
const NEXT_DUE = `select
  (select min(due_at) from callbacks c where due_at is not null and ${isNext('c')}) as callbacks,
  least(
    (select min(due_at) from payments where due_at is not null and busy is null),
    (select min(due_at) from operations where due_at is not null),
    (select min(due_at) from subscriptions where due_at is not null),
    (select min(due_at) from provider_notifications where due_at is not null)
  ) as others`;

export async function simulate(seed: number, installation: Installation): Promise<RunResult> {
  const { database } = installation;
  const firstId = newId();
  const scheduler = createScheduler(seed);
  useScheduler(scheduler);
  database.begin(scheduler);
  const { chance } = scheduler;
  const faults = createFaults(chance);
  const provider = createProvider(seed, scheduler, faults, async (connector, event) => {
    const living = processes.living('web');
    if (living.length === 0) return false;
    const acknowledged = await processes.call(chance.of(living), 'notification', async (gateway) => {
      await receiveNotifications(gateway, connector, [event]);
      return true;
    });
    return acknowledged === true;
  });
  const merchant = createMerchantServer(scheduler, faults);
  const processes = startProcesses({ scheduler, installation, faults, provider, merchant });
  const shop = createShop(seed, scheduler, processes, installation);

  const wrong: string[] = [];
  let looks = seed;
  let known: { version: number; callbacks: number | null; others: number | null } | undefined;
  async function nextWork(before: number) {
    if (before <= scheduler.now + LEAST_PAUSE_MS) return undefined;
    if (++looks % LEDGER_EVERY === 0) wrong.push(...(await ledgerFaults(database, firstId)));
    if (known?.version !== database.version) {
      const { rows } = await database.outside.query<{ callbacks: number | null; others: number | null }>(NEXT_DUE);
      known = { version: database.version, ...(rows[0] as (typeof rows)[0]) };
    }
    const { callbacks, others } = known;
    const workers = processes.living('worker');
    if ((callbacks === null && others === null) || workers.length === 0) return undefined;
    const worker = chance.of(workers);
    const dueAt = Math.min(callbacks ?? Number.POSITIVE_INFINITY, others ?? Number.POSITIVE_INFINITY) - START;
    const at = Math.max(scheduler.now, dueAt) + chance.between(LEAST_PAUSE_MS, WORK_PAUSE_MS);
    const isDue = (time: number | null): boolean => time !== null && time - START <= at;
    const start = (): void =>
      void processes.call(worker, 'looks for work', async (gateway) => {
        if (isDue(callbacks)) gateway.deliverer.start();
        if (isDue(others)) await startDueWork(gateway);
      });
    return { at, start };
  }

  let isShopClosed = false;
  const opened = shop.open().then(() => {
    isShopClosed = true;
  });
  opened.catch((error) => wrong.push(String(error instanceof Error ? error.stack : error)));
  try {
    await scheduler.run({ disturb: processes.disturb, nextWork });
    if (!isShopClosed) wrong.push('A request was never answered.');
    wrong.push(...shop.failures, ...processes.errors);
    wrong.push(...(await brokenInvariants({ firstId, seed, database, provider, merchant, shop })));
  } catch (error) {
    wrong.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  return { seed, wrong, digest: scheduler.digest(), steps: scheduler.steps, trace: scheduler.trace };
}
