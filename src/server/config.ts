/** The table of environment variables: how each is parsed, its default, its description. */
import { resolve } from 'node:path';
import pg from 'pg';
import { StartupError } from '../lib/flow/startup-error.ts';
import { addressList, parseRange } from '../lib/http/address.ts';
import { singleHostAddresses } from '../lib/http/database-address.ts';
import { isMailAddress } from '../rules/contacts.ts';
import { RETENTION_DAYS_MOST, RETENTION_DEFAULTS, type Retention } from '../rules/retention.ts';

interface Variable<Value> {
  name: string;
  /** Parses the value, or returns what was expected. */
  read: (text: string) => Value | Expected;
  /** The text that is parsed when the variable is not set. */
  default: string;
  about: string;
  /** The name in earlier versions; used when `name` is not set. */
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

const days = wholeNumber(0, RETENTION_DAYS_MOST);

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
  const all = text.split(',').map((entry) => entry.trim());
  if (text.trim() === '') return [];
  return all.every((entry) => parseRange(entry))
    ? all
    : new Expected('IP addresses and CIDR ranges separated by commas');
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

// Only characters that a header can contain; a trailing line break from a secrets file, for example, is refused.
function adminToken(text: string): string | Expected {
  return text === '' || /^[!-~]{32,}$/.test(text) ? text : new Expected('at least 32 characters without spaces');
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

function mailServer(text: string): string | Expected {
  const url = text === '' ? undefined : URL.parse(text);
  const isServer =
    /^smtps?:$/.test(url?.protocol ?? '') && url?.hostname && /^\/?$/.test(url.pathname) && isDecodable(text);
  return text === '' || isServer ? text : new Expected('an address such as smtp://user:password@host:587');
}

function mailAddress(text: string): string | Expected {
  return text === '' || isMailAddress(text) ? text : new Expected('an e-mail address');
}

function headerText(text: string): string | Expected {
  return /^[ -~]*$/.test(text) ? text : new Expected('a text of one line, in ASCII');
}

/** With or without the prefix. */
function gatewayRecipient(text: string): string | Expected {
  const recipient = text.startsWith('gateway:') ? text : `gateway:${text}`;
  return /^gateway:[!-~]{1,100}$/.test(recipient) ? recipient : new Expected('a gateway identifier without spaces');
}

export const VARIABLES = {
  port: variable('PORT', '8080', wholeNumber(0, 65535), 'The port to listen on; 0 picks a free one.'),
  host: variable('HOST', '127.0.0.1', anyText, 'The address to listen on.'),
  publicUrl: variable('PUBLIC_URL', '', webAddress, 'The base address for links. Default: built from HOST and PORT.'),
  dataDir: variable(
    'DATA_DIR',
    './data',
    (text) => resolve(text),
    'The folder for the embedded database and generated keys.',
  ),
  databaseUrl: variable(
    'DATABASE_URL',
    '',
    databaseAddress,
    'An external PostgreSQL, version 15 or newer, instead of the embedded one.',
  ),
  databaseTls: variable(
    'TURNPIKE_DATABASE_TLS',
    'required',
    oneOf('required', 'off'),
    'Whether production requires TLS to a PostgreSQL on another machine. Without TLS, payments and sealed secrets can be read and changed in transit: use `off` in a private network only.',
  ),
  migratesAtStart: variable(
    'TURNPIKE_MIGRATE',
    'on',
    oneOf('on', 'off'),
    'Whether a starting process migrates an older schema. With `off` it refuses to start until `turnpike migrate` has run.',
  ),
  environment: variable(
    'TURNPIKE_ENV',
    'sandbox',
    oneOf('sandbox', 'production'),
    'Whether the gateway accepts test keys or live keys. Only a sandbox has a provider simulator and a clock that can be moved forward.',
  ),
  masterKey: variable(
    'TURNPIKE_MASTER_KEY',
    '',
    masterKeys,
    'The key that encrypts secrets at rest: 32 bytes in base64. During a key rotation several keys, separated by commas, newest first. The sandbox generates one in DATA_DIR.',
  ),
  adminToken: variable(
    'TURNPIKE_ADMIN_TOKEN',
    '',
    adminToken,
    'The bearer token of the admin API. Default: generated and printed at the first start.',
  ),
  trustedProxies: variable(
    'TURNPIKE_TRUSTED_PROXIES',
    '',
    ranges,
    'The proxies whose X-Forwarded-For header is trusted, as CIDR ranges. Default: none.',
  ),
  callbackAllow: variable(
    'TURNPIKE_CALLBACK_ALLOW',
    '',
    ranges,
    'The private addresses that callbacks may be sent to, as CIDR ranges. Default: loopback in the sandbox, none in production.',
  ),
  providerUrl: variable(
    'TURNPIKE_PROVIDER_URL',
    '',
    webAddress,
    'The provider of all brands except the test brand. Default: the sandbox starts the provider simulator; production does not offer these brands.',
  ),
  providerKey: variable('TURNPIKE_PROVIDER_KEY', '', headerText, 'The API key for calls to the provider.'),
  providerNotificationSecret: variable(
    'TURNPIKE_PROVIDER_NOTIFICATION_SECRET',
    '',
    base64Secret,
    'The secret that signs the provider’s notifications, in base64. The former name `TURNPIKE_PROVIDER_NEWS_SECRET` still works.',
    'TURNPIKE_PROVIDER_NEWS_SECRET',
  ),
  walletRoots: variable(
    'TURNPIKE_WALLET_ROOTS',
    '',
    (text) => (text === '' ? '' : resolve(text)),
    'Sandbox only: a folder with further roots of device wallets to trust, `wallet-a.pem` (root certificates) and `wallet-b.json` (root signing keys, in the format of the vendor’s published file). They count for test tokens only.',
  ),
  walletBGateway: variable(
    'TURNPIKE_WALLET_B_GATEWAY',
    'turnpike',
    gatewayRecipient,
    'The gateway identifier that the vendor of wallet-b assigned; tokens are addressed to `gateway:` and this identifier.',
  ),
  keepPersonalDataDays: variable(
    'TURNPIKE_KEEP_PERSONAL_DATA_DAYS',
    String(RETENTION_DEFAULTS.personalData),
    days,
    'How many days the personal data of a payment is kept after its last change. 0 means for ever. docs/operator/erasure.md says what is erased.',
  ),
  keepCallbackBodiesDays: variable(
    'TURNPIKE_KEEP_CALLBACK_BODIES_DAYS',
    String(RETENTION_DEFAULTS.callbackBodies),
    days,
    'How many days the bodies of delivered and parked callbacks are kept; without its body a callback cannot be resent. 0 means for ever.',
  ),
  keepNotificationsDays: variable(
    'TURNPIKE_KEEP_NOTIFICATIONS_DAYS',
    String(RETENTION_DEFAULTS.notifications),
    days,
    'How many days the bodies of processed provider notifications are kept. 0 means for ever.',
  ),
  keepApiCallsDays: variable(
    'TURNPIKE_KEEP_API_CALLS_DAYS',
    String(RETENTION_DEFAULTS.apiCalls),
    days,
    'How many days the recent API calls of merchants are kept. 0 means until newer ones replace them.',
  ),
  keepCallbackAttemptsDays: variable(
    'TURNPIKE_KEEP_CALLBACK_ATTEMPTS_DAYS',
    String(RETENTION_DEFAULTS.callbackAttempts),
    days,
    'How many days the log of attempts to deliver callbacks is kept. It is dropped by months. 0 means for ever.',
  ),
  archiveFolder: variable(
    'TURNPIKE_ARCHIVE_DIR',
    '',
    (text) => (text === '' ? '' : resolve(text)),
    'A folder to which callback attempts are written, as compressed JSON lines, before they are dropped. Default: they are not archived.',
  ),
  marksFolder: variable(
    'TURNPIKE_MARKS_DIR',
    '',
    (text) => (text === '' ? '' : resolve(text)),
    'A folder with the marks of card networks, wallets and payment methods, such as `visa.svg`, which the payment page shows. Default: the page shows their names.',
  ),
  smtpUrl: variable(
    'TURNPIKE_SMTP_URL',
    '',
    mailServer,
    'The mail server for receipts: `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte. With `smtp://` the server must offer STARTTLS, unless it is on this machine or the address ends in `?tls=off`. Default: no e-mails.',
  ),
  smtpFrom: variable('TURNPIKE_SMTP_FROM', '', mailAddress, 'The address that receipts are sent from.'),
  sandboxPort: variable(
    'TURNPIKE_SANDBOX_PORT',
    '',
    port,
    'The port of the provider simulator. Default: the port after PORT, or a free one if that is taken.',
  ),
  sandboxUrl: variable(
    'TURNPIKE_SANDBOX_URL',
    '',
    webAddress,
    'The address at which payers reach the provider simulator. Default: built from HOST and its port.',
  ),
  role: variable(
    'TURNPIKE_ROLE',
    'all',
    oneOf('all', 'http', 'work'),
    'Whether this process handles requests (`http`), runs due work such as callbacks and schedules (`work`), or both (`all`).',
  ),
  workers: variable('TURNPIKE_WORKERS', '1', wholeNumber(1, 64), 'The number of HTTP processes on this machine.'),
  requestsPerAddress: variable(
    'TURNPIKE_REQUESTS_PER_ADDRESS',
    '1000',
    wholeNumber(0, 100_000),
    'The maximum number of API requests from one address per second and process, with bursts of up to three seconds. An IPv6 address counts by its /64. 0 means no limit. Requests from loopback are not counted.',
  ),
  logLevel: variable(
    'LOG_LEVEL',
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'The log level.',
  ),
} as const satisfies Record<string, Variable<unknown>>;

export type Config = {
  readonly [Name in keyof typeof VARIABLES]: Exclude<ReturnType<(typeof VARIABLES)[Name]['read']>, Expected>;
};

/** Reads the configuration; one error lists everything that is wrong with it. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const problems: string[] = [];
  const values = Object.entries(VARIABLES).map(([key, row]: [string, Variable<unknown>]) => {
    const name = row.formerName && !environment[row.name] && environment[row.formerName] ? row.formerName : row.name;
    const value = row.read(environment[name] || row.default);
    // The text itself is not repeated, because it may be a secret.
    if (value instanceof Expected) problems.push(`${name} should be ${value.what}`);
    return [key, value];
  });
  if (problems.length > 0) throw new StartupError(`${problems.join('; ')}.`);
  const config = Object.fromEntries(values) as Config;
  refuseIncompleteProvider(config);
  if ((config.smtpUrl === '') !== (config.smtpFrom === '')) {
    throw new StartupError('Receipts need TURNPIKE_SMTP_URL and TURNPIKE_SMTP_FROM: set both, or none.');
  }
  refuseUnsafeProduction(config);
  return config;
}

function refuseIncompleteProvider({ providerUrl, providerKey, providerNotificationSecret }: Config): void {
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
      'Production needs TURNPIKE_MASTER_KEY: generate one with `openssl rand -base64 32` and keep it safe.',
    );
  }
  if (!config.publicUrl.startsWith('https://')) {
    throw new StartupError('Production needs PUBLIC_URL to be the https address at which payers reach the gateway.');
  }
  if (config.walletRoots !== '') {
    throw new StartupError('Production trusts the wallet vendors only: remove TURNPIKE_WALLET_ROOTS.');
  }
  if (config.providerUrl !== '' && !config.providerUrl.startsWith('https://')) {
    throw new StartupError('Production needs TURNPIKE_PROVIDER_URL to be an https address.');
  }
  if (
    config.databaseUrl !== '' &&
    config.databaseTls === 'required' &&
    !singleHostAddresses(config.databaseUrl).every(isDatabaseSafe)
  ) {
    throw new StartupError(
      'Production needs TLS to a PostgreSQL on another machine: add sslmode=verify-full to DATABASE_URL, or set TURNPIKE_DATABASE_TLS=off if the network between them is private.',
    );
  }
}

const isLoopback = addressList(['127.0.0.0/8', '::1']);

/** The values of sslmode for which the driver uses TLS and verifies the certificate. */
const TLS_MODES = ['require', 'verify-ca', 'verify-full'];

/** Whether the connection is private: the database is on this machine, or TLS is required. */
function isDatabaseSafe(address: string): boolean {
  // Parsed by the driver itself, so that host and TLS are those it will use; of repeated values it takes the last one.
  const { host, ssl } = readDatabaseUrl(address);
  if (host.startsWith('/') || host === 'localhost' || isLoopback(host)) return true;
  const mode = URL.parse(address)?.searchParams.getAll('sslmode').at(-1);
  return Boolean(ssl) && TLS_MODES.includes(mode ?? '');
}

function readDatabaseUrl(connectionString: string): pg.Client {
  try {
    return new pg.Client({ connectionString });
  } catch {
    // The error may contain the address with its password.
    throw new StartupError('DATABASE_URL cannot be read: check the address and the files that it names.');
  }
}

/** The mail server, if one is configured. */
export const mailAccess = ({ smtpUrl, smtpFrom }: Pick<Config, 'smtpUrl' | 'smtpFrom'>) =>
  smtpUrl === '' ? undefined : { url: smtpUrl, from: smtpFrom };

/** How long data is kept. */
export const retentionOf = (config: Config): Retention => ({
  personalData: config.keepPersonalDataDays,
  callbackBodies: config.keepCallbackBodiesDays,
  notifications: config.keepNotificationsDays,
  callbackAttempts: config.keepCallbackAttemptsDays,
  apiCalls: config.keepApiCallsDays,
});

/** A matcher for the addresses of trusted proxies. */
export const trustedProxies = (config: Pick<Config, 'trustedProxies'>): ((address: string) => boolean) =>
  config.trustedProxies.length > 0 ? addressList(config.trustedProxies) : () => false;
