/** The contract of a projection: tables that are derived from the logs, by folding each row of a log exactly once. */
import type pg from 'pg';

/** The logs: tables whose rows have the column `number`, from a sequence, in the order in which they were written. */
export const LOGS = ['history', 'callback_attempts'] as const;
export type Log = (typeof LOGS)[number];

/** Logs whose old rows are dropped: what a rebuild cannot derive again, it keeps. */
export const DROPPED_LOGS: readonly Log[] = ['callback_attempts'];

/**
 * Rows of the logs, as the texts of queries without parameters, to be used in another: `from (${portion.history}) h`.
 * Each is short and may be used several times in a statement, though one that reads it several times had better
 * materialise it once. A portion has either rows that follow in the order of their numbers, or all former rows of some
 * payments. Rows of one log are to be ordered by `number`, and former ones, which may have none, by `mid, payment_id, seq`.
 */
export interface Portion {
  /** Rows of the table `history`, all columns. */
  history: string;
  /** Rows of the table `callback_attempts`, all columns. */
  attempts: string;
  /** The payments of these history rows, each once: `mid, payment_id`. */
  payments: string;
}

export type Client = Pick<pg.ClientBase, 'query'>;

export interface Projection {
  /** Names its row, its metrics, and its rebuild on the command line. */
  name: string;
  /** The logs that it is derived from. */
  logs: readonly Log[];
  /** How long rows wait at least, so that they are folded together. */
  everyMs: number;
  /** How many rows of a log, and in a backfill the rows of how many payments, one transaction folds. */
  portion: { rows: number; payments: number };
  /**
   * Adds a portion, in a transaction that also writes how far the projection is: every row is folded exactly once,
   * whatever dies. Portions follow in the order of the numbers, except that rows from before the projection was built
   * (`since`) come by payment, the newest payments first, while newer rows are folded already: a fold is either
   * commutative, or reads the history of the payment itself. All rows of the portion are committed, and so are all
   * earlier ones of their payments.
   */
  fold(client: Client, portion: Portion): Promise<void>;
  /** Other work under the same lock, after each portion or without one; returns whether there is more. */
  tend?(client: Client): Promise<boolean>;
  /**
   * Removes what is derived from logs that are kept, before a rebuild. Readers go on, so it must not truncate: they
   * would miss rows of their own snapshot. A projection whose fold replaces what it wrote before may keep everything.
   */
  reset(client: Client): Promise<void>;
  /** A query of what is wrong: a text for each violation, in the column `violation`. `folded` are the rows that it contains. */
  check(folded: Portion): string;
  /** What is wrong besides: compares what SQL does not derive. */
  verify?(client: Client, folded: Portion): Promise<string[]>;
}
