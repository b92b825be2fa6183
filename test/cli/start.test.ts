/** The program in real processes: started, stopped, killed, refused, without its database, and in several parts. */
import { execFile, spawnSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newMasterKey } from '../../src/lib/seal.ts';
import { ADMIN_TOKEN, saleFields } from '../support/gateway.ts';
import {
  childrenOf,
  clearAway,
  eventually,
  exists,
  expectNoServer,
  holdOutcomes,
  isRunning,
  NO_SIMULATOR,
  newDatabase,
  newDataDir,
  pidFile,
  type RunningGateway,
  refusal,
  type Socket,
  serverFolder,
  serverPid,
  startGateway,
  workersOf,
} from '../support/process.ts';

// Each test starts processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const execute = promisify(execFile);
const WITH_TOKEN = { TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN };

describe('a first start', () => {
  let dataDir: string;
  let gateway: RunningGateway;
  let token: string;
  let transId: string;
  beforeAll(async () => {
    dataDir = await newDataDir();
    gateway = await startGateway({ DATA_DIR: dataDir });
    token = /^ {2}Admin token {3}([0-9a-f]{48})$/m.exec(gateway.output())?.[1] ?? '';
  });
  afterAll(clearAway);

  test('shows where the gateway is, the keys of a demo account, and an admin token', async () => {
    const { url } = gateway;
    for (const [name, address] of [
      ['Gateway', `${url}/post and ${url}/api/v1/`],
      ['Admin API', `${url}/admin/api`],
      ['Health', `${url}/health/ready`],
      ['Metrics', `${url}/metrics`],
      ['Data', dataDir],
    ] as const) {
      expect(gateway.output()).toContain(`\n  ${name.padEnd(14)}${address}\n`);
    }
    expect(gateway.merchant).toEqual({
      mid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      client_key: expect.stringMatching(/^test_[0-9a-f]{32}$/),
      merchant_key: expect.stringMatching(/^test_[0-9a-f]{32}$/),
      password: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(token).not.toBe('');
    expect(gateway.output()).toContain('shown only this once');
    expect(gateway.complaints()).toBe('');
    expect((await gateway.get('/health/ready')).status).toBe(200);
  });

  test('the curl line that it prints settles a payment', async () => {
    const line = /^curl .*$/m.exec(gateway.output())?.[0] ?? '';
    const hasCurl = spawnSync('curl', ['--version']).status === 0;
    const [, address = '', body = ''] = /^curl (\S+) -d '(.*)'$/.exec(line) ?? [];
    const sendIt = async () => (await fetch(address, { method: 'POST', body: new URLSearchParams(body) })).text();
    const answer = JSON.parse(hasCurl ? (await execute('sh', ['-c', line])).stdout : await sendIt());
    expect(answer).toMatchObject({ action: 'SALE', result: 'SUCCESS', status: 'SETTLED', amount: '19.99' });
    transId = answer.trans_id;
  });

  test('the token that it prints opens the admin API', async () => {
    const { status, body } = await gateway.admin('GET', '/accounts', undefined, token);
    expect(status).toBe(200);
    expect(body.items).toMatchObject([{ name: 'Demo Shop', mid: gateway.merchant.mid }]);
    expect((await gateway.admin('GET', '/accounts', undefined, 'another')).status).toBe(401);
  });

  test('only its owner can read the master key that it makes', async () => {
    expect((await fs.stat(join(dataDir, 'master.key'))).mode & 0o777).toBe(0o600);
    expect((await fs.stat(serverFolder(dataDir))).mode & 0o077).toBe(0);
  });

  test('Ctrl-C stops the gateway and its database, and the next start finds everything again', async () => {
    const server = serverPid(dataDir);
    expect(isRunning(server)).toBe(true);
    expect(await gateway.stop('SIGINT')).toEqual({ code: 0, signal: null });
    await expectNoServer(dataDir, server);
    expect(gateway.complaints()).toBe('');

    const { merchant } = gateway;
    gateway = await startGateway({ DATA_DIR: dataDir });
    expect(gateway.merchant).toEqual(merchant);
    expect(gateway.output()).toContain('Admin token   as shown at the first start');
    expect(gateway.output()).not.toContain('shown only this once');
    expect((await gateway.status(transId)).body).toMatchObject({ trans_id: transId, status: 'SETTLED' });
    const payments = await gateway.admin('GET', '/payments', undefined, token);
    expect(payments.body.items).toMatchObject([{ payment_id: transId, status: 'SETTLED' }]);
  });

  test('SIGTERM stops the gateway and its database', async () => {
    const server = serverPid(dataDir);
    expect(await gateway.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    await expectNoServer(dataDir, server);
  });

  test('npm start runs it, and a SIGTERM to npm stops everything', async () => {
    gateway = await startGateway({ DATA_DIR: dataDir }, { command: 'npm', args: ['start'] });
    expect((await gateway.sale()).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
    const pids = [serverPid(dataDir), ...childrenOf(gateway.pid)];
    expect(pids.length).toBeGreaterThanOrEqual(2);
    gateway.signal('SIGTERM');
    await gateway.ended;
    await eventually(() => expect(pids.filter(isRunning)).toEqual([]));
    expect(await exists(pidFile(dataDir))).toBe(false);
    expect(gateway.output()).toContain('Stopped.');
  });
});

describe('a start that cannot go on says why in one sentence:', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await newDataDir();
  });
  afterAll(clearAway);

  const MASTER_KEY = newMasterKey();

  test('an unknown command', async () => {
    expect(await refusal({}, 'dance')).toMatch(/no command dance/);
  });

  test('a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    expect(await refusal({ DATA_DIR: dataDir, PORT: String(port) })).toMatch(new RegExp(`^Port ${port} .* in use`));
    expect(await exists(dataDir)).toBe(false);
    await new Promise((resolve) => other.close(resolve));
  });

  test('a data folder that holds something else', async () => {
    const folder = await newDataDir();
    await fs.mkdir(serverFolder(folder), { recursive: true });
    await fs.writeFile(join(serverFolder(folder), 'letter.txt'), 'dear');
    expect(await refusal({ DATA_DIR: folder })).toContain(serverFolder(folder));
    expect(await fs.readdir(serverFolder(folder))).toEqual(['letter.txt']);
  });

  test('production data opened with another master key, or as a sandbox', async () => {
    const { url } = await newDatabase();
    const production = {
      DATA_DIR: await newDataDir(),
      DATABASE_URL: url,
      TURNPIKE_ENV: 'production',
      PUBLIC_URL: 'https://pay.example.com',
    };
    const gateway = await startGateway({ ...production, TURNPIKE_MASTER_KEY: MASTER_KEY });
    expect(gateway.output()).toMatch(/^Admin token, shown only this once: [0-9a-f]{48}$/m);
    expect(gateway.output()).not.toContain('Demo');
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });

    const other = newMasterKey();
    const sentence = await refusal({ ...production, TURNPIKE_MASTER_KEY: other });
    expect(sentence).toMatch(/master key does not open/);
    expect(sentence).not.toContain(other);
    expect(await refusal({ DATA_DIR: production.DATA_DIR, DATABASE_URL: url })).toMatch(/production installation/);
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
      await eventually(async () => expect((await pay(there)).status).toBe(400), 1000);
      expect((await change(there, [])).status).toBe(200);
      await eventually(async () => expect((await pay(here)).status).toBe(200), 1000);
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
