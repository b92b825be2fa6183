/** A session of PostgreSQL: sets it up, refuses a standby, and detects a pooler that shares sessions between clients. */
import type pg from 'pg';
import { Outage } from '../../lib/flow/faults.ts';
import { StartupError } from '../../lib/flow/startup-error.ts';
import { LIMITS } from '../../rules/limits.ts';

/** The address leads to a standby. */
export class StandbyServer extends Outage {
  constructor() {
    super('The database server is a standby.');
  }
}

export type SessionSettings = Readonly<Record<string, string | number>>;

/** The settings of all sessions. */
const COMMON: SessionSettings = {
  timezone: 'UTC',
  // With index scans only, the planner's costs exceed the threshold of JIT, which takes longer than the statements.
  jit: 'off',
  // A client has to learn of a commit that was not replicated.
  client_min_messages: 'warning',
};

/** Identifies the server: the same in all of its sessions until it is restarted. */
export const SERVER = 'extract(epoch from pg_postmaster_start_time())::text as server';

/**
 * Applies the settings by a statement, because PgBouncer does not accept them as options of the connection. Refuses a
 * standby: during a failover an address can lead to one, and reads from it would be stale. Returns the server.
 */
export async function prepareSession(client: pg.ClientBase, settings: SessionSettings = {}): Promise<string> {
  const entries = Object.entries({ ...COMMON, ...settings });
  const calls = entries.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, false)`);
  const { rows } = await client.query({
    text: `select ${calls.join(', ')}, pg_is_in_recovery() as standby, ${SERVER}`,
    values: entries.flatMap(([name, value]) => [name, String(value)]),
    // The driver supports this option of a statement, but its types lack it.
    query_timeout: LIMITS.databaseConnectTimeoutMs,
  } as pg.QueryConfig);
  if (rows[0].standby) throw new StandbyServer();
  return rows[0].server;
}

const PROBED_CLIENTS = 3;
const PROBE_ROUNDS = 4;

/**
 * Refuses a pooler that gives a client another session for each transaction. Without a pooler, the process id that the
 * server sent when the connection was made is that of its session, and nothing more is examined.
 */
export async function refuseSharedSessions(pool: pg.Pool): Promise<void> {
  const clients: pg.PoolClient[] = [];
  try {
    /** The sessions in which each client was seen. */
    const seen: Set<number>[] = [];
    for (let index = 0; index < PROBED_CLIENTS; index++) {
      const client = await pool.connect();
      clients.push(client);
      const pid = await sessionOf(client);
      if (pid === reportedProcess(client)) return;
      seen.push(new Set([pid]));
    }
    for (let round = 0; round < PROBE_ROUNDS; round++)
      for (const [index, client] of clients.entries()) seen[index]?.add(await sessionOf(client));
    const isOwn =
      seen.every(({ size }) => size === 1) && new Set(seen.flatMap((pids) => [...pids])).size === clients.length;
    if (isOwn) return;
    throw new StartupError(
      'DATABASE_URL leads to a pooler that changes the session between transactions, but Turnpike needs sessions of its own: set pool_mode = session for its database in PgBouncer, or connect to PostgreSQL directly.',
    );
  } finally {
    for (const client of clients) client.release();
  }
}

/** The process that serves a connection, as the server reported it; the types of the driver lack it. */
export const reportedProcess = (client: object): number => (client as { processID: number }).processID;

const sessionOf = async (client: pg.PoolClient): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid as number;
