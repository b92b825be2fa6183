/** The lines of an order: their fields, how a Checkout session sends them, and the check that they add up. */
import { isObject, isText } from '../lib/json.ts';
import { minorUnits } from '../lib/money.ts';
import { CURRENCIES } from './currencies.ts';
import type { Problem } from './errors.ts';
import {
  amountOrZero,
  type Field,
  type Kind,
  lengthProblem,
  may,
  must,
  SENTENCES,
  text,
  wholeNumber,
} from './fields.ts';
import { LIMITS } from './limits.ts';

/** Amounts are minor units as text, because they are stored as JSON. */
export interface OrderLine {
  name: string;
  quantity: number;
  unitAmount?: string;
  amount: string;
}

/** What is added to the lines, or taken off them. */
export const LINE_EXTRAS = ['shipping', 'tax', 'discount'] as const;

export type OrderLines = { items: readonly OrderLine[] } & { readonly [Name in (typeof LINE_EXTRAS)[number]]?: string };

const CURRENCY = 'order.currency';
const quantity = wholeNumber(1, LIMITS.lineQuantityMost);

const LINE_FIELDS: readonly Field[] = [
  must('name', text(1, LIMITS.lineNameLength)),
  may('quantity', quantity, { isLoose: true, default: '1' }),
  may('unit_amount', amountOrZero(CURRENCY)),
  may('amount', amountOrZero(CURRENCY)),
];

const lineList: Kind = {
  check: () => SENTENCES.notAList,
  expects: 'list',
  schema: {
    type: 'array',
    maxItems: LIMITS.linesMost,
    items: {
      type: 'object',
      properties: Object.fromEntries(LINE_FIELDS.map(({ name, schema }) => [name, schema])),
      required: ['name'],
    },
  },
};

/** The fields of a session; the hash covers none of them. */
export const ORDER_LINE_FIELDS: readonly Field[] = [
  may('order.lines', lineList, { items: LINE_FIELDS }),
  ...LINE_EXTRAS.map((name) => may(`order.${name}`, amountOrZero(CURRENCY))),
];

const SUM = 'The lines, with shipping and tax and less the discount, should add up to order.amount.';
const PRODUCT = 'This value should be unit_amount times quantity.';

const isBlank = (value: unknown): boolean => (value ?? '') === '';

/** Reads the lines of `order`; `list` are the entries of `order.lines`, undefined if that is no list. */
export function readOrderLines(
  order: Readonly<Record<string, unknown>>,
  list: readonly unknown[] | undefined,
  allowsWhole: boolean,
): { lines?: OrderLines; problems: Problem[] } {
  const problems: Problem[] = [];
  const add = (field: string, sentence: string): void => void problems.push({ field: `order.${field}`, sentence });
  const extras = LINE_EXTRAS.filter((name) => !isBlank(order[name]));
  if (isBlank(order.lines) || list?.length === 0) {
    if (extras.length > 0) add('lines', SENTENCES.blank);
    return { problems };
  }
  if (!list?.every(isObject)) return { problems: [{ field: 'order.lines', sentence: SENTENCES.notAList }] };
  if (list.length > LIMITS.linesMost) {
    return { problems: [{ field: 'order.lines', sentence: SENTENCES.tooMany(LIMITS.linesMost) }] };
  }
  const exponent = CURRENCIES[String(order.currency)]?.exponent ?? 2;
  /** The minor units of an amount; undefined if it is blank or has a problem. */
  const unitsAt = (field: string, value: unknown): bigint | undefined => {
    if (isBlank(value)) return undefined;
    if (typeof value !== 'string') return void add(field, SENTENCES.notText);
    const units = minorUnits(value, exponent, allowsWhole);
    return units === 'malformed' ? void add(field, SENTENCES.invalid) : units === 'zero' ? 0n : units;
  };
  const items = list.map((line, index): OrderLine => {
    const at = `lines.${index}`;
    const name = typeof line.name === 'string' ? line.name.trim() : '';
    if (isBlank(line.name) || (name === '' && typeof line.name === 'string')) add(`${at}.name`, SENTENCES.blank);
    else if (!isText(line.name, Number.POSITIVE_INFINITY)) add(`${at}.name`, SENTENCES.notText);
    const tooLong = lengthProblem(name, 0, LIMITS.lineNameLength);
    if (tooLong) add(`${at}.name`, tooLong);
    const counted = isBlank(line.quantity) ? '1' : String(line.quantity);
    const isCount = quantity.check(counted, NO_CONTEXT) === undefined;
    if (!isCount) add(`${at}.quantity`, SENTENCES.invalid);
    const unit = unitsAt(`${at}.unit_amount`, line.unit_amount);
    const product = unit === undefined || !isCount ? undefined : unit * BigInt(counted);
    const amount = unitsAt(`${at}.amount`, line.amount) ?? (isBlank(line.amount) ? product : undefined);
    if (isBlank(line.amount) && isBlank(line.unit_amount)) add(`${at}.amount`, SENTENCES.blank);
    if (amount !== undefined && product !== undefined && amount !== product) add(`${at}.amount`, PRODUCT);
    return {
      name,
      quantity: Number(counted),
      ...(unit !== undefined && { unitAmount: String(unit) }),
      amount: String(amount ?? 0n),
    };
  });
  const added = extras.map((name) => [name, unitsAt(name, order[name]) ?? 0n] as const);
  if (problems.length > 0) return { problems };
  const lines: OrderLines = { items, ...Object.fromEntries(added.map(([name, units]) => [name, String(units)])) };
  const total = typeof order.amount === 'string' ? minorUnits(order.amount, exponent, allowsWhole) : 'malformed';
  // A wrong amount of the order has an entry of its own.
  if (typeof total === 'bigint' && totalOf(lines) !== total) add('lines', SUM);
  return { lines, problems };
}

/** The check of a whole number reads no other field. */
const NO_CONTEXT = { value: () => '', positions: () => [], setting: () => undefined, allowsHttp: false };

export const subtotalOf = ({ items }: OrderLines): bigint =>
  items.reduce((sum, { amount }) => sum + BigInt(amount), 0n);

const totalOf = (lines: OrderLines): bigint =>
  subtotalOf(lines) + BigInt(lines.shipping ?? 0) + BigInt(lines.tax ?? 0) - BigInt(lines.discount ?? 0);
