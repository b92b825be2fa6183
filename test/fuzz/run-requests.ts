/** A run of altered requests: several at a time, to several gateways, until the count is reached or too much is wrong. */
import { open } from 'node:fs/promises';
import { found, hasCode } from '../support/canaries.ts';
import { type OpenConnections, WrongResponse } from './exchange.ts';
import type { World } from './model.ts';
import { fuzzRequest } from './requests.ts';
import { createWorld } from './world.ts';

/** Requests at a time to each gateway; some wait for a server that waits for more of the request. */
const LANES = 24;

/** The memory of the gateways is measured whenever so many more requests were sent. */
const MEMORY_EVERY = 25_000;

export interface RequestRun {
  count: number;
  seed: number;
  from: number;
  /** Each has its own database, provider and accounts. */
  gateways?: number;
  /** After each request: how many are done, and how many responses had each status. */
  onProgress?: (done: number, statuses: ReadonlyMap<number, number>) => void;
  /** When the memory in use of each gateway process was measured, in bytes. */
  onMemory?: (done: number, memory: readonly number[]) => void;
  /** At the first failure of each kind. */
  onFailure?: (number: number, error: string) => void;
  /** Whether to stop early. */
  isStopped?: () => boolean;
}

export interface RequestReport {
  /** Every request before this number was sent. */
  position: number;
  statuses: Map<number, number>;
  /** The first failure of each kind, with the number of the request, and how often the kind happened. */
  failures: { number: number; error: string; times: number }[];
}

/** The run stops after so many kinds of failures, or failures altogether. */
const MOST_KINDS = 5;
const MOST_FAILURES = 500;

export async function runRequests(run: RequestRun): Promise<RequestReport> {
  const { count, seed, from, gateways = 1, onProgress, onMemory, onFailure, isStopped = () => false } = run;
  const worlds: World[] = [];
  const statuses = new Map<number, number>();
  const failures = new Map<string, RequestReport['failures'][number]>();
  const inFlight = new Set<number>();
  let [next, done, failed] = [from, 0, 0];
  const fail = (number: number, error: string, kind = error): void => {
    if (!failures.has(kind)) onFailure?.(number, error);
    const first = failures.get(kind) ?? { number, error, times: 0 };
    failures.set(kind, { ...first, times: first.times + 1 });
    failed++;
  };
  const isOver = (): boolean =>
    next >= from + count || failures.size >= MOST_KINDS || failed >= MOST_FAILURES || isStopped();
  const lane = async (world: World): Promise<void> => {
    const open: OpenConnections = new Map();
    while (!isOver()) {
      const number = next++;
      inFlight.add(number);
      try {
        const status = await fuzzRequest(seed, number, world, open);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      } catch (error) {
        fail(number, String(error), error instanceof WrongResponse ? error.kind : undefined);
      }
      inFlight.delete(number);
      onProgress?.(++done, statuses);
      if (done % MEMORY_EVERY === 0) await measure();
    }
    for (const { socket } of open.values()) socket.destroy();
  };
  const measure = async (): Promise<void> => {
    if (onMemory) onMemory(done, await Promise.all(worlds.map((world) => world.memory())));
  };
  const position = (): number => Math.min(next, ...inFlight);
  try {
    for (let started = 0; started < gateways; started++) worlds.push(await createWorld());
    await measure();
    await Promise.all(worlds.flatMap((world) => Array.from({ length: LANES }, () => lane(world))));
    await measure();
    for (const world of worlds) {
      for (const crash of world.gateway.crashes) fail(position(), crash);
      if (world.gateway.starts > 1) fail(position(), 'The gateway process ended.');
      for (const error of await leaks(world)) fail(position(), error);
    }
    return { position: position(), statuses, failures: [...failures.values()] };
  } finally {
    await Promise.all(worlds.map((world) => world.close()));
  }
}

/** The lines of the log that contain a secret, shown without digits, and the errors that it has. */
async function leaks({ logFile, secrets }: World): Promise<string[]> {
  const wrong = new Map<string, string>();
  const file = await open(logFile);
  for await (const line of file.readLines()) {
    const isLeak = found(line).length > 0 || hasCode(line) || secrets.foundIn(line).length > 0;
    if (isLeak) wrong.set('leak', `A secret is in the log: ${line.replace(/\d/g, '#')}`);
    if (line.includes('"level":"error"'))
      wrong.set(line.replace(/[\da-f-]{8,}|\d+/g, '#').slice(0, 400), `An error is in the log: ${line}`);
  }
  return [...wrong.values()].slice(0, MOST_KINDS);
}
