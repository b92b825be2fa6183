/** The e-mails about an invoice: what is owed until when, and the address of its page. */
import { displayName } from '../../core/accounts/accounts.ts';
import type { Account, Gateway, MailContent, PaidInvoice } from '../../core/context.ts';
import { invoiceUrl } from '../../core/invoices/invoices.ts';
import { invoiceNumber, type ReminderKind } from '../../rules/invoices.ts';
import { localeFor } from '../locale.ts';
import { shortMail } from '../mail.ts';

export function invoiceMail(
  gateway: Pick<Gateway, 'environment' | 'publicUrl'>,
  invoice: PaidInvoice,
  account: Account,
  reminder?: ReminderKind,
): MailContent {
  const locale = localeFor(account.settings.locale, undefined);
  const { messages, formatMessage, formatAmount, formatDate } = locale;
  const merchant = displayName(account);
  const number = invoiceNumber(invoice.sequence);
  const date = formatDate(Date.parse(`${invoice.dueOn}T00:00:00Z`));
  const amount = formatAmount({ amount: invoice.total, currency: invoice.currency });
  const { invoice: texts } = messages;
  const subjects = { before: texts.reminder, overdue: texts.overdueSubject };
  const sentence = reminder === 'overdue' ? texts.overdueMail : texts.mail;
  return shortMail(gateway, account, locale, {
    subject: formatMessage(reminder ? subjects[reminder] : texts.subject, { number, merchant, date }),
    sentence: formatMessage(sentence, { amount, date }),
    url: invoiceUrl(gateway, invoice),
  });
}
