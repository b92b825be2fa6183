/** What every request leaves behind: one log line, metrics, an entry among the API calls; and the response to an error. */
import type { Gateway } from '../core/context.ts';
import { endOfTickList } from '../lib/flow/tick.ts';
import { ERRORS } from '../rules/errors.ts';
import { type Envelope, refusalOf } from './envelope.ts';
import { answerOf, helpLink, type RefusedRequest } from './help.ts';

/** A request as the log, the metrics and the list of API calls see it. */
export interface HandledRequest extends RefusedRequest {
  id: string;
  /** The action of the request and its outcome; `none` for a request that is neither logged nor counted. */
  action: string;
  outcome: string;
  mid: string | undefined;
  paymentId: string | undefined;
  isRead: boolean;
}

/** What is known of a request when its response was sent. */
export interface Sent {
  status: number;
  elapsedMs: number;
  /** Called for API calls that are kept. */
  address: () => string;
  /** The size of the request body. */
  bytes: () => number;
}

interface FinishedRequest {
  request: HandledRequest;
  status: number;
  elapsedMs: number;
}

/** Returns the function that is called once per request, after its response. */
export function requestRecorder({
  metrics,
  log,
  callRecorder,
}: Gateway): (request: HandledRequest, sent: Sent) => void {
  const write = endOfTickList<FinishedRequest>((finished) => {
    for (const { request, status, elapsedMs } of finished) {
      const { id, action, mid, paymentId, isRead } = request;
      const outcome = request.outcome || String(status);
      metrics.request(action, outcome, elapsedMs / 1000);
      // Successful reads are logged at debug level, because polling clients would flood the log.
      const level = isRead && status === 200 ? 'debug' : 'info';
      const ms = Math.round(elapsedMs * 10) / 10;
      log.request(level, { id, action, outcome, status, mid, paymentId, ms });
    }
  });
  return (request, { status, elapsedMs, address, bytes }) => {
    if (request.action !== 'none') write({ request, status, elapsedMs });
    if (!request.call) return;
    callRecorder.offer(request.call, () => ({
      requestId: request.id,
      address: address(),
      status,
      tookMs: elapsedMs,
      bytes: bytes(),
    }));
  };
}

export interface ErrorResponse {
  status: number;
  /** In seconds. */
  retryAfter: number | undefined;
  /** The section of the docs about the error. */
  link: string;
  answer: Envelope;
}

/** The response to a request that failed; the request remembers its outcome, and errors of the server are logged. */
export function errorResponse(gateway: Gateway, request: HandledRequest, error: unknown): ErrorResponse {
  const { log } = gateway;
  const refusal = refusalOf(error);
  const { http, code } = ERRORS[refusal.error];
  const status = refusal.error === 'unknownRoute' && request.allow ? 405 : http;
  if (status === 500) log.error({ err: error, request_id: request.id }, 'request failed');
  else if (status === 503) log.warn({ err: error, request_id: request.id }, 'request refused: unavailable');
  request.outcome = `error ${code}`;
  const answer = answerOf(gateway, refusal, request);
  if (request.call) Object.assign(request.call, { error: refusal.error, answer });
  return { status, retryAfter: refusal.retryAfter, link: helpLink(gateway, refusal), answer };
}
