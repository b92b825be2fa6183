/** The program in real processes: started, stopped and refused. */
import { execFile, spawnSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  clearAway,
  exists,
  expectNoServer,
  isRunning,
  NO_SIMULATOR,
  newDataDir,
  type RunningGateway,
  refusal,
  runCommand,
  serverFolder,
  serverPid,
  startGateway,
} from '../support/process.ts';

// Each test starts processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const execute = promisify(execFile);

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
    const [, link = ''] = /^ {2}Panel {9}(\S+)$/m.exec(gateway.output()) ?? [];
    expect(link).toMatch(/^http:\/\/localhost:\d+\/admin\/invitation\/[0-9a-f]{64}$/);
    expect((await gateway.get(new URL(link).pathname)).status).toBe(200);
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

  test('only its owner can read the master key and the token that it makes', async () => {
    for (const name of ['master.key', 'admin.token']) {
      expect((await fs.stat(join(dataDir, name))).mode & 0o777, name).toBe(0o600);
    }
    expect((await fs.readFile(join(dataDir, 'admin.token'), 'utf8')).trim()).toBe(token);
    expect((await fs.stat(serverFolder(dataDir))).mode & 0o077).toBe(0);
  });

  test('Ctrl-C stops the gateway and its database, and the next start finds everything again', async () => {
    const server = serverPid(dataDir);
    expect(isRunning(server)).toBe(true);
    expect(await gateway.stop('SIGINT')).toEqual({ code: 0, signal: null });
    await expectNoServer(dataDir, server);
    expect(gateway.complaints()).toBe('');

    const { merchant } = gateway;
    gateway = await startGateway({ DATA_DIR: dataDir, ...NO_SIMULATOR });
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
});

// Concurrent, because each test waits for processes of its own.
describe.concurrent('a start that cannot go on says why in one sentence:', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await newDataDir();
  });
  afterAll(clearAway);

  test('an unknown command', async () => {
    const program = runCommand({}, 'dance');
    expect(await program.ended).toEqual({ code: 2, signal: null });
    expect(program.complaints()).toMatch(/^turnpike: There is no command dance\. [^\n]+\.\n$/);
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
});
