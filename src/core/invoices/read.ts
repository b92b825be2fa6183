/** Reads the members of a new invoice, and names what is wrong. */
import { hasCardNumber } from '../../lib/cards/search.ts';
import { amountText, mostUnits } from '../../lib/money/money.ts';
import { isAbsent, isObject, isText } from '../../lib/text/json.ts';
import { isPlainLines } from '../../lib/text/plain-text.ts';
import { isMailAddress } from '../../rules/contacts.ts';
import { CURRENCIES, exponentOf } from '../../rules/currencies.ts';
import type { Problem } from '../../rules/errors.ts';
import { SENTENCES, startOfDate } from '../../rules/fields.ts';
import { INVOICE_LIMITS, type InvoiceLine, lineAmounts, thousandths } from '../../rules/invoices.ts';
import type { Invoice } from '../../store/invoices/invoices.ts';
import type { Account } from '../context.ts';
import { plainTextProblem, readUnits, textOf } from '../links/read.ts';

export const INVOICE_MEMBERS = ['currency', 'lines', 'payer', 'due_on', 'note'] as const;
const LINE_MEMBERS = ['description', 'quantity', 'unit_amount', 'tax_percent'];
const PAYER_MEMBERS = ['name', 'email', 'address'];

export type InvoiceTerms = Pick<Invoice, 'currency' | 'lines' | 'payer' | 'note' | 'dueOn' | 'total' | 'tax'>;

const MOST_PERCENT = 100_000n;

/** A decimal number with at most three decimals, which may be sent as a number. */
function readDecimal(field: string, value: unknown, expected: string, problems: Problem[]): [string, bigint] {
  const text = typeof value === 'number' ? String(value) : value;
  const units = typeof text === 'string' ? thousandths(text) : undefined;
  if (units !== undefined) return [text as string, units];
  problems.push({ field, sentence: value === undefined ? SENTENCES.blank : SENTENCES.invalid, expected });
  return ['0', 0n];
}

function unknownMembers(field: string, value: Record<string, unknown>, known: readonly string[]): Problem[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => ({
      field: /^\w{1,64}$/.test(name) ? `${field}.${name}` : field,
      sentence: 'This value does not exist.',
      expected: `Only ${known.join(', ')}.`,
    }));
}

function readLine(
  line: unknown,
  field: string,
  currency: string,
  account: Account,
  problems: Problem[],
): InvoiceLine | undefined {
  if (!isObject(line)) {
    problems.push({ field, sentence: SENTENCES.notAnObject });
    return undefined;
  }
  const before = problems.length;
  problems.push(...unknownMembers(field, line, LINE_MEMBERS));
  const text = plainTextProblem(`${field}.description`, line.description, 1, INVOICE_LIMITS.description);
  if (text) problems.push(text);
  const expected = 'A decimal number with at most three decimals, greater than 0, such as 1.5.';
  const [quantity, count] = readDecimal(`${field}.quantity`, line.quantity, expected, problems);
  if (count === 0n && problems.length === before) {
    problems.push({ field: `${field}.quantity`, sentence: SENTENCES.notPositive, expected });
  }
  const unitAmount = readUnits(`${field}.unit_amount`, line.unit_amount, currency, account, problems);
  const percent = 'A number from 0 to 100 with at most three decimals, such as 19.';
  const [taxPercent, rate] = readDecimal(`${field}.tax_percent`, line.tax_percent ?? '0', percent, problems);
  if (rate > MOST_PERCENT)
    problems.push({ field: `${field}.tax_percent`, sentence: SENTENCES.invalid, expected: percent });
  if (problems.length > before || unitAmount === null) return undefined;
  const { net, tax } = lineAmounts(count, unitAmount, rate);
  const description = (line.description as string).trim();
  return { description, quantity, unitAmount: String(unitAmount), taxPercent, net: String(net), tax: String(tax) };
}

/** A text of several lines; absent means empty. */
function readLines(field: string, value: unknown, most: number, problems: Problem[]): string {
  if (isAbsent(value)) return '';
  if (isText(value, most) && isPlainLines(value)) {
    if (hasCardNumber(value)) problems.push({ field, sentence: SENTENCES.cardNumber });
    return value.trim();
  }
  const expected = `A text of up to ${most} characters without control characters and marks of direction.`;
  problems.push({ field, sentence: SENTENCES.invalid, expected });
  return '';
}

function readPayer(value: unknown, problems: Problem[]): Invoice['payer'] {
  if (!isObject(value)) {
    const expected = 'A JSON object, such as {"name": "Ana Petrovic", "email": "ana@example.com"}.';
    problems.push({
      field: 'payer',
      sentence: value === undefined ? SENTENCES.blank : SENTENCES.notAnObject,
      expected,
    });
    return { name: '', email: '', address: '' };
  }
  problems.push(...unknownMembers('payer', value, PAYER_MEMBERS));
  const name = plainTextProblem('payer.name', value.name, 1, INVOICE_LIMITS.name);
  if (name) problems.push(name);
  if (!isMailAddress(value.email)) {
    const sentence = (value.email ?? '') === '' ? SENTENCES.blank : SENTENCES.invalid;
    problems.push({ field: 'payer.email', sentence, expected: 'An e-mail address, such as ana@example.com.' });
  } else if (hasCardNumber(value.email)) {
    problems.push({ field: 'payer.email', sentence: SENTENCES.cardNumber });
  }
  const address = readLines('payer.address', value.address, INVOICE_LIMITS.address, problems);
  return { name: textOf(value.name), email: textOf(value.email), address };
}

export function readInvoice(
  account: Account,
  body: Readonly<Record<string, unknown>>,
): { terms: InvoiceTerms } | { problems: Problem[] } {
  const problems: Problem[] = [];
  const currency = typeof body.currency === 'string' ? body.currency : '';
  if (CURRENCIES[currency] === undefined) {
    const sentence = currency === '' ? SENTENCES.blank : SENTENCES.invalid;
    problems.push({ field: 'currency', sentence, expected: 'A currency of ISO 4217, such as EUR.' });
  }
  const sent = Array.isArray(body.lines) ? body.lines : [];
  if (sent.length === 0 || sent.length > INVOICE_LIMITS.lines) {
    const sentence = body.lines === undefined ? SENTENCES.blank : SENTENCES.notAList;
    problems.push({ field: 'lines', sentence, expected: `A list of 1 to ${INVOICE_LIMITS.lines} lines.` });
  }
  const lines = sent
    .slice(0, INVOICE_LIMITS.lines)
    .map((line, index) => readLine(line, `lines.${index}`, currency, account, problems))
    .filter((line) => line !== undefined);
  const payer = readPayer(body.payer, problems);
  const dueOn = typeof body.due_on === 'string' ? body.due_on : '';
  if (startOfDate(dueOn) === undefined) {
    const sentence = dueOn === '' ? SENTENCES.blank : SENTENCES.invalid;
    problems.push({ field: 'due_on', sentence, expected: 'A date, such as 2026-11-30.' });
  }
  const note = readLines('note', body.note, INVOICE_LIMITS.note, problems);
  const tax = lines.reduce((sum, line) => sum + BigInt(line.tax), 0n);
  const total = lines.reduce((sum, line) => sum + BigInt(line.net), tax);
  const most = mostUnits(exponentOf(currency));
  if (problems.length === 0 && (total === 0n || total > most)) {
    const expected = `A total above 0, and up to ${amountText(most, exponentOf(currency))}.`;
    problems.push({ field: 'lines', sentence: 'The total of these lines is nothing or too much.', expected });
  }
  return problems.length > 0 ? { problems } : { terms: { currency, lines, payer, note, dueOn, total, tax } };
}
