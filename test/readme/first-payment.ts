/** Follows the README and the quick start in a fresh clone, command by command; prints the time until an order is paid. */
import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sendSignal } from '../support/signals.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOCUMENTED_PORT = 8080;

export interface FirstPayment {
  /** From the first command of the README, after the clone, to the paid order. */
  seconds: number;
  /** The response to the curl command that the gateway prints. */
  sale: Record<string, unknown>;
  /** The response to the request that opens a payment page, and the status of that order. */
  session: Record<string, unknown>;
  status: Record<string, unknown>;
}

/** The shell commands of a section, one text per code block. */
function commandsOf(page: string, heading: string): string[] {
  const [, section = ''] = page.split(new RegExp(`^## ${heading}.*$`, 'm'));
  const [text = ''] = section.split(/^## /m);
  return commandsIn(text);
}

const commandsIn = (text: string): string[] =>
  [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, commands]) => commands as string);

/** A clone with the changes that are not committed yet. */
async function clone(folder: string): Promise<void> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
  git('clone', '--quiet', ROOT, folder);
  for (const name of new Set(git('ls-files', '-omd', '--exclude-standard', '-z').split('\0').filter(Boolean))) {
    const [source, target] = [join(ROOT, name), join(folder, name)];
    await fs.rm(target, { force: true });
    await fs.mkdir(dirname(target), { recursive: true });
    await fs.copyFile(source, target).catch((error) => {
      // It was deleted.
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });

export async function makeFirstPayment(log: (line: string) => void): Promise<FirstPayment> {
  const parent = await fs.mkdtemp(join(tmpdir(), 'turnpike-readme-'));
  const folder = join(parent, 'turnpike');
  await clone(folder);
  const readme = await fs.readFile(join(folder, 'README.md'), 'utf8');
  // The first commands of the page start the gateway.
  const [start = ''] = commandsIn(readme);
  const quickStart = await fs.readFile(join(folder, 'docs/merchant/quick-start.md'), 'utf8');
  const [openPage = '', queryStatus = ''] = commandsOf(quickStart, 'With curl alone');

  const { PATH, HOME } = process.env;
  const port = (await isFree(DOCUMENTED_PORT)) ? {} : { PORT: '0' };
  const environment = { PATH: withoutOwnPackages(PATH), HOME, ...CACHED, ...port };
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1000;
  log(`$ ${start.trim()}`);
  // A group of its own, which is stopped as Ctrl-C in a terminal stops it.
  const gateway = spawn('sh', ['-c', start], { cwd: folder, env: environment, detached: true, stdio: 'pipe' });
  const ended = new Promise((resolve) => gateway.once('close', resolve));
  try {
    const banner = await bannerOf(gateway);
    log(`The gateway is ready after ${seconds().toFixed(1)} s.`);
    const run = (commands: string): Record<string, unknown> =>
      JSON.parse(
        execFileSync('sh', ['-c', commands], { cwd: folder, env: environment, encoding: 'utf8', stdio: 'pipe' }),
      );
    const [curl = ''] = /^curl .*$/m.exec(banner) ?? [];
    const sale = run(curl);
    const paidAfter = seconds();
    log(`${curl.slice(0, 60)}… → ${sale.status} after ${paidAfter.toFixed(1)} s`);

    const shown = (name: string): string => new RegExp(`^ {2}${name} +(\\S+)`, 'm').exec(banner)?.[1] ?? '';
    const url = shown('Gateway').replace(/\/post$/, '');
    const filled = openPage
      .replace(/^URL=.*$/m, `URL=${url}`)
      .replace(/^MERCHANT_KEY=.*$/m, `MERCHANT_KEY=${shown('merchant_key')}`)
      .replace(/^PASSWORD=.*$/m, `PASSWORD=${shown('password')}`);
    const session = run(filled);
    log(`The payment page of order-1 is ${session.redirect_url}`);
    // The second block uses the variables and the function of the first one.
    const status = run(`${filled.replace(/^curl .*/ms, '')}\n${queryStatus}`);
    return { seconds: paidAfter, sale, session, status };
  } finally {
    sendSignal(-(gateway.pid as number), 'SIGINT');
    await ended;
    await fs.rm(parent, { recursive: true, force: true });
  }
}

/** Packages that npm has downloaded before need not be asked for again. */
const CACHED = { npm_config_prefer_offline: 'true', npm_config_audit: 'false' };

/** npm puts the programs of this repository's packages first, which a fresh clone does not have. */
const withoutOwnPackages = (path = ''): string =>
  path
    .split(':')
    .filter((folder) => !folder.startsWith(ROOT))
    .join(':');

function bannerOf(gateway: ReturnType<typeof spawn>): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    for (const stream of [gateway.stdout, gateway.stderr]) {
      stream?.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (/^curl .*'\n/m.test(text)) resolve(text);
      });
    }
    gateway.once('close', () => reject(new Error(`The gateway did not start:\n${text}`)));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { seconds } = await makeFirstPayment((line) => console.log(line));
  console.log(`From \`npm install\` to the first paid order: ${seconds.toFixed(1)} s`);
}
