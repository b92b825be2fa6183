/** The sandbox console: sample requests of every brand, signed with the account's password as a merchant signs them. */
import { asciiUpper, wireHash } from '../../lib/crypto/hash.ts';
import { isObject } from '../../lib/text/json.ts';
import { EXAMPLES } from '../../rules/brand-examples.ts';
import { BRANDS, CARD, isForPayers, isWallet, nameInside, TOKEN_FIELD, type WalletBrand } from '../../rules/brands.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import type { Field } from '../../rules/fields.ts';
import {
  CHECKOUT_OPERATIONS,
  type CheckoutPath,
  S2S_OPERATIONS,
  type S2sAction,
  signedValues,
} from '../../rules/operations.ts';
import { maskedRequest, maskFor } from '../api-calls/mask.ts';
import type { Account, ApiCall, Gateway } from '../context.ts';
import { checkoutBody } from '../requests/checkout-body.ts';
import { readBody } from '../requests/s2s-body.ts';
import { sealPretendToken } from '../wallets/pretend-wallet.ts';

export type ConsoleProtocol = ApiCall['protocol'];

/** A request that is ready to be sent, and what may be shown of it. */
export interface ConsoleRequest {
  path: string;
  contentType: string;
  body: string;
  fields: ApiCall['request'];
  /** With `***` in place of the password. */
  signedText: string;
}

/** A field of the form, with a value that the gateway accepts. */
export interface ConsoleField {
  name: string;
  value: string;
  /** The entry of the table of fields; a part of a list has none. */
  field: Field | undefined;
}

/** The brands that the account may use in this protocol and that this installation offers. */
export function consoleBrands({ connectors }: Gateway, { settings }: Account, protocol: ConsoleProtocol): string[] {
  const own = Object.keys(BRANDS).filter((label) => {
    const brand = BRANDS[label];
    if (!brand || !Object.hasOwn(connectors, brand.connector)) return false;
    if (settings.brands.length > 0 && !settings.brands.includes(label)) return false;
    return protocol === 's2s' || isForPayers(brand);
  });
  return protocol === 'checkout' && Object.hasOwn(connectors, 'upstream') ? [CARD, ...own] : own;
}

const amountIn = (currency: string): string => (CURRENCIES[currency]?.exponent === 0 ? '1000' : '10.00');

const SALE_SAMPLE: Readonly<Record<string, string>> = {
  identifier: 'success@example.com',
  order_description: 'A payment of the sandbox console',
  payer_first_name: 'Ada',
  payer_last_name: 'Lovelace',
  payer_email: 'ada@example.com',
  payer_country: '',
  payer_ip: '203.0.113.7',
  return_url: 'https://shop.example/return',
  auth: '',
  recurring_init: '',
  callback_url: '',
};

const SESSION_SAMPLE: Readonly<Record<string, string>> = {
  'order.description': 'A payment of the sandbox console',
  success_url: 'https://shop.example/thanks',
  cancel_url: 'https://shop.example/cart',
  'customer.name': 'Ada Lovelace',
  'customer.email': 'ada@example.com',
  recurring_init: '',
  req_token: '',
};

/** A token of the pretend wallet, if the account has the keys of the wallet. */
async function walletSample(
  gateway: Gateway,
  account: Account,
  wallet: WalletBrand,
  { amount, currency }: { amount: string; currency: string },
): Promise<Record<string, string>> {
  const token = await sealPretendToken(gateway, account, { wallet, card: 'succeeds', amount, currency });
  return { [TOKEN_FIELD]: token ? JSON.stringify(token) : '' };
}

/** The fields with the lines of the order as a session sends them: `order_lines[0][name]` is `order.lines.0.name`. */
const withSessionLines = (fields: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/^order_/, 'order.').replaceAll(/^(order\..*)\[(\w+)\]\[(\w+)\]$/g, '$1.$2.$3'),
      value,
    ]),
  );

/** The fields of a form for this brand: the common ones first, then those of the brand. */
export async function consoleFields(
  gateway: Gateway,
  account: Account,
  protocol: ConsoleProtocol,
  label: string,
  orderId: string,
): Promise<ConsoleField[]> {
  const { currency = 'EUR', amount = amountIn(currency), fields = {} } = EXAMPLES[label] ?? {};
  const order = { id: orderId, amount, currency };
  const ofBrand = isWallet(label) ? await walletSample(gateway, account, label, order) : fields;
  const sample = protocol === 's2s' ? ofBrand : withSessionLines(ofBrand);
  const common: Record<string, string> =
    protocol === 's2s'
      ? { order_id: order.id, order_amount: order.amount, order_currency: order.currency, ...SALE_SAMPLE }
      : { 'order.number': order.id, 'order.amount': order.amount, 'order.currency': order.currency, ...SESSION_SAMPLE };
  const operation = protocol === 's2s' ? S2S_OPERATIONS.SALE : CHECKOUT_OPERATIONS.session;
  const brandFields = (BRANDS[label]?.fields ?? []).filter(({ isSetting, items }) => !isSetting && !items);
  const entries = new Map<string, Field>([...operation.fields, ...brandFields].map((field) => [field.name, field]));
  const isOfProtocol = (name: string): boolean =>
    protocol === 's2s' || name.startsWith('parameters[') || !/^(payer|order)_|^identifier$/.test(name);
  const values = {
    ...common,
    ...Object.fromEntries(brandFields.map(({ name }) => [name, common[name] ?? ''])),
    ...sample,
  };
  return Object.entries(values)
    .filter(([name]) => Object.hasOwn(common, name) || isOfProtocol(name))
    .map(([name, value]) => ({ name, value, field: entries.get(name) }));
}

/** Composes and signs the request of a form; empty fields are not sent. */
export function consoleRequest(
  account: Account,
  protocol: ConsoleProtocol,
  label: string,
  values: ReadonlyMap<string, string>,
): ConsoleRequest {
  const sent = [...values].filter(([, value]) => value !== '');
  return protocol === 's2s' ? saleRequest(account, label, sent) : sessionRequest(account, label, sent);
}

export type Sent = readonly (readonly [string, string])[];

const saleRequest = (account: Account, label: string, sent: Sent): ConsoleRequest =>
  s2sRequest(account, 'SALE', [['brand', label], ...sent]);

/** A request to `/post`, signed. */
export function s2sRequest(account: Account, action: S2sAction, sent: Sent): ConsoleRequest {
  const fields = new URLSearchParams([
    ['action', action],
    ['client_key', account.clientKey],
    ...sent.map(([name, value]) => [name, value]),
  ]);
  const signed = signedValues(S2S_OPERATIONS[action], (name) => fields.get(name) ?? '');
  fields.append('hash', hashOf(account, signed));
  const contentType = 'application/x-www-form-urlencoded';
  const body = fields.toString();
  const mask = maskFor(account);
  return {
    path: '/post',
    contentType,
    body,
    fields: maskedRequest(readBody(contentType, Buffer.from(body)), mask),
    signedText: signedTextOf(signed, mask),
  };
}

function sessionRequest(account: Account, label: string, sent: Sent): ConsoleRequest {
  const json: Record<string, unknown> = { operation: 'purchase', methods: [label] };
  for (const [name, value] of sent) {
    const isOfBrand = name.includes('[') || BRANDS[label]?.fields.some((field) => field.name === name);
    const inside = nameInside(name)
      .split(/[[\]]+/)
      .filter(Boolean);
    set(json, isOfBrand ? ['parameters', label, ...inside] : name.split('.'), value);
  }
  return signedJson(account, 'session', json);
}

/** A request of Checkout, signed; a dot in a name denotes a nested object. */
export function checkoutRequest(account: Account, path: CheckoutPath, sent: Sent): ConsoleRequest {
  const json: Record<string, unknown> = {};
  for (const [name, value] of sent) set(json, name.split('.'), value);
  return signedJson(account, path, json);
}

function signedJson(account: Account, path: CheckoutPath, content: Readonly<Record<string, unknown>>): ConsoleRequest {
  const json: Record<string, unknown> = { merchant_key: account.merchantKey, ...content };
  const signed = signedValues(CHECKOUT_OPERATIONS[path], checkoutBody(json).value);
  json.hash = hashOf(account, signed);
  const mask = maskFor(account);
  return {
    path: `/api/v1/${path}`,
    contentType: 'application/json',
    body: JSON.stringify(json),
    fields: maskedRequest(checkoutBody(json), mask),
    signedText: signedTextOf(signed, mask),
  };
}

/** Every account takes the specified recipe, with its own digest. */
const hashOf = (account: Account, signed: readonly string[]): string =>
  wireHash(signed, account.passwords()[0] as string, 'ascii', account.settings['dialect.digest']);

const signedTextOf = (values: readonly string[], mask: (text: string) => string): string =>
  `${values.map((value) => asciiUpper(mask(value))).join('')}***`;

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** Sets a value inside nested objects; a numeric name is the index of a list. */
function set(target: Record<string, unknown>, path: readonly string[], value: string): void {
  const [name = '', ...rest] = path;
  if (FORBIDDEN.has(name)) return;
  if (rest.length === 0) target[name] = value;
  else {
    const inner = Object.hasOwn(target, name) ? target[name] : undefined;
    const child = isObject(inner) || Array.isArray(inner) ? inner : /^\d+$/.test(rest[0] as string) ? [] : {};
    target[name] = child;
    set(child as Record<string, unknown>, rest, value);
  }
}
