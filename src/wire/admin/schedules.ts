/** Admin calls on schedules: their terms, their subscriptions, and the time of the next charge. */
import type { FastifyInstance } from 'fastify';
import type { Gateway, ListedSchedule, ListedSubscription, Schedule } from '../../core/context.ts';
import {
  listSchedules,
  listSubscriptions,
  stopScheduleAs,
  stopSubscriptionAs,
} from '../../core/schedules/schedules.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { invalidField } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs } from '../bearer.ts';
import { epochMs, page, pageSize, readQuery, uuidText } from './input.ts';

export function scheduleRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/schedules', needs('schedules.view', 'accounts'), async (request) => {
    const query = readQuery(request.query, { mid: uuidText, limit: pageSize, cursor: readCursor });
    const size = query.limit ?? LIMITS.adminPageSize;
    const schedules = await listSchedules(gateway, query.mid, request.principal.mids, size + 1, query.cursor);
    return page(schedules, size, ({ schedule }) => cursorOf(schedule), scheduleView);
  });

  app.get<{ Params: { scheduleId: string } }>(
    '/schedules/:scheduleId/subscriptions',
    needs('schedules.view', 'accounts'),
    async (request) => {
      const query = readQuery(request.query, { mid: uuidText, limit: pageSize, cursor: uuidText });
      const size = query.limit ?? LIMITS.adminPageSize;
      const { scheduleId } = request.params;
      const subscriptions = await listSubscriptions(
        gateway,
        scheduleId,
        query.mid,
        request.principal.mids,
        size + 1,
        query.cursor,
      );
      return page(
        subscriptions,
        size,
        ({ subscriptionId }) => subscriptionId,
        (subscription) => ({ mid: subscription.mid, ...subscriptionView(subscription) }),
      );
    },
  );

  app.delete<ScheduleParams>('/schedules/:scheduleId', needs('schedules.stop', 'accounts'), async (request) => {
    const { principal, caller, params } = request;
    const mid = requiredMid(request.query);
    return scheduleView(await stopScheduleAs(gateway, principal, caller, mid, params.scheduleId));
  });

  app.delete<{ Params: { scheduleId: string; subscriptionId: string } }>(
    '/schedules/:scheduleId/subscriptions/:subscriptionId',
    needs('schedules.stop', 'accounts'),
    async ({ principal, caller, params: { scheduleId, subscriptionId }, query }) => {
      const mid = requiredMid(query);
      await stopSubscriptionAs(gateway, principal, caller, mid, scheduleId, subscriptionId);
      return { subscription_id: subscriptionId.toLowerCase(), state: 'ended' };
    },
  );
}

interface ScheduleParams {
  Params: { scheduleId: string };
}

/** Two accounts may use the same schedule id, so the account is named. */
function requiredMid(query: unknown): string {
  const { mid } = readQuery(query, { mid: uuidText });
  if (mid === undefined) throw invalidField('mid', SENTENCES.blank);
  return mid;
}

/** Ids that merchants choose are not ordered by time, so the cursor contains the creation time and both ids. */
const cursorOf = ({ createdAt, scheduleId, mid }: Schedule): string => `${createdAt}.${scheduleId}.${mid}`;

function readCursor(text: string) {
  const [time = '', scheduleId = '', mid = ''] = text.split('.');
  const createdAt = epochMs(time);
  return createdAt !== undefined && isUuid(scheduleId) && isUuid(mid) ? { createdAt, scheduleId, mid } : undefined;
}

function scheduleView({ schedule, counts, next }: ListedSchedule) {
  const [first] = next;
  return {
    schedule_id: schedule.scheduleId,
    mid: schedule.mid,
    name: schedule.name,
    interval_length: schedule.intervalLength,
    interval_unit: schedule.intervalUnit,
    payments_count: schedule.paymentsCount,
    day_of_month: schedule.dayOfMonth,
    delays: schedule.delays,
    created_at: wireDate(schedule.createdAt),
    deleted_at: wireDateOrNull(schedule.deletedAt),
    next_charge_at: schedule.deletedAt === null ? wireDateOrNull(first?.nextAt ?? null) : null,
    subscriptions_total: counts.active + counts.finished + counts.ended,
    subscriptions_by_state: { active: counts.active, finished: counts.finished, ended: counts.ended },
    subscriptions: next.map(subscriptionView),
  };
}

const subscriptionView = (subscription: ListedSubscription) => ({
  subscription_id: subscription.subscriptionId,
  first_payment_id: subscription.firstPaymentId,
  state: subscription.state,
  reason: subscription.reason,
  occurrences: subscription.occurrences,
  declines: subscription.declines,
  failed: subscription.failed,
  next_charge_at: wireDateOrNull(subscription.nextAt),
});
