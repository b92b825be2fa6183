/** `npm run upgrade -- --from REV`: a rolling upgrade from an earlier commit; with `--payments N`, the migrations of a large database. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../chaos/program.ts';
import { type Checkout, checkOut } from './checkout.ts';
import { generateDatabase, measureMigrations } from './large.ts';
import { runUpgrade } from './run.ts';

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    seconds: { type: 'string', default: '15' },
    seed: { type: 'string', default: '1' },
    payments: { type: 'string' },
    folder: { type: 'string' },
  },
});
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
const { from } = values;
if (from === undefined || !(seconds > 0) || !Number.isInteger(seed)) {
  say('Usage: npm run upgrade -- --from REV [--to REV] [--seconds N] [--seed N] [--payments N] [--folder PATH]');
  process.exit(2);
}
const checkouts: Checkout[] = [];
const rootOf = async (revision: string): Promise<string> => {
  say(`Checking out ${revision}.`);
  const checkout = await checkOut(revision);
  checkouts.push(checkout);
  return checkout.root;
};
try {
  const oldRoot = await rootOf(from);
  const newRoot = values.to === undefined ? ROOT : await rootOf(values.to);
  if (values.payments !== undefined || values.folder !== undefined) {
    const folder = values.folder ?? join(tmpdir(), `turnpike-upgrade-${values.payments}-payments`);
    if (values.payments !== undefined) await generateDatabase(folder, Number(values.payments), oldRoot);
    const rows = await measureMigrations({ folder, oldRoot, newRoot, say });
    for (const { name, seconds, sales, failed, longestMs } of rows) {
      console.log(`${name}: ${seconds.toFixed(1)} s, ${sales} sales, ${failed} failed, longest ${longestMs} ms`);
    }
    process.exitCode = rows.some(({ failed }) => failed > 0) ? 1 : 0;
  } else {
    const report = await runUpgrade({ oldRoot, newRoot, seconds, seed, say });
    const { payments, settled, movements, callbacks, requests, responses, violations } = report;
    console.log(`Requests: ${JSON.stringify(requests)}`);
    for (const [name, count] of Object.entries(responses)) console.log(`  ${name}: ${count}`);
    console.log(
      `${payments} payments (${settled} settled), ${movements} movements at the provider, ${callbacks} callbacks.`,
    );
    for (const violation of violations.slice(0, 50)) console.log(`WRONG: ${violation}`);
    console.log(violations.length === 0 ? 'All sides agree.' : `${violations.length} disagreements.`);
    process.exitCode = violations.length === 0 ? 0 : 1;
  }
} finally {
  for (const { remove } of checkouts) await remove();
}
