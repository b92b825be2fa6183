/** The responses of `/post`. */
import type { Gateway, OperationRow, Payment, PaymentStatus } from '../../core/context.ts';
import { paymentPageUrl } from '../../core/payments/links.ts';
import type { OperationResult } from '../../core/payments/operate.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { isWallet } from '../../rules/brands.ts';
import { isOpen, STATES } from '../../rules/states.ts';

export interface S2sAnswer {
  [field: string]: string | Record<string, string> | Record<string, string>[];
}

/** Adds the optional fields that apply to the payment. */
function withOptionalFields(answer: S2sAnswer, payment: PaymentStatus): S2sAnswer {
  if (payment.declineReason !== null) answer.decline_reason = payment.declineReason;
  if (payment.recurringToken !== null) answer.recurring_token = payment.recurringToken;
  if (payment.scheduleId !== null) answer.schedule_id = payment.scheduleId;
  if (isWallet(payment.brand)) answer.digital_wallet = payment.brand;
  return answer;
}

export function saleAnswer(action: string, payment: Payment, gateway: Gateway): S2sAnswer {
  return withOptionalFields(
    {
      action,
      result: payment.inDoubt ? 'UNDEFINED' : STATES[payment.state].result,
      status: payment.state,
      order_id: payment.orderId,
      trans_id: payment.paymentId,
      trans_date: wireDate(payment.createdAt),
      descriptor: payment.descriptor,
      amount: payment.amountText,
      currency: payment.currency,
      ...redirectFields(payment, gateway),
    },
    payment,
  );
}

/** The payer's next step; a QR code is returned only until it expires. */
function redirectFields(payment: Payment, gateway: Gateway): S2sAnswer {
  const { nextStep: step, state } = payment;
  if (step === null || !isOpen(state)) return {};
  switch (step.kind) {
    case 'fields':
    case 'authentication':
    case 'challenge':
      return { redirect_url: paymentPageUrl(gateway, payment.paymentId), redirect_method: 'GET', redirect_params: {} };
    case 'redirect':
      return { redirect_url: step.url, redirect_method: step.method, redirect_params: step.params };
    case 'code': {
      const isValid = gateway.clock.now(payment.mid) < step.until;
      return { redirect_params: isValid ? { qr_code: Buffer.from(step.text).toString('base64') } : {} };
    }
    case 'transfer':
      return { redirect_params: Object.fromEntries(step.instructions) };
  }
}

/** The field `result` for each state of an operation. */
const RESULTS: Readonly<Record<OperationRow['state'], string>> = {
  done: 'SUCCESS',
  declined: 'DECLINED',
  sent: 'UNDEFINED',
};

/** The response to a capture or void; it repeats the amount as it was sent. */
export function operationAnswer(
  action: 'CAPTURE' | 'VOID',
  { payment, operation }: OperationResult,
  amount = payment.amountText,
): S2sAnswer {
  const money = { amount, descriptor: payment.descriptor, currency: payment.currency };
  return {
    action,
    result: RESULTS[operation.state],
    status: payment.state,
    order_id: payment.orderId,
    trans_id: payment.paymentId,
    trans_date: wireDate(operation.finishedAt ?? operation.requestedAt),
    operation_id: operation.operationId,
    ...(action === 'CAPTURE' && money),
    ...(operation.reason !== null && { decline_reason: operation.reason }),
  };
}

/** A refund is accepted; its outcome is available by callback and by status query. */
export const acceptedAnswer = (
  action: 'CREDITVOID' | 'CREDIT2CARD',
  { payment, operation }: OperationResult,
): S2sAnswer => ({
  action,
  result: 'ACCEPTED',
  // A credit can have an order of its own.
  order_id: operation.orderId ?? payment.orderId,
  trans_id: payment.paymentId,
  operation_id: operation.operationId,
});

export const scheduleAnswer = (action: string, scheduleId: string): S2sAnswer => ({
  action,
  result: 'SUCCESS',
  schedule_id: scheduleId,
});

export function statusAnswer(action: string, payment: PaymentStatus): S2sAnswer {
  return withOptionalFields(
    {
      action,
      result: 'SUCCESS',
      status: payment.state,
      order_id: payment.orderId,
      trans_id: payment.paymentId,
      amount: payment.amountText,
      currency: payment.currency,
    },
    payment,
  );
}
