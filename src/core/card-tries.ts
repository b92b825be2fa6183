/** Card tries have limits, so that nobody finds out here which stolen cards work: per session, address and account. */
import { networkOf } from '../lib/address.ts';
import { LIMITS } from '../rules/limits.ts';
import type { Settings } from '../rules/settings.ts';
import type { CardTry, Standing } from '../store/card-tries.ts';
import type { Account, Gateway, WholePayment } from './context.ts';

/** Why a card was not taken. It went nowhere: not into the vault, and not to a provider. */
export interface CardRefusal {
  limit: 'session' | 'address' | 'account';
  /** How long until a card may be tried again; a session that had its tries has no more. */
  waitMs?: number;
}

/** Takes one of the tries that are left, or says which limit leaves none. */
export async function takeTry(
  gateway: Gateway,
  { settings }: Account,
  payment: WholePayment,
  address: string,
): Promise<CardRefusal | undefined> {
  const { mid, paymentId, orderId, state } = payment;
  const at = gateway.clock.now(mid);
  const cardTry: CardTry = {
    mid,
    orderId,
    // After a decline a card makes another attempt. Who presses twice makes the same one twice, and it counts once.
    attempt: state === 'DECLINED' ? payment.attempt + 1 : payment.attempt,
    sessionId: sessionOf(payment),
    source: gateway.marks.digest(`${mid} ${networkOf(address)}`, 'payer address'),
    at,
  };
  const look = async (): Promise<CardRefusal | undefined> =>
    judge(await gateway.cardTries.standing(cardTry, boundsOf(settings, at)), settings, at);
  const refusal = (await look()) ?? (await writeDown(gateway, cardTry, look));
  if (refusal) {
    gateway.log.warn({ mid, payment_id: paymentId, limit: refusal.limit }, 'card try refused');
    gateway.metrics.cardRefused(refusal.limit);
  }
  return refusal;
}

/** Writes a try down and looks again: whoever tried at the same moment is seen now, so too many at once do not pass. */
async function writeDown(
  gateway: Gateway,
  cardTry: CardTry,
  look: () => Promise<CardRefusal | undefined>,
): Promise<CardRefusal | undefined> {
  const isNew = await gateway.cardTries.insert(cardTry, cardTry.at - LIMITS.cardTryKeptMs);
  const refusal = await look();
  if (refusal && isNew) await gateway.cardTries.remove(cardTry);
  return refusal;
}

const boundsOf = ({ card_failures_per_address, card_failures_per_account }: Settings, at: number) => ({
  since: at - LIMITS.cardFailuresMs,
  failuresPerSource: card_failures_per_address,
  failuresPerAccount: card_failures_per_account,
  amongTries: Math.ceil(card_failures_per_account / LIMITS.cardFailureShare),
});

function judge(standing: Standing, settings: Settings, at: number): CardRefusal | undefined {
  const { triesOfSession, sourceFullSince, accountFullSince } = standing;
  if (isFull(triesOfSession, settings)) return { limit: 'session' };
  const waitMs = (since: number): number => since + LIMITS.cardFailuresMs - at;
  if (sourceFullSince !== null) return { limit: 'address', waitMs: waitMs(sourceFullSince) };
  if (accountFullSince !== null) return { limit: 'account', waitMs: waitMs(accountFullSince) };
  return undefined;
}

const isFull = (tries: number, { card_tries_per_session: most }: Settings): boolean => most > 0 && tries >= most;

const sessionOf = ({ details, paymentId }: WholePayment): string => details.session?.id ?? paymentId;

/** Whether the session of a payment has had all its tries of cards. */
export async function hasNoTriesLeft(gateway: Gateway, { settings }: Account, payment: WholePayment): Promise<boolean> {
  const { mid, orderId, attempt } = payment;
  // Tries are attempts, so most payments need not be looked up.
  if (!isFull(attempt, settings)) return false;
  return isFull(await gateway.cardTries.ofSession({ mid, orderId, sessionId: sessionOf(payment) }), settings);
}
