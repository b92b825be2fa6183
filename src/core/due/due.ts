/** Processes due work. Each kind of work, and within it each connector, runs independently of the others. */
import { LIMITS } from '../../rules/limits.ts';
import { logAuditHead } from '../audit/key.ts';
import { eraseUnneededCards } from '../cards/vault.ts';
import { checkDueMethods } from '../connections/connections.ts';
import type { Gateway } from '../context.ts';
import { sendDueCustomerLinks } from '../customers/customers.ts';
import { eraseAgedData } from '../erasure/retention.ts';
import { catchUp } from '../installation/catch-up.ts';
import { maintainLogPartitions } from '../installation/log-partitions.ts';
import { sendDueReminders } from '../invoices/reminders.ts';
import { sendDueNotices } from '../operators/notices.ts';
import { processDueOperation, processDuePayment } from '../payments/due.ts';
import { processDueNotifications } from '../payments/notifications.ts';
import { sendDueRefunds } from '../payments/refund-requests.ts';
import { foldDueProjections } from '../projections/projections.ts';
import { sendDueReceipts } from '../receipts/receipts.ts';
import { runBackTests } from '../risk/back-tests.ts';
import { computeFraudRates } from '../risk/fraud-rates.ts';
import { processDueReviews } from '../risk/reviews.ts';
import { processDueSubscriptions } from '../schedules/schedules.ts';
import { foldForTerms, processDueSettlements } from '../settlements/due.ts';
import { processDueFeeInvoices } from '../settlements/fee-invoices.ts';
import { sendDueMessages } from '../settlements/messages.ts';
import { warnOfExpiringRoots } from '../wallets/roots.ts';
import { forgetExpiredTokens } from '../wallets/token.ts';
import { createDueRows, type DueRows, type DueStore } from './rows.ts';

/** A part of the due work that runs by itself: one kind of work, for one connector or for all. */
interface Job {
  name: string;
  /** Runs until nothing is due; claims nothing more once stopped. */
  run(isStopped: () => boolean): Promise<void>;
}

/** Lists the jobs of one kind of work that may have due rows; with `isSweep` they read all due rows. */
type Kind = (gateway: Gateway, isSweep: boolean) => Job[] | Promise<Job[]>;

/** Work that each connector has by itself. */
function byConnector<Row>(
  name: string,
  storeOf: (gateway: Gateway) => DueStore<Row>,
  run: (gateway: Gateway, claim: (most: number) => Promise<Row[]>, isStopped: () => boolean) => Promise<void>,
): Kind {
  const rowsOf = new WeakMap<Gateway, DueRows<Row>>();
  return async (gateway, isSweep) => {
    const rows = rowsOf.get(gateway) ?? createDueRows(storeOf(gateway), gateway.clock.now);
    rowsOf.set(gateway, rows);
    return (await rows.connectors(isSweep)).map((connector) => ({
      name: `${name} ${connector}`,
      run: (isStopped) => run(gateway, (most) => rows.claim(connector, most), isStopped),
    }));
  };
}

const notifications = byConnector('notifications', (gateway) => gateway.notifications, processDueNotifications);

const operations = byConnector(
  'operations',
  (gateway) => gateway.operations,
  (gateway, claim, isStopped) => drain(gateway, isStopped, claim, processDueOperation),
);

const payments = byConnector(
  'payments',
  (gateway) => gateway.payments,
  (gateway, claim, isStopped) => drain(gateway, isStopped, claim, processDuePayment),
);

const subscriptions: Kind = (gateway) => [
  { name: 'subscriptions', run: (isStopped) => processDueSubscriptions(gateway, isStopped) },
];

const reviews: Kind = (gateway) => [{ name: 'reviews', run: (isStopped) => processDueReviews(gateway, isStopped) }];

/** Approved refunds whose process died before it sent them. */
const approvedRefunds: Kind = (gateway) => [
  { name: 'approved refunds', run: (isStopped) => sendDueRefunds(gateway, isStopped) },
];

/** Back-tests whose process has died. */
const backTests: Kind = (gateway) => [{ name: 'back-tests', run: () => runBackTests(gateway) }];

const settlements: Kind = (gateway) => [
  { name: 'settlements', run: (isStopped) => processDueSettlements(gateway, isStopped) },
];

const feeInvoices: Kind = (gateway) => [
  { name: 'fee invoices', run: (isStopped) => processDueFeeInvoices(gateway, isStopped) },
];

const messages: Kind = (gateway) => [
  { name: 'messages to merchants', run: (isStopped) => sendDueMessages(gateway, isStopped) },
];

/** Without a mail server nothing is read. */
const receipts: Kind = (gateway) =>
  gateway.mailer ? [{ name: 'receipts', run: (isStopped) => sendDueReceipts(gateway, isStopped) }] : [];

const reminders: Kind = (gateway) =>
  gateway.mailer ? [{ name: 'reminders', run: (isStopped) => sendDueReminders(gateway, isStopped) }] : [];

const customerLinks: Kind = (gateway) =>
  gateway.mailer ? [{ name: 'customer links', run: (isStopped) => sendDueCustomerLinks(gateway, isStopped) }] : [];

/** A job that each process starts at intervals only. */
function atIntervals(everyMs: number, job: (gateway: Gateway) => Job): Kind {
  const lastRuns = new WeakMap<Gateway, number>();
  return (gateway) => {
    const lastRunAt = lastRuns.get(gateway) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - lastRunAt < everyMs) return [];
    lastRuns.set(gateway, performance.now());
    return [job(gateway)];
  };
}

const fraudRates = atIntervals(LIMITS.hourMs, (gateway) => ({
  name: 'fraud rates',
  run: () => computeFraudRates(gateway),
}));

const activeMethods = atIntervals(LIMITS.methodSweepMs, (gateway) => ({
  name: 'active methods',
  run: (isStopped) => checkDueMethods(gateway, isStopped),
}));

/** Cards that were not erased in time are rare. */
const cardErasure = atIntervals(LIMITS.cardSweepMs, (gateway) => ({
  name: 'card erasure',
  run: () => eraseUnneededCards(gateway),
}));

const walletTokens = atIntervals(LIMITS.walletTokenSweepMs, (gateway) => ({
  name: 'wallet tokens',
  run: () => forgetExpiredTokens(gateway),
}));

/** The first one runs at the start. */
const walletRoots = atIntervals(LIMITS.walletRootCheckMs, (gateway) => ({
  name: 'wallet roots',
  run: () => warnOfExpiringRoots(gateway),
}));

/** Each projection has its own pace. */
const projections: Kind = (gateway) => [
  { name: 'projections', run: (isStopped) => foldDueProjections(gateway, isStopped) },
];

const callSweep = atIntervals(LIMITS.apiCallSweepMs, (gateway) => ({
  name: 'old API calls',
  run: (isStopped) => gateway.callRecorder.sweep(isStopped),
}));

const logPartitions = atIntervals(LIMITS.partitionsEveryMs, (gateway) => ({
  name: 'log partitions',
  run: () => maintainLogPartitions(gateway),
}));

/** Without a mail server nothing is read. */
const operatorNotices = atIntervals(LIMITS.noticeSweepMs, (gateway) => ({
  name: 'operator notices',
  run: async (isStopped) => {
    if (gateway.mailer) await sendDueNotices(gateway, isStopped);
  },
}));

/** The first one runs at the start. */
const auditHead = atIntervals(LIMITS.auditMarkEveryMs, (gateway) => ({
  name: 'audit log',
  run: () => logAuditHead(gateway),
}));

const retention = atIntervals(LIMITS.retentionEveryMs, (gateway) => ({
  name: 'retention',
  run: (isStopped) => eraseAgedData(gateway, isStopped),
}));

/** In the order of their dependencies: a notification, or a review, may end the payment whose query is due. */
const KINDS = [
  notifications,
  operations,
  reviews,
  payments,
  approvedRefunds,
  backTests,
  subscriptions,
  settlements,
  feeInvoices,
  messages,
  receipts,
  reminders,
  customerLinks,
];

/** Claims rows and processes them, a bounded number at a time, until none is due. */
async function drain<Row extends { mid: string; dueAt: number | null }>(
  gateway: Gateway,
  isStopped: () => boolean,
  claim: (most: number) => Promise<Row[]>,
  processRow: (gateway: Gateway, row: Row) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  for (;;) {
    const free = LIMITS.dueAtATime - running.size;
    // A claim costs the database more than a row does, so several are claimed together.
    const rows = free >= LIMITS.dueAtATime / 2 && !isStopped() ? await claim(free) : [];
    await catchUp(gateway, rows);
    for (const row of rows) {
      const processing = processRow(gateway, row).finally(() => running.delete(processing));
      running.add(processing);
    }
    if (running.size === 0) return;
    await Promise.race(running);
  }
}

const runningJobs = new WeakMap<Gateway, Map<string, Promise<void>>>();

function runningJobsOf(gateway: Gateway): Map<string, Promise<void>> {
  const jobs = runningJobs.get(gateway) ?? new Map<string, Promise<void>>();
  runningJobs.set(gateway, jobs);
  return jobs;
}

const NEVER = (): boolean => false;

function start(gateway: Gateway, { name, run }: Job, isStopped: () => boolean): Promise<void> {
  const jobs = runningJobsOf(gateway);
  const started = run(isStopped).finally(() => jobs.delete(name));
  jobs.set(name, started);
  return started;
}

/** Starts the jobs that are not running; a job that is slow or fails does not delay the others. */
export async function startDueWork(gateway: Gateway, isStopped: () => boolean = NEVER): Promise<void> {
  const onFault = (error: unknown): void => gateway.log.warn({ err: error }, 'due work failed');
  const starting = [
    ...KINDS,
    activeMethods,
    cardErasure,
    fraudRates,
    walletTokens,
    walletRoots,
    projections,
    callSweep,
    logPartitions,
    auditHead,
    operatorNotices,
    retention,
  ].map(async (kind) => {
    const idle = (await kind(gateway, false)).filter(({ name }) => !runningJobsOf(gateway).has(name));
    for (const job of idle) start(gateway, job, isStopped).catch(onFault);
  });
  await Promise.all(starting.map((started) => started.catch(onFault)));
}

/** Waits for the running jobs to finish the rows that they have claimed. */
export async function drainDueWork(gateway: Gateway): Promise<void> {
  await Promise.allSettled(runningJobsOf(gateway).values());
}

/** Processes everything that is due now, one kind of work after another, and waits for it. */
export async function processEverythingDue(gateway: Gateway): Promise<void> {
  await foldForTerms(gateway);
  for (const kind of KINDS) await runAllOf(gateway, kind);
  await eraseUnneededCards(gateway);
  await forgetExpiredTokens(gateway);
  await eraseAgedData(gateway, NEVER, true);
}

export const processDuePayments = (gateway: Gateway): Promise<void> => runAllOf(gateway, payments);
export const processDueOperations = (gateway: Gateway): Promise<void> => runAllOf(gateway, operations);

/** A running job may have claimed its rows before others fell due, so it runs once more afterwards. */
async function runAllOf(gateway: Gateway, kind: Kind): Promise<void> {
  const jobs = await kind(gateway, true);
  await Promise.all(
    jobs.map(async (job) => {
      const running = (): Promise<void> | undefined => runningJobsOf(gateway).get(job.name);
      while (running()) await running()?.catch(() => undefined);
      await start(gateway, job, NEVER);
    }),
  );
}
