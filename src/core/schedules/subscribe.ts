/** Composes the subscription of a first payment to a schedule. */

import { newId } from '../../lib/crypto/id.ts';
import { momentAfter } from '../../lib/time/calendar.ts';
import { startOfDate } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Schedule, Subscription } from '../../store/schedules/schedules.ts';

/**
 * The first charge is due on the date that the session names; otherwise one interval after the first payment, plus the
 * delayed intervals of the schedule.
 */
export function subscriptionTo(
  schedule: Schedule,
  payment: Pick<PaymentWithDetails, 'mid' | 'paymentId' | 'createdAt' | 'details'>,
): Subscription {
  const { createdAt } = payment;
  const start = startOfDate(payment.details.session?.scheduleStart ?? '');
  // A charge has the time of day of the first payment.
  const anchorAt = start === undefined ? createdAt : start + (createdAt % LIMITS.dayMs);
  const anchorDay = new Date(anchorAt).getUTCDate();
  const intervals = start === undefined ? schedule.delays + 1 : 0;
  const rhythm = { unit: schedule.intervalUnit, length: schedule.intervalLength };
  const nextAt =
    start === undefined ? momentAfter(anchorAt, schedule.dayOfMonth ?? anchorDay, rhythm, intervals) : anchorAt;
  return {
    mid: payment.mid,
    subscriptionId: newId(),
    scheduleId: schedule.scheduleId,
    firstPaymentId: payment.paymentId,
    state: 'active',
    reason: null,
    occurrences: 0,
    declines: 0,
    failed: 0,
    anchorAt,
    anchorDay,
    intervals,
    scheduleVersion: schedule.version,
    nextAt,
    dueAt: nextAt,
    createdAt,
  };
}
