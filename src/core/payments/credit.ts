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
import { type ChosenId, chosenBy, duplicateOperation, repeatedOperation } from './operation-ids.ts';

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
export async function credit(gateway: Gateway, account: Account, order: CreditOrder): Promise<Operated> {
  const { mid } = account;
  const { card, isExpired } = await ownCard(gateway, account, order.cardToken);
  // Two tokens are never of the same card row, so its id stands for the token.
  const requested = [order.orderId, order.amountText, order.currency, card.cardId];
  const chosen = chosenBy(order.operationId ?? '', 'credit', ...requested);
  const begun = chosen && (await gateway.operations.find({ mid, operationId: chosen.operationId }));
  // A repeat gets its operation, whatever has become of the card since.
  if (begun && begun.content === chosen.content) return repeatedOperation(gateway, begun, chosen);
  if (isExpired) throw new Refusal('expiredCardToken');
  const { payment, isOwnOrder } = await creditedPayment(gateway, card, order.orderId);
  if (payment.currency !== order.currency) {
    const sentence = 'This value should be the currency of the payment.';
    throw invalidField('order_currency', sentence);
  }
  if (begun) throw duplicateOperation();
  const plan = refundPlan(gateway, account, order.amountText, 'credit');
  const fingerprint = fingerprintOf(gateway, chosen ? `${chosen.operationId} ${chosen.content}` : order.content);
  const wanted: CreditRow = {
    mid,
    orderId: order.orderId,
    part: isOwnOrder ? '' : fingerprint,
    fingerprint,
    operationId: chosen?.operationId ?? newId(),
    createdAt: gateway.clock.now(mid),
  };
  // If this process dies between the claim and its operation, nothing has moved: a repeat goes on with the claim.
  const operationId = await claimOperation(gateway, account, wanted, chosen !== undefined, () => plan(payment));
  const claim = { ...wanted, operationId };
  if (isOwnOrder) await expectNoPayment(gateway, claim);
  const id: ChosenId = {
    operationId,
    content: chosen?.content ?? null,
    orderId: isOwnOrder ? order.orderId : undefined,
  };
  const operated = await operate(gateway, payment, 'merchant', plan, id).catch(async (error) => {
    // Another request took the id at the same moment, so this claim will never have an operation.
    if (error instanceof Refusal && error.error === 'duplicateOperation') await gateway.credits.withdraw(claim);
    throw error;
  });
  const { paymentId, amount } = operated.operation;
  // Another credit had claimed the order before, was slow to begin, and has begun after all.
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
 * Refuses a credit whose own order a payment has taken. A sale that begins after the claim is committed sees the claim;
 * one that began before has ended after the wait, and is found. When the wait takes too long the claim stands, since
 * another repeat may rely on it; nothing has moved, and a repeat goes on with it.
 */
async function expectNoPayment({ credits, payments }: Gateway, claim: CreditRow): Promise<void> {
  if (!(await credits.awaitPaymentWrites(LIMITS.creditClaimTimeoutMs))) throw new Refusal('unavailable');
  const [taken] = await payments.attempts(claim, 1);
  if (!taken) return;
  await credits.withdraw(claim);
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
    const used = newest.details.card && (await gateway.cards.fingerprint(mid, newest.details.card.id));
    if (used !== fingerprint) throw duplicate();
    return { payment: newest, isOwnOrder: false };
  }
  const payment = await gateway.payments.find({ mid, paymentId });
  if (!payment) throw new Refusal('unknownCardToken');
  return { payment, isOwnOrder: true };
}

/** The id of the operation that a credit is: a new one, or that of the same request before. */
async function claimOperation(
  gateway: Gateway,
  account: Account,
  wanted: CreditRow,
  isChosen: boolean,
  check: () => void,
): Promise<string> {
  const { mid, fingerprint, part } = wanted;
  let held = await gateway.credits.find(wanted);
  if (!held) {
    // What is refused claims nothing.
    check();
    held = await gateway.credits.claim(wanted);
  }
  const isSame = held.fingerprint === fingerprint;
  const isRecent = wanted.createdAt - held.createdAt < LIMITS.duplicateWindowMs;
  if (isRecent && isSame) return held.operationId;
  if (isRecent) throw duplicate();
  const begun = await gateway.operations.find({ mid, operationId: held.operationId });
  if (!begun && isSame) return held.operationId;
  let next = wanted;
  if (!begun) {
    // Nothing came of the claim. Another request may use it with the same id, so that only one of the two can begin.
    if (isChosen && wanted.operationId !== held.operationId) throw duplicate();
    next = { ...wanted, operationId: held.operationId };
  } else {
    const isAnotherPart = isSame && part !== '';
    const isRetry = begun.state === 'declined' && account.settings.order_id_reuse !== 'never';
    if (!isAnotherPart && !isRetry) throw duplicate();
  }
  check();
  if (await gateway.credits.replace(held, next)) return next.operationId;
  return claimOperation(gateway, account, wanted, isChosen, check);
}
