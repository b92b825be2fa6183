/** What was sent with a payment, for the operator: under the names of the requests, without what nobody may read. */
import type { PaymentDetails } from '../../core/context.ts';
import { wireDate } from '../../lib/clock.ts';

const STARS = '***';

export function detailsView({ session, ...details }: PaymentDetails) {
  const { returnUrl, termUrl3ds, callbackUrl, customData, recurringOf, sealed, ...rest } = details;
  return {
    ...rest,
    return_url: returnUrl,
    term_url_3ds: termUrl3ds,
    callback_url: callbackUrl,
    custom_data: customData,
    recurring_init_trans_id: recurringOf,
    sealed: sealed && STARS,
    session: session && sessionView(session),
  };
}

/** What the merchant said of the payer stands with the payment itself. */
function sessionView({ id, until, payer: _payer, ...session }: NonNullable<PaymentDetails['session']>) {
  const { successUrl, cancelUrl, expiryUrl, errorUrl, urlTarget, cardTokens, wantsToken, sealed, ...rest } = session;
  return {
    first_payment_id: id,
    expires_at: wireDate(until),
    success_url: successUrl,
    cancel_url: cancelUrl,
    expiry_url: expiryUrl,
    error_url: errorUrl,
    url_target: urlTarget,
    ...rest,
    sealed: sealed && STARS,
    card_token: cardTokens,
    req_token: wantsToken,
  };
}
