/** The program in real processes that are killed under load, and as an ordinary user starts it. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { newMasterKey } from '../../src/lib/crypto/seal.ts';
import { query } from '../support/database.ts';
import { ADMIN_TOKEN, type Fields, newOrderId, saleFields } from '../support/gateway.ts';
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
  ROOT,
  type RunningGateway,
  refusal,
  run,
  runCommand,
  serverFolder,
  serverPid,
  serverSocket,
  startGateway,
  workersOf,
} from '../support/process.ts';

vi.setConfig({ testTimeout: 240_000 });

const isRoot = process.getuid?.() === 0;
const WITH_TOKEN = { TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN, ...NO_SIMULATOR };

describe('a first start', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await newDataDir();
  });
  afterAll(clearAway);

  test('Ctrl-C in the terminal of npm start, which reaches every process of it, stops everything', async () => {
    const gateway = await startGateway({ DATA_DIR: dataDir }, { command: 'npm', args: ['start'], detached: true });
    const pids = [serverPid(dataDir), ...childrenOf(gateway.pid)];
    process.kill(-gateway.pid, 'SIGINT');
    await gateway.ended;
    await eventually(() => expect(pids.filter(isRunning)).toEqual([]));
    expect(await exists(pidFile(dataDir))).toBe(false);
    expect(gateway.output()).toContain('Stopped.');
  });

  test('npm start runs it, and a SIGTERM to npm stops everything', async () => {
    const gateway = await startGateway({ DATA_DIR: dataDir }, { command: 'npm', args: ['start'] });
    expect((await gateway.sale()).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
    const pids = [serverPid(dataDir), ...childrenOf(gateway.pid)];
    expect(pids.length).toBeGreaterThanOrEqual(2);
    gateway.signal('SIGTERM');
    await gateway.ended;
    await eventually(() => expect(pids.filter(isRunning)).toEqual([]));
    expect(await exists(pidFile(dataDir))).toBe(false);
    expect(gateway.output()).toContain('Stopped.');
  });

  test('a stop that comes during the start leaves no database behind', async () => {
    const program = run({ DATA_DIR: dataDir, PORT: '0' });
    await eventually(() => expect(serverPid(dataDir)).toBeGreaterThan(0));
    const server = serverPid(dataDir);
    program.signal('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
    await expectNoServer(dataDir, server);
  });
});

describe('a start that cannot go on says why in one sentence:', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await newDataDir();
  });
  afterAll(clearAway);

  const MASTER_KEY = newMasterKey();
  const PRODUCTION = { TURNPIKE_ENV: 'production' };
  const SECRET = 's3cret';
  test.concurrent.each<[string, Fields, string[]]>([
    ['a port that is no number', { PORT: 'abc' }, ['PORT']],
    ['an unknown environment', { TURNPIKE_ENV: 'prod' }, ['TURNPIKE_ENV', 'sandbox, production']],
    ['a proxy that is no address', { TURNPIKE_TRUSTED_PROXIES: 'true' }, ['TURNPIKE_TRUSTED_PROXIES']],
    ['a short master key', { TURNPIKE_MASTER_KEY: 'short' }, ['TURNPIKE_MASTER_KEY', '32 bytes']],
    ['a short admin token', { TURNPIKE_ADMIN_TOKEN: 'short' }, ['TURNPIKE_ADMIN_TOKEN', '32 characters']],
    ['another kind of database', { DATABASE_URL: 'mysql://x' }, ['DATABASE_URL', 'postgres://']],
    [
      'several wrong variables, all of which are named',
      { PORT: 'abc', TURNPIKE_ROLE: 'short', TURNPIKE_MASTER_KEY: SECRET, DATABASE_URL: `mysql://u:${SECRET}@h/d` },
      ['PORT', 'TURNPIKE_ROLE', 'TURNPIKE_MASTER_KEY', 'DATABASE_URL'],
    ],
    ['production without a master key', PRODUCTION, ['TURNPIKE_MASTER_KEY']],
    [
      'production without https',
      { ...PRODUCTION, TURNPIKE_MASTER_KEY: MASTER_KEY, PUBLIC_URL: 'http://pay.example.com' },
      ['PUBLIC_URL', 'https'],
    ],
    [
      'a database that does not answer',
      { DATABASE_URL: `postgres://u:${SECRET}@127.0.0.1:1/turnpike` },
      ['DATABASE_URL', 'ECONNREFUSED'],
    ],
    ['a database address that cannot be read', { DATABASE_URL: `postgres://u:${SECRET}@h:99999/d` }, ['DATABASE_URL']],
    ['an address of another machine', { HOST: '192.0.2.1' }, ['HOST', '192.0.2.1']],
  ])('%s', async (what, variables, named) => {
    const isUnreachable = /^a database (that does not answer|address that cannot be read)$/.test(what);
    const sentence = await refusal({ DATA_DIR: dataDir, ...variables }, isUnreachable ? 3 : 1);
    for (const name of named) expect(sentence).toContain(name);
    for (const value of ['abc', 'short', 'mysql', SECRET, MASTER_KEY]) {
      expect(sentence).not.toContain(value);
    }
    expect(await exists(dataDir)).toBe(false);
  });

  test('a data folder in use, whose gateway is not disturbed', async () => {
    const gateway = await startGateway({ DATA_DIR: dataDir });
    const server = serverPid(dataDir);
    expect(await refusal({ DATA_DIR: dataDir })).toMatch(/in use by another Turnpike/);
    expect(serverPid(dataDir)).toBe(server);
    expect((await gateway.sale()).body).toMatchObject({ status: 'SETTLED' });
    expect((await gateway.get('/health/ready')).status).toBe(200);

    const command = runCommand({ DATA_DIR: dataDir, PUBLIC_URL: gateway.url }, 'account', 'create', 'Tea House');
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(command.output()).toMatch(/^client_key +test_/m);
    const verified = runCommand({ DATA_DIR: dataDir }, 'verify');
    expect(await verified.ended).toEqual({ code: 0, signal: null });
    expect((await gateway.sale()).body).toMatchObject({ status: 'SETTLED' });
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
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
    // They follow the log line of the start.
    await eventually(() => {
      expect(gateway.output()).toMatch(/^Admin token, shown only this once: [0-9a-f]{48}$/m);
      expect(gateway.output()).toMatch(/^Panel, .*: https:\/\/pay\.example\.com\/admin\/invitation\/[0-9a-f]{64}$/m);
    });
    expect(gateway.output()).not.toContain('Demo');
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });

    const other = newMasterKey();
    const [sentence, ofSandbox] = await Promise.all([
      refusal({ ...production, TURNPIKE_MASTER_KEY: other }),
      refusal({ DATA_DIR: production.DATA_DIR, DATABASE_URL: url }),
    ]);
    expect(sentence).toMatch(/master key does not open/);
    expect(sentence).not.toContain(other);
    expect(ofSandbox).toMatch(/production installation/);
  });

  test('a sandbox whose master key was replaced', async () => {
    expect(await refusal({ DATA_DIR: dataDir, TURNPIKE_MASTER_KEY: newMasterKey() })).toMatch(
      /master key does not open/,
    );
    expect(await exists(pidFile(dataDir))).toBe(false);
  });

  test('a damaged database', async () => {
    await fs.truncate(join(serverFolder(dataDir), 'global/pg_control'), 100);
    const sentence = await refusal({ DATA_DIR: dataDir });
    expect(sentence).toContain('pg_control');
    expect(sentence).toContain(`${serverFolder(dataDir)}.log`);
    expect(isRunning(serverPid(dataDir))).toBe(false);
  });
});

describe('kill -9 while 20 sales are under way', () => {
  afterEach(clearAway);

  /** Sends sales without a pause until the gateway is gone; keeps what was acknowledged. */
  function load(gateway: RunningGateway) {
    const acknowledged = new Map<string, string>();
    const sent: string[] = [];
    const kinds: Fields[] = [{}, { auth: 'Y' }, { identifier: 'decline@example.com' }];
    const merchants = Array.from({ length: 20 }, async () => {
      for (;;) {
        const fields = saleFields(gateway.merchant, { order_id: newOrderId(), ...kinds[sent.length % kinds.length] });
        sent.push(fields.order_id as string);
        const answer = await gateway.post(fields).catch(() => undefined);
        if (!answer) return;
        // A gateway that is too busy refuses; what it has not acknowledged may be made or not.
        expect([200, 503]).toContain(answer.status);
        if (answer.status === 200) acknowledged.set(answer.body.trans_id, answer.body.status);
      }
    });
    return { acknowledged, sent, over: Promise.all(merchants) };
  }

  test.each([
    { victim: 'the gateway', killsServer: false },
    { victim: 'the gateway and its database', killsServer: true },
  ])('$victim: the next start recovers, and no acknowledged payment is lost', async ({ killsServer }) => {
    const dataDir = await newDataDir();
    const variables = { ...WITH_TOKEN, DATA_DIR: dataDir };
    const gateway = await startGateway(variables);
    const server = serverPid(dataDir);
    const { acknowledged, sent, over } = load(gateway);
    await eventually(() => expect(acknowledged.size).toBeGreaterThan(200));

    const connection = serverSocket(dataDir);
    const hold = await holdOutcomes(connection);
    await eventually(async () => {
      expect(await hold.unfinished()).toBeGreaterThan(0);
      expect(await hold.waiting()).toBeGreaterThan(0);
    });

    gateway.signal('SIGKILL');
    if (killsServer) process.kill(server, 'SIGKILL');
    expect(await gateway.ended).toEqual({ code: null, signal: 'SIGKILL' });
    await over;
    if (!killsServer) {
      // What the gateway had sent before it died would otherwise still be done.
      await hold.abandon();
      expect(await hold.unfinished()).toBeGreaterThan(0);
    }
    await hold.release();

    const again = await startGateway(variables);
    if (killsServer) expect(serverPid(dataDir)).not.toBe(server);
    else expect(serverPid(dataDir)).toBe(server);
    const count = async (path: string) => (await again.admin('GET', `/payments?limit=500&${path}`)).body.items.length;
    expect((await again.admin('POST', '/clock', { advance_seconds: 60 })).status).toBe(200);
    expect(await count('status=PREPARE')).toBe(0);

    const answers = await Promise.all([...acknowledged.keys()].map((transId) => again.status(transId)));
    expect(new Map(answers.map(({ body }) => [body.trans_id, body.status]))).toEqual(acknowledged);
    expect(new Set(acknowledged.values())).toEqual(new Set(['SETTLED', 'PENDING', 'DECLINED']));
    // The rest was either never written, or came to its outcome now: nothing was made up, nothing stands open.
    const all = Number((await query(connection, 'select count(*) from payments')).rows[0].count);
    expect(all).toBeGreaterThan(acknowledged.size);
    expect(all).toBeLessThanOrEqual(sent.length);
    expect(await runCommand(variables, 'verify').ended).toEqual({ code: 0, signal: null });
    expect((await again.sale()).body).toMatchObject({ status: 'SETTLED' });
    expect(await again.stop()).toEqual({ code: 0, signal: null });
    expect(await exists(pidFile(dataDir))).toBe(false);
  });
});

describe('two workers', () => {
  afterEach(clearAway);

  test('a worker that is killed under load leaves no request without an answer', async () => {
    const { url } = await newDatabase();
    const variables = { ...WITH_TOKEN, DATA_DIR: await newDataDir(), DATABASE_URL: url, TURNPIKE_WORKERS: '2' };
    const gateway = await startGateway(variables);
    const outcomes = { answered: 0, broken: 0, hanging: 0 };
    let isOver = false;
    const seen = new Set<string>();
    /** Opens one connection after the other; each is answered or breaks long before the time limit. */
    const knock = async (): Promise<void> => {
      while (!isOver) {
        const outcome = await new Promise<keyof typeof outcomes>((resolve) => {
          const sent = request(`${gateway.url}/health/live`, { agent: false, timeout: 30_000 }, (response) => {
            seen.add(String(response.headers['x-request-id']).split('-')[0] as string);
            response.resume().once('end', () => resolve('answered'));
            response.once('error', () => resolve('broken'));
          });
          sent.once('error', () => resolve('broken'));
          sent.once('timeout', () => {
            resolve('hanging');
            sent.destroy();
          });
          sent.end();
        });
        outcomes[outcome]++;
        // Without it the requests would keep a small machine from starting the next worker.
        await pause(20);
      }
    };
    const load = Promise.all(Array.from({ length: 16 }, knock));
    for (let kills = 0; kills < 3; kills++) {
      await eventually(() => expect(workersOf(gateway.pid)).toHaveLength(2));
      // Both have to answer: with no worker left the port would be closed, and another one picked later.
      seen.clear();
      await eventually(() => expect(seen.size).toBe(2));
      const victim = workersOf(gateway.pid)[kills % 2] as number;
      process.kill(victim, 'SIGKILL');
      await eventually(() => expect(workersOf(gateway.pid)).not.toContain(victim));
    }
    isOver = true;
    await load;
    expect(outcomes).toMatchObject({ hanging: 0 });
    expect(outcomes.answered).toBeGreaterThan(100);
    await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => gateway.sale({}, { connection: 'close' })));
      for (const { status } of answers) expect(status).toBe(200);
      expect(new Set(answers.map(({ headers }) => headers.get('x-request-id')?.split('-')[0])).size).toBe(2);
    });
  });
});

describe('an ordinary user', () => {
  afterEach(clearAway);

  test('starts the gateway in a folder of its own', async (context) => {
    if (!isRoot) return context.skip('All the other tests already run as an ordinary user.');
    const number = (flag: string) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
    const user = { uid: number('-u'), gid: number('-g') };
    if (!user.uid) return context.skip('There is no user nobody.');
    const look = spawnSync(process.execPath, ['-e', `fs.readdirSync(${JSON.stringify(ROOT)})`], { cwd: '/', ...user });
    if (look.status !== 0) return context.skip('The user nobody may not enter the folder of the program.');

    const dataDir = await newDataDir();
    await fs.mkdir(dataDir, { mode: 0o700 });
    await fs.chown(dataDir, user.uid, user.gid);
    const gateway = await startGateway({ DATA_DIR: dataDir, HOME: dirname(dataDir) }, user);
    expect((await gateway.sale()).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
    expect((await fs.stat(join(dataDir, 'master.key'))).uid).toBe(user.uid);
    expect((await fs.stat(serverFolder(dataDir))).uid).toBe(user.uid);
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    expect(await exists(pidFile(dataDir))).toBe(false);
  });
});
