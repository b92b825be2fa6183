/** Operators of the panel, and their sessions. */
import type { Role } from '../rules/roles.ts';
import { type AuditEntry, appendAudit } from './audit.ts';
import { iso, isoOrNull } from './columns.ts';
import type { Database } from './database.ts';

export interface Operator {
  operatorId: string;
  /** In lower case. */
  email: string;
  name: string;
  role: Role;
  /** The accounts that the operator may see; null means all. */
  mids: string[] | null;
  state: 'invited' | 'active' | 'suspended';
  createdAt: number;
  lastSignedInAt: number | null;
}

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
  /** False if the e-mail address is in use. */
  insert(operator: Operator, audit: AuditEntry): Promise<boolean>;
  find(operatorId: string): Promise<Operator | undefined>;
  findByEmail(email: string): Promise<Operator | undefined>;
  /** In the order of their names. */
  list(): Promise<Operator[]>;
  /**
   * Changes an operator and ends its sessions, so that a new role or a suspension takes effect at once; `lastOwner` if no
   * active owner would be left.
   */
  update(
    operatorId: string,
    change: Partial<Pick<Operator, 'name' | 'role' | 'mids' | 'state'>>,
    audit: AuditEntry,
  ): Promise<Operator | 'lastOwner' | undefined>;
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

export function createOperatorStore({ query }: Database): OperatorStore {
  const operators = () => query.selectFrom('operators').selectAll();
  return {
    insert: (operator, audit) =>
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
    update: (operatorId, change, audit) =>
      query.transaction().execute(async (transaction) => {
        // Locked, so that two owners cannot remove each other at the same time.
        const owners = await transaction
          .selectFrom('operators')
          .select('operatorId')
          .where('role', '=', 'owner')
          .where('state', '=', 'active')
          .forUpdate()
          .execute();
        const { role = 'owner', state = 'active' } = change;
        const isOwner = role === 'owner' && state === 'active';
        const [only, ...others] = owners;
        if (!isOwner && only?.operatorId === operatorId && others.length === 0) return 'lastOwner';
        const row = await transaction
          .updateTable('operators')
          .set(change)
          .where('operatorId', '=', operatorId)
          .returningAll()
          .executeTakeFirst();
        if (!row) return undefined;
        await transaction.deleteFrom('operatorSessions').where('operatorId', '=', operatorId).execute();
        await appendAudit(transaction, audit);
        return row as Operator;
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
