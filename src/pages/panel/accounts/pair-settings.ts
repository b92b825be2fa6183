/** Settings that map names to methods: their rows in a form, and the text of the setting that the rows stand for. */
import { type Html, html } from '../../../lib/text/html.ts';
import { BRAND_LABELS } from '../../../rules/brands.ts';
import type { SettingName } from '../../../rules/settings.ts';
import { localeFor } from '../../locale.ts';
import { LANGUAGES } from '../../locales/index.ts';
import { pairRows, submittedRows } from '../frame/pair-rows.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
import { FOR_PAYERS, methodName } from '../payments/methods.ts';

const text = panelTexts.settings;

type Form = ReadonlyMap<string, string>;
type Pair = [key: string, value: string];

/** Longer ones would be more fields than a form may have. */
const MOST_ROWS = 15;

const pairsOf = (value: string): Pair[] =>
  value
    .split('\n')
    .map((line) => line.split(/:\s*/, 2))
    .filter((pair): pair is Pair => pair.length === 2);

export const methodChoices = (labels = BRAND_LABELS): [string, string][] => [
  ['', text.pairs.none],
  ...labels.map((label): [string, string] => [label, methodName(label)]),
];

export function languageChoices(): [string, string][] {
  const names = new Intl.DisplayNames(languageTag(), { type: 'language' });
  return Object.keys(LANGUAGES)
    .map((language): [string, string] => [language, names.of(language) ?? language])
    .toSorted(([, a], [, b]) => a.localeCompare(b, localeFor(languageTag(), undefined).tag));
}

/** A method, perhaps a language, and a name: `bank-a.de: Überweisung`. */
const METHOD_NAMES = {
  columns: () => [
    { label: text.pairs.method, choices: methodChoices(FOR_PAYERS) },
    { label: text.pairs.language, choices: [['', text.pairs.anyLanguage], ...languageChoices()] as [string, string][] },
    { label: text.pairs.name },
  ],
  toRow: ([key, name]: Pair): string[] => {
    const [label = '', language = ''] = key.split('.', 2);
    return [label, language, name];
  },
  toLine: ([label = '', language = '', name = '']: string[]): string =>
    `${label}${language === '' ? '' : `.${language}`}: ${name}`,
};

/** A name in requests and the method that it stands for. */
const ALIASES = {
  columns: () => [{ label: text.pairs.alias }, { label: text.pairs.method, choices: methodChoices() }],
  toRow: (pair: Pair): string[] => pair,
  toLine: ([alias = '', label = '']: string[]): string => `${alias}: ${label}`,
};

/** A method and the minutes that its payers have. */
const MINUTES = {
  columns: () => [{ label: text.pairs.method, choices: methodChoices(FOR_PAYERS) }, { label: text.pairs.minutes }],
  toRow: (pair: Pair): string[] => pair,
  toLine: ([label = '', minutes = '']: string[]): string => `${label}: ${minutes}`,
};

const PAIRS = { method_names: METHOD_NAMES, brand_aliases: ALIASES, payer_minutes: MINUTES } as const;
const isPairs = (name: SettingName): name is keyof typeof PAIRS => Object.hasOwn(PAIRS, name);

/** A form that has the rows of such a setting has it as one text, too: one pair per line. */
export function withPairs(form: Form): Form {
  const composed = Object.entries(PAIRS).flatMap(([name, { toLine }]): [string, string][] => {
    const rows = submittedRows(form, name);
    return rows ? [[name, rows.map(toLine).join('\n')]] : [];
  });
  return new Map([...form, ...composed]);
}

/** The rows of the setting; undefined if it has no rows, or too many of them. */
export function pairField(name: SettingName, value: string, error: string | undefined): Html | undefined {
  if (!isPairs(name)) return undefined;
  const pairs = pairsOf(value);
  if (pairs.length > MOST_ROWS) return undefined;
  const { columns, toRow } = PAIRS[name];
  const hint = `${text.hints[name]} ${text.pairs.hint}`;
  return pairRows({ name, columns: columns(), rows: pairs.map(toRow), legend: text.names[name], hint, error });
}

/** The pairs for those who may not change them. */
export const pairLines = (value: string): Html =>
  html`${pairsOf(value).map(([key, name], index) => html`${index > 0 && html`<br>`}<code>${key}</code> ${name}`)}`;
