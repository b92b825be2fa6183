/** The page of one payment: what happened, who pays and how, the amounts, and the links to what can be done with it. */

import { findAccount } from '../../../core/accounts/accounts.ts';
import { type LoggedCallback, listPaymentCallbacks } from '../../../core/callbacks/log.ts';
import type { HistoryRow, OperationRow, Payment, PaymentWithDetails, RiskDecisionRow } from '../../../core/context.ts';
import { possibleActions } from '../../../core/operators/actions.ts';
import type { Principal } from '../../../core/operators/principal.ts';
import { listRefundRequests } from '../../../core/payments/refund-requests.ts';
import { networkTitle } from '../../../lib/cards/networks.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import type { Attention } from '../../../rules/attention.ts';
import { splitConnectionKey } from '../../../rules/connectors.ts';
import { declineClassOf } from '../../../rules/declines.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { localeFor } from '../../locale.ts';
import { providerName } from '../connections/provider-name.ts';
import { accountClockNotice } from '../frame/clock.ts';
import { badge, type Column, copyLink, facts, fill, money, notice, table, time, withQuery } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { moneyOfPayment } from '../ledger/payment-money.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
import { blockCard } from '../risk/block.ts';
import { reviewDone, reviewNotice } from '../risk/reviews.ts';
import { riskMoments, riskSummary } from '../risk/summary.ts';
import { decisionLinks, reportedFact } from './attention.ts';
import { requirePayment } from './find.ts';
import { methodCell } from './methods.ts';
import { orderLines, receiptMoment } from './order.ts';
import { requestMoments, waitingNotices } from './refund-requests.ts';
import { statusBadge } from './status.ts';
import { timeline } from './timeline.ts';

const text = panelTexts.payment;

const pathOf = (paymentId: string): string => `/admin/payments/${paymentId}`;

/** The link, the receipt, and the actions that the state, the review and the role allow. */
function actions({ role }: Principal, payment: PaymentWithDetails, risk: RiskDecisionRow | undefined): Html {
  const path = pathOf(payment.paymentId);
  const possible = possibleActions(role, payment, risk);
  return html`<div class="actions">${copyLink(path)}<a class="button quiet" href="${path}/receipt">${panelTexts.payments.receipt.link}</a>${possible.map(
    (action) => html`<a class="button quiet" href="${path}/${action}">${text.actions[action]}</a>`,
  )}</div>`;
}

const operationColumns = ({ currency }: Payment): Column<OperationRow>[] => [
  { label: text.operation, cell: ({ verb }) => text.verbs[verb] },
  {
    label: text.status,
    cell: ({ state }) =>
      badge(text.operationStates[state], state === 'done' ? 'good' : state === 'declined' ? 'bad' : 'wait'),
  },
  { label: text.amount, isNumber: true, cell: ({ amount }) => money(amount, currency) },
  { label: text.reason, cell: ({ reason }) => reason },
  { label: text.requested, cell: ({ requestedAt }) => time(requestedAt) },
  { label: text.operationId, cell: ({ operationId }) => html`<code>${operationId}</code>` },
];

/** The result of 3-D Secure, if the gateway or the provider recorded one. */
function threeDsResult(history: readonly HistoryRow[]): string | undefined {
  const last = history.findLast(({ call }) => call?.verb === 'authenticate')?.call;
  return last ? text.threeDsResults[last.outcome] : undefined;
}

function payerCard({ details }: PaymentWithDetails, history: readonly HistoryRow[]): Html {
  const { payer = {}, card, wallet, receiptEmail } = details;
  const locale = localeFor(languageTag(), undefined);
  const place = [payer.address, [payer.zip, payer.city].filter(Boolean).join(' '), payer.state].filter(Boolean);
  const email = payer.email ?? receiptEmail;
  const pairs = [
    [text.name, [payer.first_name, payer.last_name].filter(Boolean).join(' ') || undefined],
    [
      text.email,
      email &&
        html`${email}<br><a class="small" href="/admin/payments?q=${encodeURIComponent(email)}">${text.samePayer}</a>`,
    ],
    [text.phone, payer.phone],
    [
      text.address,
      place.length > 0 ? html`${place.map((line, index) => html`${index > 0 && html`<br>`}${line}`)}` : undefined,
    ],
    [text.country, payer.country && locale.formatCountry(payer.country)],
    [text.ip, payer.ip && html`<code>${payer.ip}</code>`],
    [text.card, card && html`<code>${card.masked}</code>`],
    [text.network, card && (networkTitle(card.network) ?? card.network)],
    [text.expiry, card?.expiry],
    [
      text.wallet,
      wallet && `${networkTitle(wallet.network.toLowerCase()) ?? wallet.network}, ${text.walletTypes[wallet.type]}`,
    ],
    [text.threeDs, threeDsResult(history)],
    [panelTexts.erasure.erasedAt, details.erasedAt === undefined ? undefined : time(details.erasedAt)],
  ] as const;
  const isEmpty = pairs.every(([, value]) => value === undefined || value === '');
  return html`<section class="card" aria-labelledby="payer"><h2 id="payer">${text.payer}</h2>${
    isEmpty
      ? html`<p class="soft">${text.noPayer}</p>`
      : facts(pairs.map(([name, value]) => [name, value || undefined]))
  }</section>`;
}

async function showPayment(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const { payment, history, operations, receipt } = await requirePayment(request);
  const account = await findAccount(gateway, payment.mid);
  const risk = await gateway.riskDecisions.find(payment);
  const requests = await listRefundRequests(
    gateway,
    { mids: null, mid: payment.mid, paymentId: payment.paymentId },
    LIMITS.adminPageSize,
  );
  const receipts = receipt ? [receiptMoment(payment, receipt)] : [];
  const callbacks = await listPaymentCallbacks(gateway, payment);
  const { details, currency, captured, refunded, reserved } = payment;
  const decline = payment.providerData?.decline;
  const moved = await moneyOfPayment(request, payment, account?.name ?? payment.mid);
  return {
    title: `${money(payment.amount, currency)} · ${payment.orderId}`,
    body: html`${session.principal.mids === null && accountClockNotice(gateway, payment.mid)}${riskNotice(query.done) || outcomeNotice(query.done, payment, operations)}
<div class="head"><h1 class="amount">${money(payment.amount, currency)}</h1>${statusBadge(payment)}${
      payment.inDoubt && badge(text.inDoubt, 'wait')
    }${actions(session.principal, payment, risk)}</div>
${payment.attention && attentionNotice(request, payment, payment.attention, reportedFact(payment, history, operations))}${reviewNotice(request, risk)}${waitingNotices(request, requests)}
<div class="columns"><section class="card" aria-labelledby="timeline"><h2 id="timeline">${text.timeline}</h2>${timeline(payment, history, operations, callbacks, [...receipts, ...riskMoments(risk, session.principal.mids), ...requestMoments(requests)])}${resendLink(session.principal, payment, callbacks)}</section>
<div>${payerCard(payment, history)}
<section class="card" aria-labelledby="amounts"><h2 id="amounts">${text.amounts}</h2>${facts([
      [text.authorised, payment.authorised > 0n ? amount(payment.authorised, currency) : undefined],
      [text.captured, amount(captured, currency)],
      [text.refunded, amount(refunded, currency)],
      [text.left, captured > 0n && refunded > 0n ? amount(captured - refunded - reserved, currency) : undefined],
    ])}</section>
${moved.sums}
<section class="card" aria-labelledby="facts"><h2 id="facts">${text.details}</h2>${facts([
      [text.order, payment.orderId],
      [text.description, details.description],
      [
        text.channel,
        details.channelId &&
          html`<a href="${withQuery('/admin/payments', { mid: payment.mid, channel_id: details.channelId })}">${details.channelId}</a>`,
      ],
      [text.account, html`<a href="/admin/accounts/${payment.mid}">${account?.name ?? payment.mid}</a>`],
      [text.method, methodCell(payment.brand)],
      [text.origin, text.origins[payment.protocol]],
      [text.created, time(payment.createdAt)],
      [text.updated, time(payment.updatedAt)],
      [text.declineReason, payment.declineReason ?? undefined],
      [panelTexts.risk.decision, risk && riskSummary(risk, session.principal.mids)],
      [text.declineClass, payment.state === 'DECLINED' ? text.declineClasses[declineClassOf(decline)] : undefined],
      [
        text.declineCode,
        payment.state === 'DECLINED' && decline?.code ? html`<code>${decline.code}</code>` : undefined,
      ],
      [text.provider, providerLink(payment.connector)],
      [text.routeReason, payment.routeReason ?? undefined],
      [text.providerReference, payment.providerReference && html`<code>${payment.providerReference}</code>`],
      [text.id, html`<code>${payment.paymentId}</code>`],
    ])}${eraseLink(session.principal, payment)}</section>${blockCard(request, payment)}</div></div>
${orderLines(payment)}
${moved.entries}
<section class="card flush"><h2 class="inset">${text.operations}</h2>${
      operations.length > 0
        ? table(text.operations, operationColumns(payment), operations)
        : html`<p class="inset soft">${text.noOperations}</p>`
    }</section>`,
  };
}

const amount = (minor: bigint, currency: string): Html => html`<span class="amount">${money(minor, currency)}</span>`;

const eraseLink = ({ role }: Principal, { paymentId, details }: PaymentWithDetails): Html | false =>
  isAllowed(role, 'payments.erase') &&
  details.erasedAt === undefined &&
  html`<p><a class="button quiet" href="${pathOf(paymentId)}/erase">${panelTexts.erasure.action}</a></p>`;

/** The name of the provider, or a link to the connection. */
function providerLink(key: string): Html | string {
  const { connectionId } = splitConnectionKey(key);
  if (connectionId !== null) return html`<a href="/admin/connections/${connectionId}">${providerName(key)}</a>`;
  return providerName(key);
}

const resendLink = ({ role }: Principal, { paymentId }: Payment, callbacks: readonly LoggedCallback[]): Html | false =>
  callbacks.some(({ callback }) => callback.body !== '') &&
  isAllowed(role, 'callbacks.resend') &&
  html`<p><a class="button quiet" href="/admin/callbacks/resend?payment_id=${paymentId}">${panelTexts.callbacks.resendOfPayment}</a></p>`;

const attentionNotice = (
  request: PanelRequest,
  payment: Payment,
  attention: Attention,
  reported: string | undefined,
): Html =>
  html`<div class="notice bad" role="status"><h2>${panelTexts.payments.attentions[attention]}</h2><p>${panelTexts.payments.attentionHints[attention]}${
    reported !== undefined && html` ${panelTexts.attention.reported}: ${reported}.`
  }</p>${decisionLinks(request, payment)}</div>`;

/** What was done to the payer or decided in a review before the page was shown. */
const riskNotice = (done = ''): Html | false =>
  notice(done === 'blocked' ? panelTexts.risk.block.done : reviewDone[done]);

/** What happened before the page was shown: the outcome of the operation with this id, or of a decision. */
function outcomeNotice(
  done: string | undefined,
  { currency }: Payment,
  operations: readonly OperationRow[],
): Html | false {
  if (done === undefined) return false;
  const operation = operations.find(({ operationId }) => operationId === done);
  if (!operation) return notice(text.outcomes[done], done === 'refund_declined' ? 'bad' : 'good');
  const { state, verb, reason } = operation;
  const template = text.outcomes[state === 'done' ? verb : state];
  return notice(
    template && fill(template, { amount: money(operation.amount, currency), reason: reason ?? '–' }),
    state === 'done' ? 'good' : state === 'sent' ? 'wait' : 'bad',
  );
}

export const paymentPage: PanelRoute = {
  method: 'GET',
  path: '/admin/payments/:paymentId',
  permission: 'payments.view',
  scope: 'accounts',
  handle: showPayment,
};
