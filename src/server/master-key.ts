/** The master key file of a sandbox: created once, and replaced atomically. */
import { chmod, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newMasterKey } from '../lib/crypto/seal.ts';
import { StartupError } from '../lib/flow/startup-error.ts';

const fileOf = (dataDir: string): string => join(dataDir, 'master.key');

/** The keys in the file, newest first. The sandbox generates its key; production must be configured with one. */
export async function sandboxMasterKey(dataDir: string): Promise<string> {
  const file = fileOf(dataDir);
  try {
    await mkdir(dataDir, { recursive: true });
    await writeFile(file, `${newMasterKey()}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new StartupError(
        `The file ${file} cannot be written (${(error as NodeJS.ErrnoException).code}): set DATA_DIR to a writable folder, or set TURNPIKE_MASTER_KEY.`,
      );
    }
    await chmod(file, 0o600);
  }
  const keys = (await readFile(file, 'utf8')).trim();
  if (keys.split(',').some((key) => Buffer.from(key, 'base64').length !== 32)) {
    throw new StartupError(
      `The file ${file} is damaged: restore it from a backup, because the secrets in the database cannot be decrypted without it.`,
    );
  }
  return keys;
}

/** The keys for a rotation: a new key before the old one. An interrupted rotation has already added it. */
export async function withNewKey(dataDir: string): Promise<string> {
  const keys = await sandboxMasterKey(dataDir);
  if (keys.includes(',')) return keys;
  const both = `${newMasterKey()},${keys}`;
  await replaceKeys(dataDir, both);
  return both;
}

/** Removes the old keys; nothing may be sealed with them any more. */
export async function dropOldKeys(dataDir: string): Promise<void> {
  const [newest = ''] = (await sandboxMasterKey(dataDir)).split(',');
  await replaceKeys(dataDir, newest);
}

/** Writes atomically: a reader sees either the old file or the new one, also after a crash. */
async function replaceKeys(dataDir: string, keys: string): Promise<void> {
  const next = `${fileOf(dataDir)}.next`;
  const file = await open(next, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(`${keys}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, fileOf(dataDir));
  const folder = await open(dataDir);
  await folder.sync().finally(() => folder.close());
}
