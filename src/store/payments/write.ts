/** The statements that write payments: opens or transitions of many requests, with their history and callbacks. */
import { NO_CALLBACK_ADDRESS } from '../../rules/callbacks.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isRetriable, STATE_NAMES } from '../../rules/states.ts';
import { type AttemptCounts, type CountItem, countAttempts, forgetAttempts } from '../cards/card-attempts.ts';
import { keptIf, type SentCardRow } from '../cards/cards.ts';
import { compare, iso } from '../database/columns.ts';
import { assigned, type Column, type ItemRows, itemRows, listed, namesOf } from '../database/item-rows.ts';
import {
  type PipelinedConnection,
  run,
  runUnlessDeadlocked,
  unlessDeadlocked,
} from '../database/pipelined-connection.ts';
import type { Statement } from '../database/statements-query.ts';
import type { UsedToken } from '../wallets/wallet-tokens.ts';
import type { OperationRow, PaymentWithDetails, Transition } from './payment.ts';

/** A card that came with its order: its attempt, which is stored and counted, and the card if the vault does not have it. */
export interface SentItem extends CountItem {
  card?: SentCardRow | undefined;
}

/** A payment to open. Large values are serialised once, for the statement and for the size of the batch. */
export interface OpenItem {
  payment: PaymentWithDetails;
  details: string;
  token?: UsedToken | undefined;
  sent?: SentItem | undefined;
}
export interface TransitionItem {
  transition: Transition;
  nextStep: string | null;
}

/** The size of an item's large values, in characters. */
export const sizeOf = (item: OpenItem | TransitionItem): number =>
  'payment' in item ? item.details.length : (item.nextStep?.length ?? 0) + (item.transition.callback?.body.length ?? 0);

/** The key of the lock that an item may wait for: of a payment, or of an order that is being opened. */
export const lockKeyOf = (item: OpenItem | TransitionItem): string =>
  'payment' in item ? `${item.payment.mid} ${item.payment.orderId}` : item.transition.before.paymentId;

/** SQL: the states of payments that ended without success. */
export const FAILED_STATES = STATE_NAMES.filter(isRetriable)
  .map((state) => `'${state}'`)
  .join(', ');

/** SQL: how often risk rules have changed. A process that has old ones learns it before it submits the payment. */
export const RISK_VERSION = '(select version from risk_version where is_only) as "riskVersion"';

/** Returned if the statement ran too late to open payments. */
export const TOO_LATE = -1;

/** Whether a payment was opened; with the attempt of a card, the counts for it, unless counting failed. */
export type Opened = boolean | AttemptCounts | typeof TOO_LATE;

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

/** The attempt of a card that came with the order, and its card; null for other payments. */
const SENT: Column<OpenItem>[] = [
  ['session_id', 'uuid', ({ sent }) => sent?.attempt.sessionId ?? null],
  ['source', 'text', ({ sent }) => sent?.attempt.source ?? null],
  ['delete_before', 'timestamptz', ({ sent }) => (sent ? sent.attempt.at - LIMITS.cardAttemptKeptMs : null)],
  ['card_id', 'uuid', ({ sent }) => sent?.card?.cardId ?? null],
  ['card_token', 'text', ({ sent }) => sent?.card?.token ?? null],
  ['card_fingerprint', 'text', ({ sent }) => sent?.card?.fingerprint ?? null],
  ['card_masked', 'text', ({ sent }) => sent?.card?.masked ?? null],
  ['card_network', 'text', ({ sent }) => sent?.card?.network ?? null],
  ['card_key', 'int', ({ sent }) => sent?.card?.keyVersion ?? null],
  ['card_sealed', 'bytea', ({ sent }) => sent?.card?.sealed ?? null],
  ['card_kept', 'bool', ({ sent }) => sent?.card?.isKept ?? null],
];

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

/** The amount that a transition captures, refunds, charges back or returns. */
const movedBy = ({ before, after, moved }: Transition): bigint | null =>
  moved ?? (after.captured - before.captured + (after.refunded - before.refunded) || null);

const TRANSITION_ITEMS = itemRows<TransitionItem>([
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
]);

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
  ['requested_by', 'uuid', (operation) => operation.requestedBy],
];

/** The columns of an operation that its outcome changes. */
const UPDATED = ['state', 'reason', 'provider_reference', 'provider_state', 'query_count', 'due_at', 'finished_at'];

const OPERATION_ITEMS = itemRows<OperationItem>(
  [['ordinal', 'int', (operation) => operation.ordinal], ...OPERATION],
  TRANSITION_ITEMS.next,
);

/** What is written with the payments that are opened: columns of the items, and a CTE that reads `items` and `opened`. */
export interface Addition<Item extends OpenItem> {
  name: string;
  columns: Column<Item>[];
  cte: string;
}

/** The statement that opens payments. Its last parameter is the time until which payments may be opened. */
function openStatement<Item extends OpenItem>(
  { rows, next }: ItemRows<Item>,
  { hasTokens, hasSent, addition }: OpenParts<Item>,
): string {
  const openUntil = `$${next}::timestamptz`;
  return `
  with clock as (
    -- A statement that the server starts after the sender stopped waiting opens nothing. clock_timestamp(), because
    -- now() does not advance while a statement waits.
    select clock_timestamp() >= ${openUntil} as too_late
  ), items as (
    select * from ${rows('i')}
  ), opened as (
    insert into payments (${listed(namesOf(OPEN))}, state, history_length, updated_at)
    select ${listed(namesOf(OPEN))}, 'PREPARE', 1, created_at
    from items i
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
    )) and not (select too_late from clock)
    ${hasTokens ? HAS_UNUSED_TOKEN : ''}
    on conflict (mid, order_id, attempt) do nothing
    returning mid, payment_id, created_at
  ), inserted_history as (
    insert into history (mid, payment_id, seq, event, to_state, actor, at)
    select mid, payment_id, 1, 'opened', 'PREPARE', 'merchant', created_at from opened
  )${hasTokens ? USE_TOKENS : ''}${hasSent ? INSERT_SENT : ''}${addition ? `, ${addition.cte}` : ''}
  -- Checked again at the end: a statement that took longer than the sender waits fails by a division by zero.
  select payment_id as "paymentId", 0 / (clock_timestamp() < ${openUntil})::int as late, ${RISK_VERSION} from opened
  union all
  select null, ${TOO_LATE}, null from clock where too_late`;
}

const HAS_UNUSED_TOKEN = `
    and (i.replay_key is null or not exists (
      select from wallet_tokens w where w.replay_key = i.replay_key and w.is_first offset 0
    ))`;

const USE_TOKENS = `, used_tokens as (
    -- Of concurrent payments with one token, the unique constraint lets one through.
    insert into wallet_tokens (mid, replay_key, payment_id, forget_at)
    select o.mid, i.replay_key, o.payment_id, i.forget_at
    from opened o join items i on i.payment_id = o.payment_id
    where i.replay_key is not null
  )`;

const INSERT_SENT = `, ${forgetAttempts('items where source is not null')}, inserted_attempts as (
    insert into card_attempts (mid, order_id, attempt, session_id, source, at)
    select o.mid, i.order_id, i.attempt, i.session_id, i.source, o.created_at
    from opened o join items i on i.payment_id = o.payment_id
    where i.source is not null
    on conflict do nothing
  ), inserted_cards as (
    insert into cards (mid, card_id, token, fingerprint, masked, network, key_version, sealed, is_kept, payment_id,
      created_at)
    select o.mid, i.card_id, i.card_token, i.card_fingerprint, i.card_masked, i.card_network, i.card_key, i.card_sealed,
      i.card_kept, o.payment_id, o.created_at
    from opened o join items i on i.payment_id = o.payment_id
    where i.card_id is not null
  )`;

/** The parts of the statement that most batches do not have. */
interface OpenParts<Item extends OpenItem> {
  hasTokens: boolean;
  hasSent: boolean;
  addition?: Addition<Item> | undefined;
}

interface OpenStatement<Item extends OpenItem> {
  name: string;
  text: string;
  rows: ItemRows<Item>;
}

/** The statements that were needed so far, by their names. */
const openStatements = new Map<string, OpenStatement<never>>();

function openStatementFor<Item extends OpenItem>(parts: OpenParts<Item>): OpenStatement<Item> {
  const { hasTokens, hasSent, addition } = parts;
  const name = ['open', hasTokens && 'tokens', hasSent && 'sent', addition?.name].filter(Boolean).join('_');
  const known = openStatements.get(name);
  if (known) return known as unknown as OpenStatement<Item>;
  const rows = itemRows<Item>([
    ...(OPEN as Column<Item>[]),
    ...((hasTokens ? TOKEN : []) as Column<Item>[]),
    ...((hasSent ? SENT : []) as Column<Item>[]),
    ...(addition?.columns ?? []),
  ]);
  const made = { name, text: openStatement(rows, parts), rows };
  openStatements.set(name, made as unknown as OpenStatement<never>);
  return made;
}

/** The statement that writes transitions, with parts that most batches do not have. */
const transitionStatement = (...parts: string[]): string => `
  with updated as (
    update payments p
    set state = i.to_state, history_length = p.history_length + 1, updated_at = i.at,
      ${assigned(namesOf(CHANGED), 'i')}
    from ${TRANSITION_ITEMS.rows('i', 'ordinal')}
    where p.mid = i.mid and p.payment_id = i.payment_id
      and p.state = i.from_state and p.history_length = i.history_length
    returning p.mid, p.payment_id, p.connector, p.history_length as seq, i.event, i.from_state, i.to_state, i.actor,
      i.actor_name, i.note, i.call, i.at, i.moved, ${listed(namesOf(CALLBACK), 'i')}, i.ordinal
  ), inserted_history as (
    insert into history (mid, payment_id, seq, event, from_state, to_state, actor, actor_name, note, call, at, amount)
    select mid, payment_id, seq, event, from_state, to_state, actor, actor_name, note, call, at, moved from updated
  ), inserted_callbacks as (
    insert into callbacks (mid, payment_id, seq, type, body, is_json, url, endpoint, state, reason, due_at, created_at,
      finished_at)
    select mid, payment_id, seq, callback_type, callback_body, callback_json, callback_url, callback_endpoint,
      (case when callback_due_at is null then 'parked' else 'waiting' end)::callback_state,
      case when callback_due_at is null then '${NO_CALLBACK_ADDRESS}' end, callback_due_at, at, case when callback_due_at is null then at end
    from updated where callback_body is not null
  )${parts.join('')}
  select ordinal from updated`;

const WRITE_OPERATIONS = `, written_operations as (
    insert into operations (mid, payment_id, connector, ${listed(namesOf(OPERATION))})
    select u.mid, u.payment_id, u.connector, ${listed(namesOf(OPERATION), 'o')}
    from ${OPERATION_ITEMS.rows('o')}
    join updated u on u.ordinal = o.ordinal
    on conflict (mid, operation_id) do update
    set ${assigned(UPDATED, 'excluded')},
      -- An id belongs to one payment: for another payment the not-null constraint fails, and so does its transition.
      payment_id = case when operations.payment_id = excluded.payment_id then excluded.payment_id end
  )`;

/** The columns of transitions by which payments get their outcome. They are read by the ordinal, without a join. */
const OUTCOME: Column<TransitionItem>[] = [
  ['has_outcome', 'bool', ({ transition: { cards } }) => cards !== undefined],
  ['needed_card', 'uuid', ({ transition: { cards } }) => cards?.neededId ?? null],
];
const OUTCOMES = itemRows<TransitionItem>(OUTCOME, TRANSITION_ITEMS.next);
const OUTCOMES_OF_ALL = itemRows<TransitionItem>(OUTCOME, OPERATION_ITEMS.next);

/** Erases the cards of payments with an outcome, also copies that were submitted twice; keeps the one that is needed. */
const decideOnCards = ({ parameters: [hasOutcome, neededCard] }: ItemRows<TransitionItem>): string => {
  const isNeeded = `coalesce(t.card_id = (${neededCard}::uuid[])[u.ordinal], false)`;
  return `, decided_cards as (
    update cards t set ${keptIf(isNeeded)}
    from updated u
    where (${hasOutcome}::bool[])[u.ordinal] and t.mid = u.mid and t.payment_id = u.payment_id
      and t.sealed is not null and not (t.is_kept and ${isNeeded})
  )`;
};

/** The last parameter has the ordinals of the transitions that have a receipt. */
const INSERT_RECEIPTS = `, inserted_receipts as (
    insert into receipts (mid, payment_id, due_at, created_at)
    select mid, payment_id, at, at from updated where ordinal = any ($${OUTCOMES_OF_ALL.next}::int[])
    on conflict do nothing
  )`;

const TRANSITIONS = transitionStatement();
const TRANSITIONS_AND_CARDS = transitionStatement(decideOnCards(OUTCOMES));
const TRANSITIONS_AND_OPERATIONS = transitionStatement(WRITE_OPERATIONS);
const TRANSITIONS_AND_ALL = transitionStatement(WRITE_OPERATIONS, decideOnCards(OUTCOMES_OF_ALL), INSERT_RECEIPTS);

/** All processes lock rows in the same order, which makes deadlocks rare. */
const byOrder = ({ payment: a }: OpenItem, { payment: b }: OpenItem): number =>
  compare(a.mid, b.mid) || compare(a.orderId, b.orderId) || a.attempt - b.attempt;
const byPayment = (
  { transition: { before: a } }: TransitionItem,
  { transition: { before: b } }: TransitionItem,
): number => compare(a.mid, b.mid) || compare(a.paymentId, b.paymentId);

interface OpenedRow {
  paymentId: string;
  late: number;
  riskVersion: number | null;
}

/**
 * Opens all payments in one transaction, but none after `openUntil`; returns whether each was opened. Within a
 * transaction of the caller, `send` does not repeat the statement.
 */
export async function openPayments<Item extends OpenItem>(
  connection: Pick<PipelinedConnection, 'query' | 'isInOrder'>,
  items: readonly Item[],
  openUntil: number,
  onRiskVersion: (version: number) => void = () => undefined,
  send: typeof run = runUnlessDeadlocked,
  addition?: Addition<Item>,
): Promise<Opened[]> {
  const sorted = items.toSorted(byOrder);
  const sent = (sorted as readonly OpenItem[]).filter(hasSentCard);
  const hasTokens = items.some(({ token }) => token !== undefined);
  const { name, text, rows } = openStatementFor({ hasTokens, hasSent: sent.length > 0, addition });
  const values = [...rows.values(sorted), iso(openUntil)];
  const { written, counts } =
    sent.length === 0
      ? { written: await send<OpenedRow>(connection, name, text, values), counts: undefined }
      : await unlessDeadlocked(() => openAndCount(connection, { name, text, values }, sent));
  if (written[0]?.riskVersion) onRiskVersion(written[0].riskVersion);
  const isTooLate = written.some(({ late }) => late === TOO_LATE);
  const opened = new Set(written.map(({ paymentId }) => paymentId));
  return items.map(({ payment: { paymentId } }) => {
    if (isTooLate) return TOO_LATE;
    return opened.has(paymentId) && (counts?.get(paymentId) ?? true);
  });
}

const hasSentCard = (item: OpenItem): item is OpenItem & { sent: SentItem } => item.sent !== undefined;

/**
 * Opens payments, and counts their attempts as soon as they are committed: the count sees those of all other processes that
 * may not see these. It is sent together with the statement where both go over one connection. If it fails, the payments
 * are open.
 */
async function openAndCount(
  connection: Pick<PipelinedConnection, 'query' | 'isInOrder'>,
  { name, text, values }: Statement,
  items: (OpenItem & { sent: SentItem })[],
): Promise<{ written: OpenedRow[]; counts: Map<string, AttemptCounts> }> {
  const opening = run<OpenedRow>(connection, name, text, values);
  if (!connection.isInOrder) await opening;
  const counting = countAttempts(
    connection,
    items.map(({ sent }) => sent),
  ).catch((): AttemptCounts[] => []);
  const written = await opening;
  const counted = await counting;
  return { written, counts: new Map(counted.map((counts, index) => [items[index]?.payment.paymentId ?? '', counts])) };
}

/** Writes all transitions in one transaction; returns whether each was written. */
export async function writeTransitions(connection: PipelinedConnection, items: TransitionItem[]): Promise<boolean[]> {
  const sorted = items.toSorted(byPayment);
  const operations = sorted.flatMap(({ transition: { operation } }, index) =>
    operation ? { ...operation, ordinal: index + 1 } : [],
  );
  const receipts = sorted.flatMap(({ transition }, index) => (transition.hasReceipt ? index + 1 : []));
  const hasCards = sorted.some(({ transition }) => transition.cards !== undefined);
  const values: unknown[] = TRANSITION_ITEMS.values(sorted);
  let [name, text] = ['transition', TRANSITIONS];
  if (receipts.length > 0 || (hasCards && operations.length > 0)) {
    values.push(...OPERATION_ITEMS.values(operations), ...OUTCOMES_OF_ALL.values(sorted), receipts);
    [name, text] = ['transition_all', TRANSITIONS_AND_ALL];
  } else if (operations.length > 0) {
    values.push(...OPERATION_ITEMS.values(operations));
    [name, text] = ['transition_operation', TRANSITIONS_AND_OPERATIONS];
  } else if (hasCards) {
    values.push(...OUTCOMES.values(sorted));
    [name, text] = ['transition_card', TRANSITIONS_AND_CARDS];
  }
  const rows = await runUnlessDeadlocked<{ ordinal: number }>(connection, name, text, values);
  // By ordinal, not by payment: of two transitions of one payment in a batch, only one is written.
  const written = new Set(rows.map(({ ordinal }) => sorted[ordinal - 1]));
  return items.map((item) => written.has(item));
}
