/** What an event of a payment costs under a price plan: exact integers in minor units, rounded half up. */
import { halfUp, isWithinBounds, scaledDecimal } from '../lib/money/decimal.ts';
import { exponentOf } from './currencies.ts';

export const PLAN_SIDES = ['sell', 'buy'] as const;
/** `sell` is what merchants pay, `buy` is what a connection costs. */
export type PlanSide = (typeof PLAN_SIDES)[number];

export const PRICE_EVENTS = [
  'sale',
  'authorisation',
  'refund',
  'void',
  'decline',
  'chargeback',
  'payout_to_payer',
  'three_ds',
] as const;
export type PriceEvent = (typeof PRICE_EVENTS)[number];

export const REFUND_POLICIES = ['keep', 'proportional', 'full'] as const;
/** What a refund returns of the fee of the sale: nothing, the same share of its percent part, or all at the end. */
export type RefundPolicy = (typeof REFUND_POLICIES)[number];

/** One line of a version; an empty list or a missing bound means any, and a missing price means none. Numbers are texts. */
export interface PriceLine {
  event: PriceEvent;
  brands: string[];
  networks: string[];
  currencies: string[];
  connectors: string[];
  /** Inclusive, in the currency of the event. */
  minAmount: string | null;
  maxAmount: string | null;
  percent: string | null;
  /** These three are in the only currency of the line. */
  fixed: string | null;
  minimum: string | null;
  maximum: string | null;
}

/** The prices of a plan from a time on; never changed. */
export interface PriceVersion {
  planId: string;
  version: number;
  validFrom: number;
  refundPolicy: RefundPolicy;
  taxPercent: string;
  lines: readonly PriceLine[];
}

/** What the price of an event depends on besides the event and its amount. */
export interface PriceFacts {
  brand: string;
  network?: string | null | undefined;
  currency: string;
  /** The name of the connector, such as `stripe`. */
  connector?: string | null | undefined;
}

/** The price of one event, in minor units; without tax, and the tax on it. */
export interface Price {
  amount: bigint;
  tax: bigint;
  /** The line that applied, counted from 0; null if none did. */
  line: number | null;
  /** The part of the amount that is not `fixed`, which refunds may return, and the tax on it. */
  percentPart: bigint;
  percentTax: bigint;
}

/** Percentages have four decimals at most. */
export const PERCENT_DIGITS = 4;
const WHOLE = 10n ** BigInt(PERCENT_DIGITS + 2);

/** A percentage of an amount, rounded half up. */
export const percentOf = (amount: bigint, percent: string): bigint =>
  halfUp(amount * (scaledDecimal(percent, PERCENT_DIGITS) ?? 0n), WHOLE);

const isAny = (list: readonly string[], value: string | null | undefined): boolean =>
  list.length === 0 || (typeof value === 'string' && list.includes(value));

function isMatch(line: PriceLine, event: PriceEvent, facts: PriceFacts, amount: bigint): boolean {
  if (line.event !== event) return false;
  if (!isAny(line.brands, facts.brand) || !isAny(line.networks, facts.network)) return false;
  if (!isAny(line.currencies, facts.currency) || !isAny(line.connectors, facts.connector)) return false;
  return isWithinBounds(amount, exponentOf(facts.currency), line.minAmount, line.maxAmount);
}

/** The fee of a line without tax: the percentage and `fixed`, then at least `minimum` and at most `maximum`. */
function feeOf(line: PriceLine, currency: string, amount: bigint): { fee: bigint; fixed: bigint } {
  const units = (text: string | null): bigint | undefined =>
    text === null ? undefined : scaledDecimal(text, exponentOf(currency));
  const fixed = units(line.fixed) ?? 0n;
  const sum = (line.percent === null ? 0n : percentOf(amount, line.percent)) + fixed;
  const [minimum, maximum] = [units(line.minimum), units(line.maximum)];
  const atLeast = minimum !== undefined && sum < minimum ? minimum : sum;
  return { fee: maximum !== undefined && atLeast > maximum ? maximum : atLeast, fixed };
}

/** The price of an event by the first line that matches; an event that no line prices costs nothing. */
export function price(
  version: Pick<PriceVersion, 'lines' | 'taxPercent'>,
  event: PriceEvent,
  facts: PriceFacts,
  amount: bigint,
): Price {
  const index = version.lines.findIndex((line) => isMatch(line, event, facts, amount));
  const line = version.lines[index];
  if (!line) return { amount: 0n, tax: 0n, line: null, percentPart: 0n, percentTax: 0n };
  const { fee, fixed } = feeOf(line, facts.currency, amount);
  const percentPart = fee > fixed ? fee - fixed : 0n;
  const tax = (part: bigint): bigint => percentOf(part, version.taxPercent);
  return { amount: fee, tax: tax(fee), line: index, percentPart, percentTax: tax(percentPart) };
}

/** What refunds have returned of the fee of a sale altogether, when so much of what was captured is refunded. */
export function returnedOf(
  policy: RefundPolicy,
  fee: Price,
  refunded: bigint,
  captured: bigint,
): { amount: bigint; tax: bigint } {
  const isWhole = refunded >= captured;
  if (policy === 'keep' || refunded <= 0n || (policy === 'full' && !isWhole)) return { amount: 0n, tax: 0n };
  if (policy === 'full') return { amount: fee.amount, tax: fee.tax };
  const share = (part: bigint): bigint => (isWhole ? part : halfUp(part * refunded, captured));
  return { amount: share(fee.percentPart), tax: share(fee.percentTax) };
}

/** The newest of the items that are in force at a time. */
function inForce<Item>(items: readonly Item[], since: (item: Item) => number, at: number): Item | undefined {
  let found: Item | undefined;
  for (const item of items) if (since(item) <= at && (!found || since(item) >= since(found))) found = item;
  return found;
}

/** The version of a plan that applies at a time; undefined before the first one. */
export const versionAt = (versions: readonly PriceVersion[], at: number): PriceVersion | undefined =>
  inForce(versions, ({ validFrom }) => validFrom, at);

/** A plan, or none, that an account or a connection has from a time on, with all versions of the plan. */
export interface Assignment {
  assignedAt: number;
  planId: string | null;
  versions: readonly PriceVersion[];
}

/** The version that applies to an event at a time: that of the plan that was assigned then. */
export const assignedVersion = (assignments: readonly Assignment[], at: number): PriceVersion | undefined =>
  versionAt(inForce(assignments, ({ assignedAt }) => assignedAt, at)?.versions ?? [], at);

/** An event of a payment to be priced; `seq` is that of its history row. */
export interface PricedEvent {
  seq: number;
  event: PriceEvent;
  amount: bigint;
  at: number;
}

/** A fee of an event, or the return of an earlier one (`event` is that of the fee then). */
export interface Fee {
  /** The history row that caused it. */
  seq: number;
  event: PriceEvent;
  isReturned: boolean;
  amount: bigint;
  tax: bigint;
  plan: { planId: string; version: number; line: number };
}

/**
 * The fees of a payment's events in the order of its history, and what its refunds return of them by the policies of the
 * versions that priced the sales. Fees of nothing are left out.
 */
export function feesOf(facts: PriceFacts, events: readonly PricedEvent[], assignments: readonly Assignment[]): Fee[] {
  const fees: Fee[] = [];
  const sales: { fee: Fee; price: Price; policy: RefundPolicy; returned: { amount: bigint; tax: bigint } }[] = [];
  let captured = 0n;
  let refunded = 0n;
  const add = (fee: Fee): void => {
    if (fee.amount > 0n || fee.tax > 0n) fees.push(fee);
  };
  for (const { seq, event, amount, at } of events) {
    if (event === 'sale') captured += amount;
    if (event === 'refund') {
      refunded += amount;
      for (const sale of sales) {
        const returned = returnedOf(sale.policy, sale.price, refunded, captured);
        const more = { amount: returned.amount - sale.returned.amount, tax: returned.tax - sale.returned.tax };
        add({ ...sale.fee, seq, isReturned: true, ...more });
        sale.returned = returned;
      }
    }
    const version = assignedVersion(assignments, at);
    const priced = version && price(version, event, facts, amount);
    if (!version || !priced || priced.line === null) continue;
    const plan = { planId: version.planId, version: version.version, line: priced.line };
    const fee = { seq, event, isReturned: false, amount: priced.amount, tax: priced.tax, plan };
    add(fee);
    if (event === 'sale')
      sales.push({ fee, price: priced, policy: version.refundPolicy, returned: { amount: 0n, tax: 0n } });
  }
  return fees;
}

/** A movement of money of a payment, by the category of its ledger entry. */
export interface PricedMovement {
  seq: number;
  category: string;
  amount: bigint;
  at: number;
}

/** The movements that have a price; a chargeback that is reversed has none. */
const MOVEMENT_EVENTS: Readonly<Record<string, PriceEvent>> = {
  sale: 'sale',
  refund: 'refund',
  payout_to_payer: 'payout_to_payer',
  chargeback: 'chargeback',
  second_chargeback: 'chargeback',
};

/** A history row, as far as it says what was done besides moving money. */
export interface ProcessingRow {
  seq: number;
  event: string;
  at: number;
  /** Whether the row records an authentication of the payer (3DS). */
  isAuthentication: boolean;
}

/** The history rows that are events without a movement of money, if they are the first of their kind. */
const PROCESSING_EVENTS: Readonly<Partial<Record<PriceEvent, (row: ProcessingRow) => boolean>>> = {
  three_ds: ({ isAuthentication }) => isAuthentication,
  authorisation: ({ event }) => event === 'authorised',
  void: ({ event }) => event === 'voided' || event === 'reversed',
  decline: ({ event }) => event === 'declined',
};

/**
 * The events of a payment that can have a price, in the order of its history. An authorisation is one only if the sale was
 * requested with `auth=Y`. 3DS is one event, however many rows its challenge has.
 */
export function pricedEvents(
  { amount, isAuthorisation }: { amount: bigint; isAuthorisation: boolean },
  rows: readonly ProcessingRow[],
  movements: readonly PricedMovement[],
): PricedEvent[] {
  const moved = movements.flatMap(({ seq, category, amount: units, at }) => {
    const event = MOVEMENT_EVENTS[category];
    return event ? [{ seq, event, amount: units, at }] : [];
  });
  const processed = Object.entries(PROCESSING_EVENTS).flatMap(([event, isEvent]) => {
    const row = event === 'authorisation' && !isAuthorisation ? undefined : rows.find(isEvent);
    return row ? [{ seq: row.seq, event: event as PriceEvent, amount, at: row.at }] : [];
  });
  return [...processed, ...moved].sort((a, b) => a.seq - b.seq);
}
