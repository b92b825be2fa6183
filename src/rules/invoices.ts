/** Invoices: their states, their members, and how their amounts are computed. */
import { halfUp } from '../lib/money/decimal.ts';

export const INVOICE_STATES = ['open', 'paid', 'overdue', 'void'] as const;
export type InvoiceState = (typeof INVOICE_STATES)[number];

export const INVOICE_LIMITS = {
  lines: 100,
  description: 200,
  name: 100,
  address: 500,
  note: 1000,
  /** How often an invoice is sent by mail. */
  sends: 10,
  /** How many reminders one process sends at a time. */
  remindersAtATime: 16,
} as const;

/** The reminders of an invoice, in their order: how many days after its due date each is sent, at nine o'clock UTC. */
export const REMINDERS = [
  { kind: 'before', days: -3 },
  { kind: 'overdue', days: 1 },
] as const;
export type ReminderKind = (typeof REMINDERS)[number]['kind'];

const DAY_MS = 86_400_000;
const NINE_MS = 9 * 3_600_000;

/** The next reminder of an invoice after a moment, from a position in the list on; undefined if there is none. */
export function nextReminder(dueOn: string, after: number, from = 0): { reminder: number; dueAt: number } | undefined {
  const moments = REMINDERS.map(({ days }) => Date.parse(`${dueOn}T00:00:00Z`) + days * DAY_MS + NINE_MS);
  const reminder = moments.findIndex((moment, index) => index >= from && moment > after);
  return reminder < 0 ? undefined : { reminder, dueAt: moments[reminder] as number };
}

/** A line, with its amounts in minor units. The quantity and the tax are decimal numbers, as they were sent. */
export interface InvoiceLine {
  description: string;
  quantity: string;
  unitAmount: string;
  taxPercent: string;
  /** Quantity times unit amount, without tax. */
  net: string;
  tax: string;
}

const DECIMAL = /^(\d{1,9})(?:\.(\d{1,3}))?$/;

/** A decimal number in thousandths; undefined if it is none, or has more than three decimals. */
export function thousandths(text: string): bigint | undefined {
  const [, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(3, '0'));
}

/** The net amount and the tax of a line: each is rounded half up to minor units. */
export function lineAmounts(quantity: bigint, unitAmount: bigint, taxPercent: bigint): { net: bigint; tax: bigint } {
  const net = halfUp(quantity * unitAmount, 1000n);
  return { net, tax: halfUp(net * taxPercent, 100_000n) };
}

/** The number of an invoice, from its position among those of its account. */
export const invoiceNumber = (sequence: number): string => `INV-${String(sequence).padStart(5, '0')}`;
