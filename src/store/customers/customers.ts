/** One-time links of payers, and what an account has saved of a payer's payments. */
import { sql } from 'kysely';
import { CUSTOMER_LIMITS } from '../../rules/customers.ts';
import { LIMITS } from '../../rules/limits.ts';
import { claimStatement, iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

export interface CustomerLink {
  mid: string;
  emailKey: string;
  email: string;
  language: string;
  state: 'requested' | 'sent' | 'over';
  attempts: number;
  dueAt: number;
  createdAt: number;
}

export interface SavedCard {
  cardId: string;
  fingerprint: string;
  masked: string;
  network: string;
}

export interface SavedSubscription {
  subscriptionId: string;
  scheduleId: string;
  firstPaymentId: string;
  name: string;
  nextAt: number | null;
}

export interface Saved {
  /** Newest first. */
  cards: SavedCard[];
  subscriptions: SavedSubscription[];
}

const COLUMNS = [
  'mid',
  'emailKey',
  'email',
  'language',
  'state',
  'attempts',
  'dueAt',
  'createdAt',
] as const satisfies (keyof CustomerLink)[];

const CLAIM = claimStatement('customer_links', 'email_key', COLUMNS);

export interface CustomerStore {
  /** Requests a link; nothing happens within the pause after the last request of the address. */
  request(link: Pick<CustomerLink, 'mid' | 'emailKey' | 'email' | 'language'>, now: number): Promise<void>;
  claimDue(most: number): Promise<CustomerLink[]>;
  /** Writes the digest of the secret before it is sent; false if the lease was lost. */
  arm(claimed: CustomerLink, digest: string): Promise<boolean>;
  /** Writes what came of a claimed link. */
  record(claimed: CustomerLink, outcome: Pick<CustomerLink, 'state' | 'dueAt'>): Promise<void>;
  remove(claimed: CustomerLink): Promise<void>;
  /** The address of a link that can be used. */
  find(mid: string, digest: string, now: number): Promise<string | undefined>;
  /** Uses a link up, once. */
  redeem(mid: string, digest: string, now: number): Promise<string | undefined>;
  /** The cards that were entered for these payments and are kept, and the subscriptions that began with them. */
  saved(mid: string, paymentIds: readonly string[]): Promise<Saved>;
}

export function createCustomerStore({ pool, query }: Database): CustomerStore {
  const isUsable = (mid: string, digest: string, now: number) =>
    sql`mid = ${mid} and digest = ${digest} and created_at > ${iso(now - CUSTOMER_LIMITS.linkMs)}`;
  return {
    async request({ mid, emailKey, email, language }, now) {
      await sql`
        insert into customer_links as l (mid, email_key, email, language, state, due_at, created_at)
        values (${mid}, ${emailKey}, ${email}, ${language}, 'requested', ${iso(now)}, ${iso(now)})
        on conflict (mid, email_key) do update set email = excluded.email, language = excluded.language,
          state = 'requested', digest = null, attempts = 0, due_at = excluded.due_at, created_at = excluded.created_at
        where l.created_at <= ${iso(now - CUSTOMER_LIMITS.pauseMs)}`.execute(query);
    },
    async claimDue(most) {
      return (await pool.query<CustomerLink>(CLAIM, [LIMITS.receiptLeaseMs, most])).rows;
    },
    async arm({ mid, emailKey, dueAt }, digest) {
      const { numAffectedRows } = await sql`
        update customer_links set digest = ${digest}, attempts = attempts + 1
        where mid = ${mid} and email_key = ${emailKey} and due_at = ${iso(dueAt)}`.execute(query);
      return numAffectedRows === 1n;
    },
    async record({ mid, emailKey, dueAt: claimedUntil }, { state, dueAt }) {
      await sql`
        update customer_links set state = ${state}, due_at = ${iso(dueAt)}
        where mid = ${mid} and email_key = ${emailKey} and due_at = ${iso(claimedUntil)}`.execute(query);
    },
    async remove({ mid, emailKey, dueAt }) {
      await sql`
        delete from customer_links where mid = ${mid} and email_key = ${emailKey} and due_at = ${iso(dueAt)}`.execute(
        query,
      );
    },
    async find(mid, digest, now) {
      const { rows } = await sql<{ email: string }>`
        select email from customer_links where ${isUsable(mid, digest, now)}`.execute(query);
      return rows[0]?.email;
    },
    async redeem(mid, digest, now) {
      const { rows } = await sql<{ email: string }>`
        update customer_links set state = 'over', digest = null
        where ${isUsable(mid, digest, now)} returning email`.execute(query);
      return rows[0]?.email;
    },
    async saved(mid, paymentIds) {
      const ids = sql`any(${[...paymentIds]}::uuid[])`;
      const { rows: cards } = await sql<SavedCard>`
        select card_id as "cardId", fingerprint, masked, network from cards
        where mid = ${mid} and payment_id = ${ids} and is_kept and sealed is not null
        order by created_at desc`.execute(query);
      const { rows: subscriptions } = await sql<SavedSubscription>`
        select s.subscription_id as "subscriptionId", s.schedule_id as "scheduleId", s.first_payment_id as "firstPaymentId",
          s.next_at as "nextAt", c.name
        from subscriptions s join schedules c on c.mid = s.mid and c.schedule_id = s.schedule_id
        where s.mid = ${mid} and s.first_payment_id = ${ids} and s.state = 'active'
        order by s.next_at`.execute(query);
      return { cards, subscriptions };
    },
  };
}
