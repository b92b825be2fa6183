/** The roots of device wallets: warns the operator before the last usable one expires. */
import { rootsExpireAt } from '../../lib/wallets/roots.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Gateway } from '../context.ts';

type Trust = Pick<Gateway, 'wallets' | 'environment'>;

/** When the roots of each wallet expire that this installation uses. */
export const walletRootsExpireAt = ({ wallets, environment }: Trust): Record<string, number> =>
  rootsExpireAt(wallets.roots, environment === 'sandbox' ? 'TEST' : 'PRODUCTION');

/** The wallets whose tokens will soon be refused because no root is left. */
export const expiringWallets = (gateway: Trust & Pick<Gateway, 'clock'>): { wallet: string; expiresAt: number }[] =>
  Object.entries(walletRootsExpireAt(gateway))
    .filter(([, expiresAt]) => expiresAt - gateway.clock.real() < LIMITS.walletRootWarningMs)
    .map(([wallet, expiresAt]) => ({ wallet, expiresAt }));

export async function warnOfExpiringRoots(gateway: Gateway): Promise<void> {
  for (const { wallet, expiresAt } of expiringWallets(gateway)) {
    const fields = { wallet, expires_at: new Date(expiresAt).toISOString() };
    gateway.log.warn(fields, 'the last root key of a wallet expires: install a version with newer roots');
  }
}
