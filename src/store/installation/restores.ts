/** Restores of backups: when, from which moment, and who has released what is held since. */
import { sql } from 'kysely';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { clientOf } from '../database/client.ts';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { SKIP_INVOICE_NUMBERS } from '../invoices/invoices.ts';

export interface Restore {
  restoredAt: number;
  backupAt: number;
  /** Null while automatic charges and voids are held. */
  releasedAt: number | null;
  releasedBy: string | null;
  note: string | null;
}

/** What a restored database has that may have been removed since its backup. */
export interface RestoredAccess {
  apiTokens: number;
  operators: number;
  savedCards: number;
}

/** A statement of a provider about the time since a backup, and its rows that the gateway does not have. */
export interface StatementSince {
  reconciliationId: string;
  fileName: string;
  periodFrom: number;
  periodTo: number;
  missingHere: number;
}

/** SQL: no restore waits for its release. Each statement that claims automatic charges has this condition itself. */
export const NOTHING_IS_HELD = 'not exists (select from restores where released_at is null)';

/** Marks a database that was restored from a backup of the moment $1; for the transaction of the restore, too. */
export const MARK_RESTORED =
  'insert into restores (restored_at, backup_at) values (statement_timestamp(), $1::timestamptz)';

const ACCESS = `
  select (select count(*) from api_tokens)::int as "apiTokens",
    (select count(*) from operators where state = 'active')::int as "operators",
    (select count(*) from cards where is_kept)::int as "savedCards"`;

const STATEMENTS = `
  select reconciliation_id as "reconciliationId", file_name as "fileName", period_from as "periodFrom",
    period_to as "periodTo", coalesce((
      select sum((t ->> 'rows')::int) from jsonb_array_elements(totals) t where t ->> 'outcome' = 'missing_here'
    ), 0)::int as "missingHere"
  from reconciliations where state = 'done' and period_to > $1::timestamptz
  order by reconciliation_id desc limit $2`;

export interface RestoreStore {
  /** The newest restore; undefined if this database was never restored. */
  last(): Promise<Restore | undefined>;
  /** Marks a database that was restored without the command; false if a restore waits for its release. */
  mark(backupAt: number, audit: AuditEntry): Promise<boolean>;
  /** False if nothing is held. */
  release(by: string, note: string, audit: AuditEntry): Promise<boolean>;
  access(): Promise<RestoredAccess>;
  /** The newest statements about the time since a backup. */
  statementsSince(backupAt: number, most: number): Promise<StatementSince[]>;
}

export function createRestoreStore({ pool, query }: Database): RestoreStore {
  return {
    async last() {
      const row = await query
        .selectFrom('restores')
        .selectAll()
        .orderBy('restoredAt', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row as Restore | undefined;
    },
    mark: (backupAt, audit) =>
      query.transaction().execute(async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto('restores')
          .columns(['restoredAt', 'backupAt'])
          .expression(
            sql`select statement_timestamp(), ${iso(backupAt)}::timestamptz where ${sql.raw(NOTHING_IS_HELD)}`,
          )
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows !== 1n) return false;
        await clientOf(transaction).query({ text: SKIP_INVOICE_NUMBERS, values: [iso(backupAt)] });
        await appendAudit(transaction, audit);
        return true;
      }),
    release: (releasedBy, note, audit) =>
      query.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('restores')
          .set({ releasedAt: sql`statement_timestamp()`, releasedBy, note })
          .where('releasedAt', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await appendAudit(transaction, audit);
        return true;
      }),
    async access() {
      return (await pool.query<RestoredAccess>(ACCESS)).rows[0] as RestoredAccess;
    },
    async statementsSince(backupAt, most) {
      return (await pool.query<StatementSince>(STATEMENTS, [iso(backupAt), most])).rows;
    },
  };
}
