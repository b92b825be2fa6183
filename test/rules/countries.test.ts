/** The country codes, compared with ISO 3166-1 on their date. */

import { countrySpecs } from 'ibantools';
import { expect, test } from 'vitest';
import { COUNTRIES, ISO_3166_DATE } from '../../src/rules/countries.ts';

test('the codes have a date', () => {
  expect(ISO_3166_DATE).toBe('2026-01-01');
});

test('there are 249 codes of two capitals, in order', () => {
  const codes = [...COUNTRIES];
  expect(codes).toHaveLength(249);
  expect(codes).toEqual([...codes].sort());
  for (const code of codes) expect(code).toMatch(/^[A-Z]{2}$/);
});

test('a second list has the same codes, and Kosovo, whose code is not in the standard', () => {
  expect([...COUNTRIES, 'XK'].sort()).toEqual(Object.keys(countrySpecs).sort());
});

test.each('AX BL BQ CW DE EH GB GG HK IM JE ME MF MO PS RS SS SX TL TW UM US VA ZW'.split(' '))(
  '%s is a country',
  (code) => {
    expect(COUNTRIES.has(code)).toBe(true);
  },
);

test.each('AN BU CS DD FX NT SU TP YD YU ZR'.split(' '))('%s is withdrawn', (code) => {
  expect(COUNTRIES.has(code)).toBe(false);
});

test.each('AA AC CP DG EA EU EZ IC QM TA UK UN XA XK XX XZ ZZ'.split(' '))(
  '%s is reserved and not a country',
  (code) => {
    expect(COUNTRIES.has(code)).toBe(false);
  },
);

test.each(['', 'de', 'D', 'DEU', ' DE', 'DE ', '276', 'constructor', '__proto__'])('%j is not a country', (text) => {
  expect(COUNTRIES.has(text)).toBe(false);
});
