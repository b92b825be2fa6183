/** PgBouncer in front of a PostgreSQL server, if it is installed. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { EmbeddedDatabase } from '../../src/store/embedded/embedded.ts';
import { chooseSystemUser } from '../../src/store/embedded/system-user.ts';
import { startFreezingProxy } from './faulty-database.ts';
import { freePort } from './free-port.ts';

const PROGRAM = '/usr/sbin/pgbouncer';
export const hasPgBouncer = existsSync(PROGRAM);

export interface PgBouncer {
  connection: { host: string; port: number; user: string; database: string };
  stop(): Promise<void>;
}

export async function startPgBouncer(
  target: EmbeddedDatabase['connection'],
  poolMode: 'session' | 'transaction' | 'statement',
): Promise<PgBouncer> {
  const folder = await fs.mkdtemp(join(tmpdir(), 'turnpike-pgbouncer-'));
  const account = await chooseSystemUser(folder);
  await fs.chmod(folder, 0o755);
  // PgBouncer does not run as root, and may not enter the folder of the socket then.
  const proxy = await startFreezingProxy(target);
  const port = await freePort();
  const users = join(folder, 'users.txt');
  const file = join(folder, 'pgbouncer.ini');
  await fs.writeFile(users, `"${target.user}" ""\n`);
  await fs.writeFile(
    file,
    `[databases]
* = user=${target.user} host=${proxy.host} port=${proxy.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
auth_file = ${users}
pool_mode = ${poolMode}
default_pool_size = 60
`,
  );
  const log = await fs.open(join(folder, 'pgbouncer.log'), 'a');
  const child = spawn(PROGRAM, [file], { ...account, stdio: ['ignore', log.fd, log.fd] });
  await log.close();
  const ended = new Promise((resolve) => child.once('close', resolve));
  const connection = { host: '127.0.0.1', port, user: target.user, database: target.database };
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await proxy.close();
    await fs.rm(folder, { recursive: true, force: true });
  };
  for (let left = 100; ; left--) {
    const client = new pg.Client(connection);
    client.on('error', () => undefined);
    const isUp = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end();
    if (isUp) return { connection, stop };
    if (left === 0) {
      await stop();
      throw new Error('PgBouncer did not start.');
    }
    await pause(100);
  }
}
