/** Why an operator refunds a payment. */
export const REFUND_REASONS = ['requested', 'duplicate', 'notDelivered', 'fraudulent', 'other'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];
