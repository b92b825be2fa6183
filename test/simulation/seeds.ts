/** Runs many seeds on several threads, each with a database of its own on one server. */
import { Worker } from 'node:worker_threads';
import { newId } from '../../src/lib/crypto/id.ts';
import { query, type ServerConnection } from '../support/database.ts';
import type { RunResult } from './run.ts';
import type { Portion, Report } from './worker.ts';

export interface SeedOptions {
  server: ServerConnection;
  /** A migrated database that is cloned. */
  template: string;
  from: number;
  count: number;
  threads: number;
  isStopped?: () => boolean;
  /** `position`: all seeds before it were run. */
  onProgress?: (done: number, position: number) => void;
}

export interface SeedResults {
  done: number;
  /** All seeds before this one were run. */
  position: number;
  /** The first failure of each thread that had one. */
  failures: RunResult[];
  digests: ReadonlyMap<number, string>;
  /** The steps of the seed that was run last. */
  trace: readonly string[];
}

const PORTION = 50;

export async function runSeeds(options: SeedOptions): Promise<SeedResults> {
  const { server, template, from, count, isStopped = () => false, onProgress } = options;
  const end = from + count;
  const running = new Set<number>();
  const failures: RunResult[] = [];
  const digests = new Map<number, string>();
  let [next, done] = [from, 0];
  let lastTrace: readonly string[] = [];
  const position = (): number => Math.min(next, ...running);

  function take(): Portion | null {
    if (next >= end || failures.length > 0 || isStopped()) return null;
    const portion = { from: next, count: Math.min(PORTION, end - next) };
    next += portion.count;
    running.add(portion.from);
    return portion;
  }

  function receive({ from: first, digests: list, trace, failure }: Report): void {
    list.forEach((digest, index) => {
      digests.set(first + index, digest);
    });
    lastTrace = trace;
    done += list.length;
    if (failure) failures.push(failure);
    else running.delete(first);
    onProgress?.(done, position());
  }

  async function runThread(): Promise<void> {
    const database = `simulation_${newId().replaceAll('-', '')}`;
    await query(server, `create database ${database} template ${template}`);
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { ...server, database } });
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (report: Report) => {
        receive(report);
        worker.postMessage(take());
      });
      worker.on('error', reject);
      worker.on('exit', () => resolve());
      worker.postMessage(take());
    });
    await query(server, `drop database ${database}`);
  }

  // A template is cloned by one connection at a time.
  const threads: Promise<void>[] = [];
  for (let each = 0; each < Math.min(options.threads, Math.ceil(count / PORTION)); each++) threads.push(runThread());
  await Promise.all(threads);
  return { done, position: position(), failures, digests, trace: lastTrace };
}

const LAST_STEPS = 40;

/** What a failure prints: the seed, what is wrong, the last steps, and how to run it again. */
export const describeFailure = ({ seed, wrong, trace }: RunResult): string =>
  [
    `Seed ${seed}:`,
    ...wrong.map((sentence) => `- ${sentence}`),
    `The last of ${trace.length} steps:`,
    ...trace.slice(-LAST_STEPS).map((line) => `  ${line}`),
    `The same run again, with all steps: npm run simulate -- --seed ${seed}`,
  ].join('\n');
