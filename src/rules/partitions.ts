/** The logs that are kept in partitions by time, so that old rows are dropped without being read or blocking others. */
import type { Retention } from './retention.ts';

interface Partitioned {
  /** Rows can be added to old partitions, because their ids are those of payments: a dropped partition is replaced. */
  getsLateRows: boolean;
  /** Whether its rows are written to the archive, if there is one, before they are dropped. */
  isArchived: boolean;
  /** How far ahead there are always partitions. */
  aheadDays: number;
}

/** A log whose old rows are dropped. */
export interface DroppedLog extends Partitioned {
  table: 'callback_attempts' | 'api_calls';
  setting: keyof Retention;
}

/** What belongs to the books is kept for ever. */
interface KeptLog extends Partitioned {
  table: 'ledger_entries';
  setting?: undefined;
}

export type PartitionedLog = DroppedLog | KeptLog;
export type PartitionedTable = PartitionedLog['table'];

export const LOGS: readonly PartitionedLog[] = [
  { table: 'callback_attempts', setting: 'callbackAttempts', getsLateRows: true, isArchived: true, aheadDays: 30 },
  // They help to find mistakes in recent requests, and their days are few.
  { table: 'api_calls', setting: 'apiCalls', getsLateRows: false, isArchived: false, aheadDays: 2 },
  { table: 'ledger_entries', getsLateRows: true, isArchived: false, aheadDays: 30 },
];

/** Logs that are kept for at most this many days have a partition for each day, others one for each month. */
export const DAILY_MOST = 31;
