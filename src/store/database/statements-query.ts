/** Sends prepared statements and reads their rows, with less work than a query of the driver, which describes each result anew. */
import pg from 'pg';
import { type BoundedClient, type Done, promised } from './bounded-client.ts';

export interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

/** What a statement returned. */
export interface Rows<Row = pg.QueryResultRow> {
  rows: Row[];
}

/** A connection of the driver, with what its types lack: the texts of prepared statements by name. */
export type DriverConnection = pg.Connection &
  Record<'parsedStatements' | 'submittedNamedStatements', Record<string, string>>;

interface RowDescription {
  fields: readonly pg.FieldDef[];
}

/** How the rows of a statement are read. */
interface Shape {
  names: string[];
  parsers: ((text: string) => unknown)[];
  empty: pg.QueryResultRow;
}

/** A query of the driver, with what its types lack. */
interface DriverQuery {
  name: string | undefined;
  text: string;
  values: unknown[];
  submit(connection: pg.Connection): unknown;
}

/** The base class, whose types have the methods as properties. */
const Query = pg.Query as unknown as new (
  text: string,
  values: undefined,
  callback: Done<Rows[]>,
) => DriverQuery & { callback: Done<Rows[]> };

/** What is known of a connection: the shapes of the rows by the name of their statement, and ways to leave out messages. */
interface Known {
  shapes: Map<string, Shape | null>;
  /** A Sync ends a transaction, at which PostgreSQL commits and answers: there is one for all statements. */
  describing: pg.Connection;
  plain: pg.Connection;
}
const NOTHING = { value: () => undefined };
const connections = new WeakMap<pg.Connection, Known>();

function knownOf(connection: pg.Connection): Known {
  const known = connections.get(connection);
  if (known) return known;
  const describing = Object.create(connection, { sync: NOTHING }) as pg.Connection;
  const plain = Object.create(describing, { describe: NOTHING }) as pg.Connection;
  const made = { shapes: new Map(), describing, plain };
  connections.set(connection, made);
  return made;
}

const isPrepared = ({ parsedStatements, submittedNamedStatements }: DriverConnection, name: string): boolean =>
  name in parsedStatements || name in submittedNamedStatements;

const ignore = (): void => undefined;

/** The statements are one transaction. */
class StatementsQuery extends Query {
  readonly #statements: readonly Statement[];
  readonly #types: Pick<pg.Client, 'getTypeParser'>;
  readonly #results: Rows[] = [];
  #shapes: Known['shapes'] | undefined;
  #rows: pg.QueryResultRow[] = [];
  #shape: Shape | null | undefined;
  #unreadable: Error | undefined;

  constructor(statements: readonly Statement[], types: Pick<pg.Client, 'getTypeParser'>, done: Done<Rows[]>) {
    super('', undefined, done);
    this.#statements = statements;
    this.#types = types;
    const [first, ...others] = statements as [Statement, ...Statement[]];
    if (others.length > 0) return;
    // The driver notes that a single statement is prepared.
    this.name = first.name;
    this.text = first.text;
  }

  override submit(connection: DriverConnection): void {
    const { shapes, describing, plain } = knownOf(connection);
    this.#shapes = shapes;
    connection.stream.cork();
    for (const { name, text, values } of this.#statements) {
      // A packet that failed may have prepared it all the same.
      if (!isPrepared(connection, name)) connection.close({ type: 'S', name }, true);
      const query = new Query('', undefined, ignore);
      query.name = name;
      query.text = text;
      query.values = values;
      query.submit(shapes.has(name) ? plain : describing);
    }
    connection.sync();
    connection.stream.uncork();
    this.#expectRows();
  }

  /** The rows that come next are those of the statement after the results so far. */
  #expectRows(): void {
    this.#shape = this.#shapes?.get(this.#statements[this.#results.length]?.name ?? '');
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#shape = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => this.#types.getTypeParser(dataTypeID, 'text')),
      empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
    };
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const { names, parsers, empty } = this.#shape as Shape;
    const row = { ...empty };
    try {
      for (let index = 0; index < fields.length; index++) {
        const text = fields[index] as string | null;
        if (text !== null) row[names[index] as string] = parsers[index]?.(text);
      }
    } catch (error) {
      this.#unreadable = error as Error;
    }
    this.#rows.push(row);
  }

  handleCommandComplete(): void {
    const { name } = this.#statements[this.#results.length] as Statement;
    this.#shapes?.set(name, this.#shape ?? null);
    this.#results.push({ rows: this.#rows });
    this.#rows = [];
    this.#expectRows();
  }

  handleReadyForQuery(): void {
    if (this.#unreadable) this.callback(this.#unreadable);
    else this.callback(null, this.#results);
  }
}

/** Runs the statements as one transaction, and returns the rows of each. If one of them fails, nothing is written. */
export const sendStatements = (client: BoundedClient, statements: readonly Statement[]): Promise<Rows[]> =>
  promised((done) => client.timed<Rows[]>((end) => client.query(new StatementsQuery(statements, client, end)), done));
