/** Payments and their history: the three batched statements of the hot path, and the ordinary reads. */
import type pg from 'pg';
import { isDivisionByZero, isLockTimeout, Outage } from '../lib/faults.ts';
import { NO_BRAND_YET } from '../rules/brands.ts';
import { LIMITS } from '../rules/limits.ts';
import { moments, plain, texts } from './arrays.ts';
import { claimStatement, columns, dueConnectors, hastenStatement, iso } from './columns.ts';
import type { Database } from './database.ts';
import type { HistoryRow, Payment, Transition, WholePayment } from './payment.ts';
import {
  byOrder,
  byPayment,
  createBatching,
  lockedBy,
  type Opening,
  type PaymentStoreOptions,
  reported,
  TOO_LATE,
  type TransitionItem,
  type Written,
  weigh,
} from './payment-batch.ts';
import { FURTHEST_CLOCK, type PaymentFilter, paymentList } from './payment-list.ts';
import { type PipelinedConnection, run, runUnlessDeadlocked } from './pipelined-connection.ts';

export type * from './payment.ts';
export type { PaymentFilter } from './payment-list.ts';

const COLUMNS = [
  'mid',
  'paymentId',
  'orderId',
  'attempt',
  'protocol',
  'brand',
  'connector',
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
  'createdAt',
  'updatedAt',
] as const satisfies (keyof Payment)[];

/** What a status query tells; it is asked so often that it reads no more than that. */
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

const SELECTED = columns('p', [...COLUMNS, 'details']);

/** Why a callback is parked that nobody can be sent. */
const NO_ADDRESS = 'No callback_url is set.';

/** Opens and moves of one turn in one statement: one round trip and one flush for all of them. */
const WRITE = `
  with clock as (
    -- A statement that reaches the server after its sender stopped waiting opens nothing. The real time counts: the
    -- time of the transaction stands still while a statement waits.
    select clock_timestamp() >= $60::timestamptz as too_late
  ), opening as (
    select * from unnest(
      $1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::protocol[], $6::text[], $7::text[], $8::text[], $9::text[],
      $10::bigint[], $11::timestamptz[], $12::bool[], $13::bool[], $14::text[], $15::text[], $16::uuid[],
      $17::jsonb[], $18::timestamptz[], $19::timestamptz[]
    ) as i(mid, payment_id, order_id, attempt, protocol, brand, connector, amount_text, currency,
      amount, due_at, is_authorisation, is_recurring_init, fingerprint, descriptor, schedule_id, details, created_at,
      payer_until)
  ), opened as (
    insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
      amount_text, currency, amount, due_at, is_authorisation, is_recurring_init, fingerprint, descriptor,
      schedule_id, details, created_at, updated_at, payer_until)
    select mid, payment_id, order_id, attempt, protocol, brand, connector, 'PREPARE', 1,
      amount_text, currency, amount, due_at, is_authorisation, is_recurring_init, fingerprint,
      descriptor, schedule_id, details, created_at, created_at, payer_until
    from opening i
    where not exists (
      -- The own order of a credit is no payment's. The offset keeps it a look into the index for each order: a plan
      -- that was made while there were no credits would join all of them later.
      select from credits c where c.mid = i.mid and c.order_id = i.order_id and c.part = '' and i.attempt = 1 offset 0
    ) and not (select too_late from clock)
    on conflict (mid, order_id, attempt) do nothing
    returning mid, payment_id, created_at
  ), moving as (
    select * from unnest(
      $20::uuid[], $21::uuid[], $22::payment_state[], $23::int[], $24::payment_state[], $25::text[], $26::actor[],
      $27::jsonb[],
      $28::timestamptz[], $29::bigint[], $30::bigint[], $31::bigint[], $32::bool[], $33::timestamptz[], $34::int[],
      $35::text[], $36::text[], $37::text[], $38::jsonb[], $39::attention[], $40::bigint[], $41::operation_verb[],
      $42::text[], $43::text[], $44::bool[], $45::text[], $46::text[], $47::timestamptz[]
    ) with ordinality as i(mid, payment_id, from_state, history_length, to_state, event, actor, call,
      at, authorised, captured, refunded, in_doubt, due_at, query_count,
      decline_reason, recurring_token, provider_reference, next_step, attention, reserved, busy,
      callback_type, callback_body, callback_json, callback_url, callback_endpoint, callback_due_at, ordinal)
  ), moved as (
    update payments p
    set state = i.to_state, history_length = p.history_length + 1, updated_at = i.at, authorised = i.authorised,
      captured = i.captured, refunded = i.refunded, in_doubt = i.in_doubt, due_at = i.due_at, query_count = i.query_count,
      decline_reason = i.decline_reason, recurring_token = i.recurring_token,
      provider_reference = i.provider_reference, next_step = i.next_step, attention = i.attention,
      reserved = i.reserved, busy = i.busy
    from moving i
    where p.mid = i.mid and p.payment_id = i.payment_id
      and p.state = i.from_state and p.history_length = i.history_length
    returning p.mid, p.payment_id, p.connector, p.history_length as seq, i.event, i.from_state, i.to_state, i.actor, i.call, i.at,
      i.callback_type, i.callback_body, i.callback_json, i.callback_url, i.callback_endpoint, i.callback_due_at, i.ordinal
  ), logged as (
    insert into history (mid, payment_id, seq, event, from_state, to_state, actor, call, at)
    select mid, payment_id, 1, 'opened', null, 'PREPARE', 'merchant', null::jsonb, created_at from opened
    union all
    select mid, payment_id, seq, event, from_state, to_state, actor, call, at from moved
  ), told as (
    insert into callbacks (mid, payment_id, seq, type, body, is_json, url, endpoint, state, reason, due_at, created_at,
      finished_at)
    select mid, payment_id, seq, callback_type, callback_body, callback_json, callback_url, callback_endpoint,
      (case when callback_due_at is null then 'parked' else 'waiting' end)::callback_state,
      case when callback_due_at is null then '${NO_ADDRESS}' end, callback_due_at, at, case when callback_due_at is null then at end
    from moved where callback_body is not null
  ), operated as (
    insert into operations (mid, operation_id, payment_id, connector, verb, amount, state, reason, query_count, due_at,
      requested_at, finished_at, content, order_id)
    select m.mid, o.operation_id, m.payment_id, m.connector, o.verb, o.amount, o.state, o.reason, o.query_count, o.due_at,
      o.requested_at, o.finished_at, o.content, o.order_id
    from unnest($48::int[], $49::uuid[], $50::operation_verb[], $51::bigint[], $52::operation_state[], $53::text[],
      $54::int[], $55::timestamptz[], $56::timestamptz[], $57::timestamptz[], $58::text[], $59::text[]
    ) as o(ordinal, operation_id, verb, amount, state, reason, query_count, due_at, requested_at, finished_at, content,
      order_id)
    join moved m on m.ordinal = o.ordinal
    on conflict (mid, operation_id) do update set state = excluded.state, reason = excluded.reason,
      query_count = excluded.query_count, due_at = excluded.due_at, finished_at = excluded.finished_at,
      -- An id belongs to one payment: a second payment violates the not-null constraint, and its move does not happen.
      payment_id = case when operations.payment_id = excluded.payment_id then excluded.payment_id end
  )
  -- The same at the end: a statement that took longer than its sender waits divides by zero, and opens nothing.
  select payment_id as "paymentId", 0 / (clock_timestamp() < $60::timestamptz)::int as ordinal from opened
  union all
  select payment_id, ordinal::int from moved
  union all
  select null, ${TOO_LATE} from clock where too_late and cardinality($1) > 0`;

const find = (names: readonly string[]): string => `
  select i.ordinal::int, ${columns('p', names)}
  from unnest($1::uuid[], $2::uuid[]) with ordinality as i(mid, payment_id, ordinal)
  join payments p on p.mid = i.mid and p.payment_id = i.payment_id`;

const FIND_BY_ORDER = `
  select i.ordinal::int, p.*
  from unnest($1::uuid[], $2::text[]) with ordinality as i(mid, order_id, ordinal)
  cross join lateral (
    select ${SELECTED} from payments p
    where p.mid = i.mid and p.order_id = i.order_id
    order by p.attempt desc limit 1
  ) p`;

const FIND_ANYWHERE = `
  select i.ordinal::int, ${SELECTED}
  from unnest($1::uuid[]) with ordinality as i(payment_id, ordinal)
  join payments p on p.payment_id = i.payment_id`;

// While an operation is under way it decides; time comes after it.
const CLAIM = claimStatement('payments', 'payment_id', [...COLUMNS, 'details'], 'd.busy is null and d.connector = $3');
// What was asked about just now is left as it is: two answers of a provider have a pause between them.
const HASTEN = hastenStatement(
  'payments',
  'payment_id',
  "d.in_doubt and d.busy is null and d.updated_at < at.now - $4 * interval '1 ms'",
);
const DUE_CONNECTORS = dueConnectors('payments');

/** What the payer was asked for is kept with the payment, once: whoever comes second finds another history. */
const COLLECT = `
  with collected as (
    update payments set details = $1, next_step = null, due_at = $2, updated_at = $3,
      history_length = history_length + 1, brand = $7, connector = $8, payer_until = $9
    where mid = $4 and payment_id = $5 and history_length = $6
      and (state = 'PREPARE' and brand = '${NO_BRAND_YET}' or state = 'REDIRECT' and next_step ->> 'kind' = 'fields')
    returning mid, payment_id, history_length, state
  )
  insert into history (mid, payment_id, seq, event, from_state, to_state, actor, at)
  select mid, payment_id, history_length, 'collected', state, state, 'payer', $3 from collected`;

export type PaymentKey = Pick<Payment, 'mid' | 'paymentId'>;

export interface PaymentStore {
  /** Claims the order and writes the intent; false when the try of this order is taken already, or a credit has it. */
  open(payment: WholePayment): Promise<boolean>;
  /** Moves a payment and writes its history in one statement; false when it is no longer as it was. */
  transition(transition: Transition): Promise<boolean>;
  /** Keeps what the payer was asked for; false when the payment is no longer as it was. */
  collect(before: Payment, after: WholePayment): Promise<boolean>;
  find(key: PaymentKey): Promise<WholePayment | undefined>;
  /** Only what a status query tells. */
  status(key: PaymentKey): Promise<PaymentStatus | undefined>;
  /** The newest try of an order. */
  findByOrder(key: { mid: string; orderId: string }): Promise<WholePayment | undefined>;
  /** The connectors that have payments to be looked at, now or later. */
  dueConnectors(): Promise<string[]>;
  /** Claims payments of a connector that are due, for as long as the lease lasts. */
  claimDue(connector: string, most: number): Promise<WholePayment[]>;
  /** The connector answers again: it is asked soon about what it left open. */
  hasten(connector: string): Promise<void>;
  history(payment: Payment): Promise<HistoryRow[]>;
  /** One payment by its id alone, whichever account it belongs to. */
  findAnywhere(paymentId: string): Promise<WholePayment | undefined>;
  /** The newest attempts of an order, newest first. */
  attempts(key: { mid: string; orderId: string }, most: number): Promise<WholePayment[]>;
  findAll(paymentIds: readonly string[]): Promise<WholePayment[]>;
  list(filter: PaymentFilter): Promise<Payment[]>;
}

export function createPaymentStore(
  { writes, reads, isolated, pool, query }: Database,
  onBatch: (statement: string, size: number) => void,
  options: PaymentStoreOptions = {},
): PaymentStore {
  const { now = Date.now } = options;
  const batched = createBatching(onBatch, options);

  const runWrite = async (connection: PipelinedConnection, items: (Opening | TransitionItem)[]): Promise<Written[]> => {
    const openings = items.filter((item) => 'payment' in item).sort(byOrder);
    const opens = openings.map(({ payment }) => payment);
    const transitionItems = items.filter((item) => 'transition' in item).sort(byPayment);
    const transitions = transitionItems.map(({ transition }) => transition);
    const operations = transitions.flatMap(({ operation }, index) =>
      operation ? { ...operation, ordinal: index + 1 } : [],
    );
    const rows = await runUnlessDeadlocked<{ paymentId: string; ordinal: number }>(connection, 'write', WRITE, [
      plain(opens, (p) => p.mid),
      plain(opens, (p) => p.paymentId),
      texts(opens, (p) => p.orderId),
      plain(opens, (p) => p.attempt),
      plain(opens, (p) => p.protocol),
      texts(opens, (p) => p.brand),
      texts(opens, (p) => p.connector),
      texts(opens, (p) => p.amountText),
      plain(opens, (p) => p.currency),
      plain(opens, (p) => p.amount),
      moments(opens, (p) => p.dueAt),
      plain(opens, (p) => p.isAuthorisation),
      plain(opens, (p) => p.isRecurringInit),
      plain(opens, (p) => p.fingerprint),
      texts(opens, (p) => p.descriptor),
      plain(opens, (p) => p.scheduleId),
      texts(openings, ({ details }) => details),
      moments(opens, (p) => p.createdAt),
      moments(opens, (p) => p.payerUntil),
      plain(transitions, (m) => m.before.mid),
      plain(transitions, (m) => m.before.paymentId),
      plain(transitions, (m) => m.before.state),
      plain(transitions, (m) => m.before.historyLength),
      plain(transitions, (m) => m.after.state),
      plain(transitions, (m) => m.event),
      plain(transitions, (m) => m.actor),
      texts(transitions, (m) => (m.call ? JSON.stringify(m.call) : null)),
      moments(transitions, (m) => m.after.updatedAt),
      plain(transitions, (m) => m.after.authorised),
      plain(transitions, (m) => m.after.captured),
      plain(transitions, (m) => m.after.refunded),
      plain(transitions, (m) => m.after.inDoubt),
      moments(transitions, (m) => m.after.dueAt),
      plain(transitions, (m) => m.after.queryCount),
      texts(transitions, (m) => m.after.declineReason),
      texts(transitions, (m) => m.after.recurringToken),
      texts(transitions, (m) => m.after.providerReference),
      texts(transitionItems, ({ nextStep }) => nextStep),
      plain(transitions, (m) => m.after.attention),
      plain(transitions, (m) => m.after.reserved),
      plain(transitions, (m) => m.after.busy),
      texts(transitions, (m) => m.callback?.type ?? null),
      texts(transitions, (m) => m.callback?.body ?? null),
      plain(transitions, (m) => m.callback?.isJson ?? null),
      texts(transitions, (m) => m.callback?.url ?? null),
      texts(transitions, (m) => m.callback?.endpoint ?? null),
      moments(transitions, (m) => m.callback?.dueAt ?? null),
      plain(operations, (o) => o.ordinal),
      plain(operations, (o) => o.operationId),
      plain(operations, (o) => o.verb),
      plain(operations, (o) => o.amount),
      plain(operations, (o) => o.state),
      texts(operations, (o) => o.reason),
      plain(operations, (o) => o.queryCount),
      moments(operations, (o) => o.dueAt),
      moments(operations, (o) => o.requestedAt),
      moments(operations, (o) => o.finishedAt),
      texts(operations, (o) => o.content),
      texts(operations, (o) => o.orderId),
      iso(now() + LIMITS.hotStatementTimeoutMs),
    ]);
    let isTooLate = false;
    const opened = new Set<string>();
    // By its place in the batch: of two moves of one payment the update takes one, and the other must not claim it.
    const written = new Set<Transition>();
    for (const { paymentId, ordinal } of rows) {
      if (ordinal === TOO_LATE) isTooLate = true;
      else if (ordinal === 0) opened.add(paymentId);
      else written.add(transitions[ordinal - 1] as Transition);
    }
    return items.map((item) =>
      'transition' in item ? written.has(item.transition) : isTooLate ? TOO_LATE : opened.has(item.payment.paymentId),
    );
  };
  const write = batched<Opening | TransitionItem, Written>(
    'write',
    (items) => reported(runWrite(writes, items), options),
    {
      maxBytes: LIMITS.batchBytes,
      weigh,
      // A locked row delays its own payment alone.
      isolation: {
        isNeeded: isLockTimeout,
        keyOf: lockedBy,
        run: async (item) => (await runWrite(isolated, [item]))[0] as Written,
      },
    },
  );

  /** Rows come back in any order; each belongs to the item that its ordinal counts. */
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
    return batched<PaymentKey, Row | undefined>(name, async (items) =>
      inOrder(
        items,
        await run<Row>(reads, name, text, [plain(items, (key) => key.mid), plain(items, (key) => key.paymentId)]),
      ),
    );
  };

  const findByOrder = batched<{ mid: string; orderId: string }, WholePayment | undefined>(
    'find_by_order',
    async (items) =>
      inOrder(
        items,
        await run<WholePayment>(reads, 'find_by_order', FIND_BY_ORDER, [
          plain(items, (key) => key.mid),
          texts(items, (key) => key.orderId),
        ]),
      ),
  );

  const findAnywhere = batched<string, WholePayment | undefined>('find_anywhere', async (ids) =>
    inOrder(ids, await run<WholePayment>(reads, 'find_anywhere', FIND_ANYWHERE, [plain(ids, (id) => id)])),
  );

  return {
    async open(payment) {
      const written = await write({ payment, details: JSON.stringify(payment.details) }).catch((error): Written => {
        if (isDivisionByZero(error)) return TOO_LATE;
        throw error;
      });
      if (written === TOO_LATE) throw new Outage('The database came to the payment too late to open it.');
      return written;
    },
    async transition(transition) {
      const { nextStep } = transition.after;
      return (await write({ transition, nextStep: nextStep && JSON.stringify(nextStep) })) === true;
    },
    async collect(before, after) {
      const { rowCount } = await pool.query(COLLECT, [
        JSON.stringify(after.details),
        iso(after.dueAt as number),
        iso(after.updatedAt),
        before.mid,
        before.paymentId,
        before.historyLength,
        after.brand,
        after.connector,
        after.payerUntil === null ? null : iso(after.payerUntil),
      ]);
      return rowCount === 1;
    },
    find: findBatched<WholePayment>('find', [...COLUMNS, 'details']),
    status: findBatched<PaymentStatus>('status', STATUS_COLUMNS),
    findByOrder,
    async dueConnectors() {
      return (await run<{ connector: string }>(reads, 'due_connectors', DUE_CONNECTORS, [])).map(
        (row) => row.connector,
      );
    },
    async claimDue(connector, most) {
      return run<WholePayment>(writes, 'claim', CLAIM, [LIMITS.leaseMs, most, connector]);
    },
    async hasten(connector) {
      await pool.query(HASTEN, [connector, LIMITS.backlogPauseMs, LIMITS.backlogMost, LIMITS.leaseMs]);
    },
    async history({ mid, paymentId }) {
      const rows = await query
        .selectFrom('history')
        .select(['seq', 'event', 'fromState', 'toState', 'actor', 'call', 'at'])
        .where('mid', '=', mid)
        .where('paymentId', '=', paymentId)
        .orderBy('seq')
        .execute();
      return rows as HistoryRow[];
    },
    findAnywhere,
    async attempts({ mid, orderId }, most) {
      const rows = await query
        .selectFrom('payments')
        .select([...COLUMNS, 'details'])
        .where('mid', '=', mid)
        .where('orderId', '=', orderId)
        .orderBy('attempt', 'desc')
        .limit(most)
        .execute();
      return rows as WholePayment[];
    },
    async findAll(paymentIds) {
      const rows = await query
        .selectFrom('payments')
        .select([...COLUMNS, 'details'])
        .where('paymentId', 'in', paymentIds)
        .execute();
      return rows as WholePayment[];
    },
    async list(filter) {
      const { rows: clocks } = await pool.query<{ aheadMs: number }>(FURTHEST_CLOCK);
      const { rows } = await pool.query<Payment>(paymentList(filter, COLUMNS, clocks[0]?.aheadMs ?? 0));
      return rows;
    },
  };
}
