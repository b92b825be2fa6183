/** `npm run fuzz -- wallets [count] [seed] [from]`: opens altered wallet tokens on all cores, a million by default. */
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { fuzzWalletToken, seededAt } from './wallets.ts';

/** The tokens that a worker opens at a time, by their numbers. */
interface Portion {
  seed: number;
  from: number;
  count: number;
}

/** What a worker reports: how many tokens it accepted, or the first one that was not refused by name. */
type Report = Portion & ({ accepted: number } | { failed: number; error: string });

const PORTION = 500;
const LINE_MS = 5000;
const USAGE = 'Usage: npm run fuzz -- wallets [count] [seed] [from]';

const command = (count: number, seed: number, from: number): string =>
  `npm run fuzz -- wallets ${count} ${seed} ${from}`;

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

function readArguments([target, ...numbers]: readonly string[]): [count: number, seed: number, from: number] {
  const [count = 1_000_000, seed = Date.now() % 2 ** 31, from = 0] = numbers.map(Number);
  const isValid = [count, seed, from].every((number) => Number.isSafeInteger(number) && number >= 0);
  if (target === 'wallets' && isValid && count > 0) return [count, seed, from];
  console.error(USAGE);
  process.exit(2);
}

function run(count: number, seed: number, from: number): void {
  const end = from + count;
  const started = performance.now();
  const open = new Set<number>();
  let [next, done, accepted, shownAt] = [from, 0, 0, started];
  /** Every token before this one was opened. */
  const position = (): number => Math.min(next, ...open);
  const show = (): void => {
    const perSecond = (done * 1000) / (performance.now() - started);
    const seconds = Math.ceil((count - done) / perSecond);
    const result = `${accepted} changed in unsigned parts only, all others refused`;
    console.log(`${done} opened, ${Math.round(perSecond)} per second, ${seconds} s left: ${result}`);
  };
  const stop = (code: number): void => {
    if (done < count) console.log(`To go on: ${command(end - position(), seed, position())}`);
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
      console.error(`${report.error}\nThe same token again: ${command(1, seed, report.failed)}`);
      process.exit(1);
    }
    open.delete(report.from);
    done += report.count;
    accepted += report.accepted;
    if (done === count || performance.now() - shownAt >= LINE_MS) {
      shownAt = performance.now();
      show();
    }
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

if (isMainThread) run(...readArguments(process.argv.slice(2)));
else parentPort?.on('message', async (portion: Portion) => parentPort?.postMessage(await open(portion)));
