/** What the statements of providers and their payments at the bank sum up to, by day; and how long providers take to pay. */
import { sql } from 'kysely';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

export interface SideSum {
  connector: string;
  currency: string;
  day: string;
  amount: bigint;
}

export interface ProviderTerms {
  connector: string;
  days: number;
  changedAt: number;
}

export interface ThreeWayStore {
  /** What statements have, less fees; a row that several statements have counts once. */
  statements(): Promise<SideSum[]>;
  /** Payments at the bank, by the day on which they were recorded. */
  payments(): Promise<SideSum[]>;
  terms(): Promise<ProviderTerms[]>;
  setTerms(terms: ProviderTerms, audit: AuditEntry): Promise<void>;
}

const DAY = (time: string) => sql.raw(`(${time} at time zone 'UTC')::date::text`);

export function createThreeWayStore({ query }: Database): ThreeWayStore {
  return {
    async statements() {
      const { rows } = await sql<SideSum>`
        with reported as (
          select distinct on (connector, w.type, coalesce(w.payment_id::text, w.reference), w.our_seq, w.amount, w.currency)
            r.terms ->> 'connector' as connector, w.currency, coalesce(w.our_at, w.at) as at,
            case w.type when 'sale' then w.amount else -abs(w.amount) end - coalesce(w.fee, 0) as amount
          from reconciliations r join reconciliation_rows w using (reconciliation_id)
          where r.state = 'done' and r.terms ->> 'connector' is not null and w.line is not null
          order by connector, w.type, coalesce(w.payment_id::text, w.reference), w.our_seq, w.amount, w.currency,
            w.reconciliation_id desc
        )
        select connector, currency, ${DAY('at')} as day, sum(amount)::bigint as amount from reported
        where at is not null group by 1, 2, 3`.execute(query);
      return rows;
    },
    async payments() {
      const { rows } = await sql<SideSum>`
        select connector, currency, ${DAY('recorded_at')} as day, sum(amount)::bigint as amount
        from provider_payments group by 1, 2, 3`.execute(query);
      return rows;
    },
    async terms() {
      return (await query.selectFrom('providerTerms').selectAll().orderBy('connector').execute()) as ProviderTerms[];
    },
    setTerms: ({ connector, days, changedAt }, audit) =>
      query.transaction().execute(async (transaction) => {
        const changed = { days, changedAt: iso(changedAt) };
        await transaction
          .insertInto('providerTerms')
          .values({ connector, ...changed })
          .onConflict((conflict) => conflict.column('connector').doUpdateSet(changed))
          .execute();
        await appendAudit(transaction, audit);
      }),
  };
}
