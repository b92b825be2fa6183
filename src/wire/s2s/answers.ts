/** The answers of `/post`, made from a payment. */
import type { Payment, PaymentStatus } from '../../core/context.ts';
import { wireDate } from '../../lib/clock.ts';
import { STATES } from '../../rules/states.ts';

export type Answer = Record<string, string>;

/** Adds the fields that an answer has only when they apply. */
function withExtras(answer: Answer, payment: PaymentStatus): Answer {
  if (payment.declineReason !== null) answer.decline_reason = payment.declineReason;
  if (payment.recurringToken !== null) answer.recurring_token = payment.recurringToken;
  if (payment.scheduleId !== null) answer.schedule_id = payment.scheduleId;
  return answer;
}

export function saleAnswer(action: string, payment: Payment): Answer {
  return withExtras(
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
    },
    payment,
  );
}

export function statusAnswer(action: string, payment: PaymentStatus): Answer {
  return withExtras(
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
