/** Opens the tokens of wallet-a (Apple's PKPaymentToken, version EC_v1): verifies, decrypts and reads them. */
import { createDecipheriv, createHash, type KeyObject, type X509Certificate } from 'node:crypto';
import { CURRENCY_OF } from '../money/iso-4217.ts';
import { type CmsSignature, readCmsSignature } from './cms.ts';
import { isSigned, sharedSecret } from './curve.ts';
import { publicKeyHash } from './keys.ts';
import { type OpenedToken, TokenRefused, type WalletAKeys, type WalletARoots } from './opened.ts';
import {
  authenticationOf,
  base64In,
  cardOf,
  demand,
  hexIn,
  isP256,
  networkIn,
  objectIn,
  orRefuse,
  publicKeyIn,
  textIn,
} from './reading.ts';

const AGE_MOST_MS = 5 * 60_000;
/** How far the signing device's clock may be ahead. */
const SKEW_MOST_MS = 60_000;

const TAG_LENGTH = 16;
const INITIALISATION_VECTOR = Buffer.alloc(16);
/** The fixed input of the key derivation (NIST SP 800-56A): round 1; then, after the secret, the algorithm and party U. */
const ROUND = Buffer.from([0, 0, 0, 1]);
const ALGORITHM_AND_SENDER = Buffer.from('\x0did-aes256-GCMApple');

export interface WalletAOptions {
  ageMostMs?: number;
  skewMostMs?: number;
  /** The application data of the order; a token for other application data, or without any, is refused. */
  applicationData?: Buffer;
}

/** The token is the object that the wallet returns, or its JSON text. */
export async function openWalletA(
  token: unknown,
  keys: WalletAKeys,
  roots: WalletARoots,
  now: number,
  { ageMostMs = AGE_MOST_MS, skewMostMs = SKEW_MOST_MS, applicationData }: WalletAOptions = {},
): Promise<OpenedToken> {
  const { paymentData, paymentMethod } = objectIn(token);
  const { version, data, signature, header } = objectIn(paymentData);
  const parts = objectIn(header);
  demand(textIn(version) === 'EC_v1', 'version');
  const ephemeralKey = base64In(parts.ephemeralPublicKey);
  const transactionId = hexIn(parts.transactionId);
  const signedApplicationData = parts.applicationData === undefined ? Buffer.alloc(0) : hexIn(parts.applicationData);
  const keyHash = textIn(parts.publicKeyHash);
  const encrypted = base64In(data);

  const cms = readCmsSignature(base64In(signature));
  checkChain(cms, roots, now);
  await checkSignature(cms, Buffer.concat([ephemeralKey, encrypted, transactionId, signedApplicationData]));
  demand(cms.signingTime <= now + skewMostMs, 'future');
  const validUntil = cms.signingTime + ageMostMs;
  demand(now < validUntil, 'age');
  if (applicationData !== undefined) {
    demand(createHash('sha256').update(applicationData).digest().equals(signedApplicationData), 'applicationData');
  }

  const privateKey = keys.processingKeys.find((key) => publicKeyHash(key) === keyHash);
  demand(privateKey !== undefined, 'processingKey');
  const key = await derivedKey(privateKey, publicKeyIn(ephemeralKey, 'ephemeralKey'), keys.merchantIdentifier);
  return {
    ...contentOf(decrypted(encrypted, key)),
    network: networkIn((paymentMethod as { network?: unknown } | undefined)?.network),
    replayKey: replayKeyOf(transactionId, signedApplicationData),
    validUntil,
  };
}

const TRANSACTION_ID_LENGTH = 32;

/**
 * The transaction id. The signature covers its bytes and those of the application data as one sequence, so bytes that
 * are moved from one to the other do not make another token.
 */
const replayKeyOf = (transactionId: Buffer, applicationData: Buffer): string =>
  Buffer.concat([transactionId, applicationData]).subarray(0, TRANSACTION_ID_LENGTH).toString('hex');

const isLive = (certificate: X509Certificate, now: number): boolean =>
  certificate.validFromDate.getTime() <= now && now <= certificate.validToDate.getTime();

const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

/** Chains that were verified, by the fingerprints of their certificates: the wallet uses few, for years. */
const issuers = new WeakMap<WalletARoots, Map<string, X509Certificate>>();
const CHAINS_MOST = 16;

function checkChain({ leaf, intermediate }: CmsSignature, roots: WalletARoots, now: number): void {
  orRefuse('chain', () => {
    const known = issuers.get(roots) ?? new Map<string, X509Certificate>();
    issuers.set(roots, known);
    const chain = leaf.fingerprint512 + intermediate.fingerprint512;
    const root = known.get(chain) ?? roots.find((one) => isIssuedBy(intermediate, one));
    demand(root !== undefined && isLive(root, now) && isLive(intermediate, now) && isLive(leaf, now), 'chain');
    if (known.has(chain)) return;
    demand(!leaf.ca && isIssuedBy(leaf, intermediate), 'chain');
    if (known.size >= CHAINS_MOST) known.clear();
    known.set(chain, root);
  });
}

async function checkSignature(
  { leaf, messageDigest, signedAttributes, signature }: CmsSignature,
  content: Buffer,
): Promise<void> {
  demand(createHash('sha256').update(content).digest().equals(messageDigest), 'messageDigest');
  const key = orRefuse('signature', () => leaf.publicKey);
  demand(isP256(key), 'signatureAlgorithm');
  demand(await isSigned(signedAttributes, key, signature), 'signature');
}

/** Party V is the SHA-256 of the merchant identifier; the processing certificate contains the same value. */
async function derivedKey(privateKey: KeyObject, publicKey: KeyObject, merchantIdentifier: string): Promise<Buffer> {
  const secret = await sharedSecret(privateKey, publicKey, 'ephemeralKey');
  const partyV = createHash('sha256').update(merchantIdentifier).digest();
  return createHash('sha256').update(ROUND).update(secret).update(ALGORITHM_AND_SENDER).update(partyV).digest();
}

function decrypted(encrypted: Buffer, key: Buffer): Buffer {
  demand(encrypted.length > TAG_LENGTH, 'decryption');
  const decipher = createDecipheriv('aes-256-gcm', key, INITIALISATION_VECTOR, { authTagLength: TAG_LENGTH });
  decipher.setAuthTag(encrypted.subarray(-TAG_LENGTH));
  const content = decipher.update(encrypted.subarray(0, -TAG_LENGTH));
  return Buffer.concat([content, orRefuse('decryption', () => decipher.final())]);
}

function contentOf(plain: Buffer): Omit<OpenedToken, 'network' | 'replayKey' | 'validUntil'> {
  const content = objectIn(plain.toString(), 'content');
  const { transactionAmount, paymentDataType, cardholderName } = content;
  // The other type, EMV, has no cryptogram for payments on the internet.
  demand(paymentDataType === '3DSecure', 'content');
  const { onlinePaymentCryptogram, eciIndicator } = objectIn(content.paymentData, 'content');
  const date = /^(\d\d)(\d\d)\d\d$/.exec(textIn(content.applicationExpirationDate, 'content'));
  const currency = CURRENCY_OF.get(content.currencyCode);
  demand(typeof transactionAmount === 'number' && Number.isSafeInteger(transactionAmount), 'content');
  if (date === null || currency === undefined || transactionAmount < 0) throw new TokenRefused('content');
  return {
    card: cardOf(
      content.applicationPrimaryAccountNumber,
      Number(date[2]),
      2000 + Number(date[1]),
      typeof cardholderName === 'string' ? cardholderName : '',
    ),
    kind: 'CRYPTOGRAM_3DS',
    ...authenticationOf(onlinePaymentCryptogram, eciIndicator),
    amount: BigInt(transactionAmount),
    currency,
  };
}
