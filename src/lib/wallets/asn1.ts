/** Readers for ASN.1 structures; a structure that differs is refused. */
import { type BaseBlock, Constructed, Integer, Null, ObjectIdentifier, Sequence, type Set as SetOf } from 'asn1js';
import { demand } from './reading.ts';

// PKI.js, on top of asn1js, has classes for these structures, but compares each with a schema: that took three times as
// long as parsing.

const INTEGER = 2;
const SEQUENCE = 16;
const SET = 17;
const DEPTH_MOST = 32;

/**
 * Whether the bytes are exactly one BER element whose parts fill it exactly. asn1js ignores wrong lengths and wrong marks of
 * constructed elements, so that there would be many encodings of one signature.
 */
export const isWellFramed = (bytes: Uint8Array): boolean => endOf(bytes, 0, bytes.length, 0) === bytes.length;

/** Where the element that begins at `start` ends, or -1. */
function endOf(bytes: Uint8Array, start: number, limit: number, depth: number): number {
  if (start + 2 > limit || depth > DEPTH_MOST) return -1;
  const [tag = 0, first = 0] = bytes.subarray(start, start + 2);
  const isConstructed = (tag & 32) !== 0;
  const number = tag & 31;
  // Tag numbers of several bytes are not used. Of the universal types only SEQUENCE and SET are constructed.
  if (number === 31 || (tag < 64 && isConstructed !== (number === SEQUENCE || number === SET))) return -1;
  if (first === 0x80) return isConstructed ? endOfParts(bytes, start + 2, limit, depth, true) : -1;
  const sizeLength = first < 128 ? 0 : first & 127;
  const content = start + 2 + sizeLength;
  if (sizeLength > 3 || content > limit) return -1;
  const size = sizeLength === 0 ? first : Buffer.from(bytes.subarray(start + 2, content)).readUIntBE(0, sizeLength);
  const isShortest = sizeLength === 0 || size >= Math.max(128, 256 ** (sizeLength - 1));
  if (tag === 0 || !isShortest || content + size > limit) return -1;
  return isConstructed ? endOfParts(bytes, content, content + size, depth, false) : content + size;
}

/** Where the parts of an element end: at the limit, or after the end-of-contents mark. */
function endOfParts(bytes: Uint8Array, start: number, limit: number, depth: number, isIndefinite: boolean): number {
  let at = start;
  while (at !== -1 && at < limit) {
    if (isIndefinite && bytes[at] === 0 && bytes[at + 1] === 0) return at + 2;
    at = endOf(bytes, at, limit, depth + 1);
  }
  return !isIndefinite && at === limit ? at : -1;
}

export type Parts = (BaseBlock | undefined)[];

/** The parts of a SEQUENCE or SET, as many as given. */
export function partsOf(block: BaseBlock | undefined, type: typeof Sequence | typeof SetOf, count?: number): Parts {
  demand(block instanceof type && [undefined, block.valueBlock.value.length].includes(count), 'cms');
  return block.valueBlock.value;
}

const isTagged = (block: BaseBlock | undefined, tag: number): block is Constructed =>
  block instanceof Constructed && block.idBlock.tagClass === 3 && block.idBlock.tagNumber === tag;

export function taggedParts(block: BaseBlock | undefined, tag: number): Parts {
  demand(isTagged(block, tag), 'cms');
  return block.valueBlock.value;
}

export function identifierIn(block: BaseBlock | undefined): string {
  demand(block instanceof ObjectIdentifier, 'cms');
  return block.getValue();
}

/** Whether a block is the INTEGER 1; the class also stands for ENUMERATED. */
export const isOne = (block: BaseBlock | undefined): boolean =>
  block instanceof Integer && block.idBlock.tagNumber === INTEGER && block.valueBlock.valueDec === 1;

/** The parameters of an algorithm may be absent or NULL. */
export function algorithmIn(block: BaseBlock | undefined): string {
  const [algorithm, parameters, ...more] = partsOf(block, Sequence);
  demand((parameters === undefined || parameters instanceof Null) && more.length === 0, 'cms');
  return identifierIn(algorithm);
}

/** The parts of the signed content of a certificate: version, serial number, algorithm, issuer, … */
export const certificateParts = (certificate: BaseBlock | undefined): Parts =>
  partsOf(partsOf(certificate, Sequence, 3)[0], Sequence);

/** The extensions of a certificate: their identifiers and values. */
export function extensionsIn(certificate: BaseBlock | undefined): Map<string, BaseBlock | undefined> {
  const [extensions] = certificateParts(certificate).filter((part) => isTagged(part, 3));
  return new Map(
    partsOf(taggedParts(extensions, 3)[0], Sequence).map((extension) => {
      const parts = partsOf(extension, Sequence);
      return [identifierIn(parts[0]), parts.at(-1)];
    }),
  );
}

export const areEqual = (one: BaseBlock | undefined, other: BaseBlock | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  Buffer.from(one.valueBeforeDecodeView).equals(Buffer.from(other.valueBeforeDecodeView));
