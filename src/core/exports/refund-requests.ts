/** Refunds that need a second person as the admin API shows them. */
import { amountText } from '../../lib/money/money.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { exponentOf } from '../../rules/currencies.ts';
import type { RefundRequest } from '../payments/refund-requests.ts';

export const refundRequestView = (request: RefundRequest) => ({
  request_id: request.requestId,
  mid: request.mid,
  payment_id: request.paymentId,
  operation_id: request.operationId,
  amount: amountText(request.amount, exponentOf(request.currency)),
  currency: request.currency,
  note: request.note,
  state: request.state,
  requested_by: request.authorName,
  requested_at: wireDate(request.requestedAt),
  decided_by: request.decidedBy,
  decided_at: wireDateOrNull(request.decidedAt),
});

export const REFUND_REQUEST_COLUMNS = [
  ...['request_id', 'mid', 'payment_id', 'operation_id', 'amount', 'currency', 'note', 'state'],
  ...['requested_by', 'requested_at', 'decided_by', 'decided_at'],
];
