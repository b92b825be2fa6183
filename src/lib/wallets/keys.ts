/** Reads the keys and certificates that an operator enters for the wallets. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { fromBER, OctetString, Utf8String } from 'asn1js';
import { extensionsIn } from './asn1.ts';
import { isP256 } from './reading.ts';

/** Thrown when a key or certificate cannot be used. The message says why; it never contains the key. */
export class UnusableKey extends Error {}

/** One block of a PEM text. OpenSSL refuses blocks on one line, which operators have to enter, so it gets DER. */
function block(pem: string, label: RegExp): { label: string; der: Buffer } {
  const found = [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----/gs)];
  const [, name = '', body = pem] = found.find(([, name = '']) => label.test(name)) ?? [];
  if (found.length > 0 && name === '') throw new UnusableKey('The PEM text does not contain what is needed here.');
  const base64 = body.replace(/\s/g, '');
  if (base64 === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    throw new UnusableKey('The text is neither PEM nor base64.');
  }
  return { label: name, der: Buffer.from(base64, 'base64') };
}

/** A private key of P-256 in PKCS#8 or SEC1: PEM, also on one line, or base64 without markers. */
export function readPrivateKey(pem: string): KeyObject {
  if (/BEGIN ENCRYPTED|Proc-Type:/.test(pem)) {
    throw new UnusableKey('The private key is encrypted: remove its passphrase first.');
  }
  const { label, der } = block(pem, /PRIVATE KEY$/);
  const types = label === 'EC PRIVATE KEY' ? (['sec1'] as const) : (['pkcs8', 'sec1'] as const);
  for (const type of types) {
    let key: KeyObject;
    try {
      key = createPrivateKey({ key: der, format: 'der', type });
    } catch {
      continue;
    }
    if (!isP256(key)) throw new UnusableKey('The private key is not an elliptic curve key of P-256 (prime256v1).');
    return key;
  }
  throw new UnusableKey('The text is not a private key in PKCS#8 or SEC1.');
}

/** Private keys that were read, by the digest of their text: reading one takes as long as using it. */
const known = new Map<string, KeyObject>();
const KNOWN_MOST = 1000;

/** The private key of a text that is read often. */
export function readKnownKey(pem: string): KeyObject {
  const digest = createHash('sha256').update(pem).digest('base64');
  const found = known.get(digest);
  if (found) return found;
  const key = readPrivateKey(pem);
  if (known.size >= KNOWN_MOST) known.clear();
  known.set(digest, key);
  return key;
}

/** A certificate: PEM, also on one line, or base64 without markers. */
export function readCertificate(pem: string): X509Certificate {
  const { der } = block(pem, /^CERTIFICATE$/);
  try {
    return new X509Certificate(der);
  } catch {
    throw new UnusableKey('The text is not an X.509 certificate.');
  }
}

const hashes = new WeakMap<KeyObject, string>();

/** SHA-256 of the public key (SPKI) in base64, for a private or a public key. */
export function publicKeyHash(key: KeyObject): string {
  let hash = hashes.get(key);
  if (hash === undefined) {
    const spki = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'der', type: 'spki' });
    hash = createHash('sha256').update(spki).digest('base64');
    hashes.set(key, hash);
  }
  return hash;
}

/** The extension of a processing certificate that contains the SHA-256 of the merchant identifier, in hex. */
const MERCHANT_IDENTIFIER_HASH = '1.2.840.113635.100.6.32';

/** Whether a processing certificate of wallet-a was issued to the merchant with this identifier. */
export function isIssuedTo(certificate: X509Certificate, merchantIdentifier: string): boolean {
  const value = extensionsIn(fromBER(certificate.raw).result).get(MERCHANT_IDENTIFIER_HASH);
  const { result } = fromBER(value instanceof OctetString ? value.valueBlock.valueHexView : new Uint8Array());
  const expected = createHash('sha256').update(merchantIdentifier).digest('hex');
  return result instanceof Utf8String && result.getValue().toLowerCase() === expected;
}
