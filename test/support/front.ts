/** A reverse proxy before several gateway processes: forwards what the provider sends to the one that is chosen. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Front {
  url: string;
  /** The process that gets the requests. */
  target: string;
  /** Requests that were sent and not accepted yet; a sender repeats them. */
  readonly open: number;
  close(): Promise<void>;
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

export async function startFront(): Promise<Front> {
  /** The ids of the webhooks, by which repeats are recognised. */
  const open = new Set<string>();
  const server = createServer(async (request, response) => {
    const id = String(request.headers['webhook-id']);
    open.add(id);
    const { connection: _, host: __, 'content-length': ___, ...headers } = request.headers as Record<string, string>;
    try {
      const body = await bytesOf(request);
      const answer = await fetch(front.target + request.url, { method: 'POST', headers, body });
      if (answer.ok) open.delete(id);
      response.writeHead(answer.status).end(await answer.text());
    } catch {
      response.writeHead(502).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const front: Front = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: '',
    get open() {
      return open.size;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return front;
}
