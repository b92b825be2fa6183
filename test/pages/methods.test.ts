/** Payment methods as payers see them: every brand has a kind, an icon and a name in every language. */
import { describe, expect, test } from 'vitest';
import { localeFor } from '../../src/pages/locale.ts';
import { LANGUAGES } from '../../src/pages/locales/index.ts';
import { METHOD_ICONS } from '../../src/pages/pay/method-icons.ts';
import { methodNames } from '../../src/pages/pay/method-names.ts';
import { BRANDS, type Brand, brandOf, CARD } from '../../src/rules/brands.ts';
import { byLikelihood, METHOD_KINDS } from '../../src/rules/method-kinds.ts';
import { completeSettings } from '../../src/rules/settings.ts';

const LABELS = [CARD, ...Object.keys(BRANDS)];
const LOCALES = Object.keys(LANGUAGES);

const namesIn = (language: string, labels: readonly string[], set: Record<string, unknown> = {}) => {
  const nameOf = methodNames(labels, { settings: completeSettings(set) }, localeFor(language, undefined));
  return labels.map(nameOf);
};

test.each(LABELS)('%s has a kind, which has an icon in the colour of the text', (label) => {
  const { kind } = brandOf(label) as Brand;
  expect(Object.keys(METHOD_KINDS)).toContain(kind);
  expect(String(METHOD_ICONS[kind])).toMatch(
    /^<svg [^>]*stroke="currentColor"[^>]*aria-hidden="true"><path d="M[^"]+"/,
  );
});

describe.each(LOCALES)('in %s', (language) => {
  test('all brands of one account have different names, none of which is a code', () => {
    const names = namesIn(language, LABELS);
    expect(new Set(names).size).toBe(LABELS.length);
    for (const [index, name] of names.entries()) {
      expect(name).not.toBe('');
      expect(name).not.toMatch(new RegExp(`(^|[^a-z])${LABELS[index]}([^a-z]|$)`));
    }
  });
});

test('a method of one country is named with it, and the same names are numbered', () => {
  const labels = ['agg-b', 'bank-a', 'agg-a', 'agg-c'];
  expect(namesIn('en', labels)).toEqual([
    'Bank transfer (Türkiye)\u00a02',
    'Bank transfer',
    'Bank transfer (Türkiye)\u00a01',
    'Bank transfer (Thailand)',
  ]);
  expect(namesIn('de', ['transfer-a'])).toEqual(['Banküberweisung (Argentinien)']);
  expect(namesIn('en', ['agg-b'])).toEqual(['Bank transfer (Türkiye)']);
});

describe('the name that an account gave a method', () => {
  const own = { method_names: { 'bank-a': 'iDEAL', 'bank-a.de': 'iDEAL-Überweisung', 'bank-a.pt-BR': 'iDEAL (BR)' } };
  test.each([
    ['en', 'iDEAL'],
    ['de', 'iDEAL-Überweisung'],
    ['de-AT', 'iDEAL-Überweisung'],
    ['pt-BR', 'iDEAL (BR)'],
    ['pt', 'iDEAL'],
  ])('in %s is %s', (tag, name) => {
    expect(namesIn(tag, ['bank-a'], own)).toEqual([name]);
  });

  test('comes before an alias, and a name for another language does not count', () => {
    const set = { brand_aliases: { Slip: 'bank-a' }, method_names: { 'bank-a.de': 'Überweisung' } };
    expect([namesIn('de', ['bank-a'], set), namesIn('fr', ['bank-a'], set)]).toEqual([['Überweisung'], ['Slip']]);
  });

  test('is numbered if two methods have the same one', () => {
    const method_names = { 'bank-a': 'My bank', 'doc-a': 'My bank' };
    expect(namesIn('en', ['doc-a', 'bank-a'], { method_names })).toEqual(['My bank\u00a02', 'My bank\u00a01']);
  });

  test('is not an alias that is a code', () => {
    expect(namesIn('en', ['bank-a'], { brand_aliases: { 'apm-17_x': 'bank-a' } })).toEqual(['Bank transfer']);
  });
});

describe('likelihood', () => {
  const sorted = (labels: string[], country: string | undefined, currency: string, hasOwnOrder = false) =>
    labels.toSorted((one, other) =>
      byLikelihood({ country, currency }, hasOwnOrder)(brandOf(one) as Brand, brandOf(other) as Brand),
    );
  const SOME = ['agg-c', 'crypto-a', 'agg-a', 'upi-b', 'bank-a', 'card'];

  test.each<[string | undefined, string, string[]]>([
    ['TR', 'TRY', ['card', 'agg-a', 'bank-a', 'crypto-a', 'agg-c', 'upi-b']],
    ['TR', 'EUR', ['card', 'agg-a', 'bank-a', 'crypto-a', 'agg-c', 'upi-b']],
    [undefined, 'THB', ['card', 'agg-c', 'bank-a', 'crypto-a', 'agg-a', 'upi-b']],
    ['US', 'INR', ['card', 'upi-b', 'bank-a', 'crypto-a', 'agg-c', 'agg-a']],
    [undefined, 'EUR', ['card', 'bank-a', 'crypto-a', 'agg-c', 'agg-a', 'upi-b']],
  ])('%s and %s: cards and local methods first, methods of other countries last', (country, currency, expected) => {
    expect(sorted(SOME, country, currency)).toEqual(expected);
  });

  test('the own order of an account changes only for methods of other countries', () => {
    expect(sorted(SOME, 'TR', 'TRY', true)).toEqual(['crypto-a', 'agg-a', 'bank-a', 'card', 'agg-c', 'upi-b']);
  });
});
