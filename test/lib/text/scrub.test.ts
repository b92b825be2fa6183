/** The scrubber masks secrets in every form, leaves harmless lines unchanged, and handles hostile ones. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLuhnValid } from '../../../src/lib/cards/luhn.ts';
import { SECRET_NAMES, scrub } from '../../../src/lib/text/scrub.ts';
import { CONNECTORS } from '../../../src/rules/connectors.ts';

const HASH = 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3';
const KEY_32 = '5f4dcc3b5aa765d61d8327deb882cf99';
const KEY_64 = 'E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855';
const PEM = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----';

const FORMS: [string, (leak: string) => string][] = [
  ['alone', (leak) => leak],
  ['in prose', (leak) => `charge of ${leak} refused`],
  ['in a JSON value', (leak) => JSON.stringify({ level: 30, msg: `got ${leak}` })],
  ['in JSON inside JSON', (leak) => JSON.stringify({ msg: JSON.stringify({ text: leak }) })],
  ['in a query', (leak) => `GET /pay?ref=${leak}&x=1`],
  ['in an encoded query', (leak) => `GET /pay?data=%22${leak}%22&x=1`],
  ['after a newline in JSON', (leak) => `{"msg":"first\\n${leak}\\u0022"}`],
  ['after a unicode escape', (leak) => `{"msg":"\\u0022${leak}\\u0022"}`],
  ['after an accent', (leak) => `é${leak}é`],
  ['among numbers', (leak) => `7 ${leak} 12`],
  ['after a date', (leak) => `2026-01-01T10:20:30.123Z ${leak}`],
  ['after an address', (leak) => `192.168.100.200 ${leak}`],
  ['after a UUID', (leak) => `019b76da-a800-7123-8456-123456789012 ${leak}`],
  ['in a path', (leak) => `/pay/${leak}/status`],
  ['before a newline', (leak) => `${leak}\n`],
];

const LEAKS: [string, string, string][] = [
  ['16 digits', '4111111111111111', '[card]'],
  ['12 digits', '676770000005', '[card]'],
  ['13 digits', '4222222222222', '[card]'],
  ['15 digits', '378282246310005', '[card]'],
  ['19 digits', '6304000000000000000', '[card]'],
  ['spaces', '4111 1111 1111 1111', '[card]'],
  ['dashes', '4111-1111-1111-1111', '[card]'],
  ['dots', '4111.1111.1111.1111', '[card]'],
  ['plus signs', '4111+1111+1111+1111', '[card]'],
  ['encoded spaces', '4111%201111%201111%201111', '[card]'],
  ['encoded dashes', '4111%2D1111%2d1111%2D1111', '[card]'],
  ['single digits', '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1', '[card]'],
  ['amex groups', '3782 822463 10005', '[card]'],
  ['base64', Buffer.from('4111111111111111').toString('base64'), '[card]'],
  ['base64 of 15', Buffer.from('378282246310005').toString('base64'), '[card]'],
  ['base64 of 14', Buffer.from('30569309025904').toString('base64'), '[card]'],
  ['base64url', Buffer.from('4111111111111111').toString('base64url'), '[card]'],
  ['request hash', HASH, '[hash]'],
  ['request hash in capitals', HASH.toUpperCase(), '[hash]'],
  ['32 hex digits', KEY_32, '[secret]'],
  ['64 hex digits', KEY_64, '[secret]'],
  ['bearer', 'Bearer abc.def-ghi_jkl~+/==', 'Bearer [secret]'],
  ['bearer in small letters', 'bearer abcdefg', 'bearer [secret]'],
  ['webhook secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', '[secret]'],
  ['PEM', PEM, '[secret]'],
];

test.each(FORMS)('every leak is masked %s', (_, form) => {
  for (const [name, leak, mask] of LEAKS) {
    const scrubbed = scrub(form(leak));
    for (const piece of leak.split('\n')) expect([name, scrubbed]).not.toEqual([name, expect.stringContaining(piece)]);
    expect([name, scrubbed]).toEqual([name, expect.stringContaining(mask)]);
    expect(scrub(scrubbed)).toBe(scrubbed);
    expect(scrubbed.replace(/\n$/, '')).not.toContain('\n');
  }
});

const NAME_FORMS: [string, (name: string, value: string) => string][] = [
  ['JSON', (name, value) => JSON.stringify({ a: 1, [name]: value, z: 2 })],
  ['JSON with spaces', (name, value) => JSON.stringify({ a: 1, [name]: value, z: 2 }, null, 12)],
  ['JSON in capitals', (name, value) => JSON.stringify({ [name.toUpperCase()]: value })],
  ['JSON in JSON', (name, value) => JSON.stringify({ msg: JSON.stringify({ [name]: value, z: 2 }) })],
  ['JSON three deep', (name, value) => JSON.stringify(JSON.stringify(JSON.stringify({ [name]: value })))],
  ['JSON object', (name, value) => JSON.stringify({ [name]: { inner: [value, `${value}]}`] }, z: 2 })],
  ['JSON array', (name, value) => JSON.stringify({ msg: JSON.stringify({ [name]: [value, value] }) })],
  ['JSON cut off', (name, value) => JSON.stringify({ [name]: value }).slice(0, -2)],
  ['inner JSON cut off', (name, value) => JSON.stringify({ msg: JSON.stringify({ [name]: value }).slice(0, -2) })],
  [
    'encoded JSON',
    (name, value) => `body=${encodeURIComponent(JSON.stringify({ [name]: encodeURIComponent(value) }))}`,
  ],
  ['form', (name, value) => `a=1&${name}=${encodeURIComponent(value)}&z=2`],
  ['form in JSON', (name, value) => JSON.stringify({ url: `/x?${name}=${encodeURIComponent(value)}&z=2` })],
  ['form on a line of its own', (name, value) => JSON.stringify(`a\n${name}=${encodeURIComponent(value)}`)],
  ['bracketed form', (name, value) => `a[${name}]=${encodeURIComponent(value)}&z=2`],
  ['encoded brackets', (name, value) => `a%5B${name}%5D=${encodeURIComponent(value)}&z=2`],
  ['encoded form', (name, value) => `q=${encodeURIComponent(`a=1&${name}=${value.replace(/\W/g, '')}&z=2`)}`],
  ['inspected object', (name, value) => `{ a: 1, ${name}: '${value.replace(/\W/g, '')}', z: 2 }`],
];

test('every key and secret of a connection is a secret name', () => {
  const names = Object.values(CONNECTORS).flatMap(({ credentials }) => credentials.map(({ name }) => name));
  const secrets = names.filter((name) => /_(key|secret)$/.test(name));
  expect(secrets).toContain('former_hmac_key');
  expect(secrets.filter((name) => !(SECRET_NAMES as readonly string[]).includes(name))).toEqual([]);
});

test.each(NAME_FORMS)('the value of every secret name is masked in %s', (_, form) => {
  for (const name of [...SECRET_NAMES, 'paymentToken', 'cardNumber', 'set-cookie', 'private-key', 'callbackSecret'])
    for (const value of ['Zq7xK', 'Zq7xK Zq7xK', 'Zq7xK"Zq7xK', '\\Zq7xK\\', 'Zq7xK\\"', '{Zq7xK', '&Zq7xK=Zq7xK']) {
      const line = form(name, value);
      expect(line).toContain('Zq7xK');
      const scrubbed = scrub(line);
      expect([line, scrubbed]).not.toEqual([line, expect.stringContaining('Zq7xK')]);
      expect(scrubbed).toContain('[secret]');
      expect(scrub(scrubbed)).toBe(scrubbed);
    }
});

test.each<[string, string]>([
  ['{"cvv":123,"a":1}', '{"cvv":"[secret]","a":1}'],
  ['{"card":{"number":"4111111111111111","cvv":"123"},"a":1}', '{"card":"[secret]","a":1}'],
  ['{"token":null}', '{"token":"[secret]"}'],
  ['{"amount":4111111111111111,"a":1}', '{"amount":"[card]","a":1}'],
  ['{"msg":"{\\"hash\\":\\"x\\",\\"id\\":5}"}', '{"msg":"{\\"hash\\":\\"[secret]\\",\\"id\\":5}"}'],
  ['4111111111111111 5500000000000004', '[card] [card]'],
  ['order 12 4111 1111 1111 1111', 'order 12 [card]'],
  ['password=x&order_number=7', 'password=[secret]&order_number=7'],
  ["{ password: 'x', id: 5 }", "{ password: '[secret]', id: 5 }"],
  ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: [secret]'],
  ['Cookie: a=b; c=d', 'Cookie: [secret]'],
  ['"GET / HTTP/1.1\\r\\nCookie: a=b; c=d\\r\\nHost: x"', '"GET / HTTP/1.1\\r\\nCookie: [secret]\\r\\nHost: x"'],
  ['{"key":"-----BEGIN RSA PRIVATE KEY-----\\nMIIE', '{"key":"[secret]'],
  ['{"key":"-----BEGIN RSA PRIVATE KEY-----\\nMIIE","a":1}', '{"key":"[secret]","a":1}'],
  ['a\nb\n', 'a\\u000ab\n'],
  ['a\r\nb', 'a\\u000d\\u000ab'],
  ['\u001b[31mred\u0000\u007f\u0085\u2028\u202e', '\\u001b[31mred\\u0000\\u007f\\u0085\\u2028\\u202e'],
  ['tab\t4111111111111111', 'tab\\u0009[card]'],
  ['a\n\n', 'a\\u000a\n'],
])('%j becomes %j', (line, scrubbed) => {
  expect(scrub(line)).toBe(scrubbed);
  expect(scrub(scrubbed)).toBe(scrubbed);
});

test.each([
  '',
  '\n',
  '{"level":30,"time":"2026-01-01T10:20:30.123Z","request":"019b76da-a800-7123-8456-123456789012","msg":"done"}\n',
  '019b76da-a800-7123-8456-123456789012',
  '01234567-8901-7234-8567-676770000005',
  'order 123456789 01912345-6789-7123-8456-123456789012',
  '2026-01-01T10:20:30.123456789+02:00',
  '2026-01-01 2026-01-02 2026-01-03 2026-01-04',
  '192.168.100.200 192.168.100.201 192.168.100.209:65535',
  '::ffff:192.168.100.200 2001:db8:1111:1111:1111:1111:1111:1111',
  '{"amount":"1234567.89","currency":"EUR","ms":12.345,"status":200}',
  '4111111111111112',
  '41111111111',
  '41111111111111111111111111',
  `${HASH}0`,
  KEY_32.slice(1),
  'the card was declined, no hash, wrong number of tokens, password missing',
  '{"order_number":"7","card_brand":"visa","tokens":3,"cardholder":"x","hashes":1}',
  'order_number=7&discard=1&tokens=2',
  '{"type":"card","of":["number","token"]}',
  'request-id: req-7f3a, key=value, Ünïcödé ✓ 漢字',
])('%j is not changed', (line) => {
  expect(scrub(line)).toBe(line);
});

test('property: a UUID of version 7 is never masked', () => {
  const uuid = fc.uuid({ version: 7 });
  fc.assert(fc.property(uuid, uuid, (a, b) => scrub(`${a} ${b}`) === `${a} ${b}`));
  const decimalUuid = fc.stringMatching(/^\d{8}-\d{4}-7\d{3}-[89]\d{3}-\d{12}$/);
  fc.assert(fc.property(decimalUuid, (id) => scrub(`{"id":"${id}"}`) === `{"id":"${id}"}`));
});

const cardNumber = fc.stringMatching(/^\d{12,18}$/).map((head) => {
  const checkDigit = [...'0123456789'].find((digit) => isLuhnValid(head + digit));
  return `${head}${checkDigit}`;
});
const awkward = fc
  .array(
    fc.oneof(fc.string(), fc.constantFrom(...'%-. +"\\:=', '%20', '\\u', '1', '20', '\n', '"card":', 'a9'), fc.nat()),
  )
  .map((parts) => parts.join(''));

test('property: a card number between non-digits is always masked', () => {
  fc.assert(
    fc.property(awkward, cardNumber, awkward, (before, number, after) => {
      const line = `${before.replace(/\d+$/, '')}${number}${after.replace(/^\d+/, '')}`;
      return !scrub(line).includes(number);
    }),
    { numRuns: 3000 },
  );
});

test('property: a card number in groups is always masked', () => {
  const separator = fc.constantFrom(' ', '-', '.', '+', '%20');
  fc.assert(
    fc.property(fc.string(), cardNumber, separator, fc.string(), (before, number, between, after) => {
      const grouped = number.replace(/\d{4}(?=\d)/g, `$&${between}`);
      return !scrub(`${before}|${grouped}|${after}`).includes(grouped);
    }),
    { numRuns: 1000 },
  );
});

test('property: a JSON log line stays valid JSON on one line', () => {
  const record = fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom(...SECRET_NAMES)),
    fc.oneof(
      fc.string(),
      awkward,
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      cardNumber,
      cardNumber.map((number) => `:${number}`),
      cardNumber.map(Number),
      cardNumber.map((number) => -Number(number)),
      fc.array(cardNumber.map(Number)),
    ),
  );
  fc.assert(
    fc.property(record, (fields) => {
      const scrubbed = scrub(`${JSON.stringify(fields)}\n`);
      JSON.parse(scrubbed);
      return scrubbed.indexOf('\n') === scrubbed.length - 1;
    }),
    { numRuns: 1000 },
  );
});

test.each([
  '1',
  '0',
  '4111111111111111 ',
  '1 ',
  '1%20',
  '%20',
  '%',
  '"',
  '\\',
  '\\"',
  '\\u',
  '"password":',
  '"password"',
  '"password":"',
  '"password":[',
  '"password\\',
  'password=',
  'password%22%3A%22',
  "password: '",
  'a',
  'a1',
  'MDAw',
  'MDAwMDAwMDAwMDAw ',
  'Bearer ',
  'Bearer+',
  'whsec_',
  '-----BEGIN ',
  '-----BEGIN X-----',
  '-----BEGIN X-----\\',
  'cookie: ',
  'authorization:',
  ' ',
  '\n',
  '\u0000',
  '[',
  '192.168.100.',
  '2026-01-01T',
  '019b76da-a800-7123-',
])('64 KB of %j are processed in time', (piece) => {
  const line = piece.repeat(Math.ceil(65536 / piece.length));
  expect(typeof scrub(line)).toBe('string');
  expect(typeof scrub(`"password"${line}x`)).toBe('string');
});

test.each([
  ['full-width digits', '４１１１１１１１１１１１１１１１'],
  ['Arabic-Indic digits', '٤١١١ ١١١١ ١١١١ ١١١١'],
  ['zero-width spaces', '4\u200b111\u200b1111\u200b1111\u200b1111'],
  ['no-break spaces', '4111\u00a01111\u00a01111\u00a01111'],
  ['references of HTML', '4111&nbsp;1111&nbsp;1111&nbsp;1111'],
])('masks a card number in digits of other scripts, or with invisible characters: %s', (_, number) => {
  expect(scrub(JSON.stringify({ level: 30, msg: `Zoë paid with ${number}.` }))).toBe(
    '{"level":30,"msg":"Zoë paid with [card]."}',
  );
});
