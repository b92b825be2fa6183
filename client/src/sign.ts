/** The hash of requests and callbacks: SHA-1 of the hex MD5 of the upper-cased values followed by the password. */
import { createHash, timingSafeEqual } from 'node:crypto';

const hashOf = (text: string): string =>
  createHash('sha1').update(createHash('md5').update(text).digest('hex')).digest('hex');

/** Upper-cases a to z only, so that every language computes the same hash. */
const asciiUpper = (text: string): string => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/** Computes the hash of these values, in order. */
export const sign = (values: readonly string[], password: string): string =>
  hashOf(asciiUpper(values.join('') + password));

/** Compares in constant time. */
export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whether `claimed` is the hash of these values; with full Unicode upper-casing, too, which an account can choose. */
export function isSigned(claimed: string, values: readonly string[], password: string): boolean {
  const given = Buffer.from(claimed.toLowerCase());
  const unicode = hashOf((values.join('') + password).toUpperCase());
  return [sign(values, password), unicode].some((right) => isSame(given, Buffer.from(right)));
}

/** The values of the signed fields of a request; a dot in a name means a nested object, and a missing field is empty. */
export const signedValues = (request: object, names: readonly string[]): string[] =>
  names.map((name) => {
    const value = name
      .split('.')
      .reduce<unknown>((place, part) => (place as Record<string, unknown> | null)?.[part], request);
    return String(value ?? '');
  });
