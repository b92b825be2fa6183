/** Keeps the logs in partitions: adds those of the time to come, and archives and drops those that are old enough. */
import { join } from 'node:path';
import { firstIdAt, timeOfId } from '../../lib/crypto/id.ts';
import { writeArchive } from '../../lib/files/archive-file.ts';
import { utcDay } from '../../lib/time/day.ts';
import { LIMITS } from '../../rules/limits.ts';
import { DAILY_MOST, type DroppedLog, LOGS, type PartitionedLog } from '../../rules/partitions.ts';
import type { Partition, PartitionTools } from '../../store/installation/partitions.ts';
import type { Gateway } from '../context.ts';

type PartitionedGateway = Pick<Gateway, 'archiveFolder' | 'clock' | 'log' | 'metrics' | 'partitions' | 'retention'>;

/** The end of the day or the month that contains this moment, in UTC. */
function periodEnd(ms: number, isDaily: boolean): number {
  const date = new Date(ms);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return isDaily ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
}

async function addAhead(gateway: PartitionedGateway, tools: PartitionTools, log: PartitionedLog): Promise<void> {
  const { table, setting, aheadDays } = log;
  const keptDays = setting ? gateway.retention[setting] : 0;
  const partitions = await tools.list(table);
  const last = partitions.at(-1) as Partition;
  const now = gateway.clock.real();
  // No rows come for the days on which no process ran, unless they belong to payments.
  const first = log.getsLateRows ? 0 : periodEnd(now - 2 * LIMITS.dayMs, true);
  const until = now + aheadDays * LIMITS.dayMs;
  for (let from = Math.max(first, timeOfId(last.to)); from <= until; ) {
    const to = periodEnd(from, keptDays > 0 && keptDays <= DAILY_MOST);
    const name = `${table}_${utcDay(from).replaceAll('-', '')}`;
    await tools.add(table, { name, from: firstIdAt(from), to: firstIdAt(to) });
    from = to;
  }
  // A process that detached a partition was stopped before it replaced it.
  for (const [index, { from }] of partitions.entries()) {
    const before = partitions[index - 1];
    const isMissing = log.getsLateRows && from !== (before?.to ?? null);
    if (isMissing && from !== null)
      await tools.add(table, { name: `${table}_before`, from: before?.to ?? null, to: from });
  }
}

/** Archives and drops a partition that is detached. */
async function dispose(
  gateway: PartitionedGateway,
  tools: PartitionTools,
  log: DroppedLog,
  name: string,
): Promise<void> {
  const { archiveFolder } = gateway;
  if (log.isArchived && archiveFolder !== undefined) {
    const path = join(archiveFolder, `${name}-${utcDay(gateway.clock.real())}.jsonl.gz`);
    await writeArchive(path, () => tools.lines(name));
    gateway.log.info({ table: log.table, path }, 'old rows were archived');
  }
  gateway.metrics.erased(log.table, await tools.drop(name));
}

/** All rows of a partition have to be old: those of the payments of a time, and those that were added to them later. */
async function dropOld(gateway: PartitionedGateway, tools: PartitionTools, log: PartitionedLog): Promise<void> {
  if (log.setting === undefined) return;
  const { table, setting, getsLateRows } = log;
  for (const name of await tools.detached(table)) await dispose(gateway, tools, log, name);
  const keptMs = gateway.retention[setting] * LIMITS.dayMs;
  if (keptMs === 0) return;
  const end = firstIdAt(gateway.clock.real() - keptMs);
  for (const partition of await tools.list(table)) {
    if (partition.to > end) return;
    const { isEmpty, hasRecent } = await tools.contents(partition.name, gateway.clock.real() - keptMs);
    if (hasRecent || (isEmpty && getsLateRows) || !(await tools.areFolded(table, partition.name))) continue;
    await tools.detach(table, partition.name);
    if (getsLateRows) await tools.add(table, partition);
    await dispose(gateway, tools, log, partition.name);
  }
}

/** Adds the partitions that are needed soon. */
export const addLogPartitions = (gateway: PartitionedGateway): Promise<void> =>
  gateway.partitions.exclusively(async (tools) => {
    for (const log of LOGS) await addAhead(gateway, tools, log);
  });

/** Adds the partitions that are needed soon, and drops old ones; what fails for one log is done for the others. */
export async function maintainLogPartitions(gateway: PartitionedGateway): Promise<void> {
  const faults: unknown[] = [];
  for (const log of LOGS) {
    const maintained = gateway.partitions.exclusively(async (tools) => {
      await addAhead(gateway, tools, log);
      await dropOld(gateway, tools, log);
    });
    await maintained.catch((error) => faults.push(error));
  }
  if (faults.length > 0) throw faults[0];
}
