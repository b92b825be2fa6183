/** Runs the gateway until it is told to stop: HTTP, work loop, and with several workers their supervision. */
import cluster from 'node:cluster';
import { createServer } from 'node:net';
import type { Gateway } from '../core/context.ts';
import { adminToken, demoAccount } from '../core/installation.ts';
import { createLog, standardOutput } from '../lib/log.ts';
import { StartupError } from '../lib/startup-error.ts';
import { LIMITS } from '../rules/limits.ts';
import type { Connection } from '../store/database.ts';
import { startWorkLoop } from '../work/loop.ts';
import { createApp } from './app.ts';
import { banner } from './banner.ts';
import { boot } from './boot.ts';
import { type Config, trustedProxies } from './config.ts';
import { openGateway } from './gateway.ts';
import { type Handover, runWorkers, serveWorkerMetrics } from './workers.ts';

/** Runs a gateway in this process, or supervises several. */
export async function serve(config: Config): Promise<void> {
  const started = performance.now();
  ignoreClosedOutput();
  // Heard from the beginning: a stop during the start still stops the database that was started.
  const stopped = stopSignal();
  const output = standardOutput();
  const log = createLog(config.logLevel, output);
  const say = (sentence: string): void => {
    if (config.environment === 'sandbox') process.stdout.write(`${sentence}\n`);
    else log.info(sentence);
  };
  await refuseTakenPort(config);
  const installation = await boot(config, { log, say, isGateway: true });
  const { gateway } = installation;
  let stopServing: () => Promise<void> = async () => undefined;
  try {
    const token = await adminToken(gateway, config.adminToken);
    let port = config.port;
    if (config.workers > 1 && config.role !== 'work') {
      const workers = await runWorkers(
        config,
        {
          connection: installation.connection,
          masterKey: installation.masterKey,
          adminTokenDigest: token.digest.toString('hex'),
          provider: installation.provider,
        },
        log,
      );
      port = workers.port;
      stopServing = workers.stop;
    } else {
      const node = await runNode(config, gateway, token.digest, config.role);
      port = node.port;
      stopServing = node.stop;
    }
    const url = config.publicUrl || baseAddress(config.host, port);
    log.info({ url, environment: config.environment, role: config.role }, 'started');
    if (config.environment === 'sandbox' && config.role !== 'work') {
      const demo = await demoAccount(gateway);
      const simulatorUrl = config.sandboxUrl || installation.provider?.url;
      const facts = { url, simulatorUrl, dataDir: config.dataDir, tookMs: performance.now() - started };
      output.flush();
      process.stdout.write(
        banner({ ...facts, demo, newAdminToken: token.made, isAdminTokenSet: config.adminToken !== '' }),
      );
    } else if (token.made !== undefined) {
      process.stdout.write(`Admin token, shown only this once: ${token.made}\n`);
    }
  } catch (error) {
    await stopServing();
    await installation.close();
    throw error;
  }
  await stopped;
  say('Stopping: running requests are finished first.');
  await stopServing();
  await installation.close();
  say('Stopped.');
  output.flush();
}

/** One of several HTTP processes; the supervisor opened the database and checked everything. */
export async function serveAsWorker(config: Config, handover: Handover): Promise<void> {
  const output = standardOutput();
  const log = createLog(config.logLevel, output);
  const { gateway, close } = await openGateway({
    connection: handover.connection as Connection,
    environment: config.environment,
    callbackAllow: config.callbackAllow,
    masterKey: handover.masterKey,
    provider: handover.provider,
    log,
  });
  serveWorkerMetrics(gateway.metrics);
  const role = handover.isFirst ? config.role : 'http';
  const node = await runNode(config, gateway, Buffer.from(handover.adminTokenDigest, 'hex'), role);
  await Promise.race([stopSignal(), new Promise((resolve) => process.once('disconnect', () => resolve(undefined)))]);
  await node.stop();
  await close();
  output.flush();
  process.exit(0);
}

async function runNode(
  config: Config,
  gateway: Gateway,
  adminTokenDigest: Buffer,
  role: Config['role'],
): Promise<{ port: number; stop(): Promise<void> }> {
  const loop = role === 'http' ? undefined : startWorkLoop(gateway);
  // A process that only works still tells whether it is alive and what it counted.
  const app = createApp(gateway, {
    isTrustedProxy: trustedProxies(config),
    adminTokenDigest,
    takesRequests: role !== 'work',
    requestsPerAddress: config.requestsPerAddress,
  });
  const stop = async (): Promise<void> => {
    await Promise.race([app.close(), new Promise((resolve) => setTimeout(resolve, LIMITS.drainTimeoutMs).unref())]);
    // Whoever still has not sent or read to the end does not keep the process alive.
    app.server.closeAllConnections();
    await loop?.stop();
  };
  try {
    await app.listen({ port: config.port, host: config.host });
  } catch (error) {
    await stop();
    throw listenRefusal(config, error);
  }
  const address = app.server.address();
  const port = typeof address === 'object' && address ? address.port : config.port;
  const local = baseAddress(config.host, port);
  gateway.publicUrl = config.publicUrl || local;
  // The provider simulator runs beside us and knows nothing of proxies.
  gateway.inboundUrl = config.providerUrl === '' ? local : gateway.publicUrl;
  return { port, stop };
}

/** Looks before anything is started, so that the common mistake is told at once. */
async function refuseTakenPort(config: Config): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => reject(listenRefusal(config, error)));
    probe.listen(config.port, config.host, () => probe.close(() => resolve()));
  });
}

function listenRefusal({ host, port }: Config, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new StartupError(
      `Port ${port} on ${host} is in use by another program: stop that one, or set PORT to another number (0 picks a free one).`,
    );
  }
  if (code === 'EACCES')
    return new StartupError(`Port ${port} needs more rights than this user has: set PORT to 1024 or more.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EINVAL') {
    return new StartupError(`HOST ${host} is not an address of this machine: set it to 127.0.0.1 or 0.0.0.0.`);
  }
  return error;
}

const baseAddress = (host: string, port: number): string => {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
};

/** Whoever read our output may be gone; that is no reason to stop paying. */
function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** The first signal to stop; a terminal and npm may both send one, so later ones change nothing. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
  });
}

export const isWorker = (): boolean => cluster.isWorker;
