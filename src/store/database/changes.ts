/** Announces changes to all processes over LISTEN/NOTIFY, so that none uses a stale account or clock. */
import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import { LIMITS } from '../../rules/limits.ts';
import type { Schema } from '../schema.ts';
import { BoundedClient } from './bounded-client.ts';
import { type Connection, connecting } from './database.ts';
import { SERVER } from './session.ts';

const CHANNEL = 'turnpike_changes';
const RECONNECT_MS = 500;

/** The notification is sent when the surrounding transaction commits. */
export async function announce(transaction: Kysely<Schema>, change: string): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, ${change})`.execute(transaction);
}

export interface ChangeListener {
  /** Whether the LISTEN connection is up; while it is not, nothing may be cached. */
  readonly live: boolean;
  close(): Promise<void>;
}

export interface ChangeHandlers {
  onChange(change: string): void;
  /** The connection was lost, or restored: changes may have been missed. */
  onGap(): void;
  /** The connection was restored to this other server: connections may still lead to the former primary. */
  onFailover(server: string): void;
}

/** Listens on a dedicated connection. */
export async function listenToChanges(
  connection: Connection,
  { onChange, onGap, onFailover }: ChangeHandlers,
): Promise<ChangeListener> {
  let client: pg.Client | undefined;
  let server: string | undefined;
  let live = false;
  let closed = false;

  async function connect(): Promise<void> {
    const next = new BoundedClient({ ...connection, ...connecting, query_timeout: LIMITS.heartbeatTimeoutMs });
    let heartbeat: NodeJS.Timeout | undefined;
    const lost = () => {
      if (client !== next) return;
      clearTimeout(heartbeat);
      live = false;
      client = undefined;
      onGap();
      if (!closed) setTimeout(retry, RECONNECT_MS).unref();
    };
    // A connection can die silently, and changes would be missed; only a response proves that it is up.
    const beat = (): void => {
      heartbeat = setTimeout(async () => {
        try {
          await next.query('select');
          if (client === next) beat();
        } catch {
          next.connection.stream.destroy();
          lost();
        }
      }, LIMITS.heartbeatMs).unref();
    };
    next.on('error', lost);
    next.on('end', lost);
    next.on('notification', (message) => onChange(message.payload ?? ''));
    let found: string;
    try {
      await next.connect();
      await next.query(`listen ${CHANNEL}`);
      found = (await next.query(`select ${SERVER}`)).rows[0].server;
    } catch (error) {
      next.connection.stream.destroy();
      throw error;
    }
    if (closed) return next.end();
    if (server !== undefined && server !== found) onFailover(found);
    server = found;
    client = next;
    live = true;
    beat();
    onGap();
  }

  const retry = (): void => {
    if (closed) return;
    connect().catch(() => setTimeout(retry, RECONNECT_MS).unref());
  };

  await connect();
  return {
    get live() {
      return live;
    },
    async close() {
      closed = true;
      if (client) await client.end();
    },
  };
}
