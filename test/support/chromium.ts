/** Finds a Chromium for the browser tests: one of this machine, else the one that npm brings; run alone, it says which. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export interface Chromium {
  path: string;
  /** What it needs in its environment besides the usual. */
  env: Record<string, string>;
  /** Without the helper that some machines need for it, a sandbox keeps the browser from starting. */
  hasSandbox: boolean;
  /** Whether it can keep a page that was left, and show it again as it was. */
  keepsPages: boolean;
}

const run = promisify(execFile);
const PACKAGES = join(import.meta.dirname, '../../node_modules');

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const APPS = ['Chromium.app/Contents/MacOS/Chromium', 'Google Chrome.app/Contents/MacOS/Google Chrome'];
const WINDOWS = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'];

/** How to get one, for those who have none. */
export const NO_BROWSER =
  'They need a Chromium: install one (Debian: apt-get install chromium; macOS: brew install --cask chromium), or say ' +
  'with CHROMIUM_PATH where yours is.';

/** What the choice depends on. */
export interface Machine {
  env: Record<string, string | undefined>;
  platform: string;
  arch: string;
  exists(path: string): boolean;
}

/** The usual places, in the order in which they are looked at. */
const places = (env: Machine['env']): string[] => [
  ...[...(env.PATH ?? '').split(delimiter), '/usr/bin'].flatMap((folder) => NAMES.map((name) => join(folder, name))),
  ...APPS.map((app) => join('/Applications', app)),
  ...WINDOWS.flatMap((name) => {
    const folder = env[name];
    return folder ? [join(folder, 'Google/Chrome/Application/chrome.exe'), join(folder, 'Chromium/chrome.exe')] : [];
  }),
];

/** The path of a browser, or that it is the one of npm; `undefined` where there is none. */
export function chooseChromium({ env, platform, arch, exists }: Machine): { path: string } | 'npm' | undefined {
  // A path that was given is the only one: if nothing is there, there is no browser.
  const path = (env.CHROMIUM_PATH ? [env.CHROMIUM_PATH] : places(env)).find(exists);
  if (path) return { path };
  return !env.CHROMIUM_PATH && platform === 'linux' && arch === 'x64' ? 'npm' : undefined;
}

/** What becomes of the browser tests: without a browser they are skipped, but not in CI. */
export function browserTestMode(hasChromium: boolean, env: Machine['env']): 'run' | 'skip' | 'fail' {
  if (hasChromium) return 'run';
  return env.CI && env.CI !== 'false' ? 'fail' : 'skip';
}

export async function findChromium(): Promise<Chromium | undefined> {
  const { env, platform, arch } = process;
  const choice = chooseChromium({ env, platform, arch, exists: existsSync });
  if (choice === 'npm') return chromiumOfNpm();
  return choice && { ...choice, env: {}, hasSandbox: process.getuid?.() !== 0, keepsPages: true };
}

/** The one of npm comes packed, with its libraries; it is unpacked once and kept beside the packages. */
async function chromiumOfNpm(): Promise<Chromium> {
  const { version } = JSON.parse(await readFile(join(PACKAGES, '@sparticuz/chromium/package.json'), 'utf8'));
  const kept = join(PACKAGES, '.cache', `chromium-${version}`);
  if (!existsSync(kept)) {
    await mkdir(join(kept, '..'), { recursive: true });
    const fresh = await mkdtemp(`${kept}-`);
    await unpackInto(fresh);
    // Another worker may have been faster; its copy is as good.
    await rename(fresh, kept).catch(() => rm(fresh, { recursive: true }));
  }
  const fonts = join(kept, 'fonts.conf');
  if (!existsSync(fonts)) {
    await writeFile(fonts, `<fontconfig><dir>${kept}/fonts</dir><cachedir>${kept}/font-cache</cachedir></fontconfig>`);
  }
  return {
    path: join(kept, 'chromium'),
    env: {
      LD_LIBRARY_PATH: join(kept, 'al2023/lib'),
      ...(!existsSync('/etc/fonts/fonts.conf') && { FONTCONFIG_FILE: fonts }),
    },
    hasSandbox: false,
    // It is a browser without windows.
    keepsPages: false,
  };
}

/** The package unpacks into the folder for temporary files, and its libraries only where it believes to be at home. */
const unpackInto = (folder: string) =>
  run(
    process.execPath,
    ['--input-type=module', '--eval', "import chromium from '@sparticuz/chromium'; await chromium.executablePath();"],
    {
      cwd: join(PACKAGES, '..'),
      env: { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
    },
  );

if (import.meta.main) {
  try {
    const found = await findChromium();
    if (!found) throw new Error(`There is no browser for the browser tests. ${NO_BROWSER}`);
    const { stdout } = await run(found.path, ['--version'], { env: { ...process.env, ...found.env } });
    console.log(`${stdout.trim()}: ${found.path}`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
