/** Captures, voids and refunds: checks whether the payment allows them; the order of the checks is their precedence. */
import { minorUnits, amountText as textOf } from '../../lib/money/money.ts';
import { brandOf } from '../../rules/brands.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { DOCS } from '../../rules/docs.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { amountSpelling, expectedAmount, hasExtraZeros, SENTENCES } from '../../rules/fields.ts';
import { settingsReader } from '../../rules/settings.ts';
import type { Payment, PaymentWithDetails } from '../../store/payments/payments.ts';
import { capabilitiesOf } from '../connections/connectors.ts';
import type { Account, Gateway } from '../context.ts';
import { requireReviewed } from '../risk/reviewed.ts';
import { type Initiator, type OperationPlan, type OperationResult, operate } from './operate.ts';
import { type IdempotencyKey, idempotencyKeyOf } from './operation-ids.ts';

/** Reads the amount of a request in minor units; an empty one means everything. */
export function readAmount(text: string, payment: Payment, { settings }: Account, everything: bigint): bigint {
  if (text === '') return everything;
  const spelling = amountSpelling(settingsReader(settings));
  const units = minorUnits(text, exponentOf(payment.currency), spelling);
  if (typeof units === 'bigint' && !hasExtraZeros(text)) return units;
  const sentence = units === 'zero' ? SENTENCES.notPositive : SENTENCES.invalid;
  throw invalidField('amount', sentence, { expected: expectedAmount(payment.currency), docs: DOCS.amounts });
}

/** Captures an authorised amount, or a part of it, once; a payment that waits for a review is refused. */
export async function capture(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  amountText: string,
  initiator: Initiator,
  operationId = '',
): Promise<OperationResult> {
  // A malformed amount is refused before the operation_id is looked up.
  readAmount(amountText, payment, account, 0n);
  await requireReviewed(gateway, payment);
  return captureReviewed(gateway, account, payment, initiator, amountText, operationId);
}

/** Captures without regard to a review, which this may carry out. */
export function captureReviewed(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  initiator: Initiator,
  amountText = '',
  operationId = '',
): Promise<OperationResult> {
  const plan = (current: Payment): OperationPlan => {
    const amount = readAmount(amountText, current, account, current.authorised);
    if (current.state !== 'PENDING' || current.busy !== null) throw new Refusal('captureNotPending');
    if (current.authorised === 0n || payment.details.isCardCheck) throw new Refusal('actionNotSupported');
    if (amount > current.authorised) throw new Refusal('captureTooMuch');
    return { verb: 'capture', amount };
  };
  return operate(
    gateway,
    payment,
    initiator,
    plan,
    idempotencyKeyOf(operationId, 'capture', payment.paymentId, amountText),
  );
}

/** Whether the payment is pending and no other operation blocks it. */
const isFree = ({ state, busy, inDoubt }: Payment): boolean => state === 'PENDING' && busy === null && !inDoubt;

/** Cancels a payment before money moved. */
export function voidPayment(
  gateway: Gateway,
  payment: PaymentWithDetails,
  initiator: Initiator,
  operationId = '',
): Promise<OperationResult> {
  const plan = (current: Payment): OperationPlan => {
    if (!isFree(current)) throw new Refusal('actionNotSupported');
    return { verb: 'void', amount: current.amount };
  };
  return operate(gateway, payment, initiator, plan, idempotencyKeyOf(operationId, 'void', payment.paymentId));
}

/** Refunds a settled payment, fully or partly; a payment that is only authorised is reversed in full. */
export async function refund(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  amountText: string,
  initiator: Initiator,
  /** Checkout has a separate void for payments that are only authorised. */
  kind: 'refundOrReversal' | 'refundOnly' = 'refundOrReversal',
  operationId = '',
): Promise<OperationResult> {
  // A malformed amount is refused before the operation_id is looked up.
  readAmount(amountText, payment, account, 0n);
  const planRefund = refundPlan(gateway, account, amountText, 'refund');
  const plan = (current: Payment): OperationPlan => {
    const isAuthorised = current.authorised > 0n && isFree(current);
    if (isAuthorised && kind === 'refundOrReversal') return reversal(current, account, amountText);
    return planRefund(current);
  };
  return operate(
    gateway,
    payment,
    initiator,
    plan,
    idempotencyKeyOf(operationId, 'refund', payment.paymentId, amountText),
  );
}

/** Checks a refund or a credit, which is a refund that names the card by its token. */
export const refundPlan =
  (gateway: Gateway, account: Account, amountText: string, verb: 'refund' | 'credit') =>
  (current: Payment): OperationPlan => {
    const refundable = current.captured - current.refunded - current.reserved;
    const amount = readAmount(amountText, current, account, refundable > 0n ? refundable : current.captured);
    if (!account.settings.refunds_allowed) throw new Refusal('refundNotAllowed');
    const refunds = capabilitiesOf(gateway, current.connector)?.refunds;
    if (refunds === 'portal') throw new Refusal('refundOnlyInPortal');
    if (refunds !== 'api' || brandOf(current.brand)?.isPayout) throw new Refusal('actionNotSupported');
    if (current.state !== 'SETTLED') throw new Refusal('refundNotSettled');
    if (amount > refundable) throw new Refusal('refundTooMuch');
    return { verb, amount };
  };

const definite = (amount: bigint, { currency }: Payment): string => textOf(amount, exponentOf(currency));

/** What a refund of this amount would do now, or the refusal; an empty text means everything. */
export const plannedRefund = (
  gateway: Gateway,
  account: Account,
  payment: Payment,
  amount: bigint | string,
): OperationPlan =>
  refundPlan(gateway, account, typeof amount === 'string' ? amount : definite(amount, payment), 'refund')(payment);

/** Sends a refund of exactly this amount under the id that was given to it before. */
export const sendRefund = (
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  amount: bigint,
  initiator: Initiator,
  key: IdempotencyKey,
): Promise<OperationResult> =>
  operate(gateway, payment, initiator, (current) => plannedRefund(gateway, account, current, amount), key);

function reversal(current: Payment, account: Account, amountText: string): OperationPlan {
  const amount = readAmount(amountText, current, account, current.authorised);
  if (amount > current.authorised) throw new Refusal('refundTooMuch');
  // An authorisation cannot be reversed partly.
  if (amount < current.authorised) throw new Refusal('actionNotSupported');
  return { verb: 'reversal', amount };
}
