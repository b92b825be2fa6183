/** The details of a payment for the operator: under the field names of the requests, with sealed values masked. */
import type { PaymentDetails, PaymentWithDetails } from '../../core/context.ts';
import { amountFormatter } from '../../core/exports/payment-view.ts';
import { wireDate } from '../../lib/time/clock.ts';

const MASK = '***';

export function detailsView(payment: PaymentWithDetails) {
  const { session, lines, ...details } = payment.details;
  const {
    returnUrl,
    termUrl3ds,
    callbackUrl,
    customData,
    recurringOf,
    retryOf: _retryOf,
    consent,
    receiptEmail,
    sealed,
    erasedAt,
    channelId,
    isCardCheck,
    ...rest
  } = details;
  return {
    ...rest,
    order: lines && orderView(payment, lines),
    return_url: returnUrl,
    term_url_3ds: termUrl3ds,
    callback_url: callbackUrl,
    custom_data: customData,
    channel_id: channelId,
    is_card_check: isCardCheck,
    recurring_init_trans_id: recurringOf,
    consent: consent && { at: wireDate(consent.at), text: consent.text },
    receipt_email: receiptEmail,
    sealed: sealed && MASK,
    session: session && sessionView(session),
    erased_at: erasedAt === undefined ? undefined : wireDate(erasedAt),
  };
}

function orderView(payment: PaymentWithDetails, { items, ...extras }: NonNullable<PaymentDetails['lines']>) {
  const formatAmount = amountFormatter(payment);
  const wire = (units: string): string => formatAmount(BigInt(units));
  return {
    lines: items.map(({ name, quantity, unitAmount, amount }) => ({
      name,
      quantity,
      ...(unitAmount !== undefined && { unit_amount: wire(unitAmount) }),
      amount: wire(amount),
    })),
    ...Object.fromEntries(Object.entries(extras).map(([name, units]) => [name, wire(units)])),
  };
}

/** Leaves out `payer`, which the payment itself has. */
function sessionView({ id, until, payer: _payer, ...session }: NonNullable<PaymentDetails['session']>) {
  const {
    linkId: _linkId,
    invoiceId: _invoiceId,
    isTelephoneOrder: _isTelephoneOrder,
    successUrl,
    cancelUrl,
    expiryUrl,
    errorUrl,
    urlTarget,
    cardTokens,
    wantsToken,
    sealed,
    ...own
  } = session;
  const { scheduleStart, scheduleAmount, needsConsent, needsTokenConsent, ...rest } = own;
  return {
    first_payment_id: id,
    expires_at: wireDate(until),
    success_url: successUrl,
    cancel_url: cancelUrl,
    expiry_url: expiryUrl,
    error_url: errorUrl,
    url_target: urlTarget,
    ...rest,
    sealed: sealed && MASK,
    card_token: cardTokens,
    req_token: wantsToken,
    token_consent_required: needsTokenConsent,
    schedule_start_date: scheduleStart,
    payment_schedule_amount: scheduleAmount,
    recurring_consent_required: needsConsent,
  };
}
