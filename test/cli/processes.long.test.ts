/** The program in real processes: without its database for a while, and as several processes over one database. */
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';
import { type EmbeddedDatabase, startEmbedded } from '../../src/store/embedded.ts';
import { query } from '../support/database.ts';
import { ADMIN_TOKEN, saleFields } from '../support/gateway.ts';
import {
  clearAway,
  databaseUrl,
  eventually,
  NO_SIMULATOR,
  newDatabase,
  newDataDir,
  type RunningGateway,
  serverFolder,
  serverPid,
  startGateway,
} from '../support/process.ts';

// Each test starts processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const WITH_TOKEN = { TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN };
const UNAVAILABLE = {
  result: 'ERROR',
  error_code: 100000,
  error_message: 'The gateway cannot accept requests safely at the moment.',
  errors: [],
};

describe('a database that goes away under a running gateway', () => {
  let folder: string;
  let server: EmbeddedDatabase;
  let gateway: RunningGateway;
  beforeAll(async () => {
    const dataDir = await newDataDir();
    folder = serverFolder(dataDir);
    server = await startEmbedded({ folder });
    gateway = await startGateway({
      ...WITH_TOKEN,
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl(server.connection),
      ...NO_SIMULATOR,
    });
  });
  afterAll(async () => {
    await server?.stop();
    await clearAway();
  });

  test.each([
    { end: 'is stopped', leave: () => server.stop() },
    {
      end: 'crashes',
      leave: async () => void process.kill(serverPid(dirname(folder)), 'SIGKILL'),
    },
  ])('$end: requests are turned away until it is back, and no restart is needed', async ({ leave }) => {
    const statuses = new Set<number>();
    let isOver = false;
    const merchants = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const { status, body } = await gateway.sale();
        statuses.add(status);
        if (status === 200) expect(body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
        else {
          expect(body).toEqual(UNAVAILABLE);
          await pause(20);
        }
      }
    });
    await eventually(() => expect(statuses).toEqual(new Set([200])));
    await leave();
    await eventually(async () => {
      const { status, body } = await gateway.get('/health/ready');
      expect(status).toBe(503);
      expect(body).toEqual(UNAVAILABLE);
    });
    await eventually(async () => {
      const { status, body } = await gateway.sale();
      expect(status).toBe(503);
      expect(body).toEqual(UNAVAILABLE);
    });
    expect((await gateway.get('/health/live')).status).toBe(200);

    server = await startEmbedded({ folder });
    await eventually(async () => expect((await gateway.get('/health/ready')).status).toBe(200));
    await eventually(async () => expect((await gateway.sale()).status).toBe(200));
    isOver = true;
    await Promise.all(merchants);
    expect(statuses).toEqual(new Set([200, 503]));
    // Time goes on too: what the outage left behind comes to an outcome.
    expect((await gateway.admin('POST', '/clock', { advance_seconds: 60 })).status).toBe(200);
    expect((await gateway.admin('GET', '/payments?status=PREPARE')).body.items).toEqual([]);
    // News of changes arrive again.
    await gateway.admin('PATCH', `/accounts/${gateway.merchant.mid}`, { ip_allowlist: ['192.0.2.1'] });
    await eventually(async () => expect((await gateway.sale()).status).toBe(400), 1000);
    await gateway.admin('PATCH', `/accounts/${gateway.merchant.mid}`, { ip_allowlist: [] });
    await eventually(async () => expect((await gateway.sale()).status).toBe(200), 1000);
    expect(gateway.complaints()).toBe('');
  });

  test('a stop while it is away ends the gateway all the same', async () => {
    await server.stop();
    await eventually(async () => expect((await gateway.get('/health/ready')).status).toBe(503));
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  });
});

describe('one database, several roles', () => {
  afterEach(clearAway);

  test('a process for HTTP leaves what is due alone, and a process for work does it', async () => {
    const { url, connection } = await newDatabase();
    const shared = { ...WITH_TOKEN, DATA_DIR: await newDataDir(), DATABASE_URL: url, ...NO_SIMULATOR };
    const http = await startGateway({ ...shared, TURNPIKE_ROLE: 'http' });
    const { body } = await http.sale({ auth: 'Y' });
    expect(body.status).toBe('PENDING');
    await query(
      connection,
      `update payments set due_at = now() - interval '1 minute'; update history set at = at - interval '8 days'`,
    );
    const status = async () => (await http.status(body.trans_id)).body.status;
    const until = Date.now() + 1.5 * LIMITS.workPauseMs;
    while (Date.now() < until) {
      expect(await status()).toBe('PENDING');
      await pause(100);
    }

    const work = await startGateway({ ...shared, TURNPIKE_ROLE: 'work' });
    await eventually(async () => expect(await status()).toBe('EXPIRED'));
    expect((await work.get('/health/live')).status).toBe(200);
    expect((await work.get('/health/ready')).status).toBe(200);
    expect((await work.get('/metrics')).body).toMatch(/^turnpike_payments_total\{state="EXPIRED"\} 1$/m);
    expect((await work.post(saleFields(http.merchant))).status).toBe(404);
    expect((await work.admin('GET', '/accounts')).status).toBe(404);
    expect(await Promise.all([http.stop(), work.stop()])).toEqual(Array(2).fill({ code: 0, signal: null }));
  });
});
