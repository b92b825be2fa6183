/** Compares the CPU time per sale of this checkout with that of another one, `BENCH_AGAINST`, in alternating rounds. */
import { join } from 'node:path';
import { type Measured, measure, newMerchant, progress, saleForm, startServer } from './harness.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

/**
 * Returns the ratio of the other checkout's CPU time per sale to this one's: the median of the rounds, because other
 * programs on the machine change the time of both.
 */
export async function compareCheckouts(): Promise<number> {
  const other = process.env.BENCH_AGAINST;
  if (other === undefined) throw new Error('Set BENCH_AGAINST to the folder of another checkout with the same schema.');
  const start = async (program?: string): Promise<Measured> => {
    const server = await startServer('gateway', {}, {}, program);
    return { server, merchant: await newMerchant(server.url as URL) };
  };
  const sides = [
    { name: 'there', ...(await start(join(other, 'bench/server.ts'))), micros: [] as number[] },
    { name: 'here', ...(await start()), micros: [] as number[] },
  ];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, server, merchant, micros } of sides) {
      // The first round warms up, because the JIT compilers need some time.
      const options = round === 0 ? {} : { warmUp: 0 };
      const { perCore } = await measure(`${name}, round ${round}`, server, () => saleForm(merchant), options);
      if (round > 0) micros.push(1e6 / (perCore as number));
    }
  }
  for (const { name, server, micros } of sides) {
    const all = micros.map(Math.round);
    progress(`${name}: ${all.join(', ')} µs of CPU per sale, median ${median(all)}, least ${Math.min(...all)}`);
    await server.stop();
  }
  const [there, here] = sides.map(({ micros }) => micros) as [number[], number[]];
  return median(there.map((micros, round) => micros / (here[round] as number)));
}
