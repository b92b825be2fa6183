/** The recipe `reversed_md5` for the hash debugger: its steps, and the mistakes that clients make in them. */
import { hash } from 'node:crypto';
import { asciiUpper, DIGEST_NAMES, type HashDigest, simpleUpper } from '../../lib/crypto/hash.ts';
import { CARD_DIGITS, formulaOf, PASSWORD, REVERSED_TEXTS, type RecipePart } from '../../rules/hash-recipes.ts';
import type { Account } from '../context.ts';
import type { ReversedReading } from '../requests/reversed-texts.ts';
import { type Recipe, sha1, type Variation } from './recipe.ts';
import type { AcceptedRecipe } from './search.ts';
import { previousPassword, UNICODE_UPPER_CASING } from './variations.ts';

const turn = (text: string): string => Array.from(text).reverse().join('');

/** The values and the secret in the places of a text's parts; `reverse` is applied to the parts that are reversed. */
const joinOf =
  (parts: readonly RecipePart[], reverse: (text: string, part: number) => string): Recipe['join'] =>
  (values, secret) => {
    let taken = 0;
    const texts = parts.map(({ of, isReversed }, index) => {
      const text = of.map((name) => (name === PASSWORD ? secret : (values[taken++] ?? ''))).join('');
      return isReversed ? reverse(text, index) : text;
    });
    return texts.join('');
  };

/** Several readings of a request have values under the same names, so that each has a prefix. */
const named = (index: number, name: string): string => `${index} ${name}`;

/** The value of a name with the prefix of its reading. */
export const valueIn =
  (readings: readonly ReversedReading[]) =>
  (name: string): string => {
    const [, index = '', own = name] = /^(\d+) (.+)$/s.exec(name) ?? [];
    return readings[Number(index)]?.value(own) ?? '';
  };

const digestWith =
  (digest: HashDigest) =>
  (text: string): Buffer =>
    hash(digest, text, 'buffer');

/** Bytes as the letters of Latin-1, so that a text can be reversed byte by byte. */
const asBytes = (text: string): string => Buffer.from(text).toString('latin1');

/** The recipes of the readings, as the gateway accepts them from accounts that chose `reversed_md5`. */
export function reversedRecipes(
  account: Account,
  readings: readonly ReversedReading[],
  digest: HashDigest = account.settings['dialect.digest'],
): AcceptedRecipe[] {
  return readings.flatMap(({ text }, index) =>
    account.passwords().flatMap((password, age): AcceptedRecipe[] => {
      const parts = REVERSED_TEXTS[text];
      const recipe: Recipe = {
        names: parts.flatMap(({ of }) => of.filter((name) => name !== PASSWORD)).map((name) => named(index, name)),
        format: (value) => value,
        secret: password,
        upperValue: asciiUpper,
        upperSecret: asciiUpper,
        join: joinOf(parts, turn),
        digest: digestWith(digest),
      };
      const notes = age === 0 ? [] : [previousPassword(password)];
      return [
        { recipe, notes },
        {
          recipe: {
            ...recipe,
            upperValue: (value) => asBytes(asciiUpper(value)),
            digest: (joined) => hash(digest, Buffer.from(joined, 'latin1'), 'buffer'),
          },
          notes,
        },
        ...[(value: string) => value.toUpperCase(), simpleUpper].map((upper) => ({
          recipe: { ...recipe, upperValue: upper, upperSecret: upper },
          notes: [...notes, UNICODE_UPPER_CASING],
        })),
      ];
    }),
  );
}

const same = (text: string): string => text;

const variation = (mistake: string, sentence: string, changes: Partial<Recipe>): Variation => ({
  mistake,
  sentence,
  changes,
});

/** The mistakes in the steps of the recipe, each with the formula of the request. */
export function reversedVariations(
  account: Account,
  readings: readonly ReversedReading[],
  value: (name: string) => string,
): Variation[][] {
  const [reading] = readings;
  if (!reading) return [];
  const parts: readonly RecipePart[] = REVERSED_TEXTS[reading.text];
  const formula = formulaOf(reading.text);
  const sign = `Sign ${formula}.`;
  const reversedParts = parts.flatMap(({ isReversed }, index) => (isReversed ? [index] : []));
  const { 'dialect.digest': digest } = account.settings;
  const number = value('card_number');
  const [current = ''] = account.passwords();
  return [
    [
      variation('not_upper_cased', `The text is not upper-cased. ${sign}`, { upperValue: same, upperSecret: same }),
      variation('password_not_upper_cased', `The password is not upper-cased. ${sign}`, { upperSecret: same }),
      variation('lower_cased', `The text is lower-cased. ${sign}`, {
        upperValue: (text) => text.toLowerCase(),
        upperSecret: (text) => text.toLowerCase(),
      }),
    ],
    [
      variation('not_reversed', `Nothing is reversed. ${sign}`, { join: joinOf(parts, same) }),
      ...(reversedParts.length > 1
        ? reversedParts.map((index) =>
            variation(
              'partly_reversed',
              `Not all parts are reversed: each of ${parts.flatMap(({ of, isReversed }) => (isReversed ? of : [])).join(' and ')} is. ${sign}`,
              { join: joinOf(parts, (text, part) => (part === index ? turn(text) : text)) },
            ),
          )
        : []),
      variation('all_reversed', `The whole text is reversed, and not only parts of it. ${sign}`, {
        join: (values, secret) => turn(joinOf(parts, same)(values, secret)),
      }),
      variation('password_last', `The password is at the end of the text. ${sign}`, {
        join: (values, secret) => joinOf(parts, turn)(values, '') + secret,
      }),
      variation('password_first', `The password is at the beginning of the text. ${sign}`, {
        join: (values, secret) => secret + joinOf(parts, turn)(values, ''),
      }),
    ],
    [
      variation('outer_sha1', 'The hash has an outer SHA-1, which this recipe does not have: send the inner digest.', {
        digest: (text) => sha1(hash(digest, text, 'hex')),
      }),
      digest === 'md5'
        ? variation('sha256', 'The hash is a SHA-256: compute an MD5, or ask your operator for dialect.digest.', {
            digest: digestWith('sha256'),
          })
        : variation('md5', 'The hash is an MD5: this account uses SHA-256.', { digest: digestWith('md5') }),
      variation('sha1_only', `The hash is a SHA-1: compute the ${DIGEST_NAMES[digest]} of the text.`, { digest: sha1 }),
    ],
    [
      ...(number === ''
        ? []
        : [
            variation('whole_card_number', `The hash covers the whole card number: only ${CARD_PART} are signed.`, {
              format: (text, name) => (name.endsWith(` ${CARD_DIGITS}`) ? number : text),
            }),
          ]),
      variation('last_four_only', `The hash covers the last four digits of the card only: ${CARD_PART} are signed.`, {
        format: (text, name) => (name.endsWith(` ${CARD_DIGITS}`) ? text.slice(-4) : text),
      }),
      variation(
        'email_case',
        'The e-mail address has white space around it in the request, which the hash does not cover.',
        {
          format: (text, name) => (name.endsWith(' payer_email') ? text.trim() : text),
        },
      ),
    ],
    [
      variation('client_key_as_password', `The hash is made with the client_key in place of the password. ${sign}`, {
        secret: account.clientKey,
      }),
      variation('password_missing', `The hash does not cover the password. ${sign}`, { secret: '' }),
      variation('password_hashed', `The password is hashed before it is signed: sign the password itself. ${sign}`, {
        secret: hash('md5', current, 'hex'),
      }),
    ],
  ];
}

const CARD_PART = 'its first six and last four digits';

/** What a hash by `reversed_md5` means to an account that does not use it, with either digest. */
export const otherRecipe = ({ settings }: Account, digest: HashDigest): Variation =>
  variation(
    'reversed_md5',
    `The hash is made by the recipe reversed_md5${digest === 'sha256' ? ' with SHA-256' : ''} of other gateways. Sign as ` +
      `this gateway specifies it, or ask your operator to set dialect.hash to reversed_md5${
        digest === settings['dialect.digest'] ? '' : ` and dialect.digest to ${digest}`
      } for the account.`,
    {},
  );
