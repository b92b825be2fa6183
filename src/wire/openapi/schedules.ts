/** The schedules of the admin API in the OpenAPI document. */
import { LIMITS } from '../../rules/limits.ts';
import { call, commonRefusals, pageParameters, scheduleRefusals } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  inPath,
  inQuery,
  integer,
  type Json,
  listOf,
  object,
  orNull,
  pageOf,
  text,
  uuid,
} from './schema.ts';

const subscription = {
  subscription_id: uuid,
  first_payment_id: uuid,
  state: described(
    choice(['active', 'finished', 'ended']),
    '`ended` means that the subscription stopped before its last charge.',
  ),
  reason: described(
    orNull(text),
    'Why it ended, if not by request: `card_removed` if its card was removed or erased, `card_refused` if it must not be charged again.',
  ),
  occurrences: described(integer, 'The number of past occurrences, charged or given up.'),
  declines: described(integer, 'How often the current charge was declined.'),
  failed: described(integer, 'The number of occurrences that were given up.'),
  next_charge_at: orNull(date),
};

const schedule = object({
  schedule_id: uuid,
  mid: uuid,
  name: text,
  interval_length: integer,
  interval_unit: choice(['day', 'week', 'month']),
  payments_count: integer,
  day_of_month: orNull(integer),
  delays: integer,
  created_at: date,
  deleted_at: orNull(date),
  next_charge_at: orNull(date),
  subscriptions_total: described(integer, 'The number of subscriptions.'),
  subscriptions_by_state: described(
    object({ active: integer, finished: integer, ended: integer }),
    'The number of subscriptions in each state.',
  ),
  subscriptions: described(
    listOf(object(subscription)),
    `The first ${LIMITS.listedSubscriptionsMost} subscriptions, by the time of the next charge.`,
  ),
});

const scheduleId = [inPath('schedule_id', uuid, 'The schedule.')];
const account = { ...inQuery('mid', uuid, 'The account of the schedule.'), required: true };

export const SCHEDULE_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/schedules': {
    get: call('payments', 'listSchedules', 'Lists schedules with their subscriptions, newest first.', {
      parameters: [inQuery('mid', uuid, 'Schedules of this account.'), ...pageParameters(text)],
      responses: { ...answers('A page of schedules.', pageOf(schedule, text)), ...commonRefusals },
    }),
  },
  '/admin/api/schedules/{schedule_id}': {
    parameters: scheduleId,
    delete: call('payments', 'stopSchedule', 'Stops a schedule: nothing more is charged.', {
      parameters: [account],
      responses: { ...answers('The stopped schedule.', schedule), ...scheduleRefusals },
    }),
  },
  '/admin/api/schedules/{schedule_id}/subscriptions/{subscription_id}': {
    parameters: [...scheduleId, inPath('subscription_id', uuid, 'The subscription.')],
    delete: call('payments', 'stopSubscription', 'Ends one subscription: nothing more is charged for it.', {
      parameters: [account],
      responses: {
        ...answers('The ended subscription.', object({ subscription_id: uuid, state: { const: 'ended' } })),
        ...scheduleRefusals,
      },
    }),
  },
  '/admin/api/schedules/{schedule_id}/subscriptions': {
    parameters: scheduleId,
    get: call('payments', 'listSubscriptions', 'Lists the subscriptions of a schedule, newest first.', {
      parameters: [
        inQuery('mid', uuid, 'The account; without it, all accounts that have a schedule with this id.'),
        ...pageParameters(uuid),
      ],
      responses: {
        ...answers('A page of subscriptions.', pageOf(object({ mid: uuid, ...subscription }))),
        ...scheduleRefusals,
      },
    }),
  },
};
