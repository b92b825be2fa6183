/** Opens the provider simulator: its books, its news, and one server for the gateway, the payer and who pulls the strings. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { accessControl } from './acs.ts';
import { consoleRoutes } from './console.ts';
import { controlApi } from './control.ts';
import { openLedger } from './ledger.ts';
import { createNotificationSender } from './notifications.ts';
import { sendPage, unknownPage } from './page.ts';
import { payerPages } from './payer.ts';
import { type Simulator, scheduleProgress } from './payments.ts';
import { proofMaker, withProof } from './proof.ts';
import { providerApi } from './provider.ts';
import { directory } from './three-ds.ts';
import { createTimers } from './timers.ts';

export interface SimulatorOptions {
  host: string;
  /** Taken already? Then a free one is used. */
  port: number;
  /** How a payer's browser reaches the world, when not by its own address. */
  publicUrl?: string | undefined;
  /** The SQLite file; without one the world is forgotten when it closes. */
  file?: string | undefined;
  /** The bearer key of the gateway. */
  key: string;
  /** What news are signed with, as base64. */
  notificationSecret: string;
  notificationRetryMs?: readonly number[] | undefined;
}

const NOTIFICATION_RETRY_MS = [200, 1000, 5000, 15_000, 60_000, 300_000];
/** Wallet tokens and attachments travel inside of a payment. */
const BODY_BYTES = 16 * 1024 * 1024;

const report = (error: unknown): void => console.error('sandbox:', error);

export async function startSimulator(options: SimulatorOptions): Promise<{ url: string; close(): Promise<void> }> {
  const ledger = openLedger(options.file);
  const timers = createTimers(report);
  const app = Fastify({
    bodyLimit: BODY_BYTES,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 200 },
  });
  const pausesMs = options.notificationRetryMs ?? NOTIFICATION_RETRY_MS;
  let publicUrl = options.publicUrl ?? '';
  const proofOf = proofMaker(options.notificationSecret);
  const complete = (body: string): string => withProof(body, proofOf);
  const notifications = createNotificationSender(
    ledger,
    timers,
    { secret: options.notificationSecret, pausesMs, complete },
    report,
  );
  const simulator: Simulator = { ledger, timers, notifications, proofOf, link: (path) => publicUrl + path };
  const close = async (): Promise<void> => {
    timers.stop();
    await app.close();
    await notifications.close();
    ledger.close();
  };

  serve(app, simulator, options.key);
  try {
    await listen(app, options);
  } catch (error) {
    await close();
    throw error;
  }
  const { port } = app.server.address() as AddressInfo;
  const url = `http://${reachable(options.host)}:${port}`;
  publicUrl ||= url;
  for (const payment of ledger.paymentsDue()) scheduleProgress(simulator, payment);
  return { url, close };
}

async function listen(app: FastifyInstance, { host, port }: SimulatorOptions): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    await app.listen({ host, port: 0 });
  }
}

/** The name under which a server on this host answers on the same machine. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function serve(app: FastifyInstance, simulator: Simulator, key: string): void {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${key}`);
  const isGateway = ({ headers: { authorization = '' } }: FastifyRequest): boolean =>
    timingSafeEqual(digest(authorization), expected);

  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode >= 500) report(error);
    reply.code(statusCode).send({ error: statusCode >= 500 ? 'The provider simulator has a fault.' : error.message });
  });
  app.setNotFoundHandler((request, reply) =>
    /^\/(v1|control)\//.test(request.url)
      ? reply.code(404).send({ error: 'There is nothing here.' })
      : sendPage(reply.code(404), unknownPage()),
  );

  const forTheGateway = (prefix: string, routes: (app: FastifyInstance, simulator: Simulator) => void): void => {
    app.register(
      async (part) => {
        part.addHook('onRequest', async (request, reply) => {
          if (!isGateway(request)) return reply.code(401).send({ error: 'The bearer key is missing or wrong.' });
        });
        routes(part, simulator);
      },
      { prefix },
    );
  };
  forTheGateway('/v1', providerApi);
  forTheGateway('/control', controlApi);
  forTheGateway('/3ds', directory);
  app.register(async (part) => payerPages(part, simulator));
  app.register(async (part) => accessControl(part, simulator));
  app.register(async (part) => consoleRoutes(part, simulator));
}
