/** The filters of the list of payments that operators saved under a name. */
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

export interface SavedFilter {
  name: string;
  /** The query string of the list. */
  query: string;
}

export interface SavedFilterStore {
  /** In the order of their names. */
  list(operatorId: string): Promise<SavedFilter[]>;
  /** Replaces one of the same name; false if the operator has too many. */
  save(operatorId: string, filter: SavedFilter, now: number, most: number, audit: AuditEntry): Promise<boolean>;
  delete(operatorId: string, name: string, audit: AuditEntry): Promise<void>;
}

export function createSavedFilterStore({ query }: Database): SavedFilterStore {
  return {
    list: (operatorId) =>
      query
        .selectFrom('savedFilters')
        .select(['name', 'query'])
        .where('operatorId', '=', operatorId)
        .orderBy('name')
        .execute(),
    save: (operatorId, filter, now, most, audit) =>
      query.transaction().execute(async (transaction) => {
        // Locked, so that two requests at the same time do not exceed the limit.
        await transaction
          .selectFrom('operators')
          .select('operatorId')
          .where('operatorId', '=', operatorId)
          .forUpdate()
          .execute();
        const { others } = await transaction
          .selectFrom('savedFilters')
          .select((eb) => eb.fn.countAll<bigint>().as('others'))
          .where('operatorId', '=', operatorId)
          .where('name', '<>', filter.name)
          .executeTakeFirstOrThrow();
        if (others >= most) return false;
        await transaction
          .insertInto('savedFilters')
          .values({ operatorId, ...filter, createdAt: iso(now) })
          .onConflict((conflict) => conflict.columns(['operatorId', 'name']).doUpdateSet({ query: filter.query }))
          .execute();
        await appendAudit(transaction, audit);
        return true;
      }),
    async delete(operatorId, name, audit) {
      await query.transaction().execute(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('savedFilters')
          .where('operatorId', '=', operatorId)
          .where('name', '=', name)
          .executeTakeFirst();
        if (numDeletedRows > 0n) await appendAudit(transaction, audit);
      });
    },
  };
}
