/** Folds the rows of the logs into projections, portion by portion, and resets them to be built again. */
import type pg from 'pg';
import { FIRST_ID, LAST_ID, timeOfId } from '../../lib/crypto/id.ts';
import { higher, lower } from '../../lib/money/decimal.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Database } from '../database/database.ts';
import { inTransaction } from '../database/transaction.ts';
import { awaitWriters } from '../database/writers.ts';
import {
  between,
  former,
  LAST_NUMBERS,
  type Numbers,
  type Progress,
  type ProgressRow,
  progressOf,
} from './portions.ts';
import { type Client, DROPPED_LOGS, LOGS, type Log, type Projection } from './projection.ts';

export interface Folded {
  /** Whether there may be more to fold; false while another process folds into the projection. */
  hasMore: boolean;
  /** Whether this portion finished a backfill. */
  isBuilt: boolean;
}

export interface ProjectionStatus {
  name: string;
  position: Numbers;
  /** The rows that are written and not folded, without those of a backfill; numbers that were taken in vain count. */
  rowsBehind: bigint;
  /** The age of the oldest of them. */
  secondsBehind: number;
  /** The part of a backfill that is done, by the time of the payments; null when there is none. */
  backfilled: number | null;
}

export interface ProjectionStore {
  /** The numbers up to which no row can become visible any more; undefined while a writer takes long. */
  settled(): Promise<Numbers | undefined>;
  /** Folds the next portion of the rows up to these numbers, and one of a backfill. */
  fold(projection: Projection, settled: Numbers): Promise<Folded>;
  /** Removes what is contained, and has it built again; false while the first build of what cannot be repeated runs. */
  rebuild(projection: Projection): Promise<boolean>;
  /** In the order of the list; those that were never folded are left out. */
  statuses(projections: readonly Projection[]): Promise<ProjectionStatus[]>;
}

// The planner must not read whole tables because its statistics are old; compiling takes longer than it saves; and a
// portion is sorted and grouped in memory.
const BEGIN = `begin; set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off;
  set local jit = off; set local work_mem = '32MB'`;

/** The commit does not wait for the disk: a portion that a crash of the database loses is folded again. */
const BEGIN_FOLD = `${BEGIN}; set local synchronous_commit = off`;

const LOCK = 'select * from projections where name = $1 for update';

/** The longest time of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** A client whose statements take as long as they need: PostgreSQL does not cancel them, and the driver goes on waiting. */
const patient = (client: Client): Client => ({
  query: ((text: string, values?: unknown[]) =>
    client.query({ text, values, query_timeout: LONGEST_MS } as pg.QueryConfig)) as Client['query'],
});

/** The first payment of a portion of a backfill; none if fewer payments are left. */
const PORTION_START =
  'select payment_id from payments where payment_id < $1 order by payment_id desc offset $2 limit 1';

const eachLog = <Value>(value: (log: Log) => Value): Record<Log, Value> =>
  Object.fromEntries(LOGS.map((log) => [log, value(log)])) as Record<Log, Value>;

export function createProjectionStore({ pool }: Database): ProjectionStore {
  const settled = async (): Promise<Numbers | undefined> => {
    const { rows } = await pool.query<Numbers>(`select ${LAST_NUMBERS}`);
    // A writer that has taken one of these numbers holds its lock already.
    const areWritten = await Promise.all(LOGS.map((log) => awaitWriters(pool, log, LIMITS.projectionWaitMs)));
    return areWritten.every(Boolean) ? rows[0] : undefined;
  };

  return {
    settled,
    fold: (projection, upTo) =>
      inTransaction(pool, BEGIN_FOLD, async (client) => {
        const { name, logs } = projection;
        const { rows } = await client.query<ProgressRow>(`${LOCK} skip locked`, [name]);
        if (rows[0]) return foldPortion(client, projection, progressOf(rows[0]), upTo);
        // The projection is new, or another process has its lock.
        const created = await client.query(
          `insert into projections (name, backfill_before, backfill_started_at, ${LOGS.map((log) => `${log}_number, ${log}_since`).join(', ')})
           values ($1, $2, now(), ${LOGS.map((log) => `${upTo[log]}, ${logs.includes(log) ? upTo[log] : null}`).join(', ')})
           on conflict do nothing`,
          [name, LAST_ID],
        );
        return { hasMore: created.rowCount === 1, isBuilt: false };
      }),

    async rebuild(projection) {
      const upTo = await settled();
      if (!upTo) throw new Error('A transaction that writes a log takes too long.');
      return inTransaction(pool, `${BEGIN}; set local statement_timeout = 0`, async (client) => {
        const { name, logs } = projection;
        const { rows } = await client.query<ProgressRow>(LOCK, [name]);
        const progress = rows[0] && progressOf(rows[0]);
        // Nothing was folded yet.
        if (!progress) return true;
        const keeps = (log: Log): boolean => DROPPED_LOGS.includes(log);
        const isFirst = logs.some((log) => keeps(log) && progress.since[log] !== null);
        if (progress.backfillBefore !== null && isFirst) return false;
        await projection.reset(patient(client));
        await client.query(
          `update projections set backfill_before = $2, backfill_started_at = now(),
             ${LOGS.map((log) => (keeps(log) ? `${log}_since = null` : `${log}_number = ${upTo[log]}, ${log}_since = ${upTo[log]}`)).join(', ')}
           where name = $1`,
          [name, LAST_ID],
        );
        return true;
      });
    },

    async statuses(projections) {
      const { rows } = await pool.query<ProgressRow & { name: string; startedAt: number | null }>(
        `select p.*, p.backfill_started_at as "startedAt" from projections p`,
      );
      const last = (await pool.query<Numbers>(`select ${LAST_NUMBERS}`)).rows[0] as Numbers;
      const oldest = (await pool.query<{ id: string }>('select payment_id as id from payments order by 1 limit 1'))
        .rows;
      const from = timeOfId(oldest[0]?.id ?? LAST_ID);
      return Promise.all(
        projections.flatMap((projection) => {
          const row = rows.find(({ name }) => name === projection.name);
          if (!row) return [];
          const { position, backfillBefore } = progressOf(row);
          const behind = projection.logs.map((log) => higher(last[log] - position[log], 0n));
          const until = row.startedAt ?? from;
          const done = until - timeOfId(backfillBefore ?? FIRST_ID);
          const status = {
            name: projection.name,
            position,
            rowsBehind: behind.reduce((sum, rows) => sum + rows, 0n),
            backfilled: backfillBefore === null ? null : Math.min(1, Math.max(0, done / Math.max(1, until - from))),
          };
          return [secondsBehind(pool, projection, position).then((seconds) => ({ ...status, secondsBehind: seconds }))];
        }),
      );
    },
  };
}

/**
 * Folds new rows, and former ones. The position is written in the same transaction; another process may have passed the
 * numbers since they were read.
 */
async function foldPortion(
  client: Client,
  projection: Projection,
  progress: Progress,
  settled: Numbers,
): Promise<Folded> {
  const { position, since, backfillBefore } = progress;
  const { name, logs, portion } = projection;
  const most = BigInt(portion.rows);
  const next = eachLog((log) =>
    logs.includes(log) ? higher(position[log], lower(settled[log], position[log] + most)) : position[log],
  );
  const hasNew = LOGS.some((log) => next[log] > position[log]);
  if (hasNew) await projection.fold(client, between(position, next));
  let start: string | null = null;
  if (backfillBefore !== null) {
    const { rows } = await client.query<{ payment_id: string }>(PORTION_START, [backfillBefore, portion.payments - 1]);
    start = rows[0]?.payment_id ?? null;
    await projection.fold(client, former(since, start ?? FIRST_ID, backfillBefore));
  }
  const moved = [...LOGS.map((log) => `${log}_number = ${next[log]}`), 'backfill_before = $2'].join(', ');
  if (hasNew || backfillBefore !== null) {
    await client.query(`update projections set ${moved} where name = $1`, [name, start]);
  }
  const isTending = (await projection.tend?.(client)) ?? false;
  return {
    hasMore: isTending || start !== null || logs.some((log) => next[log] < settled[log]),
    isBuilt: backfillBefore !== null && start === null,
  };
}

/** The age of the oldest rows that are not folded, by the clocks of their accounts. */
async function secondsBehind(pool: pg.Pool, { logs }: Projection, position: Numbers): Promise<number> {
  const oldest = logs.map(
    (log) => `select l.at - interval '1 ms' * (
        select coalesce(sum(o.offset_ms), 0) from clock_offsets o where o.mid is null or o.mid = l.mid) as at
      from ${log} l where l.number > ${position[log]} and l.number <= ${position[log] + BigInt(LIMITS.projectionLagRows)}`,
  );
  const { rows } = await pool.query<{ seconds: number }>(
    `select greatest(0, extract(epoch from now() - min(at)))::float8 as seconds from (${oldest.join(' union all ')}) pending`,
  );
  return rows[0]?.seconds ?? 0;
}
