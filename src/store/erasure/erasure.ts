/** Erases the personal data of a payment, and removes a saved card, each in one guarded transaction. */
import { CompiledQuery, type Kysely, sql } from 'kysely';
import { mapTexts } from '../../lib/text/json.ts';
import { plain } from '../../lib/text/plain.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { HAS_OUTCOME } from '../cards/cards.ts';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { createPaymentLists } from '../payments/list.ts';
import { erasedBody, referencesOf } from '../payments/notifications.ts';
import type { Actor, Payment, PaymentDetails, ProviderData } from '../payments/payment.ts';
import { SEARCH } from '../payments/search-projection.ts';
import { rewriteSearchRows } from '../payments/search-row.ts';
import type { Schema } from '../schema.ts';

export interface ErasedBy {
  actor: Actor;
  actorName: string | null;
  at: number;
  /** Undefined for the work loop, whose erasures are in the history only. */
  audit: AuditEntry | undefined;
}

export interface Erasure extends ErasedBy {
  /** The payment as it was read; nothing is erased if it has changed since. */
  before: Payment;
  /** What remains of these. */
  details: PaymentDetails;
  providerData: ProviderData | null;
  /** The card that is removed from the vault, if there is one. */
  cardId: string | undefined;
  /** Removes personal data from a text; returns other texts as they are. */
  scrub: (text: string) => string;
}

/**
 * Why nothing was erased. `changed`: the payment has changed since it was read. `building`: after an upgrade, not all
 * payments can be found by their card or payer yet.
 */
export type Obstacle = 'changed' | 'callbacks' | 'notifications' | 'card' | 'building';

export interface CardRemoval {
  /** The payments that had the token of the card, or that could be repeated with it. */
  payments: number;
  /** The subscriptions that ended. */
  subscriptions: number;
}

/** The reason of a subscription that ended because its card was removed, or the data of its payer was erased. */
export const CARD_REMOVED = 'card_removed';

export interface ErasureStore {
  /** Erases a payment; returns why not, if it cannot be erased now. */
  erase(erasure: Erasure): Promise<Obstacle | undefined>;
  /** The card with this token, of this account. */
  findCard(mid: string, token: string): Promise<{ cardId: string; masked: string } | undefined>;
  /** Removes a card and its token from the vault and from all payments; `card` if an open payment uses it. */
  removeCard(mid: string, cardId: string, by: ErasedBy): Promise<CardRemoval | 'card' | 'building'>;
  /** Payments of an account with this e-mail address of the payer that are not erased, oldest first. */
  findByEmail(mid: string, email: string, most: number, after: string): Promise<string[] | 'building'>;
}

type Transaction = Kysely<Schema>;

/**
 * The payments from which the card was not removed yet: the projection has most of them, and what changed since its
 * position, in the same snapshot, is read by itself.
 */
const usersOf = (mid: string, cardId: string) => sql`select p.payment_id from (
    select s.payment_id from payment_search s where s.mid = ${mid} and s.card_id = ${cardId}
    union select h.payment_id from history h
    where h.mid = ${mid} and h.number > (select history_number from projections where name = ${SEARCH})
  ) f join payments p on p.mid = ${mid} and p.payment_id = f.payment_id
  where p.details #>> '{card,id}' = ${cardId}
    and (p.recurring_token is not null or p.details #>> '{card,token}' is not null or p.details ->> 'recurringOf' is not null)
    and p.details #> '{card,removed}' is null`;

/** Whether the projection has all former payments. A sequential scan of the history would take long. */
async function isBuilt(transaction: Transaction): Promise<boolean> {
  await sql`set local enable_seqscan = off`.execute(transaction);
  const { rows } = await sql`select from projections where name = ${SEARCH} and backfill_before is null`.execute(
    transaction,
  );
  return rows.length > 0;
}

/** Removes from the projection what was removed from payments. */
const removeFromSearch = (transaction: Transaction, mid: string, ids: readonly string[]): Promise<void> =>
  rewriteSearchRows(
    async <Row>(text: string, values: unknown[]) =>
      (await transaction.executeQuery<Row>(CompiledQuery.raw(text, values))).rows,
    mid,
    ids,
  );

interface LockedPayment {
  paymentId: string;
  historyLength: number;
  isOpen: boolean;
  scheduleId: string | null;
}

/** Locks payments in the order in which all processes lock them, which makes deadlocks rare. */
async function lockPayments(
  transaction: Transaction,
  mid: string,
  ids: ReturnType<typeof usersOf>,
): Promise<LockedPayment[]> {
  const { rows } = await sql<LockedPayment>`
    select p.payment_id as "paymentId", p.history_length as "historyLength", p.schedule_id as "scheduleId",
      not ${sql.raw(HAS_OUTCOME)} as "isOpen"
    from payments p where p.mid = ${mid} and p.payment_id in (${ids}) order by p.payment_id for update`.execute(
    transaction,
  );
  return rows;
}

/** Removes the card from payments that keep their other data. */
async function removeFromPayments(
  transaction: Transaction,
  mid: string,
  ids: readonly string[],
  { actor, actorName, at }: ErasedBy,
): Promise<void> {
  await sql`
    with changed as (
      update payments set recurring_token = null, history_length = history_length + 1,
        details = jsonb_set(details #- '{card,token}', '{card,removed}', 'true')
      where mid = ${mid} and payment_id = any(${ids}::uuid[])
      returning mid, payment_id, history_length, state
    )
    insert into history (mid, payment_id, seq, event, from_state, to_state, actor, actor_name, at)
    select mid, payment_id, history_length, 'cardRemoved', state, state, ${actor}, ${actorName}, ${iso(at)}
    from changed`.execute(transaction);
}

/** Ends the subscriptions that began with these payments; returns how many. */
async function endSubscriptions(
  transaction: Transaction,
  mid: string,
  payments: readonly LockedPayment[],
): Promise<number> {
  const subscribed = payments.filter(({ scheduleId }) => scheduleId !== null);
  if (subscribed.length === 0) return 0;
  const { numUpdatedRows } = await transaction
    .updateTable('subscriptions')
    .set({ state: 'ended', nextAt: null, dueAt: null, reason: CARD_REMOVED })
    .where('mid', '=', mid)
    .where('scheduleId', 'in', [...new Set(subscribed.map(({ scheduleId }) => scheduleId as string))])
    .where(
      'firstPaymentId',
      'in',
      subscribed.map(({ paymentId }) => paymentId),
    )
    .where('state', '=', 'active')
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Scrubs texts about the payment that a provider, an operator or a merchant wrote. */
async function scrubTexts(transaction: Transaction, { before: { mid, paymentId }, scrub }: Erasure): Promise<void> {
  const own = sql`mid = ${mid} and payment_id = ${paymentId}`;
  const scrubJson = (value: unknown): string | null => (value === null ? null : JSON.stringify(mapTexts(value, scrub)));
  const history = await sql<{ seq: number; note: string | null; call: unknown }>`
    select seq, note, call from history where ${own} and (note is not null or call is not null)`.execute(transaction);
  for (const { seq, note, call } of history.rows) {
    await sql`update history set note = ${note && scrub(note)}, call = ${scrubJson(call)} where ${own} and seq = ${seq}
      and (note, call) is distinct from (${note && scrub(note)}::text, ${scrubJson(call)}::jsonb)`.execute(transaction);
  }
  const operations = await sql<{ id: string; reason: string | null; state: unknown }>`
    select operation_id as id, reason, provider_state as state from operations where ${own}`.execute(transaction);
  for (const { id, reason, state } of operations.rows) {
    await sql`update operations set reason = ${reason && scrub(reason)}, provider_state = ${scrubJson(state)}
      where ${own} and operation_id = ${id}`.execute(transaction);
  }
  const requests = await sql<{ id: string; note: string }>`
    select request_id as id, note from refund_requests where ${own} and note is not null`.execute(transaction);
  for (const { id, note } of requests.rows) {
    await sql`update refund_requests set note = ${scrub(note)} where ${own} and request_id = ${id}`.execute(
      transaction,
    );
  }
  const callbacks = await sql<{ seq: number; url: string }>`
    select seq, url from callbacks where ${own} and url is not null`.execute(transaction);
  for (const { seq, url } of callbacks.rows) {
    await sql`update callbacks set url = ${scrub(url)} where ${own} and seq = ${seq} and url <> ${scrub(url)}`.execute(
      transaction,
    );
  }
}

/** Rows that belong to the payment and consist of personal data, or repeat it. */
async function eraseRows(transaction: Transaction, { before, cardId }: Erasure): Promise<void> {
  const { mid, paymentId, orderId } = before;
  const statements = [
    sql`update callbacks set body = '' where mid = ${mid} and payment_id = ${paymentId}`,
    sql`delete from api_calls where mid = ${mid} and (payment_id = ${paymentId} or order_id = ${orderId})`,
    sql`update provider_notifications set body = ${sql.raw(erasedBody('body'))}
      where reference = any(${referencesOf(paymentId)})`,
    sql`update former_submissions set provider_data = null where mid = ${mid} and payment_id = ${paymentId}`,
    // The answer of a mail server contains the address.
    sql`update receipts set reason = null, due_at = null, state = case state when 'waiting' then 'failed' else state end
      where mid = ${mid} and payment_id = ${paymentId}`,
    // Velocities do not count the payment any more; the decision itself stays.
    sql`update risk_decisions set card_key = null, email_key = null, ip_key = null, phone_key = null,
        payer_country_key = null, review_note = null,
        input = input - '{bin,email_domain,payer_country,ip_country}'::text[]
      where mid = ${mid} and payment_id = ${paymentId}`,
    sql`delete from callback_inbox_entries
      where mid = ${mid} and position(convert_to(${paymentId}, 'UTF8') in body) > 0`,
    sql`delete from cards where mid = ${mid} and (payment_id = ${paymentId} or card_id = ${cardId ?? null})`,
  ];
  for (const statement of statements) await statement.execute(transaction);
}

/** What has to be finished first. */
async function obstacle(transaction: Transaction, { mid, paymentId }: Payment): Promise<Obstacle | undefined> {
  const { rows } = await sql<{ callbacks: boolean; notifications: boolean }>`select
    exists (select from callbacks where mid = ${mid} and payment_id = ${paymentId} and state::text = 'waiting') as callbacks,
    exists (select from provider_notifications n where n.reference = any(${referencesOf(paymentId)})
      and n.due_at is not null) as notifications`.execute(transaction);
  return rows[0]?.callbacks ? 'callbacks' : rows[0]?.notifications ? 'notifications' : undefined;
}

async function erase(transaction: Transaction, erasure: Erasure): Promise<Obstacle | undefined> {
  const { before, details, providerData, cardId, scrub, actor, actorName, at, audit } = erasure;
  const { mid, paymentId } = before;
  const own = sql`select ${paymentId}::uuid`;
  if (cardId !== undefined && !(await isBuilt(transaction))) return 'building';
  const locked = await lockPayments(
    transaction,
    mid,
    cardId === undefined ? own : sql`${own} union ${usersOf(mid, cardId)}`,
  );
  const current = locked.find((payment) => payment.paymentId === paymentId);
  if (current?.historyLength !== before.historyLength) return 'changed';
  if (locked.some(({ isOpen }) => isOpen)) return 'card';
  const found = await obstacle(transaction, before);
  if (found) return found;
  const others = locked.filter((payment) => payment !== current).map((payment) => payment.paymentId);
  await eraseRows(transaction, erasure);
  await scrubTexts(transaction, erasure);
  await sql`
    with erased as (
      update payments set details = ${JSON.stringify(details)}, provider_data = ${providerData && JSON.stringify(providerData)},
        next_step = null, recurring_token = null, history_length = history_length + 1,
        decline_reason = ${before.declineReason && scrub(before.declineReason)}
      where mid = ${mid} and payment_id = ${paymentId}
      returning mid, payment_id, history_length, state
    )
    insert into history (mid, payment_id, seq, event, from_state, to_state, actor, actor_name, at)
    select mid, payment_id, history_length, 'erased', state, state, ${actor}, ${actorName}, ${iso(at)} from erased`.execute(
    transaction,
  );
  if (others.length > 0) await removeFromPayments(transaction, mid, others, erasure);
  await removeFromSearch(transaction, mid, [paymentId, ...others]);
  await endSubscriptions(transaction, mid, locked);
  // Last, because entries of other transactions wait for this one.
  if (audit) await appendAudit(transaction, audit);
  return undefined;
}

export function createErasureStore({ pool, query }: Database): ErasureStore {
  const { list } = createPaymentLists(pool, ['paymentId']);
  return {
    erase: (erasure) => query.transaction().execute((transaction) => erase(transaction, erasure)),
    async findCard(mid, token) {
      const found = query.selectFrom('cards').select(['cardId', 'masked']).where('token', '=', token);
      return found.where('mid', '=', mid).where('sealed', 'is not', null).executeTakeFirst();
    },
    removeCard: (mid, cardId, by) =>
      query.transaction().execute(async (transaction) => {
        if (!(await isBuilt(transaction))) return 'building';
        const users = await lockPayments(transaction, mid, usersOf(mid, cardId));
        if (users.some(({ isOpen }) => isOpen)) return 'card';
        await transaction.deleteFrom('cards').where('mid', '=', mid).where('cardId', '=', cardId).execute();
        const ids = users.map(({ paymentId }) => paymentId);
        if (ids.length > 0) await removeFromPayments(transaction, mid, ids, by);
        await removeFromSearch(transaction, mid, ids);
        const subscriptions = await endSubscriptions(transaction, mid, users);
        if (by.audit) await appendAudit(transaction, by.audit);
        return { payments: ids.length, subscriptions };
      }),
    async findByEmail(mid, email, most, after) {
      // The search finds more: longer addresses that contain this one.
      const found: string[] = [];
      for (let before: string | null | undefined; before !== null; ) {
        const words = [{ typed: email, text: plain(email) }];
        const { payments, next, isComplete } = await list({ mids: null, mid, words, before, limit: most });
        if (!isComplete) return 'building';
        found.push(...payments.map(({ paymentId }) => paymentId));
        before = next;
      }
      const given = sql`lower(${email}::text)`;
      const { rows } = await sql<{ paymentId: string }>`select p.payment_id as "paymentId" from payments p
        where p.mid = ${mid} and p.payment_id = any(${found}::uuid[]) and p.payment_id > ${after}
          and (lower(p.details #>> '{payer,email}') = ${given} or lower(p.details ->> 'receiptEmail') = ${given})
        order by p.payment_id limit ${most}`.execute(query);
      return rows.map(({ paymentId }) => paymentId);
    },
  };
}
