/** What altered requests are sent to: a gateway process with its database and provider, and what it has shown so far. */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startSession } from '../../src/core/operators/sessions.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { createLog } from '../../src/lib/text/log.ts';
import { isMerchantRole, ROLES, type Role } from '../../src/rules/roles.ts';
import { openGateway } from '../../src/server/gateway.ts';
import { startEmbedded } from '../../src/store/embedded/embedded.ts';
import { startProgram } from '../chaos/program.ts';
import { freePort } from '../support/free-port.ts';
import type { TestGateway } from '../support/gateway.ts';
import { COOKIE, signedIn } from '../support/operators.ts';
import { textSearch } from '../support/text-search.ts';
import { weighted } from './drafts.ts';
import { learnPage, matcherOf } from './learn.ts';
import type { Account, Route, World } from './model.ts';
import { routesOf } from './routes.ts';
import { PLANTED } from './samples.ts';

const FLAGS = ['--max-semi-space-size=32', '--expose-gc', '--import', join(import.meta.dirname, 'collect.ts')];

export async function createWorld(): Promise<World> {
  const folder = await fs.realpath(await fs.mkdtemp(join(tmpdir(), 'turnpike-fuzz-')));
  await fs.chmod(folder, 0o755);
  const database = await startEmbedded({ folder: join(folder, 'postgres') });
  const [port, simulatorPort] = await Promise.all([freePort(), freePort()]);
  const secret = (): string => randomBytes(32).toString('base64');
  const [key, notificationSecret, adminToken, masterKey] = [secret(), secret(), secret(), secret()];
  const access = { SIMULATOR_KEY: key, SIMULATOR_NOTIFICATION_SECRET: notificationSecret };
  const simulatorVariables = () => ({ SIMULATOR_PORT: String(simulatorPort), ...access });
  const simulator = startProgram('simulator', 'simulator/main.ts', simulatorVariables, folder);
  const { host, user, database: name } = database.connection;
  const variables = () => ({
    PORT: String(port),
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}`,
    TURNPIKE_MASTER_KEY: masterKey,
    TURNPIKE_ADMIN_TOKEN: adminToken,
    TURNPIKE_PROVIDER_URL: `http://127.0.0.1:${simulatorPort}`,
    TURNPIKE_PROVIDER_KEY: key,
    TURNPIKE_PROVIDER_NOTIFICATION_SECRET: notificationSecret,
    LOG_LEVEL: 'debug',
  });
  const gateway = startProgram('gateway', 'src/cli/main.ts', variables, folder, { flags: FLAGS });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(url);

  const call = async <Answer>(path: string, body: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/admin/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()) as Answer;
  };
  const newAccount = () =>
    call<Account>('/accounts', { name: 'Fuzz', requests_per_second: 0, account_uuid: crypto.randomUUID() });
  const [account, other] = [await newAccount(), await newAccount()];
  const midsOf = (role: Role): string[] | null => (isMerchantRole(role) ? [account.mid, other.mid] : null);
  const issued = await Promise.all(
    ROLES.map((role) => call<{ token_id: string; token: string }>('/tokens', { name: role, role, mids: midsOf(role) })),
  );
  const tokens = issued.map(({ token }) => token);

  // A gateway of our own over the same database, which takes no requests: it signs operators in.
  const environment = 'sandbox' as const;
  const log = createLog('silent', { write: () => undefined });
  const side = await openGateway({ connection: database.connection, environment, masterKey, log });
  const routes = await routesOf(side.gateway);
  const world: World = {
    host: '127.0.0.1',
    port,
    simulator: { port: simulatorPort, key },
    routes: weighted(routes),
    routeOf: matcherOf(routes),
    tokens: [adminToken, adminToken, adminToken, ...tokens],
    sessions: new Map(),
    async renew(role) {
      const shop = { gateway: side.gateway, url } as TestGateway;
      const former = await side.gateway.operators.find(world.sessions.get(role)?.operatorId ?? newId());
      // The same operator, unless a request has changed it: the list of operators would become long.
      const isSame = former?.role === role && former.state === 'active';
      const { operatorId, cookie } = isSame
        ? { ...former, cookie: await startSession(side.gateway, former, '127.0.0.1', 'a test') }
        : await signedIn(shop, role, midsOf(role));
      const headers = { cookie: `${COOKIE}=${cookie}` };
      const page = await (await fetch(`${url}/admin/me`, { headers })).text();
      const formToken = /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? '';
      world.sessions.set(role, { operatorId, cookie, formToken });
      world.secrets.add(cookie);
    },
    notificationSecret,
    account,
    other,
    untouched: new Set([account.mid, ...issued.map(({ token_id }) => token_id)]),
    known: new Map([['mid', [other.mid]]]),
    forms: new Map(),
    secrets: textSearch([adminToken, account.password, key, notificationSecret, masterKey, PLANTED, ...tokens]),
    folders: [folder, join(import.meta.dirname, '../..')],
    gateway,
    logFile: join(folder, 'gateway.log'),
    memory: async () => Number(await gateway.ask('memory')),
    async close() {
      await side.close();
      await Promise.all([gateway.close(), simulator.close()]);
      await database.stop();
      await fs.rm(folder, { recursive: true, force: true });
    },
  };
  for (const role of ROLES) await world.renew(role);
  await readPages(url, world, routes);
  return world;
}

/** Reads the pages that have no parameters, as an owner, so that links and forms are known from the first request on. */
async function readPages(url: string, world: World, routes: readonly Route[]): Promise<void> {
  const headers = { cookie: `${COOKIE}=${world.sessions.get('owner')?.cookie}` };
  const isPage = ({ server, method, path }: Route): boolean =>
    server === 'gateway' &&
    method === 'GET' &&
    !/[:*]|\.(csv|json)$|^\/(admin\/api|sandbox\/api|health|metrics)/.test(path);
  for (const { path } of routes.filter(isPage)) {
    const response = await fetch(url + path, { headers, redirect: 'manual' });
    learnPage(world, await response.text(), path);
  }
}

async function untilReady(url: string): Promise<void> {
  for (let left = 1500; ; left--) {
    const isReady = await fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    if (left === 0) throw new Error('The gateway did not start.');
    await pause(200);
  }
}
