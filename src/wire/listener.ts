/** Answers the usual requests of merchants before the framework, which has its own cost. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gateway, MerchantCall } from '../core/context.ts';
import { endOfTickList } from '../lib/flow/tick.ts';
import type { WholeRequest } from '../lib/http/whole-request.ts';
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

/** Sends the response to a request. */
export interface Reply {
  /** The headers are names and values in turn. */
  send(status: number, headers: readonly string[], body: string, encoding: 'latin1' | 'utf8'): void;
}

/** Both functions return false for a request that they leave to the framework. */
export interface Listener {
  /** Takes a request that Node's HTTP server has read the head of. */
  takeMessage(message: IncomingMessage, response: ServerResponse): boolean;
  /** Takes a request that has arrived as a whole. */
  takeWhole(request: WholeRequest, remoteAddress: string, reply: Reply): boolean;
}

export interface ListenerOptions {
  routes: readonly DirectRoute[];
  limits: RequestLimits;
  addressOf: (remoteAddress: string | undefined, forwardedFor: string | string[] | undefined) => string;
  nextId: () => string;
  record: ReturnType<typeof requestRecorder>;
}

/** A request on its way through the listener. */
class Exchange implements HandledRequest {
  readonly id: string;
  readonly route: DirectRoute;
  readonly reply: Reply;
  readonly startedAt = performance.now();
  readonly call: MerchantCall;
  action: string;
  outcome = '';
  mid: string | undefined = undefined;
  paymentId: string | undefined = undefined;
  isRead = false;
  readonly address: string;
  /** From which the body is still to be read. */
  readonly message: IncomingMessage | undefined;
  bytes: Buffer;

  constructor(id: string, route: DirectRoute, reply: Reply, address: string, body: Buffer | IncomingMessage) {
    this.id = id;
    this.route = route;
    this.reply = reply;
    this.address = address;
    this.message = Buffer.isBuffer(body) ? undefined : body;
    this.bytes = Buffer.isBuffer(body) ? body : NO_BYTES;
    this.call = { protocol: route.protocol };
    this.action = route.action;
  }
}

const NO_BYTES = Buffer.alloc(0);
const JSON_TYPE = 'application/json; charset=utf-8';

/** Whether a request to this route has its media type and a body of the usual size. */
function isUsual(
  route: DirectRoute | undefined,
  contentType: string | undefined,
  length: number,
): route is DirectRoute {
  if (route === undefined || !contentType?.startsWith(route.mediaType)) return false;
  const { mediaType } = route;
  const hasType = contentType.length === mediaType.length || contentType[mediaType.length] === ';';
  return hasType && length > 0 && length <= LIMITS.bodyBytes;
}

const replyOf = (response: ServerResponse): Reply => ({
  send: (status, headers, body, encoding) => void response.writeHead(status, headers as string[]).end(body, encoding),
});

/** The steps of all requests of one tick run together, as in `lib/flow/tick.ts`. */
export function directListener(
  gateway: Gateway,
  { routes, limits, addressOf, nextId, record }: ListenerOptions,
): Listener {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  const respond = (exchange: Exchange, status: number, answer: object, more: readonly string[] = []): void => {
    const { id, reply, startedAt } = exchange;
    const body = JSON.stringify(answer);
    const length = Buffer.byteLength(body);
    const headers = ['x-request-id', id, 'cache-control', 'no-store', 'content-type', JSON_TYPE];
    headers.push('content-length', String(length), ...more);
    // Texts of ASCII characters have the same bytes in both encodings, and Node writes latin1 faster.
    reply.send(status, headers, body, length === body.length ? 'latin1' : 'utf8');
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
      const { message } = exchange;
      if (message?.complete === false) {
        readInPieces(exchange, message, perform, refuse);
        continue;
      }
      // Without a length, `read` returns the first piece.
      if (message) exchange.bytes = message.read(message.readableLength) ?? NO_BYTES;
      perform(exchange);
    }
  });

  const take = (exchange: Exchange): true => {
    try {
      limits.countAddress(exchange.address);
      arrived(exchange);
    } catch (error) {
      refuse(exchange, error);
    }
    return true;
  };

  return {
    takeMessage(message, response) {
      const { headers, method, url = '', socket } = message;
      const route = method === 'POST' ? byPath.get(url) : undefined;
      if (!isUsual(route, headers['content-type'], Number(headers['content-length']))) return false;
      const address = addressOf(socket.remoteAddress, headers['x-forwarded-for']);
      return take(new Exchange(nextId(), route, replyOf(response), address, message));
    },
    takeWhole({ path, contentType, forwardedFor, body }, remoteAddress, reply) {
      const route = byPath.get(path);
      if (!isUsual(route, contentType, body.length)) return false;
      return take(new Exchange(nextId(), route, reply, addressOf(remoteAddress, forwardedFor), body));
    },
  };
}

/** Reads a body that has not arrived yet as a whole. */
function readInPieces(
  exchange: Exchange,
  message: IncomingMessage,
  perform: (exchange: Exchange) => void,
  refuse: (exchange: Exchange, error: unknown) => void,
): void {
  const chunks: Buffer[] = [];
  let isComplete = false;
  const disconnected = (error: Error): void => {
    // After the end of the body, the request is performed all the same.
    if (!isComplete) refuse(exchange, Object.assign(error, { statusCode: 400 }));
  };
  if (message.destroyed) {
    disconnected(new Error('The client disconnected.'));
    return;
  }
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  message.on('end', () => {
    isComplete = true;
    exchange.bytes = Buffer.concat(chunks);
    perform(exchange);
  });
  message.on('error', disconnected);
}
