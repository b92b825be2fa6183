/** The connections to PostgreSQL: how values travel, a pool for ordinary statements, lanes for the hot ones. */
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { faultOf, isAnswerTimeout } from '../lib/faults.ts';
import { StartupError } from '../lib/startup-error.ts';
import { LIMITS } from '../rules/limits.ts';
import { openPipelinedConnection, type PipelinedConnection } from './pipelined-connection.ts';
import type { Schema } from './schema.ts';

const OLDEST_VERSION = 15;

export interface Database {
  /** Ordinary statements. */
  pool: pg.Pool;
  query: Kysely<Schema>;
  /** The batched statements of the hot path, which have one right plan: through the index, item by item. */
  writes: PipelinedConnection;
  reads: PipelinedConnection;
  /** The same for what is delivered: it does not stand in the way of the other two. */
  deliveries: PipelinedConnection;
  /** For batched statements that have to wait for a lock: several connections, so that nothing waits behind them. */
  isolated: PipelinedConnection;
  close(): Promise<void>;
}

export type Connection = Pick<pg.PoolConfig, 'host' | 'port' | 'user' | 'database' | 'connectionString'>;

const INT8 = 20;
const TIMESTAMPTZ = 1184;

/** Reads `2026-01-31 23:59:59.123+00`, which is what PostgreSQL writes in a UTC session. */
function readTimestamp(text: string): number {
  const ms = text.length > 20 ? Number(`0.${text.slice(20, -3)}`) * 1000 : 0;
  return Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19)}Z`) + Math.round(ms);
}

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return BigInt;
    if (oid === TIMESTAMPTZ) return readTimestamp;
    return pg.types.getTypeParser(oid, format);
  }) as pg.CustomTypesConfig['getTypeParser'],
};

// A generic plan made while a table was small would keep scanning it whole when it has grown.
const INDEX_ONLY =
  '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c plan_cache_mode=force_generic_plan';

/** How every connection is made: within a bounded time, and with signs of life while it is idle. */
export const connecting = {
  connectionTimeoutMillis: LIMITS.databaseConnectTimeoutMs,
  keepAlive: true,
  keepAliveInitialDelayMillis: LIMITS.databaseKeepAliveMs,
} as const satisfies pg.ClientConfig;

/**
 * A client of a pool that ends when an answer did not come in time. The driver only rejects the statement: the pool would
 * hand the connection to the next caller, behind a statement that still runs or on a line that is dead.
 */
class PooledClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: the driver overloads this method a dozen times
  override query(...args: any[]): any {
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const answer: unknown = (super.query as any)(...args);
    if (answer instanceof Promise) {
      answer.catch((error) => {
        if (isAnswerTimeout(error)) this.end().catch(() => undefined);
      });
    }
    return answer;
  }
}

/** With `hotConnections`, the hot path gets a pool of that size in place of each of its lanes. */
export function openDatabase(
  connection: Connection,
  onFault: (error: Error) => void,
  hotConnections?: number,
): Database {
  const config = (statementTimeoutMs: number, options: string): pg.ClientConfig => ({
    ...connection,
    types,
    options: `-c timezone=UTC -c statement_timeout=${statementTimeoutMs} ${options}`,
    ...connecting,
    // PostgreSQL itself ends a statement that takes too long; without even that answer, the connection is dead.
    query_timeout: statementTimeoutMs + LIMITS.answerGraceMs,
  });
  const openPool = (max: number, settings: pg.ClientConfig): pg.Pool => {
    const pool = new pg.Pool({ ...settings, Client: PooledClient, max, allowExitOnIdle: true });
    pool.on('error', onFault);
    // A client in use hears of a lost connection twice, and only once on behalf of the pool.
    pool.on('connect', (client) => void client.on('error', () => undefined));
    return pool;
  };
  const hot = (options = ''): pg.ClientConfig => config(LIMITS.hotStatementTimeoutMs, `${INDEX_ONLY} ${options}`);
  const openHot = (settings = hot()): PipelinedConnection =>
    hotConnections === undefined ? openPipelinedConnection(settings, onFault) : openPool(hotConnections, settings);
  // A client that vanished within a transaction keeps its locks no longer than that.
  const pool = openPool(
    10,
    config(LIMITS.statementTimeoutMs, `-c idle_in_transaction_session_timeout=${LIMITS.statementTimeoutMs}`),
  );
  // A pipelined connection runs its statements one after another, so none of them may wait long for a lock.
  const writes = openHot(hot(`-c lock_timeout=${LIMITS.lockTimeoutMs}`));
  const reads = openHot();
  const deliveries = openHot();
  const isolated = openPool(LIMITS.isolatedConnections, hot(`-c lock_timeout=${LIMITS.isolatedLockTimeoutMs}`));
  return {
    pool,
    writes,
    reads,
    deliveries,
    isolated,
    query: new Kysely<Schema>({
      dialect: new PostgresDialect({ pool }),
      plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
    }),
    async close() {
      await Promise.all([pool.end(), writes.end(), reads.end(), deliveries.end(), isolated.end()]);
    },
  };
}

/** Refuses a database that cannot be reached, is too old or cannot be written. */
export async function checkDatabase({ pool }: Database): Promise<void> {
  try {
    const { rows } = await pool.query<{ version: number; readonly: boolean }>(
      `select current_setting('server_version_num')::int / 10000 as version,
              pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as readonly`,
    );
    const { version, readonly } = rows[0] as { version: number; readonly: boolean };
    if (version < OLDEST_VERSION) {
      throw new StartupError(`The database is PostgreSQL ${version}, but Turnpike needs ${OLDEST_VERSION} or newer.`);
    }
    if (readonly) throw new StartupError('The database is read-only: connect Turnpike to the primary.');
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`The database cannot be reached (${faultOf(error)}): check DATABASE_URL and that it runs.`);
  }
}
