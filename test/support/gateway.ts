/** A gateway for one test file: a fresh database, real HTTP on a free port, and a merchant that signs requests. */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, inject } from 'vitest';
import { startSimulator } from '../../simulator/server.ts';
import type { Connector } from '../../src/connectors/connector.ts';
import type { MailAccess } from '../../src/connectors/mailer.ts';
import type { Gateway } from '../../src/core/context.ts';
import { newMasterKey } from '../../src/lib/crypto/seal.ts';
import { addressList } from '../../src/lib/http/address.ts';
import { createLog } from '../../src/lib/text/log.ts';
import { createApp } from '../../src/server/app.ts';
import { openGateway } from '../../src/server/gateway.ts';
import type { Connection } from '../../src/store/database/database.ts';
import { query, TEMPLATE } from './database.ts';
import { openPool } from './pool.ts';

export type Fields = Record<string, string>;

/** The format of ids and dates on the wire. */
export const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const DATE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/** Polling options for what the provider does asynchronously. */
export const PROVIDER_POLL = { timeout: 20_000 };

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any response body
  body: any;
  headers: Headers;
}

export interface Merchant {
  mid: string;
  client_key: string;
  merchant_key: string;
  password: string;
}

export interface TestGateway {
  url: string;
  gateway: Gateway;
  /** Every line that was logged. */
  logs: string[];
  merchant: Merchant;
  post(fields: Fields, headers?: Fields): Promise<Answer>;
  admin(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  /** The sandbox API, and the address of the provider simulator. */
  sandbox(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  provider: { url: string; key: string; notificationSecret: string } | undefined;
  /** Creates another account with these settings. */
  newMerchant(settings?: Record<string, unknown>): Promise<Merchant>;
  /** Sends a signed SALE with these fields in place of the defaults. */
  sale(fields?: Fields, merchant?: Merchant): Promise<Answer>;
  status(transId: string, merchant?: Merchant): Promise<Answer>;
  advanceClock(seconds: number, mid?: string): Promise<void>;
  /** A payment as the operator sees it, and the names of its history events. */
  inspect(id: string): Promise<Answer['body']>;
  events(id: string): Promise<string[]>;
  rows(sql: string): Promise<Record<string, unknown>[]>;
  /**
   * Opens another gateway over the same database, as a second process would; `reach` overrides the database address.
   */
  anotherGateway(reach?: Connection): Promise<Gateway>;
  /** The connection string of the database. */
  connection: Connection;
  close(): Promise<void>;
}

export const ADMIN_TOKEN = 'a-token-that-is-long-enough-for-the-tests';

/** The hash as a merchant’s code computes it, implemented independently of the gateway. */
export function sign(password: string, ...values: string[]): string {
  const upper = Array.from(values.join('') + password, (c) => (c >= 'a' && c <= 'z' ? c.toUpperCase() : c)).join('');
  const inner = createHash('md5').update(upper).digest('hex');
  return createHash('sha1').update(inner).digest('hex');
}

/** In letters, because a text with many digits is masked as if it contained a card number. */
const PROCESS = String(process.pid).replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));
let orders = 0;
export const newOrderId = (): string => `order-${PROCESS}-${++orders}`;

/** A complete, signed SALE; the given fields replace the defaults and are covered by the hash. */
export function saleFields(merchant: Merchant, fields: Fields = {}): Fields {
  const sale: Fields = {
    action: 'SALE',
    client_key: merchant.client_key,
    brand: 'vcard',
    identifier: 'success@example.com',
    order_id: newOrderId(),
    order_amount: '10.00',
    order_currency: 'USD',
    order_description: 'A test order',
    payer_ip: '203.0.113.7',
    return_url: 'https://shop.example/return',
    ...fields,
  };
  const signed = ['identifier', 'order_id', 'order_amount', 'order_currency'].map((name) => sale[name] ?? '');
  return { ...sale, hash: fields.hash ?? sign(merchant.password, ...signed) };
}

export interface TestOptions {
  /** The sealing keys, when a test has to know them. */
  masterKey?: string;
  environment?: 'sandbox' | 'production';
  trustedProxies?: string[];
  requestsPerAddress?: number;
  logLevel?: string;
  /** Test connectors in place of the real ones. */
  connectors?: Record<string, Connector>;
  /** Another PostgreSQL server than the one of the whole run. */
  server?: Parameters<typeof query>[0];
  /** The address at which the gateway reaches the server, such as a proxy; the test’s own statements go directly. */
  through?: Pick<Connection, 'host' | 'port'>;
  /** A folder with further roots of wallets to trust. */
  walletRoots?: string;
  /** The mail server for receipts. */
  mail?: MailAccess;
  /** Whether to start the provider simulator. */
  simulator?: boolean;
  /** The file of the simulator’s ledger, so that it can be opened again. */
  simulatorFile?: string;
}

/** Settings of further accounts in every gateway; a test that sets them restores the empty list. */
export const neighbours: { settings: readonly Record<string, unknown>[] } = { settings: [] };

export async function startTestGateway(options: TestOptions = {}): Promise<TestGateway> {
  const server = options.server ?? inject('database');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await createDatabase(server, name);
  const logs: string[] = [];
  const log = createLog(options.logLevel ?? 'trace', { write: (line) => void logs.push(line) });
  const connection = { ...server, database: name };
  const masterKey = options.masterKey ?? newMasterKey();
  // The test's own statements; a test may cut connections that they do not use just then.
  const statements = openPool({ ...connection, max: 4, allowExitOnIdle: true });
  const closes: (() => Promise<void>)[] = [];
  const access = { key: 'the key of the provider', notificationSecret: randomBytes(32).toString('base64') };
  const simulator = options.simulator
    ? await startSimulator({
        host: '127.0.0.1',
        port: 0,
        ...access,
        ...(options.simulatorFile === undefined ? {} : { file: options.simulatorFile }),
      })
    : undefined;
  const provider = simulator && { url: simulator.url, ...access };
  const open = async (reach: Connection = { ...connection, ...options.through }): Promise<Gateway> => {
    const { gateway, close } = await openGateway({
      connection: reach,
      environment: options.environment ?? 'sandbox',
      masterKey,
      log,
      provider,
      walletRoots: options.walletRoots,
      mail: options.mail,
    });
    closes.push(close);
    if (options.connectors) gateway.connectors = options.connectors;
    return gateway;
  };
  const gateway = await open();
  const app = createApp(gateway, {
    isTrustedProxy: addressList(options.trustedProxies ?? []),
    takesRequests: true,
    ...(options.requestsPerAddress !== undefined && { requestsPerAddress: options.requestsPerAddress }),
    adminTokenDigest: createHash('sha256').update(ADMIN_TOKEN).digest(),
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  gateway.publicUrl = url;
  gateway.inboundUrl = url;

  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(url + path, init);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
  };
  const asOperator = (path: string, method: string, body: unknown, token: string): Promise<Answer> =>
    send(path, {
      method,
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const self: TestGateway = {
    url,
    provider,
    sandbox: (method, path, body, token = ADMIN_TOKEN) => asOperator(`/sandbox/api${path}`, method, body, token),
    gateway,
    logs,
    merchant: undefined as unknown as Merchant,
    post: (fields, headers = {}) => send('/post', { method: 'POST', body: new URLSearchParams(fields), headers }),
    admin: (method, path, body, token = ADMIN_TOKEN) => asOperator(`/admin/api${path}`, method, body, token),
    async newMerchant(settings = {}) {
      const { status, body } = await self.admin('POST', '/accounts', { name: 'Test Shop', ...settings });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return body;
    },
    sale: (fields, merchant = self.merchant) => self.post(saleFields(merchant, fields)),
    status: (transId, merchant = self.merchant) =>
      self.post({
        action: 'GET_TRANS_STATUS',
        client_key: merchant.client_key,
        trans_id: transId,
        hash: sign(merchant.password, transId),
      }),
    async advanceClock(seconds, mid) {
      const { status, body } = await self.admin('POST', '/clock', { advance_seconds: seconds, mid });
      if (status !== 200) throw new Error(JSON.stringify(body));
    },
    inspect: async (id) => (await self.admin('GET', `/payments/${id}`)).body,
    events: async (id) => (await self.inspect(id)).history.map((row: { event: string }) => row.event),
    async rows(sql) {
      const client = await statements.connect();
      try {
        return (await client.query(sql)).rows;
      } catch (error) {
        // A statement that failed holds its locks until the server takes the next one.
        await client.query('select').catch(() => undefined);
        throw error;
      } finally {
        client.release();
      }
    },
    anotherGateway: open,
    connection,
    async close() {
      await app.close();
      for (const close of closes) await close();
      await simulator?.close();
      await statements.end();
      await query(server, `drop database ${name} with (force)`);
    },
  };
  self.merchant = await self.newMerchant();
  for (const settings of neighbours.settings) await self.newMerchant({ ...settings, confirm_card_data: true });
  return self;
}

/** The gateway of a test file, with an empty database: starts before the first test and stops after the last. */
export function openShop(options?: TestOptions): TestGateway {
  const shop = {} as TestGateway;
  beforeAll(async () => {
    Object.assign(shop, await startTestGateway(options));
  });
  afterAll(() => shop.close?.());
  return shop;
}

/** PostgreSQL refuses concurrent clones of the same template, so cloning is retried. */
async function createDatabase(server: Parameters<typeof query>[0], name: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await query(server, `create database ${name} template ${TEMPLATE} strategy file_copy`);
      return;
    } catch (error) {
      if (tries === 50 || (error as { code?: string }).code !== '55006') throw error;
      await pause(100);
    }
  }
}
