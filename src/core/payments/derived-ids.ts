/** The ids of charges and retries of schedules, reviews, and refunds at providers: derived, so the same after a restore. */
import { idOf, timeOfId } from '../../lib/crypto/id.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { Subscription } from '../../store/schedules/schedules.ts';
import type { Gateway } from '../context.ts';

type Deriving = Pick<Gateway, 'fingerprints' | 'environment'>;

/** Keyed, so that nobody can tell the id of a charge before it is made. */
const derived = ({ fingerprints }: Deriving, ms: number, content: string): string =>
  idOf(ms, fingerprints.digest(content, 'payment id'));

/** The planned moment of an attempt of an occurrence that is due at this moment; the attempt is never made earlier. */
export const attemptMoment = (plannedAt: number, declines: number): number =>
  LIMITS.scheduleRetryMs.slice(0, declines).reduce((at, pause) => at + pause, plannedAt);

/**
 * The id of the next attempt to charge a subscription, if its occurrence is planned for this moment. It sorts by that
 * moment. In a sandbox the moment may be far ahead of real time, by which ids sort: there it follows the id of the
 * subscription.
 */
export function attemptId(
  gateway: Deriving,
  {
    mid,
    subscriptionId,
    occurrences,
    declines,
  }: Pick<Subscription, 'mid' | 'subscriptionId' | 'occurrences' | 'declines'>,
  plannedAt: number,
): string {
  const occurrence = occurrences + 1;
  const place = occurrence * (LIMITS.scheduleRetryMs.length + 1) + declines;
  const isSandbox = gateway.environment === 'sandbox';
  const ms = isSandbox ? timeOfId(subscriptionId) + place : attemptMoment(plannedAt, declines);
  return derived(gateway, ms, `${mid} ${subscriptionId} ${occurrence} ${declines}`);
}

/** The id of the payment with which the merchant retries a declined one; it sorts right after that. */
export const retryId = (gateway: Deriving, { mid, paymentId }: Pick<Payment, 'mid' | 'paymentId'>): string =>
  derived(gateway, timeOfId(paymentId) + 1, `${mid} retry ${paymentId}`);

/** The id of the operation that carries out what was decided about a payment under review at this moment. */
export const reviewOperationId = (
  gateway: Deriving,
  { mid, paymentId }: Pick<Payment, 'mid' | 'paymentId'>,
  reviewedAt: number | null,
): string => derived(gateway, timeOfId(paymentId), `${mid} review ${paymentId} ${reviewedAt}`);

/** The id of a refund that the provider made by itself, under the id that it has there; it sorts by when it was reported. */
export const refundElsewhereId = (
  gateway: Deriving,
  { mid, paymentId }: Pick<Payment, 'mid' | 'paymentId'>,
  reference: string,
  at: number,
): string => derived(gateway, at, `${mid} ${paymentId} refund ${reference}`);
