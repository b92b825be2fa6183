/** `npm run fuzz -- wallets|requests [count] [seed] [from]`: altered wallet tokens, or altered requests; a million by default. */
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { command, progressOf } from './progress.ts';
import { seededAt } from './random.ts';
import { runRequests } from './run-requests.ts';
import { fuzzWalletToken } from './wallets.ts';

/** The tokens that a worker opens at a time, by their numbers. */
interface Portion {
  seed: number;
  from: number;
  count: number;
}

/** What a worker reports: how many tokens it accepted, or the first one that was not refused by name. */
type Report = Portion & ({ accepted: number } | { failed: number; error: string });

const PORTION = 500;
const USAGE = 'Usage: npm run fuzz -- wallets|requests [count] [seed] [from]';

async function open(portion: Portion): Promise<Report> {
  const { seed, from, count } = portion;
  let accepted = 0;
  for (let number = from; number < from + count; number += 1) {
    try {
      if (await fuzzWalletToken(seededAt(seed, number))) accepted += 1;
    } catch (error) {
      return { ...portion, failed: number, error: error instanceof Error ? (error.stack ?? '') : String(error) };
    }
  }
  return { ...portion, accepted };
}

const TARGETS: Readonly<Record<string, (count: number, seed: number, from: number) => void>> = {
  wallets: openTokens,
  requests: sendRequests,
};

function run([target = '', ...numbers]: readonly string[]): void {
  const [count = 1_000_000, seed = Date.now() % 2 ** 31, from = 0] = numbers.map(Number);
  const isValid = [count, seed, from].every((number) => Number.isSafeInteger(number) && number >= 0);
  const start = Object.hasOwn(TARGETS, target) ? TARGETS[target] : undefined;
  if (start && isValid && count > 0) start(count, seed, from);
  else {
    console.error(USAGE);
    process.exitCode = 2;
  }
}

function openTokens(count: number, seed: number, from: number): void {
  const end = from + count;
  const open = new Set<number>();
  let [next, done, accepted] = [from, 0, 0];
  /** Every token before this one was opened. */
  const position = (): number => Math.min(next, ...open);
  const show = progressOf(count, 'opened', () => `${accepted} changed in unsigned parts only, all others refused`);
  const stop = (code: number): void => {
    if (done < count) console.log(`To go on: ${command('wallets', end - position(), seed, position())}`);
    process.exit(code);
  };
  process.once('SIGINT', () => stop(130));
  process.once('SIGTERM', () => stop(143));

  const assign = (worker: Worker): void => {
    if (next >= end) return;
    const portion: Portion = { seed, from: next, count: Math.min(PORTION, end - next) };
    open.add(portion.from);
    next += portion.count;
    worker.postMessage(portion);
  };
  const receive = (worker: Worker, report: Report): void => {
    if ('failed' in report) {
      console.error(`${report.error}\nThe same token again: ${command('wallets', 1, seed, report.failed)}`);
      process.exit(1);
    }
    open.delete(report.from);
    done += report.count;
    accepted += report.accepted;
    show(done);
    if (done === count) stop(0);
    assign(worker);
  };
  const workers = Math.min(availableParallelism(), Math.ceil(count / PORTION));
  console.log(`${count} altered tokens from number ${from}, seed ${seed}, ${workers} workers`);
  for (let each = 0; each < workers; each += 1) {
    const worker = new Worker(new URL(import.meta.url));
    worker.on('message', (report: Report) => receive(worker, report));
    worker.on('error', (error) => {
      throw error;
    });
    assign(worker);
  }
}

async function sendRequests(count: number, seed: number, from: number): Promise<void> {
  let isStopped = false;
  let counts: [number, number][] = [];
  const shown = (): string => counts.map(([status, times]) => `${status || 'none'} × ${times}`).join(', ');
  // The rate counts from the first response, not from the start of the gateways.
  let show: ReturnType<typeof progressOf> | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isStopped = true));
  console.log(`${count} altered requests from number ${from}, seed ${seed}`);
  const { position, failures } = await runRequests({
    ...{ count, seed, from, gateways: Math.max(1, Math.floor(availableParallelism() / 2)) },
    isStopped: () => isStopped,
    onMemory(done, memory) {
      const megabytes = memory.map((bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`);
      console.log(`Memory in use after ${done} requests: ${megabytes.join(', ')}`);
    },
    onProgress(done, statuses) {
      counts = [...statuses].toSorted(([a], [b]) => a - b);
      show ??= progressOf(count, 'sent', shown);
      show(done);
    },
    onFailure: (number, error) =>
      console.error(`\n${error}\nThe same request again: ${command('requests', 1, seed, number)}\n`),
  });
  for (const { number, times } of failures) console.error(`Failed as number ${number} did: ${times} times.`);
  if (position < from + count) {
    console.log(`To go on: ${command('requests', from + count - position, seed, position)}`);
  }
  process.exitCode = failures.length > 0 ? 1 : isStopped ? 130 : 0;
}

if (isMainThread) run(process.argv.slice(2));
else parentPort?.on('message', async (portion: Portion) => parentPort?.postMessage(await open(portion)));
