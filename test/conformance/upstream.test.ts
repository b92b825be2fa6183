/** The upstream connector against the provider simulator. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createUpstream } from '../../src/connectors/upstream.ts';
import { startProvider } from '../support/providers.ts';
import { conforms, type Fault, type ProviderDouble, type Webhook } from './conforms.ts';

const FAULTS: Readonly<Record<Fault, string>> = {
  lost_before: 'timeout_before',
  lost_after: 'timeout_after',
  error_500: 'error_500',
  rate_limited: 'rate_limited',
};

async function simulatorDouble(): Promise<ProviderDouble> {
  const received: Webhook[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(parts) });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const notifyUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const provider = await startProvider();
  const { url, key, notification_secret } = provider.credentials;
  const connector = createUpstream({ url, key, notificationSecret: notification_secret });
  return {
    connector,
    isSigned: true,
    submission: (outcome) => ({
      notifyUrl,
      brand: outcome === 'redirect' ? 'hosted-b' : 'pin-a',
      identifier: outcome === 'decline' ? 'decline@example.com' : '',
    }),
    fault: async (fault) => void (await provider.control('/faults', { mode: FAULTS[fault], count: 1 })),
    delayOperation: async () => void (await provider.control('/faults', { mode: 'pending_operation', count: 1 })),
    async pay({ url: page }) {
      await fetch(page, { method: 'POST', body: new URLSearchParams({ decision: 'approve' }), redirect: 'manual' });
      return {};
    },
    async balance({ reference }) {
      const { movements = [] } = (await provider.control(`/payments/${reference}`)) as {
        movements?: { direction: string; amount: string }[];
      };
      return movements.reduce(
        (sum, { direction, amount }) => sum + (direction === 'in' ? 1n : -1n) * BigInt(amount),
        0n,
      );
    },
    async webhooks() {
      for (const end = Date.now() + 20_000; received.length === 0 && Date.now() < end; )
        await new Promise((resolve) => setTimeout(resolve, 5));
      return received.splice(0);
    },
    async close() {
      await connector.close();
      await provider.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

conforms('upstream', simulatorDouble);
