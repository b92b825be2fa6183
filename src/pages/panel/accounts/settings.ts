/** The form fields of account settings, from the settings table, and what a submitted form changes. */

import type { KeyFacts } from '../../../core/accounts/secret-settings.ts';
import type { Account } from '../../../core/context.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isObject } from '../../../lib/text/json.ts';
import { COUNTRIES } from '../../../rules/countries.ts';
import {
  isSecretSetting,
  SETTING_NAMES,
  SETTINGS,
  type SettingInput,
  type SettingName,
} from '../../../rules/settings.ts';
import { localeFor } from '../../locale.ts';
import { choiceField, field } from '../frame/parts.ts';
import { isEdited } from '../frame/shown.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
import { keyField, sentKey } from './key-fields.ts';
import { isList, type ListFieldOptions, listField, listValueName, withLists } from './lists.ts';
import { languageChoices, pairField, pairLines, withPairs } from './pair-settings.ts';

const text = panelTexts.accounts;
const { settings } = panelTexts;

/** The value of a setting as the text of its input. */
export function inputText(value: unknown): string {
  if (Array.isArray(value) && value.some(isObject)) return JSON.stringify(value, null, 2);
  if (Array.isArray(value)) return value.join('\n');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${one}`)
      .join('\n');
  }
  return String(value);
}

export const lines = (value: string): string[] =>
  value
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The value that the text of an input stands for; the settings table checks it. */
export function settingValue(input: SettingInput, value: string): unknown {
  if (input === 'flag') return value === 'true';
  if (input === 'number') return /^\d+$/.test(value.trim()) ? Number(value) : value;
  if (input === 'list') return lines(value);
  if (input === 'pairs') {
    return Object.fromEntries(lines(value).map((line) => line.split(/:\s*/, 2).concat('').slice(0, 2)));
  }
  if (input === 'json') return parsedOr(value);
  return normalise(value).trim();
}

/** An empty text is an empty list; JSON that cannot be read stays a text, which the settings table refuses. */
function parsedOr(value: string): unknown {
  if (value.trim() === '') return [];
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Browsers send line breaks of a text area as CRLF. */
const normalise = (value: string): string => value.replaceAll('\r\n', '\n');

/** Whether a form changes a setting. A secret is never in the form: it changes if one was typed, or is to be removed. */
function isChanged(
  { settings }: Pick<Account, 'settings'>,
  form: ReadonlyMap<string, string>,
  name: SettingName,
): boolean {
  if (isSecretSetting(name)) return sentKey(name, form) !== undefined;
  return isEdited(form, name, inputText(settings[name]));
}

/** The settings that a form changes, with their new values; the settings table checks them. */
export const changedSettings = (
  account: Pick<Account, 'settings'>,
  form: ReadonlyMap<string, string>,
): Partial<Record<SettingName, unknown>> =>
  Object.fromEntries(
    SETTING_NAMES.filter((name) => isChanged(account, form, name)).map((name) => [
      name,
      isSecretSetting(name) ? sentKey(name, form) : settingValue(SETTINGS[name].input, form.get(name) ?? ''),
    ]),
  );

/** The fields of lists and rows, composed to the texts of their settings. */
export const withComposed = (form: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  withPairs(withLists(form));

export interface SettingFieldOptions extends ListFieldOptions {
  /** What follows the field. */
  after?: Html | undefined;
  /** What may be shown about a key. */
  key?: KeyFacts | undefined;
}

const textArea = (value: string) => (attributes: Html) =>
  html`<textarea ${attributes} rows="3" spellcheck="false">${value}</textarea>`;

const inputOf = (name: SettingName): SettingInput => SETTINGS[name].input;

/** The choices of a setting with their names; undefined if its value is typed. */
function choicesOf(name: SettingName, value: string): readonly (readonly [string, string])[] | undefined {
  const input = inputOf(name);
  if (input === 'flag') {
    return [
      ['true', text.yes],
      ['false', text.no],
    ];
  }
  if (typeof input === 'object') return input.map((choice) => [choice, settings.choices[name]?.[choice] ?? choice]);
  if (name === 'locale') {
    const languages = languageChoices();
    const isListed = value === '' || languages.some(([language]) => language === value);
    return [['', settings.browserLanguage], ...languages, ...(isListed ? [] : [[value, languageName(value)] as const])];
  }
  if (name === 'wallets.wallet-a.country') return [['', settings.noCountry], ...countryChoices()];
  return undefined;
}

const languageName = (tag: string): string => new Intl.DisplayNames(languageTag(), { type: 'language' }).of(tag) ?? tag;

export function countryChoices(): [string, string][] {
  const { formatCountry } = localeFor(languageTag(), undefined);
  return [...COUNTRIES]
    .map((code): [string, string] => [code, formatCountry(code)])
    .toSorted(([, a], [, b]) => a.localeCompare(b, languageTag()));
}

/** One setting with its name, its explanation and its error. */
export function settingField(name: SettingName, options: SettingFieldOptions): Html {
  const { value, error, after, key } = options;
  if (isList(name)) return html`${listField(name, options)}${after}`;
  const rows = pairField(name, value, error);
  if (rows) return html`${rows}${after}`;
  const shared = { name, label: settings.names[name], value, hint: settings.hints[name], error };
  const choices = choicesOf(name, value);
  if (choices) return html`${choiceField(shared, choices)}${after}`;
  const input = inputOf(name);
  if (input === 'pem') return keyField(name, shared, key, Date.now());
  if (input === 'list' || input === 'pairs' || input === 'json') return html`${field(shared, textArea(value))}${after}`;
  const attributes = html`autocomplete="off"${input === 'number' && html` inputmode="numeric"`}`;
  return html`${field({ ...shared, attributes })}${after}`;
}

/** The value of a setting for those who may not change it. */
export function settingText(name: SettingName, account: Account): Html | string {
  const value = inputText(account.settings[name]);
  if (isSecretSetting(name)) return value === '' ? settings.notSet : settings.secretSet;
  if (isList(name)) {
    const names = lines(value).map((one) => listValueName(name, one, account));
    return names.length === 0 ? settings.list.all : names.join(', ');
  }
  if (value === '') return settings.notSet;
  if (inputOf(name) === 'pairs') return pairLines(value);
  const chosen = choicesOf(name, value)?.find(([one]) => one === value);
  if (chosen) return chosen[1];
  return inputOf(name) === 'pem' ? settings.secretSet : html`<span class="pre">${value}</span>`;
}
