/** Statements that are sent to PostgreSQL as one packet: it runs them as one transaction, and answers them together. */
import type pg from 'pg';
import type { BoundedClient } from './bounded-client.ts';
import { type DriverConnection, type Rows, type Statement, sendStatements } from './statements-query.ts';

interface Queued {
  statement: Statement;
  resolve: (result: Rows) => void;
  reject: (error: unknown) => void;
}

export interface Packet {
  /** Adds a statement; its result comes when the transaction is committed. */
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<Rows<Row>>;
  /** Sends the statements. If one of them fails, nothing is written, and all fail for the same reason. */
  send(client: BoundedClient): Promise<void>;
}

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
      new Promise<Rows<Row>>((resolve, reject) => {
        queued.push({ statement, resolve: resolve as Queued['resolve'], reject });
      }),
    async send(client) {
      const statements = queued.map(({ statement }) => statement);
      try {
        const results = await sendStatements(client, statements);
        for (const [index, { resolve }] of queued.entries()) resolve(results[index] as Rows);
      } catch (error) {
        forgetPrepared(client, statements);
        for (const { reject } of queued) reject(error);
        throw error;
      }
    },
  };
}
