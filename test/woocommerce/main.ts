/** `npm run woocommerce`: the plugin in a real WordPress with WooCommerce, on this machine; exits with 1 if anything fails. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { findChromium, NO_BROWSER } from '../support/chromium.ts';
import { type Account, startSandbox } from './sandbox.ts';
import { SCENARIOS } from './scenarios.ts';
import { startSite } from './site.ts';

const USAGE = `Usage: npm run woocommerce -- --wordpress FOLDER --woocommerce FOLDER [--subscriptions FOLDER] [--only TEXT]

The folders contain the unpacked programs, WooCommerce as it is published for shops. It needs php with curl, mysql,
mbstring and xml, and mariadb-server (Debian: apt-get install php-cli php-curl php-mysql php-mbstring php-xml
mariadb-server). Everything runs on loopback, in a temporary folder.`;

const { values } = parseArgs({
  options: {
    wordpress: { type: 'string' },
    woocommerce: { type: 'string' },
    subscriptions: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const refuse = (why: string): never => {
  console.error(`${why}\n\n${USAGE}`);
  process.exit(2);
};
const folderOf = (name: 'wordpress' | 'woocommerce', file: string): string => {
  const folder = values[name];
  if (!folder || !existsSync(join(folder, file))) return refuse(`--${name} should be a folder with ${file}.`);
  return folder;
};
const sources = {
  wordpress: folderOf('wordpress', 'wp-load.php'),
  woocommerce: folderOf('woocommerce', 'woocommerce.php'),
  subscriptions: values.subscriptions,
};
for (const program of ['php', 'mariadbd', 'mariadb-install-db', 'mariadb']) {
  if (spawnSync(program, ['--version']).error) refuse(`${program} is not installed.`);
}
const found = await findChromium();
if (!found) refuse(NO_BROWSER);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const folder = await mkdtemp(join(tmpdir(), 'shop-with-plugin-'));
const sandbox = await startSandbox(join(folder, 'gateway'));
const account = await sandbox.admin<Account>('POST', '/accounts', { name: 'Tea & Cups' });
const { merchant_key, password, callback_secret } = account;
const site = await startSite(sources, folder, { url: sandbox.url, merchant_key, password, callback_secret });
await sandbox.admin('PATCH', `/accounts/${account.mid}`, { callback_url: `${site.url}/wc-api/turnpike/` });
console.log(
  Object.entries(site.versions)
    .map((pair) => pair.join(' '))
    .join(', '),
);
const browser = await chromium.launch({
  executablePath: found?.path as string,
  env: { ...process.env, ...found?.env },
  chromiumSandbox: found?.hasSandbox ?? false,
});

let failures = 0;
for (const { name, needsSubscriptions, run } of SCENARIOS) {
  if (!name.includes(values.only)) continue;
  if (needsSubscriptions && sources.subscriptions === undefined) {
    console.log(`left out  ${name}`);
    continue;
  }
  try {
    await run({ site, sandbox, account, browser });
    console.log(`passed    ${name}`);
  } catch (error) {
    failures++;
    console.log(`FAILED    ${name}\n${error instanceof Error ? error.stack : error}`);
  }
  for (const context of browser.contexts()) await context.close();
}
for (const line of await site.complaints()) {
  failures++;
  console.log(`PHP       ${line}`);
}
await browser.close();
await site.stop();
await sandbox.stop();
await rm(folder, { recursive: true, force: true });
console.log(failures === 0 ? 'All scenarios passed.' : `${failures} failed.`);
process.exitCode = failures === 0 ? 0 : 1;
