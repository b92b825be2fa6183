/** The database of a chaos run: one PostgreSQL server behind a relay, on a disk of its own where one can be mounted. */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type EmbeddedDatabase, startEmbedded } from '../../src/store/embedded/embedded.ts';
import { sendSignal } from '../support/signals.ts';
import { type Relay, startRelay } from './relay.ts';
import type { StageDatabase } from './stage.ts';

const execute = promisify(execFile);
/** Enough for the write-ahead log of a run. */
const DISK_MEGABYTES = 800;

/** The PostgreSQL server, which can be killed and started again. */
export interface Database extends StageDatabase {
  /** Between the gateway and the server. */
  relay: Relay;
  restart(signal: 'SIGKILL' | 'SIGINT'): Promise<void>;
  /** Fills the disk for a while; undefined where no disk of its own could be mounted. */
  fillDisk: ((ms: number) => Promise<void>) | undefined;
}

/** A small file system in memory for the database, so that it can become full; only root may mount one. */
async function mountDisk(folder: string): Promise<boolean> {
  await fs.mkdir(folder);
  const options = `size=${DISK_MEGABYTES}m,mode=755`;
  return execute('mount', ['-t', 'tmpfs', '-o', options, 'turnpike-chaos', folder]).then(
    () => true,
    () => false,
  );
}

/** Processes of a server that was killed may still use the disk; they end when they notice it. */
async function unmount(disk: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await execute('umount', [disk]);
      return;
    } catch (error) {
      if (attempt === 50) throw error;
      await pause(200);
    }
  }
}

/** Writes a file until the disk is full. */
async function fill(path: string): Promise<void> {
  const file = await fs.open(path, 'w');
  const block = Buffer.alloc(1024 * 1024);
  try {
    for (;;) await file.write(block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    await file.close();
  }
}

export async function startDatabase(runFolder: string): Promise<Database> {
  const disk = join(runFolder, 'disk');
  const isMounted = await mountDisk(disk);
  const folder = join(disk, 'postgres');
  const start = (): Promise<EmbeddedDatabase> =>
    startEmbedded({ folder, settings: { max_wal_size: '256MB', shared_buffers: '128MB' } });
  let server = await start();
  const postmaster = async (): Promise<number> =>
    Number.parseInt(await fs.readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '0'), 10);
  const { host, port, user, database } = server.connection;
  const relay = await startRelay([{ path: join(host, `.s.PGSQL.${port}`) }]);
  return {
    get connection() {
      return server.connection;
    },
    url: `postgres://${user}@127.0.0.1:${relay.port}/${database}`,
    relay,
    async restart(signal) {
      const pid = await postmaster();
      if (pid > 0) sendSignal(pid, signal);
      if (signal === 'SIGINT') await server.stop();
      await pause(200);
      server = await start();
    },
    fillDisk: isMounted
      ? async (ms: number) => {
          const filler = join(disk, 'filler');
          await fill(filler);
          await pause(ms);
          await fs.rm(filler);
          // PostgreSQL stops when it cannot write its log.
          server = await start();
        }
      : undefined,
    async stop() {
      await relay.close();
      await server.stop();
      if (isMounted) await unmount(disk);
    },
  };
}
