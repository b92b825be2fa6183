/** Masks an API call before it is kept: secret fields, unknown fields, and values that contain a secret or a card number. */
import { hasCardNumber, plainDigits } from '../../lib/cards/search.ts';
import { asciiUpper } from '../../lib/crypto/hash.ts';
import { cut } from '../../lib/text/cut.ts';
import { isObject } from '../../lib/text/json.ts';
import { SECRET_NAMES, scrub } from '../../lib/text/scrub.ts';
import { BRANDS, LONG_FIELDS, nameInside } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { type ApiOperation, CHECKOUT_OPERATIONS, DIALECT_OPERATIONS, S2S_OPERATIONS } from '../../rules/operations.ts';
import type { Account } from '../context.ts';
import { maskerFor } from '../explain/explain.ts';
import { spellingsOf } from '../explain/explain-as.ts';
import type { RequestBody } from '../requests/body.ts';

/** Stands for a value that is not kept. */
export const MASKED = '[masked]';

type Field = readonly [name: string, value: string];

const partsOf = (name: string): string[] => name.split(/[.[\]]+/).filter((part) => part !== '');
const normalised = (part: string): string => part.toLowerCase().replace(/[_-]/g, '');

const BRAND_FIELDS = Object.values(BRANDS).flatMap(({ fields }) => fields);
const SECRET_PARTS: ReadonlySet<string> = new Set(
  [
    ...SECRET_NAMES,
    ...BRAND_FIELDS.filter(({ isSecret }) => isSecret).map(({ name }) => nameInside(name)),
    ...[...LONG_FIELDS].map(nameInside),
  ].map(normalised),
);

/** Names that only look like those of secrets. */
const HARMLESS = new Set(['order.number', 'req_token']);

/** Whether the value of a field is never kept, whatever it is. */
export const isSecretName = (name: string): boolean =>
  !HARMLESS.has(name) && partsOf(name).some((part) => SECRET_PARTS.has(normalised(part)) || /token$/i.test(part));

const OPERATIONS: ApiOperation[] = [S2S_OPERATIONS, DIALECT_OPERATIONS, CHECKOUT_OPERATIONS].flatMap(Object.values);
/** Nothing of a card is kept, not even its expiry. */
const isOfCard = (name: string): boolean => name.startsWith('card_');
const KNOWN_PARTS: ReadonlySet<string> = new Set([
  ...['action', 'client_key', 'merchant_key', 'methods', 'parameters', ...Object.keys(BRANDS)],
  ...[...OPERATIONS.flatMap(({ fields }) => [...fields]), ...BRAND_FIELDS].flatMap(({ name, alias }) =>
    isOfCard(name) ? [] : [...partsOf(name), ...(alias === undefined ? [] : [alias])],
  ),
]);

/** The merchant's own data, under names of its choice. */
const OWN_DATA = 'custom_data';

function isKnownName(name: string): boolean {
  const parts = partsOf(name);
  return parts[0] === OWN_DATA || parts.every((part) => KNOWN_PARTS.has(part) || /^\d{1,3}$/.test(part));
}

/** Returns a text without secrets and card numbers as it is, cut to a length, and any other one as `[masked]`. */
export type Mask = (text: string) => string;

/** Without an account, its secrets are not known; hex digits of their length are masked all the same. */
export function maskFor(account: Account | undefined): Mask {
  const maskSecrets = account ? maskerFor(account) : (text: string): string => text;
  const isSafe = (spelling: string): boolean => {
    const text = plainDigits(spelling)
      .normalize('NFKC')
      .replace(/\p{Cf}/gu, '')
      .replace(/\s+/g, ' ');
    return scrub(maskSecrets(text)) === text && !hasCardNumber(text);
  };
  const own = account ? [account.clientKey, account.merchantKey] : [];
  return (value) => {
    if (own.includes(value)) return value;
    // Cut before the search, which bounds its work, and again after it, so that no part of a number remains at the end.
    const text = value.slice(0, 8 * LIMITS.apiCallValueLength);
    // The database takes no half characters; cutting may leave one at the end.
    if (!value.isWellFormed() || !spellingsOf(text).every(isSafe)) return MASKED;
    return text.length > LIMITS.apiCallValueLength
      ? `${text.slice(0, LIMITS.apiCallValueLength).toWellFormed()}…`
      : text;
  };
}

/** The signed text of these values; a secret may be spread over several of them, so the whole is searched as well. */
export function maskedSignedText(values: readonly string[], mask: Mask): string {
  const text = values.map((value) => (mask(value) === MASKED ? MASKED : asciiUpper(mask(value)))).join('');
  return `${mask(text) === MASKED ? MASKED : text}***`;
}

const maskedField = (name: string, value: string, mask: Mask): Field => {
  const isKept = value === '' || (!isSecretName(name) && isKnownName(name));
  return [mask(name), isKept ? mask(value) : MASKED];
};

const MAX_DEPTH = 16;

function* leavesOf(value: unknown, path: string, depth = 0): Generator<[string, string]> {
  if (typeof value !== 'object' || value === null) yield [path, String(value)];
  else if (depth < MAX_DEPTH) {
    for (const [name, inner] of Object.entries(value)) {
      yield* leavesOf(inner, path === '' ? name : `${path}.${name}`, depth + 1);
    }
  }
}

/** The fields of a request, masked; those of a JSON body under their paths. */
export function maskedRequest(body: RequestBody & { at?: (path: string) => unknown }, mask: Mask): Field[] {
  const fields: Field[] = [];
  for (const [name, value] of body.at ? leavesOf(body.at(''), '') : body.texts()) {
    if (fields.length === LIMITS.formFields) break;
    fields.push(maskedField(name, value, mask));
  }
  return fields;
}

/** The tag in the address of a payment page, which lets its bearer pay. */
const PAYER_LINK = /(\/[\da-f]{8}-[\da-f-]{27}\.)[\w-]+/gi;

function maskedPart(value: unknown, path: string): unknown {
  if (path !== '' && isSecretName(path)) return MASKED;
  if (typeof value === 'string') return scrub(value.replace(PAYER_LINK, '$1[secret]'));
  if (Array.isArray(value)) return value.map((item) => maskedPart(item, path));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, maskedPart(inner, path === '' ? name : `${path}.${name}`)]),
  );
}

/** The answer as JSON; what it says about the request is masked, too. */
export function maskedAnswer(answer: unknown): string {
  const text = JSON.stringify(maskedPart(answer, ''), null, 2) ?? '';
  return text.length > LIMITS.apiCallAnswerLength ? `${cut(text, LIMITS.apiCallAnswerLength)}…` : text;
}
