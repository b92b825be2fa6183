/** The connections to PostgreSQL: how values travel, which faults mean what, and the two pools. */
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { StartRefusal } from '../lib/refusal.ts';
import type { Schema } from './schema.ts';

const OLDEST_VERSION = 15;

export interface Database {
  /** Ordinary statements. */
  pool: pg.Pool;
  query: Kysely<Schema>;
  /** The batched statements of the hot path, which have one right plan: through the index, item by item. */
  hot: pg.Pool;
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
const INDEX_ONLY = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off';

export function openDatabase(connection: Connection, onFault: (error: Error) => void): Database {
  const open = (max: number, options: string) => {
    const pool = new pg.Pool({
      ...connection,
      max,
      types,
      options: `-c timezone=UTC ${options}`,
      connectionTimeoutMillis: 5000,
      allowExitOnIdle: true,
    });
    pool.on('error', onFault);
    return pool;
  };
  const pool = open(10, '-c statement_timeout=30000');
  const hot = open(12, `${INDEX_ONLY} -c statement_timeout=10000`);
  return {
    pool,
    hot,
    query: new Kysely<Schema>({
      dialect: new PostgresDialect({ pool }),
      plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
    }),
    async close() {
      await Promise.all([pool.end(), hot.end()]);
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
      throw new StartRefusal(`The database is PostgreSQL ${version}, but Turnpike needs ${OLDEST_VERSION} or newer.`);
    }
    if (readonly) throw new StartRefusal('The database is read-only: connect Turnpike to the primary.');
  } catch (error) {
    if (error instanceof StartRefusal) throw error;
    throw new StartRefusal(`The database cannot be reached (${faultOf(error)}): check DATABASE_URL and that it runs.`);
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A short description without the values that PostgreSQL puts into its details. */
export const faultOf = (error: unknown): string =>
  codeOf(error) || (error instanceof Error ? error.message.split('\n')[0] : '') || 'unknown';

/** Bad data or a broken constraint: the statement changed nothing, and one item may be to blame. */
export const isItemFault = (error: unknown): boolean => /^2[23]...$/.test(codeOf(error));

/** No connection, shutting down, out of room, read-only: the request may be sent again later. */
export const isOutage = (error: unknown): boolean =>
  /^(08...|53...|57...|25006|E[A-Z]+)$/.test(codeOf(error)) ||
  (error instanceof Error && /timeout|terminated|Connection|ended|after calling end/i.test(error.message));
