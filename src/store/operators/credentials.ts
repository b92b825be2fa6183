/** The credentials of operators: invitations, passwords with TOTP, recovery codes, passkeys, and failed sign-ins. */
import { sql } from 'kysely';
import { LIMITS } from '../../rules/limits.ts';
import type { Role } from '../../rules/roles.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { type Invitation, type NewLink, writeLink } from './links.ts';
import type { Operator } from './operators.ts';

export interface PasswordCredential {
  passwordHash: string;
  /** Sealed. */
  totpSeed: Buffer;
  /** The step of the last code that was accepted. */
  totpStep: bigint;
  changedAt: number;
}

export interface Passkey {
  credentialId: Buffer;
  operatorId: string;
  publicKey: Buffer;
  counter: bigint;
  transports: string[];
  name: string;
  createdAt: number;
  lastUsedAt: number | null;
}

/** What an operator signs in with from now on: a password with TOTP and recovery codes, or a passkey. */
export type NewCredentials =
  | { kind: 'password'; password: PasswordCredential; recoveryDigests: readonly string[] }
  | { kind: 'passkey'; passkey: Omit<Passkey, 'operatorId'> };

export interface Acceptance {
  /** The id of the operator; a new one if the link creates the first owner. */
  operatorId: string;
  name: string;
  /** The e-mail address of the first owner; the address of another operator does not change. */
  email: string;
  credentials: NewCredentials;
}

export interface OperatorCredentialStore {
  /** Creates a link; an earlier link of the same operator stops working. */
  insertInvitation(link: NewLink): Promise<void>;
  /** The invitation with this digest, and its operator; undefined if it has expired or was used. */
  findInvitation(
    digest: Buffer,
    now: number,
  ): Promise<{ invitation: Invitation; operator: Operator | undefined } | undefined>;
  /**
   * Uses an invitation: replaces all credentials of the operator, activates it, and ends its sessions. `audit` describes
   * the change from the operator before, if there was one.
   */
  accept(
    digest: Buffer,
    acceptance: Acceptance,
    now: number,
    audit: (before: Operator | undefined) => AuditEntry,
  ): Promise<Operator | NotAccepted>;
  isAnyoneActive(): Promise<boolean>;
  findPassword(operatorId: string): Promise<PasswordCredential | undefined>;
  /** Records the step of an accepted code; false if a code of this step, or of a later one, was accepted before. */
  useTotpStep(operatorId: string, step: bigint): Promise<boolean>;
  /** Deletes a recovery code; undefined if there is no such code, otherwise how many are left. */
  useRecoveryCode(operatorId: string, digest: string): Promise<number | undefined>;
  findPasskey(credentialId: Buffer): Promise<Passkey | undefined>;
  /** In the order of their creation. */
  listPasskeys(operatorId: string): Promise<Passkey[]>;
  /** Records a use; false if the counter does not increase, as with a copied passkey. */
  usePasskey(credentialId: Buffer, counter: bigint, now: number): Promise<boolean>;
  /** Counts an attempt of this subject; returns the count since that time. */
  countAttempt(subject: string, now: number, since: number): Promise<number>;
  /** The attempt did not fail. */
  uncountAttempt(subject: string): Promise<void>;
  /** Marks a value as used; false if it was used before. */
  spend(digest: Buffer, expiresAt: number, now: number): Promise<boolean>;
}

/** `passkeyInUse`: another operator has a passkey with the same id. */
export type NotAccepted = 'noInvitation' | 'emailInUse' | 'passkeyInUse';

/** Ends a transaction without its changes. */
class Undone extends Error {
  readonly outcome: NotAccepted;

  constructor(outcome: NotAccepted) {
    super(outcome);
    this.outcome = outcome;
  }
}

const PASSKEY_COLUMNS = [
  'credentialId',
  'operatorId',
  'publicKey',
  'counter',
  'transports',
  'name',
  'createdAt',
  'lastUsedAt',
] as const;

/** Counts of the longest window are kept. */
const FAILURES_KEPT_MS = Math.max(LIMITS.operatorFailureWindowMs, LIMITS.operatorCodeWindowMs);

type Transaction = Parameters<Parameters<ReturnType<Database['query']['transaction']>['execute']>[0]>[0];

/** Deletes the invitation; returns its operator, or null for the first owner. */
async function takeInvitation(transaction: Transaction, digest: Buffer, now: number): Promise<string | null> {
  const [taken] = await transaction
    .deleteFrom('operatorInvitations')
    .where('digest', '=', digest)
    .where('expiresAt', '>', iso(now) as never)
    .returning('operatorId')
    .execute();
  if (!taken) throw new Undone('noInvitation');
  return taken.operatorId;
}

async function createFirstOwner(transaction: Transaction, { operatorId, email, name }: Acceptance, now: number) {
  // Only one of several links that are used at the same time creates an owner.
  await sql`select pg_advisory_xact_lock(hashtext('turnpike first owner'))`.execute(transaction);
  const active = await transaction
    .selectFrom('operators')
    .select('operatorId')
    .where('state', '=', 'active')
    .executeTakeFirst();
  if (active) throw new Undone('noInvitation');
  await transaction.deleteFrom('operatorInvitations').where('operatorId', 'is', null).execute();
  const role: Role = 'owner';
  const operator = await transaction
    .insertInto('operators')
    .values({ operatorId, email, name, role, mids: null, state: 'active', createdAt: iso(now), lastSignedInAt: null })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!operator) throw new Undone('emailInUse');
  return operator as Operator;
}

/** The invited operator, locked; a suspended one stays suspended. */
async function lockInvited(transaction: Transaction, operatorId: string): Promise<Operator> {
  const operator = await transaction
    .selectFrom('operators')
    .selectAll()
    .where('operatorId', '=', operatorId)
    .where('state', '<>', 'suspended')
    .forUpdate()
    .executeTakeFirst();
  if (!operator) throw new Undone('noInvitation');
  return operator as Operator;
}

async function activate(transaction: Transaction, operatorId: string, name: string): Promise<Operator> {
  const operator = await transaction
    .updateTable('operators')
    .set({ name, state: 'active' })
    .where('operatorId', '=', operatorId)
    .returningAll()
    .executeTakeFirstOrThrow();
  return operator as Operator;
}

async function replaceCredentials(transaction: Transaction, operatorId: string, credentials: NewCredentials) {
  const tables = ['operatorPasswords', 'operatorRecoveryCodes', 'operatorPasskeys', 'operatorSessions'] as const;
  for (const table of tables) await transaction.deleteFrom(table).where('operatorId', '=', operatorId).execute();
  if (credentials.kind === 'password') {
    const { password, recoveryDigests } = credentials;
    await transaction
      .insertInto('operatorPasswords')
      .values({ ...password, operatorId, changedAt: iso(password.changedAt) })
      .execute();
    const codes = recoveryDigests.map((digest) => ({ operatorId, digest }));
    await transaction.insertInto('operatorRecoveryCodes').values(codes).execute();
  } else {
    const { createdAt, lastUsedAt, ...passkey } = credentials.passkey;
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto('operatorPasskeys')
      .values({ ...passkey, operatorId, createdAt: iso(createdAt), lastUsedAt: isoOrNull(lastUsedAt) })
      .onConflict((conflict) => conflict.column('credentialId').doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 0n) throw new Undone('passkeyInUse');
  }
}

/** How many recovery codes an operator has left. */
export async function countRecoveryCodes(query: Database['query'], operatorId: string): Promise<number> {
  const { left } = await query
    .selectFrom('operatorRecoveryCodes')
    .select(({ fn }) => fn.countAll<string>().as('left'))
    .where('operatorId', '=', operatorId)
    .executeTakeFirstOrThrow();
  return Number(left);
}

export function createOperatorCredentialStore({ query }: Database): OperatorCredentialStore {
  return {
    insertInvitation: (link) => query.transaction().execute((transaction) => writeLink(transaction, link)),
    async findInvitation(digest, now) {
      const invitation = (await query
        .selectFrom('operatorInvitations')
        .select(['operatorId', 'expiresAt', 'invitedBy'])
        .where('digest', '=', digest)
        .where('expiresAt', '>', iso(now) as never)
        .executeTakeFirst()) as Invitation | undefined;
      if (!invitation) return undefined;
      if (invitation.operatorId === null) return { invitation, operator: undefined };
      const operator = (await query
        .selectFrom('operators')
        .selectAll()
        .where('operatorId', '=', invitation.operatorId)
        .executeTakeFirst()) as Operator | undefined;
      return operator && { invitation, operator };
    },
    async accept(digest, acceptance, now, audit) {
      try {
        return await query.transaction().execute(async (transaction) => {
          const invited = await takeInvitation(transaction, digest, now);
          if (invited !== null && invited !== acceptance.operatorId) throw new Undone('noInvitation');
          const before = invited === null ? undefined : await lockInvited(transaction, invited);
          const operator = await (before
            ? activate(transaction, before.operatorId, acceptance.name)
            : createFirstOwner(transaction, acceptance, now));
          await replaceCredentials(transaction, operator.operatorId, acceptance.credentials);
          await appendAudit(transaction, audit(before));
          return operator;
        });
      } catch (error) {
        if (error instanceof Undone) return error.outcome;
        throw error;
      }
    },
    async isAnyoneActive() {
      const active = query.selectFrom('operators').select('operatorId').where('state', '=', 'active').limit(1);
      return (await active.executeTakeFirst()) !== undefined;
    },
    async findPassword(operatorId) {
      return (await query
        .selectFrom('operatorPasswords')
        .select(['passwordHash', 'totpSeed', 'totpStep', 'changedAt'])
        .where('operatorId', '=', operatorId)
        .executeTakeFirst()) as PasswordCredential | undefined;
    },
    async useTotpStep(operatorId, step) {
      const { numUpdatedRows } = await query
        .updateTable('operatorPasswords')
        .set({ totpStep: step })
        .where('operatorId', '=', operatorId)
        .where('totpStep', '<', step)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    async useRecoveryCode(operatorId, digest) {
      const { numDeletedRows } = await query
        .deleteFrom('operatorRecoveryCodes')
        .where('operatorId', '=', operatorId)
        .where('digest', '=', digest)
        .executeTakeFirst();
      if (numDeletedRows === 0n) return undefined;
      return countRecoveryCodes(query, operatorId);
    },
    async findPasskey(credentialId) {
      return (await query
        .selectFrom('operatorPasskeys')
        .select(PASSKEY_COLUMNS)
        .where('credentialId', '=', credentialId)
        .executeTakeFirst()) as Passkey | undefined;
    },
    async listPasskeys(operatorId) {
      return (await query
        .selectFrom('operatorPasskeys')
        .select(PASSKEY_COLUMNS)
        .where('operatorId', '=', operatorId)
        .orderBy('createdAt')
        .execute()) as Passkey[];
    },
    async usePasskey(credentialId, counter, now) {
      // Synced passkeys do not count: their counter stays 0.
      const { numUpdatedRows } = await query
        .updateTable('operatorPasskeys')
        .set({ counter, lastUsedAt: iso(now) })
        .where('credentialId', '=', credentialId)
        .where((one) => one.or([one('counter', '<', counter), one('counter', '=', 0n)]))
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    async countAttempt(subject, now, since) {
      await query
        .deleteFrom('operatorSignInFailures')
        .where('since', '<=', iso(now - FAILURES_KEPT_MS) as never)
        .execute();
      const isOver = sql`operator_sign_in_failures.since <= ${iso(since)}`;
      const { failures } = await query
        .insertInto('operatorSignInFailures')
        .values({ subject, failures: 1, since: iso(now) })
        .onConflict((conflict) =>
          conflict.column('subject').doUpdateSet({
            failures: sql`case when ${isOver} then 1 else operator_sign_in_failures.failures + 1 end` as never,
            since: sql`case when ${isOver} then excluded.since else operator_sign_in_failures.since end` as never,
          }),
        )
        .returning('failures')
        .executeTakeFirstOrThrow();
      return failures;
    },
    async uncountAttempt(subject) {
      await query
        .updateTable('operatorSignInFailures')
        .set({ failures: sql`greatest(failures - 1, 0)` as never })
        .where('subject', '=', subject)
        .execute();
    },
    async spend(digest, expiresAt, now) {
      await query
        .deleteFrom('operatorSpentValues')
        .where('expiresAt', '<=', iso(now) as never)
        .execute();
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('operatorSpentValues')
        .values({ digest, expiresAt: iso(expiresAt) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows === 1n;
    },
  };
}
