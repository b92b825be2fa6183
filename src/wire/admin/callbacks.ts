/** Admin calls on callbacks: the delivery log, one callback with its attempts, and resending. */
import type { FastifyInstance } from 'fastify';
import { callbackId, readCallbackId } from '../../core/callbacks/callback-id.ts';
import {
  attemptError,
  type CallbackView,
  findCallback,
  type LoggedCallback,
  listCallbacks,
  resendCallback,
  resendCallbacks,
  shownAddress,
} from '../../core/callbacks/log.ts';
import type { CallbackAttempt, Gateway } from '../../core/context.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { CALLBACK_STATES } from '../../rules/callbacks.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs, requireSeen } from '../bearer.ts';
import { dateTime, objectBody, oneOf, page, pageSize, readQuery, uuidText } from './input.ts';

interface CallbackParams {
  Params: { id: string };
}

/** The filters of the list and of a resend. */
const FILTER = {
  mid: uuidText,
  payment_id: uuidText,
  state: oneOf(CALLBACK_STATES),
  from: dateTime,
  to: dateTime,
};

export function callbackRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/callbacks', needs('callbacks.view', 'accounts'), async (request) => {
    const {
      payment_id: paymentId,
      limit,
      cursor,
      ...rest
    } = readQuery(request.query, {
      ...FILTER,
      limit: pageSize,
      cursor: readCallbackId,
    });
    const size = limit ?? LIMITS.adminPageSize;
    const { mids } = request.principal;
    const callbacks = await listCallbacks(gateway, { ...rest, paymentId, mids }, size + 1, cursor);
    return page(callbacks, size, ({ callback }) => callbackId(callback), callbackView);
  });

  app.get<CallbackParams>('/callbacks/:id', needs('callbacks.view', 'accounts'), async (request) => {
    const found = await findCallback(gateway, request.params.id);
    requireSeen(request, found.callback.mid, 'noSuchCallback');
    return { ...loggedView(found), body: found.callback.body };
  });

  app.post<CallbackParams>('/callbacks/:id/resend', needs('callbacks.resend', 'accounts'), async (request) => {
    const { callback } = await findCallback(gateway, request.params.id);
    requireSeen(request, callback.mid, 'noSuchCallback');
    return { resent: await resendCallback(gateway, request.caller, callback) };
  });

  app.post('/callbacks/resend', needs('callbacks.resend', 'accounts'), async (request) => {
    const { payment_id: paymentId, ...rest } = readResendFilter(objectBody(request.body));
    const { mids } = request.principal;
    return { resent: await resendCallbacks(gateway, request.caller, { ...rest, paymentId, mids }) };
  });
}

/** Reads which callbacks to resend. Empty and unknown filters are refused, so that a typing error does not resend everything. */
function readResendFilter(body: Record<string, unknown>) {
  const problems: Problem[] = Object.entries(body).flatMap(([field, value]) =>
    Object.hasOwn(FILTER, field) && (typeof value !== 'string' || value === '')
      ? [{ field, sentence: SENTENCES.invalid, expected: FILTER[field as keyof typeof FILTER].expected }]
      : [],
  );
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  const filter = readQuery(body, FILTER);
  if (filter.mid === undefined && filter.payment_id === undefined) {
    throw invalidField('body', 'The body should have mid or payment_id: whose callbacks are sent again.');
  }
  return filter;
}

function callbackView({ callback, destination }: CallbackView) {
  return {
    id: callbackId(callback),
    mid: callback.mid,
    payment_id: callback.paymentId,
    sequence: callback.seq,
    type: callback.type,
    state: callback.state,
    reason: callback.reason,
    tries: callback.attempts,
    next_try_at: wireDateOrNull(callback.dueAt),
    url: destination === '' ? null : shownAddress({ destination }),
    format: callback.isJson ? 'json' : 'form',
    created_at: wireDate(callback.createdAt),
    finished_at: wireDateOrNull(callback.finishedAt),
  };
}

/** A callback with its attempts, oldest first. */
export const loggedView = ({ log, ...view }: LoggedCallback) => ({
  ...callbackView(view),
  log: log.map(attemptView),
});

const attemptView = (one: CallbackAttempt) => ({
  try: one.attempt,
  at: wireDate(one.at),
  status: one.status,
  took_ms: one.tookMs,
  error: attemptError(one),
});
