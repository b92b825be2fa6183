/** Protection against card testing: limits card attempts per session, payer address and account. */
import { addressPrefix } from '../lib/address.ts';
import { LIMITS } from '../rules/limits.ts';
import type { Settings } from '../rules/settings.ts';
import type { AttemptCounts, CardAttempt } from '../store/card-attempts.ts';
import type { Account, Gateway, PaymentWithDetails } from './context.ts';

/** The limit that refused a card. A refused card is neither stored nor sent to a provider. */
export interface CardRefusal {
  limit: 'session' | 'address' | 'account';
  /** How long until the next attempt is allowed; omitted for a session, which gets no further attempts. */
  waitMs?: number;
}

/** Records a card attempt, or returns the limit that refuses it. */
export async function recordCardAttempt(
  gateway: Gateway,
  { settings }: Account,
  payment: PaymentWithDetails,
  address: string,
): Promise<CardRefusal | undefined> {
  const { mid, paymentId, orderId, state } = payment;
  const at = gateway.clock.now(mid);
  const cardAttempt: CardAttempt = {
    mid,
    orderId,
    // After a decline a card starts a new attempt. A form that is submitted twice is the same attempt and counts once.
    attempt: state === 'DECLINED' ? payment.attempt + 1 : payment.attempt,
    sessionId: sessionOf(payment),
    source: gateway.fingerprints.digest(`${mid} ${addressPrefix(address)}`, 'payer address'),
    at,
  };
  const check = async (): Promise<CardRefusal | undefined> =>
    refusalFor(await gateway.cardAttempts.counts(cardAttempt, boundsOf(settings, at)), settings, at);
  const refusal = (await check()) ?? (await insertAndCheck(gateway, cardAttempt, check));
  if (refusal) {
    gateway.log.warn({ mid, payment_id: paymentId, limit: refusal.limit }, 'card attempt refused');
    gateway.metrics.cardRefused(refusal.limit);
  }
  return refusal;
}

/** Inserts an attempt and checks again: the second check sees concurrent attempts, so they cannot exceed the limit. */
async function insertAndCheck(
  gateway: Gateway,
  cardAttempt: CardAttempt,
  check: () => Promise<CardRefusal | undefined>,
): Promise<CardRefusal | undefined> {
  const isNew = await gateway.cardAttempts.insert(cardAttempt, cardAttempt.at - LIMITS.cardAttemptKeptMs);
  const refusal = await check();
  if (refusal && isNew) await gateway.cardAttempts.remove(cardAttempt);
  return refusal;
}

const boundsOf = ({ card_failures_per_address, card_failures_per_account }: Settings, at: number) => ({
  since: at - LIMITS.cardFailuresMs,
  failuresPerSource: card_failures_per_address,
  failuresPerAccount: card_failures_per_account,
  amongAttempts: Math.ceil(card_failures_per_account / LIMITS.cardFailureShare),
});

function refusalFor(counts: AttemptCounts, settings: Settings, at: number): CardRefusal | undefined {
  const { attemptsOfSession, sourceFullSince, accountFullSince } = counts;
  if (isFull(attemptsOfSession, settings)) return { limit: 'session' };
  const waitMs = (since: number): number => since + LIMITS.cardFailuresMs - at;
  if (sourceFullSince !== null) return { limit: 'address', waitMs: waitMs(sourceFullSince) };
  if (accountFullSince !== null) return { limit: 'account', waitMs: waitMs(accountFullSince) };
  return undefined;
}

const isFull = (attempts: number, { card_tries_per_session: most }: Settings): boolean => most > 0 && attempts >= most;

const sessionOf = ({ details, paymentId }: PaymentWithDetails): string => details.session?.id ?? paymentId;

/** Whether the session of a payment has used all its card attempts. */
export async function hasNoAttemptsLeft(
  gateway: Gateway,
  { settings }: Account,
  payment: PaymentWithDetails,
): Promise<boolean> {
  const { mid, orderId, attempt } = payment;
  // Card attempts are attempts of the order, so their number needs no query while those are few.
  if (!isFull(attempt, settings)) return false;
  return isFull(await gateway.cardAttempts.ofSession({ mid, orderId, sessionId: sessionOf(payment) }), settings);
}
