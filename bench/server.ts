/** One server under load, in its own process, so that its memory and CPU time can be measured. */
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import type { ProviderAccess } from '../src/connectors/index.ts';
import { createLog, standardOutput } from '../src/lib/text/log.ts';
import { createApp } from '../src/server/app.ts';
import { openGateway } from '../src/server/gateway.ts';
import { startWorkLoop } from '../src/work/loop.ts';
import { driveSql } from './sql.ts';

export interface ServerOrder {
  /**
   * `empty` is Fastify with an empty handler, `single` is the gateway with batches of one, `sql` has no HTTP,
   * `brands` is the gateway with a provider, which offers all brands, `cards` is the same with a provider that answers in
   * the process, `requests` is the gateway without the work loop, and `receiver` accepts callbacks.
   */
  kind: 'empty' | 'gateway' | 'single' | 'sql' | 'brands' | 'cards' | 'requests' | 'receiver';
  connection: { host: string; port: number; user: string; database: string };
  masterKey: string;
  adminToken: string;
  /** The response of the empty handler: a real response of the gateway. */
  answer: Record<string, string>;
  /** The provider of all brands except the test brand. */
  provider?: ProviderAccess | undefined;
  /** A folder with the roots of the wallet tokens. */
  walletRoots?: string | undefined;
}

export interface Usage {
  cpuSeconds: number;
  memory: number;
  /** The callbacks that the receiver accepted. */
  received: number;
  /** The total time that the gateway waited for its provider and the 3DS directory. */
  providerTimeMs: number;
}

export type ServerMessage = { url: string } | Usage | { perSecond: number };

type HarnessMessage = ServerOrder | { request: 'usage' } | { request: 'sql'; seconds: number; concurrency: number };

let received = 0;
let providerTimeMs = 0;

/** Adds the duration of each call to `providerTimeMs`. */
function timed<Call extends (...values: never[]) => unknown>(call: Call): Call {
  return (async (...values: Parameters<Call>) => {
    const started = performance.now();
    const result = await call(...values);
    providerTimeMs += performance.now() - started;
    return result;
  }) as unknown as Call;
}

/** A minimal merchant server. */
function startReceiver(): void {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      received++;
      response.end();
    });
  });
  server.listen(0, '127.0.0.1', () => send({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }));
}

const send = (message: ServerMessage): void => void process.send?.(message);

async function start(order: ServerOrder): Promise<void> {
  const { kind, connection, masterKey, adminToken, answer, provider, walletRoots } = order;
  if (kind === 'empty') {
    const app = Fastify({ bodyLimit: 64 * 1024 });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.post('/post', async () => answer);
    return send({ url: await app.listen({ port: 0, host: '127.0.0.1' }) });
  }
  if (kind === 'receiver') return startReceiver();
  const { gateway } = await openGateway({
    connection,
    environment: 'sandbox',
    masterKey,
    log: createLog('info', standardOutput()),
    provider: kind === 'brands' || kind === 'cards' ? provider : undefined,
    walletRoots,
    foldsInThread: true,
    ...(kind === 'single' ? { batchLimits: { items: 1, inFlight: 32 }, hotConnections: 32 } : {}),
  });
  if (kind === 'sql') {
    process.on('message', async (message: HarnessMessage) => {
      if ('request' in message && message.request === 'sql') {
        send({ perSecond: await driveSql(gateway, message.seconds, message.concurrency) });
      }
    });
    return send({ url: '' });
  }
  if (gateway.threeDs) gateway.threeDs.authenticate = timed(gateway.threeDs.authenticate);
  const { upstream } = gateway.connectors;
  if (upstream) upstream.submit = timed(upstream.submit);
  if (kind === 'cards') {
    if (upstream) upstream.submit = async () => ({ kind: 'settled' });
    if (gateway.threeDs) gateway.threeDs.authenticate = async () => ({ kind: 'notEnrolled' });
  }
  if (kind !== 'requests') startWorkLoop(gateway);
  const app = createApp(gateway, {
    isTrustedProxy: () => false,
    takesRequests: true,
    requestsPerAddress: 0,
    adminTokenDigest: hash('sha256', adminToken, 'buffer'),
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  gateway.publicUrl = url;
  gateway.inboundUrl = url;
  send({ url });
}

process.on('message', (message: HarnessMessage) => {
  if ('kind' in message) void start(message);
  else if (message.request === 'usage') {
    const { user, system } = process.cpuUsage();
    const { rss } = process.memoryUsage();
    send({ cpuSeconds: (user + system) / 1e6, memory: rss, received, providerTimeMs });
  }
});
process.once('disconnect', () => process.exit(0));
