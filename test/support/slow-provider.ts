/** A slow provider: every call is delayed, and its ledger lists the payments that it settled. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface SlowProvider {
  url: string;
  /** The references that it settled, in their order. */
  settled: string[];
  /** When each submission arrived, in milliseconds of `performance.now()`. */
  arrivals: Map<string, number>;
  /** Submissions that it has received and not settled yet. */
  underWay(): number;
  close(): Promise<void>;
}

/** How long a submission takes to be processed, how long its response then takes, and how long a query takes. */
export interface Delays {
  processing(): number;
  answer(): number;
  query(): number;
}

export async function startSlowProvider(delays: Delays): Promise<SlowProvider> {
  const settled: string[] = [];
  const amounts = new Map<string, { amount: string; currency: string }>();
  const arrivals = new Map<string, number>();
  let underWay = 0;

  const read = async (request: IncomingMessage): Promise<Record<string, string>> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    return JSON.parse(Buffer.concat(parts).toString());
  };
  const answerFor = (reference: string) => ({ id: reference, status: 'settled', ...amounts.get(reference) });

  const server = createServer(async (request, response) => {
    const send = (status: number, body: unknown): void => {
      if (!response.destroyed)
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.method === 'GET') {
      const reference = decodeURIComponent(request.url?.split('/').at(-1) ?? '');
      await pause(delays.query());
      return send(amounts.has(reference) ? 200 : 404, answerFor(reference));
    }
    const { reference = '', amount = '', currency = '' } = await read(request);
    arrivals.set(reference, performance.now());
    underWay++;
    // A submission that arrived is processed, even if the client has disconnected.
    await pause(delays.processing());
    if (!amounts.has(reference)) settled.push(reference);
    amounts.set(reference, { amount, currency });
    underWay--;
    await pause(delays.answer());
    send(200, answerFor(reference));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    settled,
    arrivals,
    underWay: () => underWay,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
