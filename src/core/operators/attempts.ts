/** Lockouts: counts failed sign-ins in the database, for all processes together. */
import { LIMITS } from '../../rules/limits.ts';
import type { Gateway } from '../context.ts';
import { knownBrowser } from './known-browsers.ts';
import { auditEntry } from './principal.ts';

/** Where an attempt comes from. */
export interface Client {
  address: string;
  userAgent: string;
  /** The value of the cookie of a known browser; empty if the browser has none. */
  browser: string;
}

/** Who is counted. Each has counts of its own, so that a stranger cannot lock out an operator who is known here. */
export interface Guesser {
  kind: 'operator' | 'browser' | 'session';
  id: string;
  email: string;
  address: string;
}

/**
 * The browser itself, if the operator with this e-mail address signed in there before. Otherwise the e-mail address, for all
 * other browsers together; it need not belong to an operator, so that a lockout does not tell whether it does.
 */
export function guesserOf(gateway: Gateway, email: string, { address, browser }: Client): Guesser {
  const known = knownBrowser(gateway, email, browser);
  return known === undefined
    ? { kind: 'operator', id: gateway.fingerprints.digest(email, 'operator sign-in'), email, address }
    : { kind: 'browser', id: known, email, address };
}

/** What is guessed: a password, or a code after the right password. */
const GUESSES = {
  password: { suffix: '', windowMs: 'operatorFailureWindowMs', most: 'operatorFailuresMost' },
  code: { suffix: ' code', windowMs: 'operatorCodeWindowMs', most: 'operatorCodeFailuresMost' },
} as const;

export interface Attempt {
  isLocked: boolean;
  /** The attempt failed: it stays counted. */
  fail(): Promise<void>;
  /** The attempt did not fail. Earlier failures still count: they may be those of somebody else. */
  release(): Promise<void>;
}

/** Counts an attempt before its secrets are checked, so that concurrent attempts cannot exceed the limit. */
export async function beginAttempt(
  gateway: Gateway,
  { kind, id, email, address }: Guesser,
  guess: keyof typeof GUESSES,
): Promise<Attempt> {
  const { operatorCredentials, clock } = gateway;
  const { suffix, windowMs, most } = GUESSES[guess];
  const subject = `${kind} ${id}${suffix}`;
  const now = clock.real();
  const failures = await operatorCredentials.countAttempt(subject, now, now - LIMITS[windowMs]);
  return {
    isLocked: failures > LIMITS[most],
    async fail() {
      if (failures !== LIMITS[most]) return;
      const operator = await gateway.operators.findByEmail(email);
      const after = { failures, of: kind, guess };
      gateway.log.warn({ ...after, operator_id: operator?.operatorId }, 'sign-ins are locked out');
      // The log of changes has no entry for an address that no operator has: anyone could fill it.
      if (!operator) return;
      const by = { kind: 'system', id: null, name: 'sign-in', address } as const;
      await gateway.audit.append(auditEntry(gateway, by, 'operators.lockout', { subject: operator.operatorId, after }));
    },
    release: () => operatorCredentials.uncountAttempt(subject),
  };
}
