/** The caller of the admin API or the panel: who it is, its role, and the accounts that it may see. */
import type { AuditKey } from '../../lib/crypto/audit-chain.ts';
import { isWithinLimit } from '../../lib/money/refund-limit.ts';
import { Refusal } from '../../rules/errors.ts';
import { isWithin, type Role, type Scope } from '../../rules/roles.ts';
import type { AuditActor, AuditEntry } from '../../store/audit/audit.ts';
import type { Gateway } from '../context.ts';

export interface Principal {
  kind: 'token' | 'operator';
  /** Null for the token that is set by configuration. */
  id: string | null;
  name: string;
  role: Role;
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  /** The most that the caller refunds of one payment, a decimal number in its currency; null for no limit. */
  refundLimit: string | null;
}

/** Whether the caller may see this account. To a caller that may not, the account does not exist. */
export const sees = ({ mids }: Pick<Principal, 'mids'>, mid: string): boolean => mids === null || mids.includes(mid);

/** Whether the caller may use a route of this scope; `mid` is the account that the body names. */
export const isInScope = ({ mids }: Pick<Principal, 'mids'>, scope: Scope, mid?: unknown): boolean =>
  mids === null || scope === 'accounts' || (scope === 'installation without mid' && (mid ?? '') !== '');

/** What a token or an operator may do, and in which accounts. */
export type Reach = Pick<Principal, 'role' | 'mids' | 'refundLimit'>;

/** Whether a token or an operator can do nothing that the caller cannot do itself. The caller manages only such ones. */
export const covers = (caller: Reach, wanted: Reach): boolean => excess(caller, wanted) === undefined;

/** The value that allows more than the caller may do itself. */
function excess(caller: Reach, { role, mids, refundLimit }: Reach): 'role' | 'mids' | 'refund_limit' | undefined {
  if (!isWithin(role, caller.role)) return 'role';
  if (caller.mids !== null && !mids?.every((mid) => sees(caller, mid))) return 'mids';
  return isWithinLimit(refundLimit, caller.refundLimit) ? undefined : 'refund_limit';
}

/** Refuses to give a token or an operator more than the caller has itself. */
export function requireCovered(caller: Reach, wanted: Reach): void {
  const field = excess(caller, wanted);
  if (field === undefined) return;
  throw new Refusal('forbidden', [
    { field, sentence: 'This value should allow nothing that you may not do yourself.' },
  ]);
}

/** Who makes a change, and from where: a caller of the admin API, or a command on the machine itself. */
export interface Caller extends AuditActor {
  address: string | null;
}

/** The caller of a request from this address. */
export const callerOf = ({ kind, id, name }: Principal, address: string): Caller => ({ kind, id, name, address });

/** Whether this caller is the one who proposed something that needs two persons. */
export const isAuthor = (
  { authorKind, authorId }: { authorKind: Caller['kind']; authorId: Caller['id'] },
  { kind, id }: Pick<Caller, 'kind' | 'id'>,
): boolean => authorKind === kind && authorId === id;

export const commandCaller = (command: string): Caller => ({
  kind: 'system',
  id: null,
  name: `turnpike ${command}`,
  address: null,
});

/** The key of the audit log. It does not change with the master key, because it comes from a secret that is sealed with it. */
export const auditKey =
  ({ fingerprints }: Pick<Gateway, 'fingerprints'>): AuditKey =>
  (text) =>
    fingerprints.mac(text, 'audit log');

/** An audit entry of this moment. */
export const auditEntry = (
  gateway: Pick<Gateway, 'clock' | 'fingerprints'>,
  { address, kind, id, name }: Caller,
  action: string,
  facts: Partial<Pick<AuditEntry, 'mid' | 'subject' | 'before' | 'after'>> = {},
): AuditEntry => ({
  at: gateway.clock.real(),
  actor: { kind, id, name },
  address,
  action,
  mid: null,
  subject: null,
  before: null,
  after: null,
  ...facts,
  key: auditKey(gateway),
});
