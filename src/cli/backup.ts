/** The command `backup`: writes the database to a file, restores a file into an empty database, releases a restore. */
import { createReadStream, createWriteStream } from 'node:fs';
import { access, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { markRestored, releaseRestore } from '../core/installation/restores.ts';
import { commandCaller } from '../core/operators/principal.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import { dateTime } from '../lib/time/date-time.ts';
import { refuseMigration } from '../server/boot.ts';
import { readConfig } from '../server/config.ts';
import { migrateAt } from '../store/database/migrate.ts';
import { type BackupProgress, type BackupSummary, dump, restore } from '../store/installation/backup.ts';
import { verifyAt } from '../store/installation/verify.ts';
import { type Call, UsageError } from './command.ts';
import { explain } from './connection.ts';
import { withDatabase, withInstallation } from './installation.ts';
import { verifiedCounts, verifiedLine } from './verified.ts';

const KEY_NOTE =
  'The master key is not in the backup. Keep it separately: without it, the passwords, secrets and cards are lost.';

const HELD_NOTE =
  'Nothing is charged or voided automatically until this restore is released: check what may differ from your provider ' +
  '(docs/operator/backup-and-upgrade.md), then run turnpike backup --release, or use the panel.';

/** What the command line asks for: at most one of the options, and a file where one is needed. */
export async function backup(call: Call): Promise<number | undefined> {
  const isMark = call.option('restored-from') !== undefined;
  const wanted = [call.flag('restore') && 'restore', call.flag('release') && 'release', isMark && 'restored-from'];
  const [kind, other] = wanted.filter((name) => name !== false);
  if (other !== undefined) throw new UsageError(`--${kind} and --${other} exclude each other.`);
  const needsFile = kind === undefined || kind === 'restore';
  if (needsFile !== (call.arg('file') !== '')) {
    throw new UsageError(needsFile ? '<file> is missing: the backup.' : `--${kind} takes no file.`);
  }
  if (call.option('note') !== undefined && kind !== 'release') throw new UsageError('--note belongs to --release.');
  if (kind === 'release' && call.option('note') === undefined) throw new UsageError('--release needs --note.');
  if (kind === 'release') return release(call);
  if (kind === 'restored-from') return mark(call);
  return kind === 'restore' ? restoreBackup(call) : writeBackup(call);
}

/** A gateway may run: it charges and voids again from the next second on. */
async function release({ option, environment, output }: Call): Promise<undefined> {
  const note = option('note') ?? '';
  const released = await withInstallation(readConfig(environment), ({ gateway }) =>
    releaseRestore(gateway, commandCaller('backup --release'), note),
  ).catch(explain);
  const [restoredAt, backupAt, releasedAt] = [released.restoredAt, released.backupAt, released.releasedAt ?? 0].map(
    iso,
  );
  output.result(
    { restored_at: restoredAt, backup_at: backupAt, released_at: releasedAt, note },
    `Released the restore of ${restoredAt}, from the backup of ${backupAt}: charges and voids are made again.`,
  );
}

async function mark({ option, environment, output }: Call): Promise<undefined> {
  const backupAt = dateTime(option('restored-from') ?? '');
  if (backupAt === undefined || backupAt > Date.now())
    throw new UsageError('--restored-from should be a time in the past, such as 2026-11-16T09:41:00Z.');
  const isMarked = await withInstallation(readConfig(environment), ({ gateway }) =>
    markRestored(gateway, commandCaller('backup --restored-from'), backupAt),
  );
  if (!isMarked) throw new StartupError('A restore is held already: release that one first.');
  output.result({ backup_at: iso(backupAt) }, `Marked the database as restored from ${iso(backupAt)}.`);
  output.note(HELD_NOTE);
}

const iso = (ms: number): string => new Date(ms).toISOString();

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
  const { violations } = verified;
  const facts = { rows: restored.rows, tables: restored.tables, created_at: restored.createdAt };
  output.result({ ...facts, ...verifiedCounts(verified), violations }, () =>
    [
      `Restored ${restored.rows} rows of ${restored.tables} tables from the backup of ${restored.createdAt}.`,
      ...(violations.length > 0 ? violations : [verifiedLine(verified)]),
      'The key of the audit log was not checked: run `turnpike verify` with the master key of that installation.',
    ].join('\n'),
  );
  output.note(
    config.masterKey === ''
      ? `The master key is not in the backup: copy the file master.key of that installation to ${config.dataDir} before the gateway starts.`
      : 'The gateway starts only with the master key of the installation that wrote the backup.',
  );
  output.note(HELD_NOTE);
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
