/** Makes tokens of wallet-a for the sandbox, under a root of its own; shares no code with the opening of tokens. */
import {
  createCipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import {
  type BaseBlock,
  BitString,
  Boolean as Bool,
  Constructed,
  fromBER,
  GeneralizedTime,
  Integer,
  Null,
  ObjectIdentifier,
  OctetString,
  Sequence,
  Set as SetOf,
  UTCTime,
  Utf8String,
} from 'asn1js';
import type { Secret } from '../crypto/secret.ts';
import { CURRENCY_OF } from '../money/iso-4217.ts';

/** A root certificate, what it issued, and the key that signs tokens; in PEM, so that it can be stored. */
export interface WalletAAuthority {
  root: string;
  intermediate: string;
  leaf: string;
  leafKey: string;
}

export interface WalletAPayment {
  number: Secret;
  month: string;
  year: string;
  holder?: string;
  network: string;
  /** In minor units. */
  amount: bigint;
  currency: string;
}

const YEARS = 10;
const MARKERS = { leaf: '1.2.840.113635.100.6.29', intermediate: '1.2.840.113635.100.6.2.14' };
const ECDSA_WITH_SHA_256 = '1.2.840.10045.4.3.2';
const SHA_256 = '2.16.840.1.101.3.4.2.1';
const DATA = '1.2.840.113549.1.7.1';
const SIGNED_DATA = '1.2.840.113549.1.7.2';

const sequence = (...value: BaseBlock[]): Sequence => new Sequence({ value });
const setOf = (...value: BaseBlock[]): SetOf => new SetOf({ value });
const identifier = (value: string): ObjectIdentifier => new ObjectIdentifier({ value });
const octets = (valueHex: Uint8Array): OctetString => new OctetString({ valueHex: Uint8Array.from(valueHex).buffer });
const tagged = (tagNumber: number, ...value: BaseBlock[]): Constructed =>
  new Constructed({ idBlock: { tagClass: 3, tagNumber }, value });
const der = (block: BaseBlock): Buffer => Buffer.from(block.toBER());
const publicOf = (key: KeyObject): KeyObject => (key.type === 'private' ? createPublicKey(key) : key);
const spki = (key: KeyObject): Buffer => publicOf(key).export({ format: 'der', type: 'spki' });
const hash = (...parts: Buffer[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;

const nameOf = (text: string): Sequence =>
  sequence(setOf(sequence(identifier('2.5.4.3'), new Utf8String({ value: text }))));

interface CertificateRequest {
  subject: string;
  issuer: string;
  key: KeyObject;
  issuerKey: KeyObject;
  isAuthority: boolean;
  marker?: string;
}

function newCertificate(request: CertificateRequest, now: number): Buffer {
  const { subject, issuer, key, issuerKey, isAuthority, marker } = request;
  const critical = new Bool({ value: true });
  const algorithm = sequence(identifier(ECDSA_WITH_SHA_256));
  const end = new Date(now);
  end.setUTCFullYear(end.getUTCFullYear() + YEARS);
  // Key usage: signatures of certificates, or signatures of data.
  const usage = new BitString({
    unusedBits: isAuthority ? 2 : 7,
    valueHex: Uint8Array.of(isAuthority ? 4 : 128).buffer,
  });
  const extensions = [
    sequence(
      identifier('2.5.29.19'),
      critical,
      octets(der(isAuthority ? sequence(new Bool({ value: true })) : sequence())),
    ),
    sequence(identifier('2.5.29.15'), critical, octets(der(usage))),
    ...(marker === undefined ? [] : [sequence(identifier(marker), octets(der(new Null())))]),
  ];
  const content = sequence(
    tagged(0, new Integer({ value: 2 })),
    new Integer({ valueHex: Uint8Array.of(1, ...randomBytes(15)).buffer }),
    algorithm,
    nameOf(issuer),
    sequence(new GeneralizedTime({ valueDate: new Date(now - 86_400_000) }), new GeneralizedTime({ valueDate: end })),
    nameOf(subject),
    fromBER(spki(key)).result,
    tagged(3, sequence(...extensions)),
  );
  const signature = Uint8Array.from(sign('sha256', der(content), issuerKey));
  return der(sequence(content, algorithm, new BitString({ valueHex: signature.buffer })));
}

/** A self-signed certificate and its key, in place of the merchant identity certificate that the vendor issues. */
export function newIdentity(subject: string, now: number): { certificate: string; key: string } {
  const key = newKey();
  const request = { subject, issuer: subject, key, issuerKey: key, isAuthority: false };
  return {
    certificate: new X509Certificate(newCertificate(request, now)).toString(),
    key: key.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

export function newWalletAAuthority(now: number): WalletAAuthority {
  const [root, intermediate, leaf] = [newKey(), newKey(), newKey()];
  const names = { root: 'Sandbox Wallet Root', intermediate: 'Sandbox Wallet Intermediate', leaf: 'Sandbox Wallet' };
  const pem = (request: CertificateRequest): string => new X509Certificate(newCertificate(request, now)).toString();
  return {
    root: pem({ subject: names.root, issuer: names.root, key: root, issuerKey: root, isAuthority: true }),
    intermediate: pem({
      ...{ subject: names.intermediate, issuer: names.root, key: intermediate, issuerKey: root },
      ...{ isAuthority: true, marker: MARKERS.intermediate },
    }),
    leaf: pem({
      ...{ subject: names.leaf, issuer: names.intermediate, key: leaf, issuerKey: intermediate },
      ...{ isAuthority: false, marker: MARKERS.leaf },
    }),
    leafKey: leaf.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

/** The detached signature of the content, in DER. */
function signedData({ leaf, intermediate, leafKey }: WalletAAuthority, content: Buffer, now: number): Buffer {
  const [leafBlock, intermediateBlock] = [leaf, intermediate].map(
    (pem) => fromBER(new X509Certificate(pem).raw).result,
  );
  const [, serialNumber, , issuer] = ((leafBlock as Sequence).valueBlock.value[0] as Sequence).valueBlock.value;
  const attributes = [
    sequence(identifier('1.2.840.113549.1.9.3'), setOf(identifier(DATA))),
    sequence(identifier('1.2.840.113549.1.9.4'), setOf(octets(hash(content)))),
    sequence(identifier('1.2.840.113549.1.9.5'), setOf(new UTCTime({ valueDate: new Date(now) }))),
  ].toSorted((one, other) => Buffer.compare(der(one), der(other)));
  const signer = sequence(
    new Integer({ value: 1 }),
    sequence(issuer as BaseBlock, serialNumber as BaseBlock),
    sequence(identifier(SHA_256)),
    tagged(0, ...attributes),
    sequence(identifier(ECDSA_WITH_SHA_256)),
    octets(sign('sha256', der(setOf(...attributes)), createPrivateKey(leafKey))),
  );
  const structure = sequence(
    new Integer({ value: 1 }),
    setOf(sequence(identifier(SHA_256))),
    sequence(identifier(DATA)),
    tagged(0, leafBlock as BaseBlock, intermediateBlock as BaseBlock),
    setOf(signer),
  );
  return der(sequence(identifier(SIGNED_DATA), tagged(0, structure)));
}

/** A token for a merchant with this processing key, public or private; signed at `now`. */
export function sealWalletA(
  authority: WalletAAuthority,
  { merchantIdentifier, processingKey }: { merchantIdentifier: string; processingKey: KeyObject },
  { number, month, year, holder, network, amount, currency }: WalletAPayment,
  now: number,
): Record<string, unknown> {
  const ephemeral = newKey();
  const secret = diffieHellman({ privateKey: ephemeral, publicKey: publicOf(processingKey) });
  const partyV = hash(Buffer.from(merchantIdentifier));
  const key = hash(Buffer.from([0, 0, 0, 1]), secret, Buffer.from('\rid-aes256-GCM'), Buffer.from('Apple'), partyV);
  const [numeric] = [...CURRENCY_OF].find(([, code]) => code === currency) ?? [];
  const plain = {
    applicationPrimaryAccountNumber: number.reveal(),
    applicationExpirationDate: `${year.slice(-2)}${month}28`,
    currencyCode: numeric,
    transactionAmount: Number(amount),
    ...(holder ? { cardholderName: holder } : {}),
    deviceManufacturerIdentifier: '040010030273',
    paymentDataType: '3DSecure',
    paymentData: { onlinePaymentCryptogram: randomBytes(20).toString('base64'), eciIndicator: '05' },
  };
  const cipher = createCipheriv('aes-256-gcm', key, Buffer.alloc(16));
  const encrypted = Buffer.concat([cipher.update(JSON.stringify(plain)), cipher.final()]);
  const data = Buffer.concat([encrypted, cipher.getAuthTag()]);
  const transactionId = randomBytes(32);
  const signature = signedData(authority, Buffer.concat([spki(ephemeral), data, transactionId]), now);
  return {
    paymentData: {
      version: 'EC_v1',
      data: data.toString('base64'),
      signature: signature.toString('base64'),
      header: {
        ephemeralPublicKey: spki(ephemeral).toString('base64'),
        publicKeyHash: hash(spki(processingKey)).toString('base64'),
        transactionId: transactionId.toString('hex'),
      },
    },
    paymentMethod: { displayName: `${network} ${number.reveal().slice(-4)}`, network, type: 'debit' },
    transactionIdentifier: transactionId.toString('hex').toUpperCase(),
  };
}
