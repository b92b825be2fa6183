/** The chain of the audit log: digests that anyone can compute, and HMACs under a key that the database does not have. */
import { hash } from 'node:crypto';

/** HMAC under the key of the audit log. */
export type AuditKey = (text: string) => Buffer;

/** The newest entry. */
export interface AuditHead {
  seq: bigint;
  digest: Buffer;
  /** Null until an entry was written with the key. */
  mac: Buffer | null;
}

export const EMPTY_CHAIN: AuditHead = { seq: 0n, digest: Buffer.alloc(0), mac: null };

/** The digest of an entry with this text after a previous digest; the database computes the same. */
export const entryDigest = (previous: Buffer, text: string): Buffer =>
  hash('sha256', Buffer.concat([previous, Buffer.from(text)]), 'buffer');

const textOf = (...parts: (string | bigint | Buffer | null)[]): string =>
  JSON.stringify(
    parts.map((part) => (Buffer.isBuffer(part) ? part.toString('hex') : part === null ? null : String(part))),
  );

/** The HMAC of an entry: of its number, its digest, and the head before it as it was found. */
export const entryMac = (key: AuditKey, before: AuditHead['mac'], { seq, digest }: Omit<AuditHead, 'mac'>): Buffer =>
  key(textOf('entry', seq, digest, before));

/** The HMAC of the head. No entry contains it, so that without the key nobody can make an earlier entry the newest one. */
export const headMac = (key: AuditKey, seq: bigint, mac: Buffer): Buffer => key(textOf('head', seq, mac));

const MARK_LENGTH = 24;

/** A short text to recognise a head by, in letters only, because the log masks runs of digits. */
export const headMark = (key: AuditKey, { seq, digest, mac }: AuditHead): string =>
  key(textOf('mark', seq, digest, mac))
    .toString('hex')
    .slice(0, MARK_LENGTH)
    .replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));
