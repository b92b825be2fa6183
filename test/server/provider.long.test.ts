/** The gateway and the provider simulator as processes: started together, killed apart, remembered by both. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startSimulator } from '../../simulator/server.ts';
import { newMasterKey } from '../../src/lib/crypto/seal.ts';
import { StartupError } from '../../src/lib/flow/startup-error.ts';
import { createLog } from '../../src/lib/text/log.ts';
import { readConfig } from '../../src/server/config.ts';
import { openProvider } from '../../src/server/provider.ts';
import { query } from '../support/database.ts';
import { ADMIN_TOKEN, type Answer, type Fields } from '../support/gateway.ts';
import {
  childrenOf,
  clearAway,
  isRunning,
  newDatabase,
  newDataDir,
  type RunningGateway,
  startGateway,
  workersOf,
} from '../support/process.ts';

const eventually = <Result>(look: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(look, { timeout: 60_000, interval: 50 });

const PIN: Fields = { brand: 'pin-a', identifier: '', 'parameters[pin]': '1234567890123456' };
const IPS: Fields = { brand: 'ips', identifier: '', order_currency: 'RSD' };
const TRANSFER: Fields = { brand: 'transfer-a', identifier: '', order_currency: 'ARS', bank_cuil: '20-12345678-6' };

const simulatorUrlOf = (gateway: RunningGateway): string => /Simulator +(\S+)/.exec(gateway.output())?.[1] ?? '';

/** The process of the provider simulator: the one child that is no worker. */
function simulatorPidOf(gateway: RunningGateway): number {
  const workers = workersOf(gateway.pid);
  return childrenOf(gateway.pid).find((pid) => !workers.includes(pid)) ?? 0;
}

async function tell(gateway: RunningGateway, transId: string, wish: object): Promise<Answer['status']> {
  const response = await fetch(`${gateway.url}/sandbox/api/payments/${transId}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(wish),
  });
  return response.status;
}

async function installation(): Promise<{ variables: Fields; sql: (text: string) => Promise<unknown> }> {
  const { url, connection } = await newDatabase();
  const variables = { DATA_DIR: await newDataDir(), DATABASE_URL: url, TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN };
  return { variables, sql: (text) => query(connection, text) };
}

/** One gateway with two workers, for the tests that only pay; the last of them kills it. */
let gateway: RunningGateway;
/** Another one, which was stopped and started, and its payments. */
let after: RunningGateway;
let paid: string;
let kept: string;
let over: string;
beforeAll(async () => {
  const { variables } = await installation();
  gateway = await startGateway({ ...variables, TURNPIKE_WORKERS: '2' });
});
beforeAll(async () => {
  const { variables, sql } = await installation();
  const before = await startGateway(variables);
  const sold = async (fields: Fields): Promise<string> => (await before.sale(fields)).body.trans_id;
  paid = await sold(IPS);
  kept = await sold(TRANSFER);
  over = await sold(TRANSFER);
  expect(await before.stop()).toEqual({ code: 0, signal: null });
  // Nobody moves the clock through the gateway: it was not there when the time ended.
  await sql(`update payments set payer_until = payer_until - interval '5 minutes' where payment_id = '${over}'`);
  after = await startGateway({ ...variables, TURNPIKE_ROLE: 'http' });
});
afterAll(clearAway);

test('both remember over a restart', async () => {
  expect((await after.status(paid)).body.status).toBe('PENDING');
  expect(await tell(after, paid, { provider_status: 'executed' })).toBe(200);
  expect((await after.status(paid)).body.status).toBe('SETTLED');
});

test('the five minutes of a transfer end while the gateway is down', async () => {
  expect((await after.status(over)).body).toMatchObject({
    status: 'DECLINED',
    decline_reason: 'The payer did not finish in time.',
  });
  expect((await after.status(kept)).body.status).toBe('PENDING');
});

test('a start brings the provider simulator, and the payer of a redirect finds it', async () => {
  const { body: sale } = await gateway.sale({ brand: 'hosted-b', identifier: '', 'parameters[toCurrency]': 'EUR' });
  expect(sale.redirect_url).toContain(`${simulatorUrlOf(gateway)}/pay/`);
  expect((await fetch(sale.redirect_url)).status).toBe(200);
  expect((await fetch(simulatorUrlOf(gateway))).status).toBe(200);
});

test('two workers speak to one provider simulator', async () => {
  const sales = await Promise.all(Array.from({ length: 10 }, () => gateway.sale(PIN)));
  expect(sales.map(({ body }) => body.status)).toEqual(Array(10).fill('SETTLED'));
  const { body: sale } = await gateway.sale(IPS);
  expect(await tell(gateway, sale.trans_id, { bank_callback: 'RJCT' })).toBe(200);
  expect((await gateway.status(sale.trans_id)).body.status).toBe('DECLINED');
});

test('a provider simulator that dies is started again at the same address, and what was open is found out', async () => {
  const { body: open } = await gateway.sale(IPS);
  const simulator = simulatorPidOf(gateway);
  process.kill(simulator, 'SIGKILL');
  await eventually(() => expect(isRunning(simulator)).toBe(false));
  const { body: unanswered } = await gateway.sale(PIN);
  // Sent on a connection that is about to break, it is unknown; without a connection it was not sent, and is declined.
  // The simulator may also be back already.
  expect([
    ['UNDEFINED', 'PENDING'],
    ['DECLINED', 'DECLINED'],
    ['SUCCESS', 'SETTLED'],
  ]).toContainEqual([unanswered.result, unanswered.status]);
  await eventually(async () => expect((await fetch(simulatorUrlOf(gateway))).status).toBe(200));
  expect((await gateway.sale(PIN)).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
  expect(await tell(gateway, open.trans_id, { bank_callback: 'ACSC' })).toBe(200);
  expect((await gateway.status(open.trans_id)).body.status).toBe('SETTLED');
  await eventually(() => expect(gateway.output()).toContain('the provider simulator died and is started again'));
});

test('a gateway that is killed leaves no provider simulator behind', async () => {
  const simulator = simulatorPidOf(gateway);
  expect(isRunning(simulator)).toBe(true);
  gateway.signal('SIGKILL');
  await gateway.ended;
  await eventually(() => expect(isRunning(simulator)).toBe(false));
});

describe('the provider of production', () => {
  const access = { key: 'the key of the provider', notificationSecret: Buffer.alloc(32, 1).toString('base64') };
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const reach = (providerUrl: string) =>
    openProvider(
      {
        ...readConfig({}),
        environment: 'production',
        providerUrl,
        providerKey: access.key,
        providerNotificationSecret: access.notificationSecret,
      },
      newMasterKey(),
      log,
    );

  test('is refused when it is a simulator', async () => {
    const simulator = await startSimulator({ host: '127.0.0.1', port: 0, ...access });
    await expect(reach(simulator.url)).rejects.toThrow(StartupError);
    await expect(reach(simulator.url)).rejects.toThrow('Production refuses a simulated provider');
    await simulator.close();
  });

  test.each([
    ['says that it is none', 200, '{"name": "A bank", "simulator": false}'],
    ['says nothing about it', 404, 'nothing here'],
  ])('is taken when it %s', async (_, status, text) => {
    const server = createServer((_request, response) => response.writeHead(status).end(text)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { provider } = await reach(`http://127.0.0.1:${port}`);
    expect(provider).toEqual({ url: `http://127.0.0.1:${port}`, ...access });
    server.close();
  });

  test('that is not configured is none, and nothing is started', async () => {
    expect((await reach('')).provider).toBeUndefined();
  });
});
