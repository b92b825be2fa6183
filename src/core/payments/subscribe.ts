/** Composes the subscription of a first payment to a schedule. */
import { momentAfter } from '../../lib/calendar.ts';
import { newId } from '../../lib/id.ts';
import type { Payment } from '../../store/payments.ts';
import type { Schedule, Subscription } from '../../store/schedules.ts';

/** The first charge is due one interval after the first payment, plus the delayed intervals of the schedule. */
export function subscriptionTo(
  schedule: Schedule,
  payment: Pick<Payment, 'mid' | 'paymentId' | 'createdAt'>,
): Subscription {
  const anchorAt = payment.createdAt;
  const anchorDay = new Date(anchorAt).getUTCDate();
  const intervals = schedule.delays + 1;
  const rhythm = { unit: schedule.intervalUnit, length: schedule.intervalLength };
  const nextAt = momentAfter(anchorAt, schedule.dayOfMonth ?? anchorDay, rhythm, intervals);
  return {
    mid: payment.mid,
    subscriptionId: newId(),
    scheduleId: schedule.scheduleId,
    firstPaymentId: payment.paymentId,
    state: 'active',
    occurrences: 0,
    declines: 0,
    failed: 0,
    anchorAt,
    anchorDay,
    intervals,
    scheduleVersion: schedule.version,
    nextAt,
    dueAt: nextAt,
    createdAt: anchorAt,
  };
}
