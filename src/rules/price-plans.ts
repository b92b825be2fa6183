/** Price plans in requests: reads plans, versions and quotes, shows them, and finds prices above the amount of a sale. */
import { NETWORK_NAMES } from '../lib/cards/networks.ts';
import { areBoundsReversed, BOUND_DIGITS, scaledDecimal } from '../lib/money/decimal.ts';
import { isAbsent, isObject, isText } from '../lib/text/json.ts';
import { dateTime } from '../lib/time/date-time.ts';
import { BRAND_LABELS, BRANDS, CARD } from './brands.ts';
import { CONNECTORS } from './connectors.ts';
import { CURRENCIES, exponentOf } from './currencies.ts';
import type { Problem } from './errors.ts';
import { SENTENCES } from './fields.ts';
import {
  PERCENT_DIGITS,
  PLAN_SIDES,
  type PlanSide,
  PRICE_EVENTS,
  type PriceEvent,
  type PriceFacts,
  type PriceLine,
  type PriceVersion,
  price,
  REFUND_POLICIES,
  type RefundPolicy,
} from './pricing.ts';

export const PLAN_NAME_LENGTH = 100;
const MOST_LINES = 500;
const MOST_VALUES = 500;

/** What the lists of a line may contain. */
export const LINE_CHOICES = {
  brands: BRAND_LABELS,
  networks: NETWORK_NAMES as readonly string[],
  currencies: Object.keys(CURRENCIES).sort(),
  connectors: [
    ...new Set([...Object.keys(CONNECTORS), ...Object.values(BRANDS).map(({ connector }) => connector)]),
  ] as readonly string[],
} as const satisfies Record<string, readonly string[]>;

export type LineList = keyof typeof LINE_CHOICES;
export const LINE_LISTS = Object.keys(LINE_CHOICES) as LineList[];

/** The members of a line that are numbers: their names in the API. */
export const LINE_NUMBERS = {
  minAmount: 'min_amount',
  maxAmount: 'max_amount',
  percent: 'percent',
  fixed: 'fixed',
  minimum: 'minimum',
  maximum: 'maximum',
} as const satisfies Partial<Record<keyof PriceLine, string>>;

type LineNumber = keyof typeof LINE_NUMBERS;
const IN_ONE_CURRENCY = ['fixed', 'minimum', 'maximum'] as const satisfies LineNumber[];
const MEMBERS: readonly string[] = ['event', ...LINE_LISTS, ...Object.values(LINE_NUMBERS)];

const EXPECTED_PERCENT = 'A text with a number from 0 to 100 with at most four decimals, such as 2.9.';

/** What was read, if nothing is wrong with it. */
export type Read<Value> = { value: Value; problems?: never } | { value?: never; problems: Problem[] };

const readResult = <Value>(value: Value, problems: Problem[]): Read<Value> =>
  problems.length > 0 ? { problems } : { value };

const unknownMembers = (sent: object, known: readonly string[], path = ''): Problem[] =>
  Object.keys(sent)
    .filter((name) => !known.includes(name))
    .map((name) => ({
      field: /^\w{1,64}$/.test(name) ? path + name : path.slice(0, -1) || 'body',
      sentence: 'This value does not exist.',
      expected: `Only ${known.join(', ')}.`,
    }));

/** Reads one of several choices; the default, if there is one, when it was not sent. */
function readChoice<Choice extends string>(
  field: string,
  value: unknown,
  choices: readonly Choice[],
  problems: Problem[],
  otherwise?: Choice,
): Choice {
  const chosen = isAbsent(value) ? otherwise : choices.find((choice) => choice === value);
  if (chosen !== undefined) return chosen;
  const sentence = isAbsent(value) ? SENTENCES.blank : SENTENCES.notAChoice;
  problems.push({ field, sentence, expected: `One of ${choices.join(', ')}.` });
  return choices[0] as Choice;
}

function readPercent(field: string, value: unknown, problems: Problem[]): string | null {
  if (isAbsent(value)) return null;
  const units = typeof value === 'string' ? scaledDecimal(value, PERCENT_DIGITS) : undefined;
  if (units !== undefined && units <= 100n * 10n ** BigInt(PERCENT_DIGITS)) return value as string;
  problems.push({ field, sentence: SENTENCES.invalid, expected: EXPECTED_PERCENT });
  return null;
}

function readDecimal(field: string, value: unknown, digits: number, problems: Problem[]): string | null {
  if (isAbsent(value)) return null;
  if (typeof value === 'string' && scaledDecimal(value, digits) !== undefined) return value;
  const decimals = digits === 0 ? 'no decimals, such as 30' : `at most ${digits} decimals, such as 0.30`;
  problems.push({ field, sentence: SENTENCES.invalid, expected: `A text with a number with ${decimals}.` });
  return null;
}

export interface PlanInput {
  name: string;
  side: PlanSide;
}

export function readPlan(sent: Record<string, unknown>): Read<PlanInput> {
  const problems = unknownMembers(sent, ['name', 'side']);
  const name = isText(sent.name, PLAN_NAME_LENGTH) ? sent.name.trim() : '';
  if (name === '') {
    const sentence = isAbsent(sent.name)
      ? SENTENCES.blank
      : `This value should be a text of ${PLAN_NAME_LENGTH} characters or less.`;
    problems.push({ field: 'name', sentence });
  }
  const side = readChoice('side', sent.side, PLAN_SIDES, problems);
  return readResult({ name, side }, problems);
}

/** When a version becomes valid: a time, or the beginning of a day in UTC; undefined is now. */
export interface ValidFrom {
  at: number;
  isDay: boolean;
}

export type VersionInput = Pick<PriceVersion, 'refundPolicy' | 'taxPercent' | 'lines'> & {
  validFrom: ValidFrom | undefined;
};

export const EXPECTED_FROM =
  'A date from today on, or a date and a time in UTC that is not over, such as 2027-01-01 or 2027-01-01T06:00:00Z.';

export function readVersion(sent: Record<string, unknown>): Read<VersionInput> {
  const { valid_from: from, refund_policy: policy, tax_percent: tax, lines } = sent;
  const problems = unknownMembers(sent, ['valid_from', 'refund_policy', 'tax_percent', 'lines']);
  const at = typeof from === 'string' ? dateTime(from) : undefined;
  if (!isAbsent(from) && at === undefined)
    problems.push({ field: 'valid_from', sentence: SENTENCES.invalid, expected: EXPECTED_FROM });
  const refundPolicy: RefundPolicy = readChoice('refund_policy', policy, REFUND_POLICIES, problems, 'keep');
  const taxPercent = readPercent('tax_percent', tax, problems) ?? '0';
  const isList = Array.isArray(lines) && lines.length <= MOST_LINES;
  if (!isList) {
    const sentence =
      lines === undefined ? SENTENCES.blank : `This value should be a list of at most ${MOST_LINES} lines.`;
    problems.push({ field: 'lines', sentence });
  }
  return readResult(
    {
      validFrom: at === undefined ? undefined : { at, isDay: /^[\d-]{10}$/.test(from as string) },
      refundPolicy,
      taxPercent,
      lines: isList ? lines.map((line, index) => readLine(line, `lines[${index}]`, problems)) : [],
    },
    problems,
  );
}

function readLine(sent: unknown, path: string, problems: Problem[]): PriceLine {
  if (!isObject(sent)) problems.push({ field: path, sentence: SENTENCES.notAnObject });
  const members = isObject(sent) ? sent : {};
  problems.push(...unknownMembers(members, MEMBERS, `${path}.`));
  const field = (name: string): string => `${path}.${name}`;
  const list = (name: LineList): string[] => {
    const value = members[name] ?? [];
    const isList = Array.isArray(value) && value.length <= MOST_VALUES;
    const unknown = isList && value.find((each) => !(LINE_CHOICES[name] as readonly unknown[]).includes(each));
    if (isList && unknown === undefined) return [...new Set(value as string[])];
    problems.push({ field: field(name), sentence: isList ? SENTENCES.notAChoice : SENTENCES.notTexts });
    return [];
  };
  const number = (name: Exclude<LineNumber, 'percent'>, digits: number): string | null =>
    readDecimal(field(LINE_NUMBERS[name]), members[LINE_NUMBERS[name]], digits, problems);
  const currencies = list('currencies');
  const digits = currencies.length === 1 ? exponentOf(currencies[0] as string) : BOUND_DIGITS;
  const line: PriceLine = {
    event: isObject(sent) ? readChoice(field('event'), members.event, PRICE_EVENTS, problems) : 'sale',
    brands: list('brands'),
    networks: list('networks'),
    currencies,
    connectors: list('connectors'),
    minAmount: number('minAmount', BOUND_DIGITS),
    maxAmount: number('maxAmount', BOUND_DIGITS),
    percent: readPercent(field('percent'), members.percent, problems),
    fixed: number('fixed', digits),
    minimum: number('minimum', digits),
    maximum: number('maximum', digits),
  };
  const inCurrency = IN_ONE_CURRENCY.find((name) => line[name] !== null);
  if (inCurrency && currencies.length !== 1) {
    const sentence = `This value should name exactly one currency, which is that of ${inCurrency}.`;
    problems.push({ field: field('currencies'), sentence });
  }
  for (const [least, most] of [
    ['minAmount', 'maxAmount'],
    ['minimum', 'maximum'],
  ] as const)
    if (areBoundsReversed(line[least], line[most]))
      problems.push({
        field: field(LINE_NUMBERS[most]),
        sentence: `This value should not be below ${LINE_NUMBERS[least]}.`,
      });
  return line;
}

export interface QuoteInput {
  event: PriceEvent;
  facts: PriceFacts;
  amount: bigint;
  /** Undefined is now. */
  at: number | undefined;
}

export function readQuote(sent: Record<string, unknown>): Read<QuoteInput> {
  const problems = unknownMembers(sent, ['event', 'brand', 'network', 'currency', 'amount', 'connector', 'at']);
  const optional = (name: 'network' | 'connector', choices: readonly string[]): string | null =>
    isAbsent(sent[name]) ? null : readChoice(name, sent[name], choices, problems);
  const facts = {
    brand: readChoice('brand', sent.brand, LINE_CHOICES.brands, problems),
    network: optional('network', LINE_CHOICES.networks),
    currency: readChoice('currency', sent.currency, LINE_CHOICES.currencies, problems),
    connector: optional('connector', LINE_CHOICES.connectors),
  };
  const event = readChoice('event', sent.event, PRICE_EVENTS, problems);
  const exponent = exponentOf(facts.currency);
  const amount = readDecimal('amount', sent.amount, exponent, problems);
  if (isAbsent(sent.amount)) problems.push({ field: 'amount', sentence: SENTENCES.blank });
  const at = typeof sent.at === 'string' ? dateTime(sent.at) : undefined;
  if (!isAbsent(sent.at) && at === undefined)
    problems.push({
      field: 'at',
      sentence: SENTENCES.invalid,
      expected: 'A date, or a date and a time in UTC, such as 2027-01-01 or 2027-01-01T06:00:00Z.',
    });
  return readResult({ event, facts, amount: scaledDecimal(amount ?? '0', exponent) ?? 0n, at }, problems);
}

/** A line as the API shows it. */
export const lineView = (line: PriceLine) => ({
  event: line.event,
  brands: line.brands,
  networks: line.networks,
  currencies: line.currencies,
  connectors: line.connectors,
  min_amount: line.minAmount,
  max_amount: line.maxAmount,
  percent: line.percent,
  fixed: line.fixed,
  minimum: line.minimum,
  maximum: line.maximum,
});

/** A sale that costs more than its amount: the line, the amount, and what it costs with tax; in minor units. */
export interface PriceWarning {
  line: number;
  amount: bigint;
  cost: bigint;
  /** Null if the line is for several currencies. */
  currency: string | null;
}

/** The largest amount that is tried. */
const MOST_AMOUNT = 10n ** 15n;

/** The lines that price a sale above its amount, with the smallest such sale among those that are tried. */
export function priceWarnings({ lines, taxPercent }: Pick<PriceVersion, 'lines' | 'taxPercent'>): PriceWarning[] {
  return lines.flatMap((line, index) => {
    if (line.event !== 'sale') return [];
    const [only = null] = line.currencies.length === 1 ? line.currencies : [];
    const exponent = exponentOf(only ?? '');
    const shift = 10n ** BigInt(BOUND_DIGITS - exponent);
    const bound = (text: string | null): bigint | undefined =>
      text === null ? undefined : scaledDecimal(text, BOUND_DIGITS);
    const [least = 0n, most] = [bound(line.minAmount), bound(line.maxAmount)];
    const smallest = least <= shift ? 1n : (least + shift - 1n) / shift;
    const largest = most === undefined ? MOST_AMOUNT : most / shift;
    const anywhere = { ...line, brands: [], networks: [], currencies: [], connectors: [] };
    for (const amount of steps(smallest, largest)) {
      const { amount: fee, tax } = price(
        { lines: [anywhere], taxPercent },
        'sale',
        { brand: CARD, currency: only ?? '' },
        amount,
      );
      if (fee + tax > amount) return [{ line: index, amount, cost: fee + tax, currency: only }];
    }
    return [];
  });
}

/** The amounts that are tried: the smallest, ten times as much and so on, and the largest. */
function* steps(smallest: bigint, largest: bigint): Generator<bigint, void> {
  for (let amount = smallest; amount < largest; amount *= 10n) yield amount;
  if (smallest <= largest) yield largest;
}
