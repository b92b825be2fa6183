/** What Stripe's decline codes and error codes mean (https://docs.stripe.com/declines/codes). */
import type { DeclineCause } from '../../rules/reasons.ts';
import { declineOf, type Outcome } from '../connector.ts';

const CODES: Readonly<Partial<Record<DeclineCause, readonly string[]>>> = {
  insufficientFunds: ['insufficient_funds'],
  limitExceeded: ['card_velocity_exceeded', 'withdrawal_count_limit_exceeded', 'amount_too_large'],
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
  suspectedFraud: ['fraudulent', 'merchant_blacklist', 'security_violation'],
  notPermitted: [
    'card_not_supported',
    'currency_not_supported',
    'invalid_amount',
    'do_not_try_again',
    'not_permitted',
    'revocation_of_all_authorizations',
    'revocation_of_authorization',
    'service_not_allowed',
    'stop_payment_order',
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
  cancelledByPayer: ['payment_method_customer_decline'],
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
    'amount_too_small',
    'payment_method_not_available',
    'payment_method_unactivated',
    'payment_method_type_not_supported',
  ],
};

const CAUSES: ReadonlyMap<string, DeclineCause> = new Map(
  Object.entries(CODES).flatMap(([cause, codes]) => codes.map((code) => [code, cause as DeclineCause])),
);

/** A decline by the most precise of these codes that is known; Stripe's list grows. */
export function declinedBy(...codes: readonly (string | null | undefined)[]): Extract<Outcome, { kind: 'declined' }> {
  const cause = codes.map((code) => CAUSES.get(code ?? '')).find((found) => found !== undefined);
  return declineOf(cause ?? (codes.includes('card_declined') ? 'refusedByBank' : 'providerRefused'));
}
