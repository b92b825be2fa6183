/** A connection that sends the next statement while the last one runs, so that the server is never idle in between. */
import type pg from 'pg';
import { isAnswerTimeout, isDeadlock, isReadOnly } from '../../lib/flow/faults.ts';
import { BoundedClient } from './bounded-client.ts';
import type { Packet } from './packet.ts';
import { type Rows, type Statement, sendStatements } from './statements-query.ts';

/** A pipelined connection, or a pool in its place. */
export interface PipelinedConnection {
  /** Statements run in the order in which they are sent; a pool sends them over several connections. */
  isInOrder?: true;
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<Rows<Row>>;
  /** Sends statements that are one transaction; a pool does not have this. */
  send?(packet: Pick<Packet, 'send'>): Promise<void>;
  end(): Promise<void>;
}

/** How to connect, and what to do with a new connection before it is used; a pool takes the same. */
export type SessionConfig = pg.ClientConfig & { onConnect?: (client: pg.ClientBase) => Promise<void> };

/** Connects on first use, and again after the connection was lost. */
export function openPipelinedConnection(
  { onConnect, ...config }: SessionConfig,
  onFault: (error: Error) => void,
): PipelinedConnection {
  let connected: BoundedClient | undefined;
  let connecting: Promise<BoundedClient> | undefined;

  const dropClient = (client: BoundedClient): void => {
    if (connected === client) connected = undefined;
  };

  async function connect(): Promise<BoundedClient> {
    const client = new BoundedClient({ ...config, pipeline: true });
    client.on('error', (error) => {
      dropClient(client);
      onFault(error);
    });
    client.on('end', () => dropClient(client));
    try {
      await client.connect();
      await onConnect?.(client);
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
    connected = client;
    return client;
  }

  function connectOnce(): Promise<BoundedClient> {
    connecting ??= connect().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  async function use<Result>(work: (client: BoundedClient) => Promise<Result>): Promise<Result> {
    const client = connected ?? (await connectOnce());
    try {
      return await work(client);
    } catch (error) {
      // The connection closes a moment later; the next statement must not use it.
      if (isAnswerTimeout(error)) dropClient(client);
      // The server is no longer the primary; the next statement connects again, to the one that is.
      if (isReadOnly(error) && connected === client) {
        dropClient(client);
        client.end().catch(() => undefined);
      }
      throw error;
    }
  }

  return {
    isInOrder: true,
    query: <Row extends pg.QueryResultRow>(statement: Statement) =>
      use(async (client) => (await sendStatements(client, [statement]))[0] as Rows<Row>),
    send: (packet) => use((client) => packet.send(client)),
    async end() {
      await connecting?.catch(() => undefined);
      if (connected) await connected.end();
    },
  };
}

const DEADLOCK_ATTEMPTS = 5;

/** The rows of a statement. */
export const run = async <Row extends pg.QueryResultRow>(
  connection: Pick<PipelinedConnection, 'query'>,
  name: string,
  text: string,
  values: unknown[],
): Promise<Row[]> => (await connection.query<Row>({ name, text, values })).rows;

/** Sends again what PostgreSQL aborted to resolve a deadlock; an aborted statement wrote nothing. */
export async function unlessDeadlocked<Result>(send: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (attempt === DEADLOCK_ATTEMPTS || !isDeadlock(error)) throw error;
    }
  }
}

/** The rows of a statement, which is sent again after a deadlock. */
export const runUnlessDeadlocked: typeof run = (...statement) => unlessDeadlocked(() => run(...statement));
