/** The shop of a merchant's user: its name and its logo on top of every page. */
import { displayName, findAccount } from '../../../core/accounts/accounts.ts';
import type { Gateway } from '../../../core/context.ts';
import type { Session } from '../../../core/operators/sessions.ts';
import { isMerchantRole } from '../../../rules/roles.ts';
import type { PanelPage } from './layout.ts';

/** Undefined for operators, and for users of several accounts. */
export async function shopOf(
  gateway: Gateway,
  { principal: { role, mids } }: Pick<Session, 'principal'>,
): Promise<PanelPage['shop']> {
  const [mid] = isMerchantRole(role) && mids?.length === 1 ? mids : [];
  const account = mid === undefined ? undefined : await findAccount(gateway, mid);
  if (!account) return undefined;
  const address = account.settings['branding.logo'];
  // The pages of the panel load nothing from other servers.
  const own = `${gateway.publicUrl}/logos/`;
  return {
    name: displayName(account),
    logo: address.startsWith(own) ? address.slice(gateway.publicUrl.length) : undefined,
  };
}
