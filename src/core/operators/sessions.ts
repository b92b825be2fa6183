/** Sessions of the panel: starts and ends them, and identifies the operator of a request. */
import { hash } from 'node:crypto';
import { newSecret } from '../../lib/crypto/id.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Operator } from '../../store/operators/operators.ts';
import type { Gateway } from '../context.ts';
import type { Principal } from './principal.ts';

export interface Session {
  principal: Principal & { id: string };
  operator: Operator;
  /** A value that the forms of the session contain, so that another site cannot submit them. */
  formToken: string;
  /** Identifies the session in the database. */
  digest: Buffer;
  /** Whether the operator proved recently who it is, as sensitive actions need. */
  isConfirmed: boolean;
}

const digestOf = (cookie: string): Buffer => hash('sha256', cookie, 'buffer');

/** Returns the value of the cookie; only its digest is stored. */
export async function startSession(
  gateway: Gateway,
  { operatorId }: Pick<Operator, 'operatorId'>,
  address: string,
  userAgent: string,
): Promise<string> {
  const cookie = newSecret(32);
  const now = gateway.clock.real();
  const session = { operatorId, createdAt: now, usedAt: now, confirmedAt: now, address, userAgent };
  await gateway.operators.insertSession(digestOf(cookie), { ...session, userAgent: userAgent.slice(0, 255) });
  return cookie;
}

/** The session of this cookie; undefined if there is none, it has ended, or its operator is not active. */
export async function findSession(gateway: Gateway, cookie: string): Promise<Session | undefined> {
  const now = gateway.clock.real();
  const digest = digestOf(cookie);
  const found = await gateway.operators.useSession(
    digest,
    now,
    now - LIMITS.operatorSessionMs,
    now - LIMITS.operatorIdleMs,
  );
  if (found?.operator.state !== 'active') return undefined;
  const { operator, session } = found;
  const { operatorId: id, name, role, mids, refundLimit } = operator;
  return {
    principal: { kind: 'operator', id, name, role, mids, refundLimit },
    operator,
    formToken: gateway.fingerprints.digest(cookie, 'operator form'),
    digest,
    isConfirmed: now - session.confirmedAt < LIMITS.operatorConfirmationMs,
  };
}

/** The operator has proved again who it is. */
export const confirmSession = (gateway: Gateway, cookie: string): Promise<void> =>
  gateway.operators.confirmSession(digestOf(cookie), gateway.clock.real());

export const endSession = (gateway: Gateway, cookie: string): Promise<void> =>
  gateway.operators.deleteSession(digestOf(cookie));
