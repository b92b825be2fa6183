/** The server of the merchants: verifies every callback with the client, and records it unless a fault is set. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallbackEvent, Turnpike } from '../../client/src/index.ts';

/** What the server does with a callback: process it, or one of the faults. */
export const RECEIVER_FAULTS = ['refuse', 'hang', 'reset', 'answerLost'] as const;
export type ReceiverFault = (typeof RECEIVER_FAULTS)[number];

export interface MerchantServer {
  /** The address for the callbacks of an account. */
  urlFor(mid: string): string;
  addAccount(mid: string, turnpike: Turnpike): void;
  fault: ReceiverFault | undefined;
  /** The callbacks of each payment, in the order in which they were processed. */
  processed: Map<string, CallbackEvent[]>;
  /** Callbacks that could not be verified. */
  invalid: string[];
  close(): Promise<void>;
}

export async function startMerchantServer(): Promise<MerchantServer> {
  const accounts = new Map<string, Turnpike>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part);
    } catch {
      return;
    }
    const { fault } = merchant;
    if (fault === 'refuse') return void response.writeHead(503).end();
    if (fault === 'hang') return;
    if (fault === 'reset') return void request.socket.destroy();
    const turnpike = accounts.get(request.url?.slice(1) ?? '');
    try {
      const event = turnpike?.callbacks.verify({ headers: request.headers, body: Buffer.concat(parts) });
      if (!event) throw new Error(`There is no account at ${request.url}.`);
      const events = merchant.processed.get(event.paymentId) ?? [];
      merchant.processed.set(event.paymentId, [...events, event]);
    } catch (error) {
      merchant.invalid.push(String(error));
    }
    if (fault === 'answerLost') request.socket.destroy();
    else response.writeHead(200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const merchant: MerchantServer = {
    urlFor: (mid) => `http://127.0.0.1:${port}/${mid}`,
    addAccount: (mid, turnpike) => void accounts.set(mid, turnpike),
    fault: undefined,
    processed: new Map(),
    invalid: [],
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return merchant;
}
