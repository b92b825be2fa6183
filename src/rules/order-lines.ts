/** The lines of an order: their fields, how a Checkout session and a sale send them, and the check that they add up. */

import { type AmountSpelling, amountText, minorUnits } from '../lib/money/money.ts';
import { isObject, isText } from '../lib/text/json.ts';
import { exponentOf } from './currencies.ts';
import type { Problem } from './errors.ts';
import { listValue } from './field-lists.ts';
import {
  amountOrZero,
  type Field,
  type FieldContext,
  hasExtraZeros,
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

const lineFields = (currency: string): readonly Field[] => [
  must('name', text(1, LIMITS.lineNameLength)),
  may('quantity', quantity, { isLoose: true, default: '1' }),
  may('unit_amount', amountOrZero(currency)),
  may('amount', amountOrZero(currency)),
];
const LINE_FIELDS = lineFields(CURRENCY);

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

const SALE_CURRENCY = 'order_currency';
const SALE_LINES = 'order_lines';

/** The fields of a sale whose brand requires lines. */
export const SALE_LINE_FIELDS: readonly Field[] = [
  must(SALE_LINES, lineList, { by: 'merchant', items: lineFields(SALE_CURRENCY) }),
  ...LINE_EXTRAS.map((name) => may(`order_${name}`, amountOrZero(SALE_CURRENCY))),
];

export const requiresLines = (fields: readonly Field[]): boolean => fields.some(({ name }) => name === SALE_LINES);

const sumOf = (amount: string): string =>
  `The lines, with shipping and tax and less the discount, should add up to ${amount}.`;
const PRODUCT = 'This value should be unit_amount times quantity.';

const isBlank = (value: unknown): boolean => (value ?? '') === '';

/** Reads the lines of `order`; `list` are the entries of `order.lines`, undefined if that is no list. */
export function readOrderLines(
  order: Readonly<Record<string, unknown>>,
  list: readonly unknown[] | undefined,
  spelling: AmountSpelling,
  nameOf = (path: string): string => `order.${path}`,
): { lines?: OrderLines; problems: Problem[] } {
  const problems: Problem[] = [];
  const add = (field: string, sentence: string): void => void problems.push({ field: nameOf(field), sentence });
  const extras = LINE_EXTRAS.filter((name) => !isBlank(order[name]));
  if (isBlank(order.lines) || list?.length === 0) {
    if (extras.length > 0) add('lines', SENTENCES.blank);
    return { problems };
  }
  if (!list?.every(isObject)) return { problems: [{ field: nameOf('lines'), sentence: SENTENCES.notAList }] };
  if (list.length > LIMITS.linesMost) {
    return { problems: [{ field: nameOf('lines'), sentence: SENTENCES.tooMany(LIMITS.linesMost) }] };
  }
  const textOf = (value: unknown): string | undefined =>
    typeof value === 'string' || (spelling === 'number' && typeof value === 'number') ? String(value) : undefined;
  const exponent = exponentOf(textOf(order.currency) ?? '');
  /** The minor units of an amount; undefined if it is blank or has a problem. */
  const unitsAt = (field: string, value: unknown): bigint | undefined => {
    if (isBlank(value)) return undefined;
    const text = textOf(value);
    if (text === undefined) return void add(field, SENTENCES.notText);
    const units = minorUnits(text, exponent, spelling);
    return units === 'malformed' || hasExtraZeros(text)
      ? void add(field, SENTENCES.invalid)
      : units === 'zero'
        ? 0n
        : units;
  };
  const items = list.map((line, index): OrderLine => {
    const at = `lines.${index}`;
    const name = typeof line.name === 'string' ? line.name.trim() : '';
    if (isBlank(line.name) || (name === '' && typeof line.name === 'string')) add(`${at}.name`, SENTENCES.blank);
    else if (!isText(line.name, Number.POSITIVE_INFINITY)) add(`${at}.name`, SENTENCES.notText);
    const tooLong = lengthProblem(name, 0, LIMITS.lineNameLength);
    if (tooLong) add(`${at}.name`, tooLong);
    const sent = isBlank(line.quantity) ? '1' : line.quantity;
    const counted = typeof sent === 'object' ? '' : String(sent);
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
  const total = minorUnits(textOf(order.amount) ?? '', exponent, spelling);
  // A wrong amount of the order has an entry of its own.
  if (typeof total === 'bigint' && totalOf(lines) !== total) add('lines', sumOf(nameOf('amount')));
  return { lines, problems };
}

/** Reads the lines of a sale, which sends them as `order_lines[0][name]` and so on. */
export function readSaleLines(
  context: Pick<FieldContext, 'value' | 'positions'>,
  spelling: AmountSpelling,
): { lines?: OrderLines; problems: Problem[] } {
  const extras = LINE_EXTRAS.map((name) => [name, context.value(`order_${name}`)]);
  const list = listValue(SALE_LINES, LINE_FIELDS, context);
  const order = {
    ...Object.fromEntries(extras),
    lines: list.length > 0 ? list : '',
    currency: context.value(SALE_CURRENCY),
    amount: context.value('order_amount'),
  };
  return readOrderLines(order, list, spelling, (path) => {
    const [name, ...inside] = path.split('.');
    return `order_${name}${inside.map((part) => `[${part}]`).join('')}`;
  });
}

/** The lines as the fields of a sale. */
export function saleFieldsOf({ items, ...extras }: OrderLines, currency: string): Record<string, string> {
  const exponent = exponentOf(currency);
  return Object.fromEntries([
    ...items.flatMap(({ name, quantity, amount }, index) => [
      [`${SALE_LINES}[${index}][name]`, name],
      [`${SALE_LINES}[${index}][quantity]`, String(quantity)],
      [`${SALE_LINES}[${index}][amount]`, amountText(BigInt(amount), exponent)],
    ]),
    ...Object.entries(extras).map(([name, units]) => [`order_${name}`, amountText(BigInt(units), exponent)]),
  ]);
}

/** The check of a whole number reads no other field. */
const NO_CONTEXT = { value: () => '', positions: () => [], setting: () => undefined, allowsHttp: false };

export const subtotalOf = ({ items }: OrderLines): bigint =>
  items.reduce((sum, { amount }) => sum + BigInt(amount), 0n);

const totalOf = (lines: OrderLines): bigint =>
  subtotalOf(lines) + BigInt(lines.shipping ?? 0) + BigInt(lines.tax ?? 0) - BigInt(lines.discount ?? 0);
