/** Refunds that need a second person: their states, and their mark on the attention list. */
export const REFUND_REQUEST_STATES = ['waiting', 'approved', 'refused'] as const;
export type RefundRequestState = (typeof REFUND_REQUEST_STATES)[number];

/** What the attention list calls refunds that wait, beside the marks of payments. */
export const REFUND_MARK = 'refund_approval';
