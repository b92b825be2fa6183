/** Answers the usual request to `/post` directly on the HTTP server; the framework alone would double its cost. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gateway, MerchantCall } from '../../core/context.ts';
import { URL_ENCODED } from '../../core/requests/s2s-body.ts';
import { endOfTickList } from '../../lib/tick.ts';
import { LIMITS } from '../../rules/limits.ts';
import { errorResponse, type HandledRequest, type requestRecorder } from '../handled-request.ts';
import type { RequestLimits } from '../request-limits.ts';
import type { S2sAnswer } from './answers.ts';
import type { S2sHandler } from './index.ts';

export interface ListenerOptions {
  handle: S2sHandler;
  limits: RequestLimits;
  addressOf: (request: IncomingMessage) => string;
  nextId: () => string;
  record: ReturnType<typeof requestRecorder>;
}

/** A request on its way through the listener. */
class Exchange implements HandledRequest {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startedAt = performance.now();
  readonly call: MerchantCall = { protocol: 's2s' };
  action = 'unknown';
  outcome = '';
  mid: string | undefined = undefined;
  paymentId: string | undefined = undefined;
  isRead = false;
  address = '';
  bytes: Buffer = NO_BYTES;

  constructor(id: string, request: IncomingMessage, response: ServerResponse) {
    this.id = id;
    this.request = request;
    this.response = response;
  }
}

const NO_BYTES = Buffer.alloc(0);
const JSON_TYPE = 'application/json; charset=utf-8';

/** Whether a request is a form of the usual size at the exact path. The framework answers all others. */
export function isUsual({ method, url, headers }: IncomingMessage): boolean {
  if (url !== '/post' || method !== 'POST') return false;
  const type = headers['content-type'];
  const isForm =
    type?.startsWith(URL_ENCODED) && (type.length === URL_ENCODED.length || type[URL_ENCODED.length] === ';');
  return isForm === true && Number(headers['content-length']) <= LIMITS.bodyBytes;
}

/** Returns the listener for usual requests. The steps of all requests of one tick run together, as in `lib/tick.ts`. */
export function s2sListener(
  gateway: Gateway,
  { handle, limits, addressOf, nextId, record }: ListenerOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const respond = (exchange: Exchange, status: number, answer: object, more: readonly string[] = []): void => {
    const { id, response, startedAt } = exchange;
    const body = JSON.stringify(answer);
    const length = Buffer.byteLength(body);
    const headers = ['x-request-id', id, 'cache-control', 'no-store', 'content-type', JSON_TYPE];
    headers.push('content-length', String(length), ...more);
    // Texts of ASCII characters have the same bytes in both encodings, and Node writes latin1 faster.
    response.writeHead(status, headers).end(body, length === body.length ? 'latin1' : 'utf8');
    record(exchange, {
      status,
      elapsedMs: performance.now() - startedAt,
      address: () => exchange.address,
      bytes: () => exchange.bytes.length,
    });
  };
  const refuse = (exchange: Exchange, error: unknown): void => {
    const { status, answer, link, retryAfter } = errorResponse(gateway, exchange, error);
    const pause = retryAfter === undefined ? [] : ['retry-after', String(retryAfter)];
    respond(exchange, status, answer, ['link', link, ...pause]);
  };
  // The next batch is sent to the database before the responses of the last one are serialised.
  const answered = endOfTickList<[Exchange, S2sAnswer]>((exchanges) => {
    for (const [exchange, answer] of exchanges) respond(exchange, 200, answer);
  });
  const perform = (exchange: Exchange): void => {
    handle(exchange, URL_ENCODED, exchange.address, exchange.bytes).then(
      (answer) => answered([exchange, answer]),
      (error) => refuse(exchange, error),
    );
  };
  // The body usually arrives with the head. Reading it at once costs less than the events of a stream.
  const arrived = endOfTickList<Exchange>((exchanges) => {
    for (const exchange of exchanges) {
      if (exchange.request.complete) {
        exchange.bytes = exchange.request.read() ?? NO_BYTES;
        perform(exchange);
      } else readInPieces(exchange, perform, refuse);
    }
  });

  return (request, response) => {
    const exchange = new Exchange(nextId(), request, response);
    try {
      exchange.address = addressOf(request);
      limits.countAddress(exchange.address);
    } catch (error) {
      return refuse(exchange, error);
    }
    arrived(exchange);
  };
}

/** Reads a body that has not arrived yet as a whole. */
function readInPieces(
  exchange: Exchange,
  perform: (exchange: Exchange) => void,
  refuse: (exchange: Exchange, error: unknown) => void,
): void {
  const { request } = exchange;
  const chunks: Buffer[] = [];
  let isComplete = false;
  const disconnected = (error: Error): void => {
    // After the end of the body, the request is performed all the same.
    if (!isComplete) refuse(exchange, Object.assign(error, { statusCode: 400 }));
  };
  if (request.destroyed) {
    disconnected(new Error('The client disconnected.'));
    return;
  }
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    isComplete = true;
    exchange.bytes = Buffer.concat(chunks);
    perform(exchange);
  });
  request.on('error', disconnected);
}
