/** `npm run failover -- --rounds N --seed N`: fails over a PostgreSQL cluster under load; exits with 1 if anything is lost. */
import { parseArgs } from 'node:util';
import { missingPackages } from './cluster.ts';
import { runFailover } from './run.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '3' },
    direct: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const seed = Number(values.seed);
const rounds = Number(values.rounds);
const refusal =
  !Number.isInteger(seed) || seed < 0 || !Number.isInteger(rounds) || rounds < 1
    ? 'Usage: npm run failover -- [--rounds N] [--seed N] [--direct] [--json]'
    : missingPackages();
if (refusal) {
  say(refusal);
  process.exit(2);
}
// The cluster and the gateway are killed when this process exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const report = await runFailover({ seed, rounds, isDirect: values.direct, say });
if (values.json) console.log(JSON.stringify({ seed, ...report }, null, 2));
else {
  const row = (...cells: (string | number)[]): void =>
    console.log(
      cells.map((cell, index) => String(cell)[index === 1 ? 'padEnd' : 'padStart'](index === 1 ? 17 : 11)).join('  '),
    );
  row('round', 'fault', 'no sale (s)', 'success', 'refused', '503', 'no answer');
  for (const [index, { fault, outageSeconds, answers }] of report.rounds.entries()) {
    const { answered, refused, unavailable, unknown } = answers;
    row(index + 1, fault, outageSeconds.toFixed(1), answered, refused, unavailable, unknown);
  }
  const { payments, settled, movements, callbacks, attention, violations } = report;
  console.log(
    `${payments} payments (${settled} settled), ${movements} movements at the provider, ${callbacks} callbacks.`,
  );
  if (Object.keys(attention).length > 0) console.log(`For an operator to decide: ${JSON.stringify(attention)}`);
  for (const violation of violations.slice(0, 50)) console.log(`WRONG: ${violation}`);
  console.log(
    violations.length === 0
      ? 'Nothing acknowledged is lost; all sides agree.'
      : `${violations.length} disagreements; the logs are in ${report.folder}.`,
  );
}
process.exitCode = report.violations.length === 0 ? 0 : 1;
