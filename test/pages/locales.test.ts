/** Every language says everything, in its own words, with the same places for values and the forms that it counts in. */
import { describe, expect, test } from 'vitest';
import { LANGUAGES, type Language, type Messages } from '../../src/pages/locales/index.ts';
import { BRANDS } from '../../src/rules/brands.ts';
import { REASONS } from '../../src/rules/reasons.ts';

const { en } = LANGUAGES;
const OTHERS = (Object.keys(LANGUAGES) as Language[]).filter((language) => language !== 'en');

/** Every sentence by its path, the forms of a plural apart. */
function sentences(messages: Messages): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'string') found.set(path, value);
    else for (const [key, inner] of Object.entries(value as object)) walk(inner, path === '' ? key : `${path}/${key}`);
  };
  walk(messages, '');
  return found;
}

const isPlural = (path: string): boolean => path.startsWith('checkMarked/');
const places = (sentence: string): string[] => (sentence.match(/\{\w+\}/g) ?? []).toSorted();

/** The labels and hints of every field that a page can ask for. */
const ASKED = new Set(
  Object.values(BRANDS)
    .filter(({ isPayout, needsToken }) => !isPayout && !needsToken)
    .flatMap(({ fields }) => fields)
    .filter(({ need, isSetting, items, default: known, name }) => {
      return need !== 'may' && !isSetting && !items && known === undefined && !name.startsWith('order_');
    })
    .flatMap(({ name, label, hint }) => [label ?? `no label for ${name}`, ...(hint ? [hint] : [])]),
);

test('these languages there are', () => {
  expect(Object.keys(LANGUAGES)).toEqual(['en', 'es', 'pt', 'fr', 'de', 'tr', 'sr', 'vi', 'th', 'ar']);
});

test('every field that a page can ask for has a label', () => {
  expect([...ASKED].filter((label) => label.startsWith('no label'))).toEqual([]);
});

test('every reason of ours has words', () => {
  expect(Object.keys(en.reasons).toSorted()).toEqual(Object.keys(REASONS).toSorted());
});

/** Words that are the same, or names that nobody translates. */
const SAME = /^(IBAN|BIC|CUIL|CURP|SKU|Bank|Banka)$/;

describe.each(OTHERS)('%s', (language) => {
  const messages: Messages = LANGUAGES[language];
  const all = sentences(messages);

  test('says everything, and nothing else', () => {
    const keys = (of: Messages) =>
      [...sentences(of).keys()].filter((path) => !isPlural(path) && !path.startsWith('asked/'));
    expect(keys(messages)).toEqual(keys(en));
    expect(Object.keys(messages.fieldLabels).toSorted()).toEqual([...ASKED].toSorted());
  });

  test('says it in its own words', () => {
    const english = sentences(en);
    for (const [path, sentence] of all) {
      const original = path.startsWith('asked/') ? path.slice('asked/'.length) : english.get(path);
      if (sentence === original) expect(sentence, path).toMatch(SAME);
    }
  });

  test('has the same places for values', () => {
    const english = sentences(en);
    for (const [path, sentence] of all) {
      if (!isPlural(path)) expect(places(sentence), path).toEqual(places(english.get(path) ?? ''));
    }
  });

  test('has a form for every way it counts', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    expect(Object.keys(messages.checkMarked).toSorted()).toEqual([...pluralCategories].toSorted());
    for (const [category, sentence] of Object.entries(messages.checkMarked)) {
      const expected = ['one', 'two'].includes(category) && places(sentence).length === 0 ? [] : ['{count}'];
      expect(places(sentence), category).toEqual(expected);
    }
  });

  test('is written with care: no blank at an end, no double blank, whole sentences end', () => {
    for (const [path, sentence] of all) {
      expect(sentence, path).toBe(sentence.trim());
      expect(sentence, path).not.toMatch(/ {2}|\.\.\.|"|'/);
      // Thai has no full stop.
      if (path.endsWith('How') && language !== 'th' && !path.endsWith('PausedHow'))
        expect(sentence, path).toMatch(/\.$/);
    }
  });
});

test('Arabic is written in Arabic letters, Thai in Thai ones, Serbian in Latin ones', () => {
  const letters = { ar: /\p{Script=Arabic}/u, th: /\p{Script=Thai}/u };
  for (const [language, script] of Object.entries(letters)) {
    for (const [path, sentence] of sentences(LANGUAGES[language as Language])) {
      if (!SAME.test(sentence)) expect(sentence, path).toMatch(script);
    }
  }
  for (const [path, sentence] of sentences(LANGUAGES.sr)) expect(sentence, path).not.toMatch(/\p{Script=Cyrillic}/u);
});
