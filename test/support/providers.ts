/** Provider simulators besides that of the gateway, and connections to them. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { startSimulator } from '../../simulator/server.ts';
import type { TestGateway } from './gateway.ts';

export interface TestProvider {
  url: string;
  credentials: { url: string; key: string; notification_secret: string };
  /** Calls the control API of the simulator. */
  control(path: string, body?: unknown): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function startProvider(): Promise<TestProvider> {
  const key = 'the key of another provider';
  const notificationSecret = randomBytes(32).toString('base64');
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    key,
    notificationSecret,
    notificationRetryMs: [20, 50],
  });
  return {
    url: simulator.url,
    credentials: { url: simulator.url, key, notification_secret: notificationSecret },
    async control(path, body) {
      const response = await fetch(`${simulator.url}/control${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await response.json()) as Record<string, unknown>;
    },
    close: () => simulator.close(),
  };
}

/** So many providers for a test file; they start before the first test and stop after the last. */
export function openProviders(count: number): TestProvider[] {
  const providers: TestProvider[] = [];
  beforeAll(async () => {
    for (let each = 0; each < count; each++) providers.push(await startProvider());
  });
  afterAll(async () => {
    for (const provider of providers) await provider.close();
  });
  return providers;
}

/** Connects a provider; returns the id of the connection. */
export async function connect(
  shop: TestGateway,
  provider: { credentials: Record<string, string> },
  fields: Record<string, unknown> = {},
): Promise<string> {
  const body = { connector: 'upstream', name: 'Test provider', credentials: provider.credentials, ...fields };
  const answer = await shop.admin('POST', '/connections', body);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.connection_id;
}

/** Sets the routes of an account. */
export async function route(shop: TestGateway, mid: string, routes: Record<string, unknown>[]): Promise<void> {
  const answer = await shop.admin('PUT', `/accounts/${mid}/routes`, routes);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}
