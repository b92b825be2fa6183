/** One connection that is given the next statement while the last one runs: the server never waits for us in between. */
import pg from 'pg';

/** Whatever takes a statement; a lane or a pool. */
export interface Lane {
  query<Row extends pg.QueryResultRow>(statement: {
    name: string;
    text: string;
    values: unknown[];
  }): Promise<{
    rows: Row[];
  }>;
  end(): Promise<void>;
}

/** Connects when it is first needed, and again after the connection was lost. */
export function openLane(config: pg.ClientConfig, onFault: (error: Error) => void): Lane {
  let connected: pg.Client | undefined;
  let connecting: Promise<pg.Client> | undefined;

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...config, pipeline: true, keepAlive: true });
    const forget = (): void => {
      if (connected === client) connected = undefined;
    };
    client.on('error', (error) => {
      forget();
      onFault(error);
    });
    client.on('end', forget);
    await client.connect();
    connected = client;
    return client;
  }

  return {
    async query(statement) {
      if (connected) return connected.query(statement);
      connecting ??= connect().finally(() => {
        connecting = undefined;
      });
      return (await connecting).query(statement);
    },
    async end() {
      await connecting?.catch(() => undefined);
      await connected?.end();
    },
  };
}
