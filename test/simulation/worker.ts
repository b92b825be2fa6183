/** A thread of a simulation: runs the seeds that it is given on its own database, in virtual time. */
import './limits.ts';
import { parentPort, workerData } from 'node:worker_threads';
import type { Connection } from '../../src/store/database/database.ts';
import { verify } from '../../src/store/installation/verify.ts';
import { type Installation, openInstallation } from './installation.ts';
import { foldLedger } from './ledger.ts';
import { type RunResult, simulate } from './run.ts';
import { installVirtualTime } from './virtual-time.ts';

/** The seeds that a thread runs at a time. */
export interface Portion {
  from: number;
  count: number;
}

export interface Report extends Portion {
  /** A digest of each seed's trace, in order. */
  digests: string[];
  /** The steps of the last seed. */
  trace: readonly string[];
  failure?: RunResult;
}

/** What the product itself checks; it takes longer than a run. */
async function violations({ database }: Installation): Promise<string[]> {
  await foldLedger(database);
  return (await verify(database.outside)).violations;
}

/** Runs a seed alone on an empty database, so that a repeat of it finds the same. */
async function runAlone(seed: number, installation: Installation): Promise<RunResult> {
  await installation.database.clear();
  const result = await simulate(seed, installation);
  return { ...result, wrong: [...result.wrong, ...(await violations(installation))] };
}

async function findFailure({ from, count }: Portion, installation: Installation): Promise<RunResult | undefined> {
  for (let seed = from; seed < from + count; seed++) {
    const result = await runAlone(seed, installation);
    if (result.wrong.length > 0) return result;
  }
  return undefined;
}

async function run(portion: Portion, installation: Installation): Promise<Report> {
  const { from, count } = portion;
  const digests: string[] = [];
  let trace: readonly string[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const result = await simulate(seed, installation);
    digests.push(result.digest);
    trace = result.trace;
    if (result.wrong.length === 0) continue;
    const again = await runAlone(seed, installation);
    return { ...portion, digests, trace, failure: again.wrong.length > 0 ? again : result };
  }
  const wrong = await violations(installation);
  const failure = wrong.length > 0 ? await findFailure(portion, installation) : undefined;
  await installation.database.clear();
  if (wrong.length > 0 && !failure) throw new Error(`No seed from ${from} on explains this alone: ${wrong.join(' ')}`);
  return { ...portion, digests, trace, ...(failure && { failure }) };
}

const installation = await openInstallation(workerData as Connection);
installVirtualTime();
parentPort?.on('message', async (portion: Portion | null) => {
  if (portion) parentPort?.postMessage(await run(portion, installation));
  else {
    await installation.database.close();
    parentPort?.close();
  }
});
