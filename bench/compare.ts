/** Compares the CPU time per request of this checkout with that of another one, `BENCH_AGAINST`, in alternating rounds. */
import { join } from 'node:path';
import { pageRequests, sessionRequests } from './checkout.ts';
import { type Measured, measure, newMerchant, progress, saleForm, startServer } from './harness.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

type Requests = Pick<Parameters<typeof measure>[3] & object, 'write'> & { form: () => string };

/** What is compared: sales, or only the kinds in `BENCH_COMPARED`, such as `sessions,pages`. */
const KINDS: Readonly<Record<string, (side: Measured) => Requests | Promise<Requests>>> = {
  sales: ({ merchant }) => ({ form: () => saleForm(merchant) }),
  sessions: ({ merchant }) => sessionRequests(merchant),
  pages: ({ server, merchant }) => pageRequests(server, merchant),
};

/**
 * Returns for each kind the ratio of the other checkout's CPU time per request to this one's: the median of the rounds,
 * because other programs on the machine change the time of both.
 */
export async function compareCheckouts(): Promise<[kind: string, ratio: number][]> {
  const other = process.env.BENCH_AGAINST;
  if (other === undefined) throw new Error('Set BENCH_AGAINST to the folder of another checkout with the same schema.');
  const start = async (program?: string): Promise<Measured> => {
    const server = await startServer('gateway', {}, {}, program);
    return { server, merchant: await newMerchant(server.url as URL) };
  };
  const sides = { there: await start(join(other, 'bench/server.ts')), here: await start() };
  const ratios: [string, number][] = [];
  for (const kind of (process.env.BENCH_COMPARED ?? 'sales').split(','))
    ratios.push([kind, await compare(kind, sides)]);
  for (const { server } of Object.values(sides)) await server.stop();
  return ratios;
}

async function compare(kind: string, { there, here }: Record<'there' | 'here', Measured>): Promise<number> {
  const create = KINDS[kind];
  if (!create) throw new Error(`BENCH_COMPARED may contain ${Object.keys(KINDS).join(', ')}, not ${kind}.`);
  const sides = [
    { name: 'there', server: there.server, ...(await create(there)), micros: [] as number[] },
    { name: 'here', server: here.server, ...(await create(here)), micros: [] as number[] },
  ];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, server, form, write, micros } of sides) {
      // The first round warms up, because the JIT compilers need some time.
      const options = { ...(write && { write }), ...(round > 0 && { warmUp: 0 }) };
      const { perCore } = await measure(`${kind} ${name}, round ${round}`, server, form, options);
      if (round > 0) micros.push(1e6 / (perCore as number));
    }
  }
  for (const { name, micros } of sides) {
    const all = micros.map(Math.round);
    progress(`${kind} ${name}: ${all.join(', ')} µs of CPU, median ${median(all)}, least ${Math.min(...all)}`);
  }
  const [theirs, ours] = sides.map(({ micros }) => micros) as [number[], number[]];
  return median(theirs.map((micros, round) => micros / (ours[round] as number)));
}
