/** Changes that operators make to their own credentials, unless their session has ended, each with its audit entry. */
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { countRecoveryCodes, type Passkey, type PasswordCredential } from './credentials.ts';
import { type OperatorSession, SESSION_COLUMNS } from './operators.ts';

export interface ListedSession extends OperatorSession {
  digest: Buffer;
}

export type PasswordChange = Pick<PasswordCredential, 'changedAt'> &
  Partial<Pick<PasswordCredential, 'passwordHash'>> &
  (
    | (Pick<PasswordCredential, 'totpSeed' | 'totpStep'> & { recoveryDigests: readonly string[] })
    | { totpSeed?: never; totpStep?: never; recoveryDigests?: never }
  );

export interface OwnCredentialStore {
  /**
   * Sets the password, the seed, or both; ends all sessions but this one, which is null for a reset. A new seed comes with
   * new recovery codes, in place of the earlier ones. False if a part is missing and none is stored, or the session has ended.
   */
  setPassword(
    operatorId: string,
    change: PasswordChange,
    session: Buffer | null,
    audit: readonly AuditEntry[],
  ): Promise<boolean>;
  /** Null for the language of the browser. */
  setLanguage(operatorId: string, language: string | null, audit: AuditEntry): Promise<void>;
  /** How many recovery codes are left. */
  countRecoveryCodes(operatorId: string): Promise<number>;
  /** False if the session has ended. */
  replaceRecoveryCodes(
    operatorId: string,
    digests: readonly string[],
    session: Buffer,
    audit: AuditEntry,
  ): Promise<boolean>;
  /** False if another operator, or this one, has the passkey already, or the session has ended. */
  insertPasskey(passkey: Passkey, session: Buffer, audit: AuditEntry): Promise<boolean>;
  /** False if the operator has no such passkey. */
  renamePasskey(operatorId: string, credentialId: Buffer, name: string, audit: AuditEntry): Promise<boolean>;
  /**
   * Deletes a passkey, and ends all sessions but this one. `lastWay` if the operator could not sign in any more; `unknown`
   * also if the session has ended.
   */
  deletePasskey(
    operatorId: string,
    credentialId: Buffer,
    session: Buffer,
    audit: AuditEntry,
  ): Promise<'deleted' | 'unknown' | 'lastWay'>;
  /** The sessions that were created and used recently enough, the last used first. */
  listSessions(operatorId: string, createdAfter: number, usedAfter: number): Promise<ListedSession[]>;
  /** Ends these sessions of the operator; returns how many there were. */
  deleteSessions(operatorId: string, digests: readonly Buffer[], audit: AuditEntry): Promise<number>;
}

type Transaction = Parameters<Parameters<ReturnType<Database['query']['transaction']>['execute']>[0]>[0];

const endOtherSessions = (transaction: Transaction, operatorId: string, session: Buffer | null): Promise<unknown> =>
  transaction
    .deleteFrom('operatorSessions')
    .where('operatorId', '=', operatorId)
    .$if(session !== null, (others) => others.where('digest', '<>', session))
    .execute();

/**
 * Locks the operator, so that of two requests the second one sees what the first one changed, and returns whether the
 * session goes on; a reset has none.
 */
async function lockOperator(transaction: Transaction, operatorId: string, session: Buffer | null): Promise<boolean> {
  await transaction
    .selectFrom('operators')
    .select('operatorId')
    .where('operatorId', '=', operatorId)
    .forUpdate()
    .execute();
  if (session === null) return true;
  const found = await transaction
    .selectFrom('operatorSessions')
    .select('digest')
    .where('operatorId', '=', operatorId)
    .where('digest', '=', session)
    .executeTakeFirst();
  return found !== undefined;
}

async function replaceCodes(transaction: Transaction, operatorId: string, digests: readonly string[]): Promise<void> {
  await transaction.deleteFrom('operatorRecoveryCodes').where('operatorId', '=', operatorId).execute();
  const codes = digests.map((digest) => ({ operatorId, digest }));
  await transaction.insertInto('operatorRecoveryCodes').values(codes).execute();
}

export function createOwnCredentialStore({ query }: Database): OwnCredentialStore {
  const inTransaction = <Value>(work: (transaction: Transaction) => Promise<Value>): Promise<Value> =>
    query.transaction().execute(work);
  return {
    setPassword: (operatorId, { changedAt, recoveryDigests, ...change }, session, audit) =>
      inTransaction(async (transaction) => {
        if (!(await lockOperator(transaction, operatorId, session))) return false;
        const { passwordHash, totpSeed, totpStep } = change;
        const values = { ...change, changedAt: iso(changedAt) };
        if (passwordHash !== undefined && totpSeed !== undefined && totpStep !== undefined) {
          await transaction
            .insertInto('operatorPasswords')
            .values({ operatorId, passwordHash, totpSeed, totpStep, changedAt: values.changedAt })
            .onConflict((conflict) => conflict.column('operatorId').doUpdateSet(values))
            .execute();
        } else {
          const { numUpdatedRows } = await transaction
            .updateTable('operatorPasswords')
            .set(values)
            .where('operatorId', '=', operatorId)
            .executeTakeFirst();
          if (numUpdatedRows === 0n) return false;
        }
        if (recoveryDigests) await replaceCodes(transaction, operatorId, recoveryDigests);
        await endOtherSessions(transaction, operatorId, session);
        for (const each of audit) await appendAudit(transaction, each);
        return true;
      }),
    setLanguage: (operatorId, language, audit) =>
      query.transaction().execute(async (transaction) => {
        await transaction.updateTable('operators').set({ language }).where('operatorId', '=', operatorId).execute();
        await appendAudit(transaction, audit);
      }),
    countRecoveryCodes: (operatorId) => countRecoveryCodes(query, operatorId),
    replaceRecoveryCodes: (operatorId, digests, session, audit) =>
      inTransaction(async (transaction) => {
        if (!(await lockOperator(transaction, operatorId, session))) return false;
        await replaceCodes(transaction, operatorId, digests);
        await appendAudit(transaction, audit);
        return true;
      }),
    insertPasskey: ({ createdAt, lastUsedAt, ...passkey }, session, audit) =>
      inTransaction(async (transaction) => {
        if (!(await lockOperator(transaction, passkey.operatorId, session))) return false;
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto('operatorPasskeys')
          .values({ ...passkey, createdAt: iso(createdAt), lastUsedAt: isoOrNull(lastUsedAt) })
          .onConflict((conflict) => conflict.column('credentialId').doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 0n) return false;
        await appendAudit(transaction, audit);
        return true;
      }),
    renamePasskey: (operatorId, credentialId, name, audit) =>
      inTransaction(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('operatorPasskeys')
          .set({ name })
          .where('operatorId', '=', operatorId)
          .where('credentialId', '=', credentialId)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await appendAudit(transaction, audit);
        return true;
      }),
    deletePasskey: (operatorId, credentialId, session, audit) =>
      inTransaction(async (transaction) => {
        if (!(await lockOperator(transaction, operatorId, session))) return 'unknown';
        const owned = async (table: 'operatorPasskeys' | 'operatorPasswords'): Promise<number> =>
          (await transaction.selectFrom(table).select('operatorId').where('operatorId', '=', operatorId).execute())
            .length;
        const isLast = (await owned('operatorPasskeys')) + (await owned('operatorPasswords')) < 2;
        const passkey = transaction
          .selectFrom('operatorPasskeys')
          .select('name')
          .where('operatorId', '=', operatorId)
          .where('credentialId', '=', credentialId);
        if (!(await passkey.executeTakeFirst())) return 'unknown';
        if (isLast) return 'lastWay';
        await transaction.deleteFrom('operatorPasskeys').where('credentialId', '=', credentialId).execute();
        await endOtherSessions(transaction, operatorId, session);
        await appendAudit(transaction, audit);
        return 'deleted';
      }),
    async listSessions(operatorId, createdAfter, usedAfter) {
      return (await query
        .selectFrom('operatorSessions')
        .select(['digest', ...SESSION_COLUMNS])
        .where('operatorId', '=', operatorId)
        .where('createdAt', '>', iso(createdAfter) as never)
        .where('usedAt', '>', iso(usedAfter) as never)
        .orderBy('usedAt', 'desc')
        .execute()) as ListedSession[];
    },
    deleteSessions: (operatorId, digests, audit) =>
      inTransaction(async (transaction) => {
        if (digests.length === 0) return 0;
        const { numDeletedRows } = await transaction
          .deleteFrom('operatorSessions')
          .where('operatorId', '=', operatorId)
          .where('digest', 'in', digests)
          .executeTakeFirst();
        if (numDeletedRows > 0n) await appendAudit(transaction, audit);
        return Number(numDeletedRows);
      }),
  };
}
