/** Why a payment needs an operator's attention: its state and the money at the provider may differ. */

export const ATTENTIONS = ['late_success', 'wrong_amount', 'unresolved', 'conflict', 'unexpected_chargeback'] as const;

export type Attention = (typeof ATTENTIONS)[number];
