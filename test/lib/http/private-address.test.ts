/** Every special-purpose range: its first and last address are private, its neighbours are public. */
import { describe, expect, test } from 'vitest';
import { isPrivateAddress } from '../../../src/lib/http/private-address.ts';

/** The first and last address of each range, and the public addresses before and after it, if any. */
const RANGES: [name: string, first: string, last: string, before?: string | undefined, after?: string][] = [
  ['this network', '0.0.0.0', '0.255.255.255', undefined, '1.0.0.0'],
  ['10/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['carriers', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['loopback', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['a cloud’s platform', '168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['link-local and metadata', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['protocol assignments', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['documentation 1', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['benchmarks', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['documentation 2', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['documentation 3', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['multicast, reserved, broadcast', '224.0.0.0', '255.255.255.255', '223.255.255.255'],
  ['all of IPv6 below 2000::', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', undefined, '2000::'],
  [
    'all of IPv6 from 4000:: on',
    '4000::',
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  [
    'protocol assignments of IPv6',
    '2001::',
    '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:200::',
  ],
  [
    'documentation of IPv6',
    '2001:db8::',
    '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:db9::',
  ],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff::', '2003::'],
  ['newer documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff::', '3fff:1000::'],
];

describe.each(RANGES)('%s', (_, first, last, before, after) => {
  test('is private from its first to its last address', () => {
    expect(isPrivateAddress(first)).toBe(true);
    expect(isPrivateAddress(last)).toBe(true);
  });
  const neighbours = [before, after].filter((one) => one !== undefined);
  test.each(neighbours)('its neighbour %s is public', (neighbour) => {
    expect(isPrivateAddress(neighbour)).toBe(false);
  });

  if (first.includes(':')) return;
  const DISGUISES: [name: string, write: (address: string) => string][] = [
    ['mapped', (address) => `::ffff:${address}`],
    ['mapped, in hex', (address) => `::ffff:${hex(address)}`],
    ['behind NAT64', (address) => `64:ff9b::${address}`],
    ['behind NAT64, in hex', (address) => `64:ff9b::${hex(address)}`],
  ];
  test.each(DISGUISES)('is classified the same %s', (_name, write) => {
    expect(isPrivateAddress(write(first))).toBe(true);
    expect(isPrivateAddress(write(last))).toBe(true);
    for (const neighbour of neighbours) expect(isPrivateAddress(write(neighbour))).toBe(false);
  });
});

function hex(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

test.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '2A00:1450:4001::200E', '64:ff9b::8.8.8.8'])(
  '%s is public',
  (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  },
);

test.each([
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['loopback, written out', '0:0:0:0:0:0:0:1'],
  ['compatible', '::127.0.0.1'],
  ['compatible, of a public address', '::8.8.8.8'],
  ['translated', '::ffff:0:127.0.0.1'],
  ['NAT64 of the local network', '64:ff9b:1::8.8.8.8'],
  ['NAT64 with other bits set', '64:ff9b:0:0:1::8.8.8.8'],
  ['discard', '100::1'],
  ['segment routing', '5f00::1'],
  ['Teredo', '2001:0:808:808::1'],
  ['6to4 of a public address', '2002:808:808::1'],
  ['unique local', 'fd00:ec2::254'],
  ['unique local', 'fc00::1'],
  ['link-local', 'fe80::1'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
])('%s is private: %s', (_, address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test.each([
  '',
  'localhost',
  'shop.example',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '8.8.8.8:80',
  '[2606:4700::1]',
  'fe80::1%lo',
  '2606:4700::1%lo',
  '8.8.8',
  ' 8.8.8.8',
])('text that is not an address counts as private: %j', (text) => {
  expect(isPrivateAddress(text)).toBe(true);
});
