/** One run: a seed decides everything that happens; at the end all sides are compared. */
import { startDueWork } from '../../src/core/due.ts';
import { receiveNotifications } from '../../src/core/payments/notifications.ts';
import { newId } from '../../src/lib/id.ts';
import { createInstallationStore } from '../../src/store/installation.ts';
import { createFaults } from './faults.ts';
import type { Installation } from './installation.ts';
import { brokenInvariants } from './invariants.ts';
import { createMerchantServer } from './merchant-server.ts';
import { startProcesses } from './processes.ts';
import { createProvider } from './provider.ts';
import { createScheduler, WORLD } from './scheduler.ts';
import { createShop } from './shop.ts';
import { useScheduler } from './virtual-time.ts';

export interface RunResult {
  seed: number;
  /** What is wrong; empty if all invariants hold. */
  wrong: string[];
  /** Equal for two runs that took the same steps. */
  digest: string;
  steps: number;
  trace: readonly string[];
}

/** The work loop looks for work once a second. */
const WORK_PAUSE_MS = 1000;

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

  const store = createInstallationStore(
    { ...database.of(WORLD), pool: database.outside },
    { prove: async () => undefined },
  );
  let known: { version: number; dueAt: number | undefined } | undefined;
  async function nextWork() {
    if (known?.version !== database.version) {
      const dueMs = await store.nextDue(undefined);
      known = { version: database.version, dueAt: dueMs === undefined ? undefined : scheduler.now + dueMs };
    }
    const workers = processes.living('worker');
    if (known.dueAt === undefined || workers.length === 0) return undefined;
    const worker = chance.of(workers);
    const start = (): void =>
      void processes.call(worker, 'looks for work', async (gateway) => {
        gateway.deliverer.wake();
        await startDueWork(gateway);
      });
    return { at: Math.max(scheduler.now, known.dueAt) + chance.between(1, WORK_PAUSE_MS), start };
  }

  let isShopClosed = false;
  const wrong: string[] = [];
  const opened = shop.open().then(() => {
    isShopClosed = true;
  });
  opened.catch((error) => wrong.push(String(error instanceof Error ? error.stack : error)));
  try {
    await scheduler.run({ disturb: processes.disturb, nextWork });
    if (!isShopClosed) wrong.push('A request was never answered.');
    wrong.push(...shop.failures, ...processes.errors);
    wrong.push(...(await brokenInvariants({ firstId, database, provider, merchant, shop })));
  } catch (error) {
    wrong.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  return { seed, wrong, digest: scheduler.digest(), steps: scheduler.steps, trace: scheduler.trace };
}
