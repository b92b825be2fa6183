/** Recurring payments that the merchant requests: checks the token of the first payment and opens a repetition. */
import { minorUnits } from '../../lib/money.ts';
import { brandOf } from '../../rules/brands.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import type { PaymentWithDetails } from '../../store/payments.ts';
import type { Account, Gateway } from '../context.ts';
import { existingSchedule } from '../schedules.ts';
import { findPayment } from './find.ts';
import { openPayment } from './open.ts';
import { repetition } from './repeat.ts';

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
  if (typeof minorUnits(amountText, CURRENCIES[currency]?.exponent ?? 2) !== 'bigint') {
    throw invalidField(order.amountField, SENTENCES.invalid);
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
