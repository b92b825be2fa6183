/** Pays back to a card that a token names: finds its payment, claims the order of the credit once, does the rest. */
import { newId } from '../../lib/id.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { CardRow } from '../../store/cards.ts';
import type { CreditRow } from '../../store/credits.ts';
import type { WholePayment } from '../../store/payments.ts';
import type { Account, Gateway } from '../context.ts';
import { cardOfToken } from '../vault.ts';
import { readAmount, refundPlan } from './change.ts';
import { duplicate, fingerprintOf } from './open.ts';
import { type Operated, operate } from './operate.ts';

export interface CreditOrder {
  orderId: string;
  amountText: string;
  currency: string;
  cardToken: string;
  /** Everything the request said, so that a repeat can be told from another request for the same order. */
  content: string;
}

/** Pays back to a card; a repeat of the same request gets the operation that the first one began. */
export async function credit(gateway: Gateway, account: Account, order: CreditOrder): Promise<Operated> {
  const card = await usableCard(gateway, account, order.cardToken);
  const { payment, isOwnOrder } = await creditedPayment(gateway, card, order.orderId);
  if (payment.currency !== order.currency) {
    const sentence = 'This value should be the currency of the payment.';
    throw invalidField('order_currency', sentence);
  }
  const plan = refundPlan(gateway, account, order.amountText, 'credit');
  const fingerprint = fingerprintOf(gateway, order.content);
  const claim: CreditRow = {
    mid: account.mid,
    orderId: order.orderId,
    part: isOwnOrder ? '' : fingerprint,
    fingerprint,
    operationId: newId(),
    createdAt: gateway.clock.now(account.mid),
  };
  // If this process dies between the claim and its operation, nothing has moved: a repeat goes on with the claim.
  const operationId = await claimOperation(gateway, account, claim, () => plan(payment));
  // A payment that took the order between our look and our claim has it.
  if (isOwnOrder && (await gateway.payments.attempts(claim, 1)).length > 0) {
    await gateway.credits.withdraw({ ...claim, operationId });
    throw duplicate();
  }
  const operated = await operate(gateway, payment, 'merchant', plan, operationId);
  const { paymentId, amount } = operated.operation;
  // Somebody who claimed the order with other content and was slow to begin has begun after all.
  if (paymentId !== payment.paymentId || amount !== readAmount(order.amountText, payment, 0n)) throw duplicate();
  return operated;
}

async function usableCard(gateway: Gateway, { mid }: Account, token: string): Promise<CardRow> {
  const found = await cardOfToken(gateway, token);
  if (!found) throw new Refusal('unknownCardToken');
  if (found.card.mid !== mid) throw new Refusal('foreignCardToken');
  if (found.isExpired) throw new Refusal('expiredCardToken');
  return found.card;
}

/** The payment of the order, if it was made with this card; else the one that the token came from. */
async function creditedPayment(
  gateway: Gateway,
  { mid, paymentId, fingerprint }: CardRow,
  orderId: string,
): Promise<{ payment: WholePayment; isOwnOrder: boolean }> {
  const [newest] = await gateway.payments.attempts({ mid, orderId }, 1);
  if (newest) {
    const used = newest.details.card && (await gateway.cards.fingerprint(mid, newest.details.card.id));
    if (used !== fingerprint) throw duplicate();
    return { payment: newest, isOwnOrder: false };
  }
  const payment = await gateway.payments.find({ mid, paymentId });
  if (!payment) throw new Refusal('unknownCardToken');
  return { payment, isOwnOrder: true };
}

/** The operation that a credit is: its own, or the one that the same request began before. */
async function claimOperation(
  gateway: Gateway,
  account: Account,
  claim: CreditRow,
  check: () => void,
): Promise<string> {
  const { mid, createdAt: now, fingerprint } = claim;
  let held = await gateway.credits.find(claim);
  if (!held) {
    // What is refused claims nothing.
    check();
    held = await gateway.credits.claim(claim);
  }
  const isSame = held.fingerprint === fingerprint;
  const isRecent = now - held.createdAt < LIMITS.duplicateWindowMs;
  if (isSame && isRecent) return held.operationId;
  const begun = await gateway.operations.find({ mid, operationId: held.operationId });
  if (isSame && !begun) return held.operationId;
  const isAnotherPart = isSame && claim.part !== '';
  const isFree = !isSame && !begun && !isRecent;
  const isRetry = begun?.state === 'declined' && !isRecent && account.settings.order_id_reuse !== 'never';
  if (!isAnotherPart && !isFree && !isRetry) throw duplicate();
  check();
  // An order that nothing came of may be used for something else, but never for two operations.
  const next = isFree ? { ...claim, operationId: held.operationId } : claim;
  if (await gateway.credits.replace(held, next)) return next.operationId;
  return claimOperation(gateway, account, claim, check);
}
