/** Why a payment failed, where the reason is ours: merchants read these sentences, payers the same in their language. */

export const REASONS = {
  outOfTime: 'The payer did not finish in time.',
  neverReceived: 'The provider never received the payment.',
  bankRejected: 'The bank rejected the payment.',
  notConfirmed: 'The bank could not confirm who is paying.',
  bankSaidNo: 'Rejected by the bank.',
  providerSaidNo: 'Declined by the provider.',
  testDecline: 'Declined by the test connector.',
} as const;

export type ReasonName = keyof typeof REASONS;

/** The name of a reason of ours; a provider's own words have none. */
export const reasonNamed = (reason: string): ReasonName | undefined =>
  (Object.keys(REASONS) as ReasonName[]).find((name) => REASONS[name] === reason);
