/** How a payer is spoken to: in which language, and how it writes words, numbers, times and amounts. */
import type { WholePayment } from '../core/context.ts';
import { amountText } from '../lib/money.ts';
import { CURRENCIES } from '../rules/currencies.ts';
import { LANGUAGES, type Language, type Messages, type Plural } from './locales/index.ts';

export interface Locale {
  /** For the browser: the language, with the region that the payer named. */
  tag: string;
  direction: 'ltr' | 'rtl';
  messages: Messages;
  /** Puts values into the places that a sentence has for them. */
  translate(sentence: string, values: Readonly<Record<string, string>>): string;
  /** Says a sentence in the form that fits the count. */
  count(forms: Plural, count: number): string;
  /** A time in the unit that people would say it in. */
  time(ms: number): string;
  amount(payment: Pick<WholePayment, 'amount' | 'currency'>): string;
}

const LONGEST_HEADER = 500;

/** The languages that a browser asks for, the most wanted first. */
function wantedTags(header: string): string[] {
  const wanted = header
    .slice(0, LONGEST_HEADER)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(/\s*;\s*/);
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return { tag, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    });
  return wanted
    .filter(({ quality }) => quality > 0)
    .toSorted((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag);
}

interface LocaleTraits {
  language: Language;
  tag: string;
}

const ENGLISH: LocaleTraits = { language: 'en', tag: 'en' };

/** The locale behind a tag that we have words for; a region falls back to its language. */
function localeOf(tag: string): LocaleTraits | undefined {
  if (tag === '') return undefined;
  let locale: Intl.Locale;
  try {
    locale = new Intl.Locale(tag);
  } catch {
    return undefined;
  }
  const { language, region } = locale;
  if (!Object.hasOwn(LANGUAGES, language)) return undefined;
  const script = language === 'sr' ? ['Latn'] : [];
  return { language: language as Language, tag: [language, ...script, ...(region ? [region] : [])].join('-') };
}

const spoken = new Map<string, Locale>();
const REMEMBERED_MOST = 200;

/** The account's language if it has one, else the first of the browser's that we speak, else English. */
export function localeFor(accountLocale: string, acceptLanguage: string | undefined): Locale {
  const tags = [accountLocale, ...wantedTags(acceptLanguage ?? '')];
  const { language, tag } =
    tags.reduce<LocaleTraits | undefined>((found, one) => found ?? localeOf(one), undefined) ?? ENGLISH;
  const known = spoken.get(tag);
  if (known) return known;
  if (spoken.size >= REMEMBERED_MOST) spoken.clear();
  const locale = localeIn(language, tag);
  spoken.set(tag, locale);
  return locale;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Hours are told only when there are several, and rounded down; a minute or a second that has begun counts. */
function inUnits(ms: number): [unit: 'hour' | 'minute' | 'second', count: number] {
  if (ms >= 2 * HOUR) return ['hour', Math.floor(ms / HOUR)];
  if (ms >= MINUTE) return ['minute', Math.ceil(ms / MINUTE)];
  return ['second', Math.max(0, Math.ceil(ms / 1000))];
}

const exponentOf = (currency: string): number => CURRENCIES[currency]?.exponent ?? 2;

/** To make a format costs more than to write a page with it, so each is made once. */
function remembering(make: (name: string) => Intl.NumberFormat): (name: string) => Intl.NumberFormat {
  const made = new Map<string, Intl.NumberFormat>();
  return (name) => {
    const known = made.get(name) ?? make(name);
    made.set(name, known);
    return known;
  };
}

function localeIn(language: Language, tag: string): Locale {
  const direction = language === 'ar' ? 'rtl' : 'ltr';
  const plural = new Intl.PluralRules(tag);
  const number = new Intl.NumberFormat(tag);
  const units = remembering((unit) => new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'long' }));
  const currencies = remembering((currency) => {
    // The digits after the point are those of the currency itself, whatever the runtime believes.
    const digits = exponentOf(currency);
    const traits = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return new Intl.NumberFormat(tag, { style: 'currency', currency, currencyDisplay: 'code', ...traits });
  });
  const translate: Locale['translate'] = (sentence, values) =>
    sentence.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name] ?? '';
      // A name or a number from left to right must not turn the sentence around it.
      return direction === 'rtl' ? `\u2068${value}\u2069` : value;
    });
  return {
    tag,
    direction,
    messages: LANGUAGES[language],
    translate,
    count: (forms, count) => translate(forms[plural.select(count)] ?? forms.other, { count: number.format(count) }),
    time(ms) {
      const [unit, count] = inUnits(ms);
      return units(unit).format(count);
    },
    amount: ({ amount, currency }) =>
      // The text itself is formatted, digit by digit; it never becomes a number that could round.
      currencies(currency).format(amountText(amount, exponentOf(currency)) as unknown as number),
  };
}
