/** The pages of the attention list: payments by mark, and the confirmation of each decision about one. */
import type { HistoryRow, OperationRow, Payment, PaymentWithDetails } from '../../../core/context.ts';
import { resolveAs } from '../../../core/operators/actions.ts';
import { sees } from '../../../core/operators/principal.ts';
import { inspectPayment, listPayments } from '../../../core/payments/find.ts';
import { lateMoney, requirePossible } from '../../../core/payments/resolve.ts';
import { attentionCounts } from '../../../core/reports/reports.ts';
import { isUuid, newId } from '../../../lib/crypto/id.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import {
  ATTENTIONS,
  type Attention,
  possibleResolutions,
  RESOLUTIONS,
  type Resolution,
} from '../../../rules/attention.ts';
import { Refusal } from '../../../rules/errors.ts';
import { REFUND_MARK } from '../../../rules/refund-requests.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { accountNames } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  badge,
  type Column,
  choiceField,
  empty,
  facts,
  field,
  idCursor,
  money,
  pager,
  pills,
  refusalText,
  table,
  time,
  withQuery,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { waitingRefunds } from './refund-requests.ts';

const PAGE_SIZE = 25;
const PATH = '/admin/attention';
const text = panelTexts.attention;

/** The marks of payments, and the refunds that wait for a second person. */
const MARKS = [...ATTENTIONS, REFUND_MARK] as const;
type Mark = (typeof MARKS)[number];
type Counts = Readonly<Record<Mark, number>>;

const paymentPath = (paymentId: string): string => `/admin/payments/${paymentId}`;

/** Links to the decisions that the mark, the state and the role allow. */
export function decisionLinks({ session }: Pick<PanelRequest, 'session'>, payment: Payment): Html | false {
  const { attention, state, busy, paymentId } = payment;
  if (attention === null || !isAllowed(session.principal.role, 'payments.resolve_attention')) return false;
  if (busy === 'late_refund' || busy === 'late_void') return html`<p>${text.inProgress}</p>`;
  return html`<div class="inline">${possibleResolutions(attention, state).map(
    (resolve) =>
      html`<a class="button quiet" href="${paymentPath(paymentId)}/attention/${resolve}">${text.resolutions[resolve]}</a>`,
  )}</div>`;
}

/** What the provider reported, if it differs from what the payment shows. */
export function reportedFact(
  payment: Payment,
  history: readonly HistoryRow[],
  operations: readonly OperationRow[],
): string | undefined {
  const late = payment.attention === null ? undefined : lateMoney(payment, history, operations);
  return late && money(late.amount, late.currency) + (late.isReserved ? `, ${text.reserved}` : '');
}

async function showList(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const { principal } = session;
  const names = await accountNames(request);
  const mid = isUuid(query.mid ?? '') && sees(principal, query.mid as string) ? query.mid : undefined;
  const mids = mid === undefined ? principal.mids : [mid];
  const counts: Counts = {
    ...(await attentionCounts(gateway, mids)),
    [REFUND_MARK]: await gateway.figures.refundsWaiting(mids),
  };
  const mark = MARKS.find((one) => one === query.mark) ?? MARKS.find((one) => counts[one] > 0) ?? MARKS[0];
  const isEmpty = MARKS.every((one) => counts[one] === 0);
  const list =
    mark === REFUND_MARK ? await waitingRefunds(request, names, mid) : await markedPayments(request, names, mark, mid);
  return {
    title: panelTexts.sections.attention,
    body: html`<div class="head"><h1>${panelTexts.sections.attention}</h1><p class="soft">${text.lead}</p></div>
${markPills(counts, mark, mid)}
${accountFilter(names, mark, mid)}
<div class="card flush">${isEmpty ? empty(text.none, text.noneHint) : list}</div>`,
  };
}

/** The payments with a mark, and the decisions about each. */
async function markedPayments(
  request: PanelRequest,
  names: ReadonlyMap<string, string>,
  mark: Attention,
  mid: string | undefined,
): Promise<Html> {
  const { gateway, session, query } = request;
  const { principal } = session;
  const { payments, next } = await listPayments(gateway, {
    attention: mark,
    mid,
    mids: principal.mids,
    before: idCursor(query),
    limit: PAGE_SIZE,
  });
  const columns: Column<Payment>[] = [
    { label: panelTexts.payments.updated, cell: ({ updatedAt }) => time(updatedAt) },
    {
      label: panelTexts.payments.order,
      cell: ({ paymentId, orderId }) => html`<a href="${paymentPath(paymentId)}">${orderId}</a>`,
    },
    { label: panelTexts.payments.status, cell: ({ state }) => badge(state) },
    { label: panelTexts.payments.amount, isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
    {
      label: panelTexts.payments.account,
      cell: (one) => names.get(one.mid) ?? html`<span class="mono">${one.mid}</span>`,
    },
    ...(isAllowed(principal.role, 'payments.resolve_attention')
      ? [{ label: text.actions, cell: (one: Payment) => decisionLinks(request, one) || null }]
      : []),
  ];
  return html`<p class="inset">${panelTexts.payments.attentionHints[mark]}</p>${
    payments.length > 0
      ? table(panelTexts.payments.attentions[mark], columns, payments)
      : empty(text.noneOfMark, text.noneOfMarkHint)
  }${pager(PATH, { ...query, mark }, next ?? undefined)}`;
}

export const markName = (mark: Mark): string =>
  mark === REFUND_MARK ? panelTexts.refundRequests.title : panelTexts.payments.attentions[mark];

const markPills = (counts: Counts, active: Mark, mid: string | undefined): Html =>
  pills(
    text.marks,
    MARKS.map((mark) => ({
      href: withQuery(PATH, { mark, ...(mid && { mid }) }),
      label: html`${markName(mark)} ${badge(String(counts[mark]), counts[mark] > 0 ? 'bad' : '')}`,
      isActive: mark === active,
    })),
  );

const accountFilter = (names: ReadonlyMap<string, string>, mark: Mark, mid: string | undefined): Html | false =>
  names.size > 1 &&
  html`<form class="filters" action="${PATH}"><input type="hidden" name="mark" value="${mark}">${choiceField(
    { name: 'mid', label: panelTexts.payments.account, value: mid },
    [['', panelTexts.payments.any], ...names],
  )}<button>${panelTexts.payments.filter}</button></form>`;

async function requireMarked({ gateway, session, params }: PanelRequest) {
  const found = await inspectPayment(gateway, params.paymentId ?? '');
  if (!found || !sees(session.principal, found.payment.mid)) throw new Refusal('noSuchPayment');
  return found;
}

const confirmation =
  (resolve: Resolution) =>
  async (request: PanelRequest, error?: Refusal): Promise<PanelAnswer> => {
    const { payment, history, operations } = await requireMarked(request);
    if (!error) requirePossible(payment, resolve);
    const ofNote = error?.problems.find(({ field: name }) => name === 'note')?.sentence;
    const other = error && ofNote === undefined ? refusalText(error) : undefined;
    return {
      title: text.titles[resolve],
      status: error ? 400 : 200,
      body: html`<div class="card narrow"><h1>${text.titles[resolve]}</h1><p>${text.confirm[resolve]}</p>
${other !== undefined && html`<div class="notice bad" role="alert">${other}</div>`}${paymentFacts(payment, reportedFact(payment, history, operations))}
<form method="post" action="${paymentPath(payment.paymentId)}/attention/${resolve}">${formToken(request.session)}<input type="hidden" name="operation_id" value="${request.form.get('operation_id') ?? newId()}">${field(
        { name: 'note', label: text.note, hint: text.noteHint, error: ofNote },
        (attributes) => html`<textarea ${attributes} rows="3">${request.form.get('note') ?? ''}</textarea>`,
      )}
<div class="actions"><button${resolve === 'refund' && html` class="danger"`}>${text.titles[resolve]}</button> <a class="button quiet" href="${paymentPath(payment.paymentId)}">${panelTexts.payment.cancel}</a></div></form></div>`,
    };
  };

const paymentFacts = (payment: PaymentWithDetails, reported: string | undefined): Html =>
  facts([
    [panelTexts.payments.order, payment.orderId],
    [panelTexts.payments.amount, money(payment.amount, payment.currency)],
    [text.reported, reported],
    [panelTexts.payments.status, badge(payment.state)],
    [
      panelTexts.payments.attention,
      payment.attention && badge(panelTexts.payments.attentions[payment.attention], 'bad'),
    ],
  ]);

const decide =
  (resolve: Resolution) =>
  async (request: PanelRequest): Promise<PanelAnswer> => {
    const { gateway, session, caller, params, form } = request;
    const given = form.get('operation_id') ?? '';
    const operationId = resolve === 'refund' && isUuid(given) ? given.toLowerCase() : '';
    const decision = { resolve, note: form.get('note') ?? '', operationId };
    const path = paymentPath(params.paymentId ?? '');
    try {
      const { operation } = await resolveAs(gateway, session.principal, caller, params.paymentId ?? '', decision);
      return { redirect: `${path}?done=${operation ? `refund_${operation.state}` : resolve}` };
    } catch (error) {
      if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
      return confirmation(resolve)(request, error);
    }
  };

export const attentionPages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, permission: 'payments.view', scope: 'accounts', handle: showList },
  ...RESOLUTIONS.flatMap((resolve): PanelRoute[] => {
    const path = `/admin/payments/:paymentId/attention/${resolve}`;
    const common = { path, permission: 'payments.resolve_attention', scope: 'accounts' } as const;
    return [
      { method: 'GET', ...common, confirmFirst: true, handle: (request) => confirmation(resolve)(request) },
      { method: 'POST', ...common, confirmFor: '/admin/payments/:paymentId', handle: decide(resolve) },
    ];
  }),
];
