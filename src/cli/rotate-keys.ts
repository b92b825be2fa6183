/** The command `rotate-keys`: while gateways run with both keys, or with the gateway stopped if the key is in a file. */

import { type Progress, rotateKeys } from '../core/installation/rotation.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import { createLog } from '../lib/text/log.ts';
import { boot } from '../server/boot.ts';
import { readConfig } from '../server/config.ts';
import { dropOldKeys, withNewKey } from '../server/master-key.ts';
import { openRotationStore } from '../store/installation/rotation.ts';
import type { Call } from './command.ts';
import type { Output } from './output.ts';

export async function rotate({ environment, output }: Call): Promise<undefined> {
  const config = readConfig(environment);
  // A gateway with its key in the file would not notice a new key, so it must be stopped.
  const isFile = config.masterKey === '';
  if (isFile ? config.databaseUrl !== '' : !config.masterKey.includes(',')) {
    throw new StartupError(
      'Set TURNPIKE_MASTER_KEY to the new key, a comma and the old key, here and for every gateway: openssl rand -base64 32 generates a key.',
    );
  }
  const installation = await boot(config, {
    log: createLog('warn', process.stderr),
    say: () => undefined,
    isGateway: false,
    ...(isFile && { isAlone: true, readKeys: withNewKey }),
  });
  try {
    const rows = openRotationStore(installation.connection);
    const progress = showProgress(output);
    const { cards, secrets } = await rotateKeys(installation.gateway, rows, progress).finally(() => rows.close());
    const rest = isFile ? 'The old key was dropped.' : 'TURNPIKE_MASTER_KEY can be the new key alone from now on.';
    if (isFile) await dropOldKeys(config.dataDir);
    output.result(
      { cards, secrets },
      `Everything is under the new key: ${cards} cards, ${secrets} other secrets. ${rest}`,
    );
  } finally {
    await installation.close();
  }
}

/** Each part ends with a line of its own. */
function showProgress(output: Output): (progress: Progress) => void {
  let part: Progress['part'] | undefined;
  let startedAt = 0;
  return (progress) => {
    const now = performance.now();
    if (progress.part !== part) [part, startedAt] = [progress.part, now];
    output.progress(progressLine(progress, (now - startedAt) / 1000), progress.done === progress.total);
  };
}

function progressLine({ part, done, total }: Progress, seconds: number): string {
  const perSecond = seconds > 0 ? done / seconds : 0;
  const remaining = perSecond > 0 ? `${Math.ceil((total - done) / perSecond)} s remaining` : 'starting';
  return `${part}: ${done} of ${total}, ${Math.round(perSecond)} per second, ${remaining}`;
}
