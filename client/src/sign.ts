/** The hash of requests and callbacks: SHA-1 of the hex MD5 of the upper-cased values followed by the password. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { REVERSED_REQUESTS, REVERSED_TEXTS } from './generated.ts';

/** The digest of the account; the specified recipe adds an outer SHA-1. */
export type Digest = 'md5' | 'sha256';

const hashOf = (text: string, digest: Digest): string =>
  createHash('sha1').update(createHash(digest).update(text).digest('hex')).digest('hex');

/** Upper-cases a to z only, so that every language computes the same hash. */
const asciiUpper = (text: string): string => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/** Computes the hash of these values, in order. */
export const sign = (values: readonly string[], password: string, digest: Digest = 'md5'): string =>
  hashOf(asciiUpper(values.join('') + password), digest);

/** Compares in constant time. */
export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whether `claimed` is the hash of these values; with full Unicode upper-casing, too, which an account can choose. */
export function isSigned(
  claimed: string,
  values: readonly string[],
  password: string,
  digest: Digest = 'md5',
): boolean {
  const given = Buffer.from(claimed.toLowerCase());
  const unicode = hashOf((values.join('') + password).toUpperCase(), digest);
  return [sign(values, password, digest), unicode].some((right) => isSame(given, Buffer.from(right)));
}

/** The values of the signed fields of a request; a dot in a name means a nested object, and a missing field is empty. */
export const signedValues = (request: object, names: readonly string[]): string[] =>
  names.map((name) => {
    const value = name
      .split('.')
      .reduce<unknown>((place, part) => (place as Record<string, unknown> | null)?.[part], request);
    return String(value ?? '');
  });

/** The payer and the card of a card payment: the recipe `reversed_md5` covers them in every request about it. */
export interface CardPayment {
  payerEmail: string;
  /** The first six and the last four digits of the card number; of a sale or credit with a card token, the token. */
  card: string;
}

const bytesOf = (text: string, isReversed: boolean): Buffer => {
  const bytes = Buffer.from(asciiUpper(text));
  return isReversed ? bytes.reverse() : bytes;
};

/** The hash of a request in the recipe `reversed_md5`; without a card payment, that of any other payment. */
export function signReversed(
  action: string,
  request: object,
  password: string,
  digest: Digest = 'md5',
  payment?: CardPayment,
): string {
  const texts = REVERSED_REQUESTS[action] ?? {};
  const name = (payment ? texts.card : texts.apm) ?? texts.card;
  if (name === undefined) throw new TypeError(`The recipe reversed_md5 has no text for ${action}.`);
  const facts: Record<string, string | undefined> = { password, payer_email: payment?.payerEmail, card: payment?.card };
  const parts = (REVERSED_TEXTS[name] ?? []).map(({ of, isReversed }) => {
    const values = of.map((each) => facts[each] ?? signedValues(request, [each])[0] ?? '');
    return bytesOf(values.join(''), isReversed);
  });
  return createHash(digest).update(Buffer.concat(parts)).digest('hex');
}

/** Whether `claimed` is the hash of a callback over `/post` in the recipe `reversed_md5`; of a card payment, with its payer. */
export function isReversedCallback(
  claimed: string,
  fields: Readonly<Record<string, string>>,
  password: string,
  digest: Digest = 'md5',
  payment?: CardPayment,
): boolean {
  const names = Object.keys(fields).filter((name) => name !== 'hash');
  const sorted = names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const all = Buffer.concat([...sorted.map((name) => bytesOf(fields[name] ?? '', true)), Buffer.from(password)]);
  const right = payment
    ? signReversed('GET_TRANS_STATUS', fields, password, digest, payment)
    : createHash(digest).update(all).digest('hex');
  return isSame(Buffer.from(claimed.toLowerCase()), Buffer.from(right));
}
