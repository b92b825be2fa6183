/** Identifier checks: known values, every single-digit error, and unrelated text. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isAbaRoutingNumber,
  isBase64,
  isBban,
  isBic,
  isBlz,
  isBsb,
  isClabe,
  isCpf,
  isCuil,
  isCurp,
  isEmail,
  isIban,
  isIfsc,
  isMaskedCardNumber,
  isPhoneNumber,
  isSortCode,
  isUpiAddress,
  isUtcMoment,
} from '../../../src/lib/text/identifiers.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const DIGITS = [...'0123456789'];
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/** Every text that differs from the original in exactly one character of the alphabet. */
const withOneChanged = (value: string, alphabet: readonly string[]): string[] =>
  [...value].flatMap((old, at) =>
    alphabet.includes(old)
      ? alphabet.filter((it) => it !== old).map((it) => value.slice(0, at) + it + value.slice(at + 1))
      : [],
  );

const withOneDigitChanged = (value: string): string[] => withOneChanged(value, DIGITS);

const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`));

const CHECKS = {
  isAbaRoutingNumber,
  isBase64,
  isBic,
  isBlz,
  isBsb,
  isClabe,
  isCpf,
  isCuil,
  isCurp,
  isEmail,
  isIban,
  isIfsc,
  isMaskedCardNumber,
  isPhoneNumber,
  isSortCode,
  isUpiAddress,
  isUtcMoment,
};

const RIGHT: Record<keyof typeof CHECKS, string[]> = {
  isAbaRoutingNumber: ['021000021', '011401533', '091000019', '026009593', '122105155', '111000025', '121000358'],
  isBase64: ['QQ==', 'QUI=', 'QUJD', 'aGVsbG8gd29ybGQ=', '+/+/', '0000'],
  isBic: ['DEUTDEFF', 'DEUTDEFF500', 'NEDSZAJJXXX', 'ABNANL2A', 'CHASUS33', 'BKAUATWW', 'deutdeff'],
  isBlz: ['10000000', '37040044', '50010517', '87654321'],
  isBsb: ['062000', '062-000', '123-456'],
  isClabe: ['002010077777777771', '032180000118359719'],
  isCpf: ['11144477735', '52998224725', '00000000191', '12345678909'],
  isCuil: ['20-12345678-6', '20123456786', '30-50001091-2', '33693450239', '27123456780', '20267565393'],
  isCurp: ['HEGG560427MVZRRL04', 'BOXW310820HNERXN09', 'hegg560427mvzrrl04', 'Hegg560427MvzRRL04'],
  isEmail: ['a@b.de', 'first.last+tag@mail.example.co.uk', 'δοκιμή@παράδειγμα.gr', `${'a'.repeat(248)}@bc.de`],
  isIban: [
    'GB29NWBK60161331926819',
    'DE89370400440532013000',
    'FR1420041010050500013M02606',
    'NL91ABNA0417164300',
    'NO9386011117947',
    'BE68539007547034',
    'ES9121000418450200051332',
    'MT84MALT011000012345MTLCAST001S',
    'CH9300762011623852957',
    'PL61109010140000071219812874',
    'BR1800360305000010009795493C1',
    'SA0380000000608010167519',
  ],
  isIfsc: ['SBIN0000300', 'HDFC0000001', 'ICIC0SF0002'],
  isMaskedCardNumber: [
    '411111******1111',
    '41111111****1111',
    '************1111',
    '****************',
    '4111 11XX XXXX 1111',
    '4111-11xx-xxxx-1111',
    '4111 •••• •••• 1111',
    '3782 ****** *0005',
    '********1111',
    '11111111****',
    '12345678*******1234',
  ],
  isPhoneNumber: ['+4915112345678', '4915112345678', '1234567', '+1234567', '123456789012345'],
  isSortCode: ['123456', '12-34-56', '000000', '60-16-13'],
  isUpiAddress: [
    'ab@upi',
    'first.last@okbank',
    'a-b_c.9@ybl',
    '9876543210@paytm',
    `${'a'.repeat(256)}@${'b'.repeat(64)}`,
  ],
  isUtcMoment: [
    '2026-01-31T23:59:59Z',
    '2026-01-31T23:59:59.1Z',
    '2026-01-31T23:59:59.123456789Z',
    '2026-01-31T23:59Z',
    '2026-01-31T00:00:00+00:00',
    '2024-02-29T12:00Z',
    '2000-02-29T12:00Z',
    '0001-01-01T00:00Z',
  ],
};

const WRONG: Record<keyof typeof CHECKS, string[]> = {
  isAbaRoutingNumber: ['000000000', '02100002', '0210000210', '021-000-021', '021000022'],
  isBase64: ['Q', 'QQ', 'QQ=', 'Q===', '====', '==', 'QQ==QQ==', 'Q=Q=', 'QUJ-', 'QUJ_', 'QUJD\n', 'QUJD QUJ', 'QUJé'],
  isBic: ['DEUTDEF', 'DEUTDEFF5', 'DEUTDEFF50', 'DEUTDEFF5000', 'DEUTXXFF', 'DEU1DEFF', 'DEUT DEFF', 'DEUTDEF-'],
  isBlz: ['00000000', '01234567', '91234567', '1234567', '123456789', '370 400 44', '3704004A'],
  isBsb: ['06200', '0620000', '06-2000', '062 000', '062--000', '-062000', '06200A'],
  isClabe: [
    '002010077777777772',
    '00201007777777777',
    '0020100777777777710',
    '002 010 07777777777 1',
    '00201007777777777A',
  ],
  isCpf: [
    '111.444.777-35',
    '1114447773',
    '111444777350',
    '11144477736',
    '1114447773A',
    ...DIGITS.map((d) => d.repeat(11)),
  ],
  isCuil: [
    '20-12345678-5',
    '20-123456786',
    '2012345678-6',
    '20 12345678 6',
    '2012345678',
    '201234567866',
    '-20123456786',
  ],
  isCurp: [
    'HEGG560427MVZRRL05',
    'HEGG560427MVZRRL0',
    'HEGG560427MVZRRL044',
    'HEGG560427MVZRRL0A',
    ' HEGG560427MVZRRL04',
    'HEGG-560427-MVZRRL-04',
  ],
  isEmail: [
    'a',
    'a@',
    '@b.de',
    'a@b',
    'a@b.',
    'a@.de',
    'a@b..de',
    'a b@c.de',
    'a@b@c.de',
    'a@b.de\n',
    'a\0@b.de',
    'a\u200b@b.de',
    `${'a'.repeat(249)}@bc.de`,
  ],
  isIban: [
    'GB29 NWBK 6016 1331 9268 19',
    'gb29nwbk60161331926819',
    'GB29NWBk60161331926819',
    'GB28NWBK60161331926819',
    'GB29NWBK6016133192681',
    'GB29NWBK601613319268190',
    'XX29NWBK60161331926819',
    'US29NWBK60161331926819',
    'GB',
  ],
  isIfsc: [
    'SBIN1000300',
    'sbin0000300',
    'SBIN000030',
    'SBIN00003000',
    'SB1N0000300',
    'SBINO000300',
    'SBIN0 00300',
    'SBIN0abcdef',
  ],
  isMaskedCardNumber: [
    '4111111111111111',
    '4111111111111***',
    '411111111***1111',
    '411111111****1111',
    '411111*****11111',
    '4111*1*******111',
    '*******1111',
    '****************1111',
    '4111  11** **** 1111',
    ' 411111******1111',
    '411111******1111 ',
    '4111 - 11****** 1111',
    '411111######1111',
    '411111XXXXXХ1111',
  ],
  isPhoneNumber: [
    '123456',
    '+123456',
    '1234567890123456',
    '01234567',
    '+01234567',
    '++1234567',
    '+49 151 1234',
    '1234567+',
    '+',
  ],
  isSortCode: ['12345', '1234567', '12-3456', '1234-56', '12 34 56', '12--34-56', '12345A'],
  isUpiAddress: [
    'a@upi',
    'ab@u',
    'ab@1upi',
    'ab@up.i',
    'ab@up-i',
    'ab',
    'ab@',
    '@upi',
    'a b@upi',
    'ab@upi@upi',
    'é9@upi',
    `${'a'.repeat(257)}@upi`,
    `ab@${'b'.repeat(65)}`,
  ],
  isUtcMoment: [
    '2026-02-30T12:00:00Z',
    '2026-02-29T12:00:00Z',
    '1900-02-29T12:00:00Z',
    '2026-04-31T12:00:00Z',
    '2026-00-10T12:00:00Z',
    '2026-13-10T12:00:00Z',
    '2026-01-00T12:00:00Z',
    '2026-01-32T12:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T23:60:00Z',
    '2026-01-31T23:59:60Z',
    '2026-01-31T23:59:59',
    '2026-01-31T23:59:59+01:00',
    '2026-01-31T23:59:59-00:00',
    '2026-01-31T23:59:59+0000',
    '2026-01-31T23:59:59.Z',
    '2026-01-31T23:59:59,5Z',
    '2026-01-31T23:59.5Z',
    '2026-01-31T23Z',
    '2026-01-31',
    '2026-01-31 23:59:59Z',
    '2026-01-31t23:59:59z',
    '20260131T235959Z',
    '+002026-01-31T23:59:59Z',
    '2026-1-31T23:59:59Z',
  ],
};

const EVERYWHERE_WRONG = ['', ' ', '\n', '\0', '-', '١٢٣٤٥٦٧٨٩', '１２３４５６７８', '[object Object]', 'prototype'];

const cases = (table: Record<string, string[]>) =>
  Object.entries(table).flatMap(([name, values]) =>
    values.map((value) => [name as keyof typeof CHECKS, value] as const),
  );

test.each(cases(RIGHT))('%s accepts %j', (name, value) => {
  expect(CHECKS[name](value)).toBe(true);
});

test.each(cases(WRONG))('%s refuses %j', (name, value) => {
  expect(CHECKS[name](value)).toBe(false);
});

test.each(Object.entries(CHECKS))('%s refuses unrelated text', (_, check) => {
  for (const value of EVERYWHERE_WRONG) expect(check(value), JSON.stringify(value)).toBe(false);
});

test.each(cases(RIGHT))('%s refuses %j with a leading or trailing space or line break', (name, value) => {
  for (const wrong of [` ${value}`, `${value} `, `${value}\n`, `\n${value}`, `${value}\0`]) {
    expect(CHECKS[name](wrong), JSON.stringify(wrong)).toBe(false);
  }
});

test.each(cases(RIGHT).filter(([name, value]) => name !== 'isEmail' && /\d/.test(value)))(
  '%s refuses %j in digits of another script',
  (name, value) => {
    const arabic = value.replace(/\d/g, (digit) => '٠١٢٣٤٥٦٧٨٩'.charAt(Number(digit)));
    expect(CHECKS[name](arabic)).toBe(false);
  },
);

test.each(Object.entries(CHECKS))('%s checks very long text quickly', (name, check) => {
  const million = 1 << 20;
  const began = cpuMs();
  for (const long of ['1', ' ', '*', 'a@', 'a.', '1-', '=', 'X '].map((piece) => piece.repeat(million))) {
    if (name !== 'isBase64') expect(check(long)).toBe(false);
    else expect(() => check(long)).not.toThrow();
  }
  expect(cpuMs() - began).toBeLessThan(2000);
});

// The schemes below detect every changed digit, because their weights share no factor with the modulus.
test.each(cases({ isAbaRoutingNumber: RIGHT.isAbaRoutingNumber, isClabe: RIGHT.isClabe, isIban: RIGHT.isIban }))(
  '%s sees every changed digit of %s',
  (name, value) => {
    expect(withOneDigitChanged(value).filter(CHECKS[name])).toEqual([]);
  },
);

test.each(RIGHT.isIban)('isIban detects every changed letter of %s', (value) => {
  expect(withOneChanged(value, LETTERS).filter(isIban)).toEqual([]);
});

test('exactly one check digit completes an account number', () => {
  fc.assert(fc.property(digits(17), (head) => DIGITS.filter((control) => isClabe(head + control)).length === 1));
  fc.assert(
    fc.property(
      digits(8),
      (head) => DIGITS.filter((c) => isAbaRoutingNumber(head + c)).length === (Number(head) ? 1 : 0),
    ),
  );
  fc.assert(fc.property(digits(10), (head) => DIGITS.filter((control) => isCuil(head + control)).length === 1));
});

test('exactly one pair of check digits completes a CPF', () => {
  const heads = digits(9).filter((head) => !/^(\d)\1+$/.test(head));
  const pairs = DIGITS.flatMap((first) => DIGITS.map((second) => first + second));
  fc.assert(fc.property(heads, (head) => pairs.filter((pair) => isCpf(head + pair)).length === 1));
});

test('isCuil detects every changed digit, unless the remainders 10 and 9 share the check digit 9', () => {
  const right = digits(10).map((head) => head + DIGITS.find((control) => isCuil(head + control)));
  fc.assert(fc.property(right, (value) => value.endsWith('9') || !withOneDigitChanged(value).some(isCuil)));
  expect(isCuil('33693450239') && isCuil('30693450239')).toBe(true);
});

test('isCpf detects every changed digit, unless the remainders 10 and 0 share the check digit 0', () => {
  for (const value of ['11144477735', '52998224725', '00000000191']) {
    expect(withOneDigitChanged(value).filter(isCpf)).toEqual([]);
  }
  expect(withOneDigitChanged('12345678909').filter(isCpf)).toEqual(['22345678909']);
});

// The weights 18 to 2 share factors with the modulus 10, so some changes are not detected. These are all of them that
// result in a real date. A changed check digit is always detected.
test.each([
  ['HEGG560427MVZRRL04', ['HEGG060427MVZRRL04', 'HEGG560407MVZRRL04', 'HEGG560417MVZRRL04', 'HEGG560427MVZRRL54']],
  ['BOXW310820HNERXN09', ['BOXW810820HNERXN09', 'BOXW310810HNERXN09', 'BOXW310830HNERXN09', 'BOXW310820HNERXN59']],
])('isCurp detects every changed digit of %s except these', (value, unseen) => {
  expect(withOneDigitChanged(value).filter(isCurp)).toEqual(unseen);
});

const hasControlDigit = (head: string): boolean => DIGITS.some((control) => isCurp(head + control));

test.each([
  ['every sex', 'HEGG560427XVZRRL0'],
  ['a person born abroad', 'HEGG560427MNERRL0'],
  ['29 February 2000, because the century character is a letter', 'HEGG000229MVZRRLA'],
  ['29 February 2024', 'HEGG240229MVZRRLA'],
  ['29 February 1996, because the century character is a digit', 'HEGG960229MVZRRL0'],
])('isCurp accepts %s', (_, head) => {
  expect(DIGITS.filter((control) => isCurp(head + control))).toHaveLength(1);
});

test.each([
  ['29 February 1900, because the century character is a digit', 'HEGG000229MVZRRL0'],
  ['29 February 2023', 'HEGG230229MVZRRLA'],
  ['30 February', 'HEGG560230MVZRRL0'],
  ['month 13', 'HEGG561327MVZRRL0'],
  ['month 0', 'HEGG560027MVZRRL0'],
  ['day 0', 'HEGG560400MVZRRL0'],
  ['31 April', 'HEGG560431MVZRRL0'],
  ['another sex', 'HEGG560427FVZRRL0'],
  ['a state that does not exist', 'HEGG560427MXXRRL0'],
  ['a vowel among the consonants', 'HEGG560427MVZRAL0'],
  ['a digit in the name', 'HE9G560427MVZRRL0'],
  ['Ñ, which is written X', 'HEÑG560427MVZRRL0'],
  ['a long s, whose capital is S', 'HEGG560427MſPRRL0'],
  ['a dotless i, whose capital is I', 'HEGı560427MVZRRL0'],
])('isCurp refuses %s with any check digit', (_, head) => {
  expect(hasControlDigit(head)).toBe(false);
});

test.each(
  'AS BC BS CC CL CM CS CH DF DG GT GR HG JC MC MN MS NT NL OC PL QT QR SP SL SR TC TS TL VZ YN ZS NE'.split(' '),
)('isCurp accepts the state %s', (state) => {
  expect(hasControlDigit(`HEGG560427M${state}RRL0`)).toBe(true);
});

test.each([
  ['the structure of its country', 'ABNA0417164300', 'NL', true],
  ['a country without a structure', 'anything 123', 'US', true],
  ['an unknown country', '123', 'constructor', true],
  ['a letter where a digit should be', 'A7NA0417164300', 'NL', false],
  ['lower case', 'abna0417164300', 'NL', false],
  ['one character too few', 'ABNA041716430', 'NL', false],
  ['one character too many', 'ABNA04171643000', 'NL', false],
  ['a blank', 'ABNA 041716430', 'NL', false],
  ['nothing', '', 'NL', false],
  ['a right national check digit', '539007547034', 'BE', true],
  ['a wrong national check digit', '539007547035', 'BE', false],
])('isBban: %s', (_, value, country, expected) => {
  expect(isBban(value, country)).toBe(expected);
});

test('accepts every base64 encoding, and only with complete padding', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
      const encoded = Buffer.from(bytes).toString('base64');
      return isBase64(encoded) && (!encoded.endsWith('=') || !isBase64(encoded.slice(0, -1)));
    }),
  );
});

test('isBase64 checks megabytes of valid and invalid text', () => {
  const megabytes = Buffer.alloc(3 << 20, 'image').toString('base64');
  expect(isBase64(megabytes)).toBe(true);
  expect(isBase64(`${megabytes.slice(0, -1)}*`)).toBe(false);
  expect(isBase64('='.repeat(4 << 20))).toBe(false);
});

test('accepts every timestamp that JavaScript writes', () => {
  const moments = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(fc.property(moments, (moment) => isUtcMoment(moment.toISOString())));
});

test('a masked card number hides at least four digits', () => {
  const digitCounts = fc.tuple(
    fc.integer({ min: 0, max: 10 }),
    fc.integer({ min: 0, max: 10 }),
    fc.integer({ min: 0, max: 6 }),
  );
  fc.assert(
    fc.property(digitCounts, ([first, hidden, last]) => {
      const length = first + hidden + last;
      const isRight = first <= 8 && hidden >= 4 && last <= 4 && length >= 12 && length <= 19;
      return isMaskedCardNumber('4'.repeat(first) + '*'.repeat(hidden) + '1'.repeat(last)) === isRight;
    }),
  );
});
