/** The responses of Checkout. */
import type { PaymentWithDetails } from '../../core/context.ts';
import type { OperationResult } from '../../core/payments/operate.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { isWallet } from '../../rules/brands.ts';
import { checkoutStatus } from '../../rules/states.ts';

export function statusAnswer(payment: PaymentWithDetails) {
  const { payer } = payment.details;
  const name = [payer.first_name, payer.last_name].filter(Boolean).join(' ');
  const customer = { ...(name !== '' && { name }), ...(payer.email !== undefined && { email: payer.email }) };
  return {
    payment_id: payment.paymentId,
    date: wireDate(payment.createdAt),
    status: checkoutStatus(payment.state),
    ...(payment.declineReason !== null && { reason: payment.declineReason }),
    ...(payment.recurringToken !== null && { recurring_token: payment.recurringToken }),
    ...(payment.scheduleId !== null && { schedule_id: payment.scheduleId }),
    ...(isWallet(payment.brand) && { digital_wallet: payment.brand }),
    ...(payment.details.card?.token !== undefined && { card_token: payment.details.card.token }),
    order: {
      number: payment.orderId,
      amount: payment.amountText,
      currency: payment.currency,
      description: payment.details.description,
    },
    customer,
  };
}

export const acceptedAnswer = ({ payment, operation }: OperationResult) => ({
  payment_id: payment.paymentId,
  result: 'accepted',
  operation_id: operation.operationId,
});

/** The field `trans_status` for each state of a capture, in capitals. */
export const TRANS_STATUS = { done: 'SUCCESS', declined: 'FAIL', sent: 'UNDEFINED' } as const;

export const capturedAnswer = ({ payment, operation }: OperationResult) => ({
  payment_id: payment.paymentId,
  status: checkoutStatus(payment.state),
  trans_status: TRANS_STATUS[operation.state],
  date: wireDate(operation.finishedAt ?? operation.requestedAt),
  operation_id: operation.operationId,
  ...(operation.reason !== null && { reason: operation.reason }),
});
