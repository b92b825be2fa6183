/** Opens the tokens of wallet-b (Google's PaymentMethodToken, ECv1 and ECv2): verifies, decrypts and reads them. */
import { createDecipheriv, createHmac, createPublicKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { isSigned, sharedSecret } from './curve.ts';
import { type OpenedToken, TokenRefused, type WalletBKeys, type WalletBRootKey, type WalletBRoots } from './opened.ts';
import {
  authenticationOf,
  base64In,
  cardOf,
  demand,
  exactlyIn,
  networkIn,
  numberIn,
  objectIn,
  orRefuse,
  publicKeyIn,
  textIn,
  timeIn,
} from './reading.ts';

const SENDER = 'Google';
const INITIALISATION_VECTOR = Buffer.alloc(16);
const POINT_LENGTH = 65;

/** The lengths of the two keys and the members of the token, by version. */
const VERSIONS = {
  ECv1: { cipher: 'aes-128-ctr', keyLength: 16, members: ['protocolVersion', 'signature', 'signedMessage'] },
  ECv2: {
    cipher: 'aes-256-ctr',
    keyLength: 32,
    members: ['protocolVersion', 'signature', 'signedMessage', 'intermediateSigningKey'],
  },
} as const;
type Version = keyof typeof VERSIONS;

/** The token is the payment data that the wallet returns, or its JSON text. */
export async function openWalletB(
  token: unknown,
  keys: WalletBKeys,
  roots: WalletBRoots,
  now: number,
): Promise<OpenedToken> {
  const { paymentMethodData } = objectIn(token);
  const { tokenizationData, info } = objectIn(paymentMethodData);
  const content = await decryptWalletB(objectIn(tokenizationData).token, keys, roots, now);
  return {
    ...contentOf(content, keys, now),
    network: networkIn((info as { cardNetwork?: unknown } | null)?.cardNetwork),
  };
}

/** Verifies the inner token, which is an object or its JSON text, and returns the decrypted message. */
export async function decryptWalletB(
  token: unknown,
  { recipient, privateKeys, environment }: WalletBKeys,
  roots: WalletBRoots,
  now: number,
): Promise<string> {
  const version = textIn(objectIn(token).protocolVersion);
  demand(version === 'ECv1' || version === 'ECv2', 'version');
  const members: Record<string, unknown> = exactlyIn(token, ...VERSIONS[version].members);
  // The signatures cover the received characters of these texts; they must not be parsed and written again.
  const signedMessage = textIn(members.signedMessage);
  const signature = base64In(members.signature);
  const usable = roots[environment].filter((root) => isUsable(root, version, now));
  const signed = lengthValues(SENDER, recipient, version, signedMessage);
  if (version === 'ECv1') {
    demand(await isSignedByAny(usable, signed, [signature]), 'rootKey');
  } else {
    const signer = await intermediateKey(members.intermediateSigningKey, usable, now);
    demand(await isSigned(signed, signer, signature), 'signature');
  }
  return decrypted(signedMessage, privateKeys, version);
}

const isUsable = ({ protocolVersion, expiresAt }: WalletBRootKey, version: Version, now: number): boolean =>
  protocolVersion === version && (expiresAt === undefined ? version === 'ECv1' : expiresAt > now);

/** Each text in UTF-8 after its length in bytes, a little-endian number of four bytes. */
function lengthValues(...texts: string[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(Buffer.byteLength(text));
      return [length, Buffer.from(text)];
    }),
  );
}

/** Whether one of the root keys made one of the signatures. */
async function isSignedByAny(roots: WalletBRootKey[], content: Buffer, signatures: Buffer[]): Promise<boolean> {
  for (const { key } of roots) {
    for (const signature of signatures) if (await isSigned(content, key, signature)) return true;
  }
  return false;
}

/** The key that signed the message, after checking that a root key signed it. */
async function intermediateKey(value: unknown, roots: WalletBRootKey[], now: number): Promise<KeyObject> {
  const { signedKey, signatures } = exactlyIn(value, 'signedKey', 'signatures');
  demand(Array.isArray(signatures) && signatures.length > 0 && signatures.length <= 16, 'shape');
  const signed = lengthValues(SENDER, 'ECv2', textIn(signedKey));
  const candidates = signatures.map((signature) => base64In(signature));
  demand(await isSignedByAny(roots, signed, candidates), 'rootKey');
  const { keyValue, keyExpiration } = objectIn(signedKey);
  demand(timeIn(keyExpiration, 'shape') > now, 'intermediateKey');
  return publicKeyIn(base64In(keyValue), 'intermediateKey');
}

/** Several private keys are tried while a key is replaced: the token does not name the one that it is for. */
async function decrypted(signedMessage: string, privateKeys: readonly KeyObject[], version: Version): Promise<string> {
  const message = exactlyIn(signedMessage, 'encryptedMessage', 'ephemeralPublicKey', 'tag');
  const encrypted = base64In(message.encryptedMessage);
  const point = base64In(message.ephemeralPublicKey);
  const tag = base64In(message.tag);
  const publicKey = pointKey(point);
  const { cipher, keyLength } = VERSIONS[version];
  for (const privateKey of privateKeys) {
    const secret = await sharedSecret(privateKey, publicKey, 'ephemeralKey');
    const derived = Buffer.from(hkdfSync('sha256', Buffer.concat([point, secret]), '', SENDER, 2 * keyLength));
    const expected = createHmac('sha256', derived.subarray(keyLength)).update(encrypted).digest();
    if (tag.length !== expected.length || !timingSafeEqual(tag, expected)) continue;
    const decipher = createDecipheriv(cipher, derived.subarray(0, keyLength), INITIALISATION_VECTOR);
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString();
  }
  throw new TokenRefused('decryption');
}

/** The key of an uncompressed point, which must be on the curve. */
function pointKey(point: Buffer): KeyObject {
  demand(point.length === POINT_LENGTH && point[0] === 4, 'ephemeralKey');
  const x = point.subarray(1, 33).toString('base64url');
  const y = point.subarray(33).toString('base64url');
  return orRefuse('ephemeralKey', () => createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' }));
}

function contentOf(text: string, { gatewayMerchantId }: WalletBKeys, now: number): Omit<OpenedToken, 'network'> {
  const content = objectIn(text, 'content');
  const validUntil = timeIn(content.messageExpiration, 'content');
  demand(validUntil > now, 'age');
  demand(textIn(content.gatewayMerchantId, 'merchant') === gatewayMerchantId, 'merchant');
  const { pan, expirationMonth, expirationYear, authMethod, cryptogram, eciIndicator } = detailsOf(content);
  demand(authMethod === 'PAN_ONLY' || authMethod === 'CRYPTOGRAM_3DS', 'content');
  return {
    card: cardOf(pan, numberIn(expirationMonth), numberIn(expirationYear)),
    kind: authMethod,
    ...(authMethod === 'CRYPTOGRAM_3DS' ? authenticationOf(cryptogram, eciIndicator) : {}),
    replayKey: textIn(content.messageId, 'content'),
    validUntil,
  };
}

/** ECv1 names device numbers and their cryptograms differently, and does not name the method of other cards. */
function detailsOf({ paymentMethod, paymentMethodDetails }: Record<string, unknown>): Record<string, unknown> {
  const details = objectIn(paymentMethodDetails, 'content');
  if (paymentMethod === 'CARD') return { authMethod: 'PAN_ONLY', ...details };
  demand(paymentMethod === 'TOKENIZED_CARD' && details.authMethod === '3DS', 'content');
  return {
    ...details,
    pan: details.dpan,
    authMethod: 'CRYPTOGRAM_3DS',
    cryptogram: details['3dsCryptogram'],
    eciIndicator: details['3dsEciIndicator'],
  };
}
