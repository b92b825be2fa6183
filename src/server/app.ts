/** The HTTP server: registers the routes, and gives every request an id, a log line and metrics. */
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { principalOf } from '../core/api-tokens.ts';
import type { Gateway, MerchantCall } from '../core/context.ts';
import { clientAddress } from '../lib/address.ts';
import { newSecret } from '../lib/id.ts';
import { endOfTickList } from '../lib/tick.ts';
import { docsRoutes } from '../pages/docs/index.ts';
import { panelRoutes } from '../pages/panel/index.ts';
import { signInRoutes } from '../pages/panel/sign-in/index.ts';
import { payRoutes } from '../pages/pay/index.ts';
import { pretendWalletRoutes } from '../pages/pay/pretend-wallet.ts';
import { startRoutes } from '../pages/start.ts';
import { ERRORS, Refusal } from '../rules/errors.ts';
import { LIMITS } from '../rules/limits.ts';
import { adminRoutes } from '../wire/admin/index.ts';
import { checkoutRoutes } from '../wire/checkout/index.ts';
import { envelope, refusalOf } from '../wire/envelope.ts';
import { healthRoutes } from '../wire/health.ts';
import { inboundRoutes } from '../wire/inbound/index.ts';
import { openApiRoutes } from '../wire/openapi.ts';
import { createRequestLimits } from '../wire/request-limits.ts';
import { s2sRoutes } from '../wire/s2s/index.ts';
import { callbackInboxRoutes } from '../wire/sandbox/callback-inbox.ts';
import { sandboxRoutes } from '../wire/sandbox/index.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The action of the request and its outcome, for the log and the metrics. */
    action: string;
    outcome: string;
    mid: string | undefined;
    paymentId: string | undefined;
    isRead: boolean;
    /** Set on the routes of merchants. */
    call: MerchantCall | undefined;
  }
}

interface FinishedRequest {
  request_id: string;
  action: string;
  outcome: string;
  status: number;
  mid: string | undefined;
  payment_id: string | undefined;
  elapsedMs: number;
  /** A successful read, logged at debug level, because polling clients would flood the log. */
  isQuiet: boolean;
}

export interface AppOptions {
  isTrustedProxy: (address: string) => boolean;
  /** The SHA-256 digest of the admin token. */
  adminTokenDigest: Buffer;
  /** False for a process that only runs the work loop; it serves health and metrics only. */
  takesRequests: boolean;
  /** The maximum number of API requests per second from one address; 0 or undefined means no limit. */
  requestsPerAddress?: number;
}

const IDLE_SWEEP_MS = 50;

/** Closes the connection after the response when the unread body may be long. */
function leaveUnread({ headers }: FastifyRequest, reply: FastifyReply): void {
  const isLong = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > LIMITS.bodyBytes;
  if (isLong) closeUnread(reply);
}

/**
 * Closes the connection after the response without reading the rest of the request. The connection stays half open for
 * a moment: closing it while data arrive would reset it, and the client would lose the response.
 */
function closeUnread(reply: FastifyReply): void {
  reply.header('connection', 'close');
  const { socket } = reply.raw;
  if (socket) socket.destroySoon = () => endHalfOpen(socket);
}

function endHalfOpen(socket: Socket, text?: string): void {
  if (text === undefined) socket.end();
  else socket.end(text);
  setTimeout(() => socket.destroy(), LIMITS.lingerMs).unref();
}

export function createApp(
  gateway: Gateway,
  { isTrustedProxy, adminTokenDigest, takesRequests, requestsPerAddress = 0 }: AppOptions,
): FastifyInstance {
  const app = Fastify({
    loggerInstance: gateway.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LIMITS.bodyBytes,
    requestTimeout: LIMITS.requestMs,
    forceCloseConnections: 'idle',
    // A request has one log line, written at its end, so it needs no child logger.
    childLoggerFactory: (logger) => logger,
    requestIdHeader: false,
    genReqId: requestIds(),
    clientErrorHandler: answerBrokenRequest,
    // A malformed path is an unknown route; no hook runs for it.
    frameworkErrors: (_error, request, reply: unknown) => {
      const answer = (reply as FastifyReply).header('x-request-id', request.id).header('cache-control', 'no-store');
      leaveUnread(request, answer);
      answer.code(ERRORS.unknownRoute.http).send(envelope('unknownRoute'));
    },
    // Merchants compose addresses from parts, so a trailing or a doubled slash is common.
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 200 },
  });
  const addressOf = (request: FastifyRequest): string =>
    clientAddress(request.socket.remoteAddress ?? '', request.headers['x-forwarded-for'], isTrustedProxy);
  const access = { principalOf: principalOf.bind(undefined, gateway, adminTokenDigest), addressOf };

  app.decorateRequest('action', 'none');
  app.decorateRequest('outcome', '');
  app.decorateRequest('mid', undefined);
  app.decorateRequest('paymentId', undefined);
  app.decorateRequest('isRead', false);
  app.decorateRequest('call', undefined);

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('cache-control', 'no-store');
    if (!request.is404) return done();
    // An unknown route is refused before the body is read.
    request.action = 'unknown';
    leaveUnread(request, reply);
    done(new Refusal('unknownRoute'));
  });
  const finished = endOfTickList<FinishedRequest>((requests) => {
    for (const { elapsedMs, isQuiet, ...request } of requests) {
      gateway.metrics.request(request.action, request.outcome, elapsedMs / 1000);
      const level = isQuiet ? 'debug' : 'info';
      if (gateway.log.isLevelEnabled(level)) {
        gateway.log[level]({ ...request, ms: Math.round(elapsedMs * 10) / 10 }, 'request');
      }
    }
  });
  app.addHook('onResponse', (request, reply, done) => {
    if (request.action !== 'none') {
      finished({
        request_id: request.id,
        action: request.action,
        outcome: request.outcome || String(reply.statusCode),
        status: reply.statusCode,
        mid: request.mid,
        payment_id: request.paymentId,
        elapsedMs: reply.elapsedTime,
        isQuiet: request.isRead && reply.statusCode === 200,
      });
    }
    if (request.call) {
      gateway.callRecorder.offer(request.call, () => ({
        requestId: request.id,
        address: addressOf(request),
        status: reply.statusCode,
        tookMs: reply.elapsedTime,
        bytes: Number(request.headers['content-length'] ?? LIMITS.bodyBytesMost),
      }));
    }
    done();
  });

  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error);
    const { http, code } = ERRORS[refusal.error];
    if (http === 500) gateway.log.error({ err: error, request_id: request.id }, 'request failed');
    else if (http === 503) gateway.log.warn({ err: error, request_id: request.id }, 'request refused: unavailable');
    request.outcome = `error ${code}`;
    if (refusal.retryAfter !== undefined) reply.header('retry-after', refusal.retryAfter);
    // Fastify closes the connection when a body could not be read; the client must still get the response.
    if (!request.raw.complete && reply.getHeader('connection') === 'close') closeUnread(reply);
    const answer = envelope(refusal.error, refusal.problems);
    if (request.call) Object.assign(request.call, { error: refusal.error, answer });
    reply.code(http).send(answer);
  });

  // A connection that was busy when closing began becomes idle later, and keep-alive would hold it open for a minute.
  app.addHook('preClose', (done) => {
    const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS);
    app.server.once('close', () => clearInterval(sweep));
    done();
  });

  // An unsupported `Expect` header gets the error envelope, too, instead of Node's plain 417.
  app.server.on('checkExpectation', (_request, response) => {
    const refusal = envelope('invalidData', [{ field: 'expect', sentence: 'This header is not supported.' }]);
    response.writeHead(400, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(refusal));
  });

  app.register(async (routes) => healthRoutes(routes, gateway));
  if (!takesRequests) return app;
  const limits = createRequestLimits(gateway, requestsPerAddress);
  app.register(async (routes) => s2sRoutes(routes, gateway, addressOf, limits));
  app.register(async (routes) => checkoutRoutes(routes, gateway, addressOf, limits), { prefix: '/api/v1' });
  app.register(async (routes) => openApiRoutes(routes, gateway));
  app.register(async (routes) => inboundRoutes(routes, gateway, addressOf));
  app.register(async (routes) => payRoutes(routes, gateway, (request) => addressOf(request as FastifyRequest)));
  app.register(async (routes) => signInRoutes(routes, gateway, addressOf));
  app.register(async (routes) => adminRoutes(routes, gateway, access), { prefix: '/admin/api' });
  app.register(async (routes) => panelRoutes(routes, gateway, addressOf));
  app.register(async (routes) => startRoutes(routes, gateway));
  app.register(async (routes) => docsRoutes(routes, gateway));
  if (gateway.environment === 'sandbox') {
    app.register(async (routes) => sandboxRoutes(routes, gateway, access), { prefix: '/sandbox/api' });
    app.register(async (routes) => pretendWalletRoutes(routes, gateway), { prefix: '/sandbox' });
    app.register(async (routes) => callbackInboxRoutes(routes, gateway), { prefix: '/sandbox' });
  }
  return app;
}

/** Short ids that are unique over all processes: a random prefix per process and a counter. */
function requestIds(): () => string {
  // Letters only, because the log masks a run of digits that looks like a card number.
  const process = newSecret(5).replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));
  let count = 0;
  return () => `${process}-${(++count).toString(36)}`;
}

/** A request that is not valid HTTP gets the error envelope, too. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy();
  const body = JSON.stringify(envelope('invalidData', [{ field: 'body', sentence: 'The request is not valid HTTP.' }]));
  endHalfOpen(
    socket,
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
