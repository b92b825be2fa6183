/** IP addresses, CIDR lists, and the address of a client behind trusted proxies. */

import { BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net';

export type Address = Readonly<{ family: 'ipv4' | 'ipv6'; address: string }>;
export type Range = Address & Readonly<{ prefix: number }>;

const MAPPED = '::ffff:';
const MAPPED_BITS = 96;
const BITS = { ipv4: 32, ipv6: 128 } as const;

/** Parses an address into its canonical text; an IPv4-mapped IPv6 address becomes the IPv4 address it maps. */
function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { family: 'ipv4', address: text };
  // Fast path: a dual-stack socket reports every IPv4 peer as a mapped address.
  const mapped = mappedIPv4(text);
  if (mapped !== undefined) return { family: 'ipv4', address: mapped };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const embedded = mappedIPv4(address);
  return embedded === undefined ? { family: 'ipv6', address } : { family: 'ipv4', address: embedded };
}

function mappedIPv4(text: string): string | undefined {
  const embedded = text.startsWith(MAPPED) ? text.slice(MAPPED.length) : '';
  return isIPv4(embedded) ? embedded : undefined;
}

/** Parses a CIDR range, or an address as a range of one. */
export function parseRange(text: string): Range | undefined {
  const slash = text.indexOf('/');
  const addressText = slash < 0 ? text : text.slice(0, slash);
  const parsed = parseAddress(addressText);
  if (!parsed) return undefined;
  const bits = BITS[parsed.family];
  if (slash < 0) return { ...parsed, prefix: bits };
  const digits = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(digits)) return undefined;
  // The prefix of a mapped range counts all 128 bits; one below 96 covers more than IPv4 and is refused.
  const isMapped = parsed.family === 'ipv4' && addressText.includes(':');
  const prefix = Number(digits) - (isMapped ? MAPPED_BITS : 0);
  return prefix >= 0 && prefix <= bits ? { ...parsed, prefix } : undefined;
}

/** Builds a matcher for a list of addresses and CIDR ranges. */
export function addressList(ranges: readonly string[]): (address: string) => boolean {
  if (ranges.length === 0) return () => false;
  // One list per family: in a shared list '::/0' would also match every IPv4 address.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of ranges) {
    const range = parseRange(text);
    if (!range) throw new TypeError(`not an IP address or CIDR range: ${JSON.stringify(text)}`);
    lists[range.family].addSubnet(range.address, range.prefix, range.family);
  }
  return (text) => {
    const parsed = parseAddress(text);
    return parsed !== undefined && lists[parsed.family].check(parsed.address, parsed.family);
  };
}

/** An address in the text in which ranges are written; undefined for no valid address. */
export function canonicalAddress(text: string): string | undefined {
  const parsed = parseAddress(text);
  return parsed?.family === 'ipv6' ? textOfIPv6(numberOfIPv6(parsed.address)) : parsed?.address;
}

/** All ranges that contain an address, by the length of their prefix, in canonical text; empty for no valid address. */
export function rangesAround(text: string): string[] {
  const parsed = parseAddress(text);
  if (!parsed) return [];
  const bits = BITS[parsed.family];
  const number = parsed.family === 'ipv4' ? numberOfIPv4(parsed.address) : numberOfIPv6(parsed.address);
  const write = parsed.family === 'ipv4' ? textOfIPv4 : textOfIPv6;
  return Array.from({ length: bits + 1 }, (_, prefix) => {
    const rest = BigInt(bits - prefix);
    return `${write((number >> rest) << rest)}/${prefix}`;
  });
}

const numberOfIPv4 = (address: string): bigint =>
  address.split('.').reduce((number, part) => number * 256n + BigInt(part), 0n);

const textOfIPv4 = (number: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => String((number >> shift) & 255n)).join('.');

const numberOfIPv6 = (address: string): bigint =>
  groupsOf(address).reduce((number, group) => number * 65536n + BigInt(`0x${group}`), 0n);

const textOfIPv6 = (number: bigint): string =>
  Array.from({ length: GROUPS }, (_, index) =>
    ((number >> BigInt(16 * (GROUPS - 1 - index))) & 65535n).toString(16),
  ).join(':');

const GROUPS = 8;

/** The eight groups of an IPv6 address in canonical text. */
function groupsOf(address: string): string[] {
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  return [...head, ...Array<string>(GROUPS - head.length - tail.length).fill('0'), ...tail];
}

/** The network that rate limits count as one client: an IPv4 address itself, the /64 of an IPv6 address. */
export function addressPrefix(address: string): string {
  if (!address.includes(':') || !isIPv6(address)) return address;
  return `${groupsOf(address)
    .slice(0, GROUPS / 2)
    .join(':')}::/64`;
}

// '1.2.3.4', '1.2.3.4:5678', '2001:db8::1', '[2001:db8::1]' or '[2001:db8::1]:443'.
const FORWARDED_ENTRY = /^[ \t]*(?:\[([\da-f:.]+)\](?::\d{1,5})?|([\d.]+):\d{1,5}|([\da-f:.]+))[ \t]*$/i;

function parseForwarded(entry: string): string | undefined {
  const [, bracketed, withPort, bare] = FORWARDED_ENTRY.exec(entry) ?? [];
  if (bracketed !== undefined) return isIPv6(bracketed) ? parseAddress(bracketed)?.address : undefined;
  if (withPort !== undefined) return isIPv4(withPort) ? withPort : undefined;
  return bare === undefined ? undefined : parseAddress(bare)?.address;
}

/**
 * The client's address: the last entry of X-Forwarded-For that is not a trusted proxy, or the socket's address when the
 * peer itself is not trusted; `onIgnored` then gets the address of the peer whose header was ignored.
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | string[] | undefined,
  isTrustedProxy: (address: string) => boolean,
  onIgnored?: (peer: string) => void,
): string {
  // The address of a link-local peer carries a zone, the name of a local interface; it is not part of the address.
  const zone = socketAddress.indexOf('%');
  const peer = zone < 0 ? socketAddress : socketAddress.slice(0, zone);
  let client = parseAddress(peer)?.address ?? peer;
  if (forwardedFor === undefined) return client;

  let entries: string[] | undefined;
  while (isTrustedProxy(client)) {
    // Split only here: the header of an untrusted peer is ignored.
    entries ??= (typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(',')).split(',');
    const entry = entries.pop();
    const next = entry === undefined ? undefined : parseForwarded(entry);
    if (next === undefined) break;
    client = next;
  }
  if (entries === undefined) onIgnored?.(client);
  return client;
}

/** Whether an address is a loopback address. */
export const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';

/** Whether the host of a URL is a loopback address or `localhost`. */
export const isLoopbackHost = (hostname: string): boolean =>
  /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
