/** The command `backup`: writes the database to a file, or restores a file into an empty database. */
import { createReadStream, createWriteStream } from 'node:fs';
import { access, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { StartupError } from '../lib/startup-error.ts';
import { refuseMigration } from '../server/boot.ts';
import { readConfig } from '../server/config.ts';
import { type BackupProgress, type BackupSummary, dump, restore } from '../store/backup.ts';
import { migrateAt } from '../store/migrate.ts';
import { verifyAt } from '../store/verify.ts';
import type { Call } from './command.ts';
import { withDatabase } from './installation.ts';

const KEY_NOTE =
  'The master key is not in the backup. Keep it separately: without it, the passwords, secrets and cards are lost.';

export const backup = (call: Call): Promise<number | undefined> =>
  call.flag('restore') ? restoreBackup(call) : writeBackup(call);

/** Written under another name first: a file with the right name is complete. */
async function writeBackup({ arg, environment, output }: Call): Promise<undefined> {
  const file = resolve(arg('file'));
  const draft = `${file}.partial`;
  if (await exists(file)) throw new StartupError(`The file ${file} exists already: choose another name.`);
  let summary: BackupSummary | undefined;
  try {
    await withDatabase(readConfig(environment), async (connection) => {
      const frames = dump(connection, showProgress(output), (made) => {
        summary = made;
      });
      await pipeline(
        Readable.from(frames),
        createGzip({ level: 6 }),
        createWriteStream(draft, { mode: 0o600, flush: true }),
      );
    });
    await rename(draft, file);
    const folder = await open(dirname(file));
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    await rm(draft, { force: true });
    throw fileError(error, file);
  }
  const { rows, tables, createdAt } = summary as unknown as BackupSummary;
  const { size } = await stat(file);
  output.progress(`${tables} of ${tables} tables`, true);
  output.result(
    { file, bytes: size, rows, tables, created_at: createdAt },
    `Wrote ${file}: ${rows} rows of ${tables} tables, ${megabytes(size)}.`,
  );
  output.note(KEY_NOTE);
}

/** Exits with code 1 when the restored database is not consistent. */
async function restoreBackup({ arg, environment, output }: Call): Promise<number | undefined> {
  const file = resolve(arg('file'));
  if (!(await exists(file))) throw new StartupError(`There is no file ${file}.`);
  const config = readConfig(environment);
  const work = async (connection: Parameters<typeof restore>[0]) => {
    await migrateAt(connection).catch(refuseMigration);
    const restored = await restore(connection, decompressed(file), showProgress(output)).catch((error) => {
      throw fileError(error, file);
    });
    output.progress(`${restored.tables} of ${restored.tables} tables`, true);
    return { restored, verified: await verifyAt(connection) };
  };
  const { restored, verified } = await withDatabase(config, work, { isAlone: true });
  const { violations, payments, historyRows } = verified;
  const facts = { rows: restored.rows, tables: restored.tables, created_at: restored.createdAt };
  output.result({ ...facts, payments: Number(payments), history_rows: Number(historyRows), violations }, () =>
    [
      `Restored ${restored.rows} rows of ${restored.tables} tables from the backup of ${restored.createdAt}.`,
      ...(violations.length > 0
        ? violations
        : [`All checks passed: ${payments} payments, ${historyRows} history rows.`]),
    ].join('\n'),
  );
  output.note(
    config.masterKey === ''
      ? `The master key is not in the backup: copy the file master.key of that installation to ${config.dataDir} before the gateway starts.`
      : 'The gateway starts only with the master key of the installation that wrote the backup.',
  );
  return violations.length > 0 ? 1 : undefined;
}

/** An error of either stream is thrown to the reader. */
async function* decompressed(file: string): AsyncGenerator<Buffer> {
  const source = createReadStream(file);
  const plain = createGunzip();
  source.once('error', (error) => plain.destroy(error)).pipe(plain);
  try {
    yield* plain;
  } finally {
    source.destroy();
  }
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** An error of the file system or of the compression as a sentence. */
function fileError(error: unknown, file: string): unknown {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (code.startsWith('Z_') || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new StartupError(`The file ${file} is damaged or not a backup: nothing was restored.`);
  }
  return syscall === undefined || error instanceof StartupError
    ? error
    : new StartupError(`The file ${file} cannot be read or written (${code}).`);
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;

const showProgress =
  (output: Call['output']) =>
  ({ table, tables, tablesDone, bytes }: BackupProgress): void =>
    output.progress(`${table}: table ${tablesDone + 1} of ${tables}, ${megabytes(bytes)}`);
