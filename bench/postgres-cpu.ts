/** The CPU time that a PostgreSQL server has used, with all its processes; on Linux only. */
import { readFile } from 'node:fs/promises';
import type pg from 'pg';

export interface PostgresCpu {
  /** Seconds of all processes, those that have ended included. */
  all: number;
  /** Seconds of each process that serves a connection, by its id, except that of the given client. */
  backends: Map<number, number>;
}

/** The kernel counts the time of processes that have ended in this unit. */
const TICKS_PER_SECOND = 100;

const text = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

const cpuOf = async (pid: number): Promise<number> =>
  Number((await text(`/proc/${pid}/schedstat`)).split(' ')[0]) / 1e9;

/** The time of the children of a process that have ended. */
async function cpuOfEnded(pid: number): Promise<number> {
  // The name of the program, in parentheses, may contain spaces.
  const fields = (await text(`/proc/${pid}/stat`)).split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

export async function postgresCpu(client: pg.Client): Promise<PostgresCpu> {
  const { rows } = await client.query<{ pid: number; is_backend: boolean }>(
    `select pid, backend_type = 'client backend' as is_backend from pg_stat_activity where pid <> pg_backend_pid()
     union all select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int, false`,
  );
  const times = await Promise.all(rows.map(async (row) => ({ ...row, seconds: await cpuOf(row.pid) })));
  const server = rows.at(-1)?.pid as number;
  return {
    all: times.reduce((sum, { seconds }) => sum + seconds, await cpuOfEnded(server)),
    backends: new Map(times.filter((time) => time.is_backend).map(({ pid, seconds }) => [pid, seconds])),
  };
}

/** The seconds that the connections used which are still open. */
export const backendsUsed = (before: PostgresCpu, after: PostgresCpu): number =>
  [...after.backends].reduce((sum, [pid, seconds]) => sum + seconds - (before.backends.get(pid) ?? 0), 0);
