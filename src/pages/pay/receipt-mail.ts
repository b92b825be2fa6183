/** The e-mail with a receipt: HTML and text, in the language of the payer. It has nothing of a card but its last digits. */
import { displayName } from '../../core/accounts/accounts.ts';
import type { Account, Gateway, MailContent, PaymentWithDetails } from '../../core/context.ts';
import { customerPageOf } from '../../core/customers/customers.ts';
import { paymentPageUrl } from '../../core/payments/links.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { accentOf } from '../accent.ts';
import { contactsOf, DEFAULT_FILL } from '../frame.ts';
import { localeFor } from '../locale.ts';
import { mailButton, mailPage, SOFT } from '../mail-frame.ts';
import { type LineRow, rowsOf } from '../order-lines.ts';
import { paidAmount, receiptFacts } from './receipt.ts';

export function receiptMail(
  gateway: Pick<Gateway, 'environment' | 'publicUrl' | 'fingerprints' | 'mailer'>,
  payment: PaymentWithDetails,
  account: Account,
  paidAt: number,
): MailContent {
  const locale = localeFor(account.settings.locale, payment.details.language);
  const { messages, formatMessage, formatAmount } = locale;
  const merchant = displayName(account);
  const thanks = formatMessage(messages.receipt.thanks, { merchant });
  const amount = formatAmount(paidAmount(payment));
  const facts = receiptFacts(payment, account, locale, paidAt);
  const { lines, description, session } = payment.details;
  const { items, sums } = lines ? rowsOf(lines, payment, locale) : { items: [], sums: [] };
  const customerPage = customerPageOf(gateway, payment);
  const saved = customerPage && `${gateway.publicUrl}${customerPage}`;
  const link = `${paymentPageUrl(gateway, session?.id ?? payment.paymentId)}/receipt`;
  const contacts = contactsOf(account, locale);
  const test = gateway.environment === 'sandbox' && `${messages.frame.testMode}: ${messages.frame.testNote}`;
  const subject = formatMessage(messages.receipt.subject, { merchant, order: payment.orderId });
  const { fill, onFill } = accentOf(account.settings['branding.colour'] || DEFAULT_FILL, 'light');
  const start = locale.direction === 'rtl' ? 'right' : 'left';
  const end = locale.direction === 'rtl' ? 'left' : 'right';
  const row = (label: string, value: Html | string, style: string, detail?: string) =>
    html`<tr><td style="padding:6px 0;text-align:${start};vertical-align:top;${style}">${label}${
      detail && html`<br><span style="font-size:13px;${SOFT}"><bdi>${detail}</bdi></span>`
    }</td><td style="padding:6px 0;padding-${start}:16px;text-align:${end};vertical-align:top;white-space:${style === SOFT ? 'normal' : 'nowrap'}">${value}</td></tr>`;
  const table = (rows: unknown) =>
    html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin-top:16px;border-top:1px solid #e0e4e9;padding-top:10px;font-size:15px">${rows as never}</table>`;
  const lineRow = ({ label, detail, amount: written }: LineRow, style = '') =>
    row(label, html`<bdi>${written}</bdi>`, style, detail);
  return {
    subject: test ? `[${messages.frame.testMode}] ${subject}` : subject,
    html: mailPage(
      { tag: locale.tag, direction: locale.direction, subject, accent: fill, test },
      html`<p style="margin:0;font-weight:650"><bdi>${merchant}</bdi></p>
<h1 style="margin:8px 0 0;font-size:20px">${messages.receipt.title}</h1>
<p style="margin:4px 0 12px">${thanks}</p>
<p style="margin:0;font-size:28px;font-weight:700"><bdi>${amount}</bdi></p>
${table(facts.map(({ label, value }) => row(label, value, SOFT)))}
${items.length > 0 ? table([...items.map((item) => lineRow(item)), ...sums.map((sum, index) => lineRow(sum, index === sums.length - 1 ? 'font-weight:600' : ''))]) : html`<p style="margin:16px 0 0" dir="auto">${description}</p>`}
${mailButton(link, messages.receipt.link, { fill, onFill })}
${saved && html`<p style="margin:16px 0 0;font-size:14px"><a href="${saved}">${messages.customer.title}</a></p>`}
${contacts.length > 0 && html`<p style="margin:20px 0 0;font-size:14px;${SOFT}">${messages.frame.questions} ${contacts.map(({ text, href }) => html`<a href="${href}" style="${SOFT};white-space:nowrap"><bdi>${text}</bdi></a> `)}</p>`}`,
    ),
    text: [
      ...(test ? [test, ''] : []),
      merchant,
      '',
      thanks,
      '',
      `${messages.amount}: ${amount}`,
      ...facts.map(({ label, text }) => `${label}: ${text}`),
      '',
      ...(items.length > 0
        ? [...items, ...sums].map(({ label, detail, amount: written }) =>
            [label, detail && `(${detail})`, written].filter(Boolean).join('  '),
          )
        : [description]),
      '',
      `${messages.receipt.link}: ${link}`,
      ...(saved ? [`${messages.customer.title}: ${saved}`] : []),
      ...(contacts.length > 0 ? ['', messages.frame.questions] : []),
      ...contacts.map(({ text, href, isPlain }) => (isPlain ? text : `${text}: ${href}`)),
      '',
    ].join('\n'),
  };
}
