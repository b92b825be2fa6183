/** The locale of a payer: chooses the language, and formats messages, plurals, durations and amounts. */
import { type Amount, DIGITS, formatAmount } from './amount.ts';
import { LANGUAGES, type Language, type Messages, type Plural } from './locales/index.ts';

export interface Locale {
  /** The BCP 47 tag: the language, and the region if the payer's browser names one. */
  tag: string;
  direction: 'ltr' | 'rtl';
  messages: Messages;
  /** Replaces the placeholders of a message, such as `{amount}`. */
  formatMessage(message: string, values: Readonly<Record<string, string>>): string;
  /** Formats a message in the plural form of the count. */
  formatPlural(forms: Plural, count: number): string;
  /** Formats a duration in hours, minutes or seconds. */
  formatDuration(ms: number): string;
  formatAmount(amount: Amount): string;
  /** Formats a count of days, weeks or months. */
  formatInterval(unit: string, count: number): string;
  formatDate(at: number): string;
  /** The name of a country. */
  formatCountry(code: string): string;
  /** Formats a date with its time, in UTC. */
  formatDateTime(at: number): string;
  formatCount(count: number): string;
}

const MAX_HEADER_LENGTH = 500;

/** The language tags of an `Accept-Language` header, by descending quality. */
function acceptedTags(header: string): string[] {
  const tags = header
    .slice(0, MAX_HEADER_LENGTH)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(/\s*;\s*/);
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return { tag, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    });
  return tags
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
}

const DEFAULT_TAG = 'en';

/** The script of the messages in languages that are written in several. */
const SCRIPTS: Readonly<Record<string, string>> = { sr: 'Latn', zh: 'Hans' };

const MAX_CACHED = 200;

/**
 * Creating a format costs more than rendering a page, and the first one of a language many times more, while all other
 * requests wait. So formats are cached, and created only when a page shows such a value.
 */
function memoize<Value>(create: (name: string) => Value): (name?: string) => Value {
  const values = new Map<string, Value>();
  return (name = '') => {
    if (values.has(name)) return values.get(name) as Value;
    if (values.size >= MAX_CACHED) values.clear();
    const value = create(name);
    values.set(name, value);
    return value;
  };
}

/** The supported language of a tag, with its region; undefined if there are no messages in this language. */
const supportedTag = memoize((tag): string | undefined => {
  let locale: Intl.Locale;
  try {
    locale = new Intl.Locale(tag);
  } catch {
    return undefined;
  }
  const { region } = locale;
  // Browsers that send `no` mean Bokmål nearly always.
  const language = locale.language === 'no' ? 'nb' : locale.language;
  if (!Object.hasOwn(LANGUAGES, language)) return undefined;
  return [language, SCRIPTS[language], region].filter(Boolean).join('-');
});

const localeOf = memoize(createLocale);

/** A language with the region of the browser, if the browser speaks it: amounts are written as there. */
const withRegion = (language: string, accepted: readonly string[]): string =>
  accepted.find((tag) => supportedTag(tag)?.split('-', 1)[0] === language) ?? language;

/** The language that the payer chose, else that of the account, else the first supported one of the browser, else English. */
export function localeFor(accountLocale: string, acceptLanguage: string | undefined, chosen = ''): Locale {
  const accepted = acceptedTags(acceptLanguage ?? '');
  for (const candidate of [withRegion(chosen, accepted), accountLocale, ...accepted]) {
    const tag = supportedTag(candidate);
    if (tag !== undefined) return localeOf(tag);
  }
  return localeOf(DEFAULT_TAG);
}

/** The first formats of a process load the data of the runtime, for which all requests would wait. */
export function loadFormats(): void {
  const locale = createLocale(DEFAULT_TAG);
  locale.formatAmount({ amount: 1n, currency: 'EUR' });
  locale.formatDate(0);
  locale.formatDuration(0);
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Two hours or more are rounded down to hours; less is rounded up to minutes or seconds. */
function toUnit(ms: number): [unit: 'hour' | 'minute' | 'second', count: number] {
  if (ms >= 2 * HOUR) return ['hour', Math.floor(ms / HOUR)];
  if (ms >= MINUTE) return ['minute', Math.ceil(ms / MINUTE)];
  return ['second', Math.max(0, Math.ceil(ms / 1000))];
}

function createLocale(tag: string): Locale {
  const language = tag.split('-')[0] as Language;
  const direction = language === 'ar' ? 'rtl' : 'ltr';
  const plural = memoize(() => new Intl.PluralRules(tag));
  const number = memoize(() => new Intl.NumberFormat(tag, DIGITS));
  const units = memoize((unit) => new Intl.NumberFormat(tag, { ...DIGITS, style: 'unit', unit, unitDisplay: 'long' }));
  // Dates are in UTC, like those of the API, and in the calendar of the dates on cards.
  const dateOptions = { ...DIGITS, calendar: 'gregory', dateStyle: 'long', timeZone: 'UTC' } as const;
  const dates = memoize(() => new Intl.DateTimeFormat(tag, dateOptions));
  const times = memoize(() => new Intl.DateTimeFormat(tag, { ...dateOptions, timeStyle: 'short' }));
  const countries = memoize(() => new Intl.DisplayNames(tag, { type: 'region' }));
  const formatMessage: Locale['formatMessage'] = (message, values) =>
    message.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name] ?? '';
      // Isolates a left-to-right value, so that it does not change the direction of the sentence.
      return direction === 'rtl' ? `\u2068${value}\u2069` : value;
    });
  return {
    tag,
    direction,
    messages: LANGUAGES[language],
    formatMessage,
    formatPlural: (forms, count) =>
      formatMessage(forms[plural().select(count)] ?? forms.other, { count: number().format(count) }),
    formatDuration(ms) {
      const [unit, count] = toUnit(ms);
      return units(unit).format(count);
    },
    formatInterval: (unit, count) => units(unit).format(count),
    formatDate: (at) => dates().format(at),
    formatCountry: (code) => countries().of(code) ?? code,
    formatDateTime: (at) => `${times().format(at)} UTC`,
    formatCount: (count) => number().format(count),
    formatAmount: (amount) => formatAmount(tag, amount, 'symbol'),
  };
}
