/** Why an operator should look at a payment: money may be elsewhere than our state says. */

export const ATTENTIONS = ['late_success', 'wrong_amount', 'unresolved', 'conflict', 'unexpected_chargeback'] as const;

export type Attention = (typeof ATTENTIONS)[number];
