/** Validates the merchant for the payment sheet of wallet-a, at the address that the payer's browser names. */
import { isVendorAddress, requestMerchantSession } from '../../connectors/merchant-session.ts';
import { merchantIdentity } from '../accounts/secret-settings.ts';
import type { Account, Gateway } from '../context.ts';
import { shopName, usesPretendWallet } from './page.ts';

/** The validation address of the pretend wallet, which is part of the sandbox itself. */
export const pretendValidationUrl = ({ inboundUrl }: Gateway): string => `${inboundUrl}/sandbox/wallets/session`;

/** The session that the browser passes to the wallet; undefined if the address is refused or the vendor gives none. */
export async function openMerchantSession(
  gateway: Gateway,
  account: Account,
  validationUrl: string,
): Promise<Record<string, unknown> | undefined> {
  const { mid, settings } = account;
  const isAllowed = usesPretendWallet(gateway, account)
    ? validationUrl === pretendValidationUrl(gateway)
    : isVendorAddress(validationUrl);
  const identity = isAllowed ? await merchantIdentity(gateway, account) : undefined;
  if (!identity) {
    gateway.log.warn({ mid }, 'merchant validation refused: not an address of the wallet, or no certificate');
    return undefined;
  }
  try {
    const content = {
      merchantIdentifier: settings['wallets.wallet-a.merchant_identifier'],
      displayName: shopName(account),
      initiative: 'web',
      initiativeContext: new URL(gateway.publicUrl).hostname,
    } as const;
    return await requestMerchantSession(validationUrl, content, { ...gateway.callbackReach, identity });
  } catch (error) {
    gateway.log.warn({ err: error, mid }, 'merchant validation failed');
    return undefined;
  }
}
