/** Refunds that wait for a second person: on the attention list, on the page of the payment, and the decision. */

import { isAuthor } from '../../../core/operators/principal.ts';
import {
  decideRefundRequest,
  type ListedRefundRequest,
  listRefundRequests,
  type RefundRequest,
} from '../../../core/payments/refund-requests.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { ERRORS, Refusal } from '../../../rules/errors.ts';
import { REFUND_MARK, type RefundRequestState } from '../../../rules/refund-requests.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { formToken } from '../frame/layout.ts';
import { type Column, empty, fill, idCursor, money, pager, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { problemOf, wholeAmount } from './operate.ts';
import { decisionMoment, type Moment } from './timeline.ts';

const PAGE_SIZE = 25;
const ATTENTION = '/admin/attention';
const PATH = '/admin/refund-requests';
const text = panelTexts.refundRequests;

export const REFUNDS_TO_APPROVE = `${ATTENTION}?mark=${REFUND_MARK}`;

const paymentPath = ({ paymentId }: Pick<RefundRequest, 'paymentId'>): string => `/admin/payments/${paymentId}`;
const sentence = (template: string, { amount, currency, authorName }: RefundRequest): string =>
  fill(template, { amount: money(amount, currency), name: authorName });

const button = ({ session }: PanelRequest, { requestId }: RefundRequest, name: 'approve' | 'refuse'): Html =>
  html`<form method="post" action="${PATH}/${requestId}/${name}">${formToken(session)}<button${name === 'refuse' && html` class="quiet"`}>${text[name]}</button></form>`;

/** The decisions that this operator may make; nothing for one who may not refund. */
function decisions(request: PanelRequest, one: RefundRequest): Html | false {
  if (!isAllowed(request.session.principal.role, 'payments.refund')) return false;
  if (isAuthor(one, request.caller)) return html`<p class="soft small">${text.own}</p>`;
  return html`<div class="inline">${button(request, one, 'approve')}${button(request, one, 'refuse')}</div>`;
}

/** The part of the attention list with refunds that wait. */
export async function waitingRefunds(
  request: PanelRequest,
  names: ReadonlyMap<string, string>,
  mid: string | undefined,
): Promise<Html> {
  const { gateway, session, query } = request;
  const filter = { mids: session.principal.mids, mid, state: 'waiting' } as const;
  const before = idCursor(query);
  const { items, last } = keysetPage(await listRefundRequests(gateway, filter, PAGE_SIZE + 1, before), PAGE_SIZE);
  const columns: Column<ListedRefundRequest>[] = [
    {
      label: text.requestedBy,
      cell: ({ authorName, requestedAt }) => html`${authorName}<p class="soft small">${time(requestedAt)}</p>`,
    },
    {
      label: panelTexts.payments.order,
      cell: (one) => html`<a href="${paymentPath(one)}">${one.orderId}</a>`,
    },
    { label: panelTexts.payments.amount, isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
    { label: panelTexts.payments.account, cell: (one) => names.get(one.mid) ?? one.mid },
    { label: text.note, cell: ({ note }) => note },
    { label: panelTexts.attention.actions, cell: (one) => decisions(request, one) || null },
  ];
  return html`<p class="inset">${text.hint}</p>${
    items.length > 0 ? table(text.title, columns, items) : empty(text.none, text.noneHint)
  }${pager(ATTENTION, { ...query, mark: REFUND_MARK }, last?.requestId)}`;
}

/** What waits for a decision, on the page of the payment. */
export const waitingNotices = (request: PanelRequest, requests: readonly RefundRequest[]): Html[] =>
  requests
    .filter(({ state }) => state === 'waiting')
    .map(
      (one) =>
        html`<div class="notice wait" role="status"><h2>${text.waits}</h2><p>${sentence(text.asked, one)}${
          one.note !== null && html` ${one.note}`
        }</p>${decisions(request, one)}</div>`,
    );

export function requestMoments(requests: readonly RefundRequest[]): Moment[] {
  return requests.flatMap((one) => {
    const { state, requestedAt, decidedAt, authorName, decidedBy } = one;
    const requested = decisionMoment(requestedAt, sentence(text.requested, one), authorName, 'wait');
    if (state === 'waiting' || decidedAt === null) return [requested];
    return [
      requested,
      decisionMoment(decidedAt, sentence(text[state], one), decidedBy, state === 'approved' ? 'good' : 'bad'),
    ];
  });
}

/** Says why an approved refund was not sent, and offers to refuse it. */
async function notSent(request: PanelRequest, error: Refusal): Promise<PanelAnswer> {
  const { gateway, session, params } = request;
  const filter = { mids: session.principal.mids, requestId: params.requestId };
  const [one] = await listRefundRequests(gateway, filter, 1);
  const payment = one && (await gateway.payments.find(one));
  if (!payment) throw error;
  const problem = problemOf(error, payment, wholeAmount.refund(payment)).sentence;
  return {
    title: text.notSent,
    status: 400,
    body: html`<div class="card narrow"><h1>${text.notSent}</h1><div class="notice bad" role="alert">${problem}</div><p>${sentence(text.asked, one)}</p><p>${text.notSentHint}</p><div class="inline">${button(request, one, 'refuse')}<a class="button quiet" href="${paymentPath(one)}">${text.toPayment}</a></div></div>`,
  };
}

const decide =
  (state: Exclude<RefundRequestState, 'waiting'>) =>
  async (request: PanelRequest): Promise<PanelAnswer> => {
    const { gateway, session, caller, params } = request;
    try {
      const decided = await decideRefundRequest(gateway, session.principal, caller, params.requestId ?? '', state);
      return {
        redirect: `${paymentPath(decided)}?done=${state === 'approved' ? decided.operationId : 'refund_refused'}`,
      };
    } catch (error) {
      const isAboutPayment =
        error instanceof Refusal && error.error !== 'refundRequestDecided' && ERRORS[error.error].http === 400;
      if (!isAboutPayment) throw error;
      return notSent(request, error);
    }
  };

const form = { method: 'POST', permission: 'payments.refund', scope: 'accounts', confirmFor: ATTENTION } as const;

export const refundRequestPages: readonly PanelRoute[] = [
  { ...form, path: `${PATH}/:requestId/approve`, handle: decide('approved') },
  { ...form, path: `${PATH}/:requestId/refuse`, handle: decide('refused') },
];
