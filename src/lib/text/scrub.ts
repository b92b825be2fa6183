/** The last line of defence of the logs: masks secrets and card numbers in a finished line. */

import { isLuhnValid } from '../cards/luhn.ts';
import { plainDigits } from '../cards/search.ts';

/** Names whose values are always masked, in any case and with '_', '-' or nothing between the words. */
export const SECRET_NAMES = [
  'access_token',
  'api_key',
  'authorization',
  'callback_secret',
  'card',
  'card_cvc',
  'card_cvv',
  'card_number',
  'card_token',
  'client_secret',
  'cookie',
  'cvc',
  'cvc2',
  'cvv',
  'cvv2',
  'encryption_key',
  'former_hmac_key',
  'former_token_hmac_key',
  'former_webhook_secret',
  'hash',
  'hmac_key',
  'master_key',
  'notification_secret',
  'number',
  'pan',
  'passphrase',
  'passwd',
  'password',
  'payment_token',
  'pin',
  'private_key',
  'proxy_authorization',
  'refresh_token',
  'secret',
  'secret_key',
  'set_cookie',
  'shared_secret',
  'signing_key',
  'token',
  'token_hmac_key',
  'track1',
  'track2',
  'webhook_secret',
  'x_api_key',
] as const;

const SECRET = '[secret]';
const CARD = '[card]';

const NAME = `(?:${SECRET_NAMES.map((name) => name.replaceAll('_', '[_-]?')).join('|')})`;
// The last character of an escape is not part of the name that follows: '%26password', '\npassword'.
const BEFORE_NAME = '(?:^|[^\\w-]|%[\\da-f]{2}|\\\\[nrt]|\\\\u[\\da-f]{4})';
// Control characters, and characters that break a line or reorder its text on a screen.
const UNPRINTABLE = '[\\p{Cc}\\u2028-\\u202e\\u2066-\\u2069]';
// Three decimal digits in base64: the high bits of a digit are constant, so few letters occur in each place.
const THREE_DIGITS_IN_BASE64 = '[MNO][DTjz][AEIMQUYcgk][w-z0-5]';

// Fast path: most lines match none of these and are written unchanged.
const WORD_STEMS = /pass|hash|cv[cv]|card|number|pan|pin|token|secret|key|cookie|auth|track|bearer|whsec_|-----BEGIN/i;
const SUSPECT_WORDS = [new RegExp(`${BEFORE_NAME}${NAME}["'\\\\\\]=:%]`, 'i'), /bearer|whsec_|-----BEGIN/i];
const SUSPECT_RUNS = [
  new RegExp(UNPRINTABLE, 'u'),
  /\d(?:(?:[ .+-]|%2[0BDEbde])?\d){11}/,
  new RegExp(`(?:${THREE_DIGITS_IN_BASE64}){4}`),
];

const QUOTED_NAME = new RegExp(`"${NAME}(\\\\*)"\\s*:\\s*`, 'gi');

const WORD_RULES: readonly (readonly [RegExp, string])[] = [
  // A truncated block is masked up to the end of its string.
  [/-----BEGIN [^-"]{1,64}-----[^"]*?(?:-----END [^-"]{1,64}-----|(?=\\{0,7}"|$))/g, SECRET],
  [/whsec_[\w+/=-]+/gi, SECRET],
  [/(bearer(?: |\+|%20)+)[\w.~+/=%-]+/gi, `$1${SECRET}`],
  // password=x, card[number]=x, card%5Bnumber%5D=x
  [new RegExp(`((?<=${BEFORE_NAME})${NAME}(?:\\]|%5D)?=)[^&\\s"\\\\]+`, 'gi'), `$1${SECRET}`],
  // password%3Dx, %22password%22%3A%22x%22
  [
    new RegExp(
      `((?<=${BEFORE_NAME})${NAME}(?:%22|%5D)?(?:%3D|%3A)(?:%20)?)` +
        `(?:%22(?:(?!%22)[^&\\s"\\\\])*(?:%22)?|(?:(?!%2[26C]|%7D)[^&\\s"\\\\])+)`,
      'gi',
    ),
    `$1${SECRET}`,
  ],
  // password: 'x', as an inspected object writes it
  [new RegExp(`((?<=${BEFORE_NAME})${NAME}'?:\\s?)'(?:[^'"\\\\]|\\\\.)*'?`, 'gi'), `$1'${SECRET}'`],
  // Authorization: Basic x, as a header is written
  [
    new RegExp(
      `((?<=${BEFORE_NAME})(?:(?:proxy-)?authorization|(?:set-)?cookie):\\s?)[^\\s'"\\\\][^'"\\\\\\r\\n]*`,
      'gi',
    ),
    `$1${SECRET}`,
  ],
];

// UUIDs, dates and times and IPv4 addresses are not masked, although their digits could form a card number.
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const HARMLESS = new RegExp(
  '((?<![\\da-f])[\\da-f]{8}-[\\da-f]{4}-7[\\da-f]{3}-[89ab][\\da-f]{3}-[\\da-f]{12}(?![\\da-f])' +
    '|(?<!\\d)(?:19|20)\\d\\d-[01]\\d-[0-3]\\d(?:[T ]\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?(?:Z|[+-]\\d\\d:\\d\\d)?)?(?!\\d)' +
    `|(?<![\\d.])(?:${OCTET}\\.){3}${OCTET}(?!\\.?\\d))`,
  'i',
);

/** Ids as whole JSON strings, which are not masked either. */
const OWN_IDS = /"[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}"/g;

const HEX_RUN = /(%|\\u|\\x|\\)?([\da-f]{32,})/gi;
const HEX_MASKS: Readonly<Record<number, string>> = { 32: SECRET, 40: '[hash]', 64: SECRET };
// How many hex digits after each prefix may belong to an escape ('%22', '\u0022', '\f') instead of the run.
const ESCAPE_LENGTHS: Readonly<Record<string, number>> = { '%': 2, '\\u': 4, '\\x': 2, '\\': 1 };

// Digits after '%' or '\u' may or may not be an escape, so numbers are searched for under both readings.
const DIGIT_READINGS: readonly RegExp[] = [
  /%[\da-f]{2}|\\u[\da-f]{4}|\\x[\da-f]{2}|\d+(?:(?:[ .+-]|%2[0bde])\d+)*/gi,
  /\d+(?:[ .+-]\d+)*/g,
];
// Strings, which are skipped, and bare numbers of a JSON line.
const JSON_STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/g;
const SEPARATOR = /([ .+-]|%2[0bde])/i;

const BASE64_DIGITS = new RegExp(
  `(?:${THREE_DIGITS_IN_BASE64}){4,6}(?:[MNO][DTjz][AEIMQUYcgk]=?|[MNO][AQgw]={0,2})?`,
  'g',
);

const UNPRINTABLES = new RegExp(UNPRINTABLE, 'gu');

/** Masks one log line; the result is one line, too. */
export function scrub(line: string): string {
  const newline = line.endsWith('\n') ? '\n' : '';
  const text = plainDigits(newline ? line.slice(0, -1) : line);
  const matches = (pattern: RegExp) => pattern.test(text);
  const hasWord = WORD_STEMS.test(text) && SUSPECT_WORDS.some(matches);
  if (!hasWord && !hasHexRun(text) && !(SUSPECT_RUNS.some(matches) && hasSuspectRun(text))) return line;
  return maskRuns(maskBareNumbers(hasWord ? maskWords(text) : text)).replace(UNPRINTABLES, escapeCharacter) + newline;
}

/** Whether a run is suspect outside the ids of our own, of which nearly every line has some. */
function hasSuspectRun(text: string): boolean {
  const rest = text.replace(OWN_IDS, '"id"');
  return SUSPECT_RUNS.some((pattern) => pattern.test(rest));
}

/** Whether there is a run of 32 hex digits. It covers one of every 32nd position, so only those are examined. */
function hasHexRun(text: string): boolean {
  const isHex = (at: number): boolean => {
    const code = text.charCodeAt(at) | 0x20;
    return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66);
  };
  for (let at = 31; at < text.length; at += 32) {
    if (!isHex(at)) continue;
    let start = at;
    let end = at + 1;
    while (isHex(start - 1)) start--;
    while (isHex(end)) end++;
    if (end - start >= 32) return true;
  }
  return false;
}

function maskWords(text: string): string {
  return WORD_RULES.reduce((masked, [pattern, mask]) => masked.replace(pattern, mask), maskQuoted(text));
}

function maskQuoted(text: string): string {
  let masked = '';
  let copied = 0;
  QUOTED_NAME.lastIndex = 0;
  for (let found = QUOTED_NAME.exec(text); found; found = QUOTED_NAME.exec(text)) {
    const slashes = found[1] ?? '';
    const start = QUOTED_NAME.lastIndex;
    masked += `${text.slice(copied, start)}${slashes}"${SECRET}${slashes}"`;
    copied = valueEnd(text, start, quoteDepth(slashes.length));
    QUOTED_NAME.lastIndex = copied;
  }
  return masked + text.slice(copied);
}

// JSON inside a JSON string doubles backslashes, so quotes at depth 0, 1, 2, … carry 0, 1, 3, … of them, and
// literal backslashes before a quote only add multiples beyond: the depth is the count's number of trailing one bits.
function quoteDepth(backslashes: number): number {
  return 31 - Math.clz32(~backslashes & (backslashes + 1));
}

/** The end of the JSON value that starts here: after its closing quote or bracket, or after a bare word. */
function valueEnd(text: string, start: number, depth: number): number {
  let nesting = 0;
  let isInString = false;
  let backslashes = 0;
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') {
      backslashes++;
      continue;
    }
    if (character === '"') {
      const found = quoteDepth(backslashes);
      // The string around this JSON text ends here, so the value is truncated.
      if (found < depth) return at - (2 ** found - 1);
      if (found === depth) {
        isInString = !isInString;
        if (!isInString && nesting === 0) return at + 1;
      }
    } else if (!isInString) {
      if (character === '{' || character === '[') nesting++;
      else if (character === '}' || character === ']') {
        if (nesting === 0) return at;
        if (--nesting === 0) return at + 1;
      } else if (nesting === 0 && (character === ',' || character === ' ')) return at;
    }
    backslashes = 0;
  }
  return text.length;
}

function maskRuns(text: string): string {
  return text
    .split(HARMLESS)
    .map((part, index) => (index % 2 === 1 ? part : maskBase64(maskDigits(maskHex(part)))))
    .join('');
}

function maskHex(text: string): string {
  return text.replace(HEX_RUN, (whole, prefix: string | undefined, run: string) => {
    const escaped = prefix === undefined ? 0 : (ESCAPE_LENGTHS[prefix] ?? 0);
    for (const kept of [0, escaped]) {
      const mask = HEX_MASKS[run.length - kept];
      if (mask) return (prefix ?? '') + run.slice(0, kept) + mask;
    }
    return whole;
  });
}

function maskDigits(text: string): string {
  return DIGIT_READINGS.reduce(
    (read, reading) => read.replace(reading, (run) => (run.length < 12 ? run : maskCards(run))),
    text,
  );
}

/** A bare number that contains a card number becomes a string, so that the line stays valid JSON. */
function maskBareNumbers(text: string): string {
  if (!text.startsWith('{')) return text;
  return text.replace(JSON_STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || maskDigits(token) === token ? token : `"${CARD}"`,
  );
}

/** Masks every sequence of whole groups that forms a card number in a run such as '12 4111 1111 1111 1111'. */
function maskCards(run: string): string {
  const parts = run.split(SEPARATOR);
  const masked = [...parts];
  let covered = -1;
  for (let first = 0; first < parts.length; first += 2) {
    let digits = '';
    let end = -1;
    for (let last = first; last < parts.length && digits.length < 19; last += 2) {
      digits += parts[last];
      if (digits.length >= 12 && digits.length <= 19 && isLuhnValid(digits)) end = last;
    }
    if (end <= covered) continue;
    masked.fill('', Math.max(first, covered + 1), end + 1);
    if (first > covered) masked[first] = CARD;
    covered = end;
  }
  return masked.join('');
}

function maskBase64(text: string): string {
  return text.replace(BASE64_DIGITS, (run) => {
    const digits = Buffer.from(run, 'base64').toString('latin1');
    return digits.length <= 19 && isLuhnValid(digits) ? CARD : run;
  });
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
