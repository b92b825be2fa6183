/** The connections to PostgreSQL: type conversion, a pool for ordinary statements, pipelined connections for hot ones. */
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { faultOf, isAnswerTimeout, isReadOnly } from '../../lib/flow/faults.ts';
import { StartupError, UnreachableError } from '../../lib/flow/startup-error.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Schema } from '../schema.ts';
import { BoundedClient, type Done } from './bounded-client.ts';
import { openPipelinedConnection, type PipelinedConnection, type SessionConfig } from './pipelined-connection.ts';
import { prepareSession, refuseSharedSessions, type SessionSettings, StandbyServer } from './session.ts';

const OLDEST_VERSION = 15;
const READ_ONLY = 'The database is read-only: connect Turnpike to the primary.';

export interface Database {
  /** Ordinary statements. */
  pool: pg.Pool;
  query: Kysely<Schema>;
  /** Batched statements of the hot path; the planner is forced to use index scans. */
  writes: PipelinedConnection;
  reads: PipelinedConnection;
  /** The same for callback deliveries, so that they do not delay the other two. */
  deliveries: PipelinedConnection;
  /** Batched statements that wait for a lock: a pool, so that they do not delay each other. */
  isolated: PipelinedConnection;
  /** Transactions of the hot path, whose statements need not wait for each other: see `createPacket` and `sendTogether`. */
  decisions: pg.Pool;
  /** Drops the connections to other servers: what is in flight fails, and the next statements connect again. */
  leaveOtherServers(server: string): void;
  close(): Promise<void>;
}

export type Connection = Pick<pg.PoolConfig, 'host' | 'port' | 'user' | 'database' | 'connectionString'>;

const INT8 = 20;
const TIMESTAMPTZ = 1184;

/** Parses `2026-01-31 23:59:59.123+00`, the output format of a UTC session. */
function readTimestamp(text: string): number {
  const ms = text.length > 20 ? Number(`0.${text.slice(20, -3)}`) * 1000 : 0;
  return Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19)}Z`) + Math.round(ms);
}

/** How values of the database are read. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return BigInt;
    if (oid === TIMESTAMPTZ) return readTimestamp;
    return pg.types.getTypeParser(oid, format);
  }) as pg.CustomTypesConfig['getTypeParser'],
};

// A generic plan from a time when the table was small would keep using sequential scans after it has grown.
export const INDEX_ONLY: SessionSettings = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/** Options of every connection: a connect timeout, and TCP keep-alive. */
export const connecting = {
  connectionTimeoutMillis: LIMITS.databaseConnectTimeoutMs,
  keepAlive: true,
  keepAliveInitialDelayMillis: LIMITS.databaseKeepAliveMs,
} as const satisfies pg.ClientConfig;

/**
 * A pooled client that ends itself when a response times out or the server is read-only. The driver only rejects the
 * statement, and the pool would hand the connection to the next caller, behind a statement that still runs, on a dead
 * connection, or to a server that is no longer the primary.
 */
class PooledClient extends BoundedClient {
  override timed<Result>(send: (end: Done<Result>) => void, done: Done<Result>, timeoutMs?: number): void {
    const end: Done<Result> = (error, result) => {
      if (isAnswerTimeout(error) || isReadOnly(error)) this.end().catch(() => undefined);
      done(error, result);
    };
    super.timed(send, end, timeoutMs);
  }
}

/** Sends the first statements of a pipelined client in one packet. */
export function sendTogether<Result>(client: pg.ClientBase, send: () => Promise<Result>): Promise<Result> {
  const { stream } = (client as BoundedClient).connection;
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

/** Composes statements for a pool. */
export const queryBuilder = (pool: Pick<pg.Pool, 'connect' | 'end'>): Kysely<Schema> =>
  new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: pool as pg.Pool }),
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  });

/** With `hotConnections`, the hot path uses a pool of that size in place of each pipelined connection. */
export function openDatabase(
  connection: Connection,
  onFault: (error: Error) => void,
  hotConnections?: number,
): Database {
  /** The server that each client is connected to. */
  const servers = new Map<BoundedClient, string>();
  const config = (statementTimeoutMs: number, settings: SessionSettings): SessionConfig => ({
    ...connection,
    types,
    ...connecting,
    async onConnect(client) {
      const server = await prepareSession(client, { statement_timeout: statementTimeoutMs, ...settings });
      servers.set(client as BoundedClient, server);
      client.once('end', () => servers.delete(client as BoundedClient));
    },
    // PostgreSQL cancels a statement after its timeout; if not even that error arrives, the connection is dead.
    query_timeout: statementTimeoutMs + LIMITS.answerGraceMs,
  });
  const openPool = (max: number, session: SessionConfig): pg.Pool => {
    const pool = new pg.Pool({
      ...session,
      Client: PooledClient,
      max,
      // A new connection reads the catalogues first, and the request that needs it waits for that.
      idleTimeoutMillis: LIMITS.databaseIdleMs,
      allowExitOnIdle: true,
    });
    pool.on('error', onFault);
    // A client in use emits two errors for a lost connection, and the pool handles only the first.
    pool.on('connect', (client) => void client.on('error', () => undefined));
    return pool;
  };
  const hot = (settings?: SessionSettings): SessionConfig =>
    config(LIMITS.hotStatementTimeoutMs, { ...INDEX_ONLY, ...settings });
  const openHot = (settings = hot()): PipelinedConnection =>
    hotConnections === undefined ? openPipelinedConnection(settings, onFault) : openPool(hotConnections, settings);
  // The idle timeout bounds how long a process that died inside a transaction keeps its locks.
  const inTransaction = { idle_in_transaction_session_timeout: LIMITS.statementTimeoutMs };
  const pool = openPool(10, config(LIMITS.statementTimeoutMs, inTransaction));
  const decisions = openPool(LIMITS.riskBatchesInFlight, {
    ...config(LIMITS.statementTimeoutMs, { ...INDEX_ONLY, ...inTransaction }),
    pipeline: true,
  });
  // A pipelined connection runs its statements one after another, so none of them may wait long for a lock.
  const writes = openHot(hot({ lock_timeout: LIMITS.lockTimeoutMs }));
  const reads = openHot();
  const deliveries = openHot();
  const isolated = openPool(LIMITS.isolatedConnections, hot({ lock_timeout: LIMITS.isolatedLockTimeoutMs }));
  return {
    pool,
    writes,
    reads,
    deliveries,
    isolated,
    decisions,
    query: queryBuilder(pool),
    leaveOtherServers(server) {
      for (const [client, other] of servers) if (other !== server) client.connection.stream.destroy();
    },
    async close() {
      await Promise.all([pool, writes, reads, deliveries, isolated, decisions].map((one) => one.end()));
    },
  };
}

/** Refuses a database that cannot be reached, is too old, cannot be written or does not keep sessions apart. */
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
    if (readonly) throw new StartupError(READ_ONLY);
    await refuseSharedSessions(pool);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    if (error instanceof StandbyServer) throw new StartupError(READ_ONLY);
    throw new UnreachableError(
      `The database cannot be reached (${faultOf(error)}): check DATABASE_URL and that it runs.`,
    );
  }
}
