/** Imports the operator's data for risk rules: ranges of card numbers, and the countries of IP networks. */
import { parseRange, rangesAround } from '../../lib/http/address.ts';
import { writtenText } from '../../lib/text/csv.ts';
import { CsvProblem, csvRecords } from '../../lib/text/csv-reader.ts';
import { cut } from '../../lib/text/cut.ts';
import { isText } from '../../lib/text/json.ts';
import { COUNTRIES } from '../../rules/countries.ts';
import { invalidField } from '../../rules/errors.ts';
import { FUNDINGS } from '../../rules/risk/fields.ts';
import { RANGE_DIGITS } from '../../rules/risk/list-kinds.ts';
import type { BinRange, IpNetwork } from '../../store/risk/data.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';
import { wholePrefixes } from './card-ranges.ts';

const BIN_COLUMNS = ['from', 'to', 'network', 'country', 'funding', 'issuer'] as const;
const NETWORK_COLUMNS = ['network', 'country'] as const;

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

export interface CsvRow<Column extends string> {
  line: number;
  cells: Record<Column, string>;
}

/** The rows of a file whose first line names these columns. */
export async function* rowsOfCsv<Column extends string>(
  bytes: Buffer,
  columns: readonly Column[],
  optional: readonly Column[] = [],
): AsyncGenerator<CsvRow<Column>> {
  let header: string[] | undefined;
  try {
    for await (const { line, cells } of csvRecords(oneChunk(bytes), ',')) {
      if (!header) {
        header = cells;
        const missing = columns.find((column) => !optional.includes(column) && !cells.includes(column));
        const unknown = cells.find((cell) => !(columns as readonly string[]).includes(cell));
        if (missing !== undefined || unknown !== undefined)
          throw invalidField('line 1', 'The first line should name the columns.', { expected: `${columns.join(',')}` });
        continue;
      }
      const named = header;
      const row = Object.fromEntries(
        columns.map((column) => [column, writtenText(cells[named.indexOf(column)] ?? '')]),
      );
      yield { line, cells: row as Record<Column, string> };
    }
  } catch (error) {
    if (error instanceof CsvProblem) throw invalidField(`line ${error.line}`, error.message);
    throw error;
  }
  if (!header) throw invalidField('body', 'The file is empty.', { expected: `${columns.join(',')}` });
}

const wrong = (line: number, column: string, expected: string) =>
  invalidField(`line ${line}.${column}`, 'This value is not valid.', { expected });

const country = (line: number, value: string): string | null => {
  if (value === '') return null;
  if (!COUNTRIES.has(value.toUpperCase())) throw wrong(line, 'country', 'A country code of two letters, such as DE.');
  return value.toUpperCase();
};

const TEXT_LENGTH = 100;

/** A text of the operator; a longer one is cut, and not within a character. */
function textOf(line: number, column: string, value: string): string | null {
  if (!isText(value, value.length)) throw wrong(line, column, 'A text without control characters.');
  return cut(value, TEXT_LENGTH) || null;
}

export async function importBins(gateway: Gateway, by: Caller, bytes: Buffer): Promise<number> {
  const ranges: (BinRange & { line: number })[] = [];
  const optional = ['network', 'country', 'funding', 'issuer'] as const;
  for await (const { line, cells } of rowsOfCsv(bytes, BIN_COLUMNS, optional)) {
    const expected = '4 to 12 digits, such as 411111.';
    if (!/^\d{4,12}$/.test(cells.from)) throw wrong(line, 'from', expected);
    if (!/^\d{4,12}$/.test(cells.to)) throw wrong(line, 'to', expected);
    const funding = cells.funding.toLowerCase();
    if (funding !== '' && !(FUNDINGS as readonly string[]).includes(funding))
      throw wrong(line, 'funding', `One of ${FUNDINGS.join(', ')}, or empty.`);
    const firstNumber = BigInt(cells.from.padEnd(RANGE_DIGITS, '0'));
    const lastNumber = BigInt(cells.to.padEnd(RANGE_DIGITS, '9'));
    if (lastNumber < firstNumber) throw wrong(line, 'to', 'A number that is not smaller than from.');
    ranges.push({
      line,
      firstNumber,
      lastNumber,
      network: textOf(line, 'network', cells.network.toLowerCase()),
      country: country(line, cells.country),
      funding: funding || null,
      issuer: textOf(line, 'issuer', cells.issuer),
    });
  }
  const sorted = ranges.toSorted((one, other) => (one.firstNumber < other.firstNumber ? -1 : 1));
  sorted.forEach(({ firstNumber, line }, index) => {
    const before = sorted[index - 1];
    if (before && before.lastNumber >= firstNumber)
      throw wrong(line, 'from', `A range that does not overlap the one of line ${before.line}.`);
  });
  await gateway.riskData.replaceBins(
    wholePrefixes(sorted),
    auditEntry(gateway, by, 'risk.import_bins', { after: { rows: ranges.length } }),
  );
  return ranges.length;
}

export async function importNetworks(gateway: Gateway, by: Caller, bytes: Buffer): Promise<number> {
  const networks = new Map<string, IpNetwork>();
  for await (const { line, cells } of rowsOfCsv(bytes, NETWORK_COLUMNS)) {
    const range = parseRange(cells.network);
    const network = range && rangesAround(range.address)[range.prefix];
    const found = country(line, cells.country);
    if (network === undefined) throw wrong(line, 'network', 'A CIDR range, such as 203.0.113.0/24.');
    if (found === null) throw wrong(line, 'country', 'A country code of two letters, such as DE.');
    if (networks.has(network)) throw wrong(line, 'network', 'A network that is not in the file already.');
    networks.set(network, { network, country: found });
  }
  const all = [...networks.values()];
  await gateway.riskData.replaceNetworks(
    all,
    auditEntry(gateway, by, 'risk.import_networks', { after: { rows: all.length } }),
  );
  return all.length;
}
