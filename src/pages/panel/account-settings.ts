/** The form fields of account settings, from the settings table, and what a submitted form changes. */
import type { Account } from '../../core/context.ts';
import type { KeyFacts } from '../../core/wallet-keys.ts';
import { type Html, html } from '../../lib/html.ts';
import { isSecretSetting, SETTING_NAMES, SETTINGS, type SettingInput, type SettingName } from '../../rules/settings.ts';
import { keyField, sentKey } from './key-fields.ts';
import { en } from './locales/en.ts';
import { choiceField, field } from './parts.ts';

const text = en.accounts;

/** The value of a setting as the text of its input. */
export function inputText(value: unknown): string {
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
  return normalise(value).trim();
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
  return form.has(name) && normalise(form.get(name) ?? '') !== inputText(settings[name]);
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

export interface SettingFieldOptions {
  value: string;
  error?: string | undefined;
  /** What follows the field. */
  after?: Html | undefined;
  /** What may be shown about a key. */
  key?: KeyFacts | undefined;
}

const textArea = (value: string) => (attributes: Html) =>
  html`<textarea ${attributes} rows="3" spellcheck="false">${value}</textarea>`;

/** One setting with its label, its explanation and its error. */
export function settingField(name: SettingName, { value, error, after, key }: SettingFieldOptions): Html {
  const { about: hint, input }: { about: string; input: SettingInput } = SETTINGS[name];
  const options = { name, label: text.settings[name] ?? name, value, hint, error };
  const choices: readonly (readonly [string, string])[] | undefined =
    input === 'flag'
      ? [
          ['true', text.yes],
          ['false', text.no],
        ]
      : typeof input === 'object'
        ? input.map((choice) => [choice, choice] as const)
        : undefined;
  if (choices) return html`${choiceField(options, choices)}${after}`;
  if (input === 'pem') return keyField(name, options, key, Date.now());
  if (input === 'list' || input === 'pairs') return html`${field(options, textArea(value))}${after}`;
  const attributes = html`autocomplete="off"${input === 'number' && html` inputmode="numeric"`}`;
  return html`${field({ ...options, attributes })}${after}`;
}
