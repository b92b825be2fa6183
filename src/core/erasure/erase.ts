/** Erases the personal data of payers on request or by age: of an order, of an e-mail address, of a saved card. */

import { firstIdAt } from '../../lib/crypto/id.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { isMailAddress } from '../../rules/contacts.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import type { CardRemoval, ErasedBy, Obstacle } from '../../store/erasure/erasure.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import { requireAccount } from '../accounts/require-account.ts';
import type { Gateway } from '../context.ts';
import { requirePayment } from '../operators/actions.ts';
import { auditEntry, type Caller, type Principal } from '../operators/principal.ts';
import { remainingDetails, remainingProviderData, scrubFor } from './personal-data.ts';

/** The name of the field that refusals name. */
const FIELD = 'payment_id';

const refuse = (sentence: string): Refusal => invalidField(FIELD, sentence);

const OBSTACLES: Readonly<Record<Exclude<Obstacle, 'changed'>, string>> = {
  callbacks: 'A callback of this payment is not delivered yet. Wait until it is delivered or parked.',
  notifications: 'A notification of the provider about this payment is not processed yet. Try again in a minute.',
  card: 'An open payment uses the same card. Wait for its outcome.',
  building: 'After an upgrade the list of payments is still being built, and could miss some. Try again later.',
};

/** Whether a payer can still pay in the session of a declined payment: its newest attempt decides. */
async function canTryAgain({ clock, payments }: Gateway, payment: PaymentWithDetails): Promise<boolean> {
  const { session } = payment.details;
  if (payment.state !== 'DECLINED' || !session || session.until <= clock.now(payment.mid)) return false;
  const newest = (await payments.findByOrder(payment)) ?? payment;
  return newest.details.session?.id === session.id && (newest.state === 'DECLINED' || isOpen(newest.state));
}

/** Refuses a payment whose outcome, or the outcome of one of its operations, is still open. */
async function requireFinal(gateway: Gateway, payment: PaymentWithDetails): Promise<void> {
  const { state, busy, reserved, dueAt, details } = payment;
  if (isOpen(state)) throw refuse(`The payment is open, in the state ${state}. Wait for its outcome, or void it.`);
  if (busy !== null || reserved > 0n)
    throw refuse('An operation of this payment is in progress. Wait for its outcome.');
  if (await canTryAgain(gateway, payment)) {
    const until = wireDate(details.session?.until ?? 0);
    throw refuse(`The payer can try again in the session of this payment until ${until}.`);
  }
  if (dueAt !== null) throw refuse('The provider is still asked about a late outcome of this payment.');
}

interface EraseOptions {
  by: Omit<ErasedBy, 'at' | 'audit'> & { caller?: Caller };
  /** The card stays in the vault, because other payments need it. */
  keepsCard?: boolean;
}

const MAX_ATTEMPTS = 10;

/** Erases one payment; false if it was erased before. Refuses one that is not final, and changes nothing then. */
export async function erasePayment(
  gateway: Gateway,
  payment: PaymentWithDetails,
  { by: { actor, actorName, caller }, keepsCard = false }: EraseOptions,
): Promise<boolean> {
  let before = payment;
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    if (before.details.erasedAt !== undefined) return false;
    await requireFinal(gateway, before);
    const { mid, paymentId } = before;
    const at = gateway.clock.now(mid);
    const scrub = scrubFor(gateway, before);
    const obstacle = await gateway.erasure.erase({
      before,
      details: remainingDetails(before.details, scrub, at, keepsCard),
      providerData: remainingProviderData(gateway, before, scrub),
      cardId: keepsCard ? undefined : before.details.card?.id,
      scrub,
      actor,
      actorName,
      at,
      audit: caller && auditEntry(gateway, caller, 'payments.erase', { mid, subject: paymentId }),
    });
    if (obstacle === undefined) {
      gateway.metrics.erased('payments', 1);
      return true;
    }
    if (obstacle !== 'changed') throw refuse(OBSTACLES[obstacle]);
    before = (await gateway.payments.find(before)) ?? before;
  }
  throw new Error(`The payment ${payment.paymentId} changed too often to be erased.`);
}

const operator = (caller: Caller): EraseOptions => ({ by: { actor: 'operator', actorName: caller.name, caller } });

/** More attempts of an order than any payer makes. */
const MAX_ORDER_ATTEMPTS = 1000;

/** Erases all attempts of the order of a payment, which have the same payer; nothing if one of them is not final. */
export async function eraseOrderAs(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  by: Caller,
  paymentId: string,
): Promise<{ payment: PaymentWithDetails; erased: string[] }> {
  const payment = await requirePayment(gateway, principal, paymentId);
  const attempts = await gateway.payments.attempts(payment, MAX_ORDER_ATTEMPTS);
  for (const attempt of attempts) if (attempt.details.erasedAt === undefined) await requireFinal(gateway, attempt);
  await gateway.callRecorder.flush();
  const erased: string[] = [];
  for (const attempt of attempts.toReversed()) {
    if (await erasePayment(gateway, attempt, operator(by))) erased.push(attempt.paymentId);
  }
  return { payment: (await gateway.payments.find(payment)) ?? payment, erased };
}

export interface PayerErasure {
  erased: string[];
  /** The payments that keep their data, and why. */
  refused: { paymentId: string; sentence: string }[];
  /** The `after` of the next call; null if all payments were read. */
  next: string | null;
}

/**
 * Erases the payments of an account with this e-mail address of the payer, in portions. A payment that cannot be erased
 * does not hold the others back. After an interruption the same call continues: what is erased has no address.
 */
export async function erasePayerAs(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  by: Caller,
  mid: string,
  email: unknown,
  after = firstIdAt(0),
): Promise<PayerErasure> {
  const account = await requireAccount(gateway, principal, mid);
  if (!isMailAddress(email)) {
    throw invalidField('email', 'This value should be an e-mail address.', {
      expected: 'For example ana@example.com.',
    });
  }
  await gateway.callRecorder.flush();
  const ids = await gateway.erasure.findByEmail(account.mid, email, LIMITS.erasedAtATime, after);
  if (ids === 'building') throw invalidField('email', OBSTACLES.building);
  const result: PayerErasure = { erased: [], refused: [], next: null };
  for (const paymentId of ids) {
    const payment = await gateway.payments.find({ mid: account.mid, paymentId });
    try {
      if (payment && (await erasePayment(gateway, payment, operator(by)))) result.erased.push(paymentId);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      result.refused.push({ paymentId, sentence: error.problems[0]?.sentence ?? error.message });
    }
  }
  if (ids.length === LIMITS.erasedAtATime) result.next = ids.at(-1) as string;
  return result;
}

/** Removes one saved card of an account: its token no longer works, and what it paid for is no longer repeated. */
export async function removeCardAs(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  by: Caller,
  mid: string,
  token: string,
): Promise<CardRemoval & { masked: string }> {
  const account = await requireAccount(gateway, principal, mid);
  const card = await gateway.erasure.findCard(account.mid, token);
  if (!card) throw new Refusal('unknownCardToken');
  const { cardId, masked } = card;
  const removed = await gateway.erasure.removeCard(account.mid, cardId, {
    actor: 'operator',
    actorName: by.name,
    at: gateway.clock.now(account.mid),
    audit: auditEntry(gateway, by, 'cards.remove', { mid: account.mid, subject: cardId, before: { card: masked } }),
  });
  if (removed === 'building') throw invalidField('card_token', OBSTACLES.building);
  if (removed === 'card') throw invalidField('card_token', 'An open payment uses this card. Wait for its outcome.');
  gateway.metrics.erased('cards', 1);
  return { ...removed, masked };
}
