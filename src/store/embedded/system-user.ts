/** The user account of the embedded PostgreSQL, and how its programs are started under it. */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { StartupError } from '../../lib/flow/startup-error.ts';

// The gateway's own environment contains secrets and PG* variables, which the server must not get.
const ENVIRONMENT = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export const execute = promisify(execFile);

export interface SystemUser {
  uid: number;
  gid: number;
}

/** How a program is started under the server's account: by Node itself, or through `setpriv`. */
export interface Launcher {
  account: Partial<SystemUser>;
  prefix: string[];
}

/** The server's account when the gateway runs as root, because PostgreSQL refuses to run as root. */
export async function chooseSystemUser(folder: string): Promise<SystemUser | undefined> {
  const owner = await fs.stat(folder).catch(() => undefined);
  const self = process.getuid?.();
  if (self !== 0) {
    if (!owner || owner.uid === self) return undefined;
    throw new StartupError(
      `The database folder ${folder} belongs to another user (uid ${owner.uid}): start the gateway as that user, or give the folder to this one (chown -R ${self}).`,
    );
  }
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of ['postgres', 'nobody']) {
    const ids = ['-u', '-g'].map(async (flag) => Number((await execute('id', [flag, name])).stdout));
    const [uid, gid] = await Promise.all(ids).catch(() => []);
    if (uid && gid !== undefined) return { uid, gid };
  }
  throw new StartupError(
    `PostgreSQL does not run as root and there is no user postgres or nobody for ${folder}: start the gateway as an ordinary user, or set DATABASE_URL.`,
  );
}

/** Finds, by trying, the least privileged way to run the binaries. */
export async function chooseLauncher(
  initdb: string,
  account: SystemUser | undefined,
  foldersToEnter: string[],
): Promise<Launcher> {
  const launchers: Launcher[] = [{ account: account ?? {}, prefix: [] }];
  if (account) {
    // Below a folder that only root may enter, the account needs a capability to traverse it. Without
    // no_setuid_fixup, access(2), with which PostgreSQL checks its own binaries, would ignore the capability.
    for (const capability of ['+dac_read_search', '+dac_override']) {
      const ids = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
      const rights = [`--inh-caps=${capability}`, `--ambient-caps=${capability}`, '--securebits=+no_setuid_fixup'];
      launchers.push({ account: {}, prefix: ['setpriv', ...ids, ...rights] });
    }
  }
  const script = 'for path do cd "$path" || exit; done; exec "$0" --show -D .';
  let complaint: unknown;
  for (const launcher of launchers) {
    try {
      await execute(...under(launcher, 'sh', ['-c', script, initdb, ...foldersToEnter]));
      return launcher;
    } catch (error) {
      complaint ??= error;
    }
  }
  const where = [...new Set([dirname(initdb), ...foldersToEnter])].join(' or ');
  throw new StartupError(
    account
      ? `PostgreSQL does not run as root and the user it runs under (uid ${account.uid}) cannot enter ${where}: start the gateway as an ordinary user, move it to a folder that this user may enter, or set DATABASE_URL.`
      : `The PostgreSQL in ${dirname(initdb)} does not run on this machine (${lastLine(complaint)}): run npm install again, or set DATABASE_URL to a PostgreSQL server of yours.`,
  );
}

/** The command, arguments and options to run a program under the server's account. */
export function under({ account, prefix }: Launcher, program: string, args: string[]) {
  const [command = program, ...words] = [...prefix, program, ...args];
  return [command, words, { ...account, cwd: '/', env: ENVIRONMENT }] as const;
}

/** The last error line that a program wrote to stderr, or the error itself when it did not start. */
export function lastLine(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  const lines = (stderr || message).trim().split('\n');
  return lines.findLast((line) => /error|fatal|panic/i.test(line)) ?? lines.at(-1) ?? '';
}
