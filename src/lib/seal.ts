/** Sealing of secrets at rest: AES-256-GCM under a master key, bound to the row they belong to. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION_BYTES = 4;
const MARK_BYTES = 16;

/** The first key seals; all of them open, so that an old key can be retired row by row. */
export interface Seal {
  seal(text: string, boundTo: string): Buffer;
  open(sealed: Buffer, boundTo: string): string;
  /** A key of its own for each purpose, which tells nothing about the master key or the others. */
  derive(purpose: string): Buffer;
  /** A digest that nobody without the key can look for the text of, or make again. */
  digest(text: string, purpose: string): string;
  /** A mark of 128 bits that only this installation can make; links carry one, so that nobody can guess them. */
  mark(text: string, purpose: string): string;
  isMark(mark: string, text: string, purpose: string): boolean;
  /** The version of the key that seals now, as it stands at the head of every sealed value. */
  readonly version: string;
}

/** Where a secret belongs; a sealed value copied to another row, column or table does not open there. */
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
  const derived = new Map<string, Buffer>();
  const deriveFrom = ({ bytes, version }: Key, purpose: string): Buffer => {
    const name = `${version} ${purpose}`;
    const known = derived.get(name) ?? Buffer.from(hkdfSync('sha256', bytes, '', purpose, 32));
    derived.set(name, known);
    return known;
  };
  const keyTexts = new Map<string, string>();
  const keyText = (purpose: string): string => {
    const known = keyTexts.get(purpose) ?? deriveFrom(current, purpose).toString('hex');
    keyTexts.set(purpose, known);
    return known;
  };
  const markBy = (key: Key, text: string, purpose: string): Buffer =>
    createHmac('sha256', deriveFrom(key, purpose)).update(text).digest().subarray(0, MARK_BYTES);

  return {
    version: current.version,
    derive: (purpose) => deriveFrom(current, purpose),
    digest: (text, purpose) => hash('sha256', keyText(purpose) + text),
    mark: (text, purpose) => markBy(current, text, purpose).toString('base64url'),
    isMark(mark, text, purpose) {
      // As text: of the several spellings of the same bytes only ours is right.
      const given = Buffer.from(mark);
      return all.some((key) => {
        const right = Buffer.from(markBy(key, text, purpose).toString('base64url'));
        return right.length === given.length && timingSafeEqual(right, given);
      });
    },
    seal(text, bound) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.bytes, iv);
      cipher.setAAD(Buffer.from(bound));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.from(current.version, 'hex'), iv, body, cipher.getAuthTag()]);
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

/** A new master key as the configuration takes it. */
export const newMasterKey = (): string => randomBytes(32).toString('base64');
