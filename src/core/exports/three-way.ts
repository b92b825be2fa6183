/** The three-way reconciliation as the admin API shows it, and as CSV. */
import { type CsvValue, csvRows } from '../../lib/text/csv.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { isException } from '../../rules/three-way.ts';
import type { ProviderTerms, ThreeWayRow } from '../reconciliations/three-way.ts';
import type { Download } from './download.ts';
import { ledgerAmount } from './ledger.ts';

export const threeWayView = ({ connector, currency, day, dueOn, ours, statement, bank, state }: ThreeWayRow) => ({
  connector,
  currency,
  day,
  due_on: dueOn,
  ours: ledgerAmount(ours, currency),
  statement: statement === null ? null : ledgerAmount(statement, currency),
  bank: ledgerAmount(bank, currency),
  open: ledgerAmount((statement ?? ours) - bank, currency),
  state,
  exception: isException(state),
});

const HEADER = ['connector', 'currency', 'day', 'due_on', 'ours', 'statement', 'bank', 'open', 'state', 'exception'];

export const threeWayCsv = (rows: readonly ThreeWayRow[]): Download => ({
  filename: 'three-way-reconciliation.csv',
  chunks: [
    csvRows([
      HEADER,
      ...rows.map((row): CsvValue[] => {
        const { exception, ...view } = threeWayView(row);
        return [...Object.values(view), String(exception)];
      }),
    ]),
  ],
});

export const providerTermsView = ({ connector, days, changedAt }: ProviderTerms) => ({
  connector,
  days,
  changed_at: wireDate(changedAt),
});
