/** A real WordPress with WooCommerce, MariaDB and the packed plugin, on loopback, in a folder that is removed. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { packaged, SLUG } from '../../plugins/woocommerce/build/files.ts';
import { freePort } from '../support/free-port.ts';

const run = promisify(execFile);
const HERE = import.meta.dirname;
const START_MS = 60_000;
const WORKERS = 4;

/** The unpacked programs, which the person who runs the test has downloaded. */
export interface Sources {
  wordpress: string;
  woocommerce: string;
  /** The core of WooCommerce Subscriptions; without it the scenarios of subscriptions are left out. */
  subscriptions: string | undefined;
}

export interface Site {
  url: string;
  versions: Record<string, string>;
  product: number;
  /** Runs a step of shop.php, which says what it does. */
  step<Result = Record<string, unknown>>(name: string, input?: unknown): Promise<Result>;
  /** What PHP has complained about. */
  complaints(): Promise<string[]>;
  stop(): Promise<void>;
}

const config = (socket: string, log: string): string => `<?php
define('DB_NAME', 'shop');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:${socket}');
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
${['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE']
  .flatMap((name) => [`${name}_KEY`, `${name}_SALT`])
  .map((name) => `define('${name}', '${randomBytes(24).toString('hex')}');`)
  .join('\n')}
$table_prefix = 'wp_';
define('WP_DEBUG', true);
define('WP_DEBUG_DISPLAY', false);
define('WP_DEBUG_LOG', '${log}');
// Nothing leaves this machine, and scheduled work runs when the test says so.
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`;

/** No mail is sent, no admin page takes the visitor to a tour, and languages need no download. */
const MUST_USE = `<?php
add_filter('pre_wp_mail', '__return_true');
add_filter('locale', fn ($locale) => get_option('test_locale', $locale));
add_filter('woocommerce_enable_setup_wizard', '__return_false');
add_filter('woocommerce_prevent_automatic_wizard_redirect', '__return_true');
add_filter('action_scheduler_allow_async_request_runner', '__return_false');
add_filter('block_local_requests', '__return_false');
`;

const SUBSCRIPTIONS = `<?php
/* Plugin Name: Loader of WooCommerce Subscriptions Core */
add_action('plugins_loaded', function () {
    require_once __DIR__ . '/../subscriptions-core/includes/class-wc-subscriptions-core-plugin.php';
    new WC_Subscriptions_Core_Plugin();
}, 1);
`;

export async function startSite(sources: Sources, folder: string, settings: Record<string, string>): Promise<Site> {
  const root = join(folder, 'wordpress');
  const data = join(folder, 'mariadb');
  const socket = join(folder, 'mariadb.sock');
  const log = join(folder, 'php.log');
  await fs.cp(sources.wordpress, root, { recursive: true, dereference: true });
  const plugins = join(root, 'wp-content/plugins');
  await fs.cp(sources.woocommerce, join(plugins, 'woocommerce'), { recursive: true });
  for (const [path, content] of packaged()) {
    await fs.mkdir(join(plugins, path, '..'), { recursive: true });
    await fs.writeFile(join(plugins, path), content);
  }
  await fs.mkdir(join(root, 'wp-content/mu-plugins'), { recursive: true });
  await fs.writeFile(join(root, 'wp-content/mu-plugins/test.php'), MUST_USE);
  await fs.writeFile(join(root, 'wp-config.php'), config(socket, log));
  if (sources.subscriptions !== undefined) {
    await fs.cp(sources.subscriptions, join(plugins, 'subscriptions-core'), { recursive: true });
    await fs.mkdir(join(plugins, 'subscriptions-loader'));
    await fs.writeFile(join(plugins, 'subscriptions-loader/subscriptions-loader.php'), SUBSCRIPTIONS);
  }

  await run('mariadb-install-db', [`--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db']);
  const database = spawn(
    'mariadbd',
    [
      '--no-defaults',
      `--datadir=${data}`,
      `--socket=${socket}`,
      `--pid-file=${join(folder, 'mariadb.pid')}`,
      '--skip-networking',
      ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    ],
    { stdio: 'ignore' },
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const web = spawn(
    'php',
    ['-d', 'memory_limit=512M', '-d', 'log_errors=1', '-S', `127.0.0.1:${port}`, '-t', root, join(HERE, 'router.php')],
    { stdio: 'ignore', env: { ...process.env, PHP_CLI_SERVER_WORKERS: String(WORKERS) }, detached: true },
  );
  // The workers of the web server are in its process group.
  const kill = (): void => {
    for (const end of [() => process.kill(-(web.pid as number), 'SIGKILL'), () => database.kill('SIGKILL')]) {
      try {
        end();
      } catch {}
    }
  };
  process.once('exit', kill);

  const step = async <Result>(name: string, input: unknown = {}): Promise<Result> => {
    const args = ['-d', 'memory_limit=512M', join(HERE, 'shop.php'), root, name];
    const php = run('php', args, { env: { ...process.env, SHOP_HOST: `127.0.0.1:${port}` } });
    php.child.stdin?.end(JSON.stringify(input));
    const { stdout } = await php.catch(async () => {
      const lines = (await fs.readFile(log, 'utf8')).split('\n');
      throw new Error(`The step ${name} failed:\n${lines.slice(-20).join('\n')}`);
    });
    return JSON.parse(stdout.trim().split('\n').at(-1) as string) as Result;
  };

  await waitFor('MariaDB', () => existsSync(socket));
  await run('mariadb', ['--no-defaults', `--socket=${socket}`, '-uroot', '-e', 'create database shop']);
  await step('install');
  await step('options', { siteurl: url, home: url });
  const names = ['woocommerce/woocommerce.php', `${SLUG}/${SLUG}.php`];
  if (sources.subscriptions !== undefined) names.push('subscriptions-loader/subscriptions-loader.php');
  for (const plugin of names) {
    const { error } = await step<{ error: string | null }>('activate', { plugin });
    if (error !== null) throw new Error(`${plugin}: ${error}`);
  }
  const { product, versions } = await step<Pick<Site, 'product' | 'versions'>>('set-up', {
    options: {
      woocommerce_turnpike_settings: {
        enabled: 'yes',
        title: 'Card and other methods',
        description: 'You pay on a secure page.',
        ...settings,
      },
      woocommerce_currency: 'EUR',
      woocommerce_default_country: 'DE:DE-BE',
      woocommerce_coming_soon: 'no',
      woocommerce_enable_guest_checkout: 'yes',
      woocommerce_onboarding_profile: { skipped: true },
      woocommerce_task_list_hidden: 'yes',
    },
  });
  await step('storage', { is_hpos: true });
  return {
    url,
    versions,
    product,
    step,
    complaints: async () =>
      (await fs.readFile(log, 'utf8').catch(() => '')).split('\n').filter((line) => /turnpike-gateway/.test(line)),
    async stop() {
      process.off('exit', kill);
      process.kill(-(web.pid as number), 'SIGKILL');
      database.kill('SIGTERM');
      await once(database, 'exit');
    },
  };
}

async function waitFor(what: string, isReady: () => boolean): Promise<void> {
  for (let waited = 0; !isReady(); waited += 100) {
    if (waited > START_MS) throw new Error(`${what} did not start.`);
    await pause(100);
  }
}
