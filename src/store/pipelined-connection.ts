/** One connection that is given the next statement while the last one runs: the server never waits for us in between. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { isAnswerTimeout } from '../lib/faults.ts';
import { LIMITS } from '../rules/limits.ts';

/** Whatever takes a statement; a lane or a pool. */
export interface PipelinedConnection {
  query<Row extends pg.QueryResultRow>(statement: {
    name: string;
    text: string;
    values: unknown[];
  }): Promise<{
    rows: Row[];
  }>;
  end(): Promise<void>;
}

/**
 * Connects when it is first needed, and again after the connection was lost. With `query_timeout` in its configuration,
 * a statement without an answer by then ends the connection, and everything that was in flight on it fails: the driver
 * destroys a pipelined connection, because answers could no longer be told apart.
 */
export function openPipelinedConnection(config: pg.ClientConfig, onFault: (error: Error) => void): PipelinedConnection {
  let connected: pg.Client | undefined;
  let connecting: Promise<pg.Client> | undefined;

  const forget = (client: pg.Client): void => {
    if (connected === client) connected = undefined;
  };

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...config, pipeline: true });
    client.on('error', (error) => {
      forget(client);
      onFault(error);
    });
    client.on('end', () => forget(client));
    await client.connect();
    connected = client;
    return client;
  }

  function connectOnce(): Promise<pg.Client> {
    connecting ??= connect().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  return {
    async query(statement) {
      const client = connected ?? (await connectOnce());
      try {
        return await client.query(statement);
      } catch (error) {
        // The driver closes the connection a moment later; the next statement does not wait for that.
        if (isAnswerTimeout(error)) forget(client);
        throw error;
      }
    },
    async end() {
      await connecting?.catch(() => undefined);
      if (connected) await endClient(connected);
    },
  };
}

/** Ends a connection; one whose other side does not answer is cut off after a while. */
export async function endClient(client: pg.Client): Promise<void> {
  const late = new AbortController();
  const ended = client.end().finally(() => late.abort());
  await pause(LIMITS.databaseCloseTimeoutMs, undefined, { signal: late.signal, ref: false }).then(
    () => client.connection.stream.destroy(),
    () => undefined,
  );
  await ended;
}

const DEADLOCK = '40P01';
const DEADLOCK_TRIES = 5;

/** The rows of a statement. */
export const run = async <Row extends pg.QueryResultRow>(
  connection: PipelinedConnection,
  name: string,
  text: string,
  values: unknown[],
): Promise<Row[]> => (await connection.query<Row>({ name, text, values })).rows;

/** Of two statements that wait for each other the database ends one, of which nothing was written: it runs again. */
export const runUnlessDeadlocked: typeof run = async (connection, name, text, values) => {
  for (let tries = 1; ; tries++) {
    try {
      return await run(connection, name, text, values);
    } catch (error) {
      if (tries === DEADLOCK_TRIES || (error as { code?: string }).code !== DEADLOCK) throw error;
    }
  }
};
