/** Backups of the whole database: a snapshot of all tables as a stream of frames, and the reverse into an empty database. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { faultOf } from '../../lib/flow/faults.ts';
import { StartupError } from '../../lib/flow/startup-error.ts';
import { openClient } from '../database/bounded-client.ts';
import type { Connection } from '../database/database.ts';
import { appliedMigrations } from '../database/migrate.ts';
import { presentDigest } from '../database/migration-files.ts';
import { SKIP_INVOICE_NUMBERS } from '../invoices/invoices.ts';
import { MARK_RESTORED } from './restores.ts';

/** The version of the file format. */
const FORMAT = 1;
const MAGIC = 'turnpike-backup';

/**
 * A file is a sequence of frames: a letter, the length of the content in four bytes, and the content. A header (H) comes
 * first. Each table has its name (T), the output of COPY in pieces (D) and its number of rows (E). The values of the
 * sequences (S) and the SHA-256 of everything before (Z) come last.
 */
type Letter = 'H' | 'T' | 'D' | 'E' | 'S' | 'Z';

interface Header {
  magic: string;
  format: number;
  created_at: string;
  migrations: { name: string; digest: string }[];
}

export interface BackupProgress {
  table: string;
  tables: number;
  tablesDone: number;
  bytes: number;
}

export interface BackupSummary {
  tables: number;
  rows: number;
  createdAt: string;
}

type Report = (progress: BackupProgress) => void;

/** Rows that the migrations insert; a restore replaces them. */
const SEEDED = ['audit_head', 'projections', 'risk_version'];

const quote = pg.escapeIdentifier;

const connect = (connection: Connection): Promise<pg.Client> =>
  openClient({ ...connection, keepAlive: true, application_name: 'turnpike backup' });

/** The tables in an order in which each comes after those that it refers to, without the list of migrations. */
async function tablesOf(client: pg.Client): Promise<{ name: string; columns: string[] }[]> {
  const { rows } = await client.query<{ name: string; columns: string[]; refers_to: string[] }>(
    `select c.relname::text as name,
       (select array_agg(attname::text order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
       array(select distinct confrelid::regclass::text from pg_constraint
        where conrelid = c.oid and contype = 'f' and confrelid <> c.oid) as refers_to
     from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> 'migrations'
     order by c.relname`,
  );
  const sorted: typeof rows = [];
  while (sorted.length < rows.length) {
    const names = new Set(sorted.map(({ name }) => name));
    const next = rows.filter(({ name, refers_to }) => !names.has(name) && refers_to.every((other) => names.has(other)));
    if (next.length === 0) throw new Error('The tables refer to each other in a circle.');
    sorted.push(...next);
  }
  return sorted;
}

/** The last value of each sequence; null while it was not used. */
async function sequencesOf(client: pg.Client): Promise<Record<string, string | null>> {
  const { rows } = await client.query<{ name: string; value: string | null }>(
    'select sequencename::text as name, last_value::text as value from pg_sequences where schemaname = current_schema()',
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Reads a snapshot of the database as a stream; a gateway may write meanwhile. */
export async function* dump(connection: Connection, report: Report, summarise: (summary: BackupSummary) => void) {
  const checksum = createHash('sha256');
  const frame = (letter: Letter, content: Buffer | object): Buffer => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    const head = Buffer.alloc(5, letter);
    head.writeUInt32BE(bytes.length, 1);
    const whole = Buffer.concat([head, bytes]);
    checksum.update(whole);
    return whole;
  };
  const client = await connect(connection);
  try {
    await client.query(`set statement_timeout = 0; set timezone = 'UTC'`);
    await client.query('begin transaction isolation level repeatable read read only');
    const tables = await tablesOf(client);
    const createdAt = new Date().toISOString();
    const migrations = await appliedMigrations(client);
    yield frame('H', { magic: MAGIC, format: FORMAT, created_at: createdAt, migrations } satisfies Header);
    let [bytes, rows] = [0, 0];
    for (const [tablesDone, { name, columns }] of tables.entries()) {
      yield frame('T', { table: name, columns });
      const copy = client.query(copyTo(`copy (select ${columns.map(quote).join(', ')} from ${quote(name)}) to stdout`));
      for await (const piece of copy) {
        bytes += (piece as Buffer).length;
        report({ table: name, tables: tables.length, tablesDone, bytes });
        yield frame('D', piece as Buffer);
      }
      yield frame('E', { rows: copy.rowCount });
      rows += copy.rowCount ?? 0;
    }
    // Sequences are not part of the snapshot: read after it, they are at least as high as the rows need.
    yield frame('S', await sequencesOf(client));
    await client.query('commit');
    yield frame('Z', { sha256: checksum.copy().digest('hex') });
    summarise({ tables: tables.length, rows, createdAt });
  } finally {
    await client.end().catch(() => undefined);
  }
}

const damaged = (): StartupError =>
  new StartupError('The file is not a complete backup of Turnpike: nothing was restored.');

interface Frame {
  letter: Letter;
  bytes: Buffer;
  /** The SHA-256 of everything before this frame. */
  sha256: () => string;
}

/** No piece of COPY output is larger than a row, which PostgreSQL limits to a gigabyte. */
async function* readFrames(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  const checksum = createHash('sha256');
  let [pieces, size] = [[] as Buffer[], 0];
  for await (const piece of source) {
    pieces.push(piece);
    size += piece.length;
    for (;;) {
      if (size < 5) break;
      if ((pieces[0] as Buffer).length < 5) pieces = [Buffer.concat(pieces)];
      const length = (pieces[0] as Buffer).readUInt32BE(1) + 5;
      if (size < length) break;
      const all = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
      const whole = all.subarray(0, length);
      [pieces, size] = [[all.subarray(length)], all.length - length];
      const before = checksum.copy();
      checksum.update(whole);
      yield {
        letter: String.fromCharCode(whole[0] as number) as Letter,
        bytes: whole.subarray(5),
        sha256: () => before.digest('hex'),
      };
    }
  }
  if (size > 0) throw damaged();
}

function parsed<Content>({ bytes }: Frame): Content {
  try {
    return JSON.parse(bytes.toString()) as Content;
  } catch {
    throw damaged();
  }
}

/** Restores a backup in one transaction: everything, or nothing if the file is damaged. The schema must exist. */
export async function restore(
  connection: Connection,
  source: AsyncIterable<Buffer>,
  report: Report,
): Promise<BackupSummary> {
  const client = await connect(connection);
  try {
    await client.query('set statement_timeout = 0; begin');
    const summary = await restoreWith(client, readFrames(source), report);
    await client.query('commit');
    return summary;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    if (!(error instanceof pg.DatabaseError)) throw error;
    // Without the details, which contain values of the row.
    throw new StartupError(
      `The backup cannot be restored (${faultOf(error)}: ${error.message}): nothing was restored.`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function restoreWith(client: pg.Client, frames: AsyncGenerator<Frame>, report: Report): Promise<BackupSummary> {
  const next = async (): Promise<Frame> => {
    const { value, done } = await frames.next();
    if (done) throw damaged();
    return value;
  };
  const first = await next();
  const header = first.letter === 'H' ? parsed<Header>(first) : undefined;
  if (header?.magic !== MAGIC) throw damaged();
  await requireSameSchema(client, header);
  // A gateway that starts meanwhile waits here until the restore is over.
  await client.query('lock table installation in access exclusive mode');
  const tables = await tablesOf(client);
  await requireEmpty(client, tables);
  await client.query(`truncate ${SEEDED.map(quote).join(', ')}`);
  let [bytes, rows, tablesDone] = [0, 0, 0];
  for (;;) {
    const frame = await next();
    if (frame.letter === 'T') {
      const { table, columns } = parsed<{ table: string; columns: string[] }>(frame);
      if (!tables.some(({ name }) => name === table) || !Array.isArray(columns)) throw damaged();
      // The triggers check what a gateway writes; these rows were checked when they were written.
      await client.query(`alter table ${quote(table)} disable trigger user`);
      const copy = client.query(copyFrom(`copy ${quote(table)} (${columns.map(quote).join(', ')}) from stdin`));
      let end: Frame | undefined;
      const data = async function* () {
        for (end = await next(); end.letter === 'D'; end = await next()) {
          bytes += end.bytes.length;
          report({ table, tables: tables.length, tablesDone, bytes });
          yield end.bytes;
        }
      };
      await pipeline(Readable.from(data()), copy);
      if (end?.letter !== 'E' || parsed<{ rows: number }>(end).rows !== copy.rowCount) throw damaged();
      await client.query(`alter table ${quote(table)} enable trigger user`);
      rows += copy.rowCount;
      tablesDone++;
    } else if (frame.letter === 'S') {
      for (const [name, value] of Object.entries(parsed<Record<string, string | null>>(frame))) {
        if (value !== null)
          await client.query('select setval(format($$%I$$, $1::text)::regclass, $2::bigint)', [name, value]);
      }
    } else if (frame.letter === 'Z') {
      if (parsed<{ sha256: string }>(frame).sha256 !== frame.sha256() || tablesDone !== tables.length) throw damaged();
      // In the same transaction as the data: no gateway sees it without the mark.
      await client.query(MARK_RESTORED, [header.created_at]);
      await client.query(SKIP_INVOICE_NUMBERS, [header.created_at]);
      return { tables: tablesDone, rows, createdAt: header.created_at };
    } else {
      throw damaged();
    }
  }
}

async function requireSameSchema(client: pg.Client, { format, migrations }: Header): Promise<void> {
  if (format !== FORMAT) {
    throw new StartupError(
      `The backup has the format ${format}, and this Turnpike reads ${FORMAT}: use the version that wrote it.`,
    );
  }
  const schemaOf = (list: Header['migrations']) =>
    list.map(({ name, digest }) => `${name} ${presentDigest(digest)}`).join('\n');
  const applied = await appliedMigrations(client);
  if (schemaOf(applied) === schemaOf(migrations)) return;
  throw new StartupError(
    `The backup was written with the schema ${migrations.at(-1)?.name}, and this database has ${applied.at(-1)?.name ?? 'none'}: restore it with the version of Turnpike that wrote it, and upgrade afterwards.`,
  );
}

async function requireEmpty(client: pg.Client, tables: readonly { name: string }[]): Promise<void> {
  for (const { name } of tables.filter((table) => !SEEDED.includes(table.name))) {
    const { rowCount } = await client.query(`select from ${quote(name)} limit 1`);
    if (rowCount === 0) continue;
    throw new StartupError(
      `The database is not empty (${name} has rows): a backup is restored into a new database only, before a gateway has used it.`,
    );
  }
}
