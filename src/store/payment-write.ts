/** The statement that writes payments: opens and transitions of many requests, with their history and callbacks. */
import { isRetriable, STATE_NAMES } from '../rules/states.ts';
import { compare, iso } from './columns.ts';
import type { OperationRow, PaymentWithDetails, Transition } from './payment.ts';
import { type PipelinedConnection, runUnlessDeadlocked } from './pipelined-connection.ts';
import { assigned, type Column, listed, namesOf, unnestTable } from './unnest.ts';
import type { UsedToken } from './wallet-tokens.ts';

/** A payment to open. Large values are serialised once, for the statement and for the size of the batch. */
export interface OpenItem {
  payment: PaymentWithDetails;
  details: string;
  token?: UsedToken | undefined;
}
export interface TransitionItem {
  transition: Transition;
  nextStep: string | null;
}

/** SQL: the states of payments that ended without success. */
export const FAILED_STATES = STATE_NAMES.filter(isRetriable)
  .map((state) => `'${state}'`)
  .join(', ');

/** Returned in place of an ordinal if the statement ran too late to open payments. */
export const TOO_LATE = -1;

/** Whether an item was written. */
export type Written = boolean | typeof TOO_LATE;

/** The columns of a new payment that depend on its request. */
const OPEN: Column<OpenItem>[] = [
  ['mid', 'uuid', ({ payment }) => payment.mid],
  ['payment_id', 'uuid', ({ payment }) => payment.paymentId],
  ['order_id', 'text', ({ payment }) => payment.orderId],
  ['attempt', 'int', ({ payment }) => payment.attempt],
  ['protocol', 'protocol', ({ payment }) => payment.protocol],
  ['brand', 'text', ({ payment }) => payment.brand],
  ['connector', 'text', ({ payment }) => payment.connector],
  ['route_reason', 'text', ({ payment }) => payment.routeReason],
  ['amount_text', 'text', ({ payment }) => payment.amountText],
  ['currency', 'text', ({ payment }) => payment.currency],
  ['amount', 'bigint', ({ payment }) => payment.amount],
  ['due_at', 'timestamptz', ({ payment }) => payment.dueAt],
  ['is_authorisation', 'bool', ({ payment }) => payment.isAuthorisation],
  ['is_recurring_init', 'bool', ({ payment }) => payment.isRecurringInit],
  ['fingerprint', 'text', ({ payment }) => payment.fingerprint],
  ['descriptor', 'text', ({ payment }) => payment.descriptor],
  ['schedule_id', 'uuid', ({ payment }) => payment.scheduleId],
  ['details', 'jsonb', ({ details }) => details],
  ['created_at', 'timestamptz', ({ payment }) => payment.createdAt],
  ['payer_until', 'timestamptz', ({ payment }) => payment.payerUntil],
];

/** A wallet token that the payment uses up; null for other payments. */
const TOKEN: Column<OpenItem>[] = [
  ['replay_key', 'text', ({ token }) => token?.replayKey ?? null],
  ['forget_at', 'timestamptz', ({ token }) => token?.forgetAt ?? null],
];

const OPEN_ITEMS = unnestTable<OpenItem>([...OPEN, ...TOKEN]);

const jsonOrNull = (value: object | null): string | null => value && JSON.stringify(value);

/** The columns of a payment that a transition writes besides the state. */
const CHANGED: Column<TransitionItem>[] = [
  ['authorised', 'bigint', ({ transition }) => transition.after.authorised],
  ['captured', 'bigint', ({ transition }) => transition.after.captured],
  ['refunded', 'bigint', ({ transition }) => transition.after.refunded],
  ['in_doubt', 'bool', ({ transition }) => transition.after.inDoubt],
  ['due_at', 'timestamptz', ({ transition }) => transition.after.dueAt],
  ['query_count', 'int', ({ transition }) => transition.after.queryCount],
  ['decline_reason', 'text', ({ transition }) => transition.after.declineReason],
  ['recurring_token', 'text', ({ transition }) => transition.after.recurringToken],
  ['provider_reference', 'text', ({ transition }) => transition.after.providerReference],
  ['provider_data', 'jsonb', ({ transition: { after } }) => jsonOrNull(after.providerData)],
  ['next_step', 'jsonb', ({ nextStep }) => nextStep],
  ['attention', 'attention', ({ transition }) => transition.after.attention],
  ['reserved', 'bigint', ({ transition }) => transition.after.reserved],
  ['busy', 'operation_verb', ({ transition }) => transition.after.busy],
];

/** The callback of a transition; all columns are null if there is none. */
const CALLBACK: Column<TransitionItem>[] = [
  ['callback_type', 'text', ({ transition }) => transition.callback?.type ?? null],
  ['callback_body', 'text', ({ transition }) => transition.callback?.body ?? null],
  ['callback_json', 'bool', ({ transition }) => transition.callback?.isJson ?? null],
  ['callback_url', 'text', ({ transition }) => transition.callback?.url ?? null],
  ['callback_endpoint', 'text', ({ transition }) => transition.callback?.endpoint ?? null],
  ['callback_due_at', 'timestamptz', ({ transition }) => transition.callback?.dueAt ?? null],
];

/** The amount that a transition captures, refunds or charges back. */
function movedBy({ before, after }: Transition): bigint | null {
  if (after.state === 'CHARGEBACK' && before.state !== 'CHARGEBACK') return after.captured - after.refunded;
  return after.captured - before.captured + (after.refunded - before.refunded) || null;
}

const TRANSITION_ITEMS = unnestTable<TransitionItem>(
  [
    ['mid', 'uuid', ({ transition }) => transition.before.mid],
    ['payment_id', 'uuid', ({ transition }) => transition.before.paymentId],
    ['from_state', 'payment_state', ({ transition }) => transition.before.state],
    ['history_length', 'int', ({ transition }) => transition.before.historyLength],
    ['to_state', 'payment_state', ({ transition }) => transition.after.state],
    ['event', 'text', ({ transition }) => transition.event],
    ['actor', 'actor', ({ transition }) => transition.actor],
    ['actor_name', 'text', ({ transition }) => transition.actorName ?? null],
    ['note', 'text', ({ transition }) => transition.note || null],
    ['call', 'jsonb', ({ transition }) => (transition.call ? JSON.stringify(transition.call) : null)],
    ['at', 'timestamptz', ({ transition }) => transition.after.updatedAt],
    ['moved', 'bigint', ({ transition }) => movedBy(transition)],
    ...CHANGED,
    ...CALLBACK,
  ],
  OPEN_ITEMS.next,
);

/** The operation of a transition; the ordinal is that of the transition. */
type OperationItem = OperationRow & { ordinal: number };

/** The columns of an operation, without those that are copied from its payment. */
const OPERATION: Column<OperationItem>[] = [
  ['operation_id', 'uuid', (operation) => operation.operationId],
  ['verb', 'operation_verb', (operation) => operation.verb],
  ['amount', 'bigint', (operation) => operation.amount],
  ['state', 'operation_state', (operation) => operation.state],
  ['reason', 'text', (operation) => operation.reason],
  ['provider_reference', 'text', (operation) => operation.providerReference],
  ['provider_state', 'jsonb', (operation) => jsonOrNull(operation.providerState)],
  ['query_count', 'int', (operation) => operation.queryCount],
  ['due_at', 'timestamptz', (operation) => operation.dueAt],
  ['requested_at', 'timestamptz', (operation) => operation.requestedAt],
  ['finished_at', 'timestamptz', (operation) => operation.finishedAt],
  ['content', 'text', (operation) => operation.content],
  ['order_id', 'text', (operation) => operation.orderId],
];

/** The columns of an operation that its outcome changes. */
const UPDATED = ['state', 'reason', 'provider_reference', 'provider_state', 'query_count', 'due_at', 'finished_at'];

const OPERATION_ITEMS = unnestTable<OperationItem>(
  [['ordinal', 'int', (operation) => operation.ordinal], ...OPERATION],
  TRANSITION_ITEMS.next,
);

/** The parameter after all columns: until when payments may be opened. */
const OPEN_UNTIL = `$${OPERATION_ITEMS.next}::timestamptz`;

/** The reason for which a callback without an address is parked. */
const NO_ADDRESS = 'No callback_url is set.';

/** The parameter that only batches with receipts have: the ordinals of the transitions that have one. */
const RECEIPTS = `$${OPERATION_ITEMS.next + 1}::int[]`;

const INSERT_RECEIPTS = `, inserted_receipts as (
    insert into receipts (mid, payment_id, due_at, created_at)
    select mid, payment_id, at, at from updated where ordinal = any (${RECEIPTS})
    on conflict do nothing
  )`;

/** Writes a batch in one statement: one round trip and one flush to disk for all items. */
const writeStatement = (insertReceipts: string): string => `
  with clock as (
    -- A statement that the server starts after the sender stopped waiting opens nothing. clock_timestamp(), because
    -- now() does not advance while a statement waits.
    select clock_timestamp() >= ${OPEN_UNTIL} as too_late
  ), open_items as (
    select * from ${OPEN_ITEMS.rows('i')}
  ), opened as (
    insert into payments (${listed(namesOf(OPEN))}, state, history_length, updated_at)
    select ${listed(namesOf(OPEN))}, 'PREPARE', 1, created_at
    from open_items i
    where not exists (
      -- An order id that a credit uses is refused. The offset forces one index lookup per order: a plan that was made
      -- while the table was empty would later join all credits.
      select from credits c where c.mid = i.mid and c.order_id = i.order_id and c.part = '' and i.attempt = 1 offset 0
    ) and (i.attempt = 1 or not exists (
      -- The lock makes this wait for an operator who accepts an earlier attempt, and the other way round. The offset keeps
      -- the condition on the state outside: attempts that have failed are locked, too.
      select from (
        select q.state from payments q where q.mid = i.mid and q.order_id = i.order_id offset 0 for share
      ) earlier where earlier.state not in (${FAILED_STATES})
    )) and (i.replay_key is null or not exists (
      select from wallet_tokens w where w.mid = i.mid and w.replay_key = i.replay_key offset 0
    )) and not (select too_late from clock)
    on conflict (mid, order_id, attempt) do nothing
    returning mid, payment_id, created_at
  ), used_tokens as (
    -- Of concurrent payments with one token, the unique constraint lets one through.
    insert into wallet_tokens (mid, replay_key, payment_id, forget_at)
    select o.mid, i.replay_key, o.payment_id, i.forget_at
    from opened o join open_items i on i.payment_id = o.payment_id
    where i.replay_key is not null
  ), transition_items as (
    select * from ${TRANSITION_ITEMS.rows('i', 'ordinal')}
  ), updated as (
    update payments p
    set state = i.to_state, history_length = p.history_length + 1, updated_at = i.at,
      ${assigned(namesOf(CHANGED), 'i')}
    from transition_items i
    where p.mid = i.mid and p.payment_id = i.payment_id
      and p.state = i.from_state and p.history_length = i.history_length
    returning p.mid, p.payment_id, p.connector, p.history_length as seq, i.event, i.from_state, i.to_state, i.actor,
      i.actor_name, i.note, i.call, i.at, i.moved, ${listed(namesOf(CALLBACK), 'i')}, i.ordinal
  ), inserted_history as (
    insert into history (mid, payment_id, seq, event, from_state, to_state, actor, actor_name, note, call, at,
      amount)
    select mid, payment_id, 1, 'opened', null, 'PREPARE', 'merchant', null, null, null::jsonb, created_at, null::bigint from opened
    union all
    select mid, payment_id, seq, event, from_state, to_state, actor, actor_name, note, call, at, moved from updated
  ), inserted_callbacks as (
    insert into callbacks (mid, payment_id, seq, type, body, is_json, url, endpoint, state, reason, due_at, created_at,
      finished_at)
    select mid, payment_id, seq, callback_type, callback_body, callback_json, callback_url, callback_endpoint,
      (case when callback_due_at is null then 'parked' else 'waiting' end)::callback_state,
      case when callback_due_at is null then '${NO_ADDRESS}' end, callback_due_at, at, case when callback_due_at is null then at end
    from updated where callback_body is not null
  ), written_operations as (
    insert into operations (mid, payment_id, connector, ${listed(namesOf(OPERATION))})
    select u.mid, u.payment_id, u.connector, ${listed(namesOf(OPERATION), 'o')}
    from ${OPERATION_ITEMS.rows('o')}
    join updated u on u.ordinal = o.ordinal
    on conflict (mid, operation_id) do update
    set ${assigned(UPDATED, 'excluded')},
      -- An id belongs to one payment: for another payment the not-null constraint fails, and so does its transition.
      payment_id = case when operations.payment_id = excluded.payment_id then excluded.payment_id end
  )${insertReceipts}
  -- Checked again at the end: a statement that took longer than the sender waits fails by a division by zero.
  select payment_id as "paymentId", 0 / (clock_timestamp() < ${OPEN_UNTIL})::int as ordinal from opened
  union all
  select payment_id, ordinal::int from updated
  union all
  select null, ${TOO_LATE} from clock where too_late and cardinality(${OPEN_ITEMS.parameters[0]}) > 0`;

/** Most batches have no receipts; their statement does not know of them. */
const WRITE = writeStatement('');
const WRITE_WITH_RECEIPTS = writeStatement(INSERT_RECEIPTS);

/** All processes lock rows in the same order, which makes deadlocks rare. */
const byOrder = ({ payment: a }: OpenItem, { payment: b }: OpenItem): number =>
  compare(a.mid, b.mid) || compare(a.orderId, b.orderId) || a.attempt - b.attempt;
const byPayment = (
  { transition: { before: a } }: TransitionItem,
  { transition: { before: b } }: TransitionItem,
): number => compare(a.mid, b.mid) || compare(a.paymentId, b.paymentId);

interface WrittenRow {
  paymentId: string;
  ordinal: number;
}

/** Writes all items in one transaction; returns whether each was written. Opens no payments after `openUntil`. */
export async function writePayments(
  connection: PipelinedConnection,
  items: (OpenItem | TransitionItem)[],
  openUntil: number,
): Promise<Written[]> {
  const openItems = items.filter((item) => 'payment' in item).sort(byOrder);
  const transitionItems = items.filter((item) => 'transition' in item).sort(byPayment);
  const operations = transitionItems.flatMap(({ transition: { operation } }, index) =>
    operation ? { ...operation, ordinal: index + 1 } : [],
  );
  const values = [
    ...OPEN_ITEMS.values(openItems),
    ...TRANSITION_ITEMS.values(transitionItems),
    ...OPERATION_ITEMS.values(operations),
    iso(openUntil),
  ];
  const receipts = transitionItems.flatMap(({ transition }, index) => (transition.hasReceipt ? index + 1 : []));
  const rows = await (receipts.length === 0
    ? runUnlessDeadlocked<WrittenRow>(connection, 'write', WRITE, values)
    : runUnlessDeadlocked<WrittenRow>(connection, 'write_receipts', WRITE_WITH_RECEIPTS, [...values, receipts]));
  let isTooLate = false;
  const opened = new Set<string>();
  // By ordinal, not by payment: of two transitions of one payment in a batch, only one is written.
  const written = new Set<TransitionItem>();
  for (const { paymentId, ordinal } of rows) {
    if (ordinal === TOO_LATE) isTooLate = true;
    else if (ordinal === 0) opened.add(paymentId);
    else written.add(transitionItems[ordinal - 1] as TransitionItem);
  }
  return items.map((item) =>
    'transition' in item ? written.has(item) : isTooLate ? TOO_LATE : opened.has(item.payment.paymentId),
  );
}
