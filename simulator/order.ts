/** Reads what the gateway asks for, and says in a sentence what is wrong with it. */
import { isObject, isText } from '../src/lib/json.ts';
import type { Card } from './cards.ts';
import type { Payment } from './ledger.ts';

type Ours = 'id' | 'token' | 'method' | 'status' | 'reason' | 'confirmations' | 'createdAt' | 'dueAt';

/** A payment as it is asked for, without what becomes of it here. */
export interface SimulatedOrder extends Omit<Payment, Ours> {
  identifier: string;
  email: string;
  /** Looked at once and not kept: some of them are secrets. */
  parameters: Readonly<Record<string, unknown>>;
  card: Card | null;
}

export class BadRequest extends Error {
  readonly statusCode = 400;
}

export const isName = (value: unknown): value is string => typeof value === 'string' && /^[\w.:-]{1,100}$/.test(value);
export const isAmount = (value: unknown): value is string => typeof value === 'string' && /^[1-9]\d{0,17}$/.test(value);
export const isCurrency = (value: unknown): value is string => typeof value === 'string' && /^[A-Z]{3,5}$/.test(value);

/** Where a payer or news can be sent. */
export function isLink(value: unknown): value is string {
  return isText(value, 4000) && /^https?:$/.test(URL.parse(value)?.protocol ?? '');
}

export function must<Value>(value: unknown, is: (value: unknown) => value is Value, name: string): Value {
  if (is(value)) return value;
  throw new BadRequest(`${name} is not valid.`);
}

const may = <Value>(value: unknown, is: (value: unknown) => value is Value, name: string): Value | null =>
  value === undefined || value === null || value === '' ? null : must(value, is, name);

const someText = (value: unknown): value is string => isText(value, 10_000);
const isDirection = (value: unknown): value is 'in' | 'out' => value === 'in' || value === 'out';
const isMethodList = (value: unknown): value is string[] => Array.isArray(value) && value.every(someText);

/** The names under which the crypto brands take the coin. */
const COIN_PARAMETERS = ['payment_currency', 'cryptoCurrency'];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Only its shape is checked here: what is wrong with a card is for its bank to say. */
function readCard(order: Record<string, unknown>): Card | null {
  if (order.brand !== 'card') return null;
  const card = order.direction === 'out' ? may(order.card, isObject, 'card') : must(order.card, isObject, 'card');
  const authentication = may(order.authentication, isObject, 'authentication');
  return (
    card && {
      number: textOf(card.number),
      month: textOf(card.month),
      year: textOf(card.year),
      transStatus: textOf(authentication?.transStatus),
      isPayerAbsent: order.recurring === true || order.direction === 'out',
    }
  );
}

export function readOrder(body: unknown): SimulatedOrder {
  const order = must(body, isObject, 'The body');
  const merchant = must(order.merchant, isObject, 'merchant');
  const payer = may(order.payer, isObject, 'payer') ?? {};
  const parameters = may(order.parameters, isObject, 'parameters') ?? {};
  return {
    reference: must(order.reference, isName, 'reference'),
    brand: must(order.brand, isName, 'brand'),
    mid: must(merchant.mid, isName, 'merchant.mid'),
    merchant: may(merchant.name, someText, 'merchant.name') ?? '',
    direction: must(order.direction, isDirection, 'direction'),
    amount: must(order.amount, isAmount, 'amount'),
    currency: must(order.currency, isCurrency, 'currency'),
    capture: order.capture === false ? 0 : 1,
    description: may(order.description, someText, 'description') ?? '',
    identifier: may(order.identifier, someText, 'identifier') ?? '',
    email: may(payer.email, someText, 'payer.email') ?? '',
    parameters,
    card: readCard(order),
    methods: JSON.stringify(may(order.methods, isMethodList, 'methods') ?? []),
    coin: COIN_PARAMETERS.map((name) => parameters[name]).find(isCurrency) ?? null,
    returnUrl: may(order.return_url, isLink, 'return_url'),
    notifyUrl: may(order.notify_url, isLink, 'notify_url'),
  };
}
