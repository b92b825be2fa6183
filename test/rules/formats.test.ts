/** Kinds of values for particular brands, with valid and invalid examples. */
import { describe, expect, test } from 'vitest';
import type { FieldContext, Kind } from '../../src/rules/fields.ts';
import { currency as currencyCode } from '../../src/rules/fields.ts';
import {
  addressOn,
  base64,
  bic,
  count,
  country,
  cuil,
  curp,
  digits,
  IDENTIFICATION_TYPES,
  identification,
  link,
  networkFor,
  number,
  personalId,
  upiAddress,
  utcMoment,
  walletAToken,
  walletBToken,
  withoutSpaces,
} from '../../src/rules/formats.ts';
import {
  IDENTIFICATIONS,
  INVALID,
  NOT_A_CHOICE,
  NOT_JSON,
  NOT_URL,
  SPACES,
  tooLong,
  tooShort,
} from '../support/brand-expectations.ts';

const contextOf = (values: Record<string, string> = {}): FieldContext => ({
  value: (name) => values[name] ?? '',
  positions: () => [],
  setting: () => undefined,
  allowsHttp: false,
});

const none = (values: readonly string[], sentence: string): [string, string][] =>
  values.map((value) => [value, sentence]);

/** Non-ASCII letters that become a country code when they are upper-cased. */
const FOREIGN = ['ß', 'ﬁ', 'ın', 'ſe'];

const KINDS: [string, Kind, good: string[], bad: [string, string][]][] = [
  [
    'a number',
    number,
    ['0', '-1', '007', '1.5', '0.1234567890', '123456789012345', '-123456789012345.1234567890'],
    none(['', '1.', '.5', '+1', '1,5', '1 000', '1e3', 'Infinity', '٣', '1.12345678901', '1234567890123456'], INVALID),
  ],
  ['a count', count, ['0', '00', '1', '999999999'], none(['', '-1', '1.0', '+1', 'x', '1000000000', '٣'], INVALID)],
  [
    'one to four digits',
    digits(4),
    ['0', '1', '0001', '9999'],
    [
      ['', tooShort(1)],
      ['10000', tooLong(4)],
      ...none(['1.5', '-1', '+1', '1e3', 'x', '1\n', ' 1', '٣'], INVALID),
      ['words', tooLong(4)],
    ],
  ],
  [
    'sixteen digits',
    digits(16, 16),
    ['0123456789012345'],
    [
      ['012345678901234', tooShort(16)],
      ['01234567890123456', tooLong(16)],
      ['012345678901234x', INVALID],
    ],
  ],
  [
    'a text of 3 to 5 characters without spaces',
    withoutSpaces(3, 5),
    ['abc', 'abcde', 'čšž', '-–—'],
    [
      ['ab', tooShort(3)],
      ['abcdef', tooLong(5)],
      ...none(['a b', 'ab ', ' ab', 'a\nb', 'a\u00a0b', 'a\u3000b', ' ', '1 2 3 4 5 6'], SPACES),
    ],
  ],
  [
    'a country',
    country,
    ['GB', 'gb', 'Gb', 'RS', 'TR'],
    none(['UK', 'GBR', 'G', 'XX', '826', 'Germany', 'GB ', '__proto__', ...FOREIGN], NOT_A_CHOICE),
  ],
  [
    'a currency',
    currencyCode,
    ['EUR', 'JPY', 'KWD'],
    none(['eur', 'EU', 'EURO', '978', 'XXX', 'BTC', ' EUR', '__proto__', 'toString'], NOT_A_CHOICE),
  ],
  [
    'a link',
    link,
    [
      'https://a',
      'http://shop.example/a b?c=d#e',
      'HTTPS://SHOP.EXAMPLE',
      'https://[2001:db8::1]:8443/',
      'https://č.example',
    ],
    none(
      [
        'shop.example',
        '//shop.example',
        'https:shop.example',
        'https://',
        'https://shop.example:99999/',
        'javascript:alert(1)',
        'data:text/html,x',
        'ftp://shop.example',
        'https://shop.example/\nx',
        ' https://shop.example',
      ],
      NOT_URL,
    ),
  ],
  ['a SWIFT code', bic, ['DEUTDEFF', 'DEUTDEFF500'], none(['DEUTDEF', 'DEUTDEFF5', 'DEUTXXFF'], INVALID)],
  ['a CUIL', cuil, ['20123456786', '20-12345678-6'], none(['20123456787', '20-123456786', 'x'], INVALID)],
  ['a CURP', curp, ['HEGG560427MVZRRL04'], none(['HEGG560427MVZRRL05', 'x'], INVALID)],
  ['a UPI address', upiAddress, ['ravi@upi'], none(['ravi', 'ravi@', '@upi', 'a b@upi'], INVALID)],
  [
    'a moment in UTC',
    utcMoment,
    ['2024-05-31T12:00:00Z', '2024-05-31T12:00Z', '2024-05-31T12:00:00.5+00:00'],
    none(['2024-05-31', '2024-05-31 12:00:00Z', '2024-05-31T12:00:00', '2024-02-30T12:00:00Z', 'now'], INVALID),
  ],
  ['base64', base64, ['QQ==', 'QUJD'], none(['QQ', 'QUJ-', '%', 'QUJD\n'], INVALID)],
  ['a token of wallet a', walletAToken, [], none(['', 'x', '{', '{"a":}'], NOT_JSON)],
  ['a token of wallet b', walletBToken, [], none(['', 'x', '{', '{"a":}'], NOT_JSON)],
];

describe.each(KINDS)('%s', (_, kind, good, bad) => {
  test.each(good)('accepts %j', (value) => {
    expect(kind.check(value, contextOf())).toBeUndefined();
  });
  test.each(bad)('refuses %j', (value, sentence) => {
    expect(kind.check(value, contextOf())).toBe(sentence);
  });
});

test.each(KINDS)('%s: its schema accepts what the check accepts', (_, { schema, expects }, good) => {
  expect(expects).not.toBe('');
  expect(schema.type).toBe('string');
  for (const value of good) {
    if (schema.pattern !== undefined) expect(value).toMatch(new RegExp(schema.pattern as string, 'u'));
    expect(value.length).toBeGreaterThanOrEqual((schema.minLength as number | undefined) ?? 0);
    expect(value.length).toBeLessThanOrEqual((schema.maxLength as number | undefined) ?? value.length);
  }
});

describe('a network', () => {
  const network = networkFor('coin', ['BTC', 'ETH', 'USDC', 'USDT']);

  test.each<[string, string[]]>([
    ['BTC', ['BTC']],
    ['ETH', ['ETH']],
    ['USDC', ['ETH', 'BSC']],
    ['USDT', ['ETH', 'BSC', 'TRX']],
  ])('only the right networks carry %s', (coin, carriers) => {
    const accepted = ['BTC', 'ETH', 'BSC', 'TRX'].filter((it) => network.check(it, contextOf({ coin })) === undefined);
    expect(accepted).toEqual(['BTC', 'ETH', 'BSC', 'TRX'].filter((it) => carriers.includes(it)));
  });

  test.each(['', 'XRP', 'btc', '__proto__'])(
    'of the unknown coin %j is not judged: the coin itself is refused',
    (coin) => {
      for (const it of ['BTC', 'ETH', 'BSC', 'TRX']) expect(network.check(it, contextOf({ coin }))).toBeUndefined();
    },
  );

  test.each(['', 'btc', 'SOL', 'BTC ', '__proto__', 'toString'])('%j is not a network', (it) => {
    expect(network.check(it, contextOf({ coin: 'BTC' }))).toBe(NOT_A_CHOICE);
    expect(network.check(it, contextOf())).toBe(NOT_A_CHOICE);
  });
});

describe('an address', () => {
  const address = addressOn('network');

  test('is checked for the network in the other field', () => {
    const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
    expect(address.check(tron, contextOf({ network: 'TRX' }))).toBeUndefined();
    for (const network of ['BTC', 'ETH', 'BSC']) expect(address.check(tron, contextOf({ network }))).toBe(INVALID);
  });

  test.each(['', 'SOL', '__proto__'])(
    'on the unknown network %j is not judged: the network itself is refused',
    (network) => {
      expect(address.check('anything', contextOf({ network }))).toBeUndefined();
    },
  );
});

describe('a personal id', () => {
  test.each<[string, string, string | undefined]>([
    ['BR', '11144477735', undefined],
    ['br', '11144477735', undefined],
    ['BR', '1', undefined],
    ['BR', '11222333000181', undefined],
    ['BR', '11144477736', INVALID],
    ['BR', '111.444.777-35', INVALID],
    ['Br', 'ABC', INVALID],
    ['BR', '١١١', INVALID],
    ['CL', '12.345.678-K', undefined],
    ['CO', '11144477736', undefined],
    ['', 'ABC', undefined],
  ])('from %j: %s', (payer_country, value, sentence) => {
    expect(personalId.check(value, contextOf({ payer_country }))).toBe(sentence);
  });
});

describe('an identification', () => {
  test('has one of these types', () => {
    expect([...IDENTIFICATION_TYPES].toSorted()).toEqual(Object.keys(IDENTIFICATIONS).toSorted());
  });

  test.each(['', 'iban', '__proto__', 'toString'])(
    'of the unknown type %j is not judged: the type itself is',
    (type) => {
      expect(identification.check('anything', contextOf({ type }))).toBeUndefined();
    },
  );

  test.each([
    ['GB', 'NWBK60161331926819', undefined],
    ['gb', 'NWBK60161331926819', undefined],
    ['NL', 'NWBK60161331926819', INVALID],
    ['', 'anything', undefined],
    ['US', 'anything', undefined],
  ])('BBAN in %j: %s', (where, value, sentence) => {
    const context = contextOf({ type: 'BBAN', 'parameters[payee_country]': where });
    expect(identification.check(value, context)).toBe(sentence);
  });
});
