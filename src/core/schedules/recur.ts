/** Recurring payments that the merchant requests: a repetition of the first payment, and a retry of a declined one. */
import { minorUnits } from '../../lib/money/money.ts';
import { canRepeat } from '../../rules/connectors.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { DOCS } from '../../rules/docs.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { amountSpelling, expectedAmount, SENTENCES } from '../../rules/fields.ts';
import { settingsReader } from '../../rules/settings.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Account, Gateway } from '../context.ts';
import { findPayment } from '../payments/find.ts';
import { type Order, openPayment } from '../payments/open.ts';
import { isSeriesEnded, repetition, retryOrder } from '../payments/repeat.ts';
import { isMerchantsAuthorisation } from '../risk/reviewed.ts';
import { existingSchedule } from './schedules.ts';

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
  /** The protocol of the request, whose format the callbacks have; without one, that of the first payment. */
  protocol?: Order['protocol'];
  content: string;
}

export async function recur(gateway: Gateway, account: Account, order: RecurringOrder): Promise<PaymentWithDetails> {
  const first = await findPayment(gateway, account, order.firstId);
  if (!first || first.recurringToken === null || first.recurringToken !== order.token) {
    throw new Refusal('unknownRecurringPair');
  }
  const schedule = order.scheduleId === '' ? undefined : await existingSchedule(gateway, account, order.scheduleId);
  if (!canRepeat(first.brand, first.connector)) throw new Refusal('actionNotSupported');
  const currency = order.currency || first.currency;
  const { orderId, amountText, description, isAuthorisation, content, termUrl3ds } = order;
  const spelling = amountSpelling(settingsReader(account.settings));
  if (typeof minorUnits(amountText, exponentOf(currency), spelling) !== 'bigint') {
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
    protocol: order.protocol ?? first.protocol,
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
  const { mid, scheduleId, details } = declined;
  if (isSeriesEnded(declined) || isSeriesEnded(await findPayment(gateway, account, details.recurringOf as string))) {
    throw new Refusal('actionNotSupported', [{ field: 'payment_id', sentence: 'The saved card was removed.' }]);
  }
  const hasSubscription = scheduleId !== null && (await gateway.schedules.hasSubscription(mid, scheduleId, paymentId));
  const schedule = hasSubscription ? await gateway.schedules.find(mid, scheduleId) : undefined;
  // Only Checkout has this request.
  const isAuthorisation = await isMerchantsAuthorisation(gateway, declined);
  return openPayment(gateway, account, { ...retryOrder(declined, schedule), isAuthorisation, protocol: 'checkout' });
}
