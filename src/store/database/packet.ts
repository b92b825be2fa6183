/** Statements that are sent to PostgreSQL as one packet: it runs them as one transaction, and answers them together. */
import pg from 'pg';
import type { BoundedClient } from './bounded-client.ts';
import type { Statement } from './pipelined-connection.ts';

interface Queued {
  statement: Statement;
  resolve: (result: pg.QueryResult) => void;
  reject: (error: unknown) => void;
}

export interface Packet {
  /** Adds a statement; its result comes when the transaction is committed. */
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>>;
  /** Sends the statements. If one of them fails, nothing is written, and all fail for the same reason. */
  send(client: BoundedClient): Promise<void>;
}

/** A connection of the driver, with what its types lack: the texts of prepared statements by name. */
type DriverConnection = pg.Connection & Record<'parsedStatements' | 'submittedNamedStatements', Record<string, string>>;

/** The base class, whose types have the method as a property. */
const Query = pg.Query as unknown as new (
  config: { text: string },
  callback: (error: Error | null, results: unknown) => void,
) => { submit(connection: DriverConnection): void };

/** The driver sends a Sync after each statement, at which PostgreSQL commits and answers. A packet ends with the only one. */
class PacketQuery extends Query {
  readonly #statements: readonly Statement[];

  constructor(statements: readonly Statement[], onEnd: (error: Error | null, results: unknown) => void) {
    super({ text: '' }, onEnd);
    this.#statements = statements;
  }

  override submit(connection: DriverConnection): void {
    const withoutSync: DriverConnection = Object.create(connection, { sync: { value: () => undefined } });
    connection.stream.cork();
    for (const statement of this.#statements) {
      // A packet that failed may have prepared it all the same.
      if (!isPrepared(connection, statement)) connection.close({ type: 'S', name: statement.name }, true);
      new pg.Query(statement, () => undefined).submit(withoutSync);
    }
    connection.sync();
    connection.stream.uncork();
  }
}

const isPrepared = ({ parsedStatements, submittedNamedStatements }: DriverConnection, { name }: Statement): boolean =>
  name in parsedStatements || name in submittedNamedStatements;

/** After a failure it is not known which of the statements are prepared. */
function forgetPrepared(client: BoundedClient, statements: readonly Statement[]): void {
  const connection = client.connection as DriverConnection;
  for (const { name } of statements) {
    delete connection.parsedStatements[name];
    delete connection.submittedNamedStatements[name];
  }
}

export function createPacket(): Packet {
  const queued: Queued[] = [];
  return {
    query: <Row extends pg.QueryResultRow>(statement: Statement) =>
      new Promise<pg.QueryResult<Row>>((resolve, reject) => {
        queued.push({ statement, resolve: resolve as Queued['resolve'], reject });
      }),
    send: (client) =>
      new Promise((resolve, reject) => {
        const statements = queued.map(({ statement }) => statement);
        const end = (error: Error | null, results?: unknown): void => {
          if (error) forgetPrepared(client, statements);
          const all = [results].flat() as pg.QueryResult[];
          queued.forEach((each, index) => {
            if (error) each.reject(error);
            else each.resolve(all[index] as pg.QueryResult);
          });
          if (error) reject(error);
          else resolve();
        };
        client.timed((done) => client.query(new PacketQuery(statements, done)), end);
      }),
  };
}
