/** Pays back to a card that a token names: finds its payment, reserves the order of the credit once, does the rest. */
import { newId } from '../../lib/id.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { CardRow } from '../../store/cards.ts';
import type { CreditRow } from '../../store/credits.ts';
import type { WholePayment } from '../../store/payments.ts';
import type { Account, Gateway } from '../context.ts';
import { cardOfToken } from '../vault.ts';
import { readAmount, refundPlan } from './change.ts';
import { duplicate, requestFingerprint } from './open.ts';
import { type OperationResult, operate } from './operate.ts';
import { duplicateOperation, type IdempotencyKey, idempotencyKeyOf, resultOfRepeat } from './operation-ids.ts';

export interface CreditOrder {
  orderId: string;
  amountText: string;
  currency: string;
  cardToken: string;
  /** What the merchant calls the operation, if it does. */
  operationId?: string;
  /** Everything the request said, so that a repeat can be told from another request for the same order. */
  content: string;
}

/** Pays back to a card; a repeat of the same request gets the operation that the first one began. */
export async function credit(gateway: Gateway, account: Account, order: CreditOrder): Promise<OperationResult> {
  const { mid } = account;
  const { card, isExpired } = await ownCard(gateway, account, order.cardToken);
  // Two tokens are never of the same card row, so its id stands for the token.
  const requested = [order.orderId, order.amountText, order.currency, card.cardId];
  const chosen = idempotencyKeyOf(order.operationId ?? '', 'credit', ...requested);
  const begun = chosen && (await gateway.operations.find({ mid, operationId: chosen.operationId }));
  // A repeat gets its operation, whatever has become of the card since.
  if (begun && begun.content === chosen.content) return resultOfRepeat(gateway, begun, chosen);
  if (isExpired) throw new Refusal('expiredCardToken');
  const { payment, isOwnOrder } = await creditedPayment(gateway, card, order.orderId);
  if (payment.currency !== order.currency) {
    const sentence = 'This value should be the currency of the payment.';
    throw invalidField('order_currency', sentence);
  }
  if (begun) throw duplicateOperation();
  const plan = refundPlan(gateway, account, order.amountText, 'credit');
  const fingerprint = requestFingerprint(gateway, chosen ? `${chosen.operationId} ${chosen.content}` : order.content);
  const wanted: CreditRow = {
    mid,
    orderId: order.orderId,
    part: isOwnOrder ? '' : fingerprint,
    fingerprint,
    operationId: chosen?.operationId ?? newId(),
    createdAt: gateway.clock.now(mid),
  };
  // If this process dies between the reservation and its operation, nothing has moved: a repeat goes on with it.
  const operationId = await reserveOperation(gateway, account, wanted, chosen !== undefined, () => plan(payment));
  const reservation = { ...wanted, operationId };
  if (isOwnOrder) await expectNoPayment(gateway, reservation);
  const id: IdempotencyKey = {
    operationId,
    content: chosen?.content ?? null,
    orderId: isOwnOrder ? order.orderId : undefined,
  };
  const operated = await operate(gateway, payment, 'merchant', plan, id).catch(async (error) => {
    // Another request took the id at the same moment, so this reservation will never have an operation.
    if (error instanceof Refusal && error.error === 'duplicateOperation') await gateway.credits.withdraw(reservation);
    throw error;
  });
  const { paymentId, amount } = operated.operation;
  // Another credit had reserved the order before, was slow to begin, and has begun after all.
  if (paymentId !== payment.paymentId || amount !== readAmount(order.amountText, payment, 0n)) throw duplicate();
  return operated;
}

async function ownCard(gateway: Gateway, { mid }: Account, token: string) {
  const found = await cardOfToken(gateway, token);
  if (!found) throw new Refusal('unknownCardToken');
  if (found.card.mid !== mid) throw new Refusal('foreignCardToken');
  return found;
}

/**
 * Refuses a credit whose own order a payment has taken. A sale that begins after the reservation is committed sees it;
 * one that began before has ended after the wait, and is found. When the wait takes too long the reservation stands,
 * since another repeat may rely on it; nothing has moved, and a repeat goes on with it.
 */
async function expectNoPayment({ credits, payments }: Gateway, reservation: CreditRow): Promise<void> {
  if (!(await credits.awaitPaymentWrites(LIMITS.creditReservationMs))) throw new Refusal('unavailable');
  const [taken] = await payments.attempts(reservation, 1);
  if (!taken) return;
  await credits.withdraw(reservation);
  throw duplicate();
}

/** The payment of the order, if it was made with this card; else the one that the token came from. */
async function creditedPayment(
  gateway: Gateway,
  { mid, paymentId, fingerprint }: CardRow,
  orderId: string,
): Promise<{ payment: WholePayment; isOwnOrder: boolean }> {
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

/** Reserves the order of a credit; returns the id of its operation: a new one, or that of the same request before. */
async function reserveOperation(
  gateway: Gateway,
  account: Account,
  wanted: CreditRow,
  isChosen: boolean,
  check: () => void,
): Promise<string> {
  for (;;) {
    let held = await gateway.credits.find(wanted);
    if (!held) {
      // What is refused reserves nothing.
      check();
      held = await gateway.credits.reserve(wanted);
    }
    const next = await nextReservation(gateway, account, held, wanted, isChosen);
    if (next === held) return held.operationId;
    check();
    if (await gateway.credits.replace(held, next)) return next.operationId;
  }
}

/** What takes the place of the reservation that is held: itself, when the request is the one that made it. */
async function nextReservation(
  gateway: Gateway,
  account: Account,
  held: CreditRow,
  wanted: CreditRow,
  isChosen: boolean,
): Promise<CreditRow> {
  const isSame = held.fingerprint === wanted.fingerprint;
  if (wanted.createdAt - held.createdAt < LIMITS.duplicateWindowMs) {
    if (!isSame) throw duplicate();
    return held;
  }
  const begun = await gateway.operations.find(held);
  if (!begun) {
    if (isSame) return held;
    // Nothing came of it. Another request may use it with the same id, so that only one of the two can begin.
    if (isChosen && wanted.operationId !== held.operationId) throw duplicate();
    return { ...wanted, operationId: held.operationId };
  }
  const isAnotherPart = isSame && wanted.part !== '';
  const isRetry = begun.state === 'declined' && account.settings.order_id_reuse !== 'never';
  if (!isAnotherPart && !isRetry) throw duplicate();
  return wanted;
}
