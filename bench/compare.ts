/** Compares this checkout with another commit, round by round: throughput, latency, and CPU time of gateway and PostgreSQL. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { migrateAt } from '../src/store/database/migrate.ts';
import type { startEmbedded } from '../src/store/embedded/embedded.ts';
import { checkOut } from '../test/upgrade/checkout.ts';
import { pageRequests, sessionRequests } from './checkout.ts';
import {
  CONNECTIONS,
  folder,
  type Measured,
  makeRequests,
  median,
  newMerchant,
  onClearUp,
  progress,
  SECONDS,
  saleForm,
  startServer,
  WARM_UP_SECONDS,
} from './harness.ts';
import { type LoadResult, load } from './load.ts';
import { backendsUsed, postgresCpu } from './postgres-cpu.ts';
import { printTable } from './table.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const ROOT = join(import.meta.dirname, '..');

/** The background has nothing left to do when PostgreSQL uses less than this share of a core for so many seconds. */
const IDLE = { share: 0.01, seconds: 6 };
const IDLE_WITHIN_SECONDS = 60;

interface Requests {
  form: () => string;
  write?: (content: string) => Buffer;
}

/** What is compared: sales, or only the kinds in `BENCH_COMPARED`, such as `sessions,pages`. */
const KINDS: Readonly<Record<string, (measured: Measured) => Requests | Promise<Requests>>> = {
  sales: ({ merchant }) => ({ form: () => saleForm(merchant) }),
  sessions: ({ merchant }) => sessionRequests(merchant),
  pages: ({ server, merchant }) => pageRequests(server, merchant),
};

const WORK = { alone: 'without background work', working: 'with background work' } as const;
type Work = keyof typeof WORK;

/** A checkout with a PostgreSQL of its own, in which each of its two gateways has a database. */
interface Side {
  name: string;
  client: pg.Client;
  gateways: Record<Work, Measured>;
}

const FIGURES = {
  perSecond: 'per second',
  p50: 'p50 ms',
  p99: 'p99 ms',
  gateway: 'gateway µs',
  postgres: 'PostgreSQL µs',
  backends: 'of it backends µs',
} as const;
/** Of one round; CPU times are per request. */
type Figures = Record<keyof typeof FIGURES, number>;

/** A module of the store, which may be in another folder at another commit. */
async function storeModule<Module>(root: string, file: string): Promise<Module> {
  const [path] = globSync(`src/store/**/${file}`, { cwd: root });
  if (path === undefined) throw new Error(`${root} has no ${file} in its store.`);
  return (await import(join(root, path))) as Module;
}

async function openSide(name: string, root: string): Promise<Side> {
  const embedded = await storeModule<{ startEmbedded: typeof startEmbedded }>(root, 'embedded.ts');
  const { connection, stop } = await embedded.startEmbedded({ folder: join(folder, name) });
  onClearUp(stop);
  await (await storeModule<{ migrateAt: typeof migrateAt }>(root, 'migrate.ts')).migrateAt(connection);
  const client = new pg.Client({ ...connection, database: 'postgres' });
  await client.connect();
  onClearUp(() => client.end());
  const startGateway = async (work: Work): Promise<Measured> => {
    await client.query(`create database ${work} template ${connection.database}`);
    const own = { connection: { ...connection, database: work } };
    const server = await startServer(work === 'alone' ? 'requests' : 'gateway', {}, own, join(root, 'bench/server.ts'));
    onClearUp(() => server.stop());
    return { server, merchant: await newMerchant(server.url as URL) };
  };
  return { name, client, gateways: { alone: await startGateway('alone'), working: await startGateway('working') } };
}

/** Waits until the work that requests left for the background is done, so that it counts for the round that caused it. */
async function finishWork({ client }: Side): Promise<void> {
  const until = performance.now() + IDLE_WITHIN_SECONDS * 1000;
  for (let [before, isIdle] = [(await postgresCpu(client)).all, false]; !isIdle && performance.now() < until; ) {
    await pause(IDLE.seconds * 1000);
    const { all } = await postgresCpu(client);
    isIdle = all - before < IDLE.share * IDLE.seconds;
    before = all;
  }
}

async function measureRound(side: Side, work: Work, { form, write }: Requests, name: string): Promise<Figures> {
  const { server } = side.gateways[work];
  const used = async () => ({
    gateway: (await server.usage()).cpuSeconds,
    postgres: await postgresCpu(side.client),
  });
  const requests = makeRequests(SECONDS, form, undefined, write);
  const before = await used();
  const result = await loadServer(side.gateways[work], SECONDS, requests);
  if (work === 'working') await finishWork(side);
  const after = await used();
  if (result.failed > 0) throw new Error(`${name}: ${result.failed} responses were not 200.`);
  const perRequest = (seconds: number): number => (seconds * 1e6) / result.answered;
  const figures: Figures = {
    perSecond: result.perSecond,
    p50: result.p50,
    p99: result.p99,
    gateway: perRequest(after.gateway - before.gateway),
    postgres: perRequest(after.postgres.all - before.postgres.all),
    backends: perRequest(backendsUsed(before.postgres, after.postgres)),
  };
  progress(`${name}: ${describe(figures)}`);
  return figures;
}

const describe = (figures: Figures): string =>
  (Object.keys(FIGURES) as (keyof Figures)[]).map((key) => `${FIGURES[key]} ${figures[key].toFixed(1)}`).join(', ');

const loadServer = ({ server }: Measured, seconds: number, requests: Buffer[]): Promise<LoadResult> => {
  const { hostname: host, port } = server.url as URL;
  return load({ host, port: Number(port), connections: CONNECTIONS, seconds, requests });
};

/** Measures both sides in turns; returns the figures of each round. Each request, so each order, is sent once. */
async function measureRounds(kind: string, work: Work, sides: readonly Side[]): Promise<Figures[][]> {
  const create = KINDS[kind];
  if (!create) throw new Error(`BENCH_COMPARED may contain ${Object.keys(KINDS).join(', ')}, not ${kind}.`);
  const prepared = await Promise.all(
    sides.map(async (side) => ({ side, requests: await create(side.gateways[work]), figures: [] as Figures[] })),
  );
  for (const { side, requests } of prepared) {
    progress(`${kind} ${side.name}, ${WORK[work]}: warming up ${WARM_UP_SECONDS} s`);
    const { form, write } = requests;
    await loadServer(side.gateways[work], WARM_UP_SECONDS, makeRequests(WARM_UP_SECONDS, form, undefined, write));
    await side.client.query('checkpoint');
    if (work === 'working') await finishWork(side);
  }
  for (let round = 1; round <= ROUNDS; round++) {
    for (const { side, requests, figures } of round % 2 === 1 ? prepared : prepared.toReversed()) {
      const name = `${kind} ${side.name}, ${WORK[work]}, round ${round}`;
      figures.push(await measureRound(side, work, requests, name));
    }
  }
  return prepared.map(({ figures }) => figures);
}

/** How many times better this checkout is than the other one: the median of the rounds. */
function gain([theirs, ours]: Figures[][], figure: keyof Figures): number {
  const ratios = (theirs as Figures[]).map((there, round) => {
    const here = (ours as Figures[])[round] as Figures;
    return figure === 'perSecond' ? here.perSecond / there.perSecond : there[figure] / here[figure];
  });
  return median(ratios);
}

/**
 * Prints the medians of both sides, and returns how many times better this checkout is. CPU times without background work
 * are those of a gateway without its work loop. Those with it contain the work that the requests of the round caused.
 */
export async function compareWith(commit: string): Promise<[name: string, ratio: number][]> {
  const { root, remove } = await checkOut(commit);
  onClearUp(remove);
  const sides = [await openSide('there', root), await openSide('here', ROOT)];
  const lines: string[][] = [];
  const gains: [string, number][] = [];
  for (const kind of (process.env.BENCH_COMPARED ?? 'sales').split(',')) {
    for (const work of Object.keys(WORK) as Work[]) {
      const measured = await measureRounds(kind, work, sides);
      for (const [index, { name }] of sides.entries()) {
        const all = measured[index] as Figures[];
        const medians = (Object.keys(FIGURES) as (keyof Figures)[]).map((figure) =>
          median(all.map((figures) => figures[figure])).toFixed(figure === 'p50' || figure === 'p99' ? 1 : 0),
        );
        lines.push([`${kind} ${name}, ${WORK[work]}`, ...medians]);
      }
      for (const [figure, title] of Object.entries(FIGURES)) {
        gains.push([`${kind}, ${WORK[work]}: ${title}`, gain(measured, figure as keyof Figures)]);
      }
    }
  }
  console.log(`\nThere is ${commit}, here is this checkout; medians of ${ROUNDS} rounds of ${SECONDS} s.\n`);
  printTable(['', ...Object.values(FIGURES)], lines);
  return gains;
}
