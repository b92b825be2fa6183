/** Connections: credentials at providers, sealed, and their settings. */
import { sql } from 'kysely';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { announce } from '../database/changes.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Decide } from '../database/decision.ts';

export interface ConnectionRow {
  connectionId: string;
  connector: string;
  name: string;
  /** The accounts that may use it; null means all. */
  mids: string[] | null;
  /** Sealed JSON. */
  credentials: Buffer;
  settings: Record<string, unknown>;
  /** The provider's names of the methods that are active there, by the last check; null if it did not say. */
  activeMethods: string[] | null;
  /** When they are read again; null if the provider cannot list them. */
  methodsDueAt: number | null;
  createdAt: number;
  updatedAt: number;
  deletedAt: number | null;
}

/** What a change sets; undefined leaves the value as it is. */
export type ConnectionChange = Pick<ConnectionRow, 'updatedAt'> & {
  [Name in 'name' | 'mids' | 'credentials' | 'settings' | 'activeMethods' | 'methodsDueAt' | 'deletedAt']?:
    | ConnectionRow[Name]
    | undefined;
};

/** A connection that is about to change. No account begins to use it meanwhile. */
export interface LockedConnection extends ConnectionRow {
  isInUse: boolean;
}

/** Announced when a connection changes. */
export const CONNECTIONS_CHANGED = 'connections';

export interface ConnectionStore {
  insert(connection: ConnectionRow, audit: AuditEntry): Promise<void>;
  /** Finds deleted connections, too: their payments are still queried and refunded. */
  find(connectionId: string): Promise<ConnectionRow | undefined>;
  findAll(connectionIds: readonly string[]): Promise<ConnectionRow[]>;
  /** Without deleted ones, oldest first; with `mids`, only those that belong to these accounts alone. */
  list(mids: readonly string[] | null): Promise<ConnectionRow[]>;
  /** Undefined if there is no such connection, or it was deleted. */
  change(connectionId: string, decide: Decide<LockedConnection, ConnectionChange>): Promise<ConnectionRow | undefined>;
  /** Writes what a check found, unless the connection has changed since it was read. */
  noteMethods(checked: ConnectionRow, activeMethods: readonly string[], dueAt: number): Promise<void>;
  /** A connection whose methods are due; no other process gets it before `until`. */
  claimDueMethods(now: number, until: number): Promise<ConnectionRow | undefined>;
  /** The accounts whose routes use a connection. */
  accountsWith(connectionId: string): Promise<string[]>;
}

/** Locks connections against changes, in the order of their ids; deleted ones, too. */
export async function lockConnections(
  transaction: Database['query'],
  connectionIds: readonly string[],
): Promise<ConnectionRow[]> {
  if (connectionIds.length === 0) return [];
  const rows = transaction
    .selectFrom('connections')
    .selectAll()
    .where(sql<boolean>`connection_id = any(${[...connectionIds]}::uuid[])`)
    .orderBy('connectionId')
    .forShare();
  return (await rows.execute()) as ConnectionRow[];
}

/** The accounts whose routes use a connection. */
async function accountsWith(query: Database['query'], connectionId: string): Promise<string[]> {
  const rows = await query
    .selectFrom('accounts')
    .select('mid')
    .where(sql<boolean>`routes @> ${JSON.stringify([{ connectionId }])}::jsonb`)
    .execute();
  return rows.map(({ mid }) => mid);
}

export function createConnectionStore({ query }: Database): ConnectionStore {
  const connections = () => query.selectFrom('connections').selectAll();
  return {
    async insert({ settings, methodsDueAt, createdAt, updatedAt, deletedAt, ...row }, audit) {
      await query.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('connections')
          .values({
            ...row,
            settings: JSON.stringify(settings),
            methodsDueAt: isoOrNull(methodsDueAt),
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
    async change(connectionId, decide) {
      return query.transaction().execute(async (transaction) => {
        const before = (await transaction
          .selectFrom('connections')
          .selectAll()
          .where('connectionId', '=', connectionId)
          .where('deletedAt', 'is', null)
          .forUpdate()
          .executeTakeFirst()) as ConnectionRow | undefined;
        if (!before) return undefined;
        const isInUse = (await accountsWith(transaction, connectionId)).length > 0;
        const { change, audit } = decide({ ...before, isInUse });
        const { settings, methodsDueAt, deletedAt, updatedAt, ...rest } = change;
        const row = await transaction
          .updateTable('connections')
          .set({
            ...rest,
            ...(settings === undefined ? {} : { settings: JSON.stringify(settings) }),
            ...(methodsDueAt === undefined ? {} : { methodsDueAt: isoOrNull(methodsDueAt) }),
            ...(deletedAt === undefined ? {} : { deletedAt: isoOrNull(deletedAt) }),
            updatedAt: iso(updatedAt),
          })
          .where('connectionId', '=', connectionId)
          .returningAll()
          .executeTakeFirstOrThrow();
        await appendAudit(transaction, audit);
        await announce(transaction, CONNECTIONS_CHANGED);
        return row as ConnectionRow;
      });
    },
    async noteMethods({ connectionId, updatedAt }, activeMethods, dueAt) {
      await query.transaction().execute(async (transaction) => {
        const checked = await transaction
          .selectFrom('connections')
          .select('activeMethods')
          .where('connectionId', '=', connectionId)
          .where(sql<boolean>`updated_at = ${iso(updatedAt)}`)
          .forUpdate()
          .executeTakeFirst();
        if (!checked) return;
        await transaction
          .updateTable('connections')
          .set({ activeMethods: [...activeMethods], methodsDueAt: iso(dueAt) })
          .where('connectionId', '=', connectionId)
          .execute();
        if (checked.activeMethods?.join() !== activeMethods.join()) await announce(transaction, CONNECTIONS_CHANGED);
      });
    },
    async claimDueMethods(now, until) {
      const due = query
        .selectFrom('connections')
        .select('connectionId')
        .where(sql<boolean>`methods_due_at <= ${iso(now)}`)
        .where('deletedAt', 'is', null)
        .orderBy('methodsDueAt')
        .limit(1)
        .forUpdate()
        .skipLocked();
      return (await query
        .updateTable('connections')
        .set({ methodsDueAt: iso(until) })
        .where('connectionId', 'in', due)
        .returningAll()
        .executeTakeFirst()) as ConnectionRow | undefined;
    },
    accountsWith: (connectionId) => accountsWith(query, connectionId),
  };
}
