/** The state of an invoice: from its payments, its due date and the time. */
import { utcDay } from '../../lib/time/day.ts';
import type { InvoiceState } from '../../rules/invoices.ts';
import type { PaidInvoice } from '../../store/invoices/invoices.ts';

export function invoiceState(
  { voidedAt, payments, dueOn }: Pick<PaidInvoice, 'voidedAt' | 'payments' | 'dueOn'>,
  now: number,
): InvoiceState {
  if (voidedAt !== null) return 'void';
  if (payments > 0) return 'paid';
  return dueOn < utcDay(now) ? 'overdue' : 'open';
}
