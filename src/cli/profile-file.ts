/** The file of profiles: addresses and tokens of gateways that commands are used with. */
import * as fs from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { StartupError } from '../lib/flow/startup-error.ts';
import { isObject, withoutByteOrderMark } from '../lib/text/json.ts';
import type { Call } from './command.ts';

export interface Profile {
  url: string;
  token: string;
}

type Environment = Call['environment'];

const fileOf = ({ XDG_CONFIG_HOME, HOME }: Environment): string =>
  join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'turnpike', 'profiles.json');

/** Empty without a file. */
export async function readProfiles(environment: Environment): Promise<Map<string, Profile>> {
  const file = fileOf(environment);
  let kept: unknown;
  try {
    kept = JSON.parse(withoutByteOrderMark(await fs.readFile(file, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
  }
  const isProfile = (value: unknown): value is Profile =>
    isObject(value) && typeof value.url === 'string' && typeof value.token === 'string';
  if (!isObject(kept) || !Object.values(kept).every(isProfile)) {
    throw new StartupError(`The file of profiles cannot be read: correct or remove ${file}.`);
  }
  return new Map(Object.entries(kept as Record<string, Profile>));
}

/** Replaces the file at once; only its owner can read it, because it has tokens. */
export async function writeProfiles(environment: Environment, profiles: ReadonlyMap<string, Profile>): Promise<void> {
  const file = fileOf(environment);
  const draft = `${file}.${process.pid}`;
  await fs.mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await fs.writeFile(draft, `${JSON.stringify(Object.fromEntries(profiles), null, 2)}\n`, { mode: 0o600 });
  await fs.rename(draft, file);
}
