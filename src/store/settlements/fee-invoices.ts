/** Fee invoices: made from settlements, each of which is in one invoice, under consecutive numbers; corrected, listed. */
import { sql } from 'kysely';
import type { FeeInvoiceKind, FeeInvoiceLine, InvoiceParty } from '../../rules/fee-invoices.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { CLOCK, iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { holdLedger, lockCycles, type Owner } from './cycles.ts';

export interface Issuer extends InvoiceParty {
  prefix: string;
  changedAt: number;
}

export interface FeeInvoice {
  mid: string;
  feeInvoiceId: string;
  prefix: string;
  sequence: number;
  kind: FeeInvoiceKind;
  currency: string;
  fromAt: number | null;
  untilAt: number;
  lines: FeeInvoiceLine[];
  net: bigint;
  tax: bigint;
  issuer: InvoiceParty;
  recipient: InvoiceParty;
  corrects: string | null;
  reason: string | null;
  issuedBy: string;
  issuedAt: number;
}

export type NewFeeInvoice = Omit<FeeInvoice, 'sequence'>;

/** The settlements that are not invoiced yet: their period, and their fees. */
export interface Uninvoiced {
  fromAt: number | null;
  untilAt: number;
  lines: FeeInvoiceLine[];
}

export interface FeeInvoiceFilter {
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  mid?: string | undefined;
  feeInvoiceId?: string | undefined;
}

type Audit = (invoice: FeeInvoice) => AuditEntry;

export interface FeeInvoiceStore {
  issuer(): Promise<Issuer | undefined>;
  setIssuer(issuer: Issuer, audit: AuditEntry): Promise<void>;
  /**
   * Invoices the settlements until a moment that are approved and not invoiced yet. Null if there are no fees; undefined
   * while the ledger does not contain the history up to this number.
   */
  make(
    owner: Owner,
    until: number,
    historyNumber: bigint,
    compose: (found: Uninvoiced) => NewFeeInvoice,
    audit: Audit,
  ): Promise<FeeInvoice | null | undefined>;
  /** Writes a credit note, and makes the settlements of the corrected invoice free again; undefined if it was corrected before. */
  correct(corrected: FeeInvoice, note: NewFeeInvoice, audit: Audit): Promise<FeeInvoice | undefined>;
  /** Newest first; `correctedBy` is the credit note that takes an invoice back. */
  list(
    filter: FeeInvoiceFilter,
    limit: number,
    before?: string,
  ): Promise<(FeeInvoice & { correctedBy: string | null })[]>;
  /** Accounts and currencies whose fees are to be invoiced by the clock of the account. */
  due(most: number): Promise<(Owner & { dueAt: number })[]>;
  /** What is due now and was not invoiced is tried again later. */
  postpone(owner: Owner, now: number, dueAt: number): Promise<void>;
}

type StoredLine = Omit<FeeInvoiceLine, 'net' | 'tax'> & { net: string; tax: string };
type Row = Omit<FeeInvoice, 'lines'> & { lines: StoredLine[] };

const invoiceOf = <Extra>({ lines, ...row }: Row & Extra) => ({
  ...row,
  lines: lines.map((line) => ({ ...line, net: BigInt(line.net), tax: BigInt(line.tax) })),
});

/** The settlements of an account and currency until a moment that have no invoice. */
const uninvoiced = ({ mid, currency }: Owner, until: number) => sql`
  s.mid = ${mid} and s.currency = ${currency} and s.fee_invoice_id is null and s.state not in ('draft', 'void')
  and s.until_at <= ${iso(until)}::timestamptz`;

async function feesOf(transaction: Database['query'], owner: Owner, until: number): Promise<Uninvoiced | undefined> {
  const period = await sql<{ fromAt: number | null; untilAt: number | null }>`
    select case when bool_or(s.from_at is null) then null else min(s.from_at) end as from_at, max(s.until_at) as until_at
    from settlements s where ${uninvoiced(owner, until)}`.execute(transaction);
  const { fromAt, untilAt } = period.rows[0] as { fromAt: number | null; untilAt: number | null };
  if (untilAt === null) return undefined;
  const { rows: lines } = await sql<FeeInvoiceLine>`
    select e.category, coalesce(v.tax_percent, '0') as tax_percent, count(*)::int as count,
      (-sum(a.fee))::bigint as net, (-sum(a.tax))::bigint as tax
    from settlements s
    join settlement_entries o on o.settlement_id = s.settlement_id
    join ledger_entries e on e.source_id = o.source_id and e.seq = o.seq and e.category = o.category
    left join price_plan_versions v on v.plan_id = e.plan_id and v.version = e.plan_version
    cross join lateral (
      select coalesce(sum(amount) filter (where account = 'operator:fees'), 0) as fee,
        coalesce(sum(amount) filter (where account = 'operator:tax'), 0) as tax
      from unnest(e.accounts, e.amounts) a(account, amount)
    ) a
    where ${uninvoiced(owner, until)} and (o.category like 'fee.%' or o.category like 'fee_returned.%')
    group by 1, 2 order by 1, 2`.execute(transaction);
  return { fromAt, untilAt, lines };
}

/** Gives an invoice the next number of its prefix. */
async function insert(transaction: Database['query'], invoice: NewFeeInvoice, audit: Audit): Promise<FeeInvoice> {
  const { rows } = await sql<{ last: number }>`
    insert into fee_invoice_numbers (prefix, last) values (${invoice.prefix}, 1)
    on conflict (prefix) do update set last = fee_invoice_numbers.last + 1 returning last`.execute(transaction);
  const written = { ...invoice, sequence: rows[0]?.last as number };
  await transaction
    .insertInto('feeInvoices')
    .values({
      ...written,
      lines: JSON.stringify(invoice.lines.map((line) => ({ ...line, net: String(line.net), tax: String(line.tax) }))),
      issuer: JSON.stringify(invoice.issuer),
      recipient: JSON.stringify(invoice.recipient),
      fromAt: isoOrNull(invoice.fromAt),
      untilAt: iso(invoice.untilAt),
      issuedAt: iso(invoice.issuedAt),
    })
    .execute();
  await appendAudit(transaction, audit(written));
  return written;
}

export function createFeeInvoiceStore({ query }: Database): FeeInvoiceStore {
  return {
    async issuer() {
      const found = query
        .selectFrom('feeInvoiceIssuer')
        .select(['name', 'address', 'taxNumber', 'prefix', 'changedAt']);
      return (await found.executeTakeFirst()) as Issuer | undefined;
    },
    setIssuer: ({ address, changedAt, ...issuer }, audit) =>
      query.transaction().execute(async (transaction) => {
        const row = { ...issuer, address: JSON.stringify(address), changedAt: iso(changedAt) };
        await transaction
          .insertInto('feeInvoiceIssuer')
          .values(row)
          .onConflict((conflict) => conflict.column('isOnly').doUpdateSet(row))
          .execute();
        await appendAudit(transaction, audit);
      }),

    make: (owner, until, historyNumber, compose, audit) =>
      query.transaction().execute(async (transaction) => {
        await lockCycles(transaction, [owner]);
        if ((await holdLedger(transaction, historyNumber)) === undefined) return undefined;
        const found = await feesOf(transaction, owner, until);
        if (!found || found.lines.length === 0) {
          await sql`update settlements s set invoice_due_at = null where ${uninvoiced(owner, until)}`.execute(
            transaction,
          );
          return null;
        }
        const invoice = await insert(transaction, compose(found), audit);
        await sql`update settlements s set fee_invoice_id = ${invoice.feeInvoiceId}::uuid, invoice_due_at = null
          where ${uninvoiced(owner, until)}`.execute(transaction);
        return invoice;
      }),

    correct: (corrected, note, audit) =>
      query.transaction().execute(async (transaction) => {
        await lockCycles(transaction, [corrected]);
        const { rows } = await sql`select from fee_invoices where corrects = ${corrected.feeInvoiceId}::uuid`.execute(
          transaction,
        );
        if (rows.length > 0) return undefined;
        const written = await insert(transaction, note, audit);
        await transaction
          .updateTable('settlements')
          .set({ feeInvoiceId: null })
          .where('feeInvoiceId', '=', corrected.feeInvoiceId)
          .execute();
        return written;
      }),

    async list({ mids, mid, feeInvoiceId }, limit, before) {
      const conditions = [
        sql`true`,
        ...(mids === null ? [] : [sql`i.mid = any (${[...mids]}::uuid[])`]),
        ...(mid === undefined ? [] : [sql`i.mid = ${mid}`]),
        ...(feeInvoiceId === undefined ? [] : [sql`i.fee_invoice_id = ${feeInvoiceId}::uuid`]),
        ...(before === undefined ? [] : [sql`i.fee_invoice_id < ${before}::uuid`]),
      ];
      const { rows } = await sql<Row & { correctedBy: string | null }>`
        select i.*, c.fee_invoice_id as corrected_by
        from fee_invoices i left join fee_invoices c on c.corrects = i.fee_invoice_id
        where ${sql.join(conditions, sql` and `)} order by i.fee_invoice_id desc limit ${limit}`.execute(query);
      return rows.map(invoiceOf);
    },

    async due(most) {
      const { rows } = await sql<Owner & { dueAt: number }>`
        with ${sql.raw(CLOCK)}
        select d.mid, d.currency, min(d.invoice_due_at) as due_at
        from settlements d left join clock_offsets c on c.mid = d.mid
        where d.invoice_due_at <= (select now + furthest from clock)
          and d.invoice_due_at <= (select now from clock) + coalesce(c.offset_ms, 0) * interval '1 ms'
        group by 1, 2 order by 3 limit ${most}`.execute(query);
      return rows;
    },

    async postpone({ mid, currency }, now, dueAt) {
      await sql`update settlements set invoice_due_at = ${iso(dueAt)}
        where mid = ${mid} and currency = ${currency} and invoice_due_at <= ${iso(now)}::timestamptz`.execute(query);
    },
  };
}
