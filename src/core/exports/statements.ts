/** Statements as CSV and as JSON; both are composed while they are sent, so that memory does not grow with the entries. */
import { type CsvValue, csvRows } from '../../lib/text/csv.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import type { Statement, StatementMonth, StatementRow } from '../settlements/statements.ts';
import type { Download } from './download.ts';
import { ledgerAmount } from './ledger.ts';

export const statementMonthView = ({ month, currency, opening, credits, debits, closing }: StatementMonth) => ({
  month,
  currency,
  opening: ledgerAmount(opening, currency),
  credits: ledgerAmount(credits, currency),
  debits: ledgerAmount(debits, currency),
  closing: ledgerAmount(closing, currency),
});

export const statementMonthsCsv = (months: readonly StatementMonth[]): Download => ({
  filename: 'statements.csv',
  chunks: [
    csvRows([
      ['month', 'currency', 'opening', 'credits', 'debits', 'closing'],
      ...months.map((month): CsvValue[] => Object.values(statementMonthView(month))),
    ]),
  ],
});

const rowView = (row: StatementRow, currency: string) => ({
  entry_id: row.entryId,
  posted_at: wireDate(row.postedAt),
  available_on: row.availableOn,
  category: row.category,
  payment_id: row.paymentId,
  order_id: row.orderId,
  operation_id: row.operationId,
  note: row.note,
  gross: ledgerAmount(row.gross, currency),
  fee: ledgerAmount(row.fee, currency),
  tax: ledgerAmount(row.tax, currency),
  net: ledgerAmount(row.net, currency),
  balance: ledgerAmount(row.balance, currency),
});

const ROW_HEADER = [
  ...['entry_id', 'posted_at', 'available_on', 'category', 'payment_id', 'order_id', 'operation_id', 'note'],
  ...['gross', 'fee', 'tax', 'net', 'balance', 'currency'],
];

const nameOf = ({ settlement, month, currency }: Statement): string =>
  `statement-${settlement ? settlement.number : month}-${currency}`;

/** A line for each entry, with the balance after it. */
export function statementCsv(statement: Statement): Download {
  const { currency, portions } = statement;
  async function* chunks(): AsyncGenerator<string, void> {
    yield csvRows([ROW_HEADER]);
    for await (const rows of portions)
      yield csvRows(rows.map((row): CsvValue[] => [...Object.values(rowView(row, currency)), currency]));
  }
  return { filename: `${nameOf(statement)}.csv`, chunks: chunks() };
}

/** What a statement says besides its rows. */
const headOf = ({ mid, name, currency, from, until, opening, settlement, month }: Statement) => ({
  mid,
  name,
  currency,
  ...(settlement ? { settlement_id: settlement.settlementId, number: settlement.number } : { month }),
  from: wireDateOrNull(from),
  until: wireDate(until),
  opening: ledgerAmount(opening, currency),
});

/** One object. What is known at the end, the sums and the closing balance, follows the rows. */
export function statementJson(statement: Statement): Download {
  const { currency, opening, portions } = statement;
  async function* chunks(): AsyncGenerator<string, void> {
    yield `${JSON.stringify(headOf(statement)).slice(0, -1)},"items":[`;
    const totals = { gross: 0n, fee: 0n, tax: 0n, net: 0n };
    let isFirst = true;
    for await (const rows of portions) {
      for (const name of Object.keys(totals) as (keyof typeof totals)[])
        totals[name] = rows.reduce((sum, row) => sum + row[name], totals[name]);
      yield `${isFirst ? '' : ','}${rows.map((row) => JSON.stringify(rowView(row, currency))).join(',')}`;
      isFirst = false;
    }
    const written = Object.entries(totals).map(([name, sum]) => [name, ledgerAmount(sum, currency)]);
    const end = {
      next_cursor: null,
      totals: Object.fromEntries(written),
      closing: ledgerAmount(opening + totals.net, currency),
    };
    yield `],${JSON.stringify(end).slice(1)}`;
  }
  return { filename: `${nameOf(statement)}.json`, mediaType: 'application/json', chunks: chunks() };
}
