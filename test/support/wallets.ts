/** Payment tokens of both wallets, sealed as a device does, under roots that only the tests trust. */
import {
  createCipheriv,
  createECDH,
  createHash,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomUUID,
  sign,
  webcrypto,
} from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Integer, Null, ObjectIdentifier, OctetString, UTCTime, Utf8String } from 'asn1js';
import {
  Attribute,
  AttributeTypeAndValue,
  BasicConstraints,
  Certificate,
  ContentInfo,
  EncapsulatedContentInfo,
  Extension,
  IssuerAndSerialNumber,
  SignedAndUnsignedAttributes,
  SignedData,
  SignerInfo,
} from 'pkijs';

export const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
export const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }) as string;
const spkiOf = (key: KeyObject): Buffer => createPublicKey(key).export({ format: 'der', type: 'spki' });

const DAY_MS = 86_400_000;
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256' };

interface Issued {
  certificate: Certificate;
  keys: webcrypto.CryptoKeyPair;
}

async function issue(
  name: string,
  issuer: Issued | undefined,
  oids: [string, Null | Utf8String][],
  isCa: boolean,
  key?: KeyObject,
): Promise<Issued> {
  const keys = await webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']);
  const certificate = new Certificate();
  certificate.version = 2;
  certificate.serialNumber = new Integer({ value: randomBytes(4).readUInt32BE() & 0x7fffffff });
  const named = (common: string) =>
    new AttributeTypeAndValue({ type: '2.5.4.3', value: new Utf8String({ value: common }) });
  certificate.subject.typesAndValues.push(named(name));
  if (issuer) certificate.issuer.typesAndValues.push(...issuer.certificate.subject.typesAndValues);
  else certificate.issuer.typesAndValues.push(named(name));
  certificate.notBefore.value = new Date(Date.now() - DAY_MS);
  certificate.notAfter.value = new Date(Date.now() + 30 * DAY_MS);
  const constraints = new BasicConstraints({ cA: isCa });
  certificate.extensions = [
    new Extension({ extnID: '2.5.29.19', critical: true, extnValue: constraints.toSchema().toBER() }),
    ...oids.map(([extnID, value]) => new Extension({ extnID, critical: false, extnValue: value.toBER() })),
  ];
  const publicKey = key
    ? await webcrypto.subtle.importKey('spki', Uint8Array.from(spkiOf(key)), ECDSA, true, ['verify'])
    : keys.publicKey;
  await certificate.subjectPublicKeyInfo.importKey(publicKey as never);
  await certificate.sign((issuer?.keys ?? keys).privateKey as never, 'SHA-256');
  return { certificate, keys };
}

const pemOfCertificate = ({ certificate }: Issued): string => {
  const base64 = Buffer.from(certificate.toSchema(true).toBER()).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
};

const LEAF = '1.2.840.113635.100.6.29';
const INTERMEDIATE = '1.2.840.113635.100.6.2.14';
const MERCHANT = '1.2.840.113635.100.6.32';

export interface CardInToken {
  number?: string;
  /** `MM/YY`. */
  expiry?: string;
}

export interface SealA extends CardInToken {
  merchantIdentifier: string;
  key: KeyObject;
  amount?: number;
  currencyCode?: string;
  signedAt?: number;
  transactionId?: string;
}

export interface SealB extends CardInToken {
  gatewayMerchantId: string;
  key: KeyObject;
  recipient?: string;
  authMethod?: 'PAN_ONLY' | 'CRYPTOGRAM_3DS';
  expiresAt?: number;
  messageId?: string;
}

export const DEVICE_NUMBER = '4895370012003478';
export const CARD_NUMBER = '4111111111111111';
export const CRYPTOGRAM = 'AgAAAAAAAIR8CQrXcIhbQAAAAAA=';

export interface Wallets {
  /** The folder for `TURNPIKE_WALLET_ROOTS`. */
  roots: string;
  /** A processing certificate of wallet-a. */
  processingCertificate(merchantIdentifier: string, key: KeyObject): Promise<string>;
  tokenA(token: SealA): Promise<string>;
  tokenB(token: SealB): string;
}

export async function openWallets(): Promise<Wallets> {
  const root = await issue('Test Root', undefined, [], true);
  const intermediate = await issue('Test Intermediate', root, [[INTERMEDIATE, new Null()]], true);
  const leaf = await issue('Test Leaf', intermediate, [[LEAF, new Null()]], false);
  const rootB = newKey();
  const signingB = newKey();
  const roots = mkdtempSync(join(tmpdir(), 'wallet-roots-'));
  writeFileSync(join(roots, 'wallet-a.pem'), pemOfCertificate(root));
  const keyExpiration = String(Date.now() + 365 * DAY_MS);
  const rootKeys = [{ keyValue: spkiOf(rootB).toString('base64'), protocolVersion: 'ECv2', keyExpiration }];
  writeFileSync(join(roots, 'wallet-b.json'), JSON.stringify({ keys: rootKeys }));
  return {
    roots,
    async processingCertificate(merchantIdentifier, key) {
      const hash = createHash('sha256').update(merchantIdentifier).digest('hex').toUpperCase();
      return pemOfCertificate(
        await issue('Processing', root, [[MERCHANT, new Utf8String({ value: hash })]], false, key),
      );
    },
    tokenA: (token) => sealA(token, leaf, intermediate),
    tokenB: (token) => sealB(token, rootB, signingB),
  };
}

async function sealA(token: SealA, leaf: Issued, intermediate: Issued): Promise<string> {
  const { key, merchantIdentifier, expiry = '01/38', signedAt = Date.now() } = token;
  const ephemeral = newKey();
  const [month = '', year = ''] = expiry.split('/');
  const secret = diffieHellman({ privateKey: ephemeral, publicKey: createPublicKey(key) });
  const derived = createHash('sha256')
    .update(Buffer.from([0, 0, 0, 1]))
    .update(secret)
    .update('\x0did-aes256-GCM')
    .update('Apple')
    .update(createHash('sha256').update(merchantIdentifier).digest())
    .digest();
  const cipher = createCipheriv('aes-256-gcm', derived, Buffer.alloc(16));
  const content = JSON.stringify({
    applicationPrimaryAccountNumber: token.number ?? DEVICE_NUMBER,
    applicationExpirationDate: `${year}${month}28`,
    currencyCode: token.currencyCode ?? '840',
    transactionAmount: token.amount ?? 1000,
    deviceManufacturerIdentifier: '040010030273',
    paymentDataType: '3DSecure',
    paymentData: { onlinePaymentCryptogram: CRYPTOGRAM, eciIndicator: '7' },
  });
  const data = Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  const transactionId = token.transactionId ?? randomBytes(32).toString('hex');
  const signed = Buffer.concat([spkiOf(ephemeral), data, Buffer.from(transactionId, 'hex')]);
  const signature = await cmsSignature(signed, leaf, intermediate, signedAt);
  return JSON.stringify({
    paymentData: {
      data: data.toString('base64'),
      signature: signature.toString('base64'),
      header: {
        publicKeyHash: createHash('sha256').update(spkiOf(key)).digest('base64'),
        ephemeralPublicKey: spkiOf(ephemeral).toString('base64'),
        transactionId,
      },
      version: 'EC_v1',
    },
    paymentMethod: { displayName: 'Visa 3478', network: 'Visa', type: 'debit' },
    transactionIdentifier: transactionId,
  });
}

async function cmsSignature(content: Buffer, leaf: Issued, intermediate: Issued, at: number): Promise<Buffer> {
  const digest = createHash('sha256').update(content).digest();
  const attribute = (type: string, value: object) => new Attribute({ type, values: [value] });
  const signedData = new SignedData({
    version: 1,
    encapContentInfo: new EncapsulatedContentInfo({ eContentType: '1.2.840.113549.1.7.1' }),
    signerInfos: [
      new SignerInfo({
        version: 1,
        sid: new IssuerAndSerialNumber({
          issuer: leaf.certificate.issuer,
          serialNumber: leaf.certificate.serialNumber,
        }),
        signedAttrs: new SignedAndUnsignedAttributes({
          type: 0,
          attributes: [
            attribute('1.2.840.113549.1.9.3', new ObjectIdentifier({ value: '1.2.840.113549.1.7.1' })),
            attribute('1.2.840.113549.1.9.5', new UTCTime({ valueDate: new Date(at) })),
            attribute('1.2.840.113549.1.9.4', new OctetString({ valueHex: digest })),
          ],
        }),
      }),
    ],
    certificates: [leaf.certificate, intermediate.certificate],
  });
  await signedData.sign(leaf.keys.privateKey as never, 0, 'SHA-256', Uint8Array.from(content).buffer);
  const info = new ContentInfo({ contentType: '1.2.840.113549.1.7.2', content: signedData.toSchema(true) });
  return Buffer.from(info.toSchema().toBER());
}

const lengthValues = (...texts: string[]): Buffer =>
  Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(Buffer.byteLength(text));
      return [length, Buffer.from(text)];
    }),
  );

function sealB(token: SealB, root: KeyObject, signing: KeyObject): string {
  const { key, authMethod = 'CRYPTOGRAM_3DS', expiry = '01/38', recipient = 'gateway:turnpike' } = token;
  const [month = '', year = ''] = expiry.split('/');
  const isDevice = authMethod === 'CRYPTOGRAM_3DS';
  const content = JSON.stringify({
    gatewayMerchantId: token.gatewayMerchantId,
    messageExpiration: String(token.expiresAt ?? Date.now() + 3_600_000),
    messageId: token.messageId ?? randomUUID(),
    paymentMethod: 'CARD',
    paymentMethodDetails: {
      pan: token.number ?? (isDevice ? DEVICE_NUMBER : CARD_NUMBER),
      expirationMonth: Number(month),
      expirationYear: 2000 + Number(year),
      authMethod,
      ...(isDevice && { cryptogram: CRYPTOGRAM, eciIndicator: '05' }),
    },
  });
  const ephemeral = createECDH('prime256v1');
  const point = ephemeral.generateKeys();
  const { x, y } = createPublicKey(key).export({ format: 'jwk' });
  const coordinates = [x, y].map((coordinate) => Buffer.from(coordinate as string, 'base64url'));
  const secret = ephemeral.computeSecret(Buffer.concat([Buffer.from([4]), ...coordinates]));
  const derived = Buffer.from(hkdfSync('sha256', Buffer.concat([point, secret]), '', 'Google', 64));
  const cipher = createCipheriv('aes-256-ctr', derived.subarray(0, 32), Buffer.alloc(16));
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()]);
  const signedMessage = JSON.stringify({
    encryptedMessage: encrypted.toString('base64'),
    ephemeralPublicKey: point.toString('base64'),
    tag: createHmac('sha256', derived.subarray(32)).update(encrypted).digest('base64'),
  });
  const signedKey = JSON.stringify({
    keyValue: spkiOf(signing).toString('base64'),
    keyExpiration: String(Date.now() + DAY_MS),
  });
  const signature = (by: KeyObject, ...texts: string[]): string =>
    sign('sha256', lengthValues('Google', ...texts), by).toString('base64');
  return JSON.stringify({
    apiVersionMinor: 0,
    apiVersion: 2,
    paymentMethodData: {
      description: 'Visa 3478',
      tokenizationData: {
        type: 'PAYMENT_GATEWAY',
        token: JSON.stringify({
          signature: signature(signing, recipient, 'ECv2', signedMessage),
          intermediateSigningKey: { signedKey, signatures: [signature(root, 'ECv2', signedKey)] },
          protocolVersion: 'ECv2',
          signedMessage,
        }),
      },
      type: 'CARD',
      info: { cardNetwork: 'VISA', cardDetails: '3478' },
    },
  });
}
