/** Admin calls on the API calls of merchants: the recent ones, newest first, and one of them with its answer. */
import type { FastifyInstance } from 'fastify';
import { CALL_ACTIONS, CALL_OUTCOMES, errorOf, findCall, listCalls } from '../../core/api-calls/list.ts';
import type { ApiCall, Gateway } from '../../core/context.ts';
import { firstIdAt } from '../../lib/crypto/id.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs } from '../bearer.ts';
import { anyText, dateTime, expecting, oneOf, page, pageSize, readQuery, uuidText } from './input.ts';

const idAt = expecting(dateTime.expected, (text: string): string | undefined => {
  const ms = dateTime(text);
  return ms === undefined ? undefined : firstIdAt(ms);
});

export function requestRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/requests', needs('requests.view', 'accounts'), async (request) => {
    const {
      limit: size = LIMITS.adminPageSize,
      cursor,
      error_code: errorCode,
      error_message: errorMessage,
      order_id: orderId,
      payment_id: paymentId,
      ...rest
    } = readQuery(request.query, {
      mid: uuidText,
      outcome: oneOf(CALL_OUTCOMES),
      action: oneOf(CALL_ACTIONS),
      error_code: (text) => (/^\d{1,6}$/.test(text) ? Number(text) : undefined),
      error_message: anyText,
      order_id: anyText,
      payment_id: uuidText,
      from: idAt,
      to: idAt,
      limit: pageSize,
      cursor: uuidText,
    });
    const query = { ...rest, errorCode, errorMessage, orderId, paymentId };
    const calls = await listCalls(gateway, request.principal, query, size + 1, cursor);
    return page(calls, size, ({ callId }) => callId, callView);
  });

  app.get<{ Params: { id: string } }>('/requests/:id', needs('requests.view', 'accounts'), async (request) => {
    const call = await findCall(gateway, request.principal, request.params.id);
    return { ...callView(call), ...detailsView(call) };
  });
}

function callView(call: ApiCall) {
  const error = errorOf(call);
  return {
    id: call.callId,
    at: wireDate(call.at),
    mid: call.mid,
    request_id: call.requestId,
    protocol: call.protocol,
    action: call.action,
    outcome: error ? 'refused' : 'accepted',
    status: call.status,
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
    order_id: call.orderId,
    payment_id: call.paymentId,
    took_ms: call.tookMs,
  };
}

const detailsView = ({ address, request, answer, explanation }: ApiCall) => ({
  address,
  fields: request.map(([name, value]) => ({ name, value })),
  answer,
  explanation: explanation && {
    fields: explanation.fields,
    signed_text: explanation.signedText,
    mistakes: explanation.mistakes,
    hints: explanation.hints,
  },
});
