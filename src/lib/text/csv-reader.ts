/** Reads CSV as it arrives: quoted fields, any line end, a byte order mark; memory does not grow with the file. */
import { Readable } from 'node:stream';
import { CsvError, type Options, parse } from 'csv-parse';
import { parse as parseAll } from 'csv-parse/sync';

export interface CsvRecord {
  /** The line of the file on which the record ends, counted from 1. */
  line: number;
  cells: string[];
}

/** A line that is not valid CSV. */
export class CsvProblem extends Error {
  readonly line: number;

  constructor(line: number, sentence: string) {
    super(sentence);
    this.line = line;
  }
}

const RECORD_BYTES_MOST = 64 * 1024;

const options = (delimiter: string): Options => ({
  bom: true,
  delimiter,
  trim: true,
  skip_empty_lines: true,
  max_record_size: RECORD_BYTES_MOST,
});

const SENTENCES: Readonly<Record<string, string>> = {
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: 'The row does not have as many columns as the first one.',
  CSV_QUOTE_NOT_CLOSED: 'A quotation mark is not closed.',
  CSV_MAX_RECORD_SIZE: 'The row is too long: check the delimiter and the quotation marks.',
};

function problemOf(error: unknown): unknown {
  if (!(error instanceof CsvError)) return error;
  return new CsvProblem(Number(error.lines ?? 1), SENTENCES[error.code] ?? 'The row is not valid CSV.');
}

/** The records in their order, the first line included. */
export async function* csvRecords(chunks: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<CsvRecord, void> {
  const parser = parse({ ...options(delimiter), on_record: (cells, { lines }) => [String(lines), ...cells] });
  const source = Readable.from(chunks);
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const [line, ...cells] of source.pipe(parser) as AsyncIterable<string[]>) {
      yield { line: Number(line), cells };
    }
  } catch (error) {
    throw problemOf(error);
  } finally {
    source.destroy();
  }
}

/** The first records of a text that may break off in the middle of one. */
export function firstCsvRecords(text: string, delimiter: string, most: number): string[][] {
  try {
    return parseAll(text, { ...options(delimiter), to: most, relax_column_count: true });
  } catch (error) {
    throw problemOf(error);
  }
}
