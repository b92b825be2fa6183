/** Which IP addresses are not public: private and reserved ranges, and ranges that embed or translate to them. */
import { isIP } from 'node:net';
import { addressList } from './address.ts';

/** The special-purpose ranges of IANA's registry, and addresses that cloud platforms use. */
const RESERVED_IPV4 = [
  '0.0.0.0/8', // this network; a connection to it reaches this machine
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and the metadata service of one cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // the platform services of one cloud, at a public address
  '169.254.0.0/16', // link-local, and the metadata service of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, and the metadata service of one cloud
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
];

/** The special-purpose ranges inside 2000::/3. */
const RESERVED_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which carries any IPv4 address
  '3fff::/20', // documentation
];

/** The NAT64 prefix: the last four bytes of the address are an IPv4 address. */
const NAT64 = '64:ff9b::';

function behindNat64(range: string): string {
  const [address, prefix] = range.split('/');
  return `${NAT64}${address}/${96 + Number(prefix)}`;
}

// The rest of IPv6 is local, mapped, translated, multicast or unassigned, and counts as private.
const isInternet = addressList(['0.0.0.0/0', '2000::/3', `${NAT64}/96`]);
const isReserved = addressList([...RESERVED_IPV4, ...RESERVED_IPV4.map(behindNat64), ...RESERVED_IPV6]);

/** Whether an address is not public; also true for text that is not an address. */
export const isPrivateAddress = (address: string): boolean => !isInternet(address) || isReserved(address);

const LOCALHOST = /^(?:.+\.)?localhost\.?$/;

/** The IP addresses of the host of a parsed URL that needs no DNS lookup: an IP literal or `localhost`. */
export function literalAddresses(hostname: string): string[] {
  // The URL parser has normalised every spelling of an address; IPv6 is in brackets.
  const bare = hostname.replace(/^\[|\]$/g, '');
  if (isIP(bare)) return [bare];
  return LOCALHOST.test(hostname) ? ['127.0.0.1', '::1'] : [];
}
