/** Every environment variable, one row each: how it is read, what it defaults to, what it means. */
import { resolve } from 'node:path';
import pg from 'pg';
import { addressList, parseRange } from '../lib/address.ts';
import { StartupError } from '../lib/startup-error.ts';

interface Variable<Value> {
  name: string;
  /** Makes the value, or says what was expected instead. */
  read: (text: string) => Value | Expected;
  /** The text that stands in when the variable is not set. */
  default: string;
  about: string;
  /** A name that an earlier version used; it counts when `name` is not set. */
  formerName: string | undefined;
}

class Expected {
  readonly what: string;
  constructor(what: string) {
    this.what = what;
  }
}

const variable = <Value>(
  name: string,
  fallback: string,
  read: (text: string) => Value | Expected,
  about: string,
  formerName?: string,
): Variable<Value> => ({ name, default: fallback, read, about, formerName });

const wholeNumber = (least: number, most: number) => (text: string) =>
  /^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most
    ? Number(text)
    : new Expected(`a whole number from ${least} to ${most}`);

const oneOf =
  <Choice extends string>(...choices: Choice[]) =>
  (text: string) =>
    choices.find((choice) => choice === text) ?? new Expected(`one of ${choices.join(', ')}`);

const anyText = (text: string): string => text;

function webAddress(text: string): string | Expected {
  const url = text === '' ? undefined : URL.parse(text);
  const isBase = url && /^https?:\/\/[^?#@\s]+$/.test(text);
  return text === '' || isBase ? text.replace(/\/+$/, '') : new Expected('an http or https address without a query');
}

function databaseAddress(text: string): string | Expected {
  return text === '' || /^postgres(ql)?:\/\//.test(text)
    ? text
    : new Expected('an address such as postgres://user:password@host/database');
}

function ranges(text: string): string[] | Expected {
  const all = text.split(',').map((one) => one.trim());
  if (text.trim() === '') return [];
  return all.every((one) => parseRange(one)) ? all : new Expected('IP addresses and CIDR ranges separated by commas');
}

function masterKeys(text: string): string | Expected {
  const isKey = (key: string) => /^[A-Za-z0-9+/]{43}=$/.test(key.trim());
  return text === '' || text.split(',').every(isKey)
    ? text
    : new Expected('32 bytes in base64 (openssl rand -base64 32)');
}

function port(text: string): string | Expected {
  return text === '' || (/^\d{1,5}$/.test(text) && Number(text) <= 65535)
    ? text
    : new Expected('a whole number from 0 to 65535');
}

function base64Secret(text: string): string | Expected {
  return text === '' || Buffer.from(text, 'base64').length >= 16 ? text : new Expected('at least 16 bytes in base64');
}

// What cannot stand in a header as it is would be sent by nobody: a line break of the file that a secret came from is one.
function adminToken(text: string): string | Expected {
  return text === '' || /^[!-~]{32,}$/.test(text) ? text : new Expected('at least 32 characters without spaces');
}

function headerText(text: string): string | Expected {
  return /^[ -~]*$/.test(text) ? text : new Expected('a text of one line, in ASCII');
}

export const VARIABLES = {
  port: variable('PORT', '8080', wholeNumber(0, 65535), 'The port to listen on; 0 picks a free one.'),
  host: variable('HOST', '127.0.0.1', anyText, 'The address to listen on.'),
  publicUrl: variable('PUBLIC_URL', '', webAddress, 'The base address in links; from host and port when not set.'),
  dataDir: variable(
    'DATA_DIR',
    './data',
    (text) => resolve(text),
    'The folder of the embedded database and of generated keys.',
  ),
  databaseUrl: variable(
    'DATABASE_URL',
    '',
    databaseAddress,
    'A PostgreSQL, 15 or newer, in place of the embedded one.',
  ),
  databaseTls: variable(
    'TURNPIKE_DATABASE_TLS',
    'required',
    oneOf('required', 'off'),
    'Whether production insists on TLS to a PostgreSQL on another machine. Without it, payments and sealed secrets cross the network readable and can be changed on the way: `off` is safe within a private network only.',
  ),
  environment: variable(
    'TURNPIKE_ENV',
    'sandbox',
    oneOf('sandbox', 'production'),
    'Which keys are accepted, and whether time can be moved.',
  ),
  masterKey: variable(
    'TURNPIKE_MASTER_KEY',
    '',
    masterKeys,
    'The key that seals secrets: 32 bytes in base64. Several, separated by commas and newest first, while one is replaced. In the sandbox one is generated into DATA_DIR.',
  ),
  adminToken: variable(
    'TURNPIKE_ADMIN_TOKEN',
    '',
    adminToken,
    'The bearer token of the admin API; generated and shown at the first start when not set.',
  ),
  trustedProxies: variable(
    'TURNPIKE_TRUSTED_PROXIES',
    '',
    ranges,
    'The proxies whose X-Forwarded-For is believed, as CIDR ranges; none when not set.',
  ),
  callbackAllow: variable(
    'TURNPIKE_CALLBACK_ALLOW',
    '',
    ranges,
    'The private addresses that callbacks may reach all the same, as CIDR ranges. When not set, loopback in the sandbox and none in production.',
  ),
  providerUrl: variable(
    'TURNPIKE_PROVIDER_URL',
    '',
    webAddress,
    'The provider of all brands but the test brand. In the sandbox the provider simulator is started when not set; in production those brands are not offered then.',
  ),
  providerKey: variable('TURNPIKE_PROVIDER_KEY', '', headerText, 'The key of calls to the provider.'),
  providerNotificationSecret: variable(
    'TURNPIKE_PROVIDER_NOTIFICATION_SECRET',
    '',
    base64Secret,
    'The secret that signs the provider’s notifications, in base64. The former name `TURNPIKE_PROVIDER_NEWS_SECRET` still works.',
    'TURNPIKE_PROVIDER_NEWS_SECRET',
  ),
  sandboxPort: variable(
    'TURNPIKE_SANDBOX_PORT',
    '',
    port,
    'The port of the provider simulator; the one after PORT when not set, or a free one if that is taken.',
  ),
  sandboxUrl: variable(
    'TURNPIKE_SANDBOX_URL',
    '',
    webAddress,
    'The address under which payers reach the pages of the provider simulator; from host and port when not set.',
  ),
  role: variable(
    'TURNPIKE_ROLE',
    'all',
    oneOf('all', 'http', 'work'),
    'Whether this process answers requests, does what is due, or both.',
  ),
  workers: variable('TURNPIKE_WORKERS', '1', wholeNumber(1, 64), 'How many HTTP processes to run on this machine.'),
  requestsPerAddress: variable(
    'TURNPIKE_REQUESTS_PER_ADDRESS',
    '1000',
    wholeNumber(0, 100_000),
    'How many API requests of one address each process answers in a second; three seconds’ worth may come at once, and an IPv6 address counts with its /64. 0 means any number. Requests from loopback are not counted.',
  ),
  logLevel: variable(
    'LOG_LEVEL',
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'How much is logged.',
  ),
} as const satisfies Record<string, Variable<unknown>>;

export type Config = {
  readonly [Name in keyof typeof VARIABLES]: Exclude<ReturnType<(typeof VARIABLES)[Name]['read']>, Expected>;
};

/** Reads the configuration; everything that is wrong with it is said at once. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const complaints: string[] = [];
  const values = Object.entries(VARIABLES).map(([key, row]: [string, Variable<unknown>]) => {
    const name = row.formerName && !environment[row.name] && environment[row.formerName] ? row.formerName : row.name;
    const value = row.read(environment[name] || row.default);
    // The text itself is not repeated: it may be a secret.
    if (value instanceof Expected) complaints.push(`${name} should be ${value.what}`);
    return [key, value];
  });
  if (complaints.length > 0) throw new StartupError(`${complaints.join('; ')}.`);
  const config = Object.fromEntries(values) as Config;
  refuseHalfAProvider(config);
  refuseUnsafeProduction(config);
  return config;
}

function refuseHalfAProvider({ providerUrl, providerKey, providerNotificationSecret }: Config): void {
  const set = [providerUrl, providerKey, providerNotificationSecret].filter((value) => value !== '');
  if (set.length === 0 || set.length === 3) return;
  throw new StartupError(
    'A provider needs TURNPIKE_PROVIDER_URL, TURNPIKE_PROVIDER_KEY and TURNPIKE_PROVIDER_NOTIFICATION_SECRET: set all three, or none.',
  );
}

function refuseUnsafeProduction(config: Config): void {
  if (config.environment !== 'production') return;
  if (config.masterKey === '') {
    throw new StartupError(
      'Production needs TURNPIKE_MASTER_KEY: make one with `openssl rand -base64 32` and keep it safe.',
    );
  }
  if (!config.publicUrl.startsWith('https://')) {
    throw new StartupError('Production needs PUBLIC_URL to be the https address under which payers reach the gateway.');
  }
  if (config.providerUrl !== '' && !config.providerUrl.startsWith('https://')) {
    throw new StartupError('Production needs TURNPIKE_PROVIDER_URL to be an https address.');
  }
  if (config.databaseUrl !== '' && config.databaseTls === 'required' && !isDatabaseSafe(config.databaseUrl)) {
    throw new StartupError(
      'Production needs TLS to a PostgreSQL on another machine: add sslmode=verify-full to DATABASE_URL, or set TURNPIKE_DATABASE_TLS=off if the network between them is private.',
    );
  }
}

const isLoopback = addressList(['127.0.0.0/8', '::1']);

/** The driver encrypts for each of these, and checks the certificate; other modes may go without. */
const TLS_MODES = ['require', 'verify-ca', 'verify-full'];

/** Whether nobody on a network can read what is said to this database: it is on this machine, or TLS is asked for. */
function isDatabaseSafe(address: string): boolean {
  // The driver itself knows best whom it would call, and how; of several values it takes the last one.
  const { host, ssl } = readDatabaseUrl(address);
  if (host.startsWith('/') || host === 'localhost' || isLoopback(host)) return true;
  const mode = URL.parse(address)?.searchParams.getAll('sslmode').at(-1);
  return Boolean(ssl) && TLS_MODES.includes(mode ?? '');
}

function readDatabaseUrl(connectionString: string): pg.Client {
  try {
    return new pg.Client({ connectionString });
  } catch {
    // The reason may repeat the address, and with it the password.
    throw new StartupError('DATABASE_URL cannot be read: check the address and the files that it names.');
  }
}

/** Whether an address belongs to a proxy that is believed. */
export const trustedProxies = (config: Pick<Config, 'trustedProxies'>): ((address: string) => boolean) =>
  config.trustedProxies.length > 0 ? addressList(config.trustedProxies) : () => false;
