/** Every environment variable with valid and invalid values; errors name the variable and never repeat a value. */
import { isAbsolute, resolve } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { StartupError } from '../../src/lib/flow/startup-error.ts';
import { mailAccess, readConfig, trustedProxies, VARIABLES } from '../../src/server/config.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 8).toString('base64');
const TOKEN = 'a-token-of-thirty-two-characters';

/** The error message of a refused start. */
function errorOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(StartupError);
    return (error as Error).message;
  }
  throw new Error('The configuration was accepted.');
}

test('the defaults', () => {
  expect(readConfig({})).toEqual({
    port: 8080,
    host: '127.0.0.1',
    publicUrl: '',
    dataDir: resolve('./data'),
    databaseUrl: '',
    databaseTls: 'required',
    migratesAtStart: 'on',
    environment: 'sandbox',
    masterKey: '',
    adminToken: '',
    trustedProxies: [],
    callbackAllow: [],
    providerUrl: '',
    providerKey: '',
    providerNotificationSecret: '',
    walletRoots: '',
    walletBGateway: 'gateway:turnpike',
    keepPersonalDataDays: 0,
    keepCallbackBodiesDays: 0,
    keepNotificationsDays: 0,
    keepApiCallsDays: 7,
    keepCallbackAttemptsDays: 0,
    archiveFolder: '',
    marksFolder: '',
    smtpUrl: '',
    smtpFrom: '',
    sandboxPort: '',
    sandboxUrl: '',
    role: 'all',
    workers: 1,
    requestsPerAddress: 1000,
    logLevel: 'info',
  });
});

test('an empty variable counts as not set', () => {
  const empty = Object.fromEntries(Object.values(VARIABLES).map(({ name }) => [name, '']));
  expect(readConfig(empty)).toEqual(readConfig({}));
});

const days = (key: string): { key: string; good: [string, unknown][]; bad: string[] } => ({
  key,
  good: [
    ['0', 0],
    ['3653', 3653],
  ],
  bad: ['-1', '3654', '1.5', '30d'],
});

const VALUES: Record<string, { key: string; good: [string, unknown][]; bad: string[] }> = {
  PORT: {
    key: 'port',
    good: [
      ['0', 0],
      ['80', 80],
      ['65535', 65535],
    ],
    bad: ['65536', '-1', '80.5', '8o', ' 80', '0x50', '1e3', 'http'],
  },
  HOST: {
    key: 'host',
    good: [
      ['0.0.0.0', '0.0.0.0'],
      ['::', '::'],
    ],
    bad: [],
  },
  PUBLIC_URL: {
    key: 'publicUrl',
    good: [
      ['https://pay.example', 'https://pay.example'],
      ['https://pay.example/', 'https://pay.example'],
      ['http://localhost:8080//', 'http://localhost:8080'],
      ['https://pay.example/gateway/', 'https://pay.example/gateway'],
    ],
    bad: [
      'pay.example',
      '/gateway',
      'ftp://pay.example',
      'https://pay.example?a=b',
      'https://pay.example#a',
      'https://user:secret@pay.example',
      'https://',
      'https://pay.example\n',
    ],
  },
  DATA_DIR: {
    key: 'dataDir',
    good: [
      ['/var/lib/turnpike', resolve('/var/lib/turnpike')],
      ['elsewhere', resolve('elsewhere')],
    ],
    bad: [],
  },
  DATABASE_URL: {
    key: 'databaseUrl',
    good: [
      ['postgres://user:password@db.example/turnpike', 'postgres://user:password@db.example/turnpike'],
      ['postgresql://db.example/turnpike', 'postgresql://db.example/turnpike'],
    ],
    bad: [
      'mysql://user:secret@db.example/x',
      'db.example',
      'host=db.example password=secret',
      ' postgres://db.example/x',
    ],
  },
  TURNPIKE_DATABASE_TLS: {
    key: 'databaseTls',
    good: [
      ['required', 'required'],
      ['off', 'off'],
    ],
    bad: ['Off', 'false', 'on', 'disable', 'no'],
  },
  TURNPIKE_MIGRATE: {
    key: 'migratesAtStart',
    good: [
      ['on', 'on'],
      ['off', 'off'],
    ],
    bad: ['On', 'false', 'true', 'no'],
  },
  TURNPIKE_ENV: {
    key: 'environment',
    good: [['sandbox', 'sandbox']],
    bad: ['Sandbox', 'prod', 'test', 'production '],
  },
  TURNPIKE_MASTER_KEY: {
    key: 'masterKey',
    good: [
      [KEY, KEY],
      [`${KEY},${OTHER_KEY}`, `${KEY},${OTHER_KEY}`],
      [`${KEY}, ${OTHER_KEY}`, `${KEY}, ${OTHER_KEY}`],
    ],
    bad: [
      'secret',
      KEY.slice(1),
      KEY.slice(0, -1),
      `${KEY}A`,
      `${KEY},`,
      `${KEY},secret`,
      Buffer.alloc(16).toString('base64'),
      'zz'.repeat(32),
    ],
  },
  TURNPIKE_ADMIN_TOKEN: {
    key: 'adminToken',
    good: [[TOKEN, TOKEN]],
    bad: [TOKEN.slice(1), 'secret', `${TOKEN}\n`, `${TOKEN} ${TOKEN}`, `${TOKEN}é`],
  },
  TURNPIKE_TRUSTED_PROXIES: {
    key: 'trustedProxies',
    good: [
      ['10.0.0.1', ['10.0.0.1']],
      ['10.0.0.0/8, 2001:db8::/32 ,::1', ['10.0.0.0/8', '2001:db8::/32', '::1']],
      [' ', []],
    ],
    bad: ['10.0.0.0/33', 'proxy.example', '10.0.0.1,', '10.0.0.1;10.0.0.2', 'true', '*'],
  },
  TURNPIKE_CALLBACK_ALLOW: {
    key: 'callbackAllow',
    good: [
      ['10.1.2.3', ['10.1.2.3']],
      ['127.0.0.0/8, ::1 ,fd00::/8', ['127.0.0.0/8', '::1', 'fd00::/8']],
      [' ', []],
    ],
    bad: ['10.0.0.0/33', 'shop.example', '10.0.0.1,', '10.0.0.1 10.0.0.2', 'true', 'none', '*', 'loopback'],
  },
  TURNPIKE_PROVIDER_URL: {
    key: 'providerUrl',
    good: [],
    bad: [
      'provider.example',
      'ftp://provider.example',
      'https://provider.example?a=b',
      'https://user:secret@provider.example',
    ],
  },
  TURNPIKE_PROVIDER_KEY: { key: 'providerKey', good: [], bad: ['a secret key\n', 'clé secrète'] },
  TURNPIKE_PROVIDER_NOTIFICATION_SECRET: {
    key: 'providerNotificationSecret',
    good: [],
    bad: ['short', 'AAAA'],
  },
  TURNPIKE_WALLET_ROOTS: { key: 'walletRoots', good: [['roots', resolve('roots')]], bad: [] },
  TURNPIKE_WALLET_B_GATEWAY: {
    key: 'walletBGateway',
    good: [
      ['pay', 'gateway:pay'],
      ['gateway:pay', 'gateway:pay'],
    ],
    bad: ['two words', 'gateway:', 'x'.repeat(101)],
  },
  TURNPIKE_KEEP_PERSONAL_DATA_DAYS: days('keepPersonalDataDays'),
  TURNPIKE_KEEP_CALLBACK_BODIES_DAYS: days('keepCallbackBodiesDays'),
  TURNPIKE_KEEP_NOTIFICATIONS_DAYS: days('keepNotificationsDays'),
  TURNPIKE_KEEP_API_CALLS_DAYS: days('keepApiCallsDays'),
  TURNPIKE_KEEP_CALLBACK_ATTEMPTS_DAYS: days('keepCallbackAttemptsDays'),
  TURNPIKE_ARCHIVE_DIR: { key: 'archiveFolder', good: [['archive', resolve('archive')]], bad: [] },
  TURNPIKE_MARKS_DIR: { key: 'marksFolder', good: [['marks', resolve('marks')]], bad: [] },
  // Both have to be set together.
  TURNPIKE_SMTP_URL: {
    key: 'smtpUrl',
    good: [],
    bad: [
      'mail.example:25',
      'https://mail.example',
      'smtps:',
      'smtp://user:secret@mail.example/path',
      'smtp://user:secret%zz@mail.example',
    ],
  },
  TURNPIKE_SMTP_FROM: {
    key: 'smtpFrom',
    good: [],
    bad: [
      'receipts',
      'Shop <receipts@pay.example>',
      'a@pay.example,b@pay.example',
      'a@pay.example\nBcc: b@pay.example',
    ],
  },
  TURNPIKE_SANDBOX_PORT: {
    key: 'sandboxPort',
    good: [
      ['0', '0'],
      ['8081', '8081'],
    ],
    bad: ['65536', '-1', 'x', '80.5'],
  },
  TURNPIKE_SANDBOX_URL: {
    key: 'sandboxUrl',
    good: [['https://simulator.example/', 'https://simulator.example']],
    bad: ['simulator.example', 'ftp://simulator.example', 'https://user:secret@simulator.example'],
  },
  TURNPIKE_ROLE: {
    key: 'role',
    good: [
      ['all', 'all'],
      ['http', 'http'],
      ['work', 'work'],
    ],
    bad: ['HTTP', 'worker', 'http,work'],
  },
  TURNPIKE_WORKERS: {
    key: 'workers',
    good: [
      ['1', 1],
      ['64', 64],
    ],
    bad: ['0', '65', '-2', '1.5', 'auto'],
  },
  TURNPIKE_REQUESTS_PER_ADDRESS: {
    key: 'requestsPerAddress',
    good: [
      ['0', 0],
      ['1000', 1000],
      ['100000', 100_000],
    ],
    bad: ['-1', '100001', '1.5', 'none'],
  },
  LOG_LEVEL: {
    key: 'logLevel',
    good: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => [level, level]),
    bad: ['INFO', 'verbose', '30'],
  },
};

test('every variable has examples', () => {
  expect(Object.values(VARIABLES).map(({ name }) => name)).toEqual(Object.keys(VALUES));
});

describe.each(Object.entries(VALUES))('%s', (name, { key, good, bad }) => {
  if (good.length > 0) {
    test.each(good)('accepts %j', (text, value) => {
      expect(readConfig({ [name]: text })).toMatchObject({ [key]: value });
    });
  }
  if (bad.length > 0) {
    test.each(bad)('refuses %j, and names the variable but not the value', (text) => {
      const sentence = errorOf({ [name]: text });
      expect(sentence).toMatch(new RegExp(`^${name} should be .+\\.$`));
      if (text.length > 5) expect(sentence).not.toContain(text);
    });
  }
});

test('a mail server needs a sender, and the other way round', () => {
  const server = { TURNPIKE_SMTP_URL: 'smtps://user:secr%40t@mail.example' };
  const sender = { TURNPIKE_SMTP_FROM: 'receipts@pay.example' };
  const expected = { url: server.TURNPIKE_SMTP_URL, from: sender.TURNPIKE_SMTP_FROM };
  expect(mailAccess(readConfig({ ...server, ...sender }))).toEqual(expected);
  expect(mailAccess(readConfig({}))).toBeUndefined();
  for (const half of [server, sender]) expect(errorOf(half)).toMatch(/^Receipts need .* set both, or none\.$/);
});

test('reports all errors at once, without the values', () => {
  const sentence = errorOf({
    PORT: 'tiger',
    DATABASE_URL: 'mysql://user:hunter2@db.example/x',
    TURNPIKE_MASTER_KEY: 'my-own-key-of-no-size',
    TURNPIKE_ADMIN_TOKEN: 'too-short-token',
  });
  for (const name of ['PORT', 'DATABASE_URL', 'TURNPIKE_MASTER_KEY', 'TURNPIKE_ADMIN_TOKEN']) {
    expect(sentence).toContain(`${name} should be `);
  }
  for (const value of ['tiger', 'hunter2', 'my-own-key', 'too-short']) expect(sentence).not.toContain(value);
});

test('a relative folder becomes absolute', () => {
  expect(isAbsolute(readConfig({ DATA_DIR: 'x/../y' }).dataDir)).toBe(true);
});

test('ignores variables of other programs', () => {
  expect(readConfig({ NODE_ENV: 'production', port: '1' })).toEqual(readConfig({}));
});

describe('production', () => {
  const SAFE = { TURNPIKE_ENV: 'production', TURNPIKE_MASTER_KEY: KEY, PUBLIC_URL: 'https://pay.example' };

  test('starts with a master key and an https address', () => {
    expect(readConfig(SAFE)).toMatchObject({
      environment: 'production',
      masterKey: KEY,
      publicUrl: 'https://pay.example',
    });
  });

  test('does not start without a master key', () => {
    expect(errorOf({ ...SAFE, TURNPIKE_MASTER_KEY: '' })).toContain('Production needs TURNPIKE_MASTER_KEY');
  });

  test.each(['', 'http://pay.example'])('does not start with PUBLIC_URL %j, and does not print the key', (url) => {
    const sentence = errorOf({ ...SAFE, PUBLIC_URL: url });
    expect(sentence).toContain('Production needs PUBLIC_URL');
    expect(sentence).not.toContain(KEY);
  });
});

describe('production and a PostgreSQL', () => {
  const PASSWORD = 'hunter2-and-more';
  const SAFE = { TURNPIKE_ENV: 'production', TURNPIKE_MASTER_KEY: KEY, PUBLIC_URL: 'https://pay.example' };
  const at = (address: string) => ({ ...SAFE, DATABASE_URL: `postgres://turnpike:${PASSWORD}@${address}` });

  test.each([
    'db.example/turnpike',
    'db.example:6432/turnpike?application_name=gateway',
    'db.example/turnpike?sslmode=disable',
    'db.example/turnpike?sslmode=allow',
    'db.example/turnpike?sslmode=prefer',
    'db.example/turnpike?sslmode=no-verify',
    'db.example/turnpike?sslmode=require&sslmode=disable',
    'db.example/turnpike?SSLMODE=require',
    'db.example/turnpike&sslmode=require',
    'db.example/turnpike?application_name=x#&sslmode=require',
    '10.0.0.5/turnpike',
    '[2001:db8::5]/turnpike',
    '127.0.0.1.example/turnpike',
    'localhost.example/turnpike',
    'localhost/turnpike?host=db.example',
    '127.0.0.1/turnpike?host=10.0.0.5',
  ])('on another machine, without TLS: %s is refused with a message that says what to do', (address) => {
    const sentence = errorOf(at(address));
    expect(sentence).toContain('sslmode=verify-full');
    expect(sentence).toContain('TURNPIKE_DATABASE_TLS=off');
    expect(sentence).not.toContain(PASSWORD);
    expect(sentence.match(/\.( |$)/g)).toHaveLength(1);
    expect(readConfig({ ...at(address), TURNPIKE_DATABASE_TLS: 'off' })).toMatchObject({ databaseTls: 'off' });
    expect(readConfig({ ...at(address), TURNPIKE_ENV: 'sandbox' })).toMatchObject({ environment: 'sandbox' });
  });

  test.each(['require', 'verify-ca', 'verify-full'])('on another machine, with sslmode=%s: accepted', (mode) => {
    const { databaseUrl } = readConfig(at(`db.example/turnpike?sslmode=${mode}`));
    expect(databaseUrl).toContain(mode);
    // The installed driver uses TLS and verifies the certificate.
    const { ssl } = new pg.Client({ connectionString: databaseUrl });
    expect(ssl).toEqual({});
  });

  test.each([
    'localhost/turnpike',
    '127.0.0.1:5433/turnpike',
    '127.9.9.9/turnpike',
    '[::1]/turnpike',
    '/turnpike',
    '%2Fvar%2Frun%2Fpostgresql/turnpike',
    'localhost/turnpike?host=/var/run/postgresql',
    'db.example/turnpike?host=%2Fvar%2Frun%2Fpostgresql',
  ])('on this machine: %s is accepted without TLS', (address) => {
    expect(readConfig(at(address))).toMatchObject({ databaseTls: 'required' });
  });

  test('embedded needs no TLS', () => {
    expect(readConfig(SAFE)).toMatchObject({ databaseUrl: '' });
  });

  test('with an address that the driver cannot parse is refused without repeating it', () => {
    const sentence = errorOf(at(`db.example:99999/turnpike`));
    expect(sentence).toContain('DATABASE_URL');
    expect(sentence).not.toContain(PASSWORD);
  });
});

test('trusts only listed proxies, and none by default', () => {
  const isTrusted = trustedProxies({ trustedProxies: ['10.0.0.0/8'] });
  expect(isTrusted('10.1.2.3')).toBe(true);
  expect(isTrusted('11.1.2.3')).toBe(false);
  expect(trustedProxies({ trustedProxies: [] })('127.0.0.1')).toBe(false);
});

const PROVIDER = {
  TURNPIKE_PROVIDER_URL: 'https://provider.example/',
  TURNPIKE_PROVIDER_KEY: 'a key',
  TURNPIKE_PROVIDER_NOTIFICATION_SECRET: KEY,
};

test('a provider needs an address, a key and a secret', () => {
  expect(readConfig(PROVIDER)).toMatchObject({
    providerUrl: 'https://provider.example',
    providerKey: 'a key',
    providerNotificationSecret: KEY,
  });
});

test('the secret of the provider may have its former name, which the new one overrides', () => {
  const { TURNPIKE_PROVIDER_NOTIFICATION_SECRET: _, ...provider } = PROVIDER;
  const former = { ...provider, TURNPIKE_PROVIDER_NEWS_SECRET: OTHER_KEY };
  expect(readConfig(former).providerNotificationSecret).toBe(OTHER_KEY);
  expect(readConfig({ ...PROVIDER, ...former }).providerNotificationSecret).toBe(KEY);
  const bad = errorOf({ ...former, TURNPIKE_PROVIDER_NEWS_SECRET: 'short' });
  expect(bad).toMatch(/^TURNPIKE_PROVIDER_NEWS_SECRET should be/);
  expect(bad).not.toContain('short');
});

describe.each(Object.keys(PROVIDER))('%s', (name) => {
  test.each([
    ['without the other two', { [name]: PROVIDER[name as keyof typeof PROVIDER] }],
    ['missing while the other two are set', { ...PROVIDER, [name]: '' }],
  ])('%s is refused', (_, variables) => {
    expect(errorOf(variables)).toBe(
      'A provider needs TURNPIKE_PROVIDER_URL, TURNPIKE_PROVIDER_KEY and TURNPIKE_PROVIDER_NOTIFICATION_SECRET: set all three, or none.',
    );
  });
});

test('production trusts no further roots of wallets', () => {
  const production = { TURNPIKE_ENV: 'production', TURNPIKE_MASTER_KEY: KEY, PUBLIC_URL: 'https://pay.example' };
  expect(errorOf({ ...production, TURNPIKE_WALLET_ROOTS: 'roots' })).toContain('TURNPIKE_WALLET_ROOTS');
});

test('production calls its provider over https only', () => {
  const production = { TURNPIKE_ENV: 'production', TURNPIKE_MASTER_KEY: KEY, PUBLIC_URL: 'https://pay.example' };
  expect(readConfig({ ...production, ...PROVIDER })).toMatchObject({ providerUrl: 'https://provider.example' });
  expect(errorOf({ ...production, ...PROVIDER, TURNPIKE_PROVIDER_URL: 'http://provider.example' })).toContain(
    'TURNPIKE_PROVIDER_URL to be an https address',
  );
});
