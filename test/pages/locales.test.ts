/** Every language has all messages, translated, with the same placeholders and its own plural forms. */
import { describe, expect, test } from 'vitest';
import { LANGUAGES, type Language, type Messages } from '../../src/pages/locales/index.ts';
import { BRANDS } from '../../src/rules/brands.ts';
import { REASONS } from '../../src/rules/reasons.ts';

const { en } = LANGUAGES;
const OTHERS = (Object.keys(LANGUAGES) as Language[]).filter((language) => language !== 'en');

/** Every message by its path; each plural form has a path of its own. */
function messagesByPath(messages: Messages): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'string') found.set(path, value);
    else for (const [key, inner] of Object.entries(value as object)) walk(inner, path === '' ? key : `${path}/${key}`);
  };
  walk(messages, '');
  return found;
}

const isPlural = (path: string): boolean => path.startsWith('checkMarked/');
const placeholders = (sentence: string): string[] => (sentence.match(/\{\w+\}/g) ?? []).toSorted();

/** The labels and hints of every field that a payment page can contain. */
const FIELD_LABELS = new Set(
  Object.values(BRANDS)
    .filter(({ isPayout, needsToken }) => !isPayout && !needsToken)
    .flatMap(({ fields }) => fields)
    .filter(({ need, by, isSetting, default: known, name }) => {
      // Checkout never asks for what only the merchant knows; a sale may lead to a page that does.
      const isAsked = need === 'ask' || (need === 'must' && by !== 'merchant');
      return isAsked && !isSetting && known === undefined && !name.startsWith('order_');
    })
    .flatMap(({ name, label, hint }) => [label ?? `no label for ${name}`, ...(hint ? [hint] : [])]),
);

test('the supported languages', () => {
  expect(Object.keys(LANGUAGES).join(' ')).toBe(
    'en es pt fr de tr sr vi th ar it nl pl cs ro sv da nb fi hu ru uk bg el hr ja ko zh id hi',
  );
});

test('every field of a payment page has a label', () => {
  expect([...FIELD_LABELS].filter((label) => label.startsWith('no label'))).toEqual([]);
});

test('every decline reason of the gateway has a message', () => {
  expect(Object.keys(en.reasons).toSorted()).toEqual(Object.keys(REASONS).toSorted());
});

/** Messages that are the same in several languages. */
const SAME = /^(IBAN|BIC|CUIL|CURP|SKU|Bank|Banka|Total|Subtotal|Card|Interval|Privacy|Name)$/;

describe.each(OTHERS)('%s', (language) => {
  const messages: Messages = LANGUAGES[language];
  const all = messagesByPath(messages);

  test('has exactly the keys of English', () => {
    const keys = (of: Messages) =>
      [...messagesByPath(of).keys()].filter((path) => !isPlural(path) && !path.startsWith('fieldLabels/'));
    expect(keys(messages)).toEqual(keys(en));
    expect(Object.keys(messages.fieldLabels).toSorted()).toEqual([...FIELD_LABELS].toSorted());
  });

  test('translates every message', () => {
    const english = messagesByPath(en);
    for (const [path, sentence] of all) {
      const original = path.startsWith('fieldLabels/') ? path.slice('fieldLabels/'.length) : english.get(path);
      if (sentence === original) expect(sentence, path).toMatch(SAME);
    }
  });

  test('has the placeholders of English', () => {
    const english = messagesByPath(en);
    for (const [path, sentence] of all) {
      if (!isPlural(path)) expect(placeholders(sentence), path).toEqual(placeholders(english.get(path) ?? ''));
    }
  });

  test('has every plural form of the language', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    expect(Object.keys(messages.checkMarked).toSorted()).toEqual([...pluralCategories].toSorted());
    for (const [category, sentence] of Object.entries(messages.checkMarked)) {
      const expected = ['one', 'two'].includes(category) && placeholders(sentence).length === 0 ? [] : ['{count}'];
      expect(placeholders(sentence), category).toEqual(expected);
    }
  });

  test('has no extra spaces or straight quotes, and sentences end with a full stop', () => {
    for (const [path, sentence] of all) {
      expect(sentence, path).toBe(sentence.trim());
      expect(sentence, path).not.toMatch(/ {2}|\.\.\.|"|'/);
      // Thai has no full stop.
      if (path.endsWith('How') && language !== 'th' && !path.endsWith('PausedHow'))
        expect(sentence, path).toMatch(/[.。।]$/);
    }
  });
});

test('languages with a script of their own use it, Serbian uses Latin letters', () => {
  const cyrillic = /\p{Script=Cyrillic}/u;
  const letters = {
    ar: /\p{Script=Arabic}/u,
    th: /\p{Script=Thai}/u,
    ru: cyrillic,
    uk: cyrillic,
    bg: cyrillic,
    el: /\p{Script=Greek}/u,
    ja: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
    ko: /\p{Script=Hangul}/u,
    zh: /\p{Script=Han}/u,
    hi: /\p{Script=Devanagari}/u,
  };
  for (const [language, script] of Object.entries(letters)) {
    for (const [path, sentence] of messagesByPath(LANGUAGES[language as Language])) {
      if (!SAME.test(sentence)) expect(sentence, path).toMatch(script);
    }
  }
  for (const [path, sentence] of messagesByPath(LANGUAGES.sr))
    expect(sentence, path).not.toMatch(/\p{Script=Cyrillic}/u);
});
