/** Tells every process of this installation what changed, so that none works with an account or a clock of yesterday. */
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { LIMITS } from '../rules/limits.ts';
import { type Connection, connecting } from './database.ts';
import { endClient } from './pipelined-connection.ts';
import type { Schema } from './schema.ts';

const CHANNEL = 'turnpike_changes';
const RECONNECT_MS = 500;

/** Sends the word when the surrounding transaction commits. */
export async function announce(transaction: Kysely<Schema>, change: string): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, ${change})`.execute(transaction);
}

export interface Changes {
  /** Whether news arrive at the moment; while they do not, nothing may be remembered. */
  readonly live: boolean;
  close(): Promise<void>;
}

/** Listens on a connection of its own; after a break `onGap` is called, because news may have been missed. */
export async function listenToChanges(
  connection: Connection,
  onChange: (change: string) => void,
  onGap: () => void,
): Promise<Changes> {
  let client: pg.Client | undefined;
  let live = false;
  let closed = false;

  async function connect(): Promise<void> {
    const next = new pg.Client({ ...connection, ...connecting, query_timeout: LIMITS.heartbeatTimeoutMs });
    let heartbeat: NodeJS.Timeout | undefined;
    const lost = () => {
      if (client !== next) return;
      clearTimeout(heartbeat);
      live = false;
      client = undefined;
      onGap();
      if (!closed) setTimeout(retry, RECONNECT_MS).unref();
    };
    // A connection can die without a word, and then changes would be missed: only an answer proves that it lives.
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
    try {
      await next.connect();
      await next.query(`listen ${CHANNEL}`);
    } catch (error) {
      next.connection.stream.destroy();
      throw error;
    }
    if (closed) return endClient(next);
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
      if (client) await endClient(client);
    },
  };
}
