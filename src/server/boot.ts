/** Opens an installation: its data folder and keys, its database (embedded or external), and its gateway. */
import { join } from 'node:path';
import pg from 'pg';
import type { ProviderAccess } from '../connectors/index.ts';
import type { Gateway } from '../core/context.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import type { Log } from '../lib/text/log.ts';
import { type Connection, checkDatabase, openDatabase } from '../store/database/database.ts';
import { compareSchema, migrateAt } from '../store/database/migrate.ts';
import { startEmbedded } from '../store/embedded/embedded.ts';
import { lockFolder } from '../store/embedded/folder-lock.ts';
import { type Config, mailAccess, retentionOf } from './config.ts';
import { openGateway } from './gateway.ts';
import { sandboxMasterKey } from './master-key.ts';
import { openProvider } from './provider.ts';

export interface Installation {
  gateway: Gateway;
  connection: Connection;
  masterKey: string;
  provider: ProviderAccess | undefined;
  close(): Promise<void>;
}

export interface BootOptions {
  log: Log;
  say: (sentence: string) => void;
  /** Whether this process is the gateway of the data folder; false for other commands. */
  isGateway: boolean;
  /** Whether the process needs the data folder exclusively; a gateway does by default. */
  isAlone?: boolean;
  /** Reads the master keys when the configuration has none. */
  readKeys?: (dataDir: string) => Promise<string>;
}

export async function boot(config: Config, options: BootOptions): Promise<Installation> {
  const { log, isGateway, readKeys = sandboxMasterKey } = options;
  const database = await openDatabaseServer(config, options);
  try {
    const { connection } = database;
    await prepareSchema(config, connection, log);
    const masterKey = config.masterKey || (await readKeys(config.dataDir));
    // Only a gateway calls a provider; other commands do not.
    const providerHandle = isGateway
      ? await openProvider(config, masterKey, log)
      : { provider: undefined, stop: async () => undefined };
    const { provider } = providerHandle;
    const { environment, callbackAllow, walletRoots, walletBGateway } = config;
    const gatewayOptions = {
      ...{ connection, environment, masterKey, log, provider, callbackAllow, walletRoots },
      walletBRecipient: walletBGateway,
      mail: mailAccess(config),
      retention: retentionOf(config),
      archiveFolder: config.archiveFolder,
      marksFolder: config.marksFolder,
      foldsInThread: isGateway,
    };
    const opened = await openGateway(gatewayOptions).catch(async (error) => {
      await providerHandle.stop();
      throw error;
    });
    return {
      gateway: opened.gateway,
      connection,
      masterKey,
      provider,
      async close() {
        await opened.close();
        await providerHandle.stop();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Migrates an older schema, or refuses it; a newer one is used as far as it says that this version can. */
async function prepareSchema({ migratesAtStart }: Config, connection: Connection, log: Log): Promise<void> {
  const { missing, newer } = await compareSchema(connection).catch(refuseMigration);
  if (missing.length > 0 && migratesAtStart === 'on') {
    await migrateAt(connection, { progress: (line) => log.info(line) }).catch(refuseMigration);
  } else if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ');
    throw new StartupError(
      `The schema of the database is older than this version needs (it lacks ${names}): run \`turnpike migrate\` first, or set TURNPIKE_MIGRATE=on.`,
    );
  }
  if (newer.length > 0) log.warn({ migrations: newer }, 'the database was migrated by a newer version');
}

/** The usual cause is a database user without the right to create tables. */
export function refuseMigration(error: unknown): never {
  if (!(error instanceof pg.DatabaseError)) throw error;
  throw new StartupError(
    `The schema of the database cannot be migrated (${error.message}): the gateway needs a database user with the right to create tables.`,
  );
}

/** The database connection. `close` stops a server that this process started, and leaves one that was already running. */
export async function openDatabaseServer(
  config: Config,
  { say, isGateway, isAlone = isGateway }: Pick<BootOptions, 'say' | 'isGateway' | 'isAlone'>,
): Promise<{ connection: Connection; close(): Promise<void> }> {
  if (config.databaseUrl !== '') {
    const connection = { connectionString: config.databaseUrl };
    const probe = openDatabase(connection, () => undefined);
    await checkDatabase(probe).finally(() => probe.close());
    return { connection, close: async () => undefined };
  }
  const server = await startEmbedded({ folder: join(config.dataDir, 'postgres'), onProgress: say });
  if (!isAlone) {
    return { connection: server.connection, close: async () => (server.takenOver ? undefined : server.stop()) };
  }
  const lock = await lockFolder(server.connection).catch(async (error) => {
    if (!server.takenOver) await server.stop();
    throw error;
  });
  if (!lock) {
    throw new StartupError(
      `The data folder ${config.dataDir} is in use by another Turnpike: stop it, or set DATA_DIR to another folder.`,
    );
  }
  return {
    connection: server.connection,
    async close() {
      await lock.release();
      if (isGateway || !server.takenOver) await server.stop();
    },
  };
}
