/** The caller of the admin API or the panel: who it is, its role, and the accounts that it may see. */
import type { Role } from '../rules/roles.ts';

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
