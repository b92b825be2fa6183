/** The statement that writes payments: opens and moves of many requests, with everything that belongs to them. */
import { compare, iso } from './columns.ts';
import type { OperationRow, Transition, WholePayment } from './payment.ts';
import { type PipelinedConnection, runUnlessDeadlocked } from './pipelined-connection.ts';
import { assigned, type Column, listed, namesOf, unnestTable } from './unnest.ts';

/** What one statement opens or moves, with its large values as they are sent: serialised once, and weighed by that. */
export interface OpenItem {
  payment: WholePayment;
  details: string;
}
export interface TransitionItem {
  transition: Transition;
  nextStep: string | null;
}

/** In place of the ordinal of an item: the statement came too late to open payments. */
export const TOO_LATE = -1;

/** Whether an item was written; an opening may also have come too late. */
export type Written = boolean | typeof TOO_LATE;

/** The columns of a new payment that its request decides. */
const OPENING = unnestTable<OpenItem>([
  ['mid', 'uuid', 'plain', ({ payment }) => payment.mid],
  ['payment_id', 'uuid', 'plain', ({ payment }) => payment.paymentId],
  ['order_id', 'text', 'texts', ({ payment }) => payment.orderId],
  ['attempt', 'int', 'plain', ({ payment }) => payment.attempt],
  ['protocol', 'protocol', 'plain', ({ payment }) => payment.protocol],
  ['brand', 'text', 'texts', ({ payment }) => payment.brand],
  ['connector', 'text', 'texts', ({ payment }) => payment.connector],
  ['amount_text', 'text', 'texts', ({ payment }) => payment.amountText],
  ['currency', 'text', 'plain', ({ payment }) => payment.currency],
  ['amount', 'bigint', 'plain', ({ payment }) => payment.amount],
  ['due_at', 'timestamptz', 'moments', ({ payment }) => payment.dueAt],
  ['is_authorisation', 'bool', 'plain', ({ payment }) => payment.isAuthorisation],
  ['is_recurring_init', 'bool', 'plain', ({ payment }) => payment.isRecurringInit],
  ['fingerprint', 'text', 'plain', ({ payment }) => payment.fingerprint],
  ['descriptor', 'text', 'texts', ({ payment }) => payment.descriptor],
  ['schedule_id', 'uuid', 'plain', ({ payment }) => payment.scheduleId],
  ['details', 'jsonb', 'texts', ({ details }) => details],
  ['created_at', 'timestamptz', 'moments', ({ payment }) => payment.createdAt],
  ['payer_until', 'timestamptz', 'moments', ({ payment }) => payment.payerUntil],
]);

/** The columns of a payment that a move writes besides its state. */
const CHANGED: Column<TransitionItem>[] = [
  ['authorised', 'bigint', 'plain', ({ transition }) => transition.after.authorised],
  ['captured', 'bigint', 'plain', ({ transition }) => transition.after.captured],
  ['refunded', 'bigint', 'plain', ({ transition }) => transition.after.refunded],
  ['in_doubt', 'bool', 'plain', ({ transition }) => transition.after.inDoubt],
  ['due_at', 'timestamptz', 'moments', ({ transition }) => transition.after.dueAt],
  ['query_count', 'int', 'plain', ({ transition }) => transition.after.queryCount],
  ['decline_reason', 'text', 'texts', ({ transition }) => transition.after.declineReason],
  ['recurring_token', 'text', 'texts', ({ transition }) => transition.after.recurringToken],
  ['provider_reference', 'text', 'texts', ({ transition }) => transition.after.providerReference],
  ['next_step', 'jsonb', 'texts', ({ nextStep }) => nextStep],
  ['attention', 'attention', 'plain', ({ transition }) => transition.after.attention],
  ['reserved', 'bigint', 'plain', ({ transition }) => transition.after.reserved],
  ['busy', 'operation_verb', 'plain', ({ transition }) => transition.after.busy],
];

/** The callback of a move; all of them are null when there is none. */
const CALLBACK: Column<TransitionItem>[] = [
  ['callback_type', 'text', 'texts', ({ transition }) => transition.callback?.type ?? null],
  ['callback_body', 'text', 'texts', ({ transition }) => transition.callback?.body ?? null],
  ['callback_json', 'bool', 'plain', ({ transition }) => transition.callback?.isJson ?? null],
  ['callback_url', 'text', 'texts', ({ transition }) => transition.callback?.url ?? null],
  ['callback_endpoint', 'text', 'texts', ({ transition }) => transition.callback?.endpoint ?? null],
  ['callback_due_at', 'timestamptz', 'moments', ({ transition }) => transition.callback?.dueAt ?? null],
];

const TRANSITION = unnestTable<TransitionItem>(
  [
    ['mid', 'uuid', 'plain', ({ transition }) => transition.before.mid],
    ['payment_id', 'uuid', 'plain', ({ transition }) => transition.before.paymentId],
    ['from_state', 'payment_state', 'plain', ({ transition }) => transition.before.state],
    ['history_length', 'int', 'plain', ({ transition }) => transition.before.historyLength],
    ['to_state', 'payment_state', 'plain', ({ transition }) => transition.after.state],
    ['event', 'text', 'plain', ({ transition }) => transition.event],
    ['actor', 'actor', 'plain', ({ transition }) => transition.actor],
    ['call', 'jsonb', 'texts', ({ transition }) => (transition.call ? JSON.stringify(transition.call) : null)],
    ['at', 'timestamptz', 'moments', ({ transition }) => transition.after.updatedAt],
    ...CHANGED,
    ...CALLBACK,
  ],
  OPENING.next,
);

/** The operation of a move; the ordinal is that of the move. */
type Operated = OperationRow & { ordinal: number };

/** The columns of an operation that are not those of its payment. */
const OPERATION: Column<Operated>[] = [
  ['operation_id', 'uuid', 'plain', (operation) => operation.operationId],
  ['verb', 'operation_verb', 'plain', (operation) => operation.verb],
  ['amount', 'bigint', 'plain', (operation) => operation.amount],
  ['state', 'operation_state', 'plain', (operation) => operation.state],
  ['reason', 'text', 'texts', (operation) => operation.reason],
  ['query_count', 'int', 'plain', (operation) => operation.queryCount],
  ['due_at', 'timestamptz', 'moments', (operation) => operation.dueAt],
  ['requested_at', 'timestamptz', 'moments', (operation) => operation.requestedAt],
  ['finished_at', 'timestamptz', 'moments', (operation) => operation.finishedAt],
  ['content', 'text', 'texts', (operation) => operation.content],
  ['order_id', 'text', 'texts', (operation) => operation.orderId],
];

const OPERATED = unnestTable<Operated>(
  [['ordinal', 'int', 'plain', (operation) => operation.ordinal], ...OPERATION],
  TRANSITION.next,
);

/** The parameter after all columns: until when payments may be opened. */
const UNTIL = `$${OPERATED.next}::timestamptz`;

/** Why a callback is parked that nobody can be sent. */
const NO_ADDRESS = 'No callback_url is set.';

/** Opens and moves of one turn in one statement: one round trip and one flush for all of them. */
const WRITE = `
  with clock as (
    -- A statement that reaches the server after its sender stopped waiting opens nothing. The real time counts: the
    -- time of the transaction stands still while a statement waits.
    select clock_timestamp() >= ${UNTIL} as too_late
  ), opening as (
    select * from ${OPENING.rows('i')}
  ), opened as (
    insert into payments (${listed(OPENING.names)}, state, history_length, updated_at)
    select ${listed(OPENING.names)}, 'PREPARE', 1, created_at
    from opening i
    where not exists (
      -- The own order of a credit is no payment's. The offset keeps it a look into the index for each order: a plan
      -- that was made while there were no credits would join all of them later.
      select from credits c where c.mid = i.mid and c.order_id = i.order_id and c.part = '' and i.attempt = 1 offset 0
    ) and not (select too_late from clock)
    on conflict (mid, order_id, attempt) do nothing
    returning mid, payment_id, created_at
  ), moving as (
    select * from ${TRANSITION.rows('i', 'ordinal')}
  ), moved as (
    update payments p
    set state = i.to_state, history_length = p.history_length + 1, updated_at = i.at,
      ${assigned(namesOf(CHANGED), 'i')}
    from moving i
    where p.mid = i.mid and p.payment_id = i.payment_id
      and p.state = i.from_state and p.history_length = i.history_length
    returning p.mid, p.payment_id, p.connector, p.history_length as seq, i.event, i.from_state, i.to_state, i.actor,
      i.call, i.at, ${listed(namesOf(CALLBACK), 'i')}, i.ordinal
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
    insert into operations (mid, payment_id, connector, ${listed(namesOf(OPERATION))})
    select m.mid, m.payment_id, m.connector, ${listed(namesOf(OPERATION), 'o')}
    from ${OPERATED.rows('o')}
    join moved m on m.ordinal = o.ordinal
    on conflict (mid, operation_id) do update
    set ${assigned(['state', 'reason', 'query_count', 'due_at', 'finished_at'], 'excluded')},
      -- An id belongs to one payment: a second payment violates the not-null constraint, and its move does not happen.
      payment_id = case when operations.payment_id = excluded.payment_id then excluded.payment_id end
  )
  -- The same at the end: a statement that took longer than its sender waits divides by zero, and opens nothing.
  select payment_id as "paymentId", 0 / (clock_timestamp() < ${UNTIL})::int as ordinal from opened
  union all
  select payment_id, ordinal::int from moved
  union all
  select null, ${TOO_LATE} from clock where too_late and cardinality(${OPENING.parameters[0]}) > 0`;

/** Every process locks rows in the same order, so that two of them hardly ever wait for each other. */
const byOrder = ({ payment: a }: OpenItem, { payment: b }: OpenItem): number =>
  compare(a.mid, b.mid) || compare(a.orderId, b.orderId) || a.attempt - b.attempt;
const byPayment = (
  { transition: { before: a } }: TransitionItem,
  { transition: { before: b } }: TransitionItem,
): number => compare(a.mid, b.mid) || compare(a.paymentId, b.paymentId);

/** Writes all items in one transaction, and tells of each whether it was written; payments are opened `until` then. */
export async function writePayments(
  connection: PipelinedConnection,
  items: (OpenItem | TransitionItem)[],
  until: number,
): Promise<Written[]> {
  const openings = items.filter((item) => 'payment' in item).sort(byOrder);
  const transitionItems = items.filter((item) => 'transition' in item).sort(byPayment);
  const operations = transitionItems.flatMap(({ transition: { operation } }, index) =>
    operation ? { ...operation, ordinal: index + 1 } : [],
  );
  const rows = await runUnlessDeadlocked<{ paymentId: string; ordinal: number }>(connection, 'write', WRITE, [
    ...OPENING.values(openings),
    ...TRANSITION.values(transitionItems),
    ...OPERATED.values(operations),
    iso(until),
  ]);
  let isTooLate = false;
  const opened = new Set<string>();
  // By its place in the batch: of two moves of one payment the update takes one, and the other was not written.
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
