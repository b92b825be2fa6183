/** Credits, which are refunds to a card by its token: finds the payment, reserves the order once, starts the refund. */
import { newId } from '../../lib/crypto/id.ts';
import type { Secret } from '../../lib/crypto/secret.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { SoldCard } from '../../store/cards/cards.ts';
import type { CreditRow } from '../../store/payments/credits.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import { cardFingerprint, cardOfToken } from '../cards/vault.ts';
import type { Account, Gateway } from '../context.ts';
import { readAmount, refundPlan } from './change.ts';
import { duplicate, requestFingerprint } from './open.ts';
import { type OperationResult, operate } from './operate.ts';
import { duplicateOperation, type IdempotencyKey, idempotencyKeyOf, resultOfRepeat } from './operation-ids.ts';

export interface CreditOrder {
  orderId: string;
  amountText: string;
  currency: string;
  /** The token of the card, or its number: then the newest settled sale of that card is refunded. */
  card: { token: string } | { number: Secret };
  /** Empty if the merchant sent none. */
  operationId?: string;
  /** The whole request, to distinguish a repeat from another request for the same order. */
  content: string;
}

/** Refunds to a card; a repeat of the same request gets the operation of the first one. */
export async function credit(gateway: Gateway, account: Account, order: CreditOrder): Promise<OperationResult> {
  const { mid } = account;
  const { card, isExpired } = await ownCard(gateway, account, order.card);
  // Each token has a card row of its own, so the id of the row stands for the token.
  const fields = [order.orderId, order.amountText, order.currency, card.cardId];
  const key = idempotencyKeyOf(order.operationId ?? '', 'credit', ...fields);
  const existing = key && (await gateway.operations.find({ mid, operationId: key.operationId }));
  // A repeat gets its operation even if the card has expired since.
  if (existing && existing.content === key.content) return resultOfRepeat(gateway, existing, key);
  if (isExpired) throw new Refusal('expiredCardToken');
  const { payment, isOwnOrder } = await creditedPayment(gateway, card, order.orderId);
  if (payment.currency !== order.currency) {
    const sentence = 'This value should be the currency of the payment.';
    throw invalidField('order_currency', sentence, { expected: `The currency of the payment, ${payment.currency}.` });
  }
  if (existing) throw duplicateOperation();
  const plan = refundPlan(gateway, account, order.amountText, 'credit');
  const fingerprint = requestFingerprint(gateway, key ? `${key.operationId} ${key.content}` : order.content);
  const requested: CreditRow = {
    mid,
    orderId: order.orderId,
    part: isOwnOrder ? '' : fingerprint,
    fingerprint,
    operationId: key?.operationId ?? newId(),
    createdAt: gateway.clock.now(mid),
  };
  // If this process dies between the reservation and the operation, no money has moved: a repeat uses the reservation.
  const operationId = await reserveOperation(gateway, account, requested, key !== undefined, () => plan(payment));
  const reservation = { ...requested, operationId };
  if (isOwnOrder) await refuseOrderOfPayment(gateway, reservation);
  const reservedKey: IdempotencyKey = {
    operationId,
    content: key?.content ?? null,
    orderId: isOwnOrder ? order.orderId : undefined,
  };
  const result = await operate(gateway, payment, 'merchant', plan, reservedKey).catch(async (error) => {
    // A concurrent request used the id, so this reservation will never have an operation.
    if (error instanceof Refusal && error.error === 'duplicateOperation') await gateway.credits.withdraw(reservation);
    throw error;
  });
  const { paymentId, amount } = result.operation;
  // A credit that reserved the order earlier has started its operation in the meantime.
  if (paymentId !== payment.paymentId || amount !== readAmount(order.amountText, payment, account, 0n))
    throw duplicate();
  return result;
}

async function ownCard(gateway: Gateway, { mid }: Account, card: CreditOrder['card']) {
  if ('number' in card) {
    const sold = await gateway.cards.findSettled(mid, await cardFingerprint(gateway, mid, card.number.reveal()));
    if (!sold) throw new Refusal('unknownCardToken');
    return { card: sold, isExpired: false };
  }
  const found = await cardOfToken(gateway, card.token);
  if (!found) throw new Refusal('unknownCardToken');
  if (found.card.mid !== mid) throw new Refusal('foreignCardToken');
  return found;
}

/**
 * Refuses a credit if a payment has its order id. A sale that starts after the reservation is committed sees the
 * reservation; one that started before has ended after the wait, and is found. If the wait times out, the reservation
 * stays, since a concurrent repeat may rely on it; no money has moved, and a repeat uses it.
 */
async function refuseOrderOfPayment({ credits, payments }: Gateway, reservation: CreditRow): Promise<void> {
  if (!(await credits.awaitPaymentWrites(LIMITS.creditReservationMs))) throw new Refusal('unavailable');
  const [payment] = await payments.attempts(reservation, 1);
  if (!payment) return;
  await credits.withdraw(reservation);
  throw duplicate();
}

/** The payment to refund: that of the order, if it used this card; otherwise the one that the token came from. */
async function creditedPayment(
  gateway: Gateway,
  { mid, paymentId, fingerprint }: SoldCard,
  orderId: string,
): Promise<{ payment: PaymentWithDetails; isOwnOrder: boolean }> {
  const [newest] = await gateway.payments.attempts({ mid, orderId }, 1);
  if (newest) {
    const used = newest.details.card && (await gateway.cards.findFingerprint(mid, newest.details.card.id));
    if (used !== fingerprint) throw duplicate();
    return { payment: newest, isOwnOrder: false };
  }
  const payment = await gateway.payments.find({ mid, paymentId });
  if (!payment) throw new Refusal('unknownCardToken');
  return { payment, isOwnOrder: true };
}

/** Reserves the order of a credit; returns the id of its operation: a new one, or that of an earlier, equal request. */
async function reserveOperation(
  gateway: Gateway,
  account: Account,
  requested: CreditRow,
  hasMerchantsId: boolean,
  check: () => void,
): Promise<string> {
  for (;;) {
    let reserved = await gateway.credits.find(requested);
    if (!reserved) {
      // A credit that is refused reserves nothing.
      check();
      reserved = await gateway.credits.reserve(requested);
    }
    const next = await nextReservation(gateway, account, reserved, requested, hasMerchantsId);
    if (next === reserved) return reserved.operationId;
    check();
    if (await gateway.credits.replace(reserved, next)) return next.operationId;
  }
}

/** The reservation that replaces the existing one; the existing one itself if the same request made it. */
async function nextReservation(
  gateway: Gateway,
  account: Account,
  reserved: CreditRow,
  requested: CreditRow,
  hasMerchantsId: boolean,
): Promise<CreditRow> {
  const isSame = reserved.fingerprint === requested.fingerprint;
  if (requested.createdAt - reserved.createdAt < LIMITS.duplicateWindowMs) {
    if (!isSame) throw duplicate();
    return reserved;
  }
  const existing = await gateway.operations.find(reserved);
  if (!existing) {
    if (isSame) return reserved;
    // The reservation was not used. Another request takes it over with the same id, so that only one of them can start.
    if (hasMerchantsId && requested.operationId !== reserved.operationId) throw duplicate();
    return { ...requested, operationId: reserved.operationId };
  }
  const isAnotherPart = isSame && requested.part !== '';
  const isRetry = existing.state === 'declined' && account.settings.order_id_reuse !== 'never';
  if (!isAnotherPart && !isRetry) throw duplicate();
  return requested;
}
