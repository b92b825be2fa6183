/** `npm run simulate -- [count] [--from N] [--seed N]`: 100,000 seeds unless a count is given, or one with its steps. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { progressOf } from '../fuzz/progress.ts';
import startServer, { type ServerConnection, TEMPLATE } from '../support/database.ts';
import { describeFailure, runSeeds } from './seeds.ts';

const COUNT = 100_000;

function readNumbers(): { from: number; count: number } | undefined {
  const options = { from: { type: 'string' }, seed: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const [given] = positionals;
  const isOne = values.seed !== undefined;
  const from = Number(values.seed ?? values.from ?? 1);
  const count = isOne ? 1 : Number(given ?? COUNT);
  const isValid = [from, count].every((number) => Number.isSafeInteger(number) && number >= 0);
  return isValid && count > 0 && positionals.length <= 1 ? { from, count } : undefined;
}

async function run({ from, count }: { from: number; count: number }): Promise<number> {
  const { promise: started, resolve: provide } = Promise.withResolvers<ServerConnection>();
  let isStopped = false;
  const stop = await startServer({ provide: (_, connection) => provide(connection) });
  const server = await started;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isStopped = true));
  const threads = availableParallelism();
  let position = from;
  const show = progressOf(count, 'seeds', () => `all before ${position} hold`);
  console.log(`${count} seeds from ${from}, ${threads} threads`);
  try {
    const results = await runSeeds({
      ...{ server, template: TEMPLATE, from, count, threads },
      isStopped: () => isStopped,
      onProgress(done, reached) {
        position = reached;
        show(done);
      },
    });
    for (const failure of results.failures) console.error(`\n${describeFailure(failure)}`);
    if (count === 1) console.log(results.trace.join('\n'));
    if (results.position < from + count && count > 1)
      console.log(`To go on: npm run simulate -- ${from + count - results.position} --from ${results.position}`);
    return results.failures.length > 0 ? 1 : isStopped ? 130 : 0;
  } finally {
    await stop();
  }
}

const numbers = readNumbers();
if (numbers) process.exitCode = await run(numbers);
else {
  console.error('Usage: npm run simulate -- [count] [--from N] [--seed N]');
  process.exitCode = 2;
}
