/** `npm run chaos -- --seed N --minutes M`: a chaos run with real processes; exits with code 1 if anything disagrees. */
import { parseArgs } from 'node:util';
import { runChaos } from './run.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    minutes: { type: 'string', default: '3' },
    fault: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
  },
});
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const seed = Number(values.seed);
const seconds = Number(values.minutes) * 60;
if (!Number.isInteger(seed) || !(seconds > 0)) {
  say('Usage: npm run chaos -- [--seed N] [--minutes M] [--fault "name"] [--json]');
  process.exit(2);
}
say(`Seed ${seed}, ${values.minutes} minutes of faults.`);
const report = await runChaos({ seed, seconds, say, ...(values.fault && { faults: values.fault }) });
if (values.json) console.log(JSON.stringify({ seed, ...report }, null, 2));
else {
  const { payments, settled, movements, callbacks, attention, faults, requests, starts, violations } = report;
  console.log(`${faults.length} faults; starts: ${JSON.stringify(starts)}`);
  console.log(`Requests: ${JSON.stringify(requests)}`);
  console.log(
    `${payments} payments (${settled} settled), ${movements} movements at the provider, ${callbacks} callbacks.`,
  );
  if (Object.keys(attention).length > 0) console.log(`For an operator to decide: ${JSON.stringify(attention)}`);
  for (const violation of violations.slice(0, 50)) console.log(`WRONG: ${violation}`);
  console.log(violations.length === 0 ? 'All sides agree.' : `${violations.length} disagreements; seed ${seed}.`);
}
process.exitCode = report.violations.length === 0 ? 0 : 1;
