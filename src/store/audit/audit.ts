/** The audit log: a chain of entries, each of which covers the digest of the previous one. */
import { type Kysely, sql } from 'kysely';
import { type AuditHead, type AuditKey, entryDigest, entryMac, headMac } from '../../lib/crypto/audit-chain.ts';
import { clientOf } from '../database/client.ts';
import { columns, iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { type Column, itemRows, listed, namesOf } from '../database/item-rows.ts';
import type { Schema } from '../schema.ts';

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
  /** What the entry is authenticated with. */
  key: AuditKey;
}

/** The action of an entry that accepts entries which an earlier version wrote. */
export const ACCEPT_ENTRIES = 'audit.accept_entries';

export interface AuditRow extends Omit<AuditEntry, 'actor' | 'key'> {
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
  head(): Promise<AuditHead>;
  /** The digest of an entry; undefined if there is none with this number. */
  digestOf(seq: bigint): Promise<Buffer | undefined>;
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

/** SQL: the text that the digest of a row covers; it is the same in every session, whatever its time zone. */
export const auditText = (row: string): string =>
  `jsonb_build_array(${row}.seq, (extract(epoch from ${row}.at) * 1000)::bigint, ${[
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
    .join(', ')})::text`;

const json = (value: AuditEntry['before']): string | null => (value === null ? null : JSON.stringify(value));

const PASSED: Column<AuditEntry>[] = [
  ['at', 'timestamptz', ({ at }) => at],
  ['actor_kind', 'text', ({ actor }) => actor.kind],
  ['actor_id', 'uuid', ({ actor }) => actor.id],
  ['actor_name', 'text', ({ actor }) => actor.name],
  ['address', 'text', ({ address }) => address],
  ['action', 'text', ({ action }) => action],
  ['mid', 'uuid', ({ mid }) => mid],
  ['subject', 'text', ({ subject }) => subject],
  ['before', 'jsonb', ({ before }) => json(before)],
  ['after', 'jsonb', ({ after }) => json(after)],
];
const ENTRIES = itemRows(PASSED);

const TEXTS = `
  with head as (
    select seq, digest, mac from audit_head for update
  ), entries as (
    select h.seq + i.n as seq, h.digest, h.mac, ${listed(namesOf(PASSED), 'i')}
    from head h cross join ${ENTRIES.rows('i', 'n')}
  )
  select e.seq, e.digest, e.mac, ${auditText('e')} as text from entries e order by e.seq`;

/** An entry in its place in the chain. */
type Appended = AuditEntry & { seq: bigint; digest: Buffer; mac: Buffer };

const APPENDED = itemRows<Appended>([
  ...PASSED,
  ['seq', 'bigint', ({ seq }) => seq],
  ['digest', 'text', ({ digest }) => digest.toString('hex')],
  ['mac', 'text', ({ mac }) => mac.toString('hex')],
]);

const APPEND = `
  with appended as (
    insert into audit_log (${listed(APPENDED.names)})
    select ${listed(namesOf(PASSED), 'i')}, i.seq, decode(i.digest, 'hex'), decode(i.mac, 'hex')
    from ${APPENDED.rows('i')}
  )
  update audit_head set seq = $${APPENDED.next}::bigint, digest = $${APPENDED.next + 1}::bytea,
    mac = $${APPENDED.next + 2}::bytea`;

/**
 * Appends entries in the transaction of the changes that they describe; entries of other transactions wait for it. The
 * HMACs are computed here and not by the database, which never gets the key.
 */
export async function appendAudits(transaction: Kysely<Schema>, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const client = clientOf(transaction);
  const { rows } = await client.query<AuditHead & { text: string }>({ text: TEXTS, values: ENTRIES.values(entries) });
  let { digest, mac } = rows[0] as AuditHead;
  const appended = entries.map((entry, index): Appended => {
    const { seq, text } = rows[index] as (typeof rows)[number];
    digest = entryDigest(digest, text);
    mac = entryMac(entry.key, mac, { seq, digest });
    return { ...entry, seq, digest, mac };
  });
  const last = appended.at(-1) as Appended;
  const values = [...APPENDED.values(appended), last.seq, last.digest, headMac(last.key, last.seq, last.mac)];
  await client.query({ text: APPEND, values });
}

export const appendAudit = (transaction: Kysely<Schema>, entry: AuditEntry): Promise<void> =>
  appendAudits(transaction, [entry]);

export function createAuditStore({ query }: Database): AuditStore {
  return {
    append: (entry) => query.transaction().execute((transaction) => appendAudit(transaction, entry)),
    async head() {
      return query.selectFrom('auditHead').select(['seq', 'digest', 'mac']).executeTakeFirstOrThrow();
    },
    async digestOf(seq) {
      return (await query.selectFrom('auditLog').select('digest').where('seq', '=', seq).executeTakeFirst())?.digest;
    },
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
