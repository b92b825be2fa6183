/** The decline reasons of the gateway itself; merchants get these texts, payers a translation. */

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

/** The name of one of these reasons; undefined for a reason that a provider sent. */
export const reasonNamed = (reason: string): ReasonName | undefined =>
  (Object.keys(REASONS) as ReasonName[]).find((name) => REASONS[name] === reason);
