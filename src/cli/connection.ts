/** The commands `connection` and `routes`: connections to providers, and the routes of an account, without the panel. */
import type { Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { findAccount } from '../core/accounts/accounts.ts';
import {
  checkConnection,
  connectableEntry,
  connectionView,
  createConnection,
  findConnection,
  listConnections,
} from '../core/connections/connections.ts';
import { changeRoutes } from '../core/connections/routes.ts';
import type { Account, Gateway } from '../core/context.ts';
import { commandCaller, type Principal } from '../core/operators/principal.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import { isObject } from '../lib/text/json.ts';
import { readConnection } from '../rules/connection-input.ts';
import { CONNECTORS, type ConnectorName } from '../rules/connectors.ts';
import { type Problem, Refusal } from '../rules/errors.ts';
import { readRoutes, routeView } from '../rules/routes.ts';
import { columns, members } from './output.ts';

/** A command on the machine itself may do everything. */
export const SYSTEM: Principal = {
  kind: 'token',
  id: null,
  name: 'turnpike',
  role: 'owner',
  mids: null,
  refundLimit: null,
};

export const refuse = (problems: readonly Problem[]): StartupError =>
  new StartupError(problems.map(({ field, sentence }) => `${field}: ${sentence}`).join('\n'));

/** Credentials come from standard input: arguments are visible to other users of the machine. */
export async function readJson(input: Readable): Promise<unknown> {
  try {
    return JSON.parse(await readAll(input));
  } catch {
    throw new StartupError('Standard input should be JSON.');
  }
}

/** The result of a command, as JSON and as text. */
export interface CommandResult {
  value: unknown;
  text: string;
  hasFailed?: boolean;
}

export async function checkedConnection(gateway: Gateway, id: string): Promise<CommandResult> {
  const found = await findConnection(gateway, SYSTEM, id.toLowerCase()).catch(explain);
  const { ok, detail } = await checkConnection(gateway, found);
  return { value: { ok, detail }, text: detail, hasFailed: !ok };
}

export async function listedConnections(gateway: Gateway): Promise<CommandResult> {
  const items = (await listConnections(gateway, SYSTEM))
    .map((row) => connectionView(gateway, row))
    .map(({ connectionId, connector, mode, name }) => ({ connection_id: connectionId, connector, mode, name }));
  const text = columns(items.map(({ mode, ...item }) => [item.connection_id, item.connector, mode ?? '-', item.name]));
  return { value: { items }, text: text || 'There are no connections.' };
}

export async function addedConnection(gateway: Gateway, from: Readable): Promise<CommandResult> {
  const sent = await readJson(from);
  const { connector, ...rest } = isObject(sent) ? sent : {};
  const entry = connectableEntry(connector);
  if (!entry) {
    throw new StartupError(`connector: This value should be one of ${Object.keys(CONNECTORS).join(', ')}.`);
  }
  const { input, problems } = readConnection(entry, rest, gateway.environment, false);
  if (problems.length > 0) throw refuse(problems);
  const by = commandCaller('connection add');
  const { row, check } = await createConnection(gateway, SYSTEM, by, connector as ConnectorName, input).catch(explain);
  const { pathname } = new URL(connectionView(gateway, row).notificationUrl, 'http://localhost');
  const value = { connection_id: row.connectionId, notification_path: pathname };
  const { ok, detail } = check;
  const checked = `${ok ? 'The check succeeded.' : 'The connection is saved, but its check failed.'} ${detail}`;
  return { value: { ...value, check: { ok, detail } }, text: `${members(value)}\n${checked}` };
}

/** A refusal of the core as a sentence. */
export function explain(error: unknown): never {
  if (!(error instanceof Refusal)) throw error;
  throw error.problems.length > 0 ? refuse(error.problems) : new StartupError(error.message);
}

export async function requireAccount(gateway: Gateway, mid: string): Promise<Account> {
  const account = await findAccount(gateway, mid.toLowerCase());
  if (!account) throw new StartupError(`There is no account ${mid}.`);
  return account;
}

export async function listedRoutes(gateway: Gateway, mid: string): Promise<CommandResult> {
  const value = (await requireAccount(gateway, mid)).routes.map(routeView);
  return { value, text: JSON.stringify(value, null, 2) };
}

export async function replacedRoutes(gateway: Gateway, mid: string, input: Readable): Promise<CommandResult> {
  const account = await requireAccount(gateway, mid);
  const { routes, problems } = readRoutes(await readJson(input));
  if (problems.length > 0) throw refuse(problems);
  await changeRoutes(gateway, SYSTEM, commandCaller('routes set'), account, routes).catch(explain);
  return { value: { routes: routes.length }, text: `The account has ${routes.length} routes.` };
}
