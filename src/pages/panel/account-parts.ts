/** What the pages on one account share: its path, finding it, and its state. */
import { findAccount } from '../../core/accounts.ts';
import type { Account } from '../../core/context.ts';
import { sees } from '../../core/principal.ts';
import type { Html } from '../../lib/html.ts';
import { isUuid } from '../../lib/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { en } from './locales/en.ts';
import { badge } from './parts.ts';
import type { PanelRequest } from './route.ts';

export const pathOf = ({ mid }: Pick<Account, 'mid'>): string => `/admin/accounts/${mid}`;

/** The account of the path; to an operator who may not see it, it does not exist. */
export async function requireAccount({ gateway, session, params: { mid = '' } }: PanelRequest): Promise<Account> {
  const account = isUuid(mid) ? await findAccount(gateway, mid.toLowerCase()) : undefined;
  if (!account || !sees(session.principal, account.mid)) throw new Refusal('noSuchAccount');
  return account;
}

export const stateBadge = ({ isSuspended }: Account): Html =>
  isSuspended ? badge(en.accounts.suspended, 'bad') : badge(en.accounts.active, 'good');
