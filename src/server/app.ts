/** The HTTP server: registers the routes, and gives every request an id, a log line and metrics. */
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Gateway } from '../core/context.ts';
import { principalOf } from '../core/operators/api-tokens.ts';
import { newSecret } from '../lib/crypto/id.ts';
import { allocateYoung } from '../lib/flow/young-generation.ts';
import { clientAddress } from '../lib/http/address.ts';
import { isPrivateAddress } from '../lib/http/private-address.ts';
import { customerPages } from '../pages/customers/index.ts';
import { docsRoutes } from '../pages/docs/index.ts';
import { embedRoutes } from '../pages/embed/index.ts';
import { invoicePages } from '../pages/invoices/index.ts';
import { linkPages } from '../pages/links/index.ts';
import { logoRoutes } from '../pages/logos.ts';
import { panelRoutes } from '../pages/panel/index.ts';
import { signInRoutes } from '../pages/panel/sign-in/index.ts';
import { payRoutes } from '../pages/pay/index.ts';
import { pretendWalletRoutes } from '../pages/pay/pretend-wallet.ts';
import { startRoutes } from '../pages/start.ts';
import { isPageAsked, sendUnknownPage } from '../pages/unknown-page.ts';
import { docsOfError } from '../rules/docs.ts';
import { ERRORS, type Problem, Refusal } from '../rules/errors.ts';
import { LIMITS } from '../rules/limits.ts';
import { adminRoutes } from '../wire/admin/index.ts';
import { CHECKOUT_PREFIX, checkoutDirectRoutes, checkoutHandler, checkoutRoutes } from '../wire/checkout/index.ts';
import { type Envelope, entryOf, envelope } from '../wire/envelope.ts';
import { errorResponse, type HandledRequest, requestRecorder } from '../wire/handled-request.ts';
import { healthRoutes } from '../wire/health.ts';
import { answerOf, helpLink } from '../wire/help.ts';
import { inboundRoutes } from '../wire/inbound/index.ts';
import { directListener, type Listener } from '../wire/listener.ts';
import { openApiRoutes } from '../wire/openapi.ts';
import { createRequestLimits } from '../wire/request-limits.ts';
import { s2sDirectRoute, s2sHandler, s2sRoutes } from '../wire/s2s/index.ts';
import { callbackInboxRoutes } from '../wire/sandbox/callback-inbox.ts';
import { sandboxRoutes } from '../wire/sandbox/index.ts';
import { createRouteTable } from '../wire/unknown-route.ts';
import { acceptDirectly } from './direct-connections.ts';
import { closeAfterReading, lingerOnClose } from './lingering-close.ts';
import { answerInTurn, refuseInTurn } from './requests-in-turn.ts';

declare module 'fastify' {
  interface FastifyRequest extends HandledRequest {}
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
  if (isLong) reply.header('connection', 'close');
}

export function createApp(
  gateway: Gateway,
  { isTrustedProxy, adminTokenDigest, takesRequests, requestsPerAddress = 0 }: AppOptions,
): FastifyInstance {
  allocateYoung();
  const nextId = requestIds();
  const app = Fastify({
    loggerInstance: gateway.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LIMITS.bodyBytes,
    requestTimeout: LIMITS.requestMs,
    forceCloseConnections: 'idle',
    // A request that is on its way when the process stops is answered like any other, and its connection is closed then.
    return503OnClosing: false,
    // A request has one log line, written at its end, so it needs no child logger.
    childLoggerFactory: (logger) => logger,
    requestIdHeader: false,
    genReqId: nextId,
    clientErrorHandler: (error, socket) =>
      error.code === 'ECONNRESET'
        ? void socket.destroy()
        : refuseInTurn(socket, () => answerBrokenRequest(gateway, socket)),
    // A malformed path is an unknown route; no hook runs for it.
    frameworkErrors: (_error, request, reply: unknown) => {
      const answer = (reply as FastifyReply)
        .header('x-request-id', request.id)
        .header('cache-control', 'no-store')
        .header('link', helpLink(gateway, { error: 'unknownRoute' }));
      leaveUnread(request, answer);
      answer.code(ERRORS.unknownRoute.http).send(answerOf(gateway, new Refusal('unknownRoute'), { call: undefined }));
    },
    // Merchants compose addresses from parts, so a trailing or a doubled slash is common.
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 200 },
  });
  const record = requestRecorder(gateway);
  const noteProxy = proxyNotes(gateway);
  const clientOf = (remoteAddress = '', forwardedFor?: string | string[]): string =>
    clientAddress(remoteAddress, forwardedFor, isTrustedProxy, noteProxy);
  const addressOf = ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string =>
    clientOf(socket.remoteAddress, headers['x-forwarded-for']);
  const access = { principalOf: principalOf.bind(undefined, gateway, adminTokenDigest), addressOf };

  app.decorateRequest('action', 'none');
  app.decorateRequest('outcome', '');
  app.decorateRequest('mid', undefined);
  app.decorateRequest('paymentId', undefined);
  app.decorateRequest('isRead', false);
  app.decorateRequest('call', undefined);
  app.decorateRequest('allow', undefined);

  const table = createRouteTable();
  app.addHook('onRoute', (route) => table.add(route));

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('cache-control', 'no-store');
    if (!request.is404) return done();
    // An unknown route is refused before the body is read.
    request.action = 'unknown';
    request.allow = table.methodsAt(request.url);
    if (request.allow) reply.header('allow', request.allow.join(', '));
    leaveUnread(request, reply);
    done(new Refusal('unknownRoute'));
  });
  // A body that nothing reads, such as that of a GET: the client must still get the response.
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (!request.raw.complete) leaveUnread(request, reply);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    // The rest of a body whose reader has stopped is discarded.
    if (!request.raw.complete) request.raw.resume();
    record(request, {
      status: reply.statusCode,
      elapsedMs: reply.elapsedTime,
      address: () => addressOf(request),
      bytes: () => Number(request.headers['content-length'] ?? LIMITS.bodyBytesMost),
    });
    done();
  });

  app.setErrorHandler((error, request, reply) => {
    const { status, retryAfter, link, answer } = errorResponse(gateway, request, error);
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
    reply.code(status).header('link', link);
    if (isPageAsked(request)) return sendUnknownPage(reply, gateway, answer.hint ?? '');
    reply.send(answer);
  });

  // A connection that was busy when closing began becomes idle later, and keep-alive would hold it open for a minute.
  app.addHook('preClose', (done) => {
    const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS);
    app.server.once('close', () => clearInterval(sweep));
    done();
  });

  lingerOnClose(app.server);
  // An unsupported `Expect` header gets the error envelope, too, instead of Node's plain 417.
  app.server.on('checkExpectation', (_request, response) => {
    const refusal = brokenRequest(gateway, { field: 'expect', sentence: 'This header is not supported.' });
    response.writeHead(400, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(refusal));
  });

  app.register(async (routes) => healthRoutes(routes, gateway));
  if (!takesRequests) {
    answerInTurn(app.server);
    return app;
  }
  const limits = createRequestLimits(gateway, requestsPerAddress);
  const handle = s2sHandler(gateway, limits);
  app.register(async (routes) => s2sRoutes(routes, gateway, addressOf, limits, handle));
  const handleCheckout = checkoutHandler(gateway, limits);
  app.register(async (routes) => checkoutRoutes(routes, addressOf, limits, handleCheckout), {
    prefix: CHECKOUT_PREFIX,
  });
  const directRoutes = [s2sDirectRoute(handle), ...checkoutDirectRoutes(handleCheckout)];
  const options = { routes: directRoutes, limits, addressOf: clientOf, nextId, record };
  listenBeforeFramework(app, directListener(gateway, options));
  app.register(async (routes) => openApiRoutes(routes, gateway));
  app.register(async (routes) => inboundRoutes(routes, gateway, addressOf));
  app.register(async (routes) => payRoutes(routes, gateway, (request) => addressOf(request as FastifyRequest)));
  app.register(async (routes) => embedRoutes(routes, gateway));
  app.register(async (routes) => linkPages(routes, gateway, addressOf));
  app.register(async (routes) => customerPages(routes, gateway, addressOf));
  app.register(async (routes) => invoicePages(routes, gateway, addressOf));
  app.register(async (routes) => signInRoutes(routes, gateway, addressOf));
  app.register(async (routes) => adminRoutes(routes, gateway, access), { prefix: '/admin/api' });
  app.register(async (routes) => panelRoutes(routes, gateway, addressOf));
  app.register(async (routes) => startRoutes(routes, gateway));
  app.register(async (routes) => docsRoutes(routes, gateway));
  app.register(async (routes) => logoRoutes(routes, gateway));
  if (gateway.environment === 'sandbox') {
    app.register(async (routes) => sandboxRoutes(routes, gateway, access), { prefix: '/sandbox/api' });
    app.register(async (routes) => pretendWalletRoutes(routes, gateway), { prefix: '/sandbox' });
    app.register(async (routes) => callbackInboxRoutes(routes, gateway), { prefix: '/sandbox' });
  }
  return app;
}

/** Passes the usual requests of merchants to their listener, until the server closes, and all others to the framework. */
function listenBeforeFramework(app: FastifyInstance, listener: Listener): void {
  const { server } = app;
  const framework = server.listeners('request') as RequestListener[];
  let isClosing = false;
  server.removeAllListeners('request').on('request', (request, response) => {
    if (!isClosing && listener.takeMessage(request, response)) return;
    for (const listen of framework) listen(request, response);
  });
  answerInTurn(server);
  const closeDirect = acceptDirectly(server, listener.takeWhole);
  app.addHook('preClose', (done) => {
    isClosing = true;
    closeDirect();
    done();
  });
}

/** Notes, once, that a proxy seems to be in front although no proxy is trusted: all its clients share its address then. */
function proxyNotes(gateway: Gateway): (peer: string) => void {
  return (peer) => {
    if (gateway.untrustedProxy !== undefined) return;
    // Anyone on the internet can send the header; a proxy of one's own usually has a private address.
    if (!isPrivateAddress(peer)) return;
    gateway.untrustedProxy = peer;
    gateway.log.warn(
      { peer },
      'X-Forwarded-For is ignored, because the peer is not in TURNPIKE_TRUSTED_PROXIES: its clients count as one address',
    );
  };
}

/** Short ids that are unique over all processes: a random prefix per process and a counter. */
function requestIds(): () => string {
  // Letters only, because the log masks a run of digits that looks like a card number.
  const process = newSecret(5).replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));
  let count = 0;
  return () => `${process}-${(++count).toString(36)}`;
}

/** The error envelope of a request that no route has seen. */
const brokenRequest = ({ publicUrl }: Gateway, problem: Problem): Envelope =>
  envelope('invalidData', [entryOf(problem, problem.field, publicUrl + docsOfError('invalidData'))]);

/** A request that is not valid HTTP gets the error envelope, too. */
function answerBrokenRequest(gateway: Gateway, socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return;
  const body = JSON.stringify(brokenRequest(gateway, { field: 'body', sentence: 'The request is not valid HTTP.' }));
  socket.write(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  closeAfterReading(socket);
}
