/** The languages of the panel: every text exists in each, with the same placeholders, and none was left in English. */
import { expect, test } from 'vitest';
import { inLanguage, PANEL_LANGUAGES, panelTag, panelTexts } from '../../src/pages/panel/locales/index.ts';

type Texts = Readonly<Record<string, unknown>>;

function flat(texts: Texts, path = ''): [string, string][] {
  return Object.entries(texts).flatMap(([key, value]): [string, string][] => {
    if (typeof value === 'function') return [[path + key, value(1, 2)]];
    return typeof value === 'string' ? [[path + key, value]] : flat(value as Texts, `${path}${key}.`);
  });
}

const { en, ...others } = PANEL_LANGUAGES;
const english = new Map(flat(en));
const placeholders = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).toSorted();

test.each(Object.entries(others))('%s has every text and every placeholder', (_, texts) => {
  const translated = new Map(flat(texts));
  expect([...translated.keys()].toSorted()).toEqual([...english.keys()].toSorted());
  for (const [key, text] of translated) {
    expect(text.trim(), key).not.toBe('');
    expect(placeholders(text), key).toEqual(placeholders(english.get(key) as string));
  }
});

test.each(Object.entries(others))('%s is translated: no sentence is the English one', (_, texts) => {
  const same = flat(texts).filter(([key, text]) => text.includes(' ') && text.length > 24 && text === english.get(key));
  expect(same).toEqual([]);
});

test.each([
  ['de', 'fr', 'de'],
  [null, 'de-AT,en;q=0.5', 'de-AT'],
  [null, 'ja,fr;q=0.8', 'fr'],
  [null, 'ja', 'en'],
  [undefined, undefined, 'en'],
])('the choice %j and the browser %j give %s', (chosen, header, tag) => {
  expect(panelTag(chosen, header)).toBe(tag);
});

test('texts follow the language of the request', () => {
  const { sections } = panelTexts;
  expect(sections.payments).toBe('Payments');
  expect(inLanguage('de-AT', () => sections.payments)).toBe('Zahlungen');
});
