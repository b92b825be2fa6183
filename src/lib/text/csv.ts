/** Writes CSV by RFC 4180, safe to open in a spreadsheet, and reads back what was made safe. */
import { stringify } from 'csv-stringify/sync';

export type CsvValue = string | number | null;

const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * How a formula begins. Some spreadsheets remove white space, control characters and invisible characters before it, or
 * read full-width characters as the others.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{C}]*[=+\-@＝＋－＠﹦﹢﹣﹫])/u;

/** A spreadsheet would run such a text, so an apostrophe precedes it; a negative number stays a number. */
const isFormula = (value: string): boolean => FORMULA.test(value) && !NUMBER.test(value);

const withoutFormula = (value: CsvValue): CsvValue =>
  typeof value === 'string' && isFormula(value) ? `'${value}` : value;

/** The text of a cell that `csvRows` wrote. */
export const writtenText = (cell: string): string =>
  cell.startsWith("'") && isFormula(cell.slice(1)) ? cell.slice(1) : cell;

export const csvRows = (rows: readonly (readonly CsvValue[])[]): string =>
  stringify(
    rows.map((row) => row.map(withoutFormula)),
    { record_delimiter: 'windows', quote_record_delimiter: true },
  );
