/** Operators of the panel, and their sessions. */
import type { Kysely } from 'kysely';
import type { Role } from '../../rules/roles.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Decide } from '../database/decision.ts';
import type { Schema } from '../schema.ts';
import { type NewLink, writeLink } from './links.ts';

export interface Operator {
  operatorId: string;
  /** In lower case. */
  email: string;
  name: string;
  role: Role;
  /** The accounts that the operator may see; null means all. */
  mids: string[] | null;
  /** The most that the operator refunds of one payment, a decimal number in its currency; null for no limit. */
  refundLimit: string | null;
  state: 'invited' | 'active' | 'suspended';
  createdAt: number;
  lastSignedInAt: number | null;
  /** The language of the panel that the operator chose; null for that of the browser. */
  language?: string | null;
}

/** An operator that is about to change. */
export interface LockedOperator extends Operator {
  /** Whether no other operator is an active owner of all accounts. */
  isLastOwner: boolean;
}

/** Whether an operator can do everything in all accounts. */
export const isActiveOwner = ({ role, state, mids }: Pick<Operator, 'role' | 'state' | 'mids'>): boolean =>
  role === 'owner' && state === 'active' && mids === null;

export interface OperatorSession {
  operatorId: string;
  createdAt: number;
  usedAt: number;
  /** When the operator last proved who it is. */
  confirmedAt: number;
  address: string;
  userAgent: string;
}

export interface OperatorStore {
  /** Creates an operator, with its first link if there is one; false if the e-mail address is in use. */
  insert(operator: Operator, audit: AuditEntry, link?: NewLink): Promise<boolean>;
  find(operatorId: string): Promise<Operator | undefined>;
  findByEmail(email: string): Promise<Operator | undefined>;
  /** In the order of their names. */
  list(): Promise<Operator[]>;
  /** Changes an operator and ends its sessions, so that a new role or a suspension takes effect at once. */
  change(
    operatorId: string,
    decide: Decide<LockedOperator, Partial<Pick<Operator, 'name' | 'role' | 'mids' | 'refundLimit' | 'state'>>>,
  ): Promise<Operator | undefined>;
  /** Deletes an operator with its credentials and sessions; false if there is none. */
  delete(operatorId: string, decide: (operator: LockedOperator) => AuditEntry): Promise<boolean>;
  /** Starts a session and records the sign-in. */
  insertSession(digest: Buffer, session: OperatorSession): Promise<void>;
  /** The session with this digest and its operator, if it was created and used recently enough; records the use. */
  useSession(
    digest: Buffer,
    now: number,
    createdAfter: number,
    usedAfter: number,
  ): Promise<{ session: OperatorSession; operator: Operator } | undefined>;
  confirmSession(digest: Buffer, now: number): Promise<void>;
  deleteSession(digest: Buffer): Promise<void>;
}

export const SESSION_COLUMNS = ['operatorId', 'createdAt', 'usedAt', 'confirmedAt', 'address', 'userAgent'] as const;

/** The owners are locked, too, so that two of them cannot remove each other; in order, so that nobody deadlocks. */
async function lock(transaction: Kysely<Schema>, operatorId: string): Promise<LockedOperator | undefined> {
  const locked = (await transaction
    .selectFrom('operators')
    .selectAll()
    .where(({ and, or, eb }) =>
      or([
        eb('operatorId', '=', operatorId),
        and([eb('role', '=', 'owner'), eb('state', '=', 'active'), eb('mids', 'is', null)]),
      ]),
    )
    .orderBy('operatorId')
    .forUpdate()
    .execute()) as Operator[];
  const found = locked.find((each) => each.operatorId === operatorId);
  return found && { ...found, isLastOwner: isActiveOwner(found) && locked.filter(isActiveOwner).length === 1 };
}

export function createOperatorStore({ query }: Database): OperatorStore {
  const operators = () => query.selectFrom('operators').selectAll();
  return {
    insert: (operator, audit, link) =>
      query.transaction().execute(async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto('operators')
          .values({
            ...operator,
            createdAt: iso(operator.createdAt),
            lastSignedInAt: isoOrNull(operator.lastSignedInAt),
          })
          .onConflict((conflict) => conflict.column('email').doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 0n) return false;
        await appendAudit(transaction, audit);
        if (link) await writeLink(transaction, link);
        return true;
      }),
    async find(operatorId) {
      return (await operators().where('operatorId', '=', operatorId).executeTakeFirst()) as Operator | undefined;
    },
    async findByEmail(email) {
      return (await operators().where('email', '=', email).executeTakeFirst()) as Operator | undefined;
    },
    async list() {
      return (await operators().orderBy('name').orderBy('operatorId').execute()) as Operator[];
    },
    change: (operatorId, decide) =>
      query.transaction().execute(async (transaction) => {
        const before = await lock(transaction, operatorId);
        if (!before) return undefined;
        const { change, audit } = decide(before);
        if (Object.keys(change).length === 0) return before;
        const after = await transaction
          .updateTable('operators')
          .set(change)
          .where('operatorId', '=', operatorId)
          .returningAll()
          .executeTakeFirstOrThrow();
        await transaction.deleteFrom('operatorSessions').where('operatorId', '=', operatorId).execute();
        await appendAudit(transaction, audit);
        return after as Operator;
      }),
    delete: (operatorId, decide) =>
      query.transaction().execute(async (transaction) => {
        const before = await lock(transaction, operatorId);
        if (!before) return false;
        const audit = decide(before);
        await transaction.deleteFrom('operators').where('operatorId', '=', operatorId).execute();
        await appendAudit(transaction, audit);
        return true;
      }),
    async insertSession(digest, { createdAt, usedAt, confirmedAt, ...session }) {
      await query.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('operatorSessions')
          .values({ ...session, digest, createdAt: iso(createdAt), usedAt: iso(usedAt), confirmedAt: iso(confirmedAt) })
          .execute();
        await transaction
          .updateTable('operators')
          .set({ lastSignedInAt: iso(createdAt) })
          .where('operatorId', '=', session.operatorId)
          .execute();
      });
    },
    async useSession(digest, now, createdAfter, usedAfter) {
      const session = (await query
        .updateTable('operatorSessions')
        .set({ usedAt: iso(now) })
        .where('digest', '=', digest)
        .where('createdAt', '>', iso(createdAfter) as never)
        .where('usedAt', '>', iso(usedAfter) as never)
        .returning(SESSION_COLUMNS)
        .executeTakeFirst()) as OperatorSession | undefined;
      const operator = session && (await operators().where('operatorId', '=', session.operatorId).executeTakeFirst());
      return session && operator ? { session, operator: operator as Operator } : undefined;
    },
    async confirmSession(digest, now) {
      await query
        .updateTable('operatorSessions')
        .set({ confirmedAt: iso(now) })
        .where('digest', '=', digest)
        .execute();
    },
    async deleteSession(digest) {
      await query.deleteFrom('operatorSessions').where('digest', '=', digest).execute();
    },
  };
}
