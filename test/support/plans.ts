/** The rows that the store’s statements read: runs each again under EXPLAIN ANALYZE, and rolls it back. */
import pg from 'pg';
// @ts-expect-error The package has no types for its serializer of wire values.
import { prepareValue } from 'pg/lib/utils.js';
import { createCallbackStore } from '../../src/store/callbacks/callbacks.ts';
import { createCardAttemptStore } from '../../src/store/cards/card-attempts.ts';
import { createCardStore } from '../../src/store/cards/cards.ts';
import { type Connection, type Database, openDatabase, queryBuilder } from '../../src/store/database/database.ts';
import type { PipelinedConnection } from '../../src/store/database/pipelined-connection.ts';
import { createOperationStore } from '../../src/store/payments/operations.ts';
import { createPaymentStore } from '../../src/store/payments/payments.ts';
import { readBinaryArray } from './binary-array.ts';
import { openPool } from './pool.ts';

export interface Statement {
  text: string;
  values: readonly unknown[];
  /** Whether it runs on a connection of the hot path, whose planner is restricted to indexes. */
  isHot?: boolean;
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

export interface Reading {
  /** Rows of the table that were read, including those that a filter removed. */
  rows: number;
  /** The scan: `Index Scan callbacks_due`, `Seq Scan`. */
  scans: string[];
}

/** Records the statements with values that go through a pooled client: of the stores, and of Kysely. */
function noteQueries(client: pg.PoolClient, statements: Statement[]): void {
  const query = client.query as (...args: unknown[]) => unknown;
  client.query = ((config: string | { text: string; values?: unknown[] }, values?: unknown, ...rest: unknown[]) => {
    const text = typeof config === 'string' ? config : config.text;
    const given = Array.isArray(values) ? values : typeof config === 'string' ? [] : (config.values ?? []);
    if (/^\s*(select|with|insert|update|delete)/i.test(text)) statements.push({ text, values: given });
    return query.call(client, config, values, ...rest);
  }) as typeof client.query;
}

/** The same database, recording the statements that go through it. */
function recordStatements(database: Database, connection: Connection) {
  const statements: Statement[] = [];
  const pool = openPool({ ...connection, options: '-c timezone=UTC' });
  const query = queryBuilder(pool);
  const noted = (connection: PipelinedConnection): PipelinedConnection => ({
    ...connection,
    query: (statement) => {
      statements.push({ text: statement.text, values: statement.values, isHot: true });
      return connection.query(statement);
    },
  });
  const { writes, reads, deliveries } = database;
  const hot = { writes: noted(writes), reads: noted(reads), deliveries: noted(deliveries) };
  pool.on('connect', (client) => noteQueries(client, statements));
  // A test that ends may drop the database before the connections are closed.
  pool.on('error', () => undefined);
  return { database: { ...database, query, pool, ...hot }, statements, close: () => query.destroy() };
}

const literal = (value: unknown): string => {
  const text = prepareValue(Buffer.isBuffer(value) ? readBinaryArray(value) : value);
  return text === null || text === undefined ? 'null' : pg.escapeLiteral(String(text));
};

/** The values of a statement as literals. Arrays in the binary format are converted by the server to their text. */
const literals = (client: pg.Client, { text, values }: Statement): Promise<string[]> =>
  Promise.all(
    values.map(async (value, index) => {
      if (!Buffer.isBuffer(value)) return literal(value);
      const type = new RegExp(`\\$${index + 1}::(\\w+\\[\\])`).exec(text)?.[1];
      return literal((await client.query(`select $1::${type}::text as text`, [value])).rows[0].text);
    }),
  );

/** Stores over their own connections, and the statements that they send. */
export function openRecordedStores(connection: Connection) {
  const opened = openDatabase(connection, () => undefined);
  const { database, statements, close } = recordStatements(opened, connection);
  return {
    payments: createPaymentStore(database, () => undefined),
    operations: createOperationStore(database),
    callbacks: createCallbackStore(database),
    cards: createCardStore(database),
    cardAttempts: createCardAttemptStore(database),
    statements,
    async close() {
      await close();
      await opened.close();
    },
  };
}

/** Runs a statement in a transaction that is rolled back, and returns how it read a table. */
export async function readingOf(
  connection: Connection,
  statement: Statement,
  table: string,
  options = '',
): Promise<Reading> {
  const client = new pg.Client({ ...connection, options: `-c timezone=UTC ${options}` });
  await client.connect();
  try {
    await client.query('begin');
    // Prepared, so that it gets the plan that the settings of the connection select.
    await client.query(`prepare probe as ${statement.text}`);
    const values = await literals(client, statement);
    const arguments_ = values.length === 0 ? '' : `(${values.join(', ')})`;
    const { rows } = await client.query(`explain (analyze, format json) execute probe${arguments_}`);
    await client.query('rollback');
    return reading(rows[0]['QUERY PLAN'][0].Plan, table);
  } finally {
    await client.end();
  }
}

function reading(plan: PlanNode, table: string): Reading {
  const nodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
  const scans = nodes(plan).filter(
    (node) => node['Relation Name'] === table && node['Node Type'].endsWith('Scan') && node['Actual Loops'] > 0,
  );
  const seen = (node: PlanNode): number =>
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
    node['Actual Loops'];
  return {
    rows: scans.reduce((sum, node) => sum + seen(node), 0),
    scans: scans.map((node) => [node['Node Type'], node['Index Name']].filter(Boolean).join(' ')),
  };
}
