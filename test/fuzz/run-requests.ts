/** A run of altered requests: several at a time, until the count is reached or a response is wrong. */
import { open } from 'node:fs/promises';
import { found, hasCode } from '../support/canaries.ts';
import { seededAt } from './random.ts';
import { fuzzRequest } from './requests.ts';
import { createWorld, type World } from './world.ts';

const LANES = 12;

export interface RequestRun {
  count: number;
  seed: number;
  from: number;
  /** After each request: how many are done, and how many responses had each status. */
  onProgress?: (done: number, statuses: ReadonlyMap<number, number>) => void;
  /** Whether to stop early. */
  isStopped?: () => boolean;
}

export interface RequestReport {
  /** Every request before this number was sent. */
  position: number;
  statuses: Map<number, number>;
  /** The first failures, with the number of the request. */
  failures: { number: number; error: string }[];
  memory: { before: number; after: number };
}

const MOST_FAILURES = 5;

export async function runRequests(run: RequestRun): Promise<RequestReport> {
  const { count, seed, from, onProgress, isStopped = () => false } = run;
  const world = await createWorld();
  const statuses = new Map<number, number>();
  const failures: RequestReport['failures'] = [];
  const inFlight = new Set<number>();
  let next = from;
  let done = 0;
  try {
    const before = world.memory();
    const lane = async (): Promise<void> => {
      while (next < from + count && failures.length < MOST_FAILURES && !isStopped()) {
        const number = next++;
        inFlight.add(number);
        try {
          const status = await fuzzRequest(seededAt(seed, number), world);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        } catch (error) {
          failures.push({ number, error: error instanceof Error ? error.message : String(error) });
        }
        inFlight.delete(number);
        onProgress?.(++done, statuses);
      }
    };
    const position = (): number => Math.min(next, ...inFlight);
    await Promise.all(Array.from({ length: LANES }, lane));
    const after = world.memory();
    for (const crash of world.gateway.crashes) failures.push({ number: position(), error: crash });
    if (world.gateway.starts > 1) failures.push({ number: position(), error: 'The gateway process ended.' });
    for (const error of await leaks(world)) failures.push({ number: position(), error });
    return { position: position(), statuses, failures, memory: { before, after } };
  } finally {
    await world.close();
  }
}

/** The lines of the log that contain a secret; they are shown without digits. */
async function leaks({ logFile, secrets }: World): Promise<string[]> {
  const wrong: string[] = [];
  const file = await open(logFile);
  for await (const line of file.readLines()) {
    const isLeak = found(line).length > 0 || hasCode(line) || secrets.some((secret) => line.includes(secret));
    if (isLeak && wrong.length < MOST_FAILURES) wrong.push(`A secret is in the log: ${line.replace(/\d/g, '#')}`);
  }
  return wrong;
}
