/** Card tries have limits, so that nobody finds out here which stolen cards work: per session, address and account. */
import { networkOf } from '../lib/address.ts';
import { LIMITS } from '../rules/limits.ts';
import type { Settings } from '../rules/settings.ts';
import type { AttemptCounts, CardAttempt } from '../store/card-attempts.ts';
import type { Account, Gateway, WholePayment } from './context.ts';

/** Why a card was not taken. It went nowhere: not into the vault, and not to a provider. */
export interface CardRefusal {
  limit: 'session' | 'address' | 'account';
  /** How long until a card may be tried again; a session that had its tries has no more. */
  waitMs?: number;
}

/** Takes one of the tries that are left, or says which limit leaves none. */
export async function recordCardAttempt(
  gateway: Gateway,
  { settings }: Account,
  payment: WholePayment,
  address: string,
): Promise<CardRefusal | undefined> {
  const { mid, paymentId, orderId, state } = payment;
  const at = gateway.clock.now(mid);
  const cardAttempt: CardAttempt = {
    mid,
    orderId,
    // After a decline a card makes another attempt. Who presses twice makes the same one twice, and it counts once.
    attempt: state === 'DECLINED' ? payment.attempt + 1 : payment.attempt,
    sessionId: sessionOf(payment),
    source: gateway.fingerprints.digest(`${mid} ${networkOf(address)}`, 'payer address'),
    at,
  };
  const look = async (): Promise<CardRefusal | undefined> =>
    judge(await gateway.cardAttempts.counts(cardAttempt, boundsOf(settings, at)), settings, at);
  const refusal = (await look()) ?? (await writeDown(gateway, cardAttempt, look));
  if (refusal) {
    gateway.log.warn({ mid, payment_id: paymentId, limit: refusal.limit }, 'card try refused');
    gateway.metrics.cardRefused(refusal.limit);
  }
  return refusal;
}

/** Writes a try down and looks again: whoever tried at the same moment is seen now, so too many at once do not pass. */
async function writeDown(
  gateway: Gateway,
  cardAttempt: CardAttempt,
  look: () => Promise<CardRefusal | undefined>,
): Promise<CardRefusal | undefined> {
  const isNew = await gateway.cardAttempts.insert(cardAttempt, cardAttempt.at - LIMITS.cardAttemptKeptMs);
  const refusal = await look();
  if (refusal && isNew) await gateway.cardAttempts.remove(cardAttempt);
  return refusal;
}

const boundsOf = ({ card_failures_per_address, card_failures_per_account }: Settings, at: number) => ({
  since: at - LIMITS.cardFailuresMs,
  failuresPerSource: card_failures_per_address,
  failuresPerAccount: card_failures_per_account,
  amongAttempts: Math.ceil(card_failures_per_account / LIMITS.cardFailureShare),
});

function judge(counts: AttemptCounts, settings: Settings, at: number): CardRefusal | undefined {
  const { attemptsOfSession, sourceFullSince, accountFullSince } = counts;
  if (isFull(attemptsOfSession, settings)) return { limit: 'session' };
  const waitMs = (since: number): number => since + LIMITS.cardFailuresMs - at;
  if (sourceFullSince !== null) return { limit: 'address', waitMs: waitMs(sourceFullSince) };
  if (accountFullSince !== null) return { limit: 'account', waitMs: waitMs(accountFullSince) };
  return undefined;
}

const isFull = (attempts: number, { card_tries_per_session: most }: Settings): boolean => most > 0 && attempts >= most;

const sessionOf = ({ details, paymentId }: WholePayment): string => details.session?.id ?? paymentId;

/** Whether the session of a payment has had all its tries of cards. */
export async function hasNoAttemptsLeft(
  gateway: Gateway,
  { settings }: Account,
  payment: WholePayment,
): Promise<boolean> {
  const { mid, orderId, attempt } = payment;
  // Tries are attempts, so most payments need not be looked up.
  if (!isFull(attempt, settings)) return false;
  return isFull(await gateway.cardAttempts.ofSession({ mid, orderId, sessionId: sessionOf(payment) }), settings);
}
