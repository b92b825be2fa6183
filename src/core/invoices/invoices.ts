/** Invoices: makes, lists, sends and voids them, and begins their payments. */
import { isUuid, newId } from '../../lib/crypto/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { INVOICE_LIMITS, type InvoiceState, invoiceNumber, nextReminder } from '../../rules/invoices.ts';
import type { Invoice, PaidInvoice } from '../../store/invoices/invoices.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import { displayName } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { beginSession } from '../links/begin.ts';
import { CODE, newCode } from '../links/codes.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';
import { advance } from '../payments/advance.ts';
import { readInvoice } from './read.ts';
import { invoiceState } from './state.ts';

export const invoiceUrl = ({ publicUrl }: Pick<Gateway, 'publicUrl'>, { code }: Pick<Invoice, 'code'>): string =>
  `${publicUrl}/i/${code}`;

export async function makeInvoice(
  gateway: Gateway,
  account: Account,
  by: Caller,
  body: Readonly<Record<string, unknown>>,
): Promise<PaidInvoice> {
  const read = readInvoice(account, body);
  if ('problems' in read) throw new Refusal('invalidData', read.problems);
  if (gateway.isLinkTooFast(account.mid)) throw new Refusal('tooManyRequests');
  const { mid } = account;
  const invoiceId = newId();
  const createdAt = gateway.clock.now(mid);
  const next = nextReminder(read.terms.dueOn, createdAt);
  const invoice = { ...read.terms, mid, invoiceId, code: newCode(), createdBy: by.id, createdAt, next };
  return gateway.invoices.insert(invoice, (sequence) =>
    auditEntry(gateway, by, 'invoices.create', { mid, subject: invoiceId, after: { number: invoiceNumber(sequence) } }),
  );
}

export const listInvoices = (
  gateway: Gateway,
  { mids }: Pick<Principal, 'mids'>,
  filter: { mid?: string | undefined; state?: InvoiceState | undefined; before?: string | undefined; limit: number },
): Promise<PaidInvoice[]> => gateway.invoices.list({ ...filter, mids, now: gateway.clock.now() });

/** Refuses an invoice that does not exist, or that the caller may not see. */
export async function requireInvoice(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  invoiceId: string,
): Promise<PaidInvoice> {
  const invoice = isUuid(invoiceId) ? await gateway.invoices.find(invoiceId) : undefined;
  if (!invoice || !sees(principal, invoice.mid)) throw new Refusal('noSuchInvoice');
  return invoice;
}

/**
 * Voids an invoice and ends its open sessions. If this process dies in between, those sessions are refused with their
 * first submission, and end with their time.
 */
export async function voidInvoice(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  by: Caller,
  invoiceId: string,
): Promise<PaidInvoice> {
  const invoice = await requireInvoice(gateway, principal, invoiceId);
  const { mid } = invoice;
  const audit = auditEntry(gateway, by, 'invoices.void', { mid, subject: invoiceId });
  if (!(await gateway.invoices.void(invoice, gateway.clock.now(mid), audit))) throw new Refusal('invoiceNotOpen');
  for (const key of await gateway.invoices.openSessions(invoice)) {
    const payment = await gateway.payments.find(key);
    if (!payment) continue;
    const onlyIf = ({ state }: PaymentWithDetails): boolean => state === 'PREPARE';
    await advance(gateway, payment, {
      event: 'abandoned',
      actor: 'operator',
      declineReason: 'The invoice was voided.',
      onlyIf,
    });
  }
  return requireInvoice(gateway, principal, invoiceId);
}

/** Sends an invoice to its payer; the count is written first, so that nobody gets more mails than the limit. */
export async function sendInvoice(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  by: Caller,
  account: Account,
  invoiceId: string,
): Promise<PaidInvoice> {
  const invoice = await requireInvoice(gateway, principal, invoiceId);
  const { mid, payer } = invoice;
  const now = gateway.clock.now(mid);
  if (!['open', 'overdue'].includes(invoiceState(invoice, now))) throw new Refusal('invoiceNotOpen');
  const refuse = (sentence: string): Refusal => new Refusal('notMailed', [{ field: 'payer.email', sentence }]);
  const { mailer } = gateway;
  if (!mailer) throw refuse('This installation has no mail server.');
  const audit = auditEntry(gateway, by, 'invoices.send', { mid, subject: invoiceId });
  if (!(await gateway.invoices.countSending(invoice, now, INVOICE_LIMITS.sends, audit))) {
    throw refuse(`An invoice is sent at most ${INVOICE_LIMITS.sends} times.`);
  }
  const replyTo = account.settings['branding.support_email'] || undefined;
  const { kind, reason } = await mailer.send({
    id: `invoice-${invoiceId}-${invoice.sentCount + 1}`,
    date: new Date(gateway.clock.real()),
    fromName: displayName(account),
    replyTo,
    to: payer.email,
    ...gateway.writeInvoice(invoice, account),
  });
  if (kind !== 'sent') throw refuse(`The mail server did not take it: ${reason}`);
  return requireInvoice(gateway, principal, invoiceId);
}

/** The invoice of an address; undefined if there is none. */
export const findInvoice = async ({ invoices }: Gateway, code: string): Promise<PaidInvoice | undefined> =>
  CODE.test(code) ? invoices.findByCode(code) : undefined;

/** Begins a session for the total of an invoice; refuses one that is paid or void. */
export function beginFromInvoice(
  gateway: Gateway,
  account: Account,
  invoice: PaidInvoice,
): Promise<PaymentWithDetails> {
  const state = invoiceState(invoice, gateway.clock.now(invoice.mid));
  if (account.isSuspended || (state !== 'open' && state !== 'overdue')) throw new Refusal('notPayable');
  const { invoiceId, currency, total, payer } = invoice;
  const number = invoiceNumber(invoice.sequence);
  const [first = '', ...last] = payer.name.split(/\s+/);
  return beginSession(gateway, account, {
    sourceId: invoiceId,
    orderPrefix: `${number}-`,
    amount: total,
    currency,
    isAuthorisation: false,
    details: { description: number },
    payer: { first_name: first, ...(last.length > 0 && { last_name: last.join(' ') }), email: payer.email },
    session: { invoiceId },
  });
}
