/** The commands `connection` and `routes`: connections to providers, and the routes of an account, without the panel. */
import type { Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { findAccount } from '../core/accounts.ts';
import {
  checkConnection,
  connectableEntry,
  connectionView,
  createConnection,
  findConnection,
  listConnections,
} from '../core/connections.ts';
import type { Gateway } from '../core/context.ts';
import { commandCaller, type Principal } from '../core/principal.ts';
import { changeRoutes } from '../core/routes.ts';
import { isUuid } from '../lib/id.ts';
import { isObject } from '../lib/json.ts';
import { StartupError } from '../lib/startup-error.ts';
import { CONNECTORS, type ConnectorName, readConnection } from '../rules/connectors.ts';
import { type Problem, Refusal } from '../rules/errors.ts';
import { readRoutes, routeView } from '../rules/routes.ts';

/** A command on the machine itself may do everything. */
const SYSTEM: Principal = { kind: 'token', id: null, name: 'turnpike', role: 'owner', mids: null };

const refuse = (problems: readonly Problem[]): StartupError =>
  new StartupError(problems.map(({ field, sentence }) => `${field}: ${sentence}`).join('\n'));

/** Credentials come from standard input: arguments are visible to other users of the machine. */
async function readJson(input: Readable): Promise<unknown> {
  try {
    return JSON.parse(await readAll(input));
  } catch {
    throw new StartupError('Standard input should be JSON.');
  }
}

const USAGE =
  'Say what to do: connection list, connection check <connection_id>, or connection add < connection.json, where the ' +
  `file has connector (${Object.keys(CONNECTORS).join(', ')}), name, mids, credentials and settings.`;

export async function runConnection(
  gateway: Gateway,
  [verb, id = '', ...more]: readonly string[],
  input: Readable = process.stdin,
): Promise<string> {
  if (verb === 'list' && id === '') return listed(gateway);
  if (verb === 'add' && id === '') return added(gateway, input);
  if (verb !== 'check' || !isUuid(id) || more.length > 0) throw new StartupError(USAGE);
  const { ok, detail } = await checkConnection(gateway, await findConnection(gateway, SYSTEM, id.toLowerCase()));
  if (!ok) process.exitCode = 1;
  return detail;
}

async function listed(gateway: Gateway): Promise<string> {
  const rows = (await listConnections(gateway, SYSTEM)).map((row) => connectionView(gateway, row));
  if (rows.length === 0) return 'There are no connections.';
  return rows
    .map(({ connectionId, connector, mode, name }) => [connectionId, connector, mode ?? '-', name].join('  '))
    .join('\n');
}

async function added(gateway: Gateway, from: Readable): Promise<string> {
  const sent = await readJson(from);
  const { connector, ...rest } = isObject(sent) ? sent : {};
  const entry = connectableEntry(connector);
  if (!entry) throw new StartupError(USAGE);
  const { input, problems } = readConnection(entry, rest, gateway.environment, false);
  if (problems.length > 0) throw refuse(problems);
  const by = commandCaller('connection add');
  const row = await createConnection(gateway, SYSTEM, by, connector as ConnectorName, input).catch(explain);
  const { pathname } = new URL(connectionView(gateway, row).notificationUrl, 'http://localhost');
  return `connection_id      ${row.connectionId}\nnotification_path  ${pathname}`;
}

function explain(error: unknown): never {
  throw error instanceof Refusal && error.problems.length > 0 ? refuse(error.problems) : error;
}

export async function runRoutes(
  gateway: Gateway,
  [mid = '', verb, ...more]: readonly string[],
  input: Readable = process.stdin,
): Promise<string> {
  const isKnown = verb === undefined || verb === 'set';
  if (!isUuid(mid) || !isKnown || more.length > 0) {
    throw new StartupError(
      'Say the account: routes <mid> prints its routes, routes <mid> set < routes.json sets them.',
    );
  }
  const account = await findAccount(gateway, mid.toLowerCase());
  if (!account) throw new StartupError(`There is no account ${mid}.`);
  if (verb === undefined) return JSON.stringify(account.routes.map(routeView), null, 2);
  const { routes, problems } = readRoutes(await readJson(input));
  if (problems.length > 0) throw refuse(problems);
  await changeRoutes(gateway, SYSTEM, commandCaller('routes set'), account, routes).catch(explain);
  return `The account has ${routes.length} routes.`;
}
