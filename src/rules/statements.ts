/** Statements of providers: the columns that a reconciliation reads, how they are recognised, and how values are read. */
import { dateTime } from '../lib/time/date-time.ts';
import { CURRENCIES, exponentOf } from './currencies.ts';

/** What a column of a statement may be used for. */
export const STATEMENT_COLUMNS = [
  ...(['reference', 'provider_reference', 'amount', 'currency', 'type', 'date'] as const),
  ...(['fee', 'net'] as const),
] as const;
export type StatementColumn = (typeof STATEMENT_COLUMNS)[number];

/** The names of the columns of a file by what they are used for; a column that is not used is missing. */
export type StatementMapping = Readonly<Partial<Record<StatementColumn, string>>>;

export const STATEMENT_TYPES = ['sale', 'refund', 'chargeback'] as const;
export type StatementType = (typeof STATEMENT_TYPES)[number];

/**
 * `different` is another amount or currency; `missing_here` is in the statement only, `missing_there` with us only;
 * `reversed` is a sale with a negative amount, which the provider took back.
 */
export const OUTCOMES = ['different', 'reversed', 'missing_here', 'missing_there', 'matched'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t' } as const;
export type DelimiterName = keyof typeof DELIMITERS;

/** With a decimal point, with a decimal comma, or in minor units. */
export const AMOUNT_FORMATS = ['decimal', 'decimal_comma', 'minor'] as const;
export type AmountFormat = (typeof AMOUNT_FORMATS)[number];

/** Names that providers give to these columns, without spaces and punctuation; the first that a file has is used. */
const COLUMN_NAMES: Readonly<Record<StatementColumn, readonly string[]>> = {
  reference: [
    ...['paymentid', 'operationid', 'merchantreference', 'merchanttransactionid', 'ourreference', 'clientreference'],
    ...['transactionreference', 'orderreference', 'merchantref', 'transid', 'reference'],
  ],
  provider_reference: [
    ...['providerreference', 'pspreference', 'acquirerreference', 'processorreference', 'chargeid', 'transactionid'],
    ...['sourceid', 'source', 'id'],
  ],
  amount: [
    ...[
      'amount',
      'grossamount',
      'gross',
      'transactionamount',
      'capturedamount',
      'settledamount',
      'customerfacingamount',
    ],
    ...['value', 'total', 'betrag'],
  ],
  currency: ['currency', 'currencycode', 'grosscurrency', 'transactioncurrency', 'customerfacingcurrency', 'ccy'],
  type: ['type', 'transactiontype', 'recordtype', 'reportingcategory', 'eventtype', 'kind', 'category'],
  date: [
    ...['date', 'transactiondate', 'bookingdate', 'creationdate', 'created', 'createdat', 'createdutc', 'timestamp'],
    ...['settlementdate', 'valuedate', 'completedat'],
  ],
  fee: ['fee', 'fees', 'feeamount', 'commission', 'processingfee', 'transactionfee', 'gebühr'],
  net: ['net', 'netamount', 'netcredit', 'payable', 'netto'],
};

/** Names that providers give to the types; rows of any other type, such as fees, are skipped. */
const TYPE_NAMES: ReadonlyMap<string, StatementType> = new Map([
  ...['sale', 'charge', 'payment', 'capture', 'captured', 'settled', 'purchase', 'debit'].map(
    (name): [string, StatementType] => [name, 'sale'],
  ),
  ...['refund', 'refunded', 'paymentrefund', 'credit'].map((name): [string, StatementType] => [name, 'refund']),
  ...['chargeback', 'chargedback', 'dispute'].map((name): [string, StatementType] => [name, 'chargeback']),
]);

const plainName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\d]/gu, '');

/** What the columns of a file are for, guessed from their names; a column serves one purpose. */
export function guessMapping(header: readonly string[]): StatementMapping {
  const mapping: Partial<Record<StatementColumn, string>> = {};
  const free = new Map(header.map((name) => [plainName(name), name]));
  for (const column of STATEMENT_COLUMNS) {
    const name = COLUMN_NAMES[column].find((one) => free.has(one));
    if (name === undefined) continue;
    mapping[column] = free.get(name) as string;
    free.delete(name);
  }
  return mapping;
}

/** The delimiter that the first line of a file has most often; quoted text does not count. */
export function guessDelimiter(text: string): DelimiterName {
  const [line = ''] = text.replaceAll(/"[^"]*"/g, '').split(/\r?\n|\r/, 1);
  const count = (name: DelimiterName): number => line.split(DELIMITERS[name]).length;
  return (Object.keys(DELIMITERS) as DelimiterName[]).reduce((best, name) => (count(name) > count(best) ? name : best));
}

/** A type that is not known is `undefined`; without a type, a negative amount is a refund. */
export const statementType = (text: string, isNegative: boolean): StatementType | undefined =>
  text === '' ? (isNegative ? 'refund' : 'sale') : TYPE_NAMES.get(plainName(text));

export const statementCurrency = (text: string): string | undefined => {
  const code = text.toUpperCase();
  return Object.hasOwn(CURRENCIES, code) ? code : undefined;
};

const NUMBERS: Readonly<Record<AmountFormat, RegExp>> = {
  decimal: /^([+-]?)(\d{1,15}|\d{1,3}(?:[, ]\d{3}){1,4})(?:\.(\d{1,6}))?$/,
  decimal_comma: /^([+-]?)(\d{1,15}|\d{1,3}(?:[. ]\d{3}){1,4})(?:,(\d{1,6}))?$/,
  minor: /^([+-]?)(\d{1,15})$/,
};

/** Minor units with their sign; undefined if it is not an amount of the currency in this format. */
export function statementAmount(text: string, currency: string, format: AmountFormat): bigint | undefined {
  const [, sign, whole, fraction = ''] = NUMBERS[format].exec(text) ?? [];
  const exponent = format === 'minor' ? 0 : exponentOf(currency);
  // Digits below the minor unit are allowed when they are zero.
  if (whole === undefined || /[1-9]/.test(fraction.slice(exponent))) return undefined;
  const minor = BigInt(whole.replaceAll(/\D/g, '') + fraction.slice(0, exponent).padEnd(exponent, '0'));
  return sign === '-' ? -minor : minor;
}

/** A date with or without a time, such as `2026-07-31 12:00` or `31.07.2026`; without a zone it is UTC. */
export function statementDate(text: string): number | undefined {
  const [, day, month, year, time = ''] =
    /^(\d{2})\.(\d{2})\.(\d{4})(?:,? (\d{2}:\d{2}(?::\d{2})?))?$/.exec(text) ?? [];
  return dateTime(day === undefined ? text : `${year}-${month}-${day}${time && ` ${time}`}`);
}

/**
 * What the provider charged for a row; negative if it returned something. It is the difference of amount and net, if there is
 * a net amount. Providers write refunds and chargebacks, and fees, with either sign.
 */
export function statementFee(
  type: StatementType,
  amount: bigint,
  fee: bigint | undefined,
  net: bigint | undefined,
): bigint | null {
  if (net === undefined) return fee === undefined || type === 'refund' || fee > 0n ? (fee ?? null) : -fee;
  if (type === 'sale') return amount - net;
  const paid = amount > 0n && net > 0n ? -net : net;
  return (amount > 0n ? -amount : amount) - paid;
}
