/** The mistakes in the values that a client signs: amounts, white space and encodings that differ from the request. */
import type { Variation } from './recipe.ts';

type Format = (value: string, name: string) => string;

const DECIMAL = /^(\d{1,15})(?:[.,](\d{1,6}))?$/;

/** Other spellings of an amount; each one is applied to the amounts of the request only. */
const AMOUNT_SPELLINGS: readonly ((whole: string, fraction: string) => string)[] = [
  (whole, fraction) => `${whole}.${fraction.padEnd(2, '0').slice(0, 2)}`,
  (whole, fraction) => {
    const digits = fraction.replace(/0+$/, '');
    return digits === '' ? whole : `${whole}.${digits}`;
  },
  (whole) => whole,
  (whole, fraction) => `${whole}.${fraction.padEnd(1, '0').slice(0, 1)}`,
  (whole, fraction) => `${whole}.${fraction.padEnd(3, '0').slice(0, 3)}`,
  (whole, fraction) => `${whole}.${fraction.padEnd(4, '0').slice(0, 4)}`,
  // Minor units.
  (whole, fraction) => (whole + fraction.padEnd(2, '0').slice(0, 2)).replace(/^0+(?=\d)/, ''),
  (whole, fraction) => (whole + fraction.padEnd(3, '0').slice(0, 3)).replace(/^0+(?=\d)/, ''),
  (whole, fraction) => `${whole},${fraction.padEnd(2, '0').slice(0, 2)}`,
  (whole, fraction) => `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(2, '0').slice(0, 2)}`,
];

const ofAmounts =
  (spell: (whole: string, fraction: string) => string): Format =>
  (value, name) => {
    const [, whole, fraction = ''] = (/amount$/.test(name) && DECIMAL.exec(value)) || [];
    return whole === undefined ? value : spell(whole, fraction);
  };

/** Percent-encoding of PHP's `rawurlencode`, which `encodeURIComponent` applies to fewer characters. */
const percentEncoded = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );

function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return value;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#039;',
};

const htmlEscaped = (value: string): string => value.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);

const jsonEscaped = (value: string): string =>
  JSON.stringify(value)
    .slice(1, -1)
    .replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

const FORMATS: readonly [mistake: string, sentence: string, ...formats: Format[]][] = [
  [
    'amount_format',
    'The amount is signed in another format than it is sent: sign and send the same string, such as 10.00.',
    ...AMOUNT_SPELLINGS.map(ofAmounts),
  ],
  [
    'whitespace',
    'The request contains white space that the hash does not cover: sign exactly the values that you send. If the ' +
      'white space comes from copying the request, explain it again without.',
    (value) => value.trim(),
    (value) => value.replace(/\s+/g, ''),
    (value) => value.trim().replace(/\s+/g, ' '),
  ],
  [
    'plus_sign',
    'The hash covers a plus sign, and the gateway reads a space: a plus sign in a form body means a space, so send it ' +
      'as %2B.',
    (value) => value.replaceAll(' ', '+'),
  ],
  [
    'url_encoded',
    'The values are URL-encoded before they are signed: sign the raw values, and encode them only in the body.',
    (value) => encodeURIComponent(value.toWellFormed()),
    percentEncoded,
    (value) => percentEncoded(value).replaceAll('%20', '+'),
  ],
  [
    'encoded_twice',
    'The body is URL-encoded twice: the hash covers the raw values, and the gateway reads values that are still ' +
      'encoded. Encode the body once.',
    percentDecoded,
  ],
  [
    'html_escaped',
    'The values are HTML-escaped before they are signed: sign the raw values.',
    htmlEscaped,
    (value) => htmlEscaped(value).replaceAll('&#039;', "'"),
  ],
  [
    'json_escaped',
    'The values are signed with the escapes of JSON: sign the values themselves.',
    jsonEscaped,
    (value) => jsonEscaped(value).replaceAll('/', '\\/'),
  ],
  [
    'unicode_normalisation',
    'The hash covers another Unicode form of the same letters: sign and send the same form (NFC is usual).',
    (value) => value.normalize('NFC'),
    (value) => value.normalize('NFD'),
  ],
  [
    'wrong_encoding',
    'The encoding of the body and of the signed text differ: one of them is Latin-1. Use UTF-8 for both.',
    (value) => Buffer.from(value, 'utf8').toString('latin1'),
    (value) => Buffer.from(value, 'latin1').toString('utf8'),
  ],
];

export const formatVariations = (): Variation[] =>
  FORMATS.flatMap(([mistake, sentence, ...formats]) =>
    formats.map((format) => ({ mistake, sentence, changes: { format } })),
  );
