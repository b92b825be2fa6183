/** Signing in: with a passkey, or with a password and a one-time code; and confirming again who the operator is. */
import type { Secret } from '../../lib/crypto/secret.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Operator } from '../../store/operators/operators.ts';
import type { Gateway } from '../context.ts';
import { beginAttempt, type Client, type Guesser, guesserOf } from './attempts.ts';
import { newBrowserCookie } from './known-browsers.ts';
import { verifyProof } from './passkeys.ts';
import { isPassword } from './passwords.ts';
import { auditEntry } from './principal.ts';
import { openValue, sealValue, spendValue } from './sealed-values.ts';
import { confirmSession, type Session, startSession } from './sessions.ts';
import { inTurn } from './strangers.ts';
import { openTotpSeed, recoveryDigest, totpStep } from './totp.ts';

export type Method = 'passkey' | 'totp' | 'recovery_code' | 'invitation';

/** The values of the cookies of a session that was started, and of the browser, which is known from now on. */
export interface SignedIn {
  cookie: string;
  browser: string;
}

/** Starts a session. The audit entry is first: no session is without one. */
export async function signIn(gateway: Gateway, operator: Operator, method: Method, client: Client): Promise<SignedIn> {
  await recordProof(gateway, operator, 'operators.sign_in', method, client);
  const cookie = await startSession(gateway, operator, client.address, client.userAgent);
  return { cookie, browser: newBrowserCookie(gateway, operator.email) };
}

const recordProof = (
  gateway: Gateway,
  { operatorId, name }: Operator,
  action: string,
  method: Method,
  { address }: Client,
): Promise<void> => {
  const by = { kind: 'operator', id: operatorId, name, address } as const;
  return gateway.audit.append(auditEntry(gateway, by, action, { subject: operatorId, after: { method } }));
};

const PENDING = 'sign-in';

/** The password was right, and a code is expected: not a session. */
interface Pending {
  operatorId: string;
  /** The time of the password's last change: after a change the password is needed again. */
  changedAt: number;
}

export type PasswordOutcome = { pending: string } | 'wrong' | 'locked';

/** Checks e-mail address and password; takes the same time whether or not there is such an operator. */
export async function checkPassword(
  gateway: Gateway,
  typedEmail: string,
  password: Secret,
  client: Client,
): Promise<PasswordOutcome> {
  const email = typedEmail.trim().toLowerCase();
  const guesser = guesserOf(gateway, email, client);
  const check = () => checkGuess(gateway, guesser, password);
  // Counted in its turn, too: otherwise invented e-mail addresses could fill the table of failures.
  return guesser.kind === 'browser' ? check() : inTurn(client.address, check);
}

async function checkGuess(gateway: Gateway, guesser: Guesser, password: Secret): Promise<PasswordOutcome> {
  const { email } = guesser;
  const attempt = await beginAttempt(gateway, guesser, 'password');
  if (attempt.isLocked) return 'locked';
  const operator = await gateway.operators.findByEmail(email);
  const stored = operator && (await gateway.operatorCredentials.findPassword(operator.operatorId));
  const isRight = await isPassword(password, stored?.passwordHash);
  if (!isRight || !stored || operator.state !== 'active') {
    await attempt.fail();
    return 'wrong';
  }
  await attempt.release();
  const pending: Pending = { operatorId: operator.operatorId, changedAt: stored.changedAt };
  return { pending: sealValue(gateway, PENDING, pending, LIMITS.operatorStepMs) };
}

interface AcceptedCode {
  method: 'totp' | 'recovery_code';
  /** How many recovery codes are left, if one was used. */
  codesLeft?: number;
}

/** Accepts a code of the authenticator app or a recovery code, each of them once. */
export async function acceptCode(
  gateway: Gateway,
  operatorId: string,
  totpSeed: Buffer,
  typed: string,
): Promise<AcceptedCode | undefined> {
  const { operatorCredentials, clock } = gateway;
  const code = typed.replace(/[\s-]/g, '');
  if (/^\d{6}$/.test(code)) {
    const step = totpStep(openTotpSeed(gateway, operatorId, totpSeed), code, clock.real());
    const isNew = step !== undefined && (await operatorCredentials.useTotpStep(operatorId, step));
    return isNew ? { method: 'totp' } : undefined;
  }
  const codesLeft = await operatorCredentials.useRecoveryCode(operatorId, recoveryDigest(gateway, operatorId, code));
  return codesLeft === undefined ? undefined : { method: 'recovery_code', codesLeft };
}

export type SignInOutcome = (SignedIn & { codesLeft?: number | undefined }) | 'wrong' | 'locked' | 'expired';

/** Whether the value of the step between password and code can still be used. */
export const isPending = (gateway: Gateway, pending: string): boolean =>
  openValue<Pending>(gateway, PENDING, pending) !== undefined;

/** The second step: the code. */
export async function finishSignIn(
  gateway: Gateway,
  pending: string,
  code: string,
  client: Client,
): Promise<SignInOutcome> {
  const opened = openValue<Pending>(gateway, PENDING, pending);
  if (!opened) return 'expired';
  const { operatorId, changedAt } = opened.value;
  const operator = await gateway.operators.find(operatorId);
  const stored = await gateway.operatorCredentials.findPassword(operatorId);
  if (operator?.state !== 'active' || stored?.changedAt !== changedAt) return 'expired';
  const attempt = await beginAttempt(gateway, guesserOf(gateway, operator.email, client), 'code');
  if (attempt.isLocked) return 'locked';
  const accepted = await acceptCode(gateway, operatorId, stored.totpSeed, code);
  if (!accepted) {
    await attempt.fail();
    return 'wrong';
  }
  if (!(await spendValue(gateway, opened))) return 'expired';
  await attempt.release();
  return { ...(await signIn(gateway, operator, accepted.method, client)), codesLeft: accepted.codesLeft };
}

export interface PasskeyProof {
  state: string;
  credential: string;
}

/** Not counted: a proof cannot be guessed, and takes no noticeable time to verify. */
export async function signInWithPasskey(
  gateway: Gateway,
  { state, credential }: PasskeyProof,
  client: Client,
): Promise<SignedIn | 'wrong'> {
  const operatorId = await verifyProof(gateway, null, state, credential);
  const operator = operatorId === undefined ? undefined : await gateway.operators.find(operatorId);
  return operator?.state === 'active' ? signIn(gateway, operator, 'passkey', client) : 'wrong';
}

/** How this operator can prove who it is. */
export async function methodsOf(
  { operatorCredentials }: Gateway,
  { operatorId }: Operator,
): Promise<{ hasPassword: boolean; hasPasskey: boolean }> {
  const password = await operatorCredentials.findPassword(operatorId);
  const passkeys = await operatorCredentials.listPasskeys(operatorId);
  return { hasPassword: password !== undefined, hasPasskey: passkeys.length > 0 };
}

/** A session, with the value of its cookie. */
export interface OpenSession {
  session: Session;
  cookie: string;
}

export type ConfirmOutcome = 'confirmed' | 'wrong' | 'locked';

async function confirm(
  gateway: Gateway,
  { session, cookie }: OpenSession,
  method: Method,
  client: Client,
): Promise<ConfirmOutcome> {
  await recordProof(gateway, session.operator, 'operators.confirm', method, client);
  await confirmSession(gateway, cookie);
  return 'confirmed';
}

export async function confirmWithPassword(
  gateway: Gateway,
  open: OpenSession,
  password: Secret,
  code: string,
  client: Client,
): Promise<ConfirmOutcome> {
  const { operator, digest } = open.session;
  const { operatorId, email } = operator;
  const guesser = { kind: 'session', id: digest.toString('hex'), email, address: client.address } as const;
  const attempt = await beginAttempt(gateway, guesser, 'password');
  if (attempt.isLocked) return 'locked';
  const stored = await gateway.operatorCredentials.findPassword(operatorId);
  const isRight = await isPassword(password, stored?.passwordHash);
  const accepted = isRight && stored && (await acceptCode(gateway, operatorId, stored.totpSeed, code));
  if (!accepted) {
    await attempt.fail();
    return 'wrong';
  }
  await attempt.release();
  return confirm(gateway, open, accepted.method, client);
}

export async function confirmWithPasskey(
  gateway: Gateway,
  open: OpenSession,
  { state, credential }: PasskeyProof,
  client: Client,
): Promise<ConfirmOutcome> {
  const { operator, digest } = open.session;
  const proved = await verifyProof(gateway, digest, state, credential);
  return proved === operator.operatorId ? confirm(gateway, open, 'passkey', client) : 'wrong';
}
