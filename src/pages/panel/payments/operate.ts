/** The forms with which an operator captures, cancels and refunds a payment. */
import type { Payment } from '../../../core/context.ts';
import {
  ACTION_PERMISSIONS,
  OPERATOR_ACTIONS,
  type OperatorAction,
  operateAs,
} from '../../../core/operators/actions.ts';
import { isUuid, newId } from '../../../lib/crypto/id.ts';
import { amountText } from '../../../lib/money/money.ts';
import { typedAmount } from '../../../lib/money/typed-amount.ts';
import { html } from '../../../lib/text/html.ts';
import { exponentOf } from '../../../rules/currencies.ts';
import { ERRORS, type Problem, Refusal } from '../../../rules/errors.ts';
import { REFUND_REASONS } from '../../../rules/refund-reasons.ts';
import { formToken } from '../frame/layout.ts';
import { choiceField, facts, field, fill, money, refusalText } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { requirePayment } from './find.ts';
import { statusBadge } from './status.ts';

const text = panelTexts.payment;

const pathOf = (paymentId: string): string => `/admin/payments/${paymentId}`;

/** The most that an action can take. */
export const wholeAmount: Readonly<Record<OperatorAction, (payment: Payment) => bigint>> = {
  capture: ({ authorised }) => authorised,
  void: ({ amount }) => amount,
  refund: ({ captured, refunded, reserved, authorised, state }) =>
    state === 'SETTLED' ? captured - refunded - reserved : authorised,
};

async function confirmation(
  action: OperatorAction,
  request: PanelRequest,
  problem?: Pick<Problem, 'field' | 'sentence'>,
): Promise<PanelAnswer> {
  const { form, session } = request;
  const { payment } = await requirePayment(request);
  const { amount, currency, paymentId } = payment;
  const whole = wholeAmount[action](payment);
  const errorOf = (name: string): string | undefined => (problem?.field === name ? problem.sentence : undefined);
  const hasAmount = action !== 'void';
  const inputs = [
    hasAmount &&
      field({
        name: 'amount',
        label: `${text.amount} (${currency})`,
        value: form.get('amount') ?? amountText(whole, exponentOf(payment.currency)),
        hint: fill(text.leftHint, { left: money(whole, currency), amount: money(amount, currency) }),
        error: errorOf('amount'),
        attributes: html`inputmode="decimal" autocomplete="off"`,
      }),
    action === 'refund' &&
      choiceField(
        { name: 'reason', label: text.refundReason, value: form.get('reason') },
        REFUND_REASONS.map((reason): [string, string] => [reason, text.refundReasons[reason]]),
      ),
    field(
      { name: 'note', label: text.note, hint: text.noteHint, error: errorOf('note') },
      (attributes) => html`<textarea ${attributes} rows="2">${form.get('note') ?? ''}</textarea>`,
    ),
  ];
  return {
    title: text.actions[action],
    status: problem === undefined ? 200 : 400,
    body: html`<div class="card narrow"><h1>${text.actions[action]}</h1>
<p>${text.confirm[action]}</p>${facts([
      [text.order, payment.orderId],
      [text.amount, money(amount, currency)],
      [text.status, statusBadge(payment)],
    ])}
<form method="post" action="${pathOf(paymentId)}/${action}">${formToken(session)}<input type="hidden" name="operation_id" value="${form.get('operation_id') ?? newId()}">${
      problem &&
      !(hasAmount && problem.field === 'amount') &&
      problem.field !== 'note' &&
      html`<p class="error" role="alert">${problem.sentence}</p>`
    }${inputs}
<div class="actions"><button class="danger">${text.actions[action]}</button> <a class="button quiet" href="${pathOf(paymentId)}">${text.cancel}</a></div></form></div>`,
  };
}

/** The amount as the core reads it; a refusal names the field. */
function readTyped(typed: string, payment: Payment, whole: bigint): string {
  const exponent = exponentOf(payment.currency);
  const amount = typedAmount(typed, exponent);
  if (amount !== 'ambiguous' && amount !== 'malformed') return amount;
  const sentence = amount === 'ambiguous' ? text.ambiguousAmount : text.notAnAmount;
  throw new Refusal('invalidData', [
    { field: 'amount', sentence: fill(sentence, { example: amountText(whole, exponent) }) },
  ]);
}

/** Why an action was refused, beside the field that it concerns. */
export function problemOf(error: Refusal, payment: Payment, whole: bigint): Pick<Problem, 'field' | 'sentence'> {
  const isTooMuch = error.error === 'refundTooMuch' || error.error === 'captureTooMuch';
  if (isTooMuch) return { field: 'amount', sentence: fill(text.atMost, { left: money(whole, payment.currency) }) };
  return error.problems[0] ?? { field: '', sentence: refusalText(error) };
}

async function perform(action: OperatorAction, request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, form } = request;
  const { payment } = await requirePayment(request);
  const operationId = form.get('operation_id') || newId();
  if (!isUuid(operationId)) throw new Refusal('notUuid');
  const whole = wholeAmount[action](payment);
  const reason = REFUND_REASONS.find((one) => one === form.get('reason'));
  const note = [reason && text.refundReasons[reason], form.get('note')?.trim()].filter(Boolean).join('. ');
  try {
    const amount = action === 'void' ? '' : readTyped(form.get('amount') ?? '', payment, whole);
    const wanted = { amount, operationId, reason, note };
    const { request: waiting } = await operateAs(gateway, session.principal, caller, payment.paymentId, action, wanted);
    if (waiting) return { redirect: `${pathOf(payment.paymentId)}?done=refund_requested` };
  } catch (error) {
    // A refusal that names the amount concerns the limit of the operator.
    const isAboutForm = error instanceof Refusal && (ERRORS[error.error].http === 400 || error.problems.length > 0);
    if (!isAboutForm) throw error;
    return confirmation(action, request, problemOf(error, payment, whole));
  }
  return { redirect: `${pathOf(payment.paymentId)}?done=${operationId}` };
}

export const operationPages: readonly PanelRoute[] = OPERATOR_ACTIONS.flatMap((action): PanelRoute[] => {
  const common = {
    path: `/admin/payments/:paymentId/${action}`,
    permission: ACTION_PERMISSIONS[action],
    scope: 'accounts',
  } as const;
  return [
    { ...common, method: 'GET', confirmFirst: true, handle: (request) => confirmation(action, request) },
    {
      ...common,
      method: 'POST',
      confirmFor: '/admin/payments/:paymentId',
      handle: (request) => perform(action, request),
    },
  ];
});
