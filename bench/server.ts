/** One server under load, in a process of its own: `noop` answers without doing anything, the others are the gateway. */
import { hash } from 'node:crypto';
import Fastify from 'fastify';
import { createApp } from '../src/app.ts';
import { openGateway } from '../src/gateway.ts';
import { createLog, standardOutput } from '../src/lib/log.ts';
import { startWorkLoop } from '../src/work/loop.ts';

export interface ServerOrder {
  kind: 'noop' | 'batched' | 'single';
  connection: { host: string; port: number; user: string; database: string };
  masterKey: string;
  adminToken: string;
  /** What the server that does nothing answers: a real answer of the gateway. */
  answer: Record<string, string>;
}

async function start({ kind, connection, masterKey, adminToken, answer }: ServerOrder): Promise<string> {
  if (kind === 'noop') {
    const app = Fastify({ bodyLimit: 64 * 1024 });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.post('/post', async () => answer);
    return app.listen({ port: 0, host: '127.0.0.1' });
  }
  const { gateway } = await openGateway({
    connection,
    environment: 'sandbox',
    masterKey,
    log: createLog(process.env.BENCH_LOG ?? 'info', standardOutput()),
    ...(kind === 'single' ? { batchLimits: { items: 1, inFlight: 32 }, hotConnections: 32 } : {}),
  });
  startWorkLoop(gateway);
  const app = createApp(gateway, {
    isTrustedProxy: () => false,
    takesRequests: true,
    adminTokenDigest: hash('sha256', adminToken, 'buffer'),
  });
  return app.listen({ port: 0, host: '127.0.0.1' });
}

process.once('message', async (order: ServerOrder) => {
  process.send?.({ url: await start(order) });
});

let before = process.cpuUsage();
process.on('message', (message: { measure?: 'start' | 'end' }) => {
  if (message.measure === 'start') before = process.cpuUsage();
  if (message.measure === undefined) return;
  const { user, system } = process.cpuUsage(before);
  process.send?.({ cpuSeconds: (user + system) / 1e6, memory: process.memoryUsage().rss });
});
process.once('disconnect', () => process.exit(0));
