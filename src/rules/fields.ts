/** The fields of requests as rows: how each value is checked, and the sentence that says what was expected. */
import { isIP } from 'node:net';
import { isUuid } from '../lib/id.ts';
import { minorUnits } from '../lib/money.ts';
import { CURRENCIES } from './currencies.ts';
import type { Problem } from './errors.ts';
import { LIMITS } from './limits.ts';

export const SENTENCES = {
  blank: 'This value should not be blank.',
  invalid: 'This value is not valid.',
  notPositive: 'This value should be greater than 0.',
  notAChoice: 'The value you selected is not a valid choice.',
  notUuid: 'This is not a valid UUID.',
  notUrl: 'This value is not a valid URL.',
  notSingle: 'This value should be a single text, not a list or an object.',
  tooLong: (most: number) => `This value is too long. It should have ${most} characters or less.`,
  tooShort: (least: number) => `This value is too short. It should have ${least} characters or more.`,
} as const;

/** What a check may look at besides the value itself. */
export interface FieldContext {
  value(name: string): string;
  /** The account's setting of this name, which is a list. */
  list(setting: string): readonly string[];
  /** Whether plain http addresses are acceptable, as they are in the sandbox. */
  allowsHttp: boolean;
}

/** Says what is wrong with a value that is present, or nothing. */
export type Check = (value: string, context: FieldContext) => string | undefined;

export interface Field {
  name: string;
  /** `must` is required, `may` is optional, `ask` is collected from the payer when it is not sent. */
  need: 'must' | 'may' | 'ask';
  check: Check;
  /** For people: what the check expects. */
  expects: string;
}

/** A kind of value: how it is checked and how the docs describe it. */
export type Kind = Pick<Field, 'check' | 'expects'>;

export const must = (name: string, kind: Kind): Field => ({ name, need: 'must', ...kind });
export const may = (name: string, kind: Kind): Field => ({ name, need: 'may', ...kind });
export const ask = (name: string, kind: Kind): Field => ({ name, need: 'ask', ...kind });

export const anyText: Kind = { check: () => undefined, expects: 'text' };

export const text = (least: number, most: number): Kind => ({
  check: (value) =>
    value.length > most ? SENTENCES.tooLong(most) : value.length < least ? SENTENCES.tooShort(least) : undefined,
  expects: `text of ${least} to ${most} characters`,
});

// Control, format, private and unassigned characters and line separators are not visible; spaces only inside.
const VISIBLE = /^[^\s\p{C}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\s\p{C}])?$/u;

export const orderId: Kind = {
  check: (value) =>
    value.length > LIMITS.orderIdLength
      ? SENTENCES.tooLong(LIMITS.orderIdLength)
      : VISIBLE.test(value)
        ? undefined
        : SENTENCES.invalid,
  expects: `1 to ${LIMITS.orderIdLength} visible characters, spaces only inside`,
};

/** An amount is judged by the exponent of its currency, which stands in another field. */
export const amount = (currencyField: string): Kind => ({
  check: (value, context) => {
    const exponent = CURRENCIES[context.value(currencyField)]?.exponent ?? 2;
    const units = minorUnits(value, exponent);
    return units === 'malformed' ? SENTENCES.invalid : units === 'zero' ? SENTENCES.notPositive : undefined;
  },
  expects: 'decimal with two fraction digits, or with as many as the currency has; greater than 0',
});

export const currency: Kind = {
  check: (value) => (CURRENCIES[value] ? undefined : SENTENCES.notAChoice),
  expects: 'ISO 4217 code in capitals',
};

export const ipAddress: Kind = {
  check: (value) => (isIP(value) && !value.includes('%') ? undefined : SENTENCES.invalid),
  expects: 'IPv4 or IPv6 address',
};

export const uuid: Kind = {
  check: (value) => (isUuid(value) ? undefined : SENTENCES.notUuid),
  expects: 'UUID',
};

export const yesNo: Kind = {
  check: (value) => (value === 'Y' || value === 'N' ? undefined : SENTENCES.notAChoice),
  expects: '`Y` or `N`',
};

export const oneOf = (choices: readonly string[]): Kind => ({
  check: (value) => (choices.includes(value) ? undefined : SENTENCES.notAChoice),
  expects: `one of ${choices.map((choice) => `\`${choice}\``).join(', ')}`,
});

/** One of the values that the account's settings list. */
export const listedIn = (...settings: readonly string[]): Kind => ({
  check: (value, context) =>
    settings.some((setting) => context.list(setting).includes(value)) ? undefined : SENTENCES.notAChoice,
  expects: `a value from the account settings ${settings.map((setting) => `\`${setting}\``).join(' and ')}`,
});

export const wholeNumber = (least: number, most: number): Kind => ({
  check: (value) =>
    /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most ? undefined : SENTENCES.invalid,
  expects: `whole number from ${least} to ${most}`,
});

// The parser drops line breaks and adds slashes, but the text itself is what a payer is sent to later.
const WEB_ADDRESS = /^https?:\/\/\P{Cc}+$/iu;

/** An absolute web address; plain http only where the sandbox allows it. */
export const webAddress: Kind = {
  check: (value, context) => {
    const url = WEB_ADDRESS.test(value) ? URL.parse(value) : null;
    const isWeb = url?.protocol === 'https:' || (url?.protocol === 'http:' && context.allowsHttp);
    return url && isWeb && url.username === '' && url.password === '' ? undefined : SENTENCES.notUrl;
  },
  expects: 'absolute https address (http too in the sandbox)',
};

/** Adds everything that is wrong with the fields of these rows to `problems`, in the order of the rows. */
export function checkFields(fields: readonly Field[], context: FieldContext, problems: Problem[]): void {
  for (const { name, need, check } of fields) {
    const value = context.value(name);
    const sentence = value === '' ? (need === 'must' ? SENTENCES.blank : undefined) : check(value, context);
    if (sentence !== undefined) problems.push({ field: name, sentence });
  }
}
