/** `npm run flood`: hostile clients at a gateway; prints its memory and the slowest health check meanwhile. */
import { parseArgs } from 'node:util';
import { LOADS, type Load, sendSlowly } from './clients.ts';
import { measureFlood, openSite } from './run.ts';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '20' },
    bytes: { type: 'string', default: '2000000' },
    seconds: { type: 'string', default: '20' },
    load: { type: 'string', multiple: true, default: Object.keys(LOADS) },
    processes: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
    slow: { type: 'string', default: '0' },
    root: { type: 'string' },
  },
});
const [connections, bytes, seconds, processes, workers, slow] = (
  ['connections', 'bytes', 'seconds', 'processes', 'workers', 'slow'] as const
).map((name) => Number(values[name])) as [number, number, number, number, number, number];
if (
  values.load.some((load) => !(load in LOADS)) ||
  ![connections, bytes, seconds, processes, workers].every((n) => n > 0)
) {
  process.stderr.write(
    `Usage: npm run flood -- [--load ${Object.keys(LOADS).join('|')}] [--connections N] [--bytes N] [--seconds N]\n` +
      '         [--processes N] [--workers N] [--slow N] [--root CHECKOUT]\n',
  );
  process.exit(2);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const row = (...cells: (string | number)[]): void =>
  console.log(cells.map((cell, index) => String(cell)[index < 2 ? 'padEnd' : 'padStart'](10)).join('  '));
const megabytes = (size: number): string => `${Math.round(size / 1e6)} MB`;

row('load', 'responses', 'before', 'most', 'health', 'checks', 'sent', 'answered', 'seconds');
let isWell = true;
for (const load of values.load as Load[]) {
  for (const reads of [true, false]) {
    const site = await openSite({ processes, workers, ...(values.root !== undefined && { root: values.root }) });
    const slowly = slow > 0 ? sendSlowly(site.ports.at(-1) as number, slow) : undefined;
    const {
      before,
      most,
      healthMs,
      checks,
      sent,
      answered,
      seconds: took,
    } = await measureFlood(site, {
      load,
      connections,
      bytes,
      reads,
      seconds,
    });
    const health = `${(healthMs / 1000).toFixed(2)} s`;
    row(
      load,
      reads ? 'read' : 'unread',
      megabytes(before),
      megabytes(most),
      health,
      checks,
      sent,
      answered,
      took.toFixed(1),
    );
    for (const [name, after] of Object.entries((await slowly) ?? {}))
      console.log(`${name}: closed after ${Math.round(after)} s`);
    const crashes = site.crashes();
    for (const crash of crashes) console.log(crash);
    if (crashes.length > 0) isWell = false;
    await site.close();
  }
}
process.exitCode = isWell ? 0 : 1;
