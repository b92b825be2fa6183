/** Where callbacks may go: to web addresses on the internet, and to private ones that the operator allows. */
import { isIP } from 'node:net';
import { addressList } from '../lib/address.ts';
import { isPrivateAddress } from '../lib/private-address.ts';
import type { FieldContext, Kind } from './fields.ts';
import { LIMITS } from './limits.ts';

/** Whether plain http is acceptable, and which private addresses are. */
export type CallbackReach = Pick<FieldContext, 'allowsHttp' | 'allowsAddress'>;

const LOOPBACK = ['127.0.0.0/8', '::1'];

/** What the operator allows; in the sandbox this machine, unless something else is said. */
export const callbackReach = (isSandbox: boolean, allowed: readonly string[]): CallbackReach => ({
  allowsHttp: isSandbox,
  allowsAddress: addressList(isSandbox && allowed.length === 0 ? LOOPBACK : allowed),
});

/** Whether callbacks may go to an IP address. */
export const mayCall = (address: string, { allowsAddress }: CallbackReach): boolean =>
  !isPrivateAddress(address) || allowsAddress?.(address) === true;

// No user name, password or fragment, and nothing that parsers read in different ways.
const PLAIN_ADDRESS = /^https?:\/\/[^\s\\\p{Cc}@/?#]+(?:[/?][^\s\\\p{Cc}#]*)?$/iu;
const LOCALHOST = /^(?:.+\.)?localhost\.?$/;

/** The IP addresses that a host is known to mean without asking anybody; none for an ordinary name. */
function knownAddresses(hostname: string): string[] {
  // The parser has turned every spelling of an address into one; IPv6 stands in brackets.
  const bare = hostname.replace(/^\[|\]$/g, '');
  if (isIP(bare)) return [bare];
  return LOCALHOST.test(hostname) ? ['127.0.0.1', '::1'] : [];
}

/** Reads an address for callbacks, or says why none goes there; what a name resolves to is seen when it is called. */
export function readCallbackAddress(text: string, reach: CallbackReach): URL | 'badAddress' | 'privateAddress' {
  const isPlain = text.length <= LIMITS.callbackUrlLength && PLAIN_ADDRESS.test(text);
  const url = isPlain ? URL.parse(text) : null;
  if (!url || (url.protocol !== 'https:' && !reach.allowsHttp)) return 'badAddress';
  const known = knownAddresses(url.hostname);
  return known.length === 0 || known.some((address) => mayCall(address, reach)) ? url : 'privateAddress';
}

/** The sentence that says what is wrong with an address for callbacks, if anything is. */
export function callbackAddressProblem(text: string, reach: CallbackReach): string | undefined {
  const address = readCallbackAddress(text, reach);
  if (address === 'privateAddress')
    return 'This value should be a public address, callbacks do not go to private ones.';
  if (address !== 'badAddress') return undefined;
  const scheme = reach.allowsHttp ? 'http or https' : 'https';
  return `This value should be an ${scheme} address of ${LIMITS.callbackUrlLength} characters or less, without a user name, a password or a fragment.`;
}

export const callbackAddress: Kind = {
  check: callbackAddressProblem,
  expects:
    'public https address (http too in the sandbox) without a user name, a password or a fragment; ' +
    `${LIMITS.callbackUrlLength} characters or less`,
  schema: { type: 'string', format: 'uri', maxLength: LIMITS.callbackUrlLength },
};
