/** The projections of reports: they add the events of the history and of callback attempts to sums per hour and per day. */
import { LIMITS } from '../../rules/limits.ts';
import { iso } from '../database/columns.ts';
import type { Client, Projection } from '../projections/projection.ts';
import { declinesOf, events } from './rollup-deltas.ts';
import { addAll, DECLINE_CLASS_SUMS, deleteSums, FILL_TOTALS, NOTE_TOTALS, SUMS, violations } from './rollup-tables.ts';

/** The day before which totals are not filled; null if all are. */
export async function totalsBefore(client: Client): Promise<number | null> {
  const { rows } = await client.query<{ day: number | null }>(
    `select totals_before as day from projections where name = 'reports'`,
  );
  return rows[0]?.day ?? null;
}

export const reports: Projection = {
  name: 'reports',
  logs: ['history', 'callback_attempts'],
  everyMs: LIMITS.rollupEveryMs,
  portion: { rows: LIMITS.rollupPortion, payments: LIMITS.rollupBackfillPortion },
  async fold(client, { history, attempts }) {
    await client.query(`with ${addAll(SUMS, events(`(${history}) h`, 'true'), attempts)} select`);
  },
  async tend(client) {
    await client.query(NOTE_TOTALS);
    const before = await totalsBefore(client);
    // Until a day is filled its totals contain only what was added since the upgrade.
    if (before !== null) await client.query(FILL_TOTALS, [iso(before)]);
    return before !== null;
  },
  async reset(client) {
    await client.query(deleteSums(SUMS));
  },
  check: ({ history, attempts }) => violations(SUMS, events(`(${history}) h`, 'true'), attempts),
};

/** The declines by their class. */
export const declineClasses: Projection = {
  name: 'decline_classes',
  logs: ['history'],
  everyMs: reports.everyMs,
  portion: reports.portion,
  async fold(client, { history, attempts }) {
    await client.query(`with ${addAll(DECLINE_CLASS_SUMS, declinesOf(`(${history}) h`, 'true'), attempts)} select`);
  },
  async reset(client) {
    await client.query(deleteSums(DECLINE_CLASS_SUMS));
  },
  check: ({ history, attempts }) => violations(DECLINE_CLASS_SUMS, declinesOf(`(${history}) h`, 'true'), attempts),
};
