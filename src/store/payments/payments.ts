/** The store of payments: batched writes and reads by key, claims of due rows, history and lists. */
import type pg from 'pg';
import { isDivisionByZero, isLost, Outage } from '../../lib/flow/faults.ts';
import { NO_BRAND_YET } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { AttemptCounts } from '../cards/card-attempts.ts';
import { claimStatement, columns, dueConnectors, dueSince, hastenStatement, iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { itemRows } from '../database/item-rows.ts';
import { isCommitted } from '../database/lost-write.ts';
import { type PipelinedConnection, run } from '../database/pipelined-connection.ts';
import { isTokenUsed, type UsedToken } from '../wallets/wallet-tokens.ts';
import { createBatching, isolating, type PaymentStoreOptions, reportWrite } from './batch.ts';
import { createPaymentLists, type PaymentLists } from './list.ts';
import type { CallRecord, FormerSubmission, HistoryRow, Payment, PaymentWithDetails, Transition } from './payment.ts';
import {
  lockKeyOf,
  type Opened,
  type OpenItem,
  openPayments,
  RISK_VERSION,
  type SentItem,
  sizeOf,
  TOO_LATE,
  type TransitionItem,
  writeTransitions,
} from './write.ts';

export type { ListedPayment, PaymentCount, PaymentFilter, PaymentPage, PaymentSelection } from './list.ts';
export type * from './payment.ts';

export const PAYMENT_COLUMNS = [
  'mid',
  'paymentId',
  'orderId',
  'attempt',
  'protocol',
  'brand',
  'connector',
  'routeReason',
  'state',
  'historyLength',
  'amountText',
  'currency',
  'amount',
  'authorised',
  'captured',
  'refunded',
  'reserved',
  'busy',
  'inDoubt',
  'dueAt',
  'payerUntil',
  'queryCount',
  'nextStep',
  'attention',
  'isAuthorisation',
  'isRecurringInit',
  'fingerprint',
  'descriptor',
  'declineReason',
  'recurringToken',
  'scheduleId',
  'providerReference',
  'providerData',
  'createdAt',
  'updatedAt',
] as const satisfies (keyof Payment)[];

/** The columns of a status request; these are frequent, so they read no others. */
const STATUS_COLUMNS = [
  'paymentId',
  'orderId',
  'brand',
  'state',
  'amountText',
  'currency',
  'authorised',
  'inDoubt',
  'payerUntil',
  'declineReason',
  'recurringToken',
  'scheduleId',
  'createdAt',
] as const satisfies (keyof Payment)[];

export type PaymentStatus = Pick<Payment, (typeof STATUS_COLUMNS)[number]>;

const SELECTED = columns('p', [...PAYMENT_COLUMNS, 'details']);

export type PaymentKey = Pick<Payment, 'mid' | 'paymentId'>;
type OrderKey = Pick<Payment, 'mid' | 'orderId'>;

const KEYS = itemRows<PaymentKey>([
  ['mid', 'uuid', ({ mid }) => mid],
  ['payment_id', 'uuid', ({ paymentId }) => paymentId],
]);

const find = (names: readonly string[]): string => `
  select i.ordinal::int, ${columns('p', names)}
  from ${KEYS.rows('i', 'ordinal')}
  join payments p on p.mid = i.mid and p.payment_id = i.payment_id`;

const ORDERS = itemRows<OrderKey>([
  ['mid', 'uuid', ({ mid }) => mid],
  ['order_id', 'text', ({ orderId }) => orderId],
]);

const FIND_BY_ORDER = `
  select i.ordinal::int, p.*
  from ${ORDERS.rows('i', 'ordinal')}
  cross join lateral (
    select ${SELECTED} from payments p
    where p.mid = i.mid and p.order_id = i.order_id
    order by p.attempt desc limit 1
  ) p`;

const IDS = itemRows<string>([['payment_id', 'uuid', (id) => id]]);

const FIND_ANYWHERE = `
  select i.ordinal::int, ${SELECTED}
  from ${IDS.rows('i', 'ordinal')}
  join payments p on p.payment_id = i.payment_id`;

/** Another connection takes over a payment, once: after a concurrent change the history length does not match. */
const REROUTE = `
  with rerouted as (
    update payments set connector = $4, route_reason = $5, provider_reference = null, provider_data = $6, due_at = $7,
      updated_at = $8, history_length = history_length + 1
    where mid = $1 and payment_id = $2 and history_length = $3 and busy is null
    returning mid, payment_id, history_length, state
  ), former as (
    insert into former_submissions (mid, payment_id, submission, connector, provider_reference, provider_data, at)
    select mid, payment_id, $9, $10, $11, $12, $8 from rerouted
  )
  insert into history (mid, payment_id, seq, event, from_state, to_state, actor, call, at)
  select mid, payment_id, history_length, 'rerouted', state, state, 'provider', $13, $8 from rerouted`;

const FIND_FORMER = `
  select submission, connector, provider_reference as "providerReference", provider_data as "providerData",
    mid, payment_id as "paymentId"
  from former_submissions f`;

/** The condition on the connector is that of the index: only payments of connections are found. */
const FIND_BY_PROVIDER_REFERENCE = `
  select ${SELECTED} from payments p
  where p.connector = $1 and p.provider_reference = $2 and p.connector like '%/%'
  order by p.payment_id desc limit 1`;

// A payment with an operation in flight is not claimed: the outcome of the operation comes first.
const CLAIM = claimStatement(
  'payments',
  'payment_id',
  [...PAYMENT_COLUMNS, 'details'],
  `d.busy is null and d.connector = $3 and ${dueSince('$4')}`,
);
// Payments that were just queried keep their time: two queries of a payment need a pause between them.
const HASTEN = hastenStatement(
  'payments',
  'payment_id',
  "d.in_doubt and d.busy is null and d.updated_at < at.now - $4 * interval '1 ms'",
);
const DUE_CONNECTORS = dueConnectors('payments');

/** Stores the payer's input, once: for a concurrent second request the history length does not match. */
const COLLECT = `
  with collected as (
    update payments set details = $1, next_step = null, due_at = $2, updated_at = $3,
      history_length = history_length + 1, brand = $7, connector = $8, payer_until = $9, route_reason = $10
    where mid = $4 and payment_id = $5 and history_length = $6
      and (state = 'PREPARE' and brand = '${NO_BRAND_YET}' or state = 'REDIRECT' and next_step ->> 'kind' = 'fields'
        or state = '3DS' and next_step ->> 'kind' = 'authentication')
      and not exists (select from wallet_tokens w where w.replay_key = $11 and w.is_first)
    returning mid, payment_id, history_length, state
  ), used_token as (
    -- Of concurrent payments with one token, the unique constraint lets one through.
    insert into wallet_tokens (mid, replay_key, payment_id, forget_at)
    select mid, $11, payment_id, $12::timestamptz from collected where $11::text is not null
  )
  insert into history (mid, payment_id, seq, event, from_state, to_state, actor, at)
  select mid, payment_id, history_length, 'collected', state, state, 'payer', $3 from collected
  returning ${RISK_VERSION}`;

export interface PaymentStore extends PaymentLists {
  /**
   * Inserts a payment, which reserves its order and uses up its wallet token, and the attempt of a card that came with it;
   * false if this attempt of the order exists, a credit has the order, or another payment used the token. With an attempt
   * it returns the counts for it, or true if the attempt was stored and could not be counted.
   */
  open(payment: PaymentWithDetails, token?: UsedToken, sent?: SentItem): Promise<boolean | AttemptCounts>;
  /** Writes a transition; false if the payment has changed since it was read. */
  transition(transition: Transition): Promise<boolean>;
  /**
   * Stores the payer's input, and uses up the wallet token; false if the payment has changed since it was read, or
   * another payment used the token.
   */
  collect(before: Payment, after: PaymentWithDetails, token?: UsedToken): Promise<boolean>;
  find(key: PaymentKey): Promise<PaymentWithDetails | undefined>;
  /** Reads the columns of a status request only. */
  status(key: PaymentKey): Promise<PaymentStatus | undefined>;
  /** The newest attempt of an order. */
  findByOrder(key: OrderKey): Promise<PaymentWithDetails | undefined>;
  /** The connectors of payments that are due, now or later. */
  dueConnectors(): Promise<string[]>;
  /** Claims due payments of a connector under a lease; with `sinceMs`, those that were not due longer ago than that. */
  claimDue(connector: string, most: number, sinceMs?: number): Promise<PaymentWithDetails[]>;
  /** Makes payments in doubt of a connector due early, because it answers again. */
  hasten(connector: string): Promise<void>;
  history(payment: Payment): Promise<HistoryRow[]>;
  /** Finds a payment of any account. */
  findAnywhere(paymentId: string): Promise<PaymentWithDetails | undefined>;
  /** Moves a payment to the connection of `after`; false if it has changed since it was read. */
  reroute(before: Payment, after: Payment, former: FormerSubmission, call: CallRecord): Promise<boolean>;
  /** The submissions of a payment that another connection took over, or the one with this provider's reference. */
  formerSubmissions(payment: PaymentKey): Promise<FormerSubmission[]>;
  findFormer(connector: string, providerReference: string): Promise<(FormerSubmission & PaymentKey) | undefined>;
  /** Finds the payment of a connection by the provider's reference. */
  findByProviderReference(connector: string, providerReference: string): Promise<PaymentWithDetails | undefined>;
  /** The newest attempts of an order, newest first. */
  attempts(key: OrderKey, most: number): Promise<PaymentWithDetails[]>;
  findAll(paymentIds: readonly string[]): Promise<PaymentWithDetails[]>;
}

export function createPaymentStore(
  { writes, reads, isolated, pool, query }: Database,
  onBatch: (statement: string, size: number) => void,
  options: PaymentStoreOptions = {},
): PaymentStore {
  const { now = Date.now, onRiskVersion = () => undefined } = options;
  const batched = createBatching(onBatch, options);

  const openAll = (connection: PipelinedConnection, items: OpenItem[]): Promise<Opened[]> =>
    openPayments(connection, items, now() + LIMITS.hotStatementTimeoutMs, onRiskVersion);
  const open = batchedWrite('open', openAll);
  const transit = batchedWrite('transition', writeTransitions);

  /** Batches a write. One whose connection was lost is looked up; unless it is found, its outcome is unknown. */
  function batchedWrite<Item extends OpenItem | TransitionItem, Result>(
    name: string,
    run: (connection: PipelinedConnection, items: Item[]) => Promise<Result[]>,
  ): (item: Item) => Promise<Result | boolean> {
    const write = batched<Item, Result>(name, (items) => reportWrite(run(writes, items), options), {
      maxBytes: LIMITS.batchBytes,
      weigh: sizeOf,
      ...isolating<Item, Result>(lockKeyOf, (items) => run(isolated, items)),
    });
    return (item) =>
      write(item).catch(async (error) => {
        if (isLost(error) && (await isCommitted(isolated, item))) return true;
        throw error;
      });
  }

  /** Rows come in any order; the ordinal of each is the position of its item, from 1. */
  const inOrder = <Row extends object>(items: unknown[], rows: (Row & { ordinal?: number })[]): (Row | undefined)[] => {
    const found: (Row | undefined)[] = Array(items.length).fill(undefined);
    for (const row of rows) {
      found[(row.ordinal as number) - 1] = row;
      delete row.ordinal;
    }
    return found;
  };

  const findBatched = <Row extends pg.QueryResultRow>(name: string, names: readonly string[]) => {
    const text = find(names);
    return batched<PaymentKey, Row | undefined>(name, async (keys) =>
      inOrder(keys, await run<Row>(reads, name, text, KEYS.values(keys))),
    );
  };

  const findByOrder = batched<OrderKey, PaymentWithDetails | undefined>('find_by_order', async (keys) =>
    inOrder(keys, await run<PaymentWithDetails>(reads, 'find_by_order', FIND_BY_ORDER, ORDERS.values(keys))),
  );

  const findAnywhere = batched<string, PaymentWithDetails | undefined>('find_anywhere', async (ids) =>
    inOrder(ids, await run<PaymentWithDetails>(reads, 'find_anywhere', FIND_ANYWHERE, IDS.values(ids))),
  );

  return {
    ...createPaymentLists(pool, PAYMENT_COLUMNS),
    async open(payment, token, sent) {
      let opened: Opened;
      try {
        opened = await open({ payment, details: JSON.stringify(payment.details), token, sent });
      } catch (error) {
        if (isTokenUsed(error)) return false;
        if (!isDivisionByZero(error)) throw error;
        opened = TOO_LATE;
      }
      if (opened === TOO_LATE) throw new Outage('The database reached the statement too late to open the payment.');
      return opened;
    },
    async transition(transition) {
      const { nextStep } = transition.after;
      return transit({ transition, nextStep: nextStep && JSON.stringify(nextStep) });
    },
    async collect(before, after, token) {
      const values = [
        JSON.stringify(after.details),
        iso(after.dueAt as number),
        iso(after.updatedAt),
        before.mid,
        before.paymentId,
        before.historyLength,
        after.brand,
        after.connector,
        after.payerUntil === null ? null : iso(after.payerUntil),
        after.routeReason,
        token?.replayKey ?? null,
        token ? iso(token.forgetAt) : null,
      ];
      const written = await pool.query(COLLECT, values).catch((error): pg.QueryResult | undefined => {
        if (isTokenUsed(error)) return undefined;
        throw error;
      });
      if (written?.rowCount !== 1) return false;
      onRiskVersion(written.rows[0].riskVersion);
      return true;
    },
    find: findBatched<PaymentWithDetails>('find', [...PAYMENT_COLUMNS, 'details']),
    status: findBatched<PaymentStatus>('status', STATUS_COLUMNS),
    findByOrder,
    async dueConnectors() {
      return (await run<{ connector: string }>(reads, 'due_connectors', DUE_CONNECTORS, [])).map(
        (row) => row.connector,
      );
    },
    async claimDue(connector, most, sinceMs) {
      return run<PaymentWithDetails>(writes, 'claim', CLAIM, [LIMITS.leaseMs, most, connector, sinceMs ?? null]);
    },
    async hasten(connector) {
      await pool.query(HASTEN, [connector, LIMITS.backlogPauseMs, LIMITS.backlogMost, LIMITS.leaseMs]);
    },
    async history({ mid, paymentId }) {
      const rows = await query
        .selectFrom('history')
        .select(['seq', 'event', 'fromState', 'toState', 'actor', 'actorName', 'note', 'call', 'at', 'amount'])
        .where('mid', '=', mid)
        .where('paymentId', '=', paymentId)
        .orderBy('seq')
        .execute();
      return rows as HistoryRow[];
    },
    findAnywhere,
    async reroute(before, after, former, call) {
      const { rowCount } = await pool.query(REROUTE, [
        before.mid,
        before.paymentId,
        before.historyLength,
        after.connector,
        after.routeReason,
        JSON.stringify(after.providerData),
        iso(after.dueAt as number),
        iso(after.updatedAt),
        former.submission,
        former.connector,
        former.providerReference,
        former.providerData && JSON.stringify(former.providerData),
        JSON.stringify(call),
      ]);
      return rowCount === 1;
    },
    async formerSubmissions({ mid, paymentId }) {
      const text = `${FIND_FORMER} where f.mid = $1 and f.payment_id = $2`;
      return (await pool.query<FormerSubmission>(text, [mid, paymentId])).rows;
    },
    async findFormer(connector, providerReference) {
      const text = `${FIND_FORMER} where f.connector = $1 and f.provider_reference = $2 limit 1`;
      return (await pool.query<FormerSubmission & PaymentKey>(text, [connector, providerReference])).rows[0];
    },
    async findByProviderReference(connector, providerReference) {
      const { rows } = await pool.query<PaymentWithDetails>(FIND_BY_PROVIDER_REFERENCE, [connector, providerReference]);
      return rows[0];
    },
    async attempts({ mid, orderId }, most) {
      const rows = await query
        .selectFrom('payments')
        .select([...PAYMENT_COLUMNS, 'details'])
        .where('mid', '=', mid)
        .where('orderId', '=', orderId)
        .orderBy('attempt', 'desc')
        .limit(most)
        .execute();
      return rows as PaymentWithDetails[];
    },
    async findAll(paymentIds) {
      if (paymentIds.length === 0) return [];
      const rows = await query
        .selectFrom('payments')
        .select([...PAYMENT_COLUMNS, 'details'])
        .where('paymentId', 'in', paymentIds)
        .execute();
      return rows as PaymentWithDetails[];
    },
  };
}
