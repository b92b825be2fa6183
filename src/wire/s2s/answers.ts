/** The answers of `/post`, made from a payment. */
import type { Payment } from '../../core/context.ts';
import { wireDate } from '../../lib/clock.ts';
import { STATES } from '../../rules/states.ts';

export type Answer = Record<string, string>;

/** The fields that an answer has only when they apply. */
const extras = (payment: Payment): Answer => ({
  ...(payment.declineReason === null ? {} : { decline_reason: payment.declineReason }),
  ...(payment.recurringToken === null ? {} : { recurring_token: payment.recurringToken }),
  ...(payment.scheduleId === null ? {} : { schedule_id: payment.scheduleId }),
});

export const saleAnswer = (action: string, payment: Payment): Answer => ({
  action,
  result: payment.inDoubt ? 'UNDEFINED' : STATES[payment.state].result,
  status: payment.state,
  order_id: payment.orderId,
  trans_id: payment.paymentId,
  trans_date: wireDate(payment.createdAt),
  descriptor: payment.descriptor,
  amount: payment.amountText,
  currency: payment.currency,
  ...extras(payment),
});

export const statusAnswer = (action: string, payment: Payment): Answer => ({
  action,
  result: 'SUCCESS',
  status: payment.state,
  order_id: payment.orderId,
  trans_id: payment.paymentId,
  amount: payment.amountText,
  currency: payment.currency,
  ...extras(payment),
});
