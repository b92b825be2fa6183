/** What a provider may say about a charge that waits for the release of a restore, by its name on the wire. */

export const AT_PROVIDER = {
  settled: 'settled',
  authorised: 'authorised',
  accepted: 'accepted',
  redirected: 'redirected',
  declined: 'declined',
  chargedBack: 'charged_back',
  wrongAmount: 'wrong_amount',
  notFound: 'not_found',
  notAnswered: 'not_answered',
  cannotBeAsked: 'cannot_be_asked',
} as const;

/** The provider has the payment, whatever a bank did afterwards. */
export const AFTER_CHARGEBACK = { secondChargedBack: 'chargedBack', chargebackReversed: 'settled' } as const;

export type AtProvider = keyof typeof AT_PROVIDER;
