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
  const card = await requestedCard(gateway, account, order.card);
  const fields = [order.orderId, order.amountText, order.currency, card.id];
  const key = idempotencyKeyOf(order.operationId ?? '', 'credit', ...fields);
  const fingerprint = requestFingerprint(gateway, key ? `${key.operationId} ${key.content}` : order.content);
  const existing = key
    ? await gateway.operations.find({ mid, operationId: key.operationId })
    : card.isByNumber && (await recentOperation(gateway, { mid, orderId: order.orderId, fingerprint }));
  // A repeat gets its operation even if the card has expired since, or a number has a newer sale.
  if (existing && (!key || existing.content === key.content))
    return resultOfRepeat(gateway, existing, key ?? { operationId: existing.operationId, content: null });
  if (card.isExpired) throw new Refusal('expiredCardToken');
  const { payment, isOwnOrder } = await creditedPayment(gateway, await card.sold(), order.orderId);
  if (payment.currency !== order.currency) {
    const sentence = 'This value should be the currency of the payment.';
    throw invalidField('order_currency', sentence, { expected: `The currency of the payment, ${payment.currency}.` });
  }
  if (existing) throw duplicateOperation();
  const plan = refundPlan(gateway, account, order.amountText, 'credit');
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
  const isSameSale =
    paymentId === payment.paymentId || (card.isByNumber && (await isSaleOf(gateway, result.payment, card.id)));
  // A credit that reserved the order earlier has started its operation in the meantime.
  if (!isSameSale || amount !== readAmount(order.amountText, payment, account, 0n)) throw duplicate();
  return result;
}

/** Whether a payment used the card with this fingerprint. */
const isSaleOf = async (
  { cards }: Gateway,
  { mid, details: { card } }: PaymentWithDetails,
  fingerprint: string,
): Promise<boolean> => card !== undefined && (await cards.findFingerprint(mid, card.id)) === fingerprint;

interface RequestedCard {
  /** The same for every repeat of a request. */
  id: string;
  isByNumber: boolean;
  isExpired: boolean;
  sold: () => Promise<SoldCard>;
}

/**
 * Each token has a card row of its own, so the id of the row stands for the token. The row of a number is that of its newest
 * settled sale, which may be another one for a repeat.
 */
async function requestedCard(gateway: Gateway, { mid }: Account, card: CreditOrder['card']): Promise<RequestedCard> {
  if ('number' in card) {
    const id = await cardFingerprint(gateway, mid, card.number.reveal());
    const sold = async (): Promise<SoldCard> => {
      const found = await gateway.cards.findSettled(mid, id);
      if (!found) throw new Refusal('unknownCardToken');
      return found;
    };
    return { id, isByNumber: true, isExpired: false, sold };
  }
  const found = await cardOfToken(gateway, card.token);
  if (!found) throw new Refusal('unknownCardToken');
  if (found.card.mid !== mid) throw new Refusal('foreignCardToken');
  return { id: found.card.cardId, isByNumber: false, isExpired: found.isExpired, sold: async () => found.card };
}

/** The operation of an equal request a moment ago, for an order of its own or for one that a payment has. */
async function recentOperation(
  { credits, operations, clock }: Gateway,
  { mid, orderId, fingerprint }: Pick<CreditRow, 'mid' | 'orderId' | 'fingerprint'>,
) {
  for (const part of ['', fingerprint]) {
    const reserved = await credits.find({ mid, orderId, part });
    const isRecent = reserved && clock.now(mid) - reserved.createdAt < LIMITS.duplicateWindowMs;
    if (isRecent && reserved.fingerprint === fingerprint) return operations.find(reserved);
  }
  return undefined;
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
    if (!(await isSaleOf(gateway, newest, fingerprint))) throw duplicate();
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
