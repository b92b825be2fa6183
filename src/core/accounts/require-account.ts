/** The account that a caller names; one that it may not see does not exist. */
import { isUuid } from '../../lib/crypto/id.ts';
import { Refusal } from '../../rules/errors.ts';
import type { Account, Gateway } from '../context.ts';
import { type Principal, sees } from '../operators/principal.ts';
import { findAccount } from './accounts.ts';

export async function requireAccount(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  mid: string,
): Promise<Account> {
  const account = isUuid(mid) ? await findAccount(gateway, mid.toLowerCase()) : undefined;
  if (!account || !sees(principal, account.mid)) throw new Refusal('noSuchAccount');
  return account;
}
