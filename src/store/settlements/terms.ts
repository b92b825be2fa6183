/** Settlement terms: those that accounts had at any time, for folds, and those that they have now. */
import { sql } from 'kysely';
import type { SettlementTerms } from '../../rules/settlements.ts';
import { appendAudit } from '../audit/audit.ts';
import { lockQuery } from '../database/advisory-lock.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import { type Database, types } from '../database/database.ts';
import type { Decision } from '../database/decision.ts';
import type { Client } from '../projections/projection.ts';
import { lockCycles, type Owner } from './cycles.ts';
import { currentHolidays } from './holidays.ts';

const TERMS = `
  select mid, currency, valid_from as "validFrom", cycle, weekday, day, time_zone as "timeZone",
    cut_off as "cutOff", business_days as "businessDays", delay_days as "delayDays", minimum,
    reserve_percent as "reservePercent", reserve_days as "reserveDays", hold
  from settlement_terms where mid = any ($1::uuid[]) order by valid_from`;

export interface TermsOfAccounts {
  /** In the order of their times. */
  termsOf(mid: string, currency: string): SettlementTerms[];
  hasBusinessDays: boolean;
}

export async function readTerms(client: Client, mids: readonly string[]): Promise<TermsOfAccounts> {
  const { rows } = await client.query<SettlementTerms & { mid: string }>({ text: TERMS, values: [mids], types });
  const byOwner = Map.groupBy(rows, ({ mid, currency }) => `${mid} ${currency}`);
  return {
    termsOf: (mid, currency) => byOwner.get(`${mid} ${currency}`) ?? [],
    hasBusinessDays: rows.some(({ businessDays }) => businessDays),
  };
}

/** What new terms are decided from. */
export interface TermsFacts {
  newest: SettlementTerms | undefined;
  holidays: ReadonlySet<string>;
  /** The next cut of the cycle, or the one that is due. */
  dueAt: number | null;
}

export interface TermsStore {
  /** The newest terms of an account in each currency. */
  current(mid: string): Promise<SettlementTerms[]>;
  /**
   * Adds terms that are decided from the newest ones, while nobody else adds any and nothing is folded: they never
   * concern a sale that was committed before. `dueAt` is the next cut of their cycle. Adds none if `decide` returns undefined.
   */
  add(
    owner: Owner,
    decide: (facts: TermsFacts) => Decision<SettlementTerms & { dueAt: number | null }> | undefined,
  ): Promise<SettlementTerms | undefined>;
  /** The time zone of each of these accounts that has terms in the currency. */
  timeZones(mids: readonly string[], currency: string): Promise<ReadonlyMap<string, string>>;
  /** Whether an account has terms. */
  exist(): Promise<boolean>;
}

async function readCurrent(source: Database['query'], mid: string, currency: string | null) {
  const { rows } = await sql<SettlementTerms & { mid: string }>`
    select distinct on (currency) * from settlement_terms
    where mid = ${mid} and (${currency}::text is null or currency = ${currency})
    order by currency, valid_from desc`.execute(source);
  return rows;
}

export function createTermsStore({ query }: Database): TermsStore {
  return {
    current: (mid) => readCurrent(query, mid, null),
    async timeZones(mids, currency) {
      const { rows } = await sql<{ mid: string; timeZone: string }>`
        select distinct on (mid) mid, time_zone from settlement_terms
        where mid = any (${mids}::uuid[]) and currency = ${currency} order by mid, valid_from desc`.execute(query);
      return new Map(rows.map(({ mid, timeZone }) => [mid, timeZone]));
    },
    async exist() {
      const { rows } = await sql<{ found: boolean }>`select exists (select from settlement_terms) as found`.execute(
        query,
      );
      return rows[0]?.found === true;
    },
    add: ({ mid, currency }, decide) =>
      query.transaction().execute(async (transaction) => {
        // In this order: a cut waits for a fold, and a fold for prices.
        await lockCycles(transaction, [{ mid, currency }]);
        await sql.raw(lockQuery('prices')).execute(transaction);
        const [newest] = await readCurrent(transaction, mid, currency);
        const cycle = await transaction
          .selectFrom('settlementCycles')
          .select('dueAt')
          .where('mid', '=', mid)
          .where('currency', '=', currency)
          .executeTakeFirstOrThrow();
        const decided = decide({ newest, holidays: await currentHolidays(transaction), dueAt: cycle.dueAt });
        if (!decided) return undefined;
        const { change, audit } = decided;
        const { dueAt, validFrom, ...terms } = change;
        await transaction
          .insertInto('settlementTerms')
          .values({ mid, ...terms, validFrom: iso(validFrom) })
          .execute();
        await transaction
          .updateTable('settlementCycles')
          .set({ dueAt: isoOrNull(dueAt) })
          .where('mid', '=', mid)
          .where('currency', '=', currency)
          .execute();
        await appendAudit(transaction, audit);
        return { ...terms, validFrom };
      }),
  };
}
