/** The known mistakes in request hashes: the step of the recipe that each one changes, and what the developer should do. */
import { hash } from 'node:crypto';
import { DIGEST_DIGITS, DIGEST_NAMES, type HashDigest, simpleUpper } from '../../lib/crypto/hash.ts';
import { type ApiOperation, CHECKOUT_OPERATIONS, S2S_OPERATIONS } from '../../rules/operations.ts';
import type { Account } from '../context.ts';
import { formatVariations } from './formats.ts';
import { md5Hex, type Recipe, sha1, type Variation } from './recipe.ts';

/** The request whose hash is explained. */
export interface SignedRequest {
  action: string;
  operation: ApiOperation;
  value: (name: string) => string;
  /** The names of all scalar fields that have a value. */
  names: readonly string[];
}

const variation = (mistake: string, sentence: string, changes: Partial<Recipe>): Variation => ({
  mistake,
  sentence,
  changes,
});

const same = (text: string): string => text;
const unicodeUpper = (text: string): string => text.toUpperCase();
const turkishUpper = (text: string): string => text.toLocaleUpperCase('tr');
const lower = (text: string): string => text.toLowerCase();

/** Accepted by the gateway, but not recommended. */
export const UNICODE_UPPER_CASING = variation(
  'unicode_upper_casing',
  'The hash upper-cases non-ASCII letters. The gateway accepts this, but languages differ in it: upper-case only the ' +
    'letters a to z.',
  { upperValue: unicodeUpper, upperSecret: unicodeUpper },
);

/** Accepted as well: C# and Go upper-case each letter to one letter. */
export const SIMPLE_UPPER_CASING: Variation = {
  ...UNICODE_UPPER_CASING,
  changes: { upperValue: simpleUpper, upperSecret: simpleUpper },
};

/** Accepted by the gateway until the overlap after a rotation ends. */
export const previousPassword = (secret: string): Variation =>
  variation(
    'previous_password',
    'The hash is made with the previous password, which is accepted for a limited time only: change to the new password.',
    { secret },
  );

const casingVariations = (digest: HashDigest): Variation[] => [
  variation(
    'not_upper_cased',
    'The text is not upper-cased: convert the letters a to z of the whole text, including the password, to upper case ' +
      `before you compute the ${DIGEST_NAMES[digest]}.`,
    { upperValue: same, upperSecret: same },
  ),
  variation(
    'password_not_upper_cased',
    'The password is not upper-cased: append the password first, then convert the whole text to upper case.',
    { upperSecret: same },
  ),
  variation(
    'values_not_upper_cased',
    'Only the password is upper-cased: convert the values to upper case, too, not the password alone.',
    { upperValue: same },
  ),
  variation(
    'lower_cased',
    `The text is lower-cased: convert it to upper case before you compute the ${DIGEST_NAMES[digest]}.`,
    { upperValue: lower, upperSecret: lower },
  ),
  variation(
    'turkish_upper_casing',
    'The text is upper-cased by the rules of Turkish, where i becomes İ: use an upper-casing that does not depend on ' +
      'the locale.',
    { upperValue: turkishUpper, upperSecret: turkishUpper },
  ),
];

const CLOSING_BREAKS = ['\n', '\r\n', ' '];
const SEPARATORS = ['|', ':', ';', ',', '.', '-', '_', '&', '+', '/', ' ', '\n'];

const JOINS: readonly Variation[] = [
  variation('password_first', 'The password is the first part of the text: append it after the last value.', {
    join: (values, secret) => secret + values.join(''),
  }),
  ...SEPARATORS.flatMap((separator) =>
    [(values: readonly string[]) => values, (values: readonly string[]) => values.filter((value) => value !== '')]
      .flatMap((joined): Recipe['join'][] => [
        (values, secret) => [...joined(values), secret].join(separator),
        (values, secret) => joined(values).join(separator) + secret,
      ])
      .map((join) =>
        variation(
          'separator',
          'The values are joined with a separator: concatenate them without any characters between.',
          {
            join,
          },
        ),
      ),
  ),
  ...CLOSING_BREAKS.map((end) =>
    variation(
      'whitespace_after_password',
      'The text ends with a line break or a space: remove it. Typical sources are `echo` without `-n` and a password ' +
        'that was read from a file.',
      { join: (values, secret) => values.join('') + secret + end },
    ),
  ),
  variation('whitespace_before_password', 'There is a space before the password: remove it.', {
    join: (values, secret) => `${values.join('')} ${secret}`,
  }),
];

/** Mistakes in the digests. Their names say `md5` also where the account uses SHA-256 in its place. */
function digestVariations(digest: HashDigest): Variation[] {
  const name = DIGEST_NAMES[digest];
  const bytesOf = (content: string | Buffer): Buffer => hash(digest, content, 'buffer');
  const hexOf = (text: string): string => hash(digest, text, 'hex');
  const outer = `compute the SHA-1 of the hex text of the ${name}`;
  const first = `compute the ${name} first, then the SHA-1 of its hex text`;
  const other: HashDigest = digest === 'md5' ? 'sha256' : 'md5';
  return [
    variation('md5_only', `The hash is only the ${name}: ${outer}.`, { digest: bytesOf }),
    variation('sha1_only', `The hash is only the SHA-1 of the text: ${first}.`, { digest: sha1 }),
    variation('md5_upper_cased', `The SHA-1 is computed over the ${name} in upper-case hex: use lower-case hex.`, {
      digest: (text) => sha1(hexOf(text).toUpperCase()),
    }),
    variation(
      'md5_bytes',
      `The SHA-1 is computed over the ${DIGEST_DIGITS[digest] / 2} bytes of the ${name}: compute it over the hex text of the ${name}.`,
      { digest: (text) => sha1(bytesOf(text)) },
    ),
    variation('md5_base64', `The SHA-1 is computed over the ${name} in base64: use lower-case hex.`, {
      digest: (text) => sha1(hash(digest, text, 'base64')),
    }),
    ...['\n', '  -\n', '  -'].map((end) =>
      variation(
        'text_after_md5',
        `The SHA-1 is computed over the ${name} with further characters, such as the line break that \`${digest}sum\` prints: use ` +
          `only the ${DIGEST_DIGITS[digest]} hex digits.`,
        { digest: (text) => sha1(hexOf(text) + end) },
      ),
    ),
    variation('md5_of_sha1', `The digests are exchanged: ${first}.`, {
      digest: (text) => bytesOf(sha1(text).toString('hex')),
    }),
    variation('md5_twice', `The hash is the ${name} of the ${name}: ${outer}.`, {
      digest: (text) => bytesOf(hexOf(text)),
    }),
    variation('sha1_twice', `The hash is the SHA-1 of the SHA-1: ${first}.`, {
      digest: (text) => sha1(sha1(text).toString('hex')),
    }),
    ...[(text: string) => text, hexOf].map((of) =>
      variation(other, `The hash is ${other === 'md5' ? 'an' : 'a'} ${DIGEST_NAMES[other]}: ${outer}.`, {
        digest: (text) => hash(other, of(text), 'buffer'),
      }),
    ),
    variation('latin1', 'The text is hashed in the encoding Latin-1: encode it as UTF-8.', {
      digest: (text) => sha1(hash(digest, Buffer.from(text, 'latin1'), 'hex')),
    }),
  ];
}

/** The digest that the account does not use, in the place of the one that it uses. */
const otherDigest = ({ settings }: Account): Variation =>
  settings['dialect.digest'] === 'md5'
    ? variation(
        'sha256',
        'The inner digest is a SHA-256: compute an MD5 first, or ask your operator to set dialect.digest to sha256.',
        { digest: (text) => sha1(hash('sha256', text, 'hex')) },
      )
    : variation('md5', 'The inner digest is an MD5, which this account refuses: compute a SHA-256 in its place.', {
        digest: (text) => sha1(md5Hex(text)),
      });

/** Other secrets that developers take for the password. */
function secretVariations(account: Account): Variation[] {
  const [current = ''] = account.passwords();
  const expired = account.expiredPassword();
  const usePassword = 'Sign with the password of the account.';
  return [
    ...(expired === undefined
      ? []
      : [
          variation(
            'expired_password',
            'The hash is made with the previous password, which is no longer valid: use the new password.',
            { secret: expired },
          ),
        ]),
    variation(
      'client_key_as_password',
      `The hash is made with the client_key in place of the password. ${usePassword}`,
      {
        secret: account.clientKey,
      },
    ),
    variation(
      'merchant_key_as_password',
      `The hash is made with the merchant_key in place of the password. ${usePassword}`,
      { secret: account.merchantKey },
    ),
    ...account
      .callbackSecrets()
      .map((secret) =>
        variation(
          'callback_secret_as_password',
          `The hash is made with the callback secret in place of the password. ${usePassword}`,
          { secret },
        ),
      ),
    variation('password_missing', 'The hash does not cover the password: append it after the last value.', {
      secret: '',
    }),
    variation('password_hashed', 'The password is hashed before it is appended: append the password itself.', {
      secret: md5Hex(current),
    }),
  ];
}

/** Every order of every selection of the names. */
function* selections(names: readonly string[]): Generator<string[]> {
  yield [];
  for (const [at, first] of names.entries()) {
    for (const rest of selections(names.toSpliced(at, 1))) yield [first, ...rest];
  }
}

/** The names of the same value in the two protocols. */
const SYNONYMS: readonly (readonly [s2s: string, checkout: string])[] = [
  ['order_id', 'order.number'],
  ['order_amount', 'order.amount'],
  ['order_currency', 'order.currency'],
  ['order_description', 'order.description'],
  ['trans_id', 'payment_id'],
  ['recurring_first_trans_id', 'recurring_init_trans_id'],
];

const OPERATIONS: readonly [string, ApiOperation][] = [
  ...Object.entries<ApiOperation>(S2S_OPERATIONS),
  ...Object.entries<ApiOperation>(CHECKOUT_OPERATIONS),
];

/** How many unsigned fields of a request are tried as signed ones; bounds the work for a form full of fields. */
const EXTRA_FIELDS_MOST = 32;

const list = (names: readonly string[]): string => names.join(', ');

/** Other selections and orders of the request's fields. */
function fieldVariations({ action, operation, value, names }: SignedRequest): Variation[] {
  const { signs } = operation;
  const signed = signs.filter((name) => value(name) !== '');
  const rule = signed.length === 0 ? 'Sign the password only.' : `${action} signs ${list(signed)} in this order.`;
  const variations: Variation[] = [];

  for (const selected of selections(signed)) {
    const missing = signed.filter((name) => !selected.includes(name));
    const isOrdered = list(selected) === list(signed.filter((name) => selected.includes(name)));
    const sentences = [
      ...(isOrdered ? [] : [`The fields are signed in another order: ${list(selected)}.`]),
      ...(missing.length === 0 ? [] : [`The hash does not cover ${list(missing)}.`]),
    ];
    if (sentences.length === 0) continue;
    const mistake = isOrdered ? 'missing_field' : 'field_order';
    const isRare = missing.length > 1 || sentences.length > 1;
    variations.push({ ...variation(mistake, [...sentences, rule].join(' '), { names: selected }), isRare });
  }
  // One wrong field is more likely than several: fewer missing fields first.
  variations.sort((a, b) => (b.changes.names?.length ?? 0) - (a.changes.names?.length ?? 0));

  const counterpart = (name: string): string => {
    const pair = SYNONYMS.find((each) => each.includes(name)) ?? [name];
    return pair.find((each) => value(each) !== '') ?? name;
  };
  for (const [other, { signs: otherSigns }] of OPERATIONS) {
    const selected = otherSigns.map(counterpart).filter((name) => value(name) !== '');
    if (other === action || selected.length === 0 || list(selected) === list(signed)) continue;
    const sentence = `The hash covers the fields of ${other}: ${list(selected)}. ${rule}`;
    variations.push(variation('other_operation', sentence, { names: selected }));
  }

  const others = names.filter((name) => name !== 'hash' && !signs.includes(name)).slice(0, EXTRA_FIELDS_MOST);
  for (const name of others) {
    for (let at = signed.length; at >= 0; at--) {
      const sentence = `The hash also covers ${name}. ${rule}`;
      const isRare = at < signed.length;
      variations.push({ ...variation('extra_field', sentence, { names: signed.toSpliced(at, 0, name) }), isRare });
    }
  }
  return variations;
}

/** The variations by the step that they change; two variations of different steps can be combined. */
export const variationsFor = (account: Account, request: SignedRequest): Variation[][] => [
  casingVariations(account.settings['dialect.digest']),
  [otherDigest(account), ...digestVariations(account.settings['dialect.digest'])],
  secretVariations(account),
  [...JOINS],
  formatVariations(),
  fieldVariations(request),
];
