/** Opens an installation: its folder and keys, its database (embedded or given), its migrated schema, its gateway. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { ProviderAccess } from './connectors/index.ts';
import type { Gateway } from './core/context.ts';
import { checkEnvironment, checkMasterKey } from './core/installation.ts';
import { openGateway } from './gateway.ts';
import { StartRefusal } from './lib/refusal.ts';
import { newMasterKey } from './lib/seal.ts';
import { reachOutside } from './outside.ts';
import { type Connection, checkDatabase, openDatabase } from './store/database.ts';
import { startEmbedded } from './store/embedded.ts';
import { lockFolder } from './store/folder-lock.ts';
import { migrateAt } from './store/migrate.ts';

export interface Installation {
  gateway: Gateway;
  connection: Connection;
  masterKey: string;
  provider: ProviderAccess | undefined;
  close(): Promise<void>;
}

export interface BootOptions {
  log: Logger;
  say: (sentence: string) => void;
  /** Whether this process is the gateway of the folder, and not a command beside it. */
  isGateway: boolean;
}

export async function boot(config: Config, { log, say, isGateway }: BootOptions): Promise<Installation> {
  const database = await reachDatabase(config, say, isGateway);
  try {
    const { connection } = database;
    await migrateAt(connection).catch(refuseMigration);
    const masterKey = config.masterKey || (await sandboxMasterKey(config.dataDir));
    // A command beside the gateway calls no provider.
    const outside = isGateway
      ? await reachOutside(config, masterKey, log)
      : { provider: undefined, stop: async () => undefined };
    const { provider } = outside;
    const { environment } = config;
    const opened = await openGateway({ connection, environment, masterKey, log, provider }).catch(async (error) => {
      await outside.stop();
      throw error;
    });
    const { gateway } = opened;
    const close = async (): Promise<void> => {
      await opened.close();
      await outside.stop();
    };
    try {
      await checkEnvironment(gateway);
      await checkMasterKey(gateway);
    } catch (error) {
      await close();
      throw error;
    }
    return {
      gateway,
      connection,
      masterKey,
      provider,
      async close() {
        await close();
        await database.leave();
      },
    };
  } catch (error) {
    await database.leave();
    throw error;
  }
}

/** The usual reason is a user who may not create tables. */
function refuseMigration(error: unknown): never {
  if (!(error instanceof pg.DatabaseError)) throw error;
  throw new StartRefusal(
    `The schema of the database cannot be brought up to date (${error.message}): the gateway needs a user who may create tables.`,
  );
}

/** The database to use, and how to leave it: a server that we started is stopped, one that we found stays. */
async function reachDatabase(
  config: Config,
  say: (sentence: string) => void,
  isGateway: boolean,
): Promise<{ connection: Connection; leave(): Promise<void> }> {
  if (config.databaseUrl !== '') {
    const connection = { connectionString: config.databaseUrl };
    const probe = openDatabase(connection, () => undefined);
    await checkDatabase(probe).finally(() => probe.close());
    return { connection, leave: async () => undefined };
  }
  const server = await startEmbedded({ folder: join(config.dataDir, 'postgres'), onProgress: say });
  if (!isGateway) {
    return { connection: server.connection, leave: async () => (server.takenOver ? undefined : server.stop()) };
  }
  const lock = await lockFolder(server.connection).catch(async (error) => {
    if (!server.takenOver) await server.stop();
    throw error;
  });
  if (!lock) {
    throw new StartRefusal(
      `The data folder ${config.dataDir} is in use by another Turnpike: stop that one, or set DATA_DIR to another folder.`,
    );
  }
  return {
    connection: server.connection,
    async leave() {
      await lock.release();
      await server.stop();
    },
  };
}

/** The sandbox makes its own master key once; production is given one. */
async function sandboxMasterKey(dataDir: string): Promise<string> {
  const file = join(dataDir, 'master.key');
  try {
    await mkdir(dataDir, { recursive: true });
    await writeFile(file, `${newMasterKey()}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new StartRefusal(
        `The file ${file} cannot be written (${(error as NodeJS.ErrnoException).code}): set DATA_DIR to a folder that can, or set TURNPIKE_MASTER_KEY.`,
      );
    }
    await chmod(file, 0o600);
  }
  const key = (await readFile(file, 'utf8')).trim();
  if (Buffer.from(key, 'base64').length !== 32) {
    throw new StartRefusal(
      `The file ${file} is damaged: restore it from a backup, the secrets in the database cannot be opened without it.`,
    );
  }
  return key;
}
