/** The texts of the panel in the language of the request that is being answered. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { localeFor } from '../../locale.ts';
import { de } from './de.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { english as en, type PanelTexts } from './texts.ts';

export type { PanelTexts } from './texts.ts';

export const PANEL_LANGUAGES = { en, de, fr, es } as const satisfies Record<string, PanelTexts>;
export type PanelLanguage = keyof typeof PANEL_LANGUAGES;

export const PANEL_TAGS = Object.keys(PANEL_LANGUAGES) as PanelLanguage[];

const current = new AsyncLocalStorage<string>();

/** The language tag of the request, such as `en` or `de-AT`. */
export const languageTag = (): string => current.getStore() ?? 'en';

const languageOf = (tag: string): PanelLanguage | undefined => PANEL_TAGS.find((one) => one === tag.split('-')[0]);

/** The language that the operator chose, else the first one of the browser that the panel has, else English. */
export function panelTag(chosen: string | null | undefined, acceptLanguage: string | undefined): string {
  const candidates = [chosen ?? '', ...(acceptLanguage ?? '').split(',').map((part) => part.split(';')[0] as string)];
  const first = candidates.map((tag) => tag.trim()).find((tag) => languageOf(tag.toLowerCase()) !== undefined);
  return localeFor(first ?? 'en', undefined).tag;
}

/** Answers a request in a language. */
export const inLanguage = <Result>(tag: string, work: () => Result): Result => current.run(tag, work);

/** A view of a part of the English texts whose values are those of the language of the request. */
function follow<Node extends object>(english: Node, find: () => Node): Node {
  const parts = new Map<PropertyKey, object>();
  return new Proxy(english, {
    get(_, key) {
      const value: unknown = Reflect.get(find(), key);
      if (typeof value !== 'object' || value === null) return value;
      const part =
        parts.get(key) ?? follow(Reflect.get(english, key) as object, () => Reflect.get(find(), key) as object);
      parts.set(key, part);
      return part;
    },
  });
}

/** The texts are read while a page is written: a module that copies one keeps it in English. */
export const panelTexts: PanelTexts = follow<PanelTexts>(en, () => PANEL_LANGUAGES[languageOf(languageTag()) ?? 'en']);
