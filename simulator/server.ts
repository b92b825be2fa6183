/** Starts the provider simulator: its ledger, its notifications, and one HTTP server for the gateway, payers and developers. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { acsRoutes } from './acs.ts';
import { createAuthenticationValues, withAuthenticationValue } from './authentication-value.ts';
import { consoleRoutes } from './console.ts';
import { controlRoutes } from './control.ts';
import { openLedger } from './ledger.ts';
import { createNotificationSender } from './notifications.ts';
import { sendPage, unknownPage } from './page.ts';
import { payerRoutes } from './payer-pages.ts';
import { type Simulator, scheduleProgress } from './payments.ts';
import { providerRoutes } from './provider.ts';
import { directoryRoutes } from './three-ds.ts';
import { createTimers } from './timers.ts';

export interface SimulatorOptions {
  host: string;
  /** If the port is in use, a free one is chosen. */
  port: number;
  /** The address that payers' browsers use, if it is not that of the server. */
  publicUrl?: string | undefined;
  /** The SQLite file; without it, data are kept in memory only. */
  file?: string | undefined;
  /** The bearer key of the gateway. */
  key: string;
  /** The secret that signs notifications, as base64. */
  notificationSecret: string;
  notificationRetryMs?: readonly number[] | undefined;
  /** How much later everything happens that comes by itself; for tests that look or act before it. */
  delayMs?: number | undefined;
}

const NOTIFICATION_RETRY_MS = [200, 1000, 5000, 15_000, 60_000, 300_000];
/** A payment may contain wallet tokens and attachments. */
const BODY_BYTES = 16 * 1024 * 1024;

const logError = (error: unknown): void => console.error('provider simulator:', error);

export async function startSimulator(options: SimulatorOptions): Promise<{ url: string; close(): Promise<void> }> {
  const ledger = openLedger(options.file);
  const timers = createTimers(logError, options.delayMs);
  const app = Fastify({
    bodyLimit: BODY_BYTES,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 200 },
  });
  const retryMs = options.notificationRetryMs ?? NOTIFICATION_RETRY_MS;
  let publicUrl = options.publicUrl ?? '';
  const authenticationValueOf = createAuthenticationValues(options.notificationSecret);
  const complete = (body: string): string => withAuthenticationValue(body, authenticationValueOf);
  const notifications = createNotificationSender(
    ledger,
    timers,
    { secret: options.notificationSecret, retryMs, complete },
    logError,
  );
  const simulator: Simulator = {
    ledger,
    timers,
    notifications,
    authenticationValueOf,
    link: (path) => publicUrl + path,
  };
  const close = async (): Promise<void> => {
    timers.stop();
    await app.close();
    await notifications.close();
    ledger.close();
  };

  registerRoutes(app, simulator, options.key);
  try {
    await listen(app, options);
  } catch (error) {
    await close();
    throw error;
  }
  const { port } = app.server.address() as AddressInfo;
  const url = `http://${localHost(options.host)}:${port}`;
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

/** The host name by which programs on this machine reach the server. */
function localHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function registerRoutes(app: FastifyInstance, simulator: Simulator, key: string): void {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${key}`);
  const isGateway = ({ headers: { authorization = '' } }: FastifyRequest): boolean =>
    timingSafeEqual(digest(authorization), expected);

  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode >= 500) logError(error);
    reply.code(statusCode).send({ error: statusCode >= 500 ? 'The provider simulator has a fault.' : error.message });
  });
  app.setNotFoundHandler((request, reply) =>
    /^\/(v1|control)\//.test(request.url)
      ? reply.code(404).send({ error: 'There is nothing here.' })
      : sendPage(reply.code(404), unknownPage()),
  );

  const registerGatewayApi = (prefix: string, routes: (app: FastifyInstance, simulator: Simulator) => void): void => {
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
  registerGatewayApi('/v1', providerRoutes);
  registerGatewayApi('/control', controlRoutes);
  registerGatewayApi('/3ds', directoryRoutes);
  app.register(async (part) => payerRoutes(part, simulator));
  app.register(async (part) => acsRoutes(part, simulator));
  app.register(async (part) => consoleRoutes(part, simulator));
}
