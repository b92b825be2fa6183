/** Writes CSV by RFC 4180, safe to open in a spreadsheet. */
import { stringify } from 'csv-stringify/sync';

export type CsvValue = string | number | null;

const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * A spreadsheet would run a text that begins with one of these characters as a formula, so an apostrophe precedes it; a
 * negative number stays a number.
 */
const withoutFormula = (value: CsvValue): CsvValue =>
  typeof value === 'string' && /^[=+\-@\t\r]/.test(value) && !NUMBER.test(value) ? `'${value}` : value;

export const csvRows = (rows: readonly (readonly CsvValue[])[]): string =>
  stringify(
    rows.map((row) => row.map(withoutFormula)),
    { record_delimiter: 'windows', quote_record_delimiter: true },
  );
