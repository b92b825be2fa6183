/** Recurring payments that the merchant requests: a repetition of the first payment, and a retry of a declined one. */
import { minorUnits } from '../../lib/money.ts';
import { brandOf } from '../../rules/brands.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { DOCS } from '../../rules/docs.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { expectedAmount, SENTENCES } from '../../rules/fields.ts';
import type { PaymentWithDetails } from '../../store/payments.ts';
import type { Account, Gateway } from '../context.ts';
import { existingSchedule } from '../schedules.ts';
import { findPayment } from './find.ts';
import { openPayment } from './open.ts';
import { isSeriesEnded, repetition } from './repeat.ts';

export interface RecurringOrder {
  firstId: string;
  token: string;
  orderId: string;
  amountText: string;
  /** The name of the amount field in the request. */
  amountField: string;
  /** Empty for the currency of the first payment. */
  currency: string;
  description: string;
  isAuthorisation: boolean;
  /** Where the payer returns to after a challenge, if it differs from the first payment. */
  termUrl3ds?: string | undefined;
  /** A schedule that repeats the payment from now on; empty for none. */
  scheduleId: string;
  content: string;
}

export async function recur(gateway: Gateway, account: Account, order: RecurringOrder): Promise<PaymentWithDetails> {
  const first = await findPayment(gateway, account, order.firstId);
  if (!first || first.recurringToken === null || first.recurringToken !== order.token) {
    throw new Refusal('unknownRecurringPair');
  }
  const schedule = order.scheduleId === '' ? undefined : await existingSchedule(gateway, account, order.scheduleId);
  if (!brandOf(first.brand)?.recurs) throw new Refusal('actionNotSupported');
  const currency = order.currency || first.currency;
  const { orderId, amountText, description, isAuthorisation, content, termUrl3ds } = order;
  if (
    typeof minorUnits(amountText, CURRENCIES[currency]?.exponent ?? 2, account.settings.whole_amounts_allowed) !==
    'bigint'
  ) {
    const help = { expected: expectedAmount(currency), docs: DOCS.amounts };
    throw invalidField(order.amountField, SENTENCES.invalid, help);
  }
  const repeated = repetition(first, {
    orderId,
    amountText,
    currency,
    description,
    isAuthorisation,
    schedule,
    content,
    termUrl3ds,
  });
  return openPayment(gateway, account, repeated);
}

const DECLINED_REPETITION = 'The id of a payment of a recurring sale, with the status decline.';

/**
 * Repeats a declined recurring payment as a new attempt of its order. The schedule that made the declined payment
 * takes the new one as its own attempt, so that it does not charge the occurrence again.
 */
export async function retry(gateway: Gateway, account: Account, paymentId: string): Promise<PaymentWithDetails> {
  const declined = await findPayment(gateway, account, paymentId);
  if (!declined) throw new Refusal('unknownPayment');
  if (declined.details.recurringOf === undefined || declined.state !== 'DECLINED') {
    const sentence = 'This value should be a declined recurring payment.';
    throw new Refusal('actionNotSupported', [{ field: 'payment_id', sentence, expected: DECLINED_REPETITION }]);
  }
  const { mid, scheduleId, orderId, isAuthorisation, fingerprint, details } = declined;
  if (isSeriesEnded(declined) || isSeriesEnded(await findPayment(gateway, account, details.recurringOf as string))) {
    throw new Refusal('actionNotSupported', [{ field: 'payment_id', sentence: 'The saved card was removed.' }]);
  }
  const hasSubscription = scheduleId !== null && (await gateway.schedules.hasSubscription(mid, scheduleId, paymentId));
  const schedule = hasSubscription ? await gateway.schedules.find(mid, scheduleId) : undefined;
  const repeated = repetition(declined, {
    orderId,
    isAuthorisation,
    scheduleId: scheduleId ?? undefined,
    schedule,
    content: `retry ${paymentId}`,
    retryOf: details.retryOf ?? fingerprint,
  });
  return openPayment(gateway, account, { ...repeated, retries: paymentId });
}
