/** The holidays of the installation: the lists that it had at any time, for folds, and the one that it has now. */
import { sql } from 'kysely';
import type { Holiday, HolidayList } from '../../rules/settlement-calendar.ts';
import { appendAudit } from '../audit/audit.ts';
import { lockQuery } from '../database/advisory-lock.ts';
import { iso } from '../database/columns.ts';
import { type Database, types } from '../database/database.ts';
import type { Decision } from '../database/decision.ts';
import type { Client } from '../projections/projection.ts';

interface Row {
  validFrom: number;
  holidays: Holiday[];
}

/** All lists in the order of their times. */
export async function readHolidays(client: Client): Promise<HolidayList[]> {
  const text = 'select valid_from as "validFrom", holidays from holiday_lists order by valid_from';
  const { rows } = await client.query<Row>({ text, types });
  return rows.map(({ validFrom, holidays }) => ({ validFrom, days: new Set(holidays.map(({ day }) => day)) }));
}

export interface HolidayStore {
  current(): Promise<Holiday[]>;
  /**
   * Adds a list that is decided from the newest one, while nothing is folded: it never concerns a sale that was committed
   * before. The cycles that depend on it fall due, and set their next cut by the new list.
   */
  add(decide: (newest: Row | undefined) => Decision<Row>): Promise<void>;
}

async function readNewest(source: Database['query']): Promise<Row | undefined> {
  const { rows } = await sql<Row>`select * from holiday_lists order by valid_from desc limit 1`.execute(source);
  return rows[0];
}

/** The days of the newest list, for those who hold a lock that a change of it waits for. */
export const currentHolidays = async (source: Database['query']): Promise<ReadonlySet<string>> =>
  new Set((await readNewest(source))?.holidays.map(({ day }) => day));

export function createHolidayStore({ query }: Database): HolidayStore {
  return {
    current: async () => (await readNewest(query))?.holidays ?? [],
    add: (decide) =>
      query.transaction().execute(async (transaction) => {
        await sql.raw(lockQuery('prices')).execute(transaction);
        const { change, audit } = decide(await readNewest(transaction));
        await transaction
          .insertInto('holidayLists')
          .values({ validFrom: iso(change.validFrom), holidays: JSON.stringify(change.holidays) })
          .execute();
        await sql`
          update settlement_cycles c set due_at = least(c.due_at, ${iso(change.validFrom)}::timestamptz)
          where c.due_at is not null and (
            select t.business_days from settlement_terms t where t.mid = c.mid and t.currency = c.currency
            order by t.valid_from desc limit 1)`.execute(transaction);
        await appendAudit(transaction, audit);
      }),
  };
}
