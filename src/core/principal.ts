/** The caller of the admin API or the panel: who it is, its role, and the accounts that it may see. */
import type { Role } from '../rules/roles.ts';
import type { AuditActor, AuditEntry } from '../store/audit.ts';
import type { Gateway } from './context.ts';

export interface Principal {
  kind: 'token' | 'operator';
  /** Null for the token that is set by configuration. */
  id: string | null;
  name: string;
  role: Role;
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
}

/** Whether the caller may see this account. To a caller that may not, the account does not exist. */
export const sees = ({ mids }: Pick<Principal, 'mids'>, mid: string): boolean => mids === null || mids.includes(mid);

/** Who makes a change, and from where: a caller of the admin API, or a command on the machine itself. */
export interface Caller extends AuditActor {
  address: string | null;
}

/** The caller of a request from this address. */
export const callerOf = ({ kind, id, name }: Principal, address: string): Caller => ({ kind, id, name, address });

export const commandCaller = (command: string): Caller => ({
  kind: 'system',
  id: null,
  name: `turnpike ${command}`,
  address: null,
});

/** An audit entry of this moment. */
export const auditEntry = (
  { clock }: Pick<Gateway, 'clock'>,
  { address, kind, id, name }: Caller,
  action: string,
  facts: Partial<Pick<AuditEntry, 'mid' | 'subject' | 'before' | 'after'>> = {},
): AuditEntry => ({
  at: clock.real(),
  actor: { kind, id, name },
  address,
  action,
  mid: null,
  subject: null,
  before: null,
  after: null,
  ...facts,
});
