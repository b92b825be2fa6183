/** The amounts that a provider reports, compared with those of the payment. */
import type { ReportedAmount } from '../../connectors/connector.ts';
import { isZeroAmount } from '../../lib/money/money.ts';
import type { CallRecord, Payment } from '../../store/payments/payments.ts';

/** The record of an answer that is not applied because of its amount: it keeps what was reported, for the operator. */
export function wrongAmountRecord(
  { currency }: Pick<Payment, 'currency'>,
  call: CallRecord,
  reportedAmount: ReportedAmount | undefined,
): CallRecord {
  const wrong: CallRecord = { ...call, outcome: `${call.outcome}, wrong amount` };
  if (typeof reportedAmount !== 'object') return wrong;
  const { amount, currency: reported = currency } = reportedAmount;
  return { ...wrong, reported: { amount: String(amount), currency: reported } };
}

/** The record of a report that only a part was captured: it keeps the part, which the payment perhaps does not. */
export const partRecord = (
  { amount, currency }: Pick<Payment, 'amount' | 'currency'>,
  call: CallRecord,
  captured: bigint | undefined,
): CallRecord =>
  captured === undefined || captured === amount ? call : { ...call, reported: { amount: String(captured), currency } };

/** Whether a reported amount is the expected one; an answer without an amount passes. */
export function isExpectedAmount(
  { amount, amountText, currency }: Pick<Payment, 'amount' | 'currency'> & { amountText?: string },
  reported: ReportedAmount | undefined,
): boolean {
  if (reported === undefined || reported === 'invalid') return reported === undefined;
  // The check of a card is an order of zero, which some providers authorise as such.
  const isAmount =
    reported.amount === amount || (reported.amount === 0n && amountText !== undefined && isZeroAmount(amountText));
  return isAmount && (reported.currency ?? currency) === currency;
}

/** Of an authorisation a part may be captured; a sale is captured as a whole. */
export function isPossibleCapture(payment: Payment, captured: ReportedAmount | undefined): boolean {
  if (!payment.isAuthorisation || typeof captured !== 'object') return isExpectedAmount(payment, captured);
  const { amount, currency = payment.currency } = captured;
  return amount > 0n && amount <= payment.amount && currency === payment.currency;
}
