/** The file with the generated admin token of a sandbox, from which commands on the same machine read it. */
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

const fileOf = (dataDir: string): string => join(dataDir, 'admin.token');

/** Only its owner can read the file. */
export async function writeAdminToken(dataDir: string, token: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const next = `${fileOf(dataDir)}.next`;
  const file = await open(next, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(`${token}\n`);
  } finally {
    await file.close();
  }
  await rename(next, fileOf(dataDir));
}

/** The token in the file; undefined when there is none, or when it cannot be read. */
export const readAdminToken = (dataDir: string): Promise<string | undefined> =>
  readFile(fileOf(dataDir), 'utf8').then(
    (text) => text.trim() || undefined,
    () => undefined,
  );
