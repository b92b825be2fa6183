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

/** The reasons of payments that no provider heard of; payers read that the payment was declined. */
/** Why a payment was submitted again: the issuer did not accept a request for an exemption. */
export const AUTHENTICATION_REQUIRED = 'authentication required';

/** What the history has of a submission if the 3DS directory did not answer: the payer was not authenticated. */
export const UNANSWERED_AUTHENTICATION = 'unanswered';

export const RISK_REASONS = {
  blocked: "Refused by the merchant's rules.",
  overLimit: "The account's limit is reached.",
} as const;

/** The reason of a repetition whose card was declined for good before; no provider hears of it. */
export const CARD_MUST_REST = 'The card must not be charged again.';

/** The reason of a scheduled charge that was not sent, because its schedule or its subscription was ended just before. */
export const SCHEDULE_STOPPED = 'The schedule was stopped.';

/** The name of one of these reasons; undefined for a reason that a provider sent. */
export const reasonNamed = (reason: string): ReasonName | undefined =>
  (Object.keys(REASONS) as ReasonName[]).find((name) => REASONS[name] === reason);

/**
 * Why an issuer or a provider declined, for connectors that translate the codes of their provider. Merchants get the text.
 * A soft decline may succeed at another provider: its cause is not the card or the payer.
 */
export const DECLINE_CAUSES = {
  insufficientFunds: { reason: 'Insufficient funds.', isSoft: false },
  limitExceeded: { reason: 'The limit of the card or account is exceeded.', isSoft: false },
  expiredCard: { reason: 'The card has expired.', isSoft: false },
  invalidCard: { reason: 'The card number is not valid.', isSoft: false },
  wrongSecurityCode: { reason: 'The security code of the card is wrong.', isSoft: false },
  lostOrStolen: { reason: 'The card was reported lost or stolen.', isSoft: false },
  revoked: { reason: 'The account is closed, or its holder has revoked the payment.', isSoft: false },
  suspectedFraud: { reason: 'Declined on suspicion of fraud.', isSoft: false },
  notPermitted: { reason: 'The card or account does not permit this payment.', isSoft: false },
  notAuthenticated: { reason: REASONS.notConfirmed, isSoft: false },
  cancelledByPayer: { reason: 'The payer cancelled the payment.', isSoft: false },
  outOfTime: { reason: REASONS.outOfTime, isSoft: false },
  duplicate: { reason: 'The bank has just seen the same payment.', isSoft: false },
  refusedByBank: { reason: REASONS.bankSaidNo, isSoft: true },
  bankUnavailable: { reason: 'The bank could not be reached.', isSoft: true },
  providerRefused: { reason: REASONS.providerSaidNo, isSoft: true },
  methodUnavailable: { reason: 'The provider does not offer this method for this payment.', isSoft: true },
} as const satisfies Record<string, { reason: string; isSoft: boolean }>;

export type DeclineCause = keyof typeof DECLINE_CAUSES;

/** Causes that payers read as another one: a thief should not learn that a card is blocked, nor a fraudster why. */
const HIDDEN_CAUSES = {
  lostOrStolen: 'refusedByBank',
  revoked: 'refusedByBank',
  duplicate: 'refusedByBank',
  suspectedFraud: 'refusedByBank',
  methodUnavailable: 'providerRefused',
} as const satisfies Partial<Record<DeclineCause, DeclineCause>>;

/** The causes that the payment page explains, with what to do next; the end of the time is a reason of the gateway. */
export type PayerCause = Exclude<DeclineCause, keyof typeof HIDDEN_CAUSES | 'outOfTime'>;

const PAYER_CAUSES: ReadonlyMap<string, PayerCause> = new Map([
  ...(Object.keys(DECLINE_CAUSES) as DeclineCause[]).flatMap((cause): [string, PayerCause][] => {
    const shown = cause in HIDDEN_CAUSES ? HIDDEN_CAUSES[cause as keyof typeof HIDDEN_CAUSES] : cause;
    return shown === 'outOfTime' ? [] : [[DECLINE_CAUSES[cause].reason, shown as PayerCause]];
  }),
  ...Object.values(RISK_REASONS).map((reason): [string, PayerCause] => [reason, 'providerRefused']),
]);

/** Declines that say nothing about the card or the payer: own outages, ends of time, and payments that were blocked. */
export const UNCOUNTED_DECLINES: readonly string[] = [
  REASONS.neverReceived,
  REASONS.outOfTime,
  DECLINE_CAUSES.methodUnavailable.reason,
  DECLINE_CAUSES.bankUnavailable.reason,
  DECLINE_CAUSES.cancelledByPayer.reason,
  SCHEDULE_STOPPED,
  ...Object.values(RISK_REASONS),
];

/** The cause that a payer reads for a decline reason; undefined for a text that only the provider knows. */
export const payerCauseOf = (reason: string): PayerCause | undefined => PAYER_CAUSES.get(reason);
