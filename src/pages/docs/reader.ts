/** Whose keys the code of the docs shows: in the sandbox those of an account that the reader may see, otherwise none. */
import { listAccounts } from '../../core/accounts/accounts.ts';
import { demoAccount } from '../../core/accounts/demo.ts';
import type { Account, Gateway } from '../../core/context.ts';
import { findSession } from '../../core/operators/sessions.ts';
import { isAllowed } from '../../rules/roles.ts';

/** The account of an operator's own scope, or the demo account, whose keys the sandbox shows to everyone. */
export async function accountOfReader(gateway: Gateway, cookie: string | undefined): Promise<Account | undefined> {
  if (gateway.environment !== 'sandbox') return undefined;
  const session = cookie === undefined ? undefined : await findSession(gateway, cookie);
  const mids = session?.principal.mids ?? null;
  if (!session || mids === null) return demoAccount(gateway);
  if (!isAllowed(session.principal.role, 'accounts.view')) return undefined;
  return (await listAccounts(gateway, 1, undefined, mids))[0];
}
