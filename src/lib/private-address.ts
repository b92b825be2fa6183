/** Which IP addresses are not on the public internet: what is private, reserved, or a way round to such an address. */
import { addressList } from './address.ts';

/** The special ranges of IANA's registry, and what clouds put in between. */
const RESERVED_IPV4 = [
  '0.0.0.0/8', // this network; a connection to it reaches this machine
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by carriers, and the metadata of one cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // the platform of one cloud, at a public address
  '169.254.0.0/16', // link-local, and the metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, and the metadata of one cloud
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
];

/** What is not public inside the public part of IPv6. */
const RESERVED_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which carries any IPv4 address
  '3fff::/20', // documentation
];

/** Behind this prefix a translator of the network reaches the IPv4 address in the last four bytes. */
const NAT64 = '64:ff9b::';

function behindNat64(range: string): string {
  const [address, prefix] = range.split('/');
  return `${NAT64}${address}/${96 + Number(prefix)}`;
}

// Everything else of IPv6 is local, mapped, translated, multicast or not given out, and so private.
const isInternet = addressList(['0.0.0.0/0', '2000::/3', `${NAT64}/96`]);
const isReserved = addressList([...RESERVED_IPV4, ...RESERVED_IPV4.map(behindNat64), ...RESERVED_IPV6]);

/** Whether an address is not on the public internet; so is everything that is no address. */
export const isPrivateAddress = (address: string): boolean => !isInternet(address) || isReserved(address);
