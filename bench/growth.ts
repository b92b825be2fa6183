/** Measures whether the cost of requests and work stays the same from an empty database to a large one. */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Size } from './generate.ts';
import { KINDS, type Kind } from './growth-kinds.ts';
import {
  ACTIVE,
  databaseCpu,
  openSite,
  resetBuffers,
  type Site,
  type StatementBuffers,
  statementBuffers,
} from './growth-site.ts';
import { median, progress } from './harness.ts';

const FOLDER = process.env.BENCH_FOLDER ?? join(tmpdir(), 'turnpike-bench-growth');
const SIZES = (process.env.BENCH_SIZES ?? '0,1000000,10000000').split(',').map(Number);
const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 100_000);
const DAYS = 365;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const CONNECTIONS = 16;
/** Requests one after another, by which buffers are counted: batches of one, so that the figure is the same each time. */
const COUNTED = 40;

/** What one request costs; CPU time in microseconds, latencies in milliseconds. */
export interface Cost {
  gateway: number;
  database: number;
  buffers: number;
  p50: number;
  p99: number;
}

export interface Growth {
  sizes: number[];
  rows: { name: string; costs: Cost[] }[];
}

const sizeOf = (payments: number): Size => ({ payments, accounts: payments === 0 ? ACTIVE : ACCOUNTS, days: DAYS });

async function measureRound(kind: Kind, site: Site): Promise<Omit<Cost, 'buffers'>> {
  await kind.prepare?.(site, kind.count);
  const before = {
    server: (await site.server.usage()).cpuSeconds,
    own: process.cpuUsage(),
    database: await databaseCpu(site),
  };
  const { answered, p50, p99 } = await kind.run(site, kind.count, CONNECTIONS);
  const server = (await site.server.usage()).cpuSeconds - before.server;
  const { user, system } = process.cpuUsage(before.own);
  const isHere = server < 0.005;
  return {
    gateway: ((isHere ? (user + system) / 1e6 : server) / answered) * 1e6,
    database: (((await databaseCpu(site)) - before.database) / answered) * 1e6,
    p50,
    p99,
  };
}

async function countBuffers(kind: Kind, site: Site): Promise<{ buffers: number; statements: StatementBuffers[] }> {
  const count = Math.min(COUNTED, kind.count);
  // The first reader of a row that was updated also reads and marks its former versions.
  await kind.prepare?.(site, count);
  await kind.run(site, count, 1);
  await kind.prepare?.(site, count);
  await resetBuffers(site);
  const { answered } = await kind.run(site, count, 1);
  const statements = await statementBuffers(site);
  return { buffers: statements.reduce((sum, { buffers }) => sum + buffers, 0) / answered, statements };
}

/** Says which statements read more at the larger sizes. */
function reportStatements(name: string, all: StatementBuffers[][]): void {
  const perCall = (statements: StatementBuffers[], text: string): number => {
    const found = statements.find((one) => one.text === text);
    return found ? found.buffers / found.calls : 0;
  };
  for (const { text } of all.at(-1) ?? []) {
    const read = all.map((statements) => perCall(statements, text));
    if ((read.at(-1) as number) > 1.15 * (read[0] as number) + 1) {
      const short = text.replaceAll(/\s+/g, ' ').slice(0, 110);
      progress(`  ${name}: ${read.map((value) => value.toFixed(1)).join(' → ')} buffers per call: ${short}`);
    }
  }
}

async function measureKind(kind: Kind, sites: readonly Site[]): Promise<Cost[]> {
  const rounds = sites.map((): Omit<Cost, 'buffers'>[] => []);
  // The sizes take turns, so that other programs on the machine affect all of them.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, site] of sites.entries()) rounds[index]?.push(await measureRound(kind, site));
  }
  const counted: Awaited<ReturnType<typeof countBuffers>>[] = [];
  for (const site of sites) counted.push(await countBuffers(kind, site));
  const costs = rounds.map((measured, index): Cost => {
    const of = (name: keyof Omit<Cost, 'buffers'>): number => median(measured.map((one) => one[name]));
    return {
      gateway: of('gateway'),
      database: of('database'),
      buffers: counted[index]?.buffers as number,
      p50: of('p50'),
      p99: of('p99'),
    };
  });
  progress(
    `${kind.name}: gateway ${costs.map(({ gateway }) => Math.round(gateway)).join(' → ')} µs, PostgreSQL ${costs
      .map(({ database }) => Math.round(database))
      .join(' → ')} µs, ${costs.map(({ buffers }) => buffers.toFixed(1)).join(' → ')} buffers`,
  );
  reportStatements(
    kind.name,
    counted.map(({ statements }) => statements),
  );
  return costs;
}

export async function measureGrowth(): Promise<Growth> {
  // An empty one is not empty after a run.
  if (SIZES.includes(0)) await rm(join(FOLDER, '0'), { recursive: true, force: true });
  const sites: Site[] = [];
  for (const payments of SIZES) sites.push(await openSite(FOLDER, sizeOf(payments)));
  for (const site of sites) {
    progress(`${site.size.toLocaleString('en')} payments: warming up`);
    for (const kind of KINDS) {
      for (let round = 0; round < (kind.warmUps ?? 1); round++) {
        await kind.prepare?.(site, kind.count);
        await kind.run(site, kind.count, CONNECTIONS);
      }
    }
  }
  const rows = [];
  for (const kind of KINDS) rows.push({ name: kind.name, costs: await measureKind(kind, sites) });
  for (const site of sites) await site.stop();
  return { sizes: SIZES, rows };
}
