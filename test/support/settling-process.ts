/** A process that settles all the time, until it is killed: `node settling-process.ts '{"connection": …, "masterKey": …}'`. */
import { flushCompileCache } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { readClock } from '../../src/core/installation/catch-up.ts';
import { processDueSettlements } from '../../src/core/settlements/due.ts';
import { createLog } from '../../src/lib/text/log.ts';
import { openGateway } from '../../src/server/gateway.ts';

const { connection, masterKey } = JSON.parse(process.argv[2] as string);
const log = createLog('warn', process.stderr);
const { gateway } = await openGateway({ connection, masterKey, environment: 'sandbox', log, provider: undefined });
process.stdout.write('started\n');
// A process that is killed does not write it at its end.
flushCompileCache();
for (;;) {
  await readClock(gateway);
  await processDueSettlements(gateway, () => false);
  await pause(10);
}
