/** Strict readers for the parts of wallet tokens: what has another form is refused. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { isCardNumber } from '../cards/card.ts';
import { Secret } from '../crypto/secret.ts';
import { isObject } from '../text/json.ts';
import { type OpenedToken, TokenRefused, type TokenRule } from './opened.ts';

/** Refuses the token for this rule after an error; the error, which may quote the token, is dropped. */
export const refuseFor =
  (rule: TokenRule) =>
  (error: unknown): never => {
    throw error instanceof TokenRefused ? error : new TokenRefused(rule);
  };

/** The result of `work`; if it throws, the token is refused for this rule. */
export function orRefuse<Result>(rule: TokenRule, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return refuseFor(rule)(error);
  }
}

export function demand(isMet: boolean, rule: TokenRule): asserts isMet {
  if (!isMet) throw new TokenRefused(rule);
}

/** An object, or the JSON text of one. */
export function objectIn(value: unknown, rule: TokenRule = 'shape'): Record<string, unknown> {
  const object = typeof value === 'string' ? orRefuse(rule, () => JSON.parse(value)) : value;
  demand(isObject(object), rule);
  return object;
}

/** An object, or the JSON text of one, with these members and no others. */
export function exactlyIn<Name extends string>(value: unknown, ...names: Name[]): Record<Name, unknown> {
  const object = objectIn(value);
  demand(Object.keys(object).toSorted().join() === names.toSorted().join(), 'shape');
  return object as Record<Name, unknown>;
}

export function textIn(value: unknown, rule: TokenRule = 'shape'): string {
  demand(typeof value === 'string' && value !== '', rule);
  return value;
}

/** Canonical base64 with padding: no two texts have the same bytes. */
export function base64In(value: unknown, rule: TokenRule = 'shape'): Buffer {
  const bytes = Buffer.from(textIn(value, rule), 'base64');
  demand(bytes.toString('base64') === value, rule);
  return bytes;
}

export function hexIn(value: unknown): Buffer {
  const bytes = Buffer.from(textIn(value), 'hex');
  demand(bytes.toString('hex') === textIn(value).toLowerCase(), 'shape');
  return bytes;
}

/** Milliseconds since 1970 as decimal text. */
export function timeIn(value: unknown, rule: TokenRule): number {
  demand(/^\d{1,15}$/.test(textIn(value, rule)), rule);
  return Number(value);
}

/** A number, or its decimal text. */
export function numberIn(value: unknown): number {
  demand(typeof value === 'number' || /^\d{1,4}$/.test(textIn(value, 'content')), 'content');
  return Number(value);
}

export const isP256 = (key: KeyObject): boolean =>
  key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1';

const SPKI_LENGTH = 91;

/** A public key of P-256, an uncompressed point, in the encoding of X.509 (SPKI). */
export function publicKeyIn(bytes: Buffer, rule: TokenRule): KeyObject {
  return orRefuse(rule, () => {
    const key = createPublicKey({ key: bytes, format: 'der', type: 'spki' });
    demand(bytes.length === SPKI_LENGTH && isP256(key), rule);
    demand(key.export({ format: 'der', type: 'spki' }).equals(bytes), rule);
    return key;
  });
}

/** A card from its parts; the month is a number from 1 to 12. */
export function cardOf(number: unknown, month: number, year: number, holder = ''): OpenedToken['card'] {
  const digits = textIn(number, 'content');
  demand(isCardNumber(digits), 'content');
  demand(Number.isInteger(month) && month >= 1 && month <= 12, 'content');
  demand(Number.isInteger(year) && year >= 2000 && year <= 2099, 'content');
  return { number: new Secret(digits), month: String(month).padStart(2, '0'), year: String(year), holder };
}

/** The cryptogram and, with two digits, the electronic commerce indicator, which may be absent. */
export function authenticationOf(cryptogram: unknown, eci: unknown): Pick<OpenedToken, 'cryptogram' | 'eci'> {
  const secret = new Secret(textIn(cryptogram, 'content'));
  if (eci === undefined || eci === null || eci === '') return { cryptogram: secret };
  demand(/^\d{1,2}$/.test(textIn(eci, 'content')), 'content');
  return { cryptogram: secret, eci: String(eci).padStart(2, '0') };
}

/** The card network from the unsigned part of a token, which may lack it. */
export const networkIn = (name: unknown): string => (typeof name === 'string' ? name.toLowerCase() : '');
