/** Receives the webhooks of a real provider that a forwarder of the operator passes on to this machine. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Webhook } from '../test/conformance/conforms.ts';

export interface WebhookReceiver {
  /** The webhooks since the last call; waits until there is one. With a text, only those that contain it. */
  take(about?: string): Promise<Webhook[]>;
  close(): Promise<void>;
}

const PATIENCE_MS = 60_000;
const STEP_MS = 500;
/** A provider sends the webhooks of one payment within this time, in any order. */
const FOLLOWING_MS = 2000;

/** The server of this process, and what each receiver has not taken yet. */
let shared: { server: Server; queues: Set<Webhook[]> } | undefined;

/** Undefined unless `LIVE_WEBHOOK_PORT` is set, to the port to which the forwarder passes webhooks on. */
export async function startWebhookReceiver(): Promise<WebhookReceiver | undefined> {
  const port = Number(process.env.LIVE_WEBHOOK_PORT ?? '');
  if (!Number.isInteger(port) || port < 1) return undefined;
  shared ??= await listen(port);
  const { server, queues } = shared;
  const received: Webhook[] = [];
  queues.add(received);
  const isThere = (about: string): boolean => received.some(({ body }) => body.includes(about));
  return {
    async take(about = '') {
      for (let waited = 0; !isThere(about) && waited < PATIENCE_MS; waited += STEP_MS) await setTimeout(STEP_MS);
      if (about !== '') await setTimeout(FOLLOWING_MS);
      return received.splice(0).filter(({ body }) => body.includes(about));
    },
    async close() {
      queues.delete(received);
      if (queues.size > 0) return;
      shared = undefined;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function listen(port: number): Promise<NonNullable<typeof shared>> {
  const queues = new Set<Webhook[]>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const webhook = { headers: request.headers as Record<string, string>, body: Buffer.concat(parts) };
    for (const queue of queues) queue.push(webhook);
    response.end('[accepted]');
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { server, queues };
}
