/** Runs the gateway until a stop signal: HTTP server, work loop and, if configured, several worker processes. */
import { createServer } from 'node:net';
import type { ProviderAccess } from '../connectors/index.ts';
import { startDemo } from '../core/accounts/demo.ts';
import type { Gateway } from '../core/context.ts';
import { isHeld } from '../core/installation/hold.ts';
import { adminToken } from '../core/installation/installation.ts';
import { inviteFirstOwner } from '../core/operators/invitations.ts';
import { invitationLink, panelUrl } from '../core/operators/panel-address.ts';
import { commandCaller } from '../core/operators/principal.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import { createLog, standardOutput } from '../lib/text/log.ts';
import { LIMITS } from '../rules/limits.ts';
import type { Connection } from '../store/database/database.ts';
import { startWorkLoop } from '../work/loop.ts';
import { writeAdminToken } from './admin-token-file.ts';
import { createApp } from './app.ts';
import { banner } from './banner.ts';
import { boot } from './boot.ts';
import { type Config, mailAccess, retentionOf, trustedProxies } from './config.ts';
import { openGateway } from './gateway.ts';
import { refuseSimulatedRoutes } from './provider.ts';
import { type Handover, runWorkers, serveWorkerMetrics } from './workers.ts';

const HELD =
  'restored from a backup: nothing is charged or voided automatically until an operator releases it (turnpike backup --release)';

/** Runs a gateway in this process, or supervises several. */
export async function serve(config: Config): Promise<void> {
  const started = performance.now();
  ignoreClosedOutput();
  // Registered first: a signal during the start must still stop the database that was started.
  const stopped = stopSignal();
  const output = standardOutput();
  const log = createLog(config.logLevel, output);
  const say = (sentence: string): void => {
    if (config.environment === 'sandbox') process.stdout.write(`${sentence}\n`);
    else log.info(sentence);
  };
  await refusePortInUse(config);
  const installation = await boot(config, { log, say, isGateway: true });
  const { gateway } = installation;
  let stopServing: () => Promise<void> = async () => undefined;
  try {
    await refuseSimulatedRoutes(gateway);
    const token = await adminToken(gateway, config.adminToken);
    // For the commands on this machine; production keeps no copy of its token.
    if (token.made !== undefined && config.environment === 'sandbox') await writeAdminToken(config.dataDir, token.made);
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
      const node = await runNode(config, installation, token.digest, config.role);
      port = node.port;
      stopServing = node.stop;
    }
    const url = config.publicUrl || baseAddress(config.host, port);
    const panel = config.role === 'work' ? undefined : await panelAddress(gateway, url);
    if (await isHeld(gateway)) log.warn(HELD);
    log.info({ url, environment: config.environment, role: config.role }, 'started');
    if (config.environment === 'sandbox' && panel) {
      const demo = await startDemo(gateway, url);
      const facts = {
        url,
        simulatorUrl: simulatorUrl(config, installation.provider),
        dataDir: config.dataDir,
        tookMs: performance.now() - started,
      };
      output.flush();
      process.stdout.write(
        banner({ ...facts, demo, panel, newAdminToken: token.made, isAdminTokenSet: config.adminToken !== '' }),
      );
    } else {
      const lines = [
        ...(token.made === undefined ? [] : [`Admin token, shown only this once: ${token.made}\n`]),
        ...(panel?.isInvitation ? [`Panel, a one-time link that creates the first owner: ${panel.url}\n`] : []),
      ];
      process.stdout.write(lines.join(''));
    }
  } catch (error) {
    await stopServing();
    await installation.close();
    throw error;
  }
  await stopped;
  say('Stopping after the running requests have finished.');
  await stopServing();
  await installation.close();
  say('Stopped.');
  output.flush();
}

/** The address of the panel; while no operator is active, a new one-time link that creates the first owner. */
async function panelAddress(gateway: Gateway, url: string): Promise<{ url: string; isInvitation: boolean }> {
  const secret = await inviteFirstOwner(gateway, commandCaller('serve'));
  return secret
    ? { url: invitationLink(url, secret.reveal()), isInvitation: true }
    : { url: `${panelUrl(url)}/admin`, isInvitation: false };
}

/** Runs one of several HTTP processes; the supervisor has opened the database and checked the configuration. */
export async function serveAsWorker(config: Config, handover: Handover): Promise<void> {
  const output = standardOutput();
  const log = createLog(config.logLevel, output);
  const { gateway, close } = await openGateway({
    connection: handover.connection as Connection,
    foldsInThread: true,
    environment: config.environment,
    callbackAllow: config.callbackAllow,
    walletRoots: config.walletRoots,
    walletBRecipient: config.walletBGateway,
    mail: mailAccess(config),
    retention: retentionOf(config),
    archiveFolder: config.archiveFolder,
    marksFolder: config.marksFolder,
    masterKey: handover.masterKey,
    provider: handover.provider,
    log,
  });
  serveWorkerMetrics(gateway.metrics);
  const role = handover.isFirst ? config.role : 'http';
  const parts = { gateway, provider: handover.provider };
  const node = await runNode(config, parts, Buffer.from(handover.adminTokenDigest, 'hex'), role);
  await Promise.race([stopSignal(), new Promise((resolve) => process.once('disconnect', () => resolve(undefined)))]);
  await node.stop();
  await close();
  output.flush();
  process.exit(0);
}

/** The console of the provider simulator; undefined with a provider of one's own. */
const simulatorUrl = ({ providerUrl, sandboxUrl }: Config, provider: ProviderAccess | undefined): string | undefined =>
  providerUrl === '' ? sandboxUrl || provider?.url : undefined;

async function runNode(
  config: Config,
  { gateway, provider }: { gateway: Gateway; provider: ProviderAccess | undefined },
  adminTokenDigest: Buffer,
  role: Config['role'],
): Promise<{ port: number; stop(): Promise<void> }> {
  const loop = role === 'http' ? undefined : startWorkLoop(gateway);
  // A process that only runs the work loop still serves health and metrics.
  const app = createApp(gateway, {
    isTrustedProxy: trustedProxies(config),
    adminTokenDigest,
    takesRequests: role !== 'work',
    requestsPerAddress: config.requestsPerAddress,
  });
  const stop = async (): Promise<void> => {
    await Promise.race([app.close(), new Promise((resolve) => setTimeout(resolve, LIMITS.drainTimeoutMs).unref())]);
    // A slow client must not keep the process alive.
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
  gateway.simulatorUrl = simulatorUrl(config, provider);
  // The provider simulator runs on this machine and sends its notifications directly, without a proxy.
  gateway.inboundUrl = config.providerUrl === '' ? local : gateway.publicUrl;
  return { port, stop };
}

/** Checks the port before anything is started, so that this common error is reported at once. */
async function refusePortInUse(config: Config): Promise<void> {
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
      `Port ${port} on ${host} is in use by another program: stop it, or set PORT to another number (0 picks a free port).`,
    );
  }
  if (code === 'EACCES') return new StartupError(`This user may not listen on port ${port}: set PORT to 1024 or more.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EINVAL') {
    return new StartupError(`HOST ${host} is not an address of this machine: set it to 127.0.0.1 or 0.0.0.0.`);
  }
  return error;
}

/** The address of a gateway that listens here. */
export const baseAddress = (host: string, port: number): string => {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
};

/** A closed stdout or stderr must not stop the gateway. */
function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Resolves at the first stop signal. Later ones are ignored, because a terminal and npm may both send one. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
  });
}
