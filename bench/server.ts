/** One server under load, in a process of its own, so that its memory and its CPU time are its own. */
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import type { ProviderAccess } from '../src/connectors/index.ts';
import { createLog, standardOutput } from '../src/lib/log.ts';
import { createApp } from '../src/server/app.ts';
import { openGateway } from '../src/server/gateway.ts';
import { startWorkLoop } from '../src/work/loop.ts';
import { driveSql } from './sql.ts';

export interface ServerOrder {
  /**
   * `nothing` answers without doing anything, `single` is the gateway with batches of one, `sql` has no HTTP,
   * `brands` is the gateway with a provider behind it, which offers all brands; `receiver` takes callbacks.
   */
  kind: 'nothing' | 'gateway' | 'single' | 'sql' | 'brands' | 'receiver';
  connection: { host: string; port: number; user: string; database: string };
  masterKey: string;
  adminToken: string;
  /** What the server that does nothing answers: a real answer of the gateway. */
  answer: Record<string, string>;
  /** The provider of all brands but the test brand. */
  provider?: ProviderAccess | undefined;
}

export interface Usage {
  cpuSeconds: number;
  memory: number;
  /** Callbacks that a receiver took, and how long a gateway waited for its provider. */
  received: number;
  providerTimeoutMs: number;
}

export type ServerMessage = { url: string } | Usage | { perSecond: number };

type Question = ServerOrder | { ask: 'usage' } | { ask: 'sql'; seconds: number; concurrency: number };

let received = 0;
let providerTimeoutMs = 0;

/** Counts how long something of the provider simulator takes. */
function timed<Call extends (...values: never[]) => unknown>(call: Call): Call {
  return (async (...values: Parameters<Call>) => {
    const started = performance.now();
    const answer = await call(...values);
    providerTimeoutMs += performance.now() - started;
    return answer;
  }) as unknown as Call;
}

/** A merchant's server that does the least. */
function startReceiver(): void {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      received++;
      response.end();
    });
  });
  server.listen(0, '127.0.0.1', () => tell({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }));
}

const tell = (message: ServerMessage): void => void process.send?.(message);

async function start({ kind, connection, masterKey, adminToken, answer, provider }: ServerOrder): Promise<void> {
  if (kind === 'nothing') {
    const app = Fastify({ bodyLimit: 64 * 1024 });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.post('/post', async () => answer);
    return tell({ url: await app.listen({ port: 0, host: '127.0.0.1' }) });
  }
  if (kind === 'receiver') return startReceiver();
  const { gateway } = await openGateway({
    connection,
    environment: 'sandbox',
    masterKey,
    log: createLog('info', standardOutput()),
    provider: kind === 'brands' ? provider : undefined,
    ...(kind === 'single' ? { batchLimits: { items: 1, inFlight: 32 }, hotConnections: 32 } : {}),
  });
  if (kind === 'sql') {
    process.on('message', async (question: Question) => {
      if ('ask' in question && question.ask === 'sql') {
        tell({ perSecond: await driveSql(gateway, question.seconds, question.concurrency) });
      }
    });
    return tell({ url: '' });
  }
  if (gateway.threeDs) gateway.threeDs.authenticate = timed(gateway.threeDs.authenticate);
  const { upstream } = gateway.connectors;
  if (upstream) upstream.submit = timed(upstream.submit);
  startWorkLoop(gateway);
  const app = createApp(gateway, {
    isTrustedProxy: () => false,
    takesRequests: true,
    requestsPerAddress: 0,
    adminTokenDigest: hash('sha256', adminToken, 'buffer'),
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  gateway.publicUrl = url;
  gateway.inboundUrl = url;
  tell({ url });
}

process.on('message', (question: Question) => {
  if ('kind' in question) void start(question);
  else if (question.ask === 'usage') {
    const { user, system } = process.cpuUsage();
    const { rss } = process.memoryUsage();
    tell({ cpuSeconds: (user + system) / 1e6, memory: rss, received, providerTimeoutMs });
  }
});
process.once('disconnect', () => process.exit(0));
