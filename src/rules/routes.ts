/** Routes of an account: how they are read, which payments each one takes, and the order in which they are tried. */
import { hash } from 'node:crypto';
import { NETWORK_NAMES } from '../lib/cards/networks.ts';
import { isUuid } from '../lib/crypto/id.ts';
import { areBoundsReversed, isWithinBounds } from '../lib/money/decimal.ts';
import { minorUnits } from '../lib/money/money.ts';
import { isAbsent, isObject } from '../lib/text/json.ts';
import { BRANDS, CARD } from './brands.ts';
import { COUNTRIES } from './countries.ts';
import { CURRENCIES, exponentOf } from './currencies.ts';
import type { Problem } from './errors.ts';
import { SENTENCES } from './fields.ts';

/** One route; an empty list or a missing amount means any. */
export interface Route {
  /** Null is the installation's own provider. */
  connectionId: string | null;
  brands: string[];
  networks: string[];
  currencies: string[];
  countries: string[];
  /** Prefixes of card numbers. */
  bins: string[];
  /** Decimal text in the currency of the payment. */
  minAmount: string | null;
  maxAmount: string | null;
  /** The percentage of the payments that it takes; the others go on to the next route. */
  share: number;
}

/** What routes depend on. What is not known, such as the network before the payer enters a card, is undefined. */
export interface RouteFacts {
  brand: string;
  currency: string;
  /** In minor units. */
  amount: bigint;
  country?: string | undefined;
  network?: string | undefined;
  /** The first digits of the card number, as many as are known. */
  bin?: string | undefined;
  /** The connection has to flag the payment as a telephone order. */
  isTelephoneOrder?: true | undefined;
  /** The merchant is going to repeat the payment. */
  isFirstOfSeries?: true | undefined;
}

const MOST_ROUTES = 100;
const MOST_VALUES = 500;
const AMOUNT = /^\d{1,12}(\.\d{1,4})?$/;

const isIn = (table: object, value: string): boolean => Object.hasOwn(table, value);

/** The list members: their names in the API, and their values. */
const LISTS = {
  brands: (value: string) => value === CARD || isIn(BRANDS, value),
  networks: (value: string) => (NETWORK_NAMES as readonly string[]).includes(value),
  currencies: (value: string) => isIn(CURRENCIES, value),
  countries: (value: string) => COUNTRIES.has(value),
  bins: (value: string) => /^\d{6,8}$/.test(value),
} as const;

type ListName = keyof typeof LISTS;
const LIST_NAMES = Object.keys(LISTS) as ListName[];
const MEMBERS = ['connection_id', ...LIST_NAMES, 'min_amount', 'max_amount', 'share'];

/** Reads the routes of a request; the problems name the member of each route. */
export function readRoutes(body: unknown): { routes: Route[]; problems: Problem[] } {
  if (!Array.isArray(body) || body.length > MOST_ROUTES) {
    const sentence = `This value should be a list of at most ${MOST_ROUTES} routes.`;
    return { routes: [], problems: [{ field: 'routes', sentence }] };
  }
  const problems: Problem[] = [];
  const routes = body.map((sent, index) => readRoute(sent, `routes[${index}]`, problems));
  return { routes, problems };
}

function readRoute(sent: unknown, path: string, problems: Problem[]): Route {
  const refuse = (name: string, sentence: string): void => void problems.push({ field: `${path}.${name}`, sentence });
  const route = isObject(sent) ? sent : {};
  if (!isObject(sent)) problems.push({ field: path, sentence: SENTENCES.notAnObject });
  for (const name of Object.keys(route).filter((each) => !MEMBERS.includes(each)))
    refuse(/^\w{1,64}$/.test(name) ? name : '?', 'This value does not exist.');
  const { connection_id: connectionId, share = 100 } = route;
  const isConnection = connectionId === null || (typeof connectionId === 'string' && isUuid(connectionId));
  if (isObject(sent) && !isConnection)
    refuse('connection_id', connectionId === undefined ? SENTENCES.blank : SENTENCES.notUuid);
  const list = (name: ListName): string[] => {
    const value = route[name] ?? [];
    const isList = Array.isArray(value) && value.length <= MOST_VALUES;
    if (!isList || !value.every((each) => typeof each === 'string' && LISTS[name](each))) {
      refuse(name, isList ? SENTENCES.notAChoice : SENTENCES.notTexts);
      return [];
    }
    return [...new Set(value as string[])];
  };
  const amount = (name: 'min_amount' | 'max_amount'): string | null => {
    const value = route[name];
    if (isAbsent(value)) return null;
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text === 'string' && AMOUNT.test(text)) return text;
    refuse(name, SENTENCES.invalid);
    return null;
  };
  const [minAmount, maxAmount] = [amount('min_amount'), amount('max_amount')];
  if (areBoundsReversed(minAmount, maxAmount)) refuse('max_amount', 'This value should not be below min_amount.');
  if (typeof share !== 'number' || !Number.isInteger(share) || share < 0 || share > 100)
    refuse('share', 'This value should be a whole number from 0 to 100.');
  return {
    connectionId: typeof connectionId === 'string' ? connectionId.toLowerCase() : null,
    brands: list('brands'),
    networks: list('networks'),
    currencies: list('currencies'),
    countries: list('countries'),
    bins: list('bins'),
    minAmount,
    maxAmount,
    share: share as number,
  };
}

const isAny = (list: readonly string[], value: string | undefined): boolean =>
  list.length === 0 || (value !== undefined && list.includes(value));

/** What a route requires of a payment and the payment does not have; undefined if it takes the payment. */
export function mismatch(route: Route, facts: RouteFacts): ListName | 'amount' | undefined {
  if (!isAny(route.brands, facts.brand)) return 'brands';
  if (!isAny(route.currencies, facts.currency)) return 'currencies';
  if (!isAny(route.countries, facts.country)) return 'countries';
  if (!isAny(route.networks, facts.network)) return 'networks';
  const { bin } = facts;
  if (route.bins.length > 0 && !(bin !== undefined && route.bins.some((prefix) => bin.startsWith(prefix))))
    return 'bins';
  const isInRange = isWithinBounds(facts.amount, exponentOf(facts.currency), route.minAmount, route.maxAmount);
  return isInRange ? undefined : 'amount';
}

/** The same before the payer has entered a card: its network and number are not known yet. */
export const mayTake = (route: Route, facts: RouteFacts): boolean =>
  mismatch({ ...route, networks: [], bins: [] }, facts) === undefined;

/**
 * Whether a payment is in the share of a route. The same payment always gets the same answer, and the answers of two
 * routes are independent of each other.
 */
export const isInShare = ({ share }: Pick<Route, 'share'>, position: number, paymentId: string): boolean =>
  share === 100 || hash('sha256', `${position} ${paymentId}`, 'buffer').readUInt32BE() % 100 < share;

/** A route as the API shows it. */
export const routeView = (route: Route) => ({
  connection_id: route.connectionId,
  brands: route.brands,
  networks: route.networks,
  currencies: route.currencies,
  countries: route.countries,
  bins: route.bins,
  min_amount: route.minAmount,
  max_amount: route.maxAmount,
  share: route.share,
});

/** Reads what a payment would be like, to try the routes of an account. */
export function readRouteFacts(sent: Readonly<Record<string, unknown>>): {
  facts: RouteFacts | undefined;
  problems: Problem[];
} {
  const { brand, network, currency, country, amount, bin, ...rest } = sent;
  const problems: Problem[] = Object.keys(rest).map((name) => ({
    field: /^\w{1,64}$/.test(name) ? name : 'body',
    sentence: 'This value does not exist.',
  }));
  const text = (field: string, value: unknown, isValid: (value: string) => boolean, isNeeded = false) => {
    if (!isAbsent(value) && typeof value === 'string' && isValid(value)) return value;
    if (!isAbsent(value) || isNeeded)
      problems.push({ field, sentence: isAbsent(value) ? SENTENCES.blank : SENTENCES.notAChoice });
    return undefined;
  };
  const facts = {
    brand: text('brand', brand, LISTS.brands, true) ?? '',
    network: text('network', network, LISTS.networks),
    currency: text('currency', currency, LISTS.currencies, true) ?? '',
    country: text('country', country, LISTS.countries),
    bin: text('bin', bin, (value) => /^\d{6,8}$/.test(value)),
  };
  const units = minorUnits(amountOf(amount), exponentOf(facts.currency));
  if (typeof units !== 'bigint')
    problems.push({ field: 'amount', sentence: units === 'zero' ? SENTENCES.notPositive : SENTENCES.invalid });
  const isValid = problems.length === 0 && typeof units === 'bigint';
  return { facts: isValid ? { ...facts, amount: units } : undefined, problems };
}

/** An amount as text with two fraction digits at least; a whole number may be sent as such. */
function amountOf(value: unknown): string {
  const sent = typeof value === 'number' ? String(value) : value;
  if (typeof sent !== 'string') return '';
  return /^\d+$/.test(sent) ? `${sent}.00` : sent;
}
