/** The currency table, compared with ISO 4217 on its date. */

import { expect, test } from 'vitest';
import { ISO_4217_DATE } from '../../src/lib/money/iso-4217.ts';
import { CURRENCIES } from '../../src/rules/currencies.ts';

const codes = Object.keys(CURRENCIES);
const codesWith = (exponent: number) => codes.filter((code) => CURRENCIES[code]?.exponent === exponent);

test('the table has a date and is frozen', () => {
  expect(ISO_4217_DATE).toBe('2026-01-01');
  expect(Object.isFrozen(CURRENCIES)).toBe(true);
  expect(Object.isFrozen(CURRENCIES.EUR)).toBe(true);
});

test('the number of currencies per exponent', () => {
  expect(codesWith(0)).toHaveLength(16);
  expect(codesWith(2)).toHaveLength(133);
  expect(codesWith(3)).toHaveLength(7);
  expect(codes).toHaveLength(156);
});

test('every code has three capitals and a unique numeric code of three digits', () => {
  for (const code of codes) expect(code).toMatch(/^[A-Z]{3}$/);
  const numerics = Object.values(CURRENCIES).map((currency) => currency.numeric);
  for (const numeric of numerics) expect(numeric).toMatch(/^\d{3}$/);
  expect(new Set(numerics).size).toBe(codes.length);
});

test.each([
  ['EUR', '978', 2],
  ['USD', '840', 2],
  ['GBP', '826', 2],
  ['ALL', '008', 2],
  ['HUF', '348', 2],
  ['IDR', '360', 2],
  ['MGA', '969', 2],
  ['MRU', '929', 2],
  ['JPY', '392', 0],
  ['KRW', '410', 0],
  ['CLP', '152', 0],
  ['ISK', '352', 0],
  ['UGX', '800', 0],
  ['XPF', '953', 0],
  ['BHD', '048', 3],
  ['KWD', '414', 3],
  ['TND', '788', 3],
  ['SLE', '925', 2],
  ['VED', '926', 2],
  ['XAD', '396', 2],
  ['XCG', '532', 2],
  ['ZWG', '924', 2],
])('%s is %s with %i digits', (code, numeric, exponent) => {
  expect(CURRENCIES[code]).toEqual({ numeric, exponent });
});

test.each('ANG BGN BYR CUC HRK LTL LVL MRO SLL STD VEF ZMK ZWL'.split(' '))('%s is withdrawn', (code) => {
  expect(CURRENCIES[code]).toBeUndefined();
});

test.each('BOV CHE CHW CLF COU MXV USN UYI UYW XAG XAU XBA XDR XPD XPT XSU XTS XUA XXX'.split(' '))(
  '%s is not a payment currency',
  (code) => {
    expect(CURRENCIES[code]).toBeUndefined();
  },
);

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'eur', 'EURO', ''])(
  '%j is not a currency',
  (name) => {
    expect(CURRENCIES[name]).toBeUndefined();
    expect(name in CURRENCIES).toBe(false);
  },
);
