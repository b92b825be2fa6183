/** Measures what each projection costs for a sale, folded in portions as the work loop takes them at a steady rate. */
import { openDatabase } from '../src/store/database/database.ts';
import { PROJECTIONS } from '../src/store/projections/all.ts';
import { createProjectionStore } from '../src/store/projections/projections.ts';
import { foldAll } from './fold-all.ts';
import { connection, measure, median, newMerchant, progress, SECONDS, saleForm, startServer, wal } from './harness.ts';
import { postgresCpu } from './postgres-cpu.ts';
import { printTable } from './table.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
/** The rows that 1,000 sales write in a second. */
const PORTION_ROWS = Number(process.env.BENCH_PORTION_ROWS ?? 2000);

interface Cost {
  postgres: number;
  node: number;
}

/** Prints the CPU time for a sale of each projection: the medians of several rounds, each of which folds new sales. */
export async function measureFolds(): Promise<void> {
  const server = await startServer('requests');
  const merchant = await newMerchant(server.url as URL);
  const database = openDatabase(connection, () => undefined);
  const store = createProjectionStore(database);
  const inPortions = PROJECTIONS.map((each) => ({ ...each, portion: { ...each.portion, rows: PORTION_ROWS } }));
  for (const projection of inPortions) await foldAll(store, projection);
  const costs = new Map(inPortions.map(({ name }): [string, Cost[]] => [name, []]));
  for (let round = 1; round <= ROUNDS; round++) {
    const { perSecond } = await measure(`sales, round ${round}`, server, () => saleForm(merchant), { warmUp: 0 });
    const sales = perSecond * SECONDS;
    for (const projection of inPortions) {
      const before = { own: process.cpuUsage(), postgres: (await postgresCpu(wal)).all };
      await foldAll(store, projection);
      const { user, system } = process.cpuUsage(before.own);
      const postgres = ((await postgresCpu(wal)).all - before.postgres) * 1e6;
      const cost = { postgres: postgres / sales, node: (user + system) / sales };
      costs.get(projection.name)?.push(cost);
      progress(
        `${projection.name}: ${cost.postgres.toFixed(1)} µs in PostgreSQL, ${cost.node.toFixed(1)} µs in Node.js`,
      );
    }
  }
  await server.stop();
  await database.close();
  const medianOf = (all: readonly Cost[], side: keyof Cost): string => median(all.map((cost) => cost[side])).toFixed(1);
  printTable(
    ['folding a sale', 'PostgreSQL µs', 'Node.js µs'],
    [...costs].map(([name, all]) => [name, medianOf(all, 'postgres'), medianOf(all, 'node')]),
  );
}
