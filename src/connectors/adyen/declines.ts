/** Why Adyen declined: its refusal reasons and validation errors as our decline causes. */
import type { DeclineCause } from '../../rules/reasons.ts';
import { declineOf, type Outcome, unknownDecline } from '../connector.ts';

/**
 * The refusal reasons of https://docs.adyen.com/development-resources/refusal-reasons by `refusalReasonCode`, with the
 * text that webhooks carry instead of the code.
 */
const REFUSALS: readonly (readonly [code: number, text: string, cause: DeclineCause])[] = [
  [2, 'Refused', 'refusedByBank'],
  [3, 'Referral', 'refusedByBank'],
  [4, 'Acquirer Error', 'providerRefused'],
  [5, 'Blocked Card', 'notPermitted'],
  [6, 'Expired Card', 'expiredCard'],
  [7, 'Invalid Amount', 'providerRefused'],
  [8, 'Invalid Card Number', 'invalidCard'],
  [9, 'Issuer Unavailable', 'bankUnavailable'],
  [10, 'Not supported', 'notPermitted'],
  [11, '3D Not Authenticated', 'notAuthenticated'],
  [12, 'Not enough balance', 'insufficientFunds'],
  [14, 'Acquirer Fraud', 'suspectedFraud'],
  [15, 'Cancelled', 'cancelledByPayer'],
  [16, 'Shopper Cancelled', 'cancelledByPayer'],
  [17, 'Invalid Pin', 'notAuthenticated'],
  [18, 'Pin tries exceeded', 'notAuthenticated'],
  [19, 'Pin validation not possible', 'notAuthenticated'],
  [20, 'FRAUD', 'suspectedFraud'],
  [21, 'Not Submitted', 'providerRefused'],
  [22, 'FRAUD-CANCELLED', 'suspectedFraud'],
  [23, 'Transaction Not Permitted', 'notPermitted'],
  [24, 'CVC Declined', 'wrongSecurityCode'],
  [25, 'Restricted Card', 'notPermitted'],
  [26, 'Revocation Of Auth', 'revoked'],
  [27, 'Declined Non Generic', 'refusedByBank'],
  [28, 'Withdrawal amount exceeded', 'limitExceeded'],
  [29, 'Withdrawal count exceeded', 'limitExceeded'],
  [31, 'Issuer Suspected Fraud', 'suspectedFraud'],
  [32, 'AVS Declined', 'refusedByBank'],
  [33, 'Card requires online pin', 'notPermitted'],
  [34, 'No checking account available on Card', 'notPermitted'],
  [35, 'No savings account available on Card', 'notPermitted'],
  [36, 'Mobile pin required', 'notPermitted'],
  [37, 'Contactless fallback', 'notPermitted'],
  [38, 'Authentication required', 'notAuthenticated'],
  [39, 'RReq not received from DS', 'notAuthenticated'],
  [42, '3DS Authentication Error', 'notAuthenticated'],
  [46, 'Transaction blocked by Adyen to prevent excessive retry fees', 'revoked'],
];

const CAUSES_BY_CODE = new Map(REFUSALS.map(([code, , cause]) => [String(code), cause]));
const CAUSES_BY_TEXT = new Map(REFUSALS.map(([, text, cause]) => [text.toLowerCase(), cause]));

/** The cause of a refusal; without a reason it is the refusal of the bank. */
const causeOfRefusal = (code: unknown, text: unknown): DeclineCause | undefined =>
  CAUSES_BY_CODE.get(String(code)) ??
  CAUSES_BY_TEXT.get(String(text).trim().toLowerCase()) ??
  (code || text ? undefined : 'refusedByBank');

/** The code before the text, such as in `51 : Insufficient funds`. */
const leadingCode = (value: unknown): string | undefined => /^\s*(\w{2})\s*(?::|$)/.exec(String(value ?? ''))?.[1];

/** What the issuer and the network say; Adyen adds it if the merchant account is set to. */
export const DECLINE_DATA = ['refusalReasonRaw', 'refusalCodeRaw', 'merchantAdviceCode'] as const;

/** A refusal with the codes of the issuer and the network. */
export function refusalOf(
  code: unknown,
  text: unknown,
  data: Readonly<Record<string, unknown>> = {},
): Extract<Outcome, { kind: 'declined' }> {
  const cause = causeOfRefusal(code, text);
  const codes = {
    iso: leadingCode(data.refusalCodeRaw) ?? leadingCode(data.refusalReasonRaw),
    own: code === undefined ? undefined : String(code),
    advice: leadingCode(data.merchantAdviceCode),
  };
  return cause ? declineOf(cause, codes) : unknownDecline(codes);
}

/** The error codes of requests that Adyen does not accept because of the card. */
const CARD_ERRORS: Readonly<Record<string, DeclineCause>> = {
  101: 'invalidCard',
  102: 'invalidCard',
  103: 'wrongSecurityCode',
  153: 'wrongSecurityCode',
  129: 'expiredCard',
  140: 'expiredCard',
  141: 'expiredCard',
};

/** The cause of a request that Adyen did not accept, by its `errorCode`. */
export const causeOfError = (errorCode: string): DeclineCause => CARD_ERRORS[errorCode] ?? 'providerRefused';
