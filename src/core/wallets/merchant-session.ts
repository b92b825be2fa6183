/** Validates the merchant for the payment sheet of wallet-a, at the address that the payer's browser names. */
import { isVendorAddress, requestMerchantSession } from '../../connectors/merchant-session.ts';
import { Deadline } from '../../lib/time/deadline.ts';
import { LIMITS } from '../../rules/limits.ts';
import { merchantIdentity } from '../accounts/secret-settings.ts';
import { connectorOf } from '../connections/connectors.ts';
import type { Account, Gateway } from '../context.ts';
import { type PageWallet, shopName, usesPretendWallet } from './page.ts';

/** The validation address of the pretend wallet, which is part of the sandbox itself. */
export const pretendValidationUrl = ({ inboundUrl }: Gateway): string => `${inboundUrl}/sandbox/wallets/session`;

type Session = Record<string, unknown>;

/** The session that the browser passes to the wallet; undefined if the address is refused or there is no session. */
export async function openMerchantSession(
  gateway: Gateway,
  account: Account,
  { sessionsBy }: PageWallet,
  validationUrl: string,
): Promise<Session | undefined> {
  const { mid } = account;
  const isAllowed = usesPretendWallet(gateway, account)
    ? validationUrl === pretendValidationUrl(gateway)
    : isVendorAddress(validationUrl);
  if (!isAllowed) {
    gateway.log.warn({ mid }, 'merchant validation refused: not an address of the wallet');
    return undefined;
  }
  const domain = new URL(gateway.publicUrl).hostname;
  try {
    return await (sessionsBy === undefined
      ? askVendor(gateway, account, validationUrl, domain)
      : askProvider(gateway, sessionsBy, validationUrl, domain));
  } catch (error) {
    gateway.log.warn({ err: error, mid, connector: sessionsBy }, 'merchant validation failed');
    return undefined;
  }
}

/** The vendor makes a session for the merchant's own certificate. */
async function askVendor(gateway: Gateway, account: Account, validationUrl: string, domain: string): Promise<Session> {
  const identity = await merchantIdentity(gateway, account);
  if (!identity) throw new Error('The account has no certificate.');
  const content = {
    merchantIdentifier: account.settings['wallets.wallet-a.merchant_identifier'],
    displayName: shopName(account),
    initiative: 'web',
    initiativeContext: domain,
  } as const;
  return requestMerchantSession(validationUrl, content, { ...gateway.callbackReach, identity });
}

/** The provider makes a session with its own certificate. A refusal says nothing about the health of the connection. */
async function askProvider(gateway: Gateway, key: string, validationUrl: string, domain: string): Promise<Session> {
  const connector = await connectorOf(gateway, key);
  if (!connector?.openMerchantSession) throw new Error('The connection makes no sessions.');
  const deadline = new Deadline(LIMITS.merchantSessionMs);
  try {
    return await connector.openMerchantSession(validationUrl, domain, deadline);
  } finally {
    deadline.clear();
  }
}
