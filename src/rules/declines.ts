/** Decline classes: whether, when and how a declined payment may be tried again, from the codes of issuers and networks. */
import { DECLINE_CAUSES, type DeclineCause } from './reasons.ts';

/**
 * `funds`: later, when there is money. `technical`: soon. `authenticate`: with the payer. `new_card`: with another card.
 * `never`: the card must not be charged again. `other`: the issuer does not say.
 */
export const DECLINE_CLASSES = ['funds', 'technical', 'authenticate', 'new_card', 'never', 'other'] as const;

export type DeclineClass = (typeof DECLINE_CLASSES)[number];

/** The class of declines that say nothing about the card or the payer: the provider or the bank failed. */
export const UNCOUNTED_CLASS: DeclineClass = 'technical';

/** What is stored of a decline; `code` is that of ISO 8583 if the provider tells it, or else the provider's own. */
export interface Decline {
  class: DeclineClass;
  code?: string;
  /** The advice of the network. */
  advice?: string;
}

const CAUSE_CLASSES: Readonly<Record<DeclineCause, DeclineClass>> = {
  insufficientFunds: 'funds',
  limitExceeded: 'funds',
  expiredCard: 'new_card',
  invalidCard: 'new_card',
  wrongSecurityCode: 'new_card',
  lostOrStolen: 'never',
  revoked: 'never',
  suspectedFraud: 'other',
  notPermitted: 'other',
  notAuthenticated: 'authenticate',
  cancelledByPayer: 'other',
  outOfTime: 'other',
  duplicate: 'other',
  refusedByBank: 'other',
  bankUnavailable: 'technical',
  providerRefused: 'other',
  methodUnavailable: 'other',
};

/**
 * The response codes of ISO 8583 as Visa and Mastercard use them. `04`, `07`, `41` and `43` ask to keep the card; `46` is a
 * closed account; with `R0`, `R1` and `R3` the cardholder has revoked the payment.
 */
export const ISO_CODES: Readonly<Record<string, DeclineCause>> = {
  '01': 'refusedByBank',
  '02': 'refusedByBank',
  '03': 'providerRefused',
  '04': 'lostOrStolen',
  '05': 'refusedByBank',
  '06': 'bankUnavailable',
  '07': 'lostOrStolen',
  '12': 'notPermitted',
  '13': 'notPermitted',
  '14': 'invalidCard',
  '15': 'invalidCard',
  '19': 'bankUnavailable',
  '30': 'providerRefused',
  '41': 'lostOrStolen',
  '43': 'lostOrStolen',
  '46': 'revoked',
  '51': 'insufficientFunds',
  '54': 'expiredCard',
  '57': 'notPermitted',
  '58': 'providerRefused',
  '59': 'suspectedFraud',
  '61': 'limitExceeded',
  '62': 'notPermitted',
  '63': 'suspectedFraud',
  '65': 'limitExceeded',
  '70': 'notAuthenticated',
  '75': 'notAuthenticated',
  '78': 'notPermitted',
  '82': 'wrongSecurityCode',
  '91': 'bankUnavailable',
  '92': 'bankUnavailable',
  '93': 'notPermitted',
  '94': 'duplicate',
  '96': 'bankUnavailable',
  '1A': 'notAuthenticated',
  N7: 'wrongSecurityCode',
  R0: 'revoked',
  R1: 'revoked',
  R3: 'revoked',
};

/** An advice that says more than the code. The numbers are Mastercard's merchant advice codes. */
const ADVICE_CLASSES: Readonly<Record<string, DeclineClass>> = {
  '01': 'new_card',
  '03': 'never',
  '21': 'never',
  authenticate: 'authenticate',
};

/** A code or an advice that can be stored: providers send short ones. */
const CODE = /^\w{1,64}$/;
const codeOf = (code: string | null | undefined): string | undefined => (code && CODE.test(code) ? code : undefined);

/** The codes of one decline; all of them are optional. */
export interface DeclineCodes {
  /** ISO 8583. */
  iso?: string | null | undefined;
  /** The provider's own. */
  own?: string | null | undefined;
  advice?: string | null | undefined;
}

/** The cause of a decline by this code of ISO 8583; undefined for an unknown one. */
export const causeOf = (iso: string | null | undefined): DeclineCause | undefined =>
  iso && Object.hasOwn(ISO_CODES, iso) ? ISO_CODES[iso] : undefined;

/**
 * The class of a decline: by the advice, then by the code of the issuer, then by the cause. If one of them says that the
 * card must not be charged again, the others do not count.
 */
export function classify(cause: DeclineCause, { iso, own, advice }: DeclineCodes): Decline {
  const [code, said] = [codeOf(iso) ?? codeOf(own), codeOf(advice)];
  const advised = said !== undefined && Object.hasOwn(ADVICE_CLASSES, said) ? ADVICE_CLASSES[said] : undefined;
  const ofIssuer = CAUSE_CLASSES[causeOf(codeOf(iso)) ?? cause];
  const isNever = [advised, ofIssuer, CAUSE_CLASSES[cause]].includes('never');
  return {
    class: isNever ? 'never' : (advised ?? ofIssuer),
    ...(code !== undefined && { code }),
    ...(said !== undefined && { advice: said }),
  };
}

/** Whether another provider may accept a payment that was declined by this code; undefined for an unknown one. */
export const isSoftCode = (iso: string): boolean | undefined => {
  const cause = causeOf(iso);
  return cause && DECLINE_CAUSES[cause].isSoft;
};

/** The class of a declined payment; one that no provider declined, such as when its payer left, has no other. */
export const declineClassOf = (decline: Decline | undefined): DeclineClass => decline?.class ?? 'other';

/** The reason of a subscription that ended because its card must not be charged again. */
export const CARD_REFUSED = 'card_refused';

export const declineClassNamed = (name: string | null): DeclineClass =>
  DECLINE_CLASSES.find((one) => one === name) ?? 'other';
