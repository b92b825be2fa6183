/** The states of a refund that needs a second person. */
export const REFUND_REQUEST_STATES = ['waiting', 'approved', 'refused'] as const;
export type RefundRequestState = (typeof REFUND_REQUEST_STATES)[number];
