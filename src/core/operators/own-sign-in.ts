/** An operator's own sign-in: changes its password, authenticator app, recovery codes and passkeys, and ends sessions. */
import { hash } from 'node:crypto';
import type { Secret } from '../../lib/crypto/secret.ts';
import { isText } from '../../lib/text/json.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Passkey } from '../../store/operators/credentials.ts';
import type { Gateway } from '../context.ts';
import { creationOptions, type PasskeyOptions, verifyCreation } from './passkeys.ts';
import { hashPassword, type PasswordProblem, passwordProblem } from './passwords.ts';
import { auditEntry, type Caller } from './principal.ts';
import { openValue, sealValue, spendValue } from './sealed-values.ts';
import type { Session } from './sessions.ts';
import { newRecoveryCodes, newTotpSeed, recoveryDigest, sealTotpSeed, totpStep } from './totp.ts';

export const PASSKEY_NAME_LENGTH = 60;

const entry = (
  gateway: Gateway,
  by: Caller,
  { operator: { operatorId } }: Session,
  action: string,
  after?: Record<string, unknown>,
) => auditEntry(gateway, by, `operators.${action}`, { subject: operatorId, after: after ?? null });

export interface ActiveSession {
  /** Names the session in forms. */
  id: string;
  isCurrent: boolean;
  createdAt: number;
  usedAt: number;
  address: string;
  userAgent: string;
}

export interface OwnSignIn {
  hasPassword: boolean;
  passwordChangedAt: number | null;
  recoveryCodesLeft: number;
  passkeys: (Pick<Passkey, 'name' | 'createdAt' | 'lastUsedAt'> & { id: string })[];
  sessions: ActiveSession[];
}

/** A digest of the stored digest: it names a session without disclosing what the database contains. */
const sessionId = (digest: Buffer): string => hash('sha256', digest, 'hex').slice(0, 32);

const sessionsOf = ({ ownCredentials, clock }: Gateway, { operator: { operatorId } }: Session) => {
  const now = clock.real();
  return ownCredentials.listSessions(operatorId, now - LIMITS.operatorSessionMs, now - LIMITS.operatorIdleMs);
};

/** How the operator signs in, and where it is signed in. */
export async function ownSignIn(gateway: Gateway, session: Session): Promise<OwnSignIn> {
  const { operatorId } = session.operator;
  const password = await gateway.operatorCredentials.findPassword(operatorId);
  const passkeys = await gateway.operatorCredentials.listPasskeys(operatorId);
  const sessions = await sessionsOf(gateway, session);
  return {
    hasPassword: password !== undefined,
    passwordChangedAt: password?.changedAt ?? null,
    recoveryCodesLeft: await gateway.ownCredentials.countRecoveryCodes(operatorId),
    passkeys: passkeys.map(({ credentialId, name, createdAt, lastUsedAt }) => ({
      id: credentialId.toString('base64url'),
      name,
      createdAt,
      lastUsedAt,
    })),
    sessions: sessions.map(({ digest, createdAt, usedAt, address, userAgent }) => ({
      id: sessionId(digest),
      isCurrent: digest.equals(session.digest),
      createdAt,
      usedAt,
      address,
      userAgent,
    })),
  };
}

/** Replaces the password, and ends all other sessions; `noPassword` if the operator has none. */
export async function changePassword(
  gateway: Gateway,
  by: Caller,
  session: Session,
  password: Secret,
): Promise<PasswordProblem | 'noPassword' | undefined> {
  const { operator, digest } = session;
  const problem = passwordProblem(password, operator);
  if (problem) return problem;
  const change = { passwordHash: await hashPassword(password), changedAt: gateway.clock.real() };
  const audit = entry(gateway, by, session, 'change_password');
  return (await gateway.ownCredentials.setPassword(operator.operatorId, change, digest, [audit]))
    ? undefined
    : 'noPassword';
}

/** Chooses the language of the panel; null for that of the browser. */
export const setLanguage = (gateway: Gateway, by: Caller, session: Session, language: string | null): Promise<void> =>
  gateway.ownCredentials.setLanguage(
    session.operator.operatorId,
    language,
    entry(gateway, by, session, 'set_language', { language }),
  );

/** The step between the QR code and the first code of the app; with a password, if the operator had none. */
export interface OwnSetup {
  seed: string;
  passwordHash?: string;
}

const setupPurpose = ({ operator: { operatorId } }: Session): string => `own setup ${operatorId}`;

/** A new seed for the authenticator app; an operator without a password chooses one with it. */
export async function beginOwnSetup(
  gateway: Gateway,
  session: Session,
  password?: Secret,
): Promise<{ setup: OwnSetup; sealed: string } | PasswordProblem> {
  const problem = password && passwordProblem(password, session.operator);
  if (problem) return problem;
  const setup = { seed: newTotpSeed(), ...(password && { passwordHash: await hashPassword(password) }) };
  return { setup, sealed: sealValue(gateway, setupPurpose(session), setup, LIMITS.operatorSetupMs) };
}

/** Undefined if the setup has expired. */
export const openOwnSetup = (gateway: Gateway, session: Session, sealed: string): OwnSetup | undefined =>
  openValue<OwnSetup>(gateway, setupPurpose(session), sealed)?.value;

/** Stores the seed with new recovery codes, and returns these, once the operator has entered a code of its app. */
export async function finishOwnSetup(
  gateway: Gateway,
  by: Caller,
  session: Session,
  sealed: string,
  code: string,
): Promise<{ recoveryCodes: readonly string[] } | 'wrongCode' | 'expired'> {
  const opened = openValue<OwnSetup>(gateway, setupPurpose(session), sealed);
  if (!opened) return 'expired';
  const { seed, passwordHash } = opened.value;
  const { operator, digest } = session;
  const now = gateway.clock.real();
  const step = totpStep(seed, code.replace(/\s/g, ''), now);
  if (step === undefined) return 'wrongCode';
  if (!(await spendValue(gateway, opened))) return 'expired';
  const { codes, digests } = newCodes(gateway, session);
  const change = {
    ...(passwordHash !== undefined && { passwordHash }),
    recoveryDigests: digests,
    totpSeed: sealTotpSeed(gateway, operator.operatorId, seed),
    totpStep: step,
    changedAt: now,
  };
  const audit = [
    entry(gateway, by, session, passwordHash === undefined ? 'change_totp' : 'add_password'),
    entry(gateway, by, session, 'renew_recovery_codes'),
  ];
  const isStored = await gateway.ownCredentials.setPassword(operator.operatorId, change, digest, audit);
  return isStored ? { recoveryCodes: codes } : 'expired';
}

/** New recovery codes, and what is stored of them. */
function newCodes(gateway: Gateway, { operator: { operatorId } }: Session): { codes: string[]; digests: string[] } {
  const codes = newRecoveryCodes();
  return { codes, digests: codes.map((code) => recoveryDigest(gateway, operatorId, code)) };
}

/** New recovery codes; the earlier ones stop working. Undefined if the operator has no password to use them with. */
export async function renewRecoveryCodes(
  gateway: Gateway,
  by: Caller,
  session: Session,
): Promise<readonly string[] | undefined> {
  const { operatorId } = session.operator;
  if (!(await gateway.operatorCredentials.findPassword(operatorId))) return undefined;
  const { codes, digests } = newCodes(gateway, session);
  const audit = entry(gateway, by, session, 'renew_recovery_codes');
  const areStored = await gateway.ownCredentials.replaceRecoveryCodes(operatorId, digests, session.digest, audit);
  return areStored ? codes : undefined;
}

/** The options of a further passkey; the browser refuses an authenticator that has one of this operator already. */
export async function ownPasskeyOptions(
  gateway: Gateway,
  { operator, digest }: Session,
): Promise<PasskeyOptions | undefined> {
  const existing = await gateway.operatorCredentials.listPasskeys(operator.operatorId);
  return creationOptions(gateway, digest, operator, existing);
}

/** A name that the operator gives a passkey; undefined if it is too long or not a text that can be stored. */
export function readPasskeyName(typed: string): string | undefined {
  const name = typed.trim().replace(/\s+/g, ' ');
  return isText(name, PASSKEY_NAME_LENGTH) ? name : undefined;
}

export async function addPasskey(
  gateway: Gateway,
  by: Caller,
  session: Session,
  { state, credential }: { state: string; credential: string },
  name: string,
): Promise<'added' | 'refused'> {
  const created = await verifyCreation(gateway, session.digest, state, credential);
  const { operatorId } = session.operator;
  if (created?.operatorId !== operatorId) return 'refused';
  const passkey = { ...created.passkey, operatorId, name: name || created.passkey.name };
  const audit = entry(gateway, by, session, 'add_passkey', { name: passkey.name });
  return (await gateway.ownCredentials.insertPasskey(passkey, session.digest, audit)) ? 'added' : 'refused';
}

const credentialId = (id: string): Buffer => Buffer.from(id, 'base64url');

export const renamePasskey = (
  gateway: Gateway,
  by: Caller,
  session: Session,
  id: string,
  name: string,
): Promise<boolean> =>
  gateway.ownCredentials.renamePasskey(
    session.operator.operatorId,
    credentialId(id),
    name,
    entry(gateway, by, session, 'rename_passkey', { name }),
  );

/** Removes a passkey, and ends all other sessions; refuses to remove the last way to sign in. */
export async function removePasskey(
  gateway: Gateway,
  by: Caller,
  session: Session,
  id: string,
): Promise<'deleted' | 'unknown' | 'lastWay'> {
  const { operatorId } = session.operator;
  const passkey = (await gateway.operatorCredentials.listPasskeys(operatorId)).find((each) =>
    each.credentialId.equals(credentialId(id)),
  );
  if (!passkey) return 'unknown';
  const audit = entry(gateway, by, session, 'remove_passkey', { name: passkey.name });
  return gateway.ownCredentials.deletePasskey(operatorId, passkey.credentialId, session.digest, audit);
}

/** Ends one session by its id, or all but the current one; returns how many were ended. */
export async function endOwnSessions(gateway: Gateway, by: Caller, session: Session, id?: string): Promise<number> {
  const ended = (await sessionsOf(gateway, session))
    .map(({ digest }) => digest)
    .filter((digest) => (id === undefined ? !digest.equals(session.digest) : sessionId(digest) === id));
  const audit = entry(gateway, by, session, 'end_sessions', { sessions: ended.length });
  return gateway.ownCredentials.deleteSessions(session.operator.operatorId, ended, audit);
}
