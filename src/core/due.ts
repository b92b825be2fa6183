/** Everything that falls due: each kind of work, and each connector, goes on at its own pace and waits for no other. */
import { LIMITS } from '../rules/limits.ts';
import { catchUp } from './catch-up.ts';
import type { Gateway } from './context.ts';
import { processDueOperation, processDuePayment } from './payments/due.ts';
import { processDueNotifications } from './payments/notifications.ts';
import { processDueSubscriptions } from './schedules.ts';
import { eraseUnneededCards } from './vault.ts';

/** Work of one kind that can go on by itself: all of it, or what belongs to one connector. */
interface Share {
  name: string;
  /** Works until nothing is due, or claims nothing more once it is stopped. */
  work(isStopped: () => boolean): Promise<void>;
}

type Kind = (gateway: Gateway) => Share[] | Promise<Share[]>;

const notifications: Kind = async (gateway) =>
  (await gateway.notifications.dueConnectors()).map((connector) => ({
    name: `notifications ${connector}`,
    work: (isStopped) => processDueNotifications(gateway, connector, isStopped),
  }));

const operations: Kind = async (gateway) =>
  (await gateway.operations.dueConnectors()).map((connector) => ({
    name: `operations ${connector}`,
    work: (isStopped) =>
      drain(gateway, isStopped, (most) => gateway.operations.claimDue(connector, most), processDueOperation),
  }));

const payments: Kind = async (gateway) =>
  (await gateway.payments.dueConnectors()).map((connector) => ({
    name: `payments ${connector}`,
    work: (isStopped) =>
      drain(gateway, isStopped, (most) => gateway.payments.claimDue(connector, most), processDuePayment),
  }));

const subscriptions: Kind = (gateway) => [
  { name: 'subscriptions', work: (isStopped) => processDueSubscriptions(gateway, isStopped) },
];

/** Leftovers are rare, so each process looks for them now and then. */
const leftovers: Kind = (gateway) => {
  const lookedAt = lookedForLeftovers.get(gateway) ?? Number.NEGATIVE_INFINITY;
  if (performance.now() - lookedAt < LIMITS.cardSweepMs) return [];
  lookedForLeftovers.set(gateway, performance.now());
  return [{ name: 'leftovers', work: () => eraseUnneededCards(gateway) }];
};
const lookedForLeftovers = new WeakMap<Gateway, number>();

/** In the order in which they build on each other. */
const KINDS = [notifications, operations, payments, subscriptions];

/** Claims rows and works on them, a bounded number at a time, until none is due. */
async function drain<Row extends { mid: string; dueAt: number | null }>(
  gateway: Gateway,
  isStopped: () => boolean,
  claim: (most: number) => Promise<Row[]>,
  work: (gateway: Gateway, row: Row) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  for (;;) {
    const free = LIMITS.dueAtATime - running.size;
    // A claim costs the database more than a row does, so a few are claimed together.
    const rows = free >= LIMITS.dueAtATime / 2 && !isStopped() ? await claim(free) : [];
    await catchUp(gateway, rows);
    for (const row of rows) {
      const one = work(gateway, row).finally(() => running.delete(one));
      running.add(one);
    }
    if (running.size === 0) return;
    await Promise.race(running);
  }
}

const running = new WeakMap<Gateway, Map<string, Promise<void>>>();

function runningIn(gateway: Gateway): Map<string, Promise<void>> {
  const shares = running.get(gateway) ?? new Map<string, Promise<void>>();
  running.set(gateway, shares);
  return shares;
}

const NEVER = (): boolean => false;

/** Starts a share of the work that is not under way. */
function start(gateway: Gateway, { name, work }: Share, isStopped: () => boolean): Promise<void> {
  const shares = runningIn(gateway);
  const started = work(isStopped).finally(() => shares.delete(name));
  shares.set(name, started);
  return started;
}

/** Starts whatever is due and not under way; a share that is slow or fails holds up no other. */
export async function startDueWork(gateway: Gateway, isStopped: () => boolean = NEVER): Promise<void> {
  const onFault = (error: unknown): void => gateway.log.warn({ err: error }, 'due work failed');
  const starting = [...KINDS, leftovers].map(async (kind) => {
    const idle = (await kind(gateway)).filter(({ name }) => !runningIn(gateway).has(name));
    for (const share of idle) start(gateway, share, isStopped).catch(onFault);
  });
  await Promise.all(starting.map((one) => one.catch(onFault)));
}

/** Waits for the work that is under way: what was claimed is finished. */
export async function drainDueWork(gateway: Gateway): Promise<void> {
  await Promise.allSettled(runningIn(gateway).values());
}

/** Does everything that is due now, kind after kind, and waits for it. */
export async function processEverythingDue(gateway: Gateway): Promise<void> {
  for (const kind of KINDS) await workAllOf(gateway, kind);
  await eraseUnneededCards(gateway);
}

export const processDuePayments = (gateway: Gateway): Promise<void> => workAllOf(gateway, payments);
export const processDueOperations = (gateway: Gateway): Promise<void> => workAllOf(gateway, operations);

/** What is under way may have looked before something fell due, so it is waited for and looked for once more. */
async function workAllOf(gateway: Gateway, kind: Kind): Promise<void> {
  const shares = await kind(gateway);
  await Promise.all(
    shares.map(async (share) => {
      const running = (): Promise<void> | undefined => runningIn(gateway).get(share.name);
      while (running()) await running()?.catch(() => undefined);
      await start(gateway, share, NEVER);
    }),
  );
}
