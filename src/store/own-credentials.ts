/** Changes that operators make to their own credentials and sessions; each is written with its audit entry. */
import { type AuditEntry, appendAudit } from './audit.ts';
import { iso, isoOrNull } from './columns.ts';
import type { Database } from './database.ts';
import { countRecoveryCodes, type Passkey, type PasswordCredential } from './operator-credentials.ts';
import { type OperatorSession, SESSION_COLUMNS } from './operators.ts';

export interface ListedSession extends OperatorSession {
  digest: Buffer;
}

export interface OwnCredentialStore {
  /** Sets the password, the seed, or both; ends all sessions but `keep`. False if a part is missing and none is stored. */
  setPassword(
    operatorId: string,
    change: Partial<Omit<PasswordCredential, 'changedAt'>> & Pick<PasswordCredential, 'changedAt'>,
    keep: Buffer,
    audit: AuditEntry,
  ): Promise<boolean>;
  /** How many recovery codes are left. */
  countRecoveryCodes(operatorId: string): Promise<number>;
  replaceRecoveryCodes(operatorId: string, digests: readonly string[], audit: AuditEntry): Promise<void>;
  /** False if another operator, or this one, has the passkey already. */
  insertPasskey(passkey: Passkey, audit: AuditEntry): Promise<boolean>;
  /** False if the operator has no such passkey. */
  renamePasskey(operatorId: string, credentialId: Buffer, name: string, audit: AuditEntry): Promise<boolean>;
  /** Deletes a passkey, and ends all sessions but `keep`; `lastWay` if the operator could not sign in any more. */
  deletePasskey(
    operatorId: string,
    credentialId: Buffer,
    keep: Buffer,
    audit: AuditEntry,
  ): Promise<'deleted' | 'unknown' | 'lastWay'>;
  /** The sessions that were created and used recently enough, the last used first. */
  listSessions(operatorId: string, createdAfter: number, usedAfter: number): Promise<ListedSession[]>;
  /** Ends these sessions of the operator; returns how many there were. */
  deleteSessions(operatorId: string, digests: readonly Buffer[], audit: AuditEntry): Promise<number>;
}

type Transaction = Parameters<Parameters<ReturnType<Database['query']['transaction']>['execute']>[0]>[0];

const endOtherSessions = (transaction: Transaction, operatorId: string, keep: Buffer): Promise<unknown> =>
  transaction.deleteFrom('operatorSessions').where('operatorId', '=', operatorId).where('digest', '<>', keep).execute();

/** Locks the operator, so that two requests cannot remove its last two passkeys at the same time. */
const lockOperator = (transaction: Transaction, operatorId: string): Promise<unknown> =>
  transaction.selectFrom('operators').select('operatorId').where('operatorId', '=', operatorId).forUpdate().execute();

export function createOwnCredentialStore({ query }: Database): OwnCredentialStore {
  const inTransaction = <Value>(work: (transaction: Transaction) => Promise<Value>): Promise<Value> =>
    query.transaction().execute(work);
  return {
    setPassword: (operatorId, { changedAt, ...change }, keep, audit) =>
      inTransaction(async (transaction) => {
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
        await endOtherSessions(transaction, operatorId, keep);
        await appendAudit(transaction, audit);
        return true;
      }),
    countRecoveryCodes: (operatorId) => countRecoveryCodes(query, operatorId),
    replaceRecoveryCodes: (operatorId, digests, audit) =>
      inTransaction(async (transaction) => {
        await lockOperator(transaction, operatorId);
        await transaction.deleteFrom('operatorRecoveryCodes').where('operatorId', '=', operatorId).execute();
        const codes = digests.map((digest) => ({ operatorId, digest }));
        await transaction.insertInto('operatorRecoveryCodes').values(codes).execute();
        await appendAudit(transaction, audit);
      }),
    insertPasskey: ({ createdAt, lastUsedAt, ...passkey }, audit) =>
      inTransaction(async (transaction) => {
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
    deletePasskey: (operatorId, credentialId, keep, audit) =>
      inTransaction(async (transaction) => {
        await lockOperator(transaction, operatorId);
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
        await endOtherSessions(transaction, operatorId, keep);
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
