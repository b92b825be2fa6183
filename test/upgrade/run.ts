/** A rolling upgrade between two real versions: shops buy while the database is migrated and processes are replaced. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startDatabase } from '../chaos/database.ts';
import { judge, type Verdict } from '../chaos/judge.ts';
import { startMerchantServer } from '../chaos/merchant-server.ts';
import { comeToRest, openShops, SHOPS } from '../chaos/run.ts';
import { newRecords } from '../chaos/shop.ts';
import { setStage, untilReady } from '../chaos/stage.ts';
import { watchResponses } from './responses.ts';

const execute = promisify(execFile);

export interface UpgradeOptions {
  /** The checkouts of both versions. */
  oldRoot: string;
  newRoot: string;
  /** How long each phase lasts. */
  seconds: number;
  seed: number;
  say: (line: string) => void;
}

export interface UpgradeReport extends Verdict {
  requests: Record<string, number>;
  /** Responses by phase and status. */
  responses: Record<string, number>;
  folder: string;
}

export async function runUpgrade({ oldRoot, newRoot, seconds, seed, say }: UpgradeOptions): Promise<UpgradeReport> {
  const stage = await setStage('upgrade', startDatabase, oldRoot);
  const merchant = await startMerchantServer();
  const watcher = watchResponses(stage.url);
  try {
    await untilReady(stage);
    say(`Logs: ${stage.folder}`);
    const records = newRecords();
    const shops = await openShops(stage, merchant, records, { seed, count: SHOPS });
    const old = [...stage.gateways];
    const closing = new AbortController();
    const buying = shops.map((shop) => shop.run(closing.signal));
    const phase = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      watcher.enter(name);
      const started = performance.now();
      await work();
      say(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
    };
    await phase('the old version serves', () => pause(seconds * 1000));
    await phase('the new version migrates while the old one serves', async () => {
      const { PATH = '' } = process.env;
      const env = { ...stage.variables, PATH };
      const { stdout } = await execute(process.execPath, [join(newRoot, 'src/cli/main.ts'), 'migrate'], { env });
      say(stdout.trim());
    });
    await phase('the old version serves with the new schema', () => pause(seconds * 1000));
    await phase('the new version starts beside the old one', async () => {
      const urls = await stage.addGateways('new-', newRoot);
      await Promise.all(urls.map((url) => untilReady({ url })));
    });
    await phase('both versions serve', () => pause(seconds * 1000));
    await phase('the old version stops', async () => {
      for (const program of old) await program.stop();
    });
    await phase('the new version serves', () => pause(seconds * 1000));
    closing.abort();
    await Promise.all(buying);
    say(`The shops are closed: ${records.payments.size} payments known. Waiting until nothing is left to do.`);
    await comeToRest(stage, records, say);
    const verdict = await judge(stage, records, merchant);
    return {
      ...verdict,
      violations: [...watcher.failures, ...verdict.violations],
      requests: Object.fromEntries([...records.counts].toSorted()),
      responses: watcher.counts(),
      folder: stage.folder,
    };
  } finally {
    watcher.stop();
    await stage.close();
    await merchant.close();
  }
}
