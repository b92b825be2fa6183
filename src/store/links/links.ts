/** Payment links: what a payer can pay under the address of a link. */
import { sql } from 'kysely';
import { createCache } from '../../lib/flow/cache.ts';
import type { MaybePromise } from '../../lib/flow/maybe-promise.ts';
import type { LinkState } from '../../rules/links.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { accountTime, iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Decide } from '../database/decision.ts';
import { type LockOffer, PAID } from './begun-orders.ts';

export interface Link {
  mid: string;
  linkId: string;
  code: string;
  title: string;
  description: string;
  currency: string;
  /** Null if the payer chooses the amount, within the bounds. */
  amount: bigint | null;
  minAmount: bigint | null;
  maxAmount: bigint | null;
  /** Null for any number. */
  uses: number | null;
  validUntil: number | null;
  methods: string[];
  locale: string;
  successUrl: string;
  ask: string[];
  isAuthorisation: boolean;
  orderPrefix: string;
  isActive: boolean;
  createdBy: string | null;
  createdAt: number;
}

/** A link with its successful payments and what they captured. */
export interface PaidLink extends Link {
  payments: number;
  captured: bigint;
}

/** A link as its payers open it. Its payments are counted only if its uses are limited: a popular link may have many. */
export type OpenedLink = Omit<PaidLink, 'captured'>;

export interface LinkFilter {
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  mid?: string | undefined;
  state?: LinkState | undefined;
  createdBy?: string | undefined;
  before?: string | undefined;
  limit: number;
  /** The gateway's time; the state is that by the clock of each account. */
  now: number;
}

export interface LinkStore {
  insert(link: Link, audit: AuditEntry | undefined): Promise<void>;
  find(linkId: string): Promise<PaidLink | undefined>;
  /** Calls for one code at the same time share one query. */
  findByCode(code: string): MaybePromise<OpenedLink | undefined>;
  /** Newest first. */
  list(filter: LinkFilter): Promise<PaidLink[]>;
  change(linkId: string, decide: Decide<Link, Pick<Link, 'isActive'>>): Promise<void>;
}

const selectWith = (condition: string) =>
  sql.raw(`
  select l.mid, l.link_id as "linkId", l.code, l.title, l.description, l.currency, l.amount,
    l.min_amount as "minAmount", l.max_amount as "maxAmount", l.uses, l.valid_until as "validUntil", l.methods, l.locale,
    l.success_url as "successUrl", l.ask, l.is_authorisation as "isAuthorisation", l.order_prefix as "orderPrefix",
    l.is_active as "isActive", l.created_by as "createdBy", l.created_at as "createdAt", s.payments, s.captured
  from links l cross join lateral (${PAID} and b.mid = l.mid and b.source_id = l.link_id${condition}) s`);
const SELECT = selectWith('');
const SELECT_OPENED = selectWith(' and l.uses is not null');

/** SQL: whether a link is in a state; the order of the states is that of `linkState`. */
const inState = (state: LinkState, now: number) => {
  const isUsedUp = sql`(l.uses is not null and s.payments >= l.uses)`;
  const isOver = sql`(l.valid_until is not null and l.valid_until <= ${accountTime(now, 'l.mid')})`;
  return {
    inactive: sql`not l.is_active`,
    used_up: sql`l.is_active and ${isUsedUp}`,
    expired: sql`l.is_active and not ${isUsedUp} and ${isOver}`,
    active: sql`l.is_active and not ${isUsedUp} and not ${isOver}`,
  }[state];
};

export const lockLink: LockOffer = async (transaction, mid, linkId) => {
  const link = await transaction
    .selectFrom('links')
    .select(['uses', 'isActive'])
    .where('mid', '=', mid)
    .where('linkId', '=', linkId)
    .forUpdate()
    .executeTakeFirst();
  return link && { uses: link.uses, isOpen: link.isActive };
};

export function createLinkStore({ query }: Database): LinkStore {
  // Nothing is kept: a payer sees at once that a link is used up.
  const opened = createCache<OpenedLink>({ maxEntries: 1, maxAgeMs: 0, maxMissAgeMs: 0 });
  const select = async (condition: ReturnType<typeof sql>): Promise<PaidLink[]> =>
    (await sql<PaidLink>`${SELECT} where ${condition}`.execute(query)).rows;
  return {
    insert: (link, audit) =>
      query.transaction().execute(async (transaction) => {
        const { validUntil, createdAt, ...values } = link;
        await transaction
          .insertInto('links')
          .values({ ...values, validUntil: isoOrNull(validUntil), createdAt: iso(createdAt) })
          .execute();
        if (audit) await appendAudit(transaction, audit);
      }),
    find: async (linkId) => (await select(sql`l.link_id = ${linkId}`))[0],
    findByCode: (code) =>
      opened.get(
        code,
        async () => (await sql<OpenedLink>`${SELECT_OPENED} where l.code = ${code}`.execute(query)).rows[0],
      ),
    list({ mids, mid, state, createdBy, before, limit, now }) {
      const conditions = [
        mids === null ? undefined : sql`l.mid = any(${[...mids]}::uuid[])`,
        mid === undefined ? undefined : sql`l.mid = ${mid}`,
        state === undefined ? undefined : inState(state, now),
        createdBy === undefined ? undefined : sql`l.created_by = ${createdBy}`,
        before === undefined ? undefined : sql`l.link_id < ${before}`,
      ].filter((condition) => condition !== undefined);
      const all = conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
      return select(sql`${all} order by l.link_id desc limit ${limit}`);
    },
    change: (linkId, decide) =>
      query.transaction().execute(async (transaction) => {
        const before = await transaction
          .selectFrom('links')
          .selectAll()
          .where('linkId', '=', linkId)
          .forUpdate()
          .executeTakeFirst();
        if (!before) return;
        const { change, audit } = decide(before as Link);
        await transaction.updateTable('links').set(change).where('linkId', '=', linkId).execute();
        await appendAudit(transaction, audit);
      }),
  };
}
