/** Opens an installation: its folder and keys, its database (embedded or given), its migrated schema, its gateway. */
import { join } from 'node:path';
import pg from 'pg';
import type { Logger } from 'pino';
import type { ProviderAccess } from '../connectors/index.ts';
import type { Gateway } from '../core/context.ts';
import { StartupError } from '../lib/startup-error.ts';
import { type Connection, checkDatabase, openDatabase } from '../store/database.ts';
import { startEmbedded } from '../store/embedded.ts';
import { lockFolder } from '../store/folder-lock.ts';
import { migrateAt } from '../store/migrate.ts';
import type { Config } from './config.ts';
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
  log: Logger;
  say: (sentence: string) => void;
  /** Whether this process is the gateway of the folder, and not a command beside it. */
  isGateway: boolean;
  /** Whether nobody else may use the folder meanwhile, as it is for a gateway. */
  isAlone?: boolean;
  /** Where the keys come from that the configuration does not have. */
  readKeys?: (dataDir: string) => Promise<string>;
}

export async function boot(config: Config, manner: BootOptions): Promise<Installation> {
  const { log, isGateway, readKeys = sandboxMasterKey } = manner;
  const database = await reachDatabase(config, manner);
  try {
    const { connection } = database;
    await migrateAt(connection).catch(refuseMigration);
    const masterKey = config.masterKey || (await readKeys(config.dataDir));
    // A command beside the gateway calls no provider.
    const simulatorUrl = isGateway
      ? await openProvider(config, masterKey, log)
      : { provider: undefined, stop: async () => undefined };
    const { provider } = simulatorUrl;
    const { environment, callbackAllow } = config;
    const options = { connection, environment, masterKey, log, provider, callbackAllow };
    const opened = await openGateway(options).catch(async (error) => {
      await simulatorUrl.stop();
      throw error;
    });
    return {
      gateway: opened.gateway,
      connection,
      masterKey,
      provider,
      async close() {
        await opened.close();
        await simulatorUrl.stop();
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
  throw new StartupError(
    `The schema of the database cannot be brought up to date (${error.message}): the gateway needs a user who may create tables.`,
  );
}

/** The database to use, and how to leave it: a server that we started is stopped, one that we found stays. */
async function reachDatabase(
  config: Config,
  { say, isGateway, isAlone = isGateway }: BootOptions,
): Promise<{ connection: Connection; leave(): Promise<void> }> {
  if (config.databaseUrl !== '') {
    const connection = { connectionString: config.databaseUrl };
    const probe = openDatabase(connection, () => undefined);
    await checkDatabase(probe).finally(() => probe.close());
    return { connection, leave: async () => undefined };
  }
  const server = await startEmbedded({ folder: join(config.dataDir, 'postgres'), onProgress: say });
  if (!isAlone) {
    return { connection: server.connection, leave: async () => (server.takenOver ? undefined : server.stop()) };
  }
  const lock = await lockFolder(server.connection).catch(async (error) => {
    if (!server.takenOver) await server.stop();
    throw error;
  });
  if (!lock) {
    throw new StartupError(
      `The data folder ${config.dataDir} is in use by another Turnpike: stop that one, or set DATA_DIR to another folder.`,
    );
  }
  return {
    connection: server.connection,
    async leave() {
      await lock.release();
      if (isGateway || !server.takenOver) await server.stop();
    },
  };
}
