/** Lockouts: counts failed sign-ins per operator and per address in the database, for all processes together. */
import { addressPrefix } from '../../lib/address.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Gateway } from '../context.ts';
import { auditEntry } from '../principal.ts';

export interface Attempt {
  isLocked: boolean;
  /** The attempt failed: it stays counted. */
  fail(): Promise<void>;
  /** This step succeeded, and another one follows. */
  release(): Promise<void>;
  /** The operator is signed in: its earlier failures no longer count. */
  succeed(): Promise<void>;
}

/**
 * Counts an attempt before its secrets are checked. The count of an operator is kept under the e-mail address that was
 * typed, so that a lockout does not tell whether there is such an operator. An attempt with a passkey counts for the
 * address only: a lockout by wrong passwords does not keep an operator with a passkey out.
 */
export async function beginAttempt(gateway: Gateway, address: string, email?: string): Promise<Attempt> {
  const { operatorCredentials, clock, fingerprints } = gateway;
  const now = clock.real();
  const since = now - LIMITS.operatorFailureWindowMs;
  const limits = [
    { subject: `address ${addressPrefix(address)}`, most: LIMITS.addressFailuresMost, isOperator: false },
    ...(email === undefined
      ? []
      : [
          {
            subject: `operator ${fingerprints.digest(email, 'operator sign-in')}`,
            most: LIMITS.operatorFailuresMost,
            isOperator: true,
          },
        ]),
  ];
  const counted: ((typeof limits)[number] & { count: number })[] = [];
  for (const limit of limits) {
    const count = await operatorCredentials.countAttempt(limit.subject, now, since);
    counted.push({ ...limit, count });
    // A locked address does not lock out operators.
    if (count > limit.most) break;
  }
  const each = async (work: (subject: string, isOperator: boolean) => Promise<void>): Promise<void> => {
    for (const { subject, isOperator } of counted) await work(subject, isOperator);
  };
  return {
    isLocked: counted.some(({ count, most }) => count > most),
    async fail() {
      for (const { count, most, isOperator } of counted) {
        if (count !== most) continue;
        const operator = isOperator && email !== undefined ? await gateway.operators.findByEmail(email) : undefined;
        const by = { kind: 'system', id: null, name: 'sign-in', address } as const;
        const after = { failures: count, of: isOperator ? 'operator' : 'address' };
        gateway.log.warn({ of: after.of, operator_id: operator?.operatorId }, 'sign-ins are locked out');
        // The log of changes has no entry for an address that no operator has: anyone could fill it.
        if (isOperator && !operator) continue;
        const entry = auditEntry(gateway, by, 'operators.lockout', { subject: operator?.operatorId ?? null, after });
        await gateway.audit.append(entry);
      }
    },
    release: () => each((subject) => operatorCredentials.uncountAttempt(subject)),
    succeed: () =>
      each((subject, isOperator) =>
        isOperator ? operatorCredentials.forgetFailures(subject) : operatorCredentials.uncountAttempt(subject),
      ),
  };
}
