/** Invoices: what a payer owes, under a number of the account. */
import { sql } from 'kysely';
import type { InvoiceLine, InvoiceState } from '../../rules/invoices.ts';
import { LIMITS } from '../../rules/limits.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { accountTime, claimStatement, iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { heldUses, type LockOffer, PAID } from '../links/begun-orders.ts';
import { createBatching } from '../payments/batch.ts';

export interface InvoicePayer {
  name: string;
  email: string;
  address: string;
}

export interface Invoice {
  mid: string;
  invoiceId: string;
  code: string;
  /** The position among the invoices of the account, from 1. */
  sequence: number;
  currency: string;
  lines: InvoiceLine[];
  payer: InvoicePayer;
  note: string;
  /** As 2026-11-30. */
  dueOn: string;
  total: bigint;
  tax: bigint;
  voidedAt: number | null;
  sentCount: number;
  sentAt: number | null;
  createdBy: string | null;
  createdAt: number;
}

/** An invoice with the number of its successful payments. */
export interface PaidInvoice extends Invoice {
  payments: number;
}

export type NewInvoice = Omit<Invoice, 'sequence' | 'voidedAt' | 'sentCount' | 'sentAt'> & {
  /** Which reminder is next, and when. */
  next: { reminder: number; dueAt: number } | undefined;
};

/** A reminder that is due, under a lease. */
export interface DueReminder {
  mid: string;
  invoiceId: string;
  reminder: number;
  reminderAttempts: number;
  dueAt: number;
  /** The invoice as it was after the reminder was claimed. */
  invoice: PaidInvoice;
}

/** What comes after a reminder: the next one, or the next attempt at it. */
export type NextReminder = Pick<DueReminder, 'reminder' | 'reminderAttempts'> & { dueAt: number | null };

export interface InvoiceFilter {
  mids: readonly string[] | null;
  mid?: string | undefined;
  state?: InvoiceState | undefined;
  before?: string | undefined;
  limit: number;
  /** The gateway's time; the state is that by the clock of each account. */
  now: number;
}

export interface InvoiceStore {
  /** Gives the invoice the next number of its account. */
  insert(invoice: NewInvoice, audit: (sequence: number) => AuditEntry): Promise<PaidInvoice>;
  find(invoiceId: string): Promise<PaidInvoice | undefined>;
  findByCode(code: string): Promise<PaidInvoice | undefined>;
  /** Newest first. */
  list(filter: InvoiceFilter): Promise<PaidInvoice[]>;
  /** Voids an invoice; false if it is void, or if a payment of it has succeeded or is under way. */
  void(invoice: Pick<Invoice, 'mid' | 'invoiceId'>, now: number, audit: AuditEntry): Promise<boolean>;
  /** Counts a mail before it is sent; false if there were too many. */
  countSending(
    invoice: Pick<Invoice, 'mid' | 'invoiceId'>,
    now: number,
    most: number,
    audit: AuditEntry,
  ): Promise<boolean>;
  claimReminders(most: number): Promise<DueReminder[]>;
  /** Writes the next reminder of a claimed one, or the next attempt at it; nothing if the lease was lost. */
  recordReminder(claimed: DueReminder, next: NextReminder): Promise<void>;
  /** The payments that wait for their payers, who have not chosen a method. */
  openSessions(invoice: Pick<Invoice, 'mid' | 'invoiceId'>): Promise<{ mid: string; paymentId: string }[]>;
}

const SELECT = sql.raw(`
  select i.mid, i.invoice_id as "invoiceId", i.code, i.sequence, i.currency, i.lines, i.payer, i.note,
    i.due_on as "dueOn", i.total, i.tax, i.voided_at as "voidedAt", i.sent_count as "sentCount", i.sent_at as "sentAt",
    i.created_by as "createdBy", i.created_at as "createdAt", s.payments
  from invoices i cross join lateral (${PAID} and b.mid = i.mid and b.source_id = i.invoice_id) s`);

/** SQL: whether an invoice is in a state; the order of the states is that of `invoiceState`. */
const inState = (state: InvoiceState, now: number) => {
  const today = sql`to_char(${accountTime(now, 'i.mid')} at time zone 'utc', 'YYYY-MM-DD')`;
  return {
    void: sql`i.voided_at is not null`,
    paid: sql`i.voided_at is null and s.payments > 0`,
    overdue: sql`i.voided_at is null and s.payments = 0 and i.due_on < ${today}`,
    open: sql`i.voided_at is null and s.payments = 0 and i.due_on >= ${today}`,
  }[state];
};

/** An invoice is paid once. */
export const lockInvoice: LockOffer = async (transaction, mid, invoiceId) => {
  const invoice = await transaction
    .selectFrom('invoices')
    .select('voidedAt')
    .where('mid', '=', mid)
    .where('invoiceId', '=', invoiceId)
    .forUpdate()
    .executeTakeFirst();
  return invoice && { uses: 1, isOpen: invoice.voidedAt === null };
};

/**
 * Skips the numbers that invoices may have got since the moment $1, in a database that was restored from a backup of that
 * moment: as many as a process makes for each account in that time, of which 30 days count, and in one window more. The
 * first invoice of an account may be among them.
 */
export const SKIP_INVOICE_NUMBERS = `
  insert into invoice_numbers (mid, last)
  select a.mid, ${LIMITS.linksMost} * (1 + lost.windows)::int
  from accounts a, (
    select ceil(extract(epoch from least(greatest(statement_timestamp() - $1::timestamptz, '0'), '30 days'))
      * 1000 / ${LIMITS.linkWindowMs}) as windows
  ) lost
  on conflict (mid) do update set last = invoice_numbers.last + excluded.last`;

const CLAIM = claimStatement('invoices', 'invoice_id', ['mid', 'invoiceId', 'reminder', 'reminderAttempts', 'dueAt']);

const RECORD = `
  update invoices i set reminder = r.reminder, reminder_attempts = r.attempts, due_at = r.due_at
  from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::int[], $5::int[], $6::timestamptz[])
    r (mid, invoice_id, claimed_until, reminder, attempts, due_at)
  where i.mid = r.mid and i.invoice_id = r.invoice_id and i.due_at = r.claimed_until`;

export function createInvoiceStore({ query, pool }: Database): InvoiceStore {
  const select = async (condition: ReturnType<typeof sql>): Promise<PaidInvoice[]> =>
    (await sql<PaidInvoice>`${SELECT} where ${condition}`.execute(query)).rows;
  // One statement in flight: the reminders that are sent meanwhile are recorded together by the next one.
  const record = createBatching(() => undefined, { inFlight: 1 })(
    'record_reminders',
    async (items: { claimed: DueReminder; next: NextReminder }[]) => {
      await pool.query(RECORD, [
        items.map(({ claimed }) => claimed.mid),
        items.map(({ claimed }) => claimed.invoiceId),
        items.map(({ claimed }) => iso(claimed.dueAt)),
        items.map(({ next }) => next.reminder),
        items.map(({ next }) => next.reminderAttempts),
        items.map(({ next }) => isoOrNull(next.dueAt)),
      ]);
      return items.map(() => undefined);
    },
  );
  return {
    insert: ({ next, ...invoice }, audit) =>
      query.transaction().execute(async (transaction) => {
        const { rows } = await sql<{ last: number }>`
          insert into invoice_numbers (mid, last) values (${invoice.mid}, 1)
          on conflict (mid) do update set last = invoice_numbers.last + 1 returning last`.execute(transaction);
        const sequence = rows[0]?.last as number;
        await transaction
          .insertInto('invoices')
          .values({
            ...invoice,
            sequence,
            lines: JSON.stringify(invoice.lines),
            payer: JSON.stringify(invoice.payer),
            createdAt: iso(invoice.createdAt),
            ...(next && { reminder: next.reminder, dueAt: iso(next.dueAt) }),
          })
          .execute();
        await appendAudit(transaction, audit(sequence));
        return { ...invoice, sequence, voidedAt: null, sentCount: 0, sentAt: null, payments: 0 };
      }),
    find: async (invoiceId) => (await select(sql`i.invoice_id = ${invoiceId}`))[0],
    findByCode: async (code) => (await select(sql`i.code = ${code}`))[0],
    list({ mids, mid, state, before, limit, now }) {
      const conditions = [
        mids === null ? undefined : sql`i.mid = any(${[...mids]}::uuid[])`,
        mid === undefined ? undefined : sql`i.mid = ${mid}`,
        state === undefined ? undefined : inState(state, now),
        before === undefined ? undefined : sql`i.invoice_id < ${before}`,
      ].filter((condition) => condition !== undefined);
      const all = conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
      return select(sql`${all} order by i.invoice_id desc limit ${limit}`);
    },
    void: ({ mid, invoiceId }, now, audit) =>
      query.transaction().execute(async (transaction) => {
        // A payer who submits a payment waits for this lock, or this for the payer.
        const offer = await lockInvoice(transaction, mid, invoiceId);
        if (!offer?.isOpen) return false;
        if (((await heldUses(mid, invoiceId, '').execute(transaction)).rows[0]?.held ?? 0) > 0) return false;
        await transaction
          .updateTable('invoices')
          .set({ voidedAt: isoOrNull(now) })
          .where('mid', '=', mid)
          .where('invoiceId', '=', invoiceId)
          .execute();
        await appendAudit(transaction, audit);
        return true;
      }),
    countSending: ({ mid, invoiceId }, now, most, audit) =>
      query.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('invoices')
          .set((eb) => ({ sentCount: eb('sentCount', '+', 1), sentAt: isoOrNull(now) }))
          .where('mid', '=', mid)
          .where('invoiceId', '=', invoiceId)
          .where('sentCount', '<', most)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await appendAudit(transaction, audit);
        return true;
      }),
    async claimReminders(most) {
      const { rows } = await pool.query<Omit<DueReminder, 'invoice'>>(CLAIM, [LIMITS.receiptLeaseMs, most]);
      if (rows.length === 0) return [];
      const invoices = await select(sql`i.invoice_id = any(${rows.map(({ invoiceId }) => invoiceId)}::uuid[])`);
      const byId = new Map(invoices.map((invoice) => [invoice.invoiceId, invoice]));
      return rows.flatMap((row) => {
        const invoice = byId.get(row.invoiceId);
        return invoice ? [{ ...row, invoice }] : [];
      });
    },
    recordReminder: (claimed, next) => record({ claimed, next }),
    async openSessions({ mid, invoiceId }) {
      const { rows } = await sql<{ mid: string; paymentId: string }>`
        select p.mid, p.payment_id as "paymentId"
        from begun_orders b join payments p on p.mid = b.mid and p.order_id = b.order_id
        where b.mid = ${mid} and b.source_id = ${invoiceId} and p.state = 'PREPARE'`.execute(query);
      return rows;
    },
  };
}
