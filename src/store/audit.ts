/** The audit log: a chain of entries, each of which covers the digest of the previous one. */
import { type Kysely, sql } from 'kysely';
import { columns, iso } from './columns.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';

/** Who made a change: a token, an operator, or a command of this machine. */
export interface AuditActor {
  kind: 'token' | 'operator' | 'system';
  /** Null for the configured token and for commands. */
  id: string | null;
  name: string;
}

export interface AuditEntry {
  at: number;
  actor: AuditActor;
  /** The client's address; null for commands. */
  address: string | null;
  /** Such as `accounts.change`. */
  action: string;
  mid: string | null;
  /** What was changed, if not the account itself: the id of a payment, a token, a callback. */
  subject: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

export interface AuditRow extends Omit<AuditEntry, 'actor'> {
  seq: bigint;
  actorKind: AuditActor['kind'];
  actorId: string | null;
  actorName: string;
  digest: Buffer;
}

export interface AuditFilter {
  /** The name or the id of the actor. */
  actor?: string | undefined;
  action?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
  /** The account of an entry has to be one of these; null means any. */
  mids: readonly string[] | null;
}

export interface AuditStore {
  append(entry: AuditEntry): Promise<void>;
  /** Newest first; `before` is the number of the last entry of the previous page. */
  list(filter: AuditFilter, limit: number, before?: bigint): Promise<AuditRow[]>;
}

const COLUMNS = [
  'seq',
  'at',
  'actorKind',
  'actorId',
  'actorName',
  'address',
  'action',
  'mid',
  'subject',
  'before',
  'after',
  'digest',
] as const satisfies (keyof AuditRow)[];

/** The digest of a row after a previous digest; the text is the same in every session, whatever its time zone. */
export const auditDigest = (previous: string, row: string): string =>
  `sha256(${previous} || convert_to(jsonb_build_array(${row}.seq, (extract(epoch from ${row}.at) * 1000)::bigint, ${[
    'actor_kind',
    'actor_id',
    'actor_name',
    'address',
    'action',
    'mid',
    'subject',
    'before',
    'after',
  ]
    .map((name) => `${row}.${name}`)
    .join(', ')})::text, 'UTF8'))`;

/** Appends an entry in the transaction of the change that it describes; entries of other transactions wait for it. */
export async function appendAudit(transaction: Kysely<Schema>, entry: AuditEntry): Promise<void> {
  const { actor, address, action, mid, subject } = entry;
  const json = (value: AuditEntry['before']): string | null => (value === null ? null : JSON.stringify(value));
  await sql`
    with head as (
      select seq, digest from audit_head for update
    ), entry as (
      select h.seq + 1 as seq, h.digest as previous, ${iso(entry.at)}::timestamptz as at, ${actor.kind}::text as actor_kind,
        ${actor.id}::uuid as actor_id, ${actor.name}::text as actor_name, ${address}::text as address,
        ${action}::text as action, ${mid}::uuid as mid, ${subject}::text as subject,
        ${json(entry.before)}::jsonb as before, ${json(entry.after)}::jsonb as after
      from head h
    ), appended as (
      insert into audit_log (seq, at, actor_kind, actor_id, actor_name, address, action, mid, subject, before, after,
        digest)
      select e.seq, e.at, e.actor_kind, e.actor_id, e.actor_name, e.address, e.action, e.mid, e.subject, e.before, e.after,
        ${sql.raw(auditDigest('e.previous', 'e'))}
      from entry e
      returning seq, digest
    )
    update audit_head h set seq = a.seq, digest = a.digest from appended a`.execute(transaction);
}

export function createAuditStore({ query }: Database): AuditStore {
  return {
    append: (entry) => appendAudit(query, entry),
    async list({ actor, action, from, to, mids }, limit, before) {
      const conditions = [
        actor !== undefined && sql`(a.actor_name = ${actor} or a.actor_id::text = ${actor})`,
        action !== undefined && sql`a.action = ${action}`,
        from !== undefined && sql`a.at >= ${iso(from)}`,
        to !== undefined && sql`a.at < ${iso(to)}`,
        mids !== null && sql`a.mid = any(${[...mids]}::uuid[])`,
        before !== undefined && sql`a.seq < ${before}`,
      ].filter((condition) => condition !== false);
      const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``;
      const { rows } = await sql<AuditRow>`select ${sql.raw(columns('a', COLUMNS))} from audit_log a ${where}
        order by a.seq desc limit ${limit}`.execute(query);
      return rows;
    },
  };
}
