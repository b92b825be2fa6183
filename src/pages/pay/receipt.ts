/** The receipt of a payment: a page to print, and the facts that its e-mail has, too. */
import { displayName } from '../../core/accounts/accounts.ts';
import type { Account, PaymentWithDetails } from '../../core/context.ts';
import { networkTitle } from '../../lib/cards/networks.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { CARD } from '../../rules/brands.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import { linesTable } from '../order-lines.ts';
import { methodNames } from './method-names.ts';
import { amountLine, type PageView, shopLink } from './view.ts';

/** Whether the payer has paid, even if the money was given back later. */
export const hasReceiptPage = ({ result, payment }: Pick<PageView, 'result' | 'payment'>): boolean =>
  result === 'paid' || payment.captured > 0n;

/** What was charged, or is reserved. */
export const paidAmount = ({ captured, authorised, currency }: PaymentWithDetails) => ({
  amount: captured || authorised,
  currency,
});

/** How the payer paid: the masked card, or the name of the method. */
function methodText({ brand, details: { card } }: PaymentWithDetails, account: Account, locale: Locale): string {
  const { messages, formatMessage } = locale;
  const title = brand === CARD ? undefined : methodNames([brand], account, locale)(brand);
  const masked =
    card &&
    formatMessage(messages.savedCard, {
      network: networkTitle(card.network) ?? messages.card,
      digits: card.masked.slice(-4),
    });
  return [title, masked].filter(Boolean).join(', ') || messages.card;
}

export interface ReceiptFact {
  label: string;
  /** Text that is not in the language of the page is isolated, so that it does not change the direction of the line. */
  value: Html | string;
  text: string;
}

/** The facts of a receipt, each with its label. */
export function receiptFacts(
  payment: PaymentWithDetails,
  account: Account,
  locale: Locale,
  paidAt: number,
): ReceiptFact[] {
  const { messages, formatAmount, formatDateTime } = locale;
  const { receipt } = messages;
  const { amount, refunded, currency } = payment;
  const fact = (label: string, text: string): ReceiptFact => ({ label, text, value: text });
  const isolated = (label: string, text: string): ReceiptFact => ({ label, text, value: html`<bdi>${text}</bdi>` });
  const isPartial = paidAmount(payment).amount !== amount;
  return [
    isolated(receipt.merchant, displayName(account)),
    isolated(messages.order, payment.orderId),
    fact(receipt.date, formatDateTime(paidAt)),
    fact(receipt.method, methodText(payment, account, locale)),
    ...(isPartial ? [isolated(receipt.charged, formatAmount(paidAmount(payment)))] : []),
    ...(refunded > 0n ? [isolated(receipt.refunded, formatAmount({ amount: refunded, currency }))] : []),
    isolated(receipt.reference, payment.paymentId),
  ];
}

export function receiptPage(view: PageView, paidAt: number): Page {
  const { payment, account, locale } = view;
  const { messages } = locale;
  const { lines, description } = payment.details;
  return {
    title: messages.receipt.title,
    body: html`<article class="card receipt">
<h1>${messages.receipt.title}</h1>
${amountLine(paidAmount(payment), locale)}
${payment.captured === 0n && html`<p>${messages.receipt.reservedHow}</p>`}
<dl>${receiptFacts(payment, account, locale, paidAt).map(({ label, value }) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
${lines ? linesTable(lines, payment, locale) : html`<p class="what" dir="auto">${description}</p>`}
<button type="button" class="second" data-print hidden>${messages.receipt.print}</button>
${view.customerPage && html`<a class="quiet" href="${view.customerPage}">${messages.customer.title}</a>`}
${shopLink(view, 'quiet')}
</article>`,
  };
}

/** The link from the result of a payment to its receipt. */
export const receiptLink = (view: PageView): Html | false =>
  hasReceiptPage(view) && html`<a class="quiet" href="${view.path}/receipt">${view.locale.messages.receipt.link}</a>`;
