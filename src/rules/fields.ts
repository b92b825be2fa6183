/** Request fields as data: how each value is checked, and the error message that says what was expected. */
import { isIP } from 'node:net';
import { cardNumbersIn, LEAST_DIGITS } from '../lib/cards/search.ts';
import { isUuid } from '../lib/crypto/id.ts';
import { type AmountSpelling, minorUnits } from '../lib/money/money.ts';
import { CURRENCIES, exponentOf } from './currencies.ts';
import { DOCS } from './docs.ts';
import type { Problem } from './errors.ts';
import { expectation } from './expectation.ts';
import { LIMITS } from './limits.ts';

export const SENTENCES = {
  blank: 'This value should not be blank.',
  suspended: 'This account is suspended.',
  invalid: 'This value is not valid.',
  notPositive: 'This value should be greater than 0.',
  notAChoice: 'The value you selected is not a valid choice.',
  notUuid: 'This is not a valid UUID.',
  notUrl: 'This value is not a valid URL.',
  notSingle: 'This value should be a single text, not a list or an object.',
  notText: 'This value should be a text.',
  notAList: 'This value should be a list of objects.',
  notTexts: 'This value should be a list of texts.',
  noMethod: 'This value should have a method that the account offers for this order.',
  notAnObject: 'This value should be an object.',
  once: 'This value should be sent once.',
  notSet: 'This value should be set in the settings of the account.',
  spaces: 'This value should not contain spaces.',
  cardNumber: 'This value should not contain a card number.',
  notJson: 'This value should be a JSON object.',
  different: (other: string) => `This value should be the same as ${other}, or only one of them sent.`,
  monthsOnly: 'This value should be sent with interval_unit month only.',
  incomplete: (path: string) => `This value should have ${path}.`,
  tooLong: (most: number) => `This value is too long. It should have ${most} characters or less.`,
  tooMany: (most: number) => `This value should have ${most} entries or less.`,
  longNames: (most: number) => `The names in this value should have ${most} characters or less.`,
  tooShort: (least: number) => `This value is too short. It should have ${least} characters or more.`,
} as const;

/** What a check may read besides the value itself. */
export interface FieldContext {
  value(name: string): string;
  /** The indexes of a list that was sent as `name[0][…]`, `name[1][…]`. */
  positions(name: string): readonly string[];
  /** The account's setting of this name. */
  setting(name: string): unknown;
  /** Whether plain http addresses are acceptable, as they are in the sandbox. */
  allowsHttp: boolean;
  /** Whether a provider that may get the payment needs this field; without the function, every field is needed. */
  isNeededByProvider?: ((name: string) => boolean) | undefined;
  /** Whether callbacks may be sent to this private address; without the function, to none. */
  allowsAddress?: ((address: string) => boolean) | undefined;
}

/** Returns the error message for an invalid value; it is called for values that are present. */
export type Check = (value: string, context: FieldContext) => string | undefined;

/** A kind of value: its check, and its description for people and for machines. */
export interface Kind {
  check: Check;
  /** What the check expects, for the docs and for refusals. */
  expects: string;
  /** A valid value, for refusals; none where `expects` contains one. */
  example?: string;
  /** What the check expects in one request, where another field decides it. */
  expectsIn?: (context: FieldContext) => { expects: string; example: string };
  /** The section of the docs about this kind of value. */
  docs?: string;
  /** The same as JSON Schema, as far as it can be expressed. */
  schema: Readonly<Record<string, unknown>>;
  /** The value is an amount, which some accounts may send as a JSON number. */
  isAmount?: true;
}

/** The optional properties of a field. */
export interface FieldTraits {
  /** The field is required for payers from these countries only. */
  countries?: readonly string[];
  /** The field is required for payers from all countries except these. */
  exceptCountries?: readonly string[];
  /** The field is optional when the payer's country was not sent. */
  needsCountry?: true;
  /** Another accepted spelling of the name. */
  alias?: string;
  /** A valid value, for refusals, in place of that of the kind. */
  example?: string;
  /** The value when none was sent. */
  default?: string;
  /** The field is ignored unless this one is sent too. */
  with?: string;
  /** Only the merchant knows the value: a session that lacks it does not offer the brand. */
  by?: 'merchant';
  /** Some providers need the value and others do not: it is asked for if one that may get the payment needs it. */
  isForProvider?: true;
  /** The value is a setting of the account, not a field of the request. */
  isSetting?: true;
  /** Stored sealed and never displayed. */
  isSecret?: true;
  /** Used when the request is processed, and never stored or displayed. */
  isTransient?: true;
  /** The maximum length of a long value, which does not count towards the size limit of the body. */
  lengthMost?: number;
  /** The sub-methods of the brand for which the field is mandatory. */
  methods?: readonly string[];
  /** In JSON a number or a boolean is accepted as well as a string. */
  isLoose?: true;
  /** The label and the hint on the payment page in English; `src/pages/locales` has the other languages. */
  label?: string;
  hint?: string;
  /** The field is a list of objects with these members. */
  items?: readonly Field[];
}

export interface Field extends Kind, FieldTraits {
  name: string;
  /** `must`: required. `may`: optional. `ask`: the payment page asks the payer when it is not sent. */
  need: 'must' | 'may' | 'ask';
}

/** All properties of a field: objects that have the same ones in the same order are read several times faster. */
const SHAPE: Readonly<Record<keyof Field, undefined>> = {
  name: undefined,
  need: undefined,
  check: undefined,
  alias: undefined,
  default: undefined,
  with: undefined,
  isSetting: undefined,
  lengthMost: undefined,
  items: undefined,
  countries: undefined,
  exceptCountries: undefined,
  needsCountry: undefined,
  by: undefined,
  isForProvider: undefined,
  isSecret: undefined,
  isTransient: undefined,
  methods: undefined,
  isLoose: undefined,
  expects: undefined,
  example: undefined,
  expectsIn: undefined,
  docs: undefined,
  schema: undefined,
  isAmount: undefined,
  label: undefined,
  hint: undefined,
};

const row =
  (need: Field['need']) =>
  (name: string, kind: Kind, traits: FieldTraits = {}): Field =>
    ({ ...SHAPE, name, need, ...kind, ...traits }) as Field;

export const must = row('must');
export const may = row('may');
export const ask = row('ask');

export const anyText: Kind = { check: () => undefined, expects: 'text', schema: { type: 'string' } };

/** The error message for a text that is too long or too short; the length counts code points, not UTF-16 units. */
export function lengthProblem(value: string, least: number, most: number): string | undefined {
  const length = /[\ud800-\udbff]/.test(value) ? [...value].length : value.length;
  return length > most ? SENTENCES.tooLong(most) : length < least ? SENTENCES.tooShort(least) : undefined;
}

export const text = (least: number, most: number): Kind => ({
  check: (value) => lengthProblem(value, least, most),
  expects: least === most ? `text of ${most} characters` : `text of ${least} to ${most} characters`,
  schema: { type: 'string', minLength: least, maxLength: most },
});

// No control, format, private or unassigned characters, no line separators, no leading or trailing spaces.
const VISIBLE = /^[^\s\p{C}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\s\p{C}])?$/u;

export const orderId: Kind = {
  check: (value) =>
    lengthProblem(value, 1, LIMITS.orderIdLength) ?? (VISIBLE.test(value) ? undefined : SENTENCES.invalid),
  expects: `1 to ${LIMITS.orderIdLength} visible characters, spaces only inside`,
  example: 'order-1001',
  schema: { type: 'string', minLength: 1, maxLength: LIMITS.orderIdLength },
};

const DIGITS = ['no', 'one', 'two', 'three', 'four'];

/** The format of an amount in a currency; two fraction digits are accepted for every currency. */
function amountIn(code: string): { expects: string; example: string } {
  const exponent = exponentOf(code);
  const currency = CURRENCIES[code] ? ` for ${code}` : '';
  if (exponent === 0) return { expects: `whole number${currency}, greater than 0`, example: '1999' };
  return {
    expects: `decimal number with ${DIGITS[exponent]} fraction digits${currency}, greater than 0`,
    example: `19.${'9'.repeat(exponent)}`,
  };
}

/** What an amount in a currency has to look like, for refusals outside the field tables. */
export function expectedAmount(code: string): string {
  const { expects, example } = amountIn(code);
  return expectation(expects, example);
}

/** Whether an amount begins with needless zeros; amounts are returned, signed and exported as they were sent. */
export const hasExtraZeros = (text: string): boolean => /^0\d/.test(text);

const AMOUNT_PATTERN = '^(0|[1-9]\\d{0,11})(\\.\\d{2,3})?$';
const AMOUNT = new RegExp(AMOUNT_PATTERN);
/** A JSON number drops zeros at its end. */
const NUMBER_AMOUNT = /^(0|[1-9]\d{0,11})(\.\d{1,3})?$/;

/** Which amounts an account may send besides those with all fraction digits. */
export const amountSpelling = (setting: (name: string) => unknown): AmountSpelling =>
  setting('dialect.number_amounts') === true ? 'number' : setting('whole_amounts_allowed') === true ? 'whole' : 'exact';

/** An amount is checked against the exponent of its currency, which is another field. */
export const amount = (currencyField: string, withoutCurrency?: Kind): Kind => ({
  check: (value, context) => {
    if (withoutCurrency && context.value(currencyField) === '') return withoutCurrency.check(value, context);
    const exponent = exponentOf(context.value(currencyField));
    if (hasExtraZeros(value)) return SENTENCES.invalid;
    const units = minorUnits(value, exponent, amountSpelling(context.setting));
    return units === 'malformed' ? SENTENCES.invalid : units === 'zero' ? SENTENCES.notPositive : undefined;
  },
  expects: 'decimal with two fraction digits, or with as many as the currency has; greater than 0',
  expectsIn: (context) => amountIn(context.value(currencyField)),
  docs: DOCS.amounts,
  schema: { type: 'string', pattern: AMOUNT_PATTERN },
  isAmount: true,
});

/** An amount that is part of an order, such as shipping that costs nothing. */
export function amountOrZero(currencyField: string): Kind {
  const { check, schema } = amount(currencyField);
  return {
    check(value, context) {
      const sentence = check(value, context);
      return sentence === SENTENCES.notPositive ? undefined : sentence;
    },
    expects: 'decimal with two fraction digits, or with as many as the currency has',
    schema,
  };
}

/** An amount that may be zero in a request that only checks a card. */
export function amountOrCheck(currencyField: string, isCheck: (context: FieldContext) => boolean): Kind {
  const kind = amount(currencyField);
  return {
    ...kind,
    check(value, context) {
      const sentence = kind.check(value, context);
      return sentence === SENTENCES.notPositive && isCheck(context) ? undefined : sentence;
    },
    expects: `${kind.expects}; or 0.00 for an authorisation that only checks the card`,
  };
}

/** An amount of an existing payment. Its currency is not known during this check; the operation checks the exponent. */
export const amountOfPayment: Kind = {
  check: (value, context) => {
    const isNumber = context.setting('dialect.number_amounts') === true && NUMBER_AMOUNT.test(value);
    return !isNumber && !AMOUNT.test(value)
      ? SENTENCES.invalid
      : /[1-9]/.test(value)
        ? undefined
        : SENTENCES.notPositive;
  },
  isAmount: true,
  expects: 'decimal with as many fraction digits as the currency of the payment has; greater than 0',
  example: '19.99',
  docs: DOCS.amounts,
  schema: { type: 'string', pattern: AMOUNT_PATTERN },
};

export const currency: Kind = {
  check: (value) => (CURRENCIES[value] ? undefined : SENTENCES.notAChoice),
  expects: 'ISO 4217 code in capitals',
  example: 'EUR',
  schema: { type: 'string', pattern: '^[A-Z]{3}$' },
};

export const ipAddress: Kind = {
  check: (value) => (isIP(value) && !value.includes('%') ? undefined : SENTENCES.invalid),
  expects: 'IPv4 or IPv6 address',
  example: '203.0.113.7',
  schema: { type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] },
};

export const uuid: Kind = {
  check: (value) => (isUuid(value) ? undefined : SENTENCES.notUuid),
  expects: 'UUID',
  example: '0192f0c4-8a3e-7d51-9b6f-2c4e8d1a7f30',
  schema: { type: 'string', format: 'uuid' },
};

export const yesNo: Kind = {
  check: (value) => (value === 'Y' || value === 'N' ? undefined : SENTENCES.notAChoice),
  expects: '`Y` or `N`',
  schema: { type: 'string', enum: ['Y', 'N'] },
};

const YES: readonly string[] = ['Y', '1', 'true', 'TRUE', 'True'];
const NO: readonly string[] = ['N', '0', 'false', 'FALSE', 'False'];

/** A boolean in one of the spellings that merchants use. */
export const flag: Kind = {
  check: (value) => (YES.includes(value) || NO.includes(value) ? undefined : SENTENCES.notAChoice),
  expects: '`true` or `false`, also as `Y`, `N`, `1`, `0`',
  schema: { anyOf: [{ type: 'boolean' }, { type: 'string', enum: [...YES, ...NO] }] },
};

export const isYes = (value: string): boolean => YES.includes(value);

export const oneOf = (choices: readonly string[]): Kind => ({
  check: (value) => (choices.includes(value) ? undefined : SENTENCES.notAChoice),
  expects: `one of ${choices.map((choice) => `\`${choice}\``).join(', ')}`,
  schema: { type: 'string', enum: choices },
});

/** One of the values that the account's settings list. */
export const listedIn = (...settings: readonly string[]): Kind => ({
  check: (value, context) =>
    settings.some((setting) => (context.setting(setting) as readonly string[]).includes(value))
      ? undefined
      : SENTENCES.notAChoice,
  expects: `a value from the account settings ${settings.map((setting) => `\`${setting}\``).join(' and ')}`,
  schema: { type: 'string' },
});

export const wholeNumber = (least: number, most: number): Kind => ({
  check: (value) =>
    /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most ? undefined : SENTENCES.invalid,
  expects: `whole number from ${least} to ${most}`,
  example: String(least),
  schema: { type: 'integer', minimum: least, maximum: most },
});

/** The moment at which a date begins, in UTC; undefined for a day that does not exist. */
export function startOfDate(text: string): number | undefined {
  const moment = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  // Some engines roll an impossible day over into the next month.
  return Number.isFinite(moment) && new Date(moment).toISOString().startsWith(text) ? moment : undefined;
}

export const calendarDate: Kind = {
  check: (value) => (startOfDate(value) === undefined ? SENTENCES.invalid : undefined),
  expects: 'date such as `2027-01-31`',
  schema: { type: 'string', format: 'date' },
};

export const dayOfMonth: Kind = {
  check: (value, context) => {
    const unit = context.value('interval_unit');
    return (
      wholeNumber(1, 31).check(value, context) ?? (unit === '' || unit === 'month' ? undefined : SENTENCES.monthsOnly)
    );
  },
  expects: 'whole number from 1 to 31, with `interval_unit` `month` only',
  example: '15',
  schema: { type: 'integer', minimum: 1, maximum: 31 },
};

// The URL parser removes line breaks and adds slashes, but the payer is later redirected to the text as sent.
const WEB_ADDRESS = /^https?:\/\/\P{Cc}+$/iu;

/** An absolute web address; plain http only where the sandbox allows it. */
export const webAddress: Kind = {
  check: (value, context) => {
    const url = WEB_ADDRESS.test(value) ? URL.parse(value) : null;
    const isWeb = url?.protocol === 'https:' || (url?.protocol === 'http:' && context.allowsHttp);
    return url && isWeb && url.username === '' && url.password === '' ? undefined : SENTENCES.notUrl;
  },
  expects: 'absolute https address (http too in the sandbox)',
  example: 'https://shop.example/return',
  schema: { type: 'string', format: 'uri' },
};

/** An address to which the payer returns: a web address, or one of an app whose scheme the account lists. */
export const returnAddress: Kind = {
  ...webAddress,
  check: (value, context) => {
    const [, scheme = ''] = /^([a-z][a-z\d+.-]*):\/\/\P{Cc}*$/u.exec(value) ?? [];
    const isOfApp = ((context.setting('return_schemes') ?? []) as readonly string[]).includes(scheme);
    return isOfApp && URL.canParse(value) ? undefined : webAddress.check(value, context);
  },
};

/** The parameters of brands that are texts; the others are identifiers, secrets, choices and numbers. */
const PARAMETER_TEXTS =
  'SecurityQuestion|productReceiver|product_(?:name|category|type)|category|payee_name|accountName|paymentGatewayName|NarrativeFileName|ProviderReferenceText';

/** Free-text fields, which are stored, displayed and sent in callbacks as they were received. */
const FREE_TEXT = new RegExp(
  `^(?:order[_.]description|order\\.lines\\.\\w+\\.name|order_lines\\[\\w+\\]\\[name\\]|name|custom_data[[.].*|payer_\\w+|(?:customer|billing_address)\\.\\w+|parameters(?:\\[|\\..*\\.)(?:${PARAMETER_TEXTS})\\]?)$`,
  's',
);

const NONE: readonly string[] = [];

/**
 * The card numbers in a free-text field and in its name. Identifiers such as an order_id or an account number are not
 * searched: one in fifty random numbers of 16 digits looks like a card number, and a merchant cannot avoid that in an
 * identifier.
 */
export const cardNumbersAt = (name: string, value: string): readonly string[] =>
  (name.length >= LEAST_DIGITS || value.length >= LEAST_DIGITS) && FREE_TEXT.test(name)
    ? [...cardNumbersIn(name), ...cardNumbersIn(value)]
    : NONE;

/** Whether the field is required, or asked for, for the payer of this request. */
export function isNeeded(
  { name, countries, exceptCountries, needsCountry, isForProvider }: Field,
  context: FieldContext,
): boolean {
  if (isForProvider && context.isNeededByProvider?.(name) === false) return false;
  if (!countries && !exceptCountries) return true;
  const country = context.value('payer_country').toUpperCase();
  if (country === '') return !needsCountry;
  return countries ? countries.includes(country) : !exceptCountries?.includes(country);
}

/** The effective value of a field, with alias and default; empty when it was not sent or is ignored. */
export function fieldValue(field: Field, context: FieldContext): string {
  if (field.isSetting) return String(context.setting(field.name));
  if (field.with !== undefined && context.value(field.with) === '') return '';
  return context.value(field.name) || (field.alias && context.value(field.alias)) || (field.default ?? '');
}

/** Checks the fields and appends every problem to `problems`, in the order of the fields. */
export function checkFields(fields: readonly Field[], context: FieldContext, problems: Problem[]): void {
  for (const field of fields) {
    const sentence = field.items ? checkList(field, field.items, context, problems) : checkField(field, context);
    if (sentence !== undefined) problems.push({ field: field.name, sentence });
  }
}

function checkField(field: Field, context: FieldContext): string | undefined {
  const value = fieldValue(field, context);
  const other = field.alias ? context.value(field.alias) : '';
  if (other !== '' && other !== value) return SENTENCES.different(field.alias as string);
  if (field.lengthMost !== undefined && value.length > field.lengthMost) return SENTENCES.tooLong(field.lengthMost);
  if (value !== '') return field.check(value, context);
  if (field.need !== 'must' || !isNeeded(field, context)) return undefined;
  return field.isSetting ? SENTENCES.notSet : SENTENCES.blank;
}

/** Checks every object of a list; the checks of its members see each other by member name. */
function checkList(
  { name, need }: Field,
  items: readonly Field[],
  context: FieldContext,
  problems: Problem[],
): string | undefined {
  if (context.value(name) !== '') return SENTENCES.notAList;
  const positions = context.positions(name);
  if (positions.length === 0) return need === 'must' ? SENTENCES.blank : undefined;
  if (!positions.every((position) => /^\d{1,3}$/.test(position))) return SENTENCES.notAList;
  for (const position of positions) {
    const path = (member: string): string => `${name}[${position}][${member}]`;
    const isMember = (other: string): boolean => items.some((item) => item.name === other);
    const inside: FieldContext = {
      ...context,
      value: (other) => context.value(isMember(other) ? path(other) : other),
    };
    const found: Problem[] = [];
    checkFields(items, inside, found);
    for (const { field, sentence } of found) problems.push({ field: path(field), sentence });
  }
  return undefined;
}
