/** What Stripe's decline codes and error codes mean (https://docs.stripe.com/declines/codes). */
import type { DeclineCause } from '../../rules/reasons.ts';
import { declineOf, type Outcome, unknownDecline } from '../connector.ts';

const CODES: Readonly<Partial<Record<DeclineCause, readonly string[]>>> = {
  insufficientFunds: ['insufficient_funds'],
  limitExceeded: ['card_velocity_exceeded', 'withdrawal_count_limit_exceeded'],
  expiredCard: ['expired_card'],
  invalidCard: [
    'incorrect_number',
    'invalid_number',
    'invalid_account',
    'invalid_expiry_month',
    'invalid_expiry_year',
    'new_account_information_available',
  ],
  wrongSecurityCode: ['incorrect_cvc', 'invalid_cvc'],
  lostOrStolen: ['lost_card', 'stolen_card', 'pickup_card', 'restricted_card'],
  revoked: [
    'do_not_try_again',
    'revocation_of_all_authorizations',
    'revocation_of_authorization',
    'stop_payment_order',
  ],
  duplicate: ['duplicate_transaction'],
  suspectedFraud: ['fraudulent', 'merchant_blacklist', 'security_violation'],
  notPermitted: [
    'card_not_supported',
    'currency_not_supported',
    'invalid_amount',
    'not_permitted',
    'service_not_allowed',
    'transaction_not_allowed',
    'incorrect_pin',
    'invalid_pin',
    'offline_pin_required',
    'online_or_offline_pin_required',
    'pin_try_exceeded',
    'incorrect_address',
    'incorrect_zip',
  ],
  notAuthenticated: [
    'authentication_required',
    'authentication_not_handled',
    'payment_intent_authentication_failure',
    'mobile_device_authentication_required',
  ],
  cancelledByPayer: ['payment_method_customer_decline', 'requested_by_customer'],
  outOfTime: ['payment_intent_payment_attempt_expired', 'checkout_session_expired', 'expired', 'abandoned'],
  refusedByBank: ['call_issuer', 'do_not_honor', 'generic_decline', 'no_action_taken'],
  bankUnavailable: [
    'approve_with_id',
    'issuer_not_available',
    'processing_error',
    'reenter_transaction',
    'try_again_later',
    'payment_method_provider_timeout',
  ],
  methodUnavailable: [
    'amount_too_large',
    'amount_too_small',
    'payment_method_not_available',
    'payment_method_unactivated',
    'payment_method_type_not_supported',
  ],
};

const CAUSES: ReadonlyMap<string, DeclineCause> = new Map(
  Object.entries(CODES).flatMap(([cause, codes]) => codes.map((code) => [code, cause as DeclineCause])),
);

/** The codes of an error of Stripe, or of the last error of a payment. */
export interface StripeDecline {
  code?: string | null | undefined;
  decline_code?: string | null | undefined;
  advice_code?: string | null | undefined;
  network_advice_code?: string | null | undefined;
  network_decline_code?: string | null | undefined;
}

/** Stripe's own advice, as the networks number it. */
const ADVICE: Readonly<Record<string, string>> = { do_not_try_again: '03', confirm_card_data: '01' };

/** The advice of the network; Stripe's own not to try again counts more. */
const adviceOf = ({ advice_code: own, network_advice_code: network }: StripeDecline): string | null | undefined =>
  own === 'do_not_try_again' ? ADVICE[own] : (network ?? ADVICE[own ?? '']);

/** The error code of every decline of an issuer; the decline code says more. */
const DECLINED = 'card_declined';

/** A decline by the most precise code that is known; Stripe's list grows. */
export function declinedBy(error: StripeDecline): Extract<Outcome, { kind: 'declined' }> {
  const own = error.decline_code ?? error.code;
  const codes = {
    iso: error.network_decline_code,
    own,
    advice: adviceOf(error),
  };
  const cause = CAUSES.get(error.decline_code ?? '') ?? CAUSES.get(error.code ?? '');
  if (cause) return declineOf(cause, codes);
  if (own === DECLINED) return declineOf('refusedByBank', codes);
  return error.code === DECLINED ? unknownDecline(codes) : declineOf('providerRefused', codes);
}
