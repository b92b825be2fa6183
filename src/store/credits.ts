/** Reservations of credits: under which order, and as which operation, money is paid back to a card. */
import { pollUntil } from '../lib/poll.ts';
import { iso } from './columns.ts';
import type { Database } from './database.ts';

export interface CreditRow {
  mid: string;
  orderId: string;
  /** Empty when the order is the credit's own; else what it says, since the order of a payment may have several. */
  part: string;
  fingerprint: string;
  operationId: string;
  createdAt: number;
}

export type CreditKey = Pick<CreditRow, 'mid' | 'orderId' | 'part'>;

export interface CreditStore {
  find(key: CreditKey): Promise<CreditRow | undefined>;
  /** Reserves the order, or returns the reservation that was there before. */
  reserve(credit: CreditRow): Promise<CreditRow>;
  /** Puts one reservation in the place of another; false when another request was faster. */
  replace(before: CreditRow, after: CreditRow): Promise<boolean>;
  /** Gives the order back, unless the operation has begun under it. */
  withdraw(credit: CreditRow): Promise<void>;
  /** Waits until every transaction that writes payments at the moment has ended; false when one takes longer. */
  awaitPaymentWrites(mostMs: number): Promise<boolean>;
}

/**
 * The transactions that write payments. A statement takes this lock before its snapshot and keeps it until its
 * transaction ends, so whatever does not see a committed reservation is listed here. Transaction ids would not do: a
 * statement gets one with its first row, after its snapshot.
 */
const WRITERS = `
  select virtualtransaction as writer from pg_locks
  where locktype = 'relation' and relation = 'payments'::regclass and mode = 'RowExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database())`;

const COLUMNS = ['mid', 'orderId', 'part', 'fingerprint', 'operationId', 'createdAt'] as const;

export function createCreditStore({ pool, query }: Database): CreditStore {
  const find: CreditStore['find'] = async ({ mid, orderId, part }) => {
    const row = await query
      .selectFrom('credits')
      .select(COLUMNS)
      .where('mid', '=', mid)
      .where('orderId', '=', orderId)
      .where('part', '=', part)
      .executeTakeFirst();
    return row as CreditRow | undefined;
  };
  return {
    find,
    async reserve(credit) {
      await query
        .insertInto('credits')
        .values({ ...credit, createdAt: iso(credit.createdAt) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return (await find(credit)) as CreditRow;
    },
    async replace(before, { fingerprint, operationId, createdAt }) {
      const { numUpdatedRows } = await query
        .updateTable('credits')
        .set({ fingerprint, operationId, createdAt: iso(createdAt) })
        .where('mid', '=', before.mid)
        .where('orderId', '=', before.orderId)
        .where('part', '=', before.part)
        .where('fingerprint', '=', before.fingerprint)
        .where('operationId', '=', before.operationId)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    async withdraw({ mid, orderId, part, operationId }) {
      await query
        .deleteFrom('credits')
        .where('mid', '=', mid)
        .where('orderId', '=', orderId)
        .where('part', '=', part)
        .where('operationId', '=', operationId)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('operations')
                .select('operations.operationId')
                .whereRef('operations.mid', '=', 'credits.mid')
                .whereRef('operations.operationId', '=', 'credits.operationId')
                .whereRef('operations.orderId', '=', 'credits.orderId'),
            ),
          ),
        )
        .execute();
    },
    async awaitPaymentWrites(mostMs) {
      const writing = async (condition = '', values: unknown[] = []): Promise<string[]> =>
        (await pool.query<{ writer: string }>(WRITERS + condition, values)).rows.map(({ writer }) => writer);
      const left = await pollUntil(
        await writing(),
        (writers) => writing(' and virtualtransaction = any($1)', [writers]),
        (writers) => writers.length === 0,
        { mostMs, firstPauseMs: 2 },
      );
      return left.length === 0;
    },
  };
}
