/** The page of an invoice: what is owed, by whom and until when, with the button to pay; it prints on A4. */
import { displayName } from '../../core/accounts/accounts.ts';
import type { Account, PaidInvoice } from '../../core/context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { type InvoiceState, invoiceNumber } from '../../rules/invoices.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';

const STYLE = `.invoice h1{margin-bottom:.5rem}.invoice .pre{white-space:pre-line}.invoice table{width:100%;border-collapse:collapse;margin-top:1rem;font-size:.9375rem}.invoice :is(th,td){padding:.375rem 0;text-align:start;vertical-align:top;font-weight:400;border-top:1px solid var(--line)}.invoice :is(th,td)+td{padding-inline-start:1rem;text-align:end;font-variant-numeric:tabular-nums}.invoice thead :is(th,td){border-top:0;color:var(--soft);font-size:.8125rem}.invoice tfoot tr:last-child>*{font-weight:650}
@page{size:A4;margin:18mm}
@media print{body{background:#fff!important;color:#000!important}.invoice{max-width:none;box-shadow:none;border:0;padding:0}.invoice form,.foot .languages,.test{display:none!important}tr{break-inside:avoid}}`;

const dayMs = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** The sum of the lines without tax, then the tax of each rate, then the total. */
function sums({ lines, total, currency }: PaidInvoice, { messages, formatAmount }: Locale): Html {
  const written = (amount: bigint): string => formatAmount({ amount, currency });
  const net = lines.reduce((sum, line) => sum + BigInt(line.net), 0n);
  const byRate = Map.groupBy(lines, ({ taxPercent }) => Number(taxPercent));
  const taxes = [...byRate].filter(([rate]) => rate > 0).toSorted(([a], [b]) => a - b);
  const row = (label: string, amount: bigint): Html =>
    html`<tr><th scope="row" colspan="3">${label}</th><td><bdi>${written(amount)}</bdi></td></tr>`;
  return html`${taxes.length > 0 && row(messages.orderLines.subtotal, net)}${taxes.map(([rate, of]) =>
    row(
      `${messages.orderLines.tax} ${rate} %`,
      of.reduce((sum, line) => sum + BigInt(line.tax), 0n),
    ),
  )}${row(messages.orderLines.total, total)}`;
}

export function invoicePage(
  invoice: PaidInvoice,
  state: InvoiceState,
  account: Account,
  locale: Locale,
  path: string,
): Page {
  const { messages, formatMessage, formatAmount, formatDate } = locale;
  const { invoice: texts } = messages;
  const { payer, currency, note, total } = invoice;
  const title = formatMessage(texts.title, { number: invoiceNumber(invoice.sequence) });
  const open = account.isSuspended ? messages.noWay : undefined;
  const ended = { paid: texts.paid, void: texts.void, open, overdue: open }[state];
  return {
    title,
    additions: { scripts: [], styles: [STYLE] },
    body: html`<section class="card invoice">
<h1>${title}</h1>
${ended && html`<p class="notice" role="status"><strong>${ended}</strong></p>`}
<dl><dt>${messages.receipt.merchant}</dt><dd><bdi>${displayName(account)}</bdi></dd><dt>${texts.to}</dt><dd class="pre" dir="auto">${payer.name}${payer.address !== '' && `\n${payer.address}`}</dd><dt>${messages.receipt.date}</dt><dd>${formatDate(invoice.createdAt)}</dd><dt>${texts.due}</dt><dd>${formatDate(dayMs(invoice.dueOn))}${state === 'overdue' && html` <strong>(${texts.overdue})</strong>`}</dd></dl>
<table><thead><tr><td></td><td>${texts.quantity}</td><td>${texts.price}</td><td>${messages.amount}</td></tr></thead>
<tbody>${invoice.lines.map(
      ({ description, quantity, unitAmount, net }) =>
        html`<tr><th scope="row" dir="auto">${description}</th><td><bdi>${quantity}</bdi></td><td><bdi>${formatAmount({ amount: BigInt(unitAmount), currency })}</bdi></td><td><bdi>${formatAmount({ amount: BigInt(net), currency })}</bdi></td></tr>`,
    )}</tbody><tfoot>${sums(invoice, locale)}</tfoot></table>
${note !== '' && html`<p class="pre" dir="auto">${note}</p>`}
${!ended && html`<form method="post" action="${path}" data-busy="${messages.oneMoment}"><button>${formatMessage(messages.pay, { amount: formatAmount({ amount: total, currency }) })}</button></form>`}
</section>`,
  };
}
