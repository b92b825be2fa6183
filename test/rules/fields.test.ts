/** Every kind of value with valid and invalid examples, and the error message of each invalid one. */
import { describe, expect, test } from 'vitest';
import { BRANDS } from '../../src/rules/brands.ts';
import type { Problem } from '../../src/rules/errors.ts';
import {
  amount,
  anyText,
  ask,
  cardNumbersAt,
  checkFields,
  currency,
  type FieldContext,
  ipAddress,
  type Kind,
  listedIn,
  may,
  must,
  oneOf,
  orderId,
  text,
  uuid,
  webAddress,
  wholeNumber,
  yesNo,
} from '../../src/rules/fields.ts';

const contextOf = (values: Record<string, string>, more: Partial<FieldContext> = {}): FieldContext => ({
  value: (name) => values[name] ?? '',
  positions: () => [],
  setting: (setting) => (setting === 'first' ? ['a', 'b'] : setting === 'second' ? ['c'] : []),
  allowsHttp: false,
  ...more,
});
const CONTEXT = contextOf({});

const INVALID = 'This value is not valid.';
const NOT_A_CHOICE = 'The value you selected is not a valid choice.';
const NOT_URL = 'This value is not a valid URL.';
const NOT_UUID = 'This is not a valid UUID.';
const NOT_POSITIVE = 'This value should be greater than 0.';

const KINDS: [string, Kind, good: string[], bad: [string, string][]][] = [
  ['any text', anyText, ['x', ' ', '\u202e', 'x'.repeat(60_000)], []],
  [
    'a text of 2 to 4 characters',
    text(2, 4),
    ['ab', 'abcd', 'čšž', '    '],
    [
      ['a', 'This value is too short. It should have 2 characters or more.'],
      ['abcde', 'This value is too long. It should have 4 characters or less.'],
    ],
  ],
  [
    'an order id',
    orderId,
    [
      '1',
      'order-1',
      'A/7 #3',
      'čigra',
      '注文',
      '🛒',
      "'; drop table payments; --",
      'null',
      '__proto__',
      'x'.repeat(255),
    ],
    [
      [' a', INVALID],
      ['a ', INVALID],
      [' ', INVALID],
      ['\u00a0', INVALID],
      ['a\tb', INVALID],
      ['a\nb', INVALID],
      ['a\u0000b', INVALID],
      ['a\u007fb', INVALID],
      ['a\u200bb', INVALID],
      ['\u202eabc', INVALID],
      ['a\u2028b', INVALID],
      ['a\ue000b', INVALID],
      ['a\ufeff', INVALID],
      ['x'.repeat(256), 'This value is too long. It should have 255 characters or less.'],
    ],
  ],
  [
    'a currency',
    currency,
    ['USD', 'EUR', 'JPY', 'KWD', 'XOF'],
    ['usd', 'US', 'USDX', '840', 'XXX', 'HRK', '__proto__', 'constructor', ' USD'].map((code) => [code, NOT_A_CHOICE]),
  ],
  [
    'an IP address',
    ipAddress,
    ['203.0.113.7', '0.0.0.0', '2001:db8::1', '::', '::ffff:1.2.3.4'],
    ['1.2.3', '1.2.3.256', '1.2.3.4/32', '01.2.3.4', 'localhost', '1.2.3.4 ', '[::1]', ':::'].map((ip) => [
      ip,
      INVALID,
    ]),
  ],
  [
    'a UUID',
    uuid,
    ['01990000-0000-7000-8000-0123456789ab', '01990000-0000-7000-8000-0123456789AB'],
    ['1', '01990000000070008000012345678901', '01990000-0000-7000-8000-0123456789ag'].map((id) => [id, NOT_UUID]),
  ],
  ['yes or no', yesNo, ['Y', 'N'], ['y', 'n', 'yes', '1', 'true', 'YN'].map((word) => [word, NOT_A_CHOICE])],
  [
    'a choice',
    oneOf(['day', 'week']),
    ['day', 'week'],
    ['Day', 'month', 'day,week'].map((word) => [word, NOT_A_CHOICE]),
  ],
  [
    'a value from the settings',
    listedIn('first', 'second'),
    ['a', 'b', 'c'],
    ['d', 'A', 'first', 'a,b'].map((word) => [word, NOT_A_CHOICE]),
  ],
  [
    'a whole number from 1 to 365',
    wholeNumber(1, 365),
    ['1', '01', '365'],
    ['0', '366', '-1', '+1', '1.0', '1e2', ' 1', '١', 'NaN', '9999999999999999999999'].map((word) => [word, INVALID]),
  ],
  [
    'a web address',
    webAddress,
    [
      'https://shop.example',
      'HTTPS://shop.example/return?a=b#c',
      'https://[2001:db8::1]:8443/',
      'https://čigra.example/ž',
    ],
    [
      'http://shop.example',
      'shop.example',
      '/return',
      '//shop.example',
      'https:shop.example',
      'https://',
      'https://user@shop.example',
      'https://:password@shop.example',
      'javascript:alert(1)',
      'ftp://shop.example',
      'https://shop.example/a\nSet-Cookie: b',
      'https://shop\t.example/',
      '\u0000https://shop.example',
      'https://shop.example:99999/',
    ].map((url) => [url, NOT_URL]),
  ],
];

describe.each(KINDS)('%s', (_, kind, good, bad) => {
  test.each(good.map((value) => [value.slice(0, 40), value]))('accepts %j', (_shown, value) => {
    expect(kind.check(value, CONTEXT)).toBeUndefined();
  });
  test.each(bad.map(([value, sentence]) => [value.slice(0, 40), value, sentence]))(
    '%j is none',
    (_shown, value, sentence) => {
      expect(kind.check(value, CONTEXT)).toBe(sentence);
    },
  );
});

test('accepts plain http where it is allowed, and no other scheme', () => {
  const sandbox = contextOf({}, { allowsHttp: true });
  expect(webAddress.check('http://localhost:3000/', sandbox)).toBeUndefined();
  expect(webAddress.check('ftp://localhost/', sandbox)).toBe(NOT_URL);
  expect(webAddress.check('http:localhost', sandbox)).toBe(NOT_URL);
});

test.each<[string, string, string | undefined]>([
  ['10.00', 'USD', undefined],
  ['10', 'USD', INVALID],
  ['10.000', 'USD', INVALID],
  ['0.00', 'USD', NOT_POSITIVE],
  ['100', 'JPY', undefined],
  ['100.00', 'JPY', undefined],
  ['100.50', 'JPY', INVALID],
  ['0', 'JPY', NOT_POSITIVE],
  ['1.234', 'KWD', undefined],
  ['1.23', 'KWD', undefined],
  ['1.2', 'KWD', INVALID],
  ['0.000', 'KWD', NOT_POSITIVE],
  ['10.00', 'unknown', undefined],
  ['10.00', '', undefined],
  ['100', 'constructor', INVALID],
  ['1e3', 'USD', INVALID],
  ['-1.00', 'USD', INVALID],
])('the amount %s of %s', (value, code, sentence) => {
  expect(amount('order_currency').check(value, contextOf({ order_currency: code }))).toBe(sentence);
});

describe('the fields of a request', () => {
  const check = (fields: Parameters<typeof checkFields>[0], values: Record<string, string>): Problem[] => {
    const problems: Problem[] = [];
    checkFields(fields, contextOf(values), problems);
    return problems;
  };

  test('a required field must not be missing or empty, the others may', () => {
    const fields = [must('a', yesNo), may('b', yesNo), ask('c', yesNo)];
    const blank = [{ field: 'a', sentence: 'This value should not be blank.' }];
    expect(check(fields, {})).toEqual(blank);
    expect(check(fields, { a: '', b: '', c: '' })).toEqual(blank);
    expect(check(fields, { a: 'Y' })).toEqual([]);
  });

  test('all problems are reported, in the order of the fields', () => {
    const fields = [must('a', yesNo), may('b', uuid), ask('c', currency), must('d', anyText)];
    expect(check(fields, { c: 'x', b: 'x', a: 'x' })).toEqual([
      { field: 'a', sentence: NOT_A_CHOICE },
      { field: 'b', sentence: NOT_UUID },
      { field: 'c', sentence: NOT_A_CHOICE },
      { field: 'd', sentence: 'This value should not be blank.' },
    ]);
  });

  test('a space is not blank', () => {
    expect(check([must('a', anyText)], { a: ' ' })).toEqual([]);
  });

  test('earlier problems stay in the list', () => {
    const problems: Problem[] = [{ field: 'z', sentence: 'Before.' }];
    checkFields([must('a', anyText)], CONTEXT, problems);
    expect(problems.map(({ field }) => field)).toEqual(['z', 'a']);
  });
});

describe('card numbers in the fields of brands', () => {
  const NUMBER = '4111111111111111';
  /** Identifiers and codes, which are not searched. */
  const IDENTIFIERS = new Set([
    ...['identifier', 'account_uuid', 'fee_calculation_method', 'withdrawCurrency', 'address', 'tradingAccountLogin'],
    ...['bank_account_number', 'document_number', 'document_type', 'cryptoCurrency', 'paymentCurrency'],
    ...['product_reference_id', 'product_sku', 'AccountProviderCode', 'orgCode', 'accountNumber', 'personal_id'],
  ]);
  const texts = Object.values(BRANDS)
    .flatMap(({ fields }) => fields)
    .filter(({ expects, isSecret, isTransient }) => /^text\b/.test(expects) && !isSecret && !isTransient)
    .map(({ name }) => name);

  test.each([...new Set(texts)])('%s is searched, or is an identifier', (name) => {
    const inside = /^parameters\[(.*)\]$/.exec(name)?.[1] ?? name;
    const isSearched = cardNumbersAt(name, NUMBER).length > 0;
    expect(isSearched).toBe(!IDENTIFIERS.has(inside));
    if (inside !== name) {
      expect(cardNumbersAt(`parameters.some-brand.${inside}`, NUMBER).length > 0).toBe(isSearched);
    }
  });
});
