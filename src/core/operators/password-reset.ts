/** A forgotten password: a link by e-mail, with which the operator chooses a new one. The second factor stays as it is. */
import type { Secret } from '../../lib/crypto/secret.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Operator } from '../../store/operators/operators.ts';
import type { Gateway } from '../context.ts';
import { beginAttempt, type Client, guesserOf } from './attempts.ts';
import { hashPassword, type PasswordProblem, passwordProblem } from './passwords.ts';
import { auditEntry } from './principal.ts';
import { openValue, sealValue, spendValue } from './sealed-values.ts';
import { acceptCode } from './sign-in.ts';

const PURPOSE = 'password reset';

interface Reset {
  operatorId: string;
  /** The time of the password's last change: the link works until the next one. */
  changedAt: number;
}

/**
 * The operator with this address and the secret of its link. Undefined if there is none, if it has no password, or if it
 * got several links lately; the caller tells nobody which.
 */
export async function requestReset(
  gateway: Gateway,
  email: string,
  { address }: Client,
): Promise<{ operator: Operator; secret: string } | undefined> {
  const operator = await gateway.operators.findByEmail(email.trim().toLowerCase());
  const stored = operator && (await gateway.operatorCredentials.findPassword(operator.operatorId));
  if (operator?.state !== 'active' || !stored) return undefined;
  const { operatorId } = operator;
  const now = gateway.clock.real();
  const subject = `operator ${operatorId} reset`;
  const sent = await gateway.operatorCredentials.countAttempt(subject, now, now - LIMITS.operatorFailureWindowMs);
  if (sent > LIMITS.operatorResetsMost) return undefined;
  const by = { kind: 'system', id: null, name: 'sign-in', address } as const;
  await gateway.audit.append(auditEntry(gateway, by, 'operators.request_reset', { subject: operatorId }));
  const reset: Reset = { operatorId, changedAt: stored.changedAt };
  return { operator, secret: sealValue(gateway, PURPOSE, reset, LIMITS.operatorResetMs) };
}

async function openReset(gateway: Gateway, secret: string) {
  const opened = openValue<Reset>(gateway, PURPOSE, secret);
  if (!opened) return undefined;
  const { operatorId, changedAt } = opened.value;
  const operator = await gateway.operators.find(operatorId);
  const stored = await gateway.operatorCredentials.findPassword(operatorId);
  return operator?.state === 'active' && stored?.changedAt === changedAt ? { opened, operator, stored } : undefined;
}

export const isResetOpen = async (gateway: Gateway, secret: string): Promise<boolean> =>
  (await openReset(gateway, secret)) !== undefined;

export type ResetOutcome = 'done' | 'expired' | 'locked' | 'wrongCode' | { problem: PasswordProblem };

/** Sets the password if a code of the authenticator app, or a recovery code, proves who the operator is. */
export async function resetPassword(
  gateway: Gateway,
  secret: string,
  password: Secret,
  code: string,
  client: Client,
): Promise<ResetOutcome> {
  const reset = await openReset(gateway, secret);
  if (!reset) return 'expired';
  const { opened, operator, stored } = reset;
  const { operatorId, name, email } = operator;
  const problem = passwordProblem(password, operator);
  if (problem) return { problem };
  const attempt = await beginAttempt(gateway, guesserOf(gateway, email, client), 'code');
  if (attempt.isLocked) return 'locked';
  if (!(await acceptCode(gateway, operatorId, stored.totpSeed, code))) {
    await attempt.fail();
    return 'wrongCode';
  }
  if (!(await spendValue(gateway, opened))) return 'expired';
  await attempt.release();
  const change = { passwordHash: await hashPassword(password), changedAt: gateway.clock.real() };
  const by = { kind: 'operator', id: operatorId, name, address: client.address } as const;
  const audit = auditEntry(gateway, by, 'operators.reset_password', { subject: operatorId });
  const isSet = await gateway.ownCredentials.setPassword(operatorId, change, null, [audit]);
  return isSet ? 'done' : 'expired';
}
