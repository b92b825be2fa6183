/** Risk lists and their entries. */
import { sql } from 'kysely';
import type { ListKindName } from '../../rules/risk/list-kinds.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { columns, iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

export interface RiskList {
  listId: string;
  /** Null for a list of the installation. */
  mid: string | null;
  name: string;
  kind: ListKindName;
  createdAt: number;
}

export interface ListedRiskList extends RiskList {
  entries: number;
}

export interface ListEntry {
  entryId: string;
  value: string;
  reason: string | null;
  expiresAt: number | null;
  createdBy: string;
  createdAt: number;
}

export interface RiskListStore {
  /** Newest first. */
  list(
    filter: { mid?: string | undefined; mids: readonly string[] | null },
    limit: number,
    before?: string,
  ): Promise<ListedRiskList[]>;
  find(listId: string): Promise<RiskList | undefined>;
  findAll(listIds: readonly string[]): Promise<RiskList[]>;
  insert(list: RiskList, audit: AuditEntry): Promise<void>;
  remove(listId: string, audit: AuditEntry): Promise<boolean>;
  /** An entry whose value is listed already gets the new reason and expiry; returns the entries as they are then. */
  addEntries(listId: string, entries: readonly ListEntry[], audit: AuditEntry): Promise<ListEntry[]>;
  /** The same for many, in one transaction; returns how many there were. */
  importEntries(
    listId: string,
    portions: AsyncIterable<readonly ListEntry[]>,
    audit: (entries: number) => AuditEntry,
  ): Promise<number>;
  /** Newest first; with `at`, without those that have expired by then. */
  entries(listId: string, limit: number, before?: string): Promise<ListEntry[]>;
  removeEntry(listId: string, entryId: string, audit: AuditEntry): Promise<boolean>;
}

const COLUMNS = ['listId', 'mid', 'name', 'kind', 'createdAt'] as const;
const ENTRY_COLUMNS = ['entryId', 'value', 'reason', 'expiresAt', 'createdBy', 'createdAt'] as const;

async function insertEntries(
  transaction: Database['query'],
  listId: string,
  entries: readonly ListEntry[],
): Promise<ListEntry[]> {
  const rows = JSON.stringify(
    entries.map((entry) => ({
      entry_id: entry.entryId,
      value: entry.value,
      reason: entry.reason,
      expires_at: isoOrNull(entry.expiresAt),
      created_by: entry.createdBy,
      created_at: iso(entry.createdAt),
    })),
  );
  const written = await sql<ListEntry>`
    insert into risk_list_entries as e (list_id, entry_id, value, reason, expires_at, created_by, created_at)
    select ${listId}::uuid, i.* from jsonb_to_recordset(${rows}::jsonb) as i(entry_id uuid, value text, reason text,
      expires_at timestamptz, created_by text, created_at timestamptz)
    on conflict (list_id, value) do update set reason = excluded.reason, expires_at = excluded.expires_at,
      created_by = excluded.created_by
    returning ${sql.raw(columns('e', ENTRY_COLUMNS))}`.execute(transaction);
  return written.rows;
}

export function createRiskListStore({ query }: Database): RiskListStore {
  const lists = () => query.selectFrom('riskLists').select(COLUMNS);
  return {
    async list({ mid, mids }, limit, before) {
      const conditions = [
        sql`true`,
        mid !== undefined && sql`l.mid = ${mid}`,
        mids !== null && sql`l.mid = any(${[...mids]}::uuid[])`,
        before !== undefined && sql`l.list_id < ${before}`,
      ].filter((condition) => condition !== false);
      const { rows } = await sql<ListedRiskList>`select ${sql.raw(columns('l', COLUMNS))},
          (select count(*)::int from risk_list_entries e where e.list_id = l.list_id) as entries
        from risk_lists l where ${sql.join(conditions, sql` and `)} order by l.list_id desc limit ${limit}`.execute(
        query,
      );
      return rows;
    },
    async find(listId) {
      return (await lists().where('listId', '=', listId).executeTakeFirst()) as RiskList | undefined;
    },
    async findAll(listIds) {
      if (listIds.length === 0) return [];
      return (await lists().where('listId', 'in', listIds).execute()) as RiskList[];
    },
    async insert(list, audit) {
      await query.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('riskLists')
          .values({ ...list, createdAt: iso(list.createdAt) })
          .execute();
        await appendAudit(transaction, audit);
      });
    },
    remove: (listId, audit) =>
      query.transaction().execute(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('riskLists')
          .where('listId', '=', listId)
          .executeTakeFirst();
        if (numDeletedRows === 0n) return false;
        await appendAudit(transaction, audit);
        return true;
      }),
    addEntries: (listId, entries, audit) =>
      query.transaction().execute(async (transaction) => {
        const written = await insertEntries(transaction, listId, entries);
        await appendAudit(transaction, audit);
        return written;
      }),
    importEntries: (listId, portions, audit) =>
      query.transaction().execute(async (transaction) => {
        let count = 0;
        for await (const entries of portions) count += (await insertEntries(transaction, listId, entries)).length;
        await appendAudit(transaction, audit(count));
        return count;
      }),
    async entries(listId, limit, before) {
      const page = query
        .selectFrom('riskListEntries')
        .select(ENTRY_COLUMNS)
        .where('listId', '=', listId)
        .orderBy('entryId', 'desc')
        .limit(limit);
      return (await (before === undefined ? page : page.where('entryId', '<', before)).execute()) as ListEntry[];
    },
    removeEntry: (listId, entryId, audit) =>
      query.transaction().execute(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('riskListEntries')
          .where('listId', '=', listId)
          .where('entryId', '=', entryId)
          .executeTakeFirst();
        if (numDeletedRows === 0n) return false;
        await appendAudit(transaction, audit);
        return true;
      }),
  };
}
