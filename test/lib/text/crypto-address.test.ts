/** Blockchain addresses: published vectors, every single-character error, and addresses of other networks. */

import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Chain, isCryptoAddress } from '../../../src/lib/text/crypto-address.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const NETWORKS: readonly Chain[] = ['BTC', 'ETH', 'BSC', 'TRX'];
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

const BTC_BASE58 = [
  '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
  '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
  '1111111111111111111114oLvT2',
];
const BTC_SEGWIT = [
  'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
];
const EIP55 = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];
const TRX = ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR'];

const hexAddresses = [
  ...EIP55,
  ...EIP55.map((address) => address.toLowerCase()),
  ...EIP55.map((address) => `0x${address.slice(2).toUpperCase()}`),
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x0000000000000000000000000000000000000000',
];

const RIGHT: Record<Chain, string[]> = {
  BTC: [...BTC_BASE58, ...BTC_SEGWIT, ...BTC_SEGWIT.map((address) => address.toUpperCase())],
  ETH: hexAddresses,
  BSC: hexAddresses,
  TRX,
};

const rightCases = NETWORKS.flatMap((network) => RIGHT[network].map((address) => [network, address] as const));

test.each(rightCases)('%s accepts %s', (network, address) => {
  expect(isCryptoAddress(network, address)).toBe(true);
});

test.each(rightCases)('networks other than %s refuse %s', (network, address) => {
  const others = NETWORKS.filter((other) => !RIGHT[other].includes(address));
  expect(others).not.toContain(network);
  for (const other of others) expect(isCryptoAddress(other, address), other).toBe(false);
});

test.each(rightCases)('%s: %s with characters added or removed is refused', (network, address) => {
  const spoilt = [` ${address}`, `${address} `, `${address}\n`, `${address}\0`, address.slice(0, -1), address.slice(1)];
  for (const wrong of spoilt) expect(isCryptoAddress(network, wrong), JSON.stringify(wrong)).toBe(false);
});

const withOneCharacterChanged = (address: string, alphabet: string, from = 0): string[] =>
  [...address].flatMap((old, at) =>
    at < from
      ? []
      : [...alphabet].filter((it) => it !== old).map((it) => address.slice(0, at) + it + address.slice(at + 1)),
  );

test.each([
  ...BTC_BASE58.map((address) => ['BTC', address, BASE58, 0] as const),
  ...TRX.map((address) => ['TRX', address, BASE58, 0] as const),
  ...BTC_SEGWIT.map((address) => ['BTC', address, BECH32, 3] as const),
  ...EIP55.map((address) => ['ETH', address, '0123456789abcdefABCDEF', 2] as const),
])('%s: %s with one changed character is refused', (network, address, alphabet, from) => {
  const changed = withOneCharacterChanged(address, alphabet, from);
  expect(changed.filter((other) => isCryptoAddress(network, other))).toEqual([]);
});

test.each([
  ['another human-readable part', 'tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut'],
  ['the test network', 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7'],
  ['version 1 in bech32', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd'],
  ['version 16 in bech32', 'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL'],
  ['version 0 in bech32m', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh'],
  ['a character outside the alphabet', 'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4'],
  ['version 17', 'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R'],
  ['a program of 1 byte', 'bc1pw5dgrnzv'],
  ['a program of 41 bytes', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav'],
  ['version 0 with 16 bytes', 'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P'],
  ['more than four bits of padding', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf'],
  ['nothing but a checksum', 'bc1gmk9yu'],
  [
    'version 1 with 40 bytes, kept for later',
    'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y',
  ],
  ['version 16, kept for later', 'BC1SW50QGDZ25J'],
  ['version 2, kept for later', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'],
  ['mixed case', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kV8f3t4'],
  ['a capital prefix only', 'BC1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['a key hash of the test network', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
])('BTC refuses %s', (_, address) => {
  expect(isCryptoAddress('BTC', address)).toBe(false);
});

test('BTC accepts a witness program only in the encoding and length of its version', () => {
  const codecs = { bech32, bech32m };
  const right = [];
  for (const [name, codec] of Object.entries(codecs)) {
    for (let version = 0; version < 32; version++) {
      for (let length = 0; length <= 41; length++) {
        const words = [version, ...codec.toWords(new Uint8Array(length).fill(7))];
        if (isCryptoAddress('BTC', codec.encode('bc', words))) right.push(`${name} ${version} ${length}`);
      }
    }
  }
  expect(right).toEqual(['bech32 0 20', 'bech32 0 32', 'bech32m 1 32']);
});

test('BTC refuses padding that is not zero', () => {
  const words = [1, ...bech32m.toWords(new Uint8Array(32))];
  expect(isCryptoAddress('BTC', bech32m.encode('bc', words))).toBe(true);
  expect(isCryptoAddress('BTC', bech32m.encode('bc', [...words.slice(0, -1), 1]))).toBe(false);
});

const base58check = createBase58check(sha256);

test('accepts only the version bytes of the network, followed by twenty bytes', () => {
  const versions = Array.from({ length: 256 }, (_, version) => version);
  const accepted = (network: Chain, length: number) =>
    versions.filter((version) =>
      isCryptoAddress(network, base58check.encode(Uint8Array.of(version, ...new Uint8Array(length).fill(9)))),
    );
  expect(accepted('BTC', 20)).toEqual([0x00, 0x05]);
  expect(accepted('TRX', 20)).toEqual([0x41]);
  for (const length of [0, 19, 21, 32]) expect([...accepted('BTC', length), ...accepted('TRX', length)]).toEqual([]);
});

test('accepts the addresses of every hash of twenty bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (hash) => {
      const withVersion = (version: number) => base58check.encode(Uint8Array.of(version, ...hash));
      return (
        isCryptoAddress('BTC', withVersion(0x00)) &&
        isCryptoAddress('BTC', withVersion(0x05)) &&
        isCryptoAddress('TRX', withVersion(0x41)) &&
        isCryptoAddress('BTC', bech32.encode('bc', [0, ...bech32.toWords(hash)])) &&
        isCryptoAddress('ETH', `0x${Buffer.from(hash).toString('hex')}`)
      );
    }),
  );
});

test.each([
  ['no prefix', '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  ['a capital prefix', '0X5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED'],
  ['39 digits', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae'],
  ['41 digits', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed0'],
  ['a letter that is no digit', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeg'],
  ['all cases swapped', '0x5AaEB6053f3e94c9B9a09F33669435e7eF1bEaED'],
])('ETH and BSC refuse %s', (_, address) => {
  expect(isCryptoAddress('ETH', address)).toBe(false);
  expect(isCryptoAddress('BSC', address)).toBe(false);
});

test.each(NETWORKS)('%s never throws and is never slow', (network) => {
  const wrong = [
    '',
    ' ',
    '0x',
    'bc1',
    '1',
    '\0',
    '\ud800',
    '١',
    '1'.repeat(1 << 22),
    'bc1'.repeat(1 << 20),
    '0x'.repeat(1 << 20),
  ];
  const began = cpuMs();
  for (const text of wrong) expect(isCryptoAddress(network, text)).toBe(false);
  expect(cpuMs() - began).toBeLessThan(2000);
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => !isCryptoAddress(network, text)));
});
