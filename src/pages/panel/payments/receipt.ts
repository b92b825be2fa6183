/** A receipt of one payment, to print or to save as PDF. */
import { displayName, findAccount } from '../../../core/accounts/accounts.ts';
import type { HistoryRow, OperationRow, PaymentWithDetails } from '../../../core/context.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { localeFor } from '../../locale.ts';
import { methodNames } from '../../pay/method-names.ts';
import { facts, money, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { requirePayment } from './find.ts';

const text = panelTexts.payments.receipt;

/** What was taken from the payer and given back, each with its time. */
function movements(
  { captured, refunded, currency }: PaymentWithDetails,
  history: readonly HistoryRow[],
  operations: readonly OperationRow[],
): [string, Html][] {
  const amount = (minor: bigint, at: number | null): Html =>
    html`<span class="key">${money(minor, currency)}</span> <span class="soft small">${time(at)}</span>`;
  const settled = history.find(({ fromState, toState }) => toState === 'SETTLED' && fromState !== 'SETTLED');
  const chargedBack = history.find(({ toState }) => toState === 'CHARGEBACK');
  const refunds = operations.filter(({ verb, state }) => state === 'done' && (verb === 'refund' || verb === 'credit'));
  return [
    ...(captured > 0n ? [[text.captured, amount(captured, settled?.at ?? null)] as [string, Html]] : []),
    ...refunds.map((refund): [string, Html] => [text.refunded, amount(refund.amount, refund.finishedAt)]),
    ...(chargedBack ? [[text.chargedBack, amount(captured - refunded, chargedBack.at)] as [string, Html]] : []),
  ];
}

async function showReceipt(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway } = request;
  const { payment, history, operations } = await requirePayment(request);
  const account = await findAccount(gateway, payment.mid);
  const { details, currency, captured, refunded, state } = payment;
  const left = state === 'CHARGEBACK' ? 0n : captured - refunded;
  const moved = movements(payment, history, operations);
  return {
    title: `${text.title} ${payment.orderId}`,
    body: html`<div class="head actions"><a class="button quiet" href="/admin/payments/${payment.paymentId}">${text.back}</a><button type="button" data-print hidden>${text.print}</button></div>
<article class="card receipt"><header><p class="shop">${account ? displayName(account) : payment.mid}</p><h1>${text.title}</h1></header>
<p class="figure">${money(payment.amount, currency)}</p>
<p>${text.states[state] ?? state}</p>
${facts([
  [text.order, payment.orderId],
  [text.description, details.description || undefined],
  [text.date, time(payment.createdAt)],
  [text.method, account && methodNames([payment.brand], account, localeFor('en', undefined))(payment.brand)],
  [text.card, details.card?.masked],
  [text.email, details.payer?.email],
])}
${moved.length > 0 && html`<h2>${text.amounts}</h2>${facts(moved)}<p class="total"><span>${text.total}</span> <strong>${money(left, currency)}</strong></p>`}
<footer class="soft small">${text.id} <span class="mono">${payment.paymentId}</span><br>${text.updated} ${time(payment.updatedAt)}</footer></article>`,
  };
}

export const receiptPages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: '/admin/payments/:paymentId/receipt',
    permission: 'payments.view',
    scope: 'accounts',
    handle: showReceipt,
  },
];
