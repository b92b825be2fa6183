/** Reads the detached CMS signature of a wallet-a token; nothing is verified here except the structure. */
import { X509Certificate } from 'node:crypto';
import {
  type BaseBlock,
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
} from 'asn1js';
import { demand, orRefuse } from './reading.ts';

const SIGNED_DATA = '1.2.840.113549.1.7.2';
const DATA = '1.2.840.113549.1.7.1';
const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
const SIGNING_TIME = '1.2.840.113549.1.9.5';
const SHA_256 = '2.16.840.1.101.3.4.2.1';
const ECDSA_WITH_SHA_256 = '1.2.840.10045.4.3.2';
/** Extensions that mark the two certificates; their values do not matter. */
const LEAF_MARKER = '1.2.840.113635.100.6.29';
const INTERMEDIATE_MARKER = '1.2.840.113635.100.6.2.14';

export interface CmsSignature {
  leaf: X509Certificate;
  intermediate: X509Certificate;
  /** The bytes that are signed: the attributes as a SET in DER. */
  signedAttributes: Uint8Array;
  signature: Uint8Array;
  messageDigest: Uint8Array;
  /** In milliseconds since 1970. */
  signingTime: number;
}

// The classes of PKI.js need more than three times as long as asn1js alone, because they compare every structure with a
// schema. The readers below follow RFC 5652 and RFC 5280 and accept no optional parts that the wallet does not use.

/** Real signatures are BER with indefinite lengths. */
export function readCmsSignature(blob: Buffer): CmsSignature {
  return orRefuse('cms', () => {
    const { result, offset } = fromBER(blob);
    demand(offset === blob.length, 'cms');
    const [contentType, content] = partsOf(result, Sequence, 2);
    demand(identifierIn(contentType) === SIGNED_DATA, 'cms');
    const [signedData] = taggedParts(content, 0);
    const [version, digestAlgorithms, encapsulated, certificates, signers] = partsOf(signedData, Sequence, 5);
    demand(isOne(version), 'cms');
    const [encapsulatedType, ...attached] = partsOf(encapsulated, Sequence);
    demand(identifierIn(encapsulatedType) === DATA, 'contentType');
    demand(attached.length === 0, 'attachedContent');
    const [signer, ...otherSigners] = partsOf(signers, SetOf);
    demand(signer !== undefined && otherSigners.length === 0, 'signers');
    const [digestAlgorithm, ...otherAlgorithms] = partsOf(digestAlgorithms, SetOf);
    demand(algorithmIn(digestAlgorithm) === SHA_256 && otherAlgorithms.length === 0, 'digestAlgorithm');
    const { leaf, intermediate } = markedCertificates(taggedParts(certificates, 0));
    return {
      leaf: orRefuse('certificates', () => new X509Certificate(leaf.valueBeforeDecodeView)),
      intermediate: orRefuse('certificates', () => new X509Certificate(intermediate.valueBeforeDecodeView)),
      ...signedPart(signer, leaf),
    };
  });
}

type Parts = (BaseBlock | undefined)[];

/** The parts of a SEQUENCE or SET, as many as given. */
function partsOf(block: BaseBlock | undefined, type: typeof Sequence | typeof SetOf, count?: number): Parts {
  demand(block instanceof type && [undefined, block.valueBlock.value.length].includes(count), 'cms');
  return block.valueBlock.value;
}

const isTagged = (block: BaseBlock | undefined, tag: number): block is Constructed =>
  block instanceof Constructed && block.idBlock.tagClass === 3 && block.idBlock.tagNumber === tag;

function taggedParts(block: BaseBlock | undefined, tag: number): Parts {
  demand(isTagged(block, tag), 'cms');
  return block.valueBlock.value;
}

function identifierIn(block: BaseBlock | undefined): string {
  demand(block instanceof ObjectIdentifier, 'cms');
  return block.getValue();
}

const isOne = (block: BaseBlock | undefined): boolean => block instanceof Integer && block.valueBlock.valueDec === 1;

/** The parameters of an algorithm may be absent or NULL. */
function algorithmIn(block: BaseBlock | undefined): string {
  const [algorithm, parameters, ...more] = partsOf(block, Sequence);
  demand((parameters === undefined || parameters instanceof Null) && more.length === 0, 'cms');
  return identifierIn(algorithm);
}

/** The leaf and the intermediate certificate. */
function markedCertificates(certificates: Parts): { leaf: BaseBlock; intermediate: BaseBlock } {
  return orRefuse('certificates', () => {
    demand(certificates.length === 2, 'certificates');
    const [first, second] = certificates.map((certificate) => {
      const extensions = partsOf(
        tbsParts(certificate).find((part) => isTagged(part, 3))?.valueBlock.value[0],
        Sequence,
      );
      const identifiers = extensions.map((extension) => identifierIn(partsOf(extension, Sequence)[0]));
      return [LEAF_MARKER, INTERMEDIATE_MARKER].filter((marker) => identifiers.includes(marker)).join();
    });
    const isLeafFirst = first === LEAF_MARKER && second === INTERMEDIATE_MARKER;
    demand(isLeafFirst || (first === INTERMEDIATE_MARKER && second === LEAF_MARKER), 'certificates');
    const [leaf, intermediate] = (isLeafFirst ? certificates : certificates.toReversed()) as [BaseBlock, BaseBlock];
    return { leaf, intermediate };
  });
}

const tbsParts = (certificate: BaseBlock | undefined): Parts => partsOf(partsOf(certificate, Sequence, 3)[0], Sequence);

const areEqual = (one: BaseBlock | undefined, other: BaseBlock | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  Buffer.from(one.valueBeforeDecodeView).equals(Buffer.from(other.valueBeforeDecodeView));

function signedPart(signer: BaseBlock, leaf: BaseBlock): Omit<CmsSignature, 'leaf' | 'intermediate'> {
  const [version, signerId, digestAlgorithm, attributes, signatureAlgorithm, signature] = partsOf(signer, Sequence, 6);
  const [issuer, serialNumber] = partsOf(signerId, Sequence, 2);
  // A certificate of version 3 begins with its version, the serial number, the algorithm and the issuer.
  const [, leafSerialNumber, , leafIssuer] = tbsParts(leaf);
  demand(isOne(version) && areEqual(issuer, leafIssuer) && areEqual(serialNumber, leafSerialNumber), 'signers');
  demand(algorithmIn(digestAlgorithm) === SHA_256, 'digestAlgorithm');
  demand(algorithmIn(signatureAlgorithm) === ECDSA_WITH_SHA_256, 'signatureAlgorithm');
  const values = attributesIn(taggedParts(attributes, 0));
  demand(identifierIn(values.get(CONTENT_TYPE)) === DATA, 'contentType');
  const digest = values.get(MESSAGE_DIGEST);
  const time = values.get(SIGNING_TIME);
  demand(digest instanceof OctetString && signature instanceof OctetString, 'cms');
  demand(time instanceof UTCTime || time instanceof GeneralizedTime, 'cms');
  const signedAttributes = Uint8Array.from((attributes as BaseBlock).valueBeforeDecodeView);
  // The signature covers the attributes with the tag of a SET instead of the implicit one.
  signedAttributes[0] = 0x31;
  return {
    signedAttributes,
    signature: signature.valueBlock.valueHexView,
    messageDigest: digest.valueBlock.valueHexView,
    signingTime: time.toDate().getTime(),
  };
}

/** The only value of each attribute; none may occur twice. */
function attributesIn(attributes: Parts): Map<string, BaseBlock> {
  const values = new Map<string, BaseBlock>();
  for (const attribute of attributes) {
    const [type, set] = partsOf(attribute, Sequence, 2);
    const [value] = partsOf(set, SetOf, 1);
    demand(value !== undefined && !values.has(identifierIn(type)), 'cms');
    values.set(identifierIn(type), value);
  }
  return values;
}
