/** The address of the panel, and whether passkeys work there. */
import { isIP } from 'node:net';

/** On this machine `localhost` in place of the loopback address, because browsers allow passkeys for host names only. */
export const panelUrl = (publicUrl: string): string =>
  publicUrl.replace(/^(https?:\/\/)(?:127\.0\.0\.1|\[::1\])(?=[:/]|$)/, '$1localhost');

/** The origins at which the pages of the panel are open. */
export const panelOrigins = (publicUrl: string): string[] => [
  ...new Set([panelUrl(publicUrl), publicUrl].map((url) => new URL(url).origin)),
];

/** The relying party id of passkeys; undefined if the panel has an address that browsers refuse passkeys for. */
export function relyingPartyId(publicUrl: string): string | undefined {
  const { protocol, hostname } = new URL(panelUrl(publicUrl));
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  return isName && isSecure ? hostname : undefined;
}

export const invitationLink = (publicUrl: string, secret: string): string =>
  `${panelUrl(publicUrl)}/admin/invitation/${secret}`;
