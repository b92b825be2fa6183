/** Receives the webhooks of a real provider that a forwarder of the operator passes on to this machine. */
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Webhook } from '../test/conformance/conforms.ts';

export interface WebhookReceiver {
  /** The public address that the forwarder listens at, for providers that are told it with each payment. */
  url: string | undefined;
  /** The webhooks since the last call; waits until there is one. */
  take(): Promise<Webhook[]>;
  close(): Promise<void>;
}

const PATIENCE_MS = 60_000;
const STEP_MS = 500;

/** Undefined unless `LIVE_WEBHOOK_PORT` is set, to the port to which the forwarder passes webhooks on. */
export async function startWebhookReceiver(): Promise<WebhookReceiver | undefined> {
  const port = Number(process.env.LIVE_WEBHOOK_PORT ?? '');
  if (!Number.isInteger(port) || port < 1) return undefined;
  const received: Webhook[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(parts) });
    response.end('[accepted]');
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: process.env.LIVE_WEBHOOK_URL,
    async take() {
      for (let waited = 0; received.length === 0 && waited < PATIENCE_MS; waited += STEP_MS) await setTimeout(STEP_MS);
      return received.splice(0);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
