/** Generates the types of all tables (`schema.ts`) from a migrated database, so that code and schema stay in step. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbedded } from '../embedded/embedded.ts';
import { migrateAt } from './migrate.ts';

const TYPES: Record<string, string> = {
  uuid: 'string',
  _uuid: 'string[]',
  text: 'string',
  _text: 'string[]',
  bool: 'boolean',
  int4: 'number',
  int8: 'bigint',
  _int8: 'string[]',
  // Beyond what a number represents.
  numeric: 'string',
  date: 'ColumnType<Date, string, string>',
  bytea: 'Buffer',
  // Read as milliseconds, written as text.
  timestamptz: 'ColumnType<number, string, string>',
  jsonb: 'ColumnType<unknown, string, string>',
  environment: 'string',
  protocol: 'string',
  actor: 'string',
  role: 'string',
  operator_state: 'string',
  payment_state: 'string',
  attention: 'string',
  notification_state: 'string',
  operation_verb: 'string',
  operation_state: 'string',
  interval_unit: 'string',
  subscription_state: 'string',
  callback_state: 'string',
  receipt_state: 'string',
  chargeback_state: 'string',
  chargeback_stage: 'string',
};

/** The type of a column that may be left out of an insert. */
const withDefault = (type: string): string =>
  type.startsWith('ColumnType<') ? type.replace(/^(ColumnType<\w+, )(\w+)/, '$1$2 | undefined') : `Generated<${type}>`;

const camel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

interface Column {
  table_name: string;
  column_name: string;
  udt_name: string;
  is_nullable: 'YES' | 'NO';
  column_default: string | null;
}

/** The text of `schema.ts` for the tables of this database. */
export async function schemaText(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<Column>(
    `select table_name, column_name, udt_name, is_nullable, column_default from information_schema.columns
     where table_schema = 'public' and table_name <> 'migrations'
       and not (select relispartition from pg_class where oid = format('%I', table_name)::regclass)
     order by table_name, ordinal_position`,
  );
  const tables = Map.groupBy(rows, (row) => row.table_name);
  const blocks = [...tables].map(([table, columns]) => {
    const lines = columns.map((column) => {
      const type = TYPES[column.udt_name];
      if (!type) throw new Error(`Add the type ${column.udt_name} of ${table}.${column.column_name} to TYPES.`);
      const nullable = column.is_nullable === 'YES' ? `${type} | null` : type;
      return `    ${camel(column.column_name)}: ${column.column_default === null ? nullable : withDefault(nullable)};`;
    });
    return `  ${camel(table)}: {\n${lines.join('\n')}\n  };`;
  });
  return `/** The tables as the database has them; written by \`npm run schema\`. */
import type { ColumnType, Generated } from 'kysely';

export interface Schema {
${blocks.join('\n')}
}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-schema-'));
  const server = await startEmbedded({ folder: join(folder, 'postgres') });
  const pool = new pg.Pool(server.connection);
  await migrateAt(server.connection);
  await writeFile(new URL('../schema.ts', import.meta.url), await schemaText(pool));
  await pool.end();
  await server.stop();
  await rm(folder, { recursive: true });
}
