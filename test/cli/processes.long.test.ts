/** The program in real processes: without its database for a while, with two workers, and as several processes over one database. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';
import { type EmbeddedDatabase, startEmbedded } from '../../src/store/embedded/embedded.ts';
import { query } from '../support/database.ts';
import { ADMIN_TOKEN, saleFields } from '../support/gateway.ts';
import {
  clearAway,
  databaseUrl,
  eventually,
  holdOutcomes,
  isRunning,
  NO_SIMULATOR,
  newDatabase,
  newDataDir,
  type RunningGateway,
  type Socket,
  serverFolder,
  serverPid,
  startGateway,
  workersOf,
} from '../support/process.ts';

// Each test starts processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

/** Less than the time for which a process keeps an account, so that only news can change it within that. */
const NEWS_MS = 4000;
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
    // News of changes arrive again: without them the account would be kept for five seconds after the first of both.
    await gateway.admin('PATCH', `/accounts/${gateway.merchant.mid}`, { ip_allowlist: ['192.0.2.1'] });
    await eventually(async () => expect((await gateway.sale()).status).toBe(400), NEWS_MS);
    await gateway.admin('PATCH', `/accounts/${gateway.merchant.mid}`, { ip_allowlist: [] });
    await eventually(async () => expect((await gateway.sale()).status).toBe(200), NEWS_MS);
    expect(gateway.complaints()).toBe('');
  });

  test('a stop while it is away ends the gateway all the same', async () => {
    await server.stop();
    await eventually(async () => expect((await gateway.get('/health/ready')).status).toBe(503));
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  });
});

describe('two workers', () => {
  let gateway: RunningGateway;
  let connection: Socket;
  beforeAll(async () => {
    const database = await newDatabase();
    connection = database.connection;
    const variables = {
      ...WITH_TOKEN,
      DATA_DIR: await newDataDir(),
      DATABASE_URL: database.url,
      TURNPIKE_WORKERS: '2',
      ...NO_SIMULATOR,
    };
    gateway = await startGateway(variables);
  });
  afterAll(clearAway);

  /** Each request on a connection of its own, which may reach either worker. */
  const sale = () => gateway.sale({}, { connection: 'close' });
  const workerOf = (headers: { get(name: string): string | null }) => headers.get('x-request-id')?.split('-')[0] ?? '';

  /** The workers that answer, seen by the beginning of their request ids. */
  async function answering(): Promise<Set<string>> {
    const answers = await Promise.all(Array.from({ length: 8 }, sale));
    for (const { status } of answers) expect(status).toBe(200);
    return new Set(answers.map(({ headers }) => workerOf(headers)));
  }

  /** How many sales were answered, by the sum over all workers. */
  async function counted(): Promise<number> {
    const { status, body } = await gateway.get('/metrics');
    expect(status).toBe(200);
    const lines = [...(body as string).matchAll(/^turnpike_requests_total\{action="SALE",[^}]*\} (\d+)$/gm)];
    return lines.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  test('both answer, and their counts are added up', async () => {
    expect(workersOf(gateway.pid)).toHaveLength(2);
    let sent = 0;
    await eventually(async () => {
      sent += 8;
      expect((await answering()).size).toBe(2);
    });
    await eventually(async () => expect(await counted()).toBe(sent));
    // Whichever worker is asked.
    for (let asked = 0; asked < 4; asked++) expect(await counted()).toBe(sent);
  });

  test('an account that one worker changes is changed for the other', async () => {
    const lines = await linesToBothWorkers(gateway.url);
    const { mid } = gateway.merchant;
    const path = `/admin/api/accounts/${mid}`;
    const pay = (line: Line) =>
      line.send('POST', '/post', {
        type: 'application/x-www-form-urlencoded',
        body: String(new URLSearchParams(saleFields(gateway.merchant))),
      });
    const change = (line: Line, allowed: string[]) =>
      line.send('PATCH', path, { type: 'application/json', body: JSON.stringify({ ip_allowlist: allowed }) });
    for (const [here, there] of [lines, [...lines].reverse()] as [Line, Line][]) {
      for (const line of [here, there]) expect((await pay(line)).status).toBe(200);
      expect((await change(here, ['192.0.2.1'])).status).toBe(200);
      expect((await pay(here)).status).toBe(400);
      await eventually(async () => expect((await pay(there)).status).toBe(400), NEWS_MS);
      expect((await change(there, [])).status).toBe(200);
      await eventually(async () => expect((await pay(here)).status).toBe(200), NEWS_MS);
    }
    for (const line of lines) line.end();
  });

  test('a worker that is killed is replaced, and meanwhile the other one answers', async () => {
    const both = async () => {
      const workers = await answering();
      expect(workers.size).toBe(2);
      return workers;
    };
    const before = await eventually(both);
    const [victim = 0, survivor = 0] = workersOf(gateway.pid);
    process.kill(victim, 'SIGKILL');
    await eventually(() => expect(gateway.output()).toContain('worker died and is replaced'));
    expect(isRunning(victim)).toBe(false);
    for (let sent = 0; sent < 5; sent++) expect((await sale()).status).toBe(200);
    expect(await counted()).toBeGreaterThan(0);

    await eventually(() => expect(workersOf(gateway.pid)).toHaveLength(2));
    // The counts are there even while the new worker is still starting.
    expect(await counted()).toBeGreaterThan(0);
    const after = await eventually(both);
    expect([...after].filter((worker) => before.has(worker))).toHaveLength(1);
    expect(workersOf(gateway.pid)).toContain(survivor);
  });

  test('SIGTERM stops all of them, after the requests that are under way', async () => {
    const pids = workersOf(gateway.pid);
    expect(pids).toHaveLength(2);
    const hold = await holdOutcomes(connection);
    const underWay = sale();
    await eventually(async () => expect(await hold.waiting()).toBe(1));
    gateway.signal('SIGTERM');
    // A connection that arrives just as the workers close may get no answer at all until the supervisor ends.
    const knock = () => fetch(`${gateway.url}/health/live`, { signal: AbortSignal.timeout(500) });
    await eventually(() => expect(knock()).rejects.toThrow());
    await hold.release();
    expect((await underWay).body).toMatchObject({ status: 'SETTLED' });
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
    expect(pids.filter(isRunning)).toEqual([]);
    expect(gateway.complaints()).toBe('');
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

interface Line {
  worker: string;
  send(
    method: string,
    path: string,
    content?: { type: string; body: string },
  ): Promise<{ status: number; headers: IncomingHttpHeaders }>;
  end(): void;
}

/** A connection that stays open, and so stays with one worker. */
async function openLine(url: string): Promise<Line> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send: Line['send'] = (method, path, content) =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(content ? { 'content-type': content.type, 'content-length': Buffer.byteLength(content.body) } : {}),
      };
      request(url + path, { method, agent, headers }, (response) => {
        response.resume();
        response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
      })
        .once('error', reject)
        .end(content?.body);
    });
  const { headers } = await send('GET', '/health/live');
  return { worker: String(headers['x-request-id']).split('-')[0] as string, send, end: () => agent.destroy() };
}

async function linesToBothWorkers(url: string): Promise<[Line, Line]> {
  const first = await openLine(url);
  return eventually(async () => {
    const second = await openLine(url);
    if (second.worker !== first.worker) return [first, second];
    second.end();
    throw new Error('Both lines reached the same worker.');
  });
}
