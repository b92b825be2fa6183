/** A recipe for a request hash, split into steps, so that each step can be replaced by the mistake that a client makes. */
import { hash } from 'node:crypto';
import { asciiUpper, type HashDigest } from '../../lib/crypto/hash.ts';

export interface Recipe {
  /** The signed fields, in order. */
  names: readonly string[];
  /** What is done to each value before it is signed; the gateway signs raw values. */
  format: (value: string, name: string) => string;
  /** The secret that is signed with the values. */
  secret: string;
  upperValue: (value: string) => string;
  upperSecret: (secret: string) => string;
  join: (values: readonly string[], secret: string) => string;
  digest: (text: string) => Buffer;
}

/** A recipe that differs from the gateway's in one step. */
export interface Variation {
  /** The stable name of the mistake. */
  mistake: string;
  /** What is wrong, and what the developer should do. */
  sentence: string;
  changes: Partial<Recipe>;
  /** Tried alone only, not together with another mistake. */
  isRare?: boolean;
}

export const md5Hex = (text: string): string => hash('md5', text, 'hex');

export const sha1 = (content: string | Buffer): Buffer => hash('sha1', content, 'buffer');

/** The recipe that the gateway documents. */
export const canonicalRecipe = (names: readonly string[], secret: string, digest: HashDigest = 'md5'): Recipe => ({
  names,
  format: (value) => value,
  secret,
  upperValue: asciiUpper,
  upperSecret: asciiUpper,
  join: (values, password) => values.join('') + password,
  digest: (text) => sha1(hash(digest, text, 'hex')),
});

type Texts = Map<Recipe['format'], Map<Recipe['upperValue'], Map<string, string>>>;

/** Returns the text that a recipe signs; values that several recipes format alike are formatted once. */
export function textReader(value: (name: string) => string): (recipe: Recipe) => string {
  const known: Texts = new Map();
  return ({ names, format, secret, upperValue, upperSecret, join }) => {
    const byUpper = setDefault(known, format, () => new Map());
    const texts = setDefault(byUpper, upperValue, () => new Map());
    const signed = names.map((name) => setDefault(texts, name, () => upperValue(format(value(name), name))));
    return join(signed, upperSecret(secret));
  };
}

function setDefault<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const found = map.get(key) ?? create();
  map.set(key, found);
  return found;
}
