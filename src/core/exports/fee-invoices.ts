/** Fee invoices as the admin API shows them, and as CSV. */
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { feeInvoiceNumber, type InvoiceParty } from '../../rules/fee-invoices.ts';
import type { Gateway } from '../context.ts';
import type { Issuer, ListedFeeInvoice } from '../settlements/fee-invoices.ts';
import type { Download } from './download.ts';
import { ledgerAmount, portionsCsv } from './ledger.ts';

const partyView = ({ name, address, taxNumber }: InvoiceParty) => ({ name, address, tax_number: taxNumber });

export const issuerView = ({ prefix, changedAt, ...party }: Issuer) => ({
  ...partyView(party),
  prefix,
  changed_at: wireDate(changedAt),
});

const summary = (invoice: ListedFeeInvoice) => ({
  fee_invoice_id: invoice.feeInvoiceId,
  number: feeInvoiceNumber(invoice),
  kind: invoice.kind,
  mid: invoice.mid,
  currency: invoice.currency,
  from: wireDateOrNull(invoice.fromAt),
  until: wireDate(invoice.untilAt),
  net: ledgerAmount(invoice.net, invoice.currency),
  tax: ledgerAmount(invoice.tax, invoice.currency),
  total: ledgerAmount(invoice.net + invoice.tax, invoice.currency),
  corrects: invoice.corrects,
  corrected_by: invoice.correctedBy,
  reason: invoice.reason,
  issued_by: invoice.issuedBy,
  issued_at: wireDate(invoice.issuedAt),
});

export const feeInvoiceView = (invoice: ListedFeeInvoice) => ({
  ...summary(invoice),
  lines: invoice.lines.map(({ category, taxPercent, count, net, tax }) => ({
    category,
    count,
    tax_percent: taxPercent,
    net: ledgerAmount(net, invoice.currency),
    tax: ledgerAmount(tax, invoice.currency),
  })),
  issuer: partyView(invoice.issuer),
  recipient: partyView(invoice.recipient),
});

const HEADER = [
  ...['fee_invoice_id', 'number', 'kind', 'mid', 'currency', 'from', 'until', 'net', 'tax', 'total'],
  ...['corrects', 'corrected_by', 'reason', 'issued_by', 'issued_at'],
];

export const feeInvoicesCsv = (
  gateway: Gateway,
  read: (limit: number, before?: string) => Promise<ListedFeeInvoice[]>,
): Promise<Download> =>
  portionsCsv<ListedFeeInvoice>(
    gateway,
    'fee-invoices',
    HEADER,
    (one) => [Object.values(summary(one))],
    (limit, last) => read(limit, last?.feeInvoiceId),
  );
