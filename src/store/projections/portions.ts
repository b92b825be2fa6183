/** How far a projection is, and the rows of the logs that it contains, that are next, or that are still missing. */
import { LOGS, type Log, type Portion } from './projection.ts';

/** A number in each log. */
export type Numbers = Readonly<Record<Log, bigint>>;

/** SQL: the last number of each sequence, in a column with the name of the log; one that was never used shows its first. */
export const LAST_NUMBERS = LOGS.map(
  (log) => `(select case when is_called then last_value else 0 end from ${log}_number) as ${log}`,
).join(', ');

export interface Progress {
  /** Rows up to these numbers are contained, if they are above `since`. */
  position: Numbers;
  /** Rows up to these numbers are taken by payment; null: the log has none to take. */
  since: Readonly<Record<Log, bigint | null>>;
  /** Former rows of payments before this one are not contained yet; null: all are. */
  backfillBefore: string | null;
}

export interface ProgressRow {
  history_number: bigint;
  callback_attempts_number: bigint;
  history_since: bigint | null;
  callback_attempts_since: bigint | null;
  backfill_before: string | null;
}

export const progressOf = (row: ProgressRow): Progress => ({
  position: { history: row.history_number, callback_attempts: row.callback_attempts_number },
  since: { history: row.history_since, callback_attempts: row.callback_attempts_since },
  backfillBefore: row.backfill_before,
});

const rowsOf = (log: Log, condition: string): string => `select l.* from ${log} l where ${condition}`;

const inOrder = (condition: (log: Log) => string): Portion => {
  const history = rowsOf('history', condition('history'));
  return {
    history,
    attempts: rowsOf('callback_attempts', condition('callback_attempts')),
    payments: `select distinct mid, payment_id from (${history}) h`,
  };
};

/** The rows after the first numbers, up to the second ones. */
export const between = (after: Numbers, upTo: Numbers): Portion =>
  inOrder((log) => `l.number > ${after[log]} and l.number <= ${upTo[log]}`);

/** The portion of a projection that does not exist yet, and the tail of one that contains everything. */
export const NO_ROWS: Portion = inOrder(() => 'false');

/**
 * The rows of these logs that a reader sees and the projection does not contain, without those that a backfill still adds.
 * `last` are the last numbers that were taken when its snapshot existed already: the end of a log is not read if it is
 * contained.
 */
export function tail({ position }: Progress, last: Numbers, logs: readonly Log[]): Portion {
  const isBehind = (log: Log): boolean => logs.includes(log) && last[log] > position[log];
  if (!LOGS.some(isBehind)) return NO_ROWS;
  return inOrder((log) => (isBehind(log) ? `l.number > ${position[log]}` : 'false'));
}

/** Whether a row is taken by payment. */
const isFormer = (since: Progress['since'], log: Log): string =>
  since[log] === null ? 'false' : `(l.number is null or l.number <= ${since[log]})`;

/** The former rows of the payments from one id to another, without the last. */
export const former = (since: Progress['since'], from: string, before: string): Portion => {
  const payments = `select mid, payment_id from payments where payment_id >= '${from}' and payment_id < '${before}'`;
  const rows = (log: Log): string =>
    `select l.* from (${payments}) f join ${log} l using (mid, payment_id) where ${isFormer(since, log)}`;
  return { payments, history: rows('history'), attempts: rows('callback_attempts') };
};

/** All rows that a projection contains, as far as the log still has them. */
export const folded = ({ position, since, backfillBefore }: Progress): Portion =>
  inOrder((log) => {
    const isAdded = `l.number <= ${position[log]}`;
    if (backfillBefore === null || since[log] === null) return `(l.number is null or ${isAdded})`;
    return `(l.number > ${since[log]} and ${isAdded} or ${isFormer(since, log)} and l.payment_id >= '${backfillBefore}')`;
  });
