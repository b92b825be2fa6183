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
}

const run = promisify(execFile);
const PACKAGES = join(import.meta.dirname, '../../node_modules');

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const APPS = ['Chromium.app/Contents/MacOS/Chromium', 'Google Chrome.app/Contents/MacOS/Google Chrome'];
const WINDOWS = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'];

const NONE_FOUND =
  'The browser tests need a Chromium: install one (Debian: apt-get install chromium; macOS: brew install --cask ' +
  'chromium), or say with CHROMIUM_PATH where yours is.';

/** The usual places, in the order in which they are looked at. */
const places = (): string[] => [
  ...[...(process.env.PATH ?? '').split(delimiter), '/usr/bin'].flatMap((folder) =>
    NAMES.map((name) => join(folder, name)),
  ),
  ...APPS.map((app) => join('/Applications', app)),
  ...WINDOWS.flatMap((name) => {
    const folder = process.env[name];
    return folder ? [join(folder, 'Google/Chrome/Application/chrome.exe'), join(folder, 'Chromium/chrome.exe')] : [];
  }),
];

export async function findChromium(): Promise<Chromium> {
  const path = process.env.CHROMIUM_PATH || places().find((place) => existsSync(place));
  if (path) return { path, env: {}, hasSandbox: process.getuid?.() !== 0 };
  if (process.platform === 'linux' && process.arch === 'x64') return chromiumOfNpm();
  throw new Error(NONE_FOUND);
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
    const { path, env } = await findChromium();
    const { stdout } = await run(path, ['--version'], { env: { ...process.env, ...env } });
    console.log(`${stdout.trim()}: ${path}`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
