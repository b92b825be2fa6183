/** The program as it was at an earlier commit, in a temporary folder. */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../chaos/program.ts';

const execute = promisify(execFile);

export interface Checkout {
  root: string;
  remove(): Promise<void>;
}

/** Uses the installed packages if the lock file is the same, and installs those of the commit otherwise. */
export async function checkOut(revision: string): Promise<Checkout> {
  const root = await fs.mkdtemp(join(tmpdir(), 'turnpike-upgrade-'));
  const archive = join(root, 'archive.tar');
  await execute('git', ['archive', '--output', archive, revision], { cwd: ROOT });
  await execute('tar', ['-xf', archive, '-C', root]);
  await fs.rm(archive);
  const lockFile = (folder: string) => fs.readFile(join(folder, 'package-lock.json'), 'utf8');
  if ((await lockFile(root)) === (await lockFile(ROOT))) {
    await fs.symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  } else {
    await execute('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: root });
  }
  return { root, remove: () => fs.rm(root, { recursive: true, force: true }) };
}
