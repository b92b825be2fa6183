/** Encrypts secrets at rest: AES-256-GCM with a master key, bound to their row by associated data. */
import { createCipheriv, createDecipheriv, createSecretKey, hash, hkdfSync, randomBytes } from 'node:crypto';
import { randomPart } from './random.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION_BYTES = 4;

/** The first key seals; every key opens, so that an old key can be retired row by row. */
export interface Seal {
  seal(text: string, boundTo: string): Buffer;
  open(sealed: Buffer, boundTo: string): string;
  /** The derived key of a purpose (HKDF); it reveals nothing about the master key or other derived keys. */
  derive(purpose: string): Buffer;
  /** The version of the sealing key; every sealed value begins with it. */
  readonly version: string;
}

/** The associated data of a secret: a sealed value copied to another row, column or table does not open there. */
export const boundTo = (table: string, column: string, row: string): string => `${table}.${column}:${row}`;

export class SealBroken extends Error {}

interface Key {
  version: string;
  bytes: Buffer;
}

function readKey(base64: string): Key {
  const bytes = Buffer.from(base64.trim(), 'base64');
  if (bytes.length !== 32) throw new TypeError('A master key is 32 bytes, written in base64.');
  return { bytes, version: hash('sha256', bytes, 'hex').slice(0, VERSION_BYTES * 2) };
}

/** `keys` is one base64 key, or several separated by commas with the newest first. */
export function createSeal(keys: string): Seal {
  const all = keys.split(',').map(readKey);
  const byVersion = new Map(all.map((key) => [key.version, key]));
  const current = all[0] as Key;
  const sealingKey = createSecretKey(current.bytes);
  const version = Buffer.from(current.version, 'hex');
  const derived = new Map<string, Buffer>();
  return {
    version: current.version,
    derive(purpose) {
      const known = derived.get(purpose) ?? Buffer.from(hkdfSync('sha256', current.bytes, '', purpose, 32));
      derived.set(purpose, known);
      return known;
    },
    seal(text, bound) {
      const iv = randomPart(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealingKey, iv);
      cipher.setAAD(Buffer.from(bound));
      const body = cipher.update(text, 'utf8');
      // In this mode nothing is left for the end.
      cipher.final();
      return Buffer.concat([version, iv, body, cipher.getAuthTag()]);
    },
    open(sealed, bound) {
      if (sealed.length < VERSION_BYTES + IV_BYTES + TAG_BYTES) throw new SealBroken('The secret was cut off.');
      const key = byVersion.get(sealed.subarray(0, VERSION_BYTES).toString('hex'));
      if (!key) throw new SealBroken('The secret was sealed with a master key that is not configured.');
      const iv = sealed.subarray(VERSION_BYTES, VERSION_BYTES + IV_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, iv);
      decipher.setAAD(Buffer.from(bound));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      try {
        const body = sealed.subarray(VERSION_BYTES + IV_BYTES, -TAG_BYTES);
        return decipher.update(body, undefined, 'utf8') + decipher.final('utf8');
      } catch {
        throw new SealBroken('The secret does not belong to this row or was changed.');
      }
    },
  };
}

/** A new master key in the format of the configuration. */
export const newMasterKey = (): string => randomBytes(32).toString('base64');
