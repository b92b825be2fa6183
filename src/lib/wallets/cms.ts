/** Reads the detached CMS signature of a wallet-a token; nothing is verified here except the structure. */
import { X509Certificate } from 'node:crypto';
import { type BaseBlock, fromBER, GeneralizedTime, OctetString, Sequence, Set as SetOf, UTCTime } from 'asn1js';
import {
  algorithmIn,
  areEqual,
  certificateParts,
  extensionsIn,
  identifierIn,
  isOne,
  isWellFramed,
  type Parts,
  partsOf,
  taggedParts,
} from './asn1.ts';
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

/** Real signatures are BER with indefinite lengths. */
export function readCmsSignature(blob: Buffer): CmsSignature {
  return orRefuse('cms', () => {
    demand(isWellFramed(blob), 'cms');
    const [contentType, content] = partsOf(fromBER(blob).result, Sequence, 2);
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

/** The leaf and the intermediate certificate. */
function markedCertificates(certificates: Parts): { leaf: BaseBlock; intermediate: BaseBlock } {
  return orRefuse('certificates', () => {
    demand(certificates.length === 2, 'certificates');
    const [first, second] = certificates.map((certificate) => {
      const extensions = extensionsIn(certificate);
      return [LEAF_MARKER, INTERMEDIATE_MARKER].filter((marker) => extensions.has(marker)).join();
    });
    const isLeafFirst = first === LEAF_MARKER && second === INTERMEDIATE_MARKER;
    demand(isLeafFirst || (first === INTERMEDIATE_MARKER && second === LEAF_MARKER), 'certificates');
    const [leaf, intermediate] = (isLeafFirst ? certificates : certificates.toReversed()) as [BaseBlock, BaseBlock];
    return { leaf, intermediate };
  });
}

function signedPart(signer: BaseBlock, leaf: BaseBlock): Omit<CmsSignature, 'leaf' | 'intermediate'> {
  const [version, signerId, digestAlgorithm, attributes, signatureAlgorithm, signature] = partsOf(signer, Sequence, 6);
  const [issuer, serialNumber] = partsOf(signerId, Sequence, 2);
  const [, leafSerialNumber, , leafIssuer] = certificateParts(leaf);
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
