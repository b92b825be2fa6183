/** Which addresses callbacks may be sent to: public ones, and private ones that the operator allows. */
import { addressList } from '../lib/http/address.ts';
import { isPrivateAddress, literalAddresses } from '../lib/http/private-address.ts';
import type { FieldContext, Kind } from './fields.ts';
import { LIMITS } from './limits.ts';

/** Whether callbacks may use plain http, and which private addresses they may reach. */
export type CallbackReach = Pick<FieldContext, 'allowsHttp' | 'allowsAddress'>;

const LOOPBACK = ['127.0.0.0/8', '::1'];

/** The reach that the operator configured; the sandbox allows loopback by default. */
export const callbackReach = (isSandbox: boolean, allowed: readonly string[]): CallbackReach => ({
  allowsHttp: isSandbox,
  allowsAddress: addressList(isSandbox && allowed.length === 0 ? LOOPBACK : allowed),
});

/** Whether callbacks may be sent to an IP address. */
export const mayCall = (address: string, { allowsAddress }: CallbackReach): boolean =>
  !isPrivateAddress(address) || allowsAddress?.(address) === true;

// No user name, password or fragment, and no characters that URL parsers treat differently.
const PLAIN_ADDRESS = /^https?:\/\/[^\s\\\p{Cc}@/?#]+(?:[/?][^\s\\\p{Cc}#]*)?$/iu;

/** Parses an address for callbacks, or returns why it is refused. A host name is resolved and checked at delivery. */
export function readCallbackAddress(text: string, reach: CallbackReach): URL | 'badAddress' | 'privateAddress' {
  const isPlain = text.length <= LIMITS.callbackUrlLength && PLAIN_ADDRESS.test(text);
  const url = isPlain ? URL.parse(text) : null;
  if (!url || (url.protocol !== 'https:' && !reach.allowsHttp)) return 'badAddress';
  const literal = literalAddresses(url.hostname);
  return literal.length === 0 || literal.some((address) => mayCall(address, reach)) ? url : 'privateAddress';
}

/** The error message for an address to which callbacks cannot be sent. */
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
  example: 'https://shop.example/callbacks',
  schema: { type: 'string', format: 'uri', maxLength: LIMITS.callbackUrlLength },
};
