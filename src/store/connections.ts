/** Connections: credentials at providers, sealed, and their settings. */
import { sql } from 'kysely';
import { type AuditEntry, appendAudit } from './audit.ts';
import { announce } from './changes.ts';
import { iso, isoOrNull } from './columns.ts';
import type { Database } from './database.ts';

export interface ConnectionRow {
  connectionId: string;
  connector: string;
  name: string;
  /** The accounts that may use it; null means all. */
  mids: string[] | null;
  /** Sealed JSON. */
  credentials: Buffer;
  settings: Record<string, unknown>;
  createdAt: number;
  updatedAt: number;
  deletedAt: number | null;
}

/** What a change sets; undefined leaves the value as it is. */
export type ConnectionChange = Partial<Pick<ConnectionRow, 'name' | 'mids' | 'credentials' | 'settings' | 'deletedAt'>>;

/** Announced when a connection changes. */
export const CONNECTIONS_CHANGED = 'connections';

export interface ConnectionStore {
  insert(connection: ConnectionRow, audit: AuditEntry): Promise<void>;
  /** Finds deleted connections, too: their payments are still queried and refunded. */
  find(connectionId: string): Promise<ConnectionRow | undefined>;
  findAll(connectionIds: readonly string[]): Promise<ConnectionRow[]>;
  /** Without deleted ones, oldest first; with `mids`, only those that belong to these accounts alone. */
  list(mids: readonly string[] | null): Promise<ConnectionRow[]>;
  update(
    connectionId: string,
    change: ConnectionChange,
    at: number,
    audit: AuditEntry,
  ): Promise<ConnectionRow | undefined>;
  /** The accounts whose routes use a connection. */
  accountsWith(connectionId: string): Promise<string[]>;
}

export function createConnectionStore({ query }: Database): ConnectionStore {
  const connections = () => query.selectFrom('connections').selectAll();
  return {
    async insert({ settings, createdAt, updatedAt, deletedAt, ...row }, audit) {
      await query.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('connections')
          .values({
            ...row,
            settings: JSON.stringify(settings),
            createdAt: iso(createdAt),
            updatedAt: iso(updatedAt),
            deletedAt: isoOrNull(deletedAt),
          })
          .execute();
        await appendAudit(transaction, audit);
        await announce(transaction, CONNECTIONS_CHANGED);
      });
    },
    async find(connectionId) {
      return (await connections().where('connectionId', '=', connectionId).executeTakeFirst()) as
        | ConnectionRow
        | undefined;
    },
    async findAll(connectionIds) {
      return (await connections()
        .where(sql<boolean>`connection_id = any(${[...connectionIds]}::uuid[])`)
        .execute()) as ConnectionRow[];
    },
    async list(mids) {
      let list = connections().where('deletedAt', 'is', null).orderBy('connectionId');
      if (mids !== null) list = list.where(sql<boolean>`mids <@ ${[...mids]}::uuid[]`);
      return (await list.execute()) as ConnectionRow[];
    },
    async update(connectionId, { settings, deletedAt, ...change }, at, audit) {
      return query.transaction().execute(async (transaction) => {
        const row = await transaction
          .updateTable('connections')
          .set({
            ...change,
            ...(settings === undefined ? {} : { settings: JSON.stringify(settings) }),
            ...(deletedAt === undefined ? {} : { deletedAt: isoOrNull(deletedAt) }),
            updatedAt: iso(at),
          })
          .where('connectionId', '=', connectionId)
          .where('deletedAt', 'is', null)
          .returningAll()
          .executeTakeFirst();
        if (!row) return undefined;
        await appendAudit(transaction, audit);
        await announce(transaction, CONNECTIONS_CHANGED);
        return row as ConnectionRow;
      });
    },
    async accountsWith(connectionId) {
      const rows = await query
        .selectFrom('accounts')
        .select('mid')
        .where(sql<boolean>`routes @> ${JSON.stringify([{ connectionId }])}::jsonb`)
        .execute();
      return rows.map(({ mid }) => mid);
    },
  };
}
