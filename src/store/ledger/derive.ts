/** Derives the entries of payments from what the database has of them: their history, and their finished operations. */

import { splitConnectionKey } from '../../rules/connectors.ts';
import type { LedgerEntry } from '../../rules/ledger.ts';
import {
  connectorsOf,
  entriesOf,
  LEDGER_EVENTS,
  LEDGER_STATES,
  type LedgerOperation,
  type LedgerPayment,
  type LedgerRow,
  type PaymentPrices,
} from '../../rules/ledger-entries.ts';
import { UNANSWERED_AUTHENTICATION } from '../../rules/reasons.ts';
import { types } from '../database/database.ts';
import { CARD_NETWORK } from '../payments/search-row.ts';
import { readAssignments } from '../prices/assignments.ts';
import type { Client } from '../projections/projection.ts';
import { readHolidays } from '../settlements/holidays.ts';
import { readTerms } from '../settlements/terms.ts';

const quoted = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ');

/** SQL: whether a history row `h` records an authentication of the payer (3DS). */
const IS_AUTHENTICATION = `(h.call ->> 'verb' = 'authenticate'
  or h.call ->> 'authentication' <> '${UNANSWERED_AUTHENTICATION}')`;

/** SQL: whether a history row `h` concerns the ledger. */
const IS_READ = `(h.amount is not null or h.event in (${quoted(LEDGER_EVENTS)})
  or h.to_state in (${quoted(LEDGER_STATES)}) and h.from_state is distinct from h.to_state
  or ${IS_AUTHENTICATION})`;

/** The payments of these history rows that the ledger reads. */
export const ledgerPayments = (history: string): string =>
  `select distinct h.mid, h.payment_id from (${history}) h where ${IS_READ}`;

/** A review authorises a direct sale, and the approval captures it: that is no authorisation of the merchant. */
const ROWS = (payments: string): string => `
  select p.mid, p.payment_id as "paymentId", p.brand, ${CARD_NETWORK} as network, p.connector, p.currency, p.amount as "wholeAmount",
    p.is_authorisation and d.review_captures is not true as "isAuthorisation", p.captured, p.refunded, p.state, h.seq, h.event,
    h.from_state as "fromState", h.to_state as "toState", h.at, h.amount,
    coalesce(${IS_AUTHENTICATION}, false) as "isAuthentication",
    case when h.event = 'rerouted' then h.call ->> 'connector' end as "leftConnector"
  from (${payments}) c join payments p using (mid, payment_id) join history h using (mid, payment_id)
    left join risk_decisions d using (mid, payment_id)
  where ${IS_READ} order by p.payment_id, p.mid, h.seq`;

/** Operations finish with the row that has their effect; a sale that was settled at once has none. */
const OPERATIONS = `
  select o.mid, o.payment_id as "paymentId", o.operation_id as "operationId", o.verb::text as verb, o.amount,
    o.finished_at as "finishedAt"
  from unnest($1::uuid[], $2::uuid[]) c(mid, payment_id) join operations o using (mid, payment_id)
  where o.state = 'done' order by o.requested_at, o.operation_id`;

type Read = Omit<LedgerPayment, 'history' | 'operations' | 'amount'> & LedgerRow & { wholeAmount: bigint };
type ReadOperation = LedgerOperation & Pick<LedgerPayment, 'mid' | 'paymentId'>;

const keyOf = ({ mid, paymentId }: Pick<LedgerPayment, 'mid' | 'paymentId'>): string => `${mid} ${paymentId}`;

/** The payments that a query without parameters selects, as the ledger reads them. */
export async function readPayments(client: Client, payments: string): Promise<LedgerPayment[]> {
  const { rows } = await client.query<Read>({ text: ROWS(payments), types });
  const byPayment = Map.groupBy(rows, keyOf);
  const operated = [...byPayment.values()].flatMap(([first, ...more]) =>
    first && (more.length > 0 || first.event !== 'settled') ? [first] : [],
  );
  const found = operated.length === 0 ? [] : await readOperations(client, operated);
  const operations = Map.groupBy(found, keyOf);
  return [...byPayment].map(([key, history]) => ({
    ...(history[0] as Read),
    amount: (history[0] as Read).wholeAmount,
    history,
    operations: operations.get(key) ?? [],
  }));
}

async function readOperations(client: Client, payments: readonly Read[]): Promise<ReadOperation[]> {
  const values = [payments.map(({ mid }) => mid), payments.map(({ paymentId }) => paymentId)];
  return (await client.query<ReadOperation>({ text: OPERATIONS, values, types })).rows;
}

/** The price plans and the settlement terms of a payment. */
export type PricesOf = (payment: Pick<LedgerPayment, 'mid' | 'currency'>) => PaymentPrices;

/** Reads the price plans and the settlement terms of these payments. The installation's own provider is no connection, and has none. */
export async function readPrices(client: Client, payments: readonly LedgerPayment[]): Promise<PricesOf> {
  const mids = [...new Set(payments.map(({ mid }) => mid))];
  const connectors = new Set(payments.flatMap(connectorsOf));
  const connections = [...connectors].flatMap((connector) => splitConnectionKey(connector).connectionId ?? []);
  const { sell, buy } = await readAssignments(client, mids, connections);
  const { termsOf, hasBusinessDays } = await readTerms(client, mids);
  const holidays = hasBusinessDays ? await readHolidays(client) : [];
  return ({ mid, currency }) => ({ sell: sell.get(mid) ?? [], buy, terms: termsOf(mid, currency), holidays });
}

/** All entries of the payments that a query without parameters selects, in the order of the payments and of their history. */
export async function deriveEntries(client: Client, payments: string): Promise<LedgerEntry[]> {
  const found = await readPayments(client, payments);
  if (found.length === 0) return [];
  const pricesOf = await readPrices(client, found);
  return found.flatMap((payment) => entriesOf(payment, pricesOf(payment)));
}
