/** Address and range parsing, list matching, and that an untrusted peer cannot forge its address with a header. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressList, addressPrefix, clientAddress, parseRange } from '../../../src/lib/http/address.ts';

test.each<[string, 'ipv4' | 'ipv6', string, number]>([
  ['192.0.2.1', 'ipv4', '192.0.2.1', 32],
  ['10.0.0.0/8', 'ipv4', '10.0.0.0', 8],
  ['0.0.0.0/0', 'ipv4', '0.0.0.0', 0],
  ['2001:db8::1', 'ipv6', '2001:db8::1', 128],
  ['2001:DB8:0:0::/32', 'ipv6', '2001:db8::', 32],
  ['::/0', 'ipv6', '::', 0],
  ['::ffff:1.2.3.4', 'ipv4', '1.2.3.4', 32],
  ['::FFFF:c000:201', 'ipv4', '192.0.2.1', 32],
  ['::ffff:10.0.0.0/104', 'ipv4', '10.0.0.0', 8],
  ['::ffff:0:0/96', 'ipv4', '0.0.0.0', 0],
])('%s is a range', (text, family, address, prefix) => {
  expect(parseRange(text)).toEqual({ family, address, prefix });
});

test.each([
  '',
  ' ',
  'localhost',
  '*',
  '1.2.3',
  '1.2.3.4.5',
  '256.0.0.1',
  '010.0.0.1',
  '0x7f.0.0.1',
  '2130706433',
  ' 1.2.3.4',
  '1.2.3.4 ',
  '1.2.3.4\n',
  '1.2.3.4:80',
  '1.2.3.4/',
  '1.2.3.4/33',
  '1.2.3.4/-1',
  '1.2.3.4/+8',
  '1.2.3.4/08',
  '1.2.3.4/8/8',
  '1.2.3.4/8.0',
  '10.0.0.0/255.0.0.0',
  'fe80::1%eth0',
  'fe80::%1/64',
  '[::1]',
  '::1/129',
  '1::2::3',
  '12345::',
  '::ffff:010.0.0.1',
  '::ffff:10.0.0.0/95',
  '::ffff:10.0.0.0/8',
  '::ffff:10.0.0.0/129',
])('%j is not a range', (text) => {
  expect(parseRange(text)).toBeUndefined();
});

test('a list matches its addresses and ranges in every spelling', () => {
  const matches = addressList(['192.0.2.1', '10.0.0.0/8', '2001:db8::/32', '::ffff:172.16.0.0/108', '198.51.100.7/32']);
  for (const address of [
    '192.0.2.1',
    '::ffff:192.0.2.1',
    '::ffff:c000:201',
    '0:0:0:0:0:ffff:c000:0201',
    '10.255.0.9',
    '::ffff:10.1.2.3',
    '2001:db8:ffff::1',
    '2001:DB8::',
    '172.31.255.255',
    '198.51.100.7',
  ])
    expect([address, matches(address)]).toEqual([address, true]);
  for (const address of [
    '192.0.2.2',
    '::192.0.2.1',
    '11.0.0.0',
    '2001:db9::1',
    '172.32.0.0',
    '198.51.100.8',
    '',
    'junk',
    '192.0.2.1 ',
    '192.0.2.01',
    '10.0.0.0/8',
    '2001:db8::1%eth0',
  ])
    expect([address, matches(address)]).toEqual([address, false]);
});

test('a range of everything covers its own family only', () => {
  expect(addressList(['0.0.0.0/0'])('203.0.113.9')).toBe(true);
  expect(addressList(['0.0.0.0/0'])('2001:db8::1')).toBe(false);
  expect(addressList(['::/0'])('2001:db8::1')).toBe(true);
  expect(addressList(['::/0'])('203.0.113.9')).toBe(false);
  expect(addressList(['::/0'])('::ffff:203.0.113.9')).toBe(false);
});

test('an empty list matches nothing, and an invalid range is reported', () => {
  expect(addressList([])('127.0.0.1')).toBe(false);
  expect(() => addressList(['10.0.0.0/8', '10.0.0.0/40'])).toThrow(
    new TypeError('not an IP address or CIDR range: "10.0.0.0/40"'),
  );
});

const FORGERIES: (string | string[] | undefined)[] = [
  undefined,
  '',
  ' ',
  ',',
  ',,,,',
  '127.0.0.1',
  '10.0.0.1',
  '::1',
  '::ffff:127.0.0.1',
  '[::1]:443',
  '127.0.0.1:80',
  '10.0.0.1, 10.0.0.2',
  '10.0.0.1,10.0.0.2,10.0.0.3',
  '203.0.113.9, 10.0.0.1',
  '10.0.0.1, 203.0.113.9',
  ['10.0.0.1'],
  ['10.0.0.1', '10.0.0.2'],
  [],
  ['10.0.0.1, 127.0.0.1', '::1'],
  'unknown',
  '_hidden',
  'localhost',
  'for=10.0.0.1',
  '"10.0.0.1"',
  "' OR 1=1 --",
  '10.0.0.1\r\nX-Forwarded-For: 10.0.0.2',
  '10.0.0.1\u0000',
  '\t10.0.0.1\t',
  '0x0a.0.0.1',
  '012.0.0.1',
  '167772161',
  '10.1',
  '10.0.0.0/8',
  '0.0.0.0',
  '255.255.255.255',
  'fe80::1%lo',
  '%{jndi:ldap://10.0.0.1/a}',
  '198.51.100.4',
  '10.0.0.1;10.0.0.2',
  '10.0.0.1 10.0.0.2',
  '９.９.９.９',
  '10.0.0.1,'.repeat(2000),
];

test('the table of forgeries is large enough', () => {
  expect(FORGERIES.length).toBeGreaterThanOrEqual(30);
});

test.each(FORGERIES.map((header) => [header]))('an untrusted peer cannot forge its address with %j', (header) => {
  const internal = addressList(['10.0.0.0/8', '127.0.0.0/8', '::1']);
  expect(clientAddress('198.51.100.4', header, internal)).toBe('198.51.100.4');
  expect(clientAddress('::ffff:198.51.100.4', header, internal)).toBe('198.51.100.4');
  expect(clientAddress('2001:db8::4', header, internal)).toBe('2001:db8::4');
  expect(clientAddress('10.0.0.9', header, addressList([]))).toBe('10.0.0.9');
});

test('the header of an untrusted peer is not read', () => {
  const unreadable = new Proxy([], {
    get() {
      throw new Error('was read');
    },
  });
  expect(clientAddress('198.51.100.4', unreadable, () => false)).toBe('198.51.100.4');
});

test.each<[string, string | string[] | undefined, string]>([
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['::ffff:a00:1', '203.0.113.9', '203.0.113.9'],
  ['10.0.0.1', '6.6.6.6, 203.0.113.9', '203.0.113.9'],
  ['10.0.0.1', '10.6.6.6, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
  ['10.0.0.1', ['6.6.6.6', '203.0.113.9, 10.0.0.2'], '203.0.113.9'],
  ['10.0.0.1', ['203.0.113.9', '10.0.0.2'], '203.0.113.9'],
  ['10.0.0.1', [], '10.0.0.1'],
  ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['10.0.0.1', '203.0.113.9, unknown, 10.0.0.2', '10.0.0.2'],
  ['10.0.0.1', '203.0.113.9,, 10.0.0.2', '10.0.0.2'],
  ['10.0.0.1', '203.0.113.9,', '10.0.0.1'],
  ['10.0.0.1', 'junk', '10.0.0.1'],
  ['10.0.0.1', '203.0.113.09', '10.0.0.1'],
  ['10.0.0.1', '203.0.113.9 10.0.0.2', '10.0.0.1'],
  ['10.0.0.1', '\u00a0203.0.113.9', '10.0.0.1'],
  ['10.0.0.1', '203.0.113.9:5678', '203.0.113.9'],
  ['10.0.0.1', '203.0.113.9:', '10.0.0.1'],
  ['10.0.0.1', '[203.0.113.9]:80', '10.0.0.1'],
  ['10.0.0.1', '[2001:db9::1]:443', '2001:db9::1'],
  ['10.0.0.1', '[2001:db9::1]', '2001:db9::1'],
  ['10.0.0.1', '[2001:db9::1', '10.0.0.1'],
  ['10.0.0.1', '2001:DB9:0:0:0:0:0:1', '2001:db9::1'],
  ['10.0.0.1', '2001:db9::1:443', '2001:db9::1:443'],
  ['10.0.0.1', 'fe80::1%eth0', '10.0.0.1'],
  ['10.0.0.1', '203.0.113.9, [2001:db8::7]:443', '203.0.113.9'],
  ['2001:db8::1', '::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8::1', '[::ffff:cb00:7109]:80', '203.0.113.9'],
  ['2001:db8::1', '203.0.113.9, ::ffff:10.0.0.2', '203.0.113.9'],
  ['2001:db8::1%eth0', '203.0.113.9', '203.0.113.9'],
  ['fe80::1%eth0', '203.0.113.9', 'fe80::1'],
])('%s with %j is %s behind trusted proxies', (socket, header, client) => {
  expect(clientAddress(socket, header, addressList(['10.0.0.0/8', '2001:db8::/32']))).toBe(client);
});

test('no text in the header throws or changes the address of an untrusted peer', () => {
  const internal = addressList(['10.0.0.0/8']);
  const header = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.array(fc.oneof(fc.ipV4(), fc.string())));
  fc.assert(
    fc.property(header, (text) => {
      clientAddress('10.0.0.1', text, internal);
      return clientAddress('198.51.100.4', text, internal) === '198.51.100.4';
    }),
  );
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
  ['2001:db8:1::', '2001:db8:1:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['::1.2.3.4', '0:0:0:0::/64'],
  ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4::/64'],
  ['', ''],
  ['no address', 'no address'],
])('%j belongs to the network %j', (address, network) => {
  expect(addressPrefix(address)).toBe(network);
});

test('the addresses of one IPv6 /64 have the same network, those of another do not', () => {
  const group = fc.nat(0xffff);
  const half = fc.tuple(group, group, group, group);
  const text = (groups: number[]): string =>
    clientAddress(groups.map((group) => group.toString(16)).join(':'), undefined, () => false);
  fc.assert(
    fc.property(half, half, half, (network, host, other) => {
      expect(addressPrefix(text([...network, ...host]))).toBe(addressPrefix(text([...network, ...other])));
      const next = [...network.slice(0, 3), network[3] ^ 1];
      expect(addressPrefix(text([...network, ...host]))).not.toBe(addressPrefix(text([...next, ...host])));
    }),
  );
});
