/** Keys and certificates as operators enter them: every usual form is read, and errors say what is wrong. */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  isIssuedTo,
  publicKeyHash,
  readCertificate,
  readPrivateKey,
  UnusableKey,
} from '../../../src/lib/wallets/keys.ts';
import { readVectors, walletA } from './vectors.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const pem = (type: 'pkcs8' | 'sec1'): string => privateKey.export({ format: 'pem', type }).toString();
const oneLine = (text: string): string => text.replaceAll('\n', '');
const body = (text: string): string => oneLine(text).replace(/-----[^-]+-----/g, '');

const FORMS: Record<string, string> = {
  'PKCS#8': pem('pkcs8'),
  SEC1: pem('sec1'),
  'PKCS#8 on one line': oneLine(pem('pkcs8')),
  'SEC1 on one line': oneLine(pem('sec1')),
  'PKCS#8 without markers': body(pem('pkcs8')),
  'SEC1 without markers': body(pem('sec1')),
  'Windows line ends': pem('pkcs8').replaceAll('\n', '\r\n'),
  'attributes before the key': `Bag Attributes\n    localKeyID: 01\n${pem('pkcs8')}`,
  'parameters before the key': `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${pem('sec1')}`,
};

test.each(Object.entries(FORMS))('reads a private key: %s', (_name, text) => {
  expect(readPrivateKey(text).equals(privateKey)).toBe(true);
});

const otherKey = (curve: string): string =>
  generateKeyPairSync('ec', { namedCurve: curve }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const encrypted = (type: 'pkcs8' | 'sec1'): string =>
  privateKey.export({ format: 'pem', type, cipher: 'aes-256-cbc', passphrase: 'secret' }).toString();

test.each([
  ['another curve', otherKey('secp384r1'), 'not an elliptic curve key of P-256'],
  ['a curve of the same size', otherKey('secp256k1'), 'not an elliptic curve key of P-256'],
  [
    'an RSA key',
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    'not an elliptic curve key of P-256',
  ],
  ['an encrypted key', encrypted('pkcs8'), 'remove its passphrase'],
  ['an encrypted key, older form', encrypted('sec1'), 'remove its passphrase'],
  ['a public key', createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }).toString(), 'does not contain'],
  ['a certificate', walletA.roots[0], 'does not contain'],
  ['a truncated key', body(pem('pkcs8')).slice(0, 80), 'not a private key in PKCS#8 or SEC1'],
  ['another text', 'secret!', 'neither PEM nor base64'],
  ['nothing', '', 'neither PEM nor base64'],
])('refuses %s and does not repeat it', (_name, text, message) => {
  const read = () => readPrivateKey(text);
  expect(read).toThrow(UnusableKey);
  expect(read).toThrow(message);
  if (text !== '') expect(read).not.toThrow(body(text).slice(0, 12));
});

test('the hash of a key is that of its public part', () => {
  expect(publicKeyHash(privateKey)).toBe(publicKeyHash(createPublicKey(privateKey)));
  expect(publicKeyHash(privateKey)).toBe(publicKeyHash(createPrivateKey(pem('sec1'))));
  const { token, privateKey: published } = readVectors('published.json')['wallet-a'][0];
  expect(publicKeyHash(readPrivateKey(published))).toBe(token.paymentData.header.publicKeyHash);
});

describe('certificates', () => {
  test.each([
    ['PEM', walletA.processingCertificate],
    ['on one line', oneLine(walletA.processingCertificate)],
    ['without markers', body(walletA.processingCertificate)],
  ])('are read: %s', (_name, text) => {
    expect(publicKeyHash(readCertificate(text).publicKey)).toBe(
      publicKeyHash(readPrivateKey(walletA.processingKeys[0])),
    );
  });

  test('other texts are refused', () => {
    expect(() => readCertificate('AAAA')).toThrow('not an X.509 certificate');
    expect(() => readCertificate(pem('pkcs8'))).toThrow('does not contain');
  });

  test('a processing certificate names its merchant', () => {
    const certificate = readCertificate(walletA.processingCertificate);
    expect(isIssuedTo(certificate, walletA.merchantIdentifier)).toBe(true);
    expect(isIssuedTo(certificate, 'merchant.example.other')).toBe(false);
    expect(isIssuedTo(readCertificate(walletA.roots[0]), walletA.merchantIdentifier)).toBe(false);
  });
});
