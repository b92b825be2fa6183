/** Reservations of credits: a credit reserves its order before its operation begins, so that it is paid once. */
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { awaitWriters } from '../database/writers.ts';

export interface CreditRow {
  mid: string;
  orderId: string;
  /** Empty when the order belongs to the credit alone; otherwise its content, as a payment's order may have several. */
  part: string;
  fingerprint: string;
  operationId: string;
  createdAt: number;
}

export type CreditKey = Pick<CreditRow, 'mid' | 'orderId' | 'part'>;

export interface CreditStore {
  find(key: CreditKey): Promise<CreditRow | undefined>;
  /** Reserves the order, or returns the existing reservation. */
  reserve(credit: CreditRow): Promise<CreditRow>;
  /** Replaces a reservation; false when another request has changed it. */
  replace(before: CreditRow, after: CreditRow): Promise<boolean>;
  /** Releases the order, unless the operation has begun. */
  withdraw(credit: CreditRow): Promise<void>;
  /** Waits until every transaction that is writing payments has ended; false when one takes longer than `mostMs`. */
  awaitPaymentWrites(mostMs: number): Promise<boolean>;
}

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
      for (;;) {
        await query
          .insertInto('credits')
          .values({ ...credit, createdAt: iso(credit.createdAt) })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        // None if another request has withdrawn its reservation since.
        const found = await find(credit);
        if (found) return found;
      }
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
    awaitPaymentWrites: (mostMs) => awaitWriters(pool, 'payments', mostMs),
  };
}
