/** The rows of a reconciliation as the admin API and the CSV have them. */

import { csvRows } from '../../lib/text/csv.ts';
import { wireDateOrNull } from '../../lib/time/clock.ts';
import { utcDay } from '../../lib/time/day.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Outcome } from '../../rules/statements.ts';
import type { Gateway, ReconciledRow, Reconciliation } from '../context.ts';
import type { Download } from './download.ts';
import { reportAmount } from './reports.ts';

const amountOf = (amount: bigint | null, currency: string | null): string | null =>
  amount === null || currency === null ? null : reportAmount(amount, currency);

export const reconciledRowView = (row: ReconciledRow) => ({
  outcome: row.outcome,
  type: row.type,
  row: row.line === null ? null : Number(row.line),
  reference: row.reference,
  date: wireDateOrNull(row.at),
  amount: amountOf(row.amount, row.currency),
  currency: row.currency,
  payment_id: row.paymentId,
  mid: row.mid,
  our_date: wireDateOrNull(row.ourAt),
  our_amount: amountOf(row.ourAmount, row.ourCurrency),
  our_currency: row.ourCurrency,
});

type RowView = ReturnType<typeof reconciledRowView>;

/** The columns; the compiler requires all fields of the API. */
const COLUMNS: Readonly<Record<keyof RowView, true>> = {
  outcome: true,
  type: true,
  row: true,
  reference: true,
  date: true,
  amount: true,
  currency: true,
  payment_id: true,
  mid: true,
  our_date: true,
  our_amount: true,
  our_currency: true,
};
const FIELDS = Object.keys(COLUMNS) as (keyof RowView)[];

/** The rows in portions: memory does not grow with their number. */
export const reconciliationCsv = (
  gateway: Pick<Gateway, 'reconciliationRows'>,
  { reconciliationId, createdAt }: Reconciliation,
  outcome: Outcome | undefined,
): Download => ({
  filename: `reconciliation-${utcDay(createdAt)}${outcome ? `-${outcome}` : ''}.csv`,
  chunks: portions(gateway, reconciliationId, outcome),
});

async function* portions(
  { reconciliationRows }: Pick<Gateway, 'reconciliationRows'>,
  reconciliationId: string,
  outcome: Outcome | undefined,
): AsyncGenerator<string, void> {
  yield csvRows([FIELDS]);
  let after: bigint | undefined = 0n;
  while (after !== undefined) {
    const rows: ReconciledRow[] = await reconciliationRows.list(
      reconciliationId,
      outcome,
      LIMITS.statementPortion,
      after,
    );
    if (rows.length > 0) {
      yield csvRows(
        rows.map((row) => {
          const view = reconciledRowView(row);
          return FIELDS.map((name) => view[name]);
        }),
      );
    }
    after = rows.length < LIMITS.statementPortion ? undefined : rows.at(-1)?.number;
  }
}
