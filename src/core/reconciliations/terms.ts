/** Checks how a statement is to be read, and reads its rows. */

import { isUuid } from '../../lib/crypto/id.ts';
import type { CsvRecord } from '../../lib/text/csv-reader.ts';
import type { Problem } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  STATEMENT_COLUMNS,
  type StatementColumn,
  statementAmount,
  statementCurrency,
  statementDate,
  statementFee,
  statementType,
} from '../../rules/statements.ts';
import type { StatementTerms } from '../../store/reconciliations/reconciliations.ts';
import type { StatementRow } from '../../store/reconciliations/rows.ts';
import type { Gateway } from '../context.ts';

/** What is missing or wrong; empty if the statement can be read. */
export function termProblems(
  { connectors }: Pick<Gateway, 'connectors'>,
  header: readonly string[],
  { mapping, currency, connector, from, to }: StatementTerms,
): Problem[] {
  const problems: Problem[] = STATEMENT_COLUMNS.filter(
    (column) => mapping[column] !== undefined && !header.includes(mapping[column]),
  ).map((field) => ({ field, sentence: 'The file has no column with this name.' }));
  const expectThat = (isFine: boolean, field: string, sentence: string): void => {
    if (!isFine && problems.every((problem) => problem.field !== field)) problems.push({ field, sentence });
  };
  expectThat(
    mapping.reference !== undefined || mapping.provider_reference !== undefined,
    'reference',
    'Choose the column of our reference or of the provider reference.',
  );
  expectThat(mapping.amount !== undefined, 'amount', 'Choose the column of the amount.');
  expectThat(
    mapping.currency !== undefined || currency !== null,
    'currency',
    'Choose the column of the currency, or one currency for all rows.',
  );
  expectThat(currency === null || statementCurrency(currency) === currency, 'fixed_currency', SENTENCES.invalid);
  expectThat(connector === null || Object.hasOwn(connectors, connector), 'connector', SENTENCES.notAChoice);
  const hasPeriod = from !== null && to !== null;
  expectThat(hasPeriod || mapping.date !== undefined, 'from', 'Enter the period, or choose the column of the date.');
  expectThat((from === null) === (to === null), from === null ? 'from' : 'to', SENTENCES.blank);
  expectThat(!hasPeriod || from < to, 'from', 'This value should be before to.');
  expectThat(!hasPeriod || to - from <= LIMITS.reportMostMs, 'from', PERIOD_TOO_LONG);
  return problems;
}

export const PERIOD_TOO_LONG = `The period should not be longer than ${LIMITS.reportMostMs / LIMITS.dayMs} days.`;

/** A row that cannot be read; its value is not repeated, because a wrong column may contain anything. */
export class BadRow extends Error {
  readonly column: StatementColumn;

  constructor(line: number, column: StatementColumn, name: string, sentence: string) {
    super(`Row ${line}, column “${name}”: ${sentence}`);
    this.column = column;
  }
}

/** A function that reads the records after the header; it returns `undefined` for a row that is to be skipped. */
export function rowReader(
  header: readonly string[],
  { mapping, amountFormat, currency: fixedCurrency }: StatementTerms,
): (record: CsvRecord) => StatementRow | undefined {
  const places = new Map(
    STATEMENT_COLUMNS.flatMap((column) => {
      const name = mapping[column];
      return name === undefined ? [] : [[column, header.indexOf(name)] as const];
    }),
  );
  return ({ line, cells }) => {
    const cell = (column: StatementColumn): string => cells[places.get(column) ?? -1] ?? '';
    const read = <Value>(column: StatementColumn, value: Value | undefined, sentence: string): Value => {
      if (value === undefined) throw new BadRow(line, column, mapping[column] ?? column, sentence);
      return value;
    };
    const text = (column: StatementColumn): string => {
      const value = cell(column);
      return read(
        column,
        value.length <= LIMITS.statementReferenceLength ? value : undefined,
        'The reference is too long.',
      );
    };
    const isSkipped = cell('type') !== '' && statementType(cell('type'), false) === undefined;
    if (isSkipped) return undefined;
    const currency =
      fixedCurrency !== null && cell('currency') === ''
        ? fixedCurrency
        : read('currency', statementCurrency(cell('currency')), 'This is not a currency code such as EUR.');
    const amount = read(
      'amount',
      statementAmount(cell('amount'), currency, amountFormat),
      `This is not an amount in ${currency} in the chosen format.`,
    );
    if (amount === 0n) return undefined;
    const date = cell('date');
    const at =
      date === '' ? null : read('date', statementDate(date), 'This is not a date such as 2026-07-31 or 31.07.2026.');
    const optional = (column: 'fee' | 'net'): bigint | undefined =>
      cell(column) === ''
        ? undefined
        : read(
            column,
            statementAmount(cell(column), currency, amountFormat),
            `This is not an amount in ${currency} in the chosen format.`,
          );
    const type = statementType(cell('type'), amount < 0n) as StatementRow['type'];
    const [own, provider] = [text('reference'), text('provider_reference')];
    const isOwn = isUuid(own);
    return {
      line,
      ownId: isOwn ? own.toLowerCase() : null,
      // A statement with a single reference may have that of the provider in it.
      providerReference: provider || (isOwn ? null : own) || null,
      reference: own || provider,
      type,
      amount,
      fee: statementFee(type, amount, optional('fee'), optional('net')),
      currency,
      at,
    };
  };
}
