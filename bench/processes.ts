/** Measures several HTTP processes on one database: sales per second, CPU time per sale, and backends that wait for locks. */
import {
  CONNECTIONS,
  makeRequests,
  newMerchant,
  progress,
  rows,
  SECONDS,
  type Server,
  saleForm,
  startServer,
  WARM_UP_SECONDS,
  wal,
} from './harness.ts';
import { type LoadResult, load } from './load.ts';

const COUNTS = [1, 2, 4];
const SAMPLE_MS = 20;

/** The share of the samples in which a backend waited for a lock of a row, an index entry or a transaction. */
async function sampleLockWaits(isOver: () => boolean): Promise<number> {
  let [samples, waiting] = [0, 0];
  while (!isOver()) {
    const { rows: found } = await wal.query<{ count: string }>(
      `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and pid <> pg_backend_pid()`,
    );
    samples++;
    if (Number(found[0]?.count) > 0) waiting++;
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  }
  return waiting / Math.max(1, samples);
}

const cpuSeconds = async (servers: readonly Server[]): Promise<number> =>
  (await Promise.all(servers.map((server) => server.usage()))).reduce((sum, usage) => sum + usage.cpuSeconds, 0);

/** Returns the sales per second of CPU time with the most processes, divided by those with one. */
export async function measureProcesses(): Promise<number> {
  // One process does the work of the work loop, as in an installation with several HTTP processes.
  const servers = [await startServer('gateway')];
  while (servers.length < Math.max(...COUNTS)) servers.push(await startServer('requests'));
  const merchant = await newMerchant(servers[0]?.url as URL);
  const loadAll = (targets: readonly Server[], seconds: number): Promise<LoadResult[]> =>
    Promise.all(
      targets.map(({ url }) =>
        load({
          host: (url as URL).hostname,
          port: Number((url as URL).port),
          connections: CONNECTIONS / targets.length,
          seconds,
          requests: makeRequests(Math.ceil(seconds / targets.length), () => saleForm(merchant)),
        }),
      ),
    );
  // Each process compiles its code for itself.
  for (const server of servers) {
    progress(`(m) warming up ${WARM_UP_SECONDS} s`);
    await loadAll([server], WARM_UP_SECONDS);
  }
  const perCore = new Map<number, number>();
  for (const count of COUNTS) {
    const targets = servers.slice(0, count);
    const before = await cpuSeconds(servers);
    let isOver = false;
    const waits = sampleLockWaits(() => isOver);
    const results = await loadAll(targets, SECONDS);
    isOver = true;
    const lockShare = await waits;
    const used = (await cpuSeconds(servers)) - before;
    if (results.some(({ failed }) => failed > 0)) throw new Error('Some responses were not 200.');
    const answered = results.reduce((sum, result) => sum + result.answered, 0);
    const slowest = (name: 'p50' | 'p99'): number => Math.max(...results.map((result) => result[name]));
    perCore.set(count, answered / used);
    rows.push({
      name: `(m) SALE, processes: ${count}, lock waits: ${(100 * lockShare).toFixed(1)} %`,
      perSecond: results.reduce((sum, result) => sum + result.perSecond, 0),
      p50: slowest('p50'),
      p99: slowest('p99'),
      perCore: answered / used,
    });
  }
  for (const server of servers) await server.stop();
  return (perCore.get(Math.max(...COUNTS)) as number) / (perCore.get(1) as number);
}
