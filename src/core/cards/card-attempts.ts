/** Protection against card testing: limits card attempts per session, payer address and account. */
import { addressPrefix } from '../../lib/http/address.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Settings } from '../../rules/settings.ts';
import type { AttemptCounts, AttemptLimits, CardAttempt, CountItem } from '../../store/cards/card-attempts.ts';
import type { Account, Gateway, PaymentWithDetails } from '../context.ts';

/** The limit that refused a card. A refused card does not stay in the vault, and is not sent to a provider. */
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
  const at = gateway.clock.now(payment.mid);
  // After a decline a card starts a new attempt. A form that is submitted twice is the same attempt and counts once.
  const attempt = payment.state === 'DECLINED' ? payment.attempt + 1 : payment.attempt;
  const cardAttempt: CardAttempt = { ...attemptOf(gateway, payment, address, at), attempt };
  const check = async (): Promise<CardRefusal | undefined> =>
    refusalFor(await gateway.cardAttempts.counts(cardAttempt, boundsOf(settings, at)), settings, at);
  const refusal = (await check()) ?? (await insertAndCheck(gateway, cardAttempt, check));
  if (refusal) report(gateway, payment, refusal);
  return refusal;
}

const attemptOf = (
  { fingerprints }: Gateway,
  payment: PaymentWithDetails,
  address: string,
  at: number,
): CardAttempt => ({
  mid: payment.mid,
  orderId: payment.orderId,
  attempt: payment.attempt,
  sessionId: sessionOf(payment),
  source: fingerprints.digest(`${payment.mid} ${addressPrefix(address)}`, 'payer address'),
  at,
});

function report({ log, metrics }: Gateway, { mid, paymentId }: PaymentWithDetails, { limit }: CardRefusal): void {
  log.warn({ mid, payment_id: paymentId, limit }, 'card attempt refused');
  metrics.cardRefused(limit);
}

/** The attempt of a card that comes with its order, and the limits; it is stored with the payment. */
export const sentAttempt = (gateway: Gateway, settings: Settings, payment: PaymentWithDetails): CountItem => ({
  attempt: attemptOf(gateway, payment, payment.details.payer.ip ?? '', payment.createdAt),
  bounds: boundsOf(settings, payment.createdAt),
});

/** Checks an attempt that was stored with its payment; one beyond a limit is removed, and does not count. */
export async function checkSentAttempt(
  gateway: Gateway,
  settings: Settings,
  payment: PaymentWithDetails,
  counted: AttemptCounts | undefined,
): Promise<CardRefusal | undefined> {
  const counts = counted ?? (await countAgain(gateway, settings, payment));
  const refusal = refusalFor(counts, settings, payment.createdAt);
  if (!refusal) return undefined;
  await gateway.cardAttempts.remove(payment);
  report(gateway, payment, refusal);
  return refusal;
}

function countAgain(gateway: Gateway, settings: Settings, payment: PaymentWithDetails): Promise<AttemptCounts> {
  const { attempt, bounds } = sentAttempt(gateway, settings, payment);
  return gateway.cardAttempts.counts(attempt, bounds);
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

const boundsOf = (settings: Settings, at: number): AttemptLimits => ({
  since: at - LIMITS.cardFailuresMs,
  attemptsPerSession: settings.card_tries_per_session,
  failuresPerSource: settings.card_failures_per_address,
  failuresPerAccount: settings.card_failures_per_account,
  amongAttempts: Math.ceil(settings.card_failures_per_account / LIMITS.cardFailureShare),
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
