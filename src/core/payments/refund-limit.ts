/** What an operator or token may refund: up to the limit of the user, and with a second person from an amount on. */
import { amountText } from '../../lib/money/money.ts';
import { limitUnits } from '../../lib/money/refund-limit.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { Refusal } from '../../rules/errors.ts';
import type { OperationRow, OperationVerb, Payment } from '../../store/payments/payments.ts';
import type { Gateway } from '../context.ts';

/** The operator or token that requests an operation; the token that is set by configuration has no id and no limit. */
export interface Requester {
  id: string | null;
  /** A decimal number in the currency of the payment; null for no limit. */
  refundLimit: string | null;
  /** The setting `refund_approval_from` of the account; absent where a second person has decided, or is not needed. */
  approvalFrom?: string;
}

/** The operations that give money back. */
const GIVES_BACK: readonly OperationVerb[] = ['refund', 'reversal', 'late_refund', 'late_void'];

/**
 * Refuses an operation with which the user would give back more than its limit. Operations are read after the payment: one
 * that is written in between changes the payment, which is then read again with its operations.
 */
export async function requireWithinLimit(
  gateway: Gateway,
  payment: Payment,
  { id, refundLimit }: Requester,
  { verb, amount }: Pick<OperationRow, 'verb' | 'amount'>,
): Promise<void> {
  if (refundLimit === null || !GIVES_BACK.includes(verb)) return;
  const given = (await gateway.operations.of(payment))
    .filter(({ requestedBy, verb, state }) => requestedBy === id && GIVES_BACK.includes(verb) && state !== 'declined')
    .reduce((sum, operation) => sum + operation.amount, 0n);
  const exponent = exponentOf(payment.currency);
  const left = limitUnits(refundLimit, exponent) - given;
  if (amount <= left) return;
  const sentence = `Your limit for refunds of one payment is ${refundLimit} ${payment.currency}; you can refund ${amountText(left > 0n ? left : 0n, exponent)} of this one.`;
  throw new Refusal('forbidden', [{ field: 'amount', sentence }]);
}

/**
 * Refuses a refund that needs a second person: all refunds of the payment count together, so that it cannot be split. A
 * reversal moves no money, and what a failed payment left at the provider was never the merchant's.
 */
export function requireNoApproval(
  { currency, refunded, reserved }: Payment,
  { approvalFrom = '' }: Requester,
  { verb, amount }: Pick<OperationRow, 'verb' | 'amount'>,
): void {
  if (verb !== 'refund' || approvalFrom === '') return;
  if (refunded + reserved + amount < limitUnits(approvalFrom, exponentOf(currency))) return;
  const sentence = `Refunds of one payment from ${approvalFrom} ${currency} on need a second person.`;
  throw new Refusal('refundNeedsApproval', [{ field: 'amount', sentence }]);
}
