/** The roots of the wallets: the pinned ones are genuine, further ones count for tests only. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readWalletRoots, rootKeysIn, rootsExpireAt } from '../../../src/lib/wallets/roots.ts';
import { walletA, walletB } from './vectors.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wallet-roots-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

test('the pinned roots are those of the wallets, and expire in years', () => {
  const { walletA: a, walletB: b } = readWalletRoots();
  for (const roots of [a.PRODUCTION, a.TEST]) {
    expect(roots.map(({ subject }) => subject.split('\n')[0])).toEqual(['CN=Apple Root CA - G3']);
  }
  expect(b.PRODUCTION.map(({ protocolVersion }) => protocolVersion)).toEqual(['ECv2']);
  expect(b.TEST.map(({ protocolVersion }) => protocolVersion)).toEqual(['ECv1', 'ECv2']);
  for (const test of b.TEST) for (const root of b.PRODUCTION) expect(root.key.equals(test.key)).toBe(false);
  expect(rootsExpireAt(readWalletRoots(), 'PRODUCTION')).toEqual({
    'wallet-a': Date.UTC(2039, 3, 30, 18, 19, 6),
    'wallet-b': 2154841200000,
  });
});

test('roots of a folder count for the test environment only', () => {
  write('wallet-a.pem', walletA.roots.join(''));
  write('wallet-b.json', JSON.stringify(walletB.roots.TEST));
  const pinned = readWalletRoots();
  const roots = readWalletRoots(folder);
  expect(roots.walletA.PRODUCTION).toHaveLength(pinned.walletA.PRODUCTION.length);
  expect(roots.walletB.PRODUCTION).toEqual(pinned.walletB.PRODUCTION);
  expect(roots.walletA.TEST).toHaveLength(pinned.walletA.TEST.length + walletA.roots.length);
  expect(roots.walletB.TEST).toHaveLength(pinned.walletB.TEST.length + walletB.roots.TEST.keys.length);
});

test('a folder may contain one of the files, or none', () => {
  expect(readWalletRoots(folder)).toEqual(readWalletRoots());
  write('wallet-b.json', JSON.stringify(walletB.roots.PRODUCTION));
  expect(readWalletRoots(folder).walletA.TEST).toHaveLength(1);
  expect(readWalletRoots(folder).walletB.TEST).toHaveLength(3);
});

test.each([
  ['wallet-a.pem', 'no certificate'],
  ['wallet-a.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ['wallet-b.json', '{'],
  ['wallet-b.json', '{}'],
  ['wallet-b.json', '{"keys":[{"keyValue":"AAAA","protocolVersion":"ECv2"}]}'],
  ['wallet-b.json', JSON.stringify({ keys: [{ ...walletB.roots.TEST.keys[0], keyExpiration: 'soon' }] })],
])('a file %s that cannot be read is an error: %j', (name, text) => {
  write(name, text);
  expect(() => readWalletRoots(folder)).toThrow();
});

test('the last root key of ECv2 decides when wallet-b needs new ones', () => {
  const walletBRoots = { TEST: rootKeysIn(JSON.stringify(walletB.roots.TEST)), PRODUCTION: [] };
  const roots = { ...readWalletRoots(), walletB: walletBRoots };
  expect(rootsExpireAt(roots, 'TEST')['wallet-b']).toBe(walletB.now + 9 * 86_400_000);
  expect(rootsExpireAt(roots, 'PRODUCTION')['wallet-b']).toBe(0);
});
