/** Fee invoices: their kinds, their lines, and the numbers that they get. */

export const FEE_INVOICE_KINDS = ['invoice', 'credit_note'] as const;
export type FeeInvoiceKind = (typeof FEE_INVOICE_KINDS)[number];

/** The fees of a category with one tax rate, in minor units; what merchants are charged is positive. */
export interface FeeInvoiceLine {
  category: string;
  taxPercent: string;
  count: number;
  net: bigint;
  tax: bigint;
}

/** The operator or the merchant on an invoice. */
export interface InvoiceParty {
  name: string;
  address: readonly string[];
  taxNumber: string;
}

/** Numbers are consecutive for each prefix. A prefix does not end in a digit, so that no number is that of another prefix. */
export const PREFIX = /^[A-Za-z0-9/-]{0,19}[A-Za-z/-]$/;

export const feeInvoiceNumber = ({ prefix, sequence }: { prefix: string; sequence: number }): string =>
  prefix + String(sequence).padStart(6, '0');

export const totalsOf = (lines: readonly FeeInvoiceLine[]): { net: bigint; tax: bigint } => ({
  net: lines.reduce((sum, { net }) => sum + net, 0n),
  tax: lines.reduce((sum, { tax }) => sum + tax, 0n),
});

/** The same lines with the other sign. */
export const takenBack = (lines: readonly FeeInvoiceLine[]): FeeInvoiceLine[] =>
  lines.map((line) => ({ ...line, net: -line.net, tax: -line.tax }));
