/** The e-mail with a receipt: HTML and text, in the language of the payer. It has nothing of a card but its last digits. */
import { displayName } from '../../core/accounts.ts';
import type { Account, Gateway, PaymentWithDetails, ReceiptMail } from '../../core/context.ts';
import { paymentPageUrl } from '../../core/payments/links.ts';
import { type Html, html } from '../../lib/html.ts';
import { accentOf } from '../accent.ts';
import { contactsOf, DEFAULT_FILL } from '../frame.ts';
import { localeFor } from '../locale.ts';
import { type LineRow, rowsOf } from '../order-lines.ts';
import { paidAmount, receiptFacts } from './receipt.ts';

const FONT = 'font-family:system-ui,-apple-system,Segoe UI,Roboto,Noto Sans,sans-serif';
const SOFT = 'color:#565f6b';

export function receiptMail(
  gateway: Pick<Gateway, 'environment' | 'publicUrl' | 'fingerprints'>,
  payment: PaymentWithDetails,
  account: Account,
  paidAt: number,
): ReceiptMail {
  const locale = localeFor(account.settings.locale, payment.details.language);
  const { messages, formatMessage, formatAmount } = locale;
  const merchant = displayName(account);
  const thanks = formatMessage(messages.receipt.thanks, { merchant });
  const amount = formatAmount(paidAmount(payment));
  const facts = receiptFacts(payment, account, locale, paidAt);
  const { lines, description, session } = payment.details;
  const { items, sums } = lines ? rowsOf(lines, payment, locale) : { items: [], sums: [] };
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
    html: String(html`<!doctype html>
<html lang="${locale.tag}" dir="${locale.direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${subject}</title></head>
<body style="margin:0;padding:24px 12px;background:#f3f4f6;color:#14181d;${FONT};line-height:1.5">
<div style="max-width:520px;margin:0 auto;padding:24px;background:#fff;border-top:6px solid ${fill};border-radius:12px" dir="${locale.direction}">
${test && html`<p style="margin:0 0 12px;padding:6px 12px;background:#ffe3a3;color:#4a3000;border-radius:8px;font-size:14px">${test}</p>`}
<p style="margin:0;font-weight:650"><bdi>${merchant}</bdi></p>
<h1 style="margin:8px 0 0;font-size:20px">${messages.receipt.title}</h1>
<p style="margin:4px 0 12px">${thanks}</p>
<p style="margin:0;font-size:28px;font-weight:700"><bdi>${amount}</bdi></p>
${table(facts.map(({ label, value }) => row(label, value, SOFT)))}
${items.length > 0 ? table([...items.map((item) => lineRow(item)), ...sums.map((sum, index) => lineRow(sum, index === sums.length - 1 ? 'font-weight:600' : ''))]) : html`<p style="margin:16px 0 0" dir="auto">${description}</p>`}
<p style="margin:24px 0 0"><a href="${link}" style="display:inline-block;padding:12px 20px;background:${fill};color:${onFill};border-radius:10px;text-decoration:none;font-weight:600">${messages.receipt.link}</a></p>
${contacts.length > 0 && html`<p style="margin:20px 0 0;font-size:14px;${SOFT}">${messages.frame.questions} ${contacts.map(({ text, href }) => html`<a href="${href}" style="${SOFT};white-space:nowrap"><bdi>${text}</bdi></a> `)}</p>`}
</div></body></html>
`),
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
      ...(contacts.length > 0 ? ['', messages.frame.questions] : []),
      ...contacts.map(({ text, href, isPlain }) => (isPlain ? text : `${text}: ${href}`)),
      '',
    ].join('\n'),
  };
}
