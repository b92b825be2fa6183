/** A database of one size under measurement: its gateway, its active accounts, and the CPU time and buffers that it uses. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Gateway } from '../src/core/context.ts';
import { newSecret } from '../src/lib/crypto/id.ts';
import { boundTo } from '../src/lib/crypto/seal.ts';
import { createLog } from '../src/lib/text/log.ts';
import { openGateway } from '../src/server/gateway.ts';
import { accountId, type Size } from './generate.ts';
import { adminToken, type Merchant, progress, type Server, startServer } from './harness.ts';
import { prepareDatabase, signIn } from './prepared.ts';

/** The accounts that requests are made for: as many at every size, spread over all accounts. */
export const ACTIVE = 200;

export type ActiveMerchant = Pick<Merchant, 'mid' | 'client_key' | 'password'>;

export interface Site {
  size: number;
  server: Server;
  /** The same database, for statements of the work loop. */
  gateway: Gateway;
  client: pg.Client;
  merchants: ActiveMerchant[];
  headers: Record<string, string>;
  /** The payments that `SALE` made, by which the other requests find them. */
  sales: { merchant: ActiveMerchant; order: string; id: string }[];
  authorised: { merchant: ActiveMerchant; id: string }[];
  stop(): Promise<void>;
}

const SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'all',
  'pg_stat_statements.track_utility': 'off',
  shared_buffers: process.env.BENCH_SHARED_BUFFERS ?? '256MB',
};

export async function openSite(folder: string, size: Size): Promise<Site> {
  const { database, masterKey } = await prepareDatabase(join(folder, String(size.payments)), size, SETTINGS);
  const { connection } = database;
  const client = new pg.Client(connection);
  await client.connect();
  await client.query('create extension if not exists pg_stat_statements');
  const log = createLog('silent', { write: () => undefined });
  const { gateway, close } = await openGateway({ connection, environment: 'sandbox', masterKey, log });
  const merchants = await activate(gateway, client, size.accounts);
  const cookie = await signIn(gateway);
  const server = await startServer('requests', {}, { connection, masterKey });
  progress(`${size.payments.toLocaleString('en')} payments: ready`);
  return {
    size: size.payments,
    server,
    gateway,
    client,
    merchants,
    headers: { cookie: `__Host-turnpike_session=${cookie}`, authorization: `Bearer ${adminToken}` },
    sales: [],
    authorised: [],
    async stop() {
      await server.stop();
      await close();
      await client.end();
      await database.stop();
    },
  };
}

/** Gives some accounts a password, and takes their callback address away, so that nothing is delivered. */
async function activate(gateway: Gateway, client: pg.Client, accounts: number): Promise<ActiveMerchant[]> {
  const numbers = Array.from({ length: ACTIVE }, (_, index) => Math.floor((index * accounts) / ACTIVE));
  const merchants: ActiveMerchant[] = [];
  for (const number of numbers) {
    const mid = accountId(number);
    const password = newSecret();
    const sealed = (column: string): Buffer => gateway.seal.seal(password, boundTo('accounts', column, mid));
    await client.query(
      `update accounts set password = $2, callback_secret = $3, settings = '{"requests_per_second": 0}' where mid = $1`,
      [mid, sealed('password'), sealed('callback_secret')],
    );
    merchants.push({ mid, client_key: `test_c${number}`, password });
  }
  return merchants;
}

/** The CPU time of the backends that serve this database, in seconds. */
export async function databaseCpu({ client }: Site): Promise<number> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  const times = await Promise.all(
    rows.map(async ({ pid }) =>
      Number((await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0')).split(' ')[0]),
    ),
  );
  return times.reduce((sum, time) => sum + time, 0) / 1e9;
}

/** The buffers that all statements of this database have read since the counters were set to zero, in memory or not. */
export interface StatementBuffers {
  text: string;
  calls: number;
  buffers: number;
}

export async function statementBuffers({ client }: Site): Promise<StatementBuffers[]> {
  const { rows } = await client.query<StatementBuffers>(
    `select query as text, sum(calls)::float8 as calls, sum(shared_blks_hit + shared_blks_read)::float8 as buffers
     from pg_stat_statements
     where query !~ 'pg_stat_statements|pg_stat_activity|setup' and dbid = (select oid from pg_database where datname = current_database())
     group by query`,
  );
  return rows;
}

export const resetBuffers = ({ client }: Site): Promise<unknown> => client.query('select pg_stat_statements_reset()');
