/** The ledger entries of a payment: a pure function of its history, its finished operations and what never changes of it. */
import { brandOf } from './brands.ts';
import { splitConnectionKey } from './connectors.ts';
import {
  availableAfter,
  type Category,
  composeEntry,
  type EntryAmount,
  type LedgerEntry,
  type PlanLine,
} from './ledger.ts';
import { type Assignment, type Fee, feesOf, percentOf, pricedEvents } from './pricing.ts';
import { availableDay, type HolidayList, holidaysAt } from './settlement-calendar.ts';
import { type SettlementTerms, termsAt } from './settlements.ts';

/** A payment as the ledger reads it; what it reads of the payment's row no longer changes once money has moved. */
export interface LedgerPayment {
  mid: string;
  paymentId: string;
  brand: string;
  /** The last one; see `connectorAt`. */
  connector: string;
  currency: string;
  /** The network of the card. */
  network: string | null;
  amount: bigint;
  isAuthorisation: boolean;
  captured: bigint;
  /** Only compared with the entries. */
  refunded: bigint;
  state: string;
  /** In the order of `seq`; rows that concern neither money nor prices may be left out. */
  history: readonly LedgerRow[];
  /** Those that the provider has done, oldest first. */
  operations: readonly LedgerOperation[];
}

export interface LedgerRow {
  seq: number;
  event: string;
  fromState: string | null;
  toState: string;
  at: number;
  /** What the event captured, refunded or charged back; rows of early versions have none. */
  amount: bigint | null;
  /** Whether the row records an authentication of the payer (3DS). */
  isAuthentication: boolean;
  /** The connector that the payment had up to this row, if another one took the payment over with it. */
  leftConnector: string | null;
}

/** The price plans that the account and the connections of a payment had at any time, and the account's settlement terms. */
export interface PaymentPrices {
  sell: readonly Assignment[];
  /** By connection; those of other payments may be among them. */
  buy: ReadonlyMap<string, readonly Assignment[]>;
  /** In the currency of the payment. */
  terms: readonly SettlementTerms[];
  /** Read only if the terms count business days. */
  holidays: readonly HolidayList[];
}

export interface LedgerOperation {
  operationId: string;
  verb: string;
  amount: bigint;
  finishedAt: number | null;
}

const REFUNDS = ['refunded', 'partlyRefunded', 'noted refunded', 'noted partlyRefunded'];
const LATE_REFUNDS = ['lateRefunded', 'noted lateRefunded'];

/** The events that the ledger reads besides those with an amount, and besides entering one of the states. */
export const LEDGER_EVENTS: readonly string[] = [
  ...REFUNDS,
  ...LATE_REFUNDS,
  ...['chargebackReversed', 'secondChargedBack'],
  // They may have a price, and move no money.
  ...['challenged', 'authenticated', 'authorised', 'voided', 'reversed', 'declined'],
  // It says which connector the payment had before.
  'rerouted',
];
export const LEDGER_STATES = ['SETTLED', 'CHARGEBACK'] as const;

/** The connector that a payment had when a row of its history was written: another one may have taken it over since. */
const connectorAt = ({ connector, history }: LedgerPayment, seq: number): string =>
  history.find((row) => row.leftConnector !== null && row.seq >= seq)?.leftConnector ?? connector;

/** All connectors that a payment has had. */
export const connectorsOf = ({ connector, history }: LedgerPayment): string[] => [
  ...history.flatMap(({ leftConnector }) => leftConnector ?? []),
  connector,
];

/** One movement of money of a payment. */
export interface Movement {
  seq: number;
  at: number;
  category:
    | 'sale'
    | 'refund'
    | 'payout_to_payer'
    | 'chargeback'
    | 'second_chargeback'
    | 'chargeback_reversed'
    | 'reserve_held';
  amount: bigint;
  operationId: string | null;
}

const CHARGEBACKS: Readonly<Record<string, Movement['category']>> = {
  chargedBack: 'chargeback',
  secondChargedBack: 'second_chargeback',
};

/** The movements of a payment in the order of its history; those of earlier rows do not depend on later rows. */
export function movementsOf({ brand, captured, history, operations }: LedgerPayment): Movement[] {
  const movements: Movement[] = [];
  const unused = new Set(operations);
  /** The operations that finished with this row, each for one row. */
  const finished = (row: LedgerRow, ...verbs: string[]): LedgerOperation[] =>
    [...unused].filter(({ verb, finishedAt }) => verbs.includes(verb) && finishedAt === row.at);
  const total = (...categories: Movement['category'][]): bigint =>
    movements.reduce((sum, { category, amount }) => (categories.includes(category) ? sum + amount : sum), 0n);
  const move = (row: LedgerRow, category: Movement['category'], amount: bigint, operation?: LedgerOperation): void => {
    if (operation) unused.delete(operation);
    if (amount > 0n) {
      movements.push({ seq: row.seq, at: row.at, category, amount, operationId: operation?.operationId ?? null });
    }
  };
  for (const row of history) {
    const { event, amount } = row;
    const isEntered = row.fromState !== row.toState;
    if (REFUNDS.includes(event)) {
      const refunds = finished(row, 'refund', 'credit');
      const refund = refunds.find((one) => amount === null || one.amount === amount);
      // Without an amount the row stands for all refunds that finished at its time.
      move(row, 'refund', amount ?? refunds.reduce((sum, one) => sum + one.amount, 0n), refund);
      if (amount === null) for (const one of refunds) unused.delete(one);
    } else if (LATE_REFUNDS.includes(event)) {
      // The money came after the payment had ended, and was sent back. A reservation that was released moved none.
      const [refund] = finished(row, 'late_refund');
      move(row, 'sale', refund?.amount ?? 0n);
      move(row, 'refund', refund?.amount ?? 0n, refund);
    } else if (event === 'chargebackReversed') {
      const open = total('chargeback', 'second_chargeback') - total('chargeback_reversed');
      move(row, 'chargeback_reversed', amount ?? open);
    } else if (isEntered && row.toState === 'CHARGEBACK') {
      const category = CHARGEBACKS[event] ?? 'chargeback';
      move(row, category, amount ?? total('sale') - total('refund'));
    } else if (amount !== null || (isEntered && row.toState === 'SETTLED')) {
      const capture = finished(row, 'capture')[0];
      move(row, brandOf(brand)?.isPayout ? 'payout_to_payer' : 'sale', amount ?? captured, capture);
    }
  }
  return movements;
}

/** A fee or a cost as an entry has it. */
interface Charge extends EntryAmount {
  seq: number;
  category: Category;
  plan: PlanLine;
}

/** A fee, or what a refund returns of one. */
const sold = ({ seq, event, isReturned, amount, tax, plan }: Fee): Charge => ({
  seq,
  category: `${isReturned ? 'fee_returned' : 'fee'}.${event}`,
  amount,
  tax,
  plan,
});

/** A cost, with the tax that the provider adds; what it returns is negative. */
const bought = ({ seq, event, isReturned, amount, tax, plan }: Fee): Charge => ({
  seq,
  category: `cost.${event}`,
  amount: isReturned ? -(amount + tax) : amount + tax,
  plan,
});

/** A refund may return fees of several captures: one entry has their sum. Money that is sent back at once may return all of its cost. */
function combined(charges: readonly Charge[]): Charge[] {
  const byCategory = Map.groupBy(charges, ({ seq, category }) => `${seq} ${category}`);
  return [...byCategory.values()]
    .map((same) => ({
      ...(same.at(-1) as Charge),
      amount: same.reduce((sum, { amount }) => sum + amount, 0n),
      tax: same.reduce((sum, { tax = 0n }) => sum + tax, 0n),
    }))
    .filter(({ amount, tax }) => amount !== 0n || tax !== 0n);
}

/** The fees and costs of a payment's events, each by the connector that the payment had then. Money moves at the last one only. */
function chargesOf(payment: LedgerPayment, movements: readonly Movement[], { sell, buy }: PaymentPrices): Charge[] {
  if (sell.length === 0 && buy.size === 0) return [];
  const { brand, network, currency, history } = payment;
  const events = Map.groupBy(pricedEvents(payment, history, movements), ({ seq }) => connectorAt(payment, seq));
  const charges = [...events].flatMap(([key, priced]) => {
    const { connector, connectionId } = splitConnectionKey(key);
    const facts = { brand, network, currency, connector };
    const costs = feesOf(facts, priced, buy.get(connectionId ?? '') ?? []);
    return [...feesOf(facts, priced, sell).map(sold), ...costs.map(bought)];
  });
  return combined(charges);
}

/** What becomes available with a sale: itself, its fee, and what is withheld of it and released. Everything else counts at once. */
export const DELAYED: readonly Category[] = ['sale', 'fee.sale', 'reserve_held', 'reserve_released'];

/** What is withheld of a sale, or nothing. */
function reserveOf({ seq, at, category, amount }: Movement, terms: readonly SettlementTerms[]): Movement[] {
  const { reservePercent } = termsAt(terms, at) ?? { reservePercent: null };
  if (category !== 'sale' || reservePercent === null) return [];
  const held = percentOf(amount, reservePercent);
  return held > 0n ? [{ seq, at, category: 'reserve_held', amount: held, operationId: null }] : [];
}

/** All entries of a payment: the movements of its money, the fees and costs of its events, and the reserve of its sales. */
export function entriesOf(payment: LedgerPayment, prices: PaymentPrices): LedgerEntry[] {
  const { mid, paymentId, brand, currency, history } = payment;
  const { terms, holidays } = prices;
  const movements = movementsOf(payment);
  const charges = chargesOf(payment, movements, prices);
  const times = new Map(history.map(({ seq, at }) => [seq, at]));
  const operations = new Map(movements.map(({ seq, operationId }) => [seq, operationId]));
  const entry = (seq: number, category: Category, amount: EntryAmount, plan: PlanLine | null): LedgerEntry => {
    const postedAt = times.get(seq) as number;
    const operationId = operations.get(seq) ?? null;
    const owner = { mid, paymentId, brand, connector: connectorAt(payment, seq), currency };
    const delay = DELAYED.includes(category) ? termsAt(terms, postedAt) : undefined;
    const availableOn = delay
      ? availableDay(delay, holidaysAt(holidays, postedAt), postedAt)
      : availableAfter(postedAt);
    const facts = { sourceId: paymentId, seq, category, ...owner, operationId, postedAt, availableOn, plan };
    return composeEntry(facts, amount);
  };
  const reserves = movements.flatMap((movement) => reserveOf(movement, terms));
  return [
    ...movements.map((movement) => entry(movement.seq, movement.category, movement, null)),
    ...charges.map((charge) => entry(charge.seq, charge.category, charge, charge.plan)),
    ...reserves.map((reserve) => entry(reserve.seq, reserve.category, reserve, null)),
  ].sort((a, b) => a.seq - b.seq);
}
