/** Answers the usual requests of merchants directly on the HTTP server, because the framework has its own cost. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gateway, MerchantCall } from '../core/context.ts';
import { endOfTickList } from '../lib/tick.ts';
import { LIMITS } from '../rules/limits.ts';
import { errorResponse, type HandledRequest, type requestRecorder } from './handled-request.ts';
import type { RequestLimits } from './request-limits.ts';

/** A route that the listener answers; the framework has it, too, for all other requests to its path. */
export interface DirectRoute {
  /** The exact path. */
  path: string;
  mediaType: string;
  protocol: MerchantCall['protocol'];
  /** The action of a request until its own is known. */
  action: string;
  /** Performs the request with this body, or throws a refusal. */
  handle(request: HandledRequest, address: string, bytes: Buffer): Promise<object>;
}

export interface ListenerOptions {
  routes: readonly DirectRoute[];
  limits: RequestLimits;
  addressOf: (request: IncomingMessage) => string;
  nextId: () => string;
  record: ReturnType<typeof requestRecorder>;
}

/** A request on its way through the listener. */
class Exchange implements HandledRequest {
  readonly id: string;
  readonly route: DirectRoute;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startedAt = performance.now();
  readonly call: MerchantCall;
  action: string;
  outcome = '';
  mid: string | undefined = undefined;
  paymentId: string | undefined = undefined;
  isRead = false;
  address = '';
  bytes: Buffer = NO_BYTES;

  constructor(id: string, route: DirectRoute, request: IncomingMessage, response: ServerResponse) {
    this.id = id;
    this.route = route;
    this.request = request;
    this.response = response;
    this.call = { protocol: route.protocol };
    this.action = route.action;
  }
}

const NO_BYTES = Buffer.alloc(0);
const JSON_TYPE = 'application/json; charset=utf-8';

/** Whether a request has the media type of its route and a body of the usual size. */
function isUsual({ mediaType }: DirectRoute, { headers }: IncomingMessage): boolean {
  const type = headers['content-type'];
  const hasType = type?.startsWith(mediaType) && (type.length === mediaType.length || type[mediaType.length] === ';');
  const length = Number(headers['content-length']);
  return hasType === true && length > 0 && length <= LIMITS.bodyBytes;
}

/**
 * Returns the listener, which returns false for a request that it leaves to the framework. The steps of all requests of
 * one tick run together, as in `lib/tick.ts`.
 */
export function directListener(
  gateway: Gateway,
  { routes, limits, addressOf, nextId, record }: ListenerOptions,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const byPath = new Map(routes.map((route) => [route.path, route]));
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
  const answered = endOfTickList<[Exchange, object]>((exchanges) => {
    for (const [exchange, answer] of exchanges) respond(exchange, 200, answer);
  });
  const perform = (exchange: Exchange): void => {
    exchange.route.handle(exchange, exchange.address, exchange.bytes).then(
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
    const route = request.method === 'POST' ? byPath.get(request.url as string) : undefined;
    if (route === undefined || !isUsual(route, request)) return false;
    const exchange = new Exchange(nextId(), route, request, response);
    try {
      exchange.address = addressOf(request);
      limits.countAddress(exchange.address);
      arrived(exchange);
    } catch (error) {
      refuse(exchange, error);
    }
    return true;
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
