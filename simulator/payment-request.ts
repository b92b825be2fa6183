/** Reads a payment request of the gateway and validates its members. */
import { isObject, isText } from '../src/lib/text/json.ts';
import type { Card } from './cards.ts';
import type { Payment } from './ledger.ts';

type SimulatorFields = 'id' | 'token' | 'method' | 'status' | 'reason' | 'confirmations' | 'createdAt' | 'dueAt';

/** A payment as the gateway submits it, without the fields that the simulator adds. */
export interface SubmittedPayment extends Omit<Payment, SimulatorFields> {
  identifier: string;
  email: string;
  /** Not stored, because some of them are secrets. */
  parameters: Readonly<Record<string, unknown>>;
  card: Card | null;
}

export class BadRequest extends Error {
  readonly statusCode = 400;
}

export const isName = (value: unknown): value is string => typeof value === 'string' && /^[\w.:-]{1,100}$/.test(value);
export const isAmount = (value: unknown): value is string => typeof value === 'string' && /^[1-9]\d{0,17}$/.test(value);
export const isCurrency = (value: unknown): value is string => typeof value === 'string' && /^[A-Z]{3,5}$/.test(value);

/** An address for redirects or notifications. */
export function isLink(value: unknown): value is string {
  return isText(value, 4000) && /^https?:$/.test(URL.parse(value)?.protocol ?? '');
}

export function required<Value>(value: unknown, is: (value: unknown) => value is Value, name: string): Value {
  if (is(value)) return value;
  throw new BadRequest(`${name} is not valid.`);
}

const optional = <Value>(value: unknown, is: (value: unknown) => value is Value, name: string): Value | null =>
  value === undefined || value === null || value === '' ? null : required(value, is, name);

const isLongText = (value: unknown): value is string => isText(value, 10_000);
const isDirection = (value: unknown): value is 'in' | 'out' => value === 'in' || value === 'out';
const isMethodList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isLongText);

/** The parameters in which the crypto brands expect the coin. */
const COIN_PARAMETERS = ['payment_currency', 'cryptoCurrency'];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The brands that are paid by card. */
const CARD_BRANDS: readonly unknown[] = ['card', 'wallet-a', 'wallet-b'];
const isWalletType = (value: unknown): value is 'CRYPTOGRAM_3DS' | 'PAN_ONLY' =>
  value === 'CRYPTOGRAM_3DS' || value === 'PAN_ONLY';

/** Checks only the types; the simulated bank validates the card. */
function readCard(request: Record<string, unknown>): Card | null {
  if (!CARD_BRANDS.includes(request.brand)) return null;
  const card =
    request.direction === 'out' ? optional(request.card, isObject, 'card') : required(request.card, isObject, 'card');
  const authentication = optional(request.authentication, isObject, 'authentication');
  const wallet = request.brand === 'card' ? null : required(request.wallet, isObject, 'wallet');
  return (
    card && {
      number: textOf(card.number),
      month: textOf(card.month),
      year: textOf(card.year),
      transStatus: textOf(authentication?.transStatus),
      isPayerAbsent: request.recurring === true || request.channel === 'moto' || request.direction === 'out',
      wallet: wallet && {
        type: required(wallet.type, isWalletType, 'wallet.type'),
        cryptogram: textOf(wallet.cryptogram),
        eci: textOf(wallet.eci),
      },
    }
  );
}

export function readPaymentRequest(body: unknown): SubmittedPayment {
  const request = required(body, isObject, 'The body');
  const merchant = required(request.merchant, isObject, 'merchant');
  const payer = optional(request.payer, isObject, 'payer') ?? {};
  const parameters = optional(request.parameters, isObject, 'parameters') ?? {};
  return {
    reference: required(request.reference, isName, 'reference'),
    brand: required(request.brand, isName, 'brand'),
    mid: required(merchant.mid, isName, 'merchant.mid'),
    merchant: optional(merchant.name, isLongText, 'merchant.name') ?? '',
    direction: required(request.direction, isDirection, 'direction'),
    amount: required(request.amount, isAmount, 'amount'),
    currency: required(request.currency, isCurrency, 'currency'),
    capture: request.capture === false ? 0 : 1,
    description: optional(request.description, isLongText, 'description') ?? '',
    identifier: optional(request.identifier, isLongText, 'identifier') ?? '',
    email: optional(payer.email, isLongText, 'payer.email') ?? '',
    parameters,
    card: readCard(request),
    methods: JSON.stringify(optional(request.methods, isMethodList, 'methods') ?? []),
    coin: COIN_PARAMETERS.map((name) => parameters[name]).find(isCurrency) ?? null,
    returnUrl: optional(request.return_url, isLink, 'return_url'),
    notifyUrl: optional(request.notify_url, isLink, 'notify_url'),
  };
}
