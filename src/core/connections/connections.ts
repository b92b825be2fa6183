/** Connections to providers: creates, changes and deletes them, checks their credentials, opens their connectors. */
import { type CheckResult, type Connector, NotSent } from '../../connectors/connector.ts';
import { DEFINITIONS } from '../../connectors/index.ts';
import { isUuid, newId } from '../../lib/crypto/id.ts';
import { boundTo } from '../../lib/crypto/seal.ts';
import { createCache } from '../../lib/flow/cache.ts';
import { continueWith } from '../../lib/flow/maybe-promise.ts';
import { Deadline } from '../../lib/time/deadline.ts';
import type { ConnectionInput } from '../../rules/connection-input.ts';
import {
  type ConnectorEntry,
  type ConnectorName,
  callsPerSecondOf,
  connectionKey,
  connectorEntry,
  methodsOf,
  modeOf,
  splitConnectionKey,
} from '../../rules/connectors.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { ConnectionChange, ConnectionRow, LockedConnection } from '../../store/connections/connections.ts';
import type { Decision } from '../../store/database/decision.ts';
import { forgetAccounts } from '../accounts/accounts.ts';
import type { Connections, Gateway } from '../context.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';

export type { CheckResult } from '../../connectors/connector.ts';
export type { ConnectionRow } from '../../store/connections/connections.ts';

/** The table entry of a connector that this version can connect to. */
export const connectableEntry = (name: unknown): ConnectorEntry | undefined =>
  typeof name === 'string' && Object.hasOwn(DEFINITIONS, name) ? connectorEntry(name) : undefined;

export const CONNECTABLE = Object.keys(DEFINITIONS) as ConnectorName[];

const bound = (connectionId: string): string => boundTo('connections', 'credentials', connectionId);

const sealCredentials = ({ seal }: Pick<Gateway, 'seal'>, connectionId: string, credentials: object): Buffer =>
  seal.seal(JSON.stringify(credentials), bound(connectionId));

const openCredentials = (
  { seal }: Pick<Gateway, 'seal'>,
  { connectionId, credentials }: ConnectionRow,
): Record<string, string> => JSON.parse(seal.open(credentials, bound(connectionId)));

/** Whether the caller may see a connection: a restricted caller sees those that belong to its accounts alone. */
export const seesConnection = ({ mids }: Pick<Principal, 'mids'>, connection: Pick<ConnectionRow, 'mids'>): boolean =>
  mids === null || (connection.mids?.every((mid) => mids.includes(mid)) ?? false);

export const listConnections = (gateway: Gateway, { mids }: Pick<Principal, 'mids'>): Promise<ConnectionRow[]> =>
  gateway.connectionStore.list(mids);

export async function findConnection(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  connectionId: string,
): Promise<ConnectionRow> {
  const row = await gateway.connectionStore.find(connectionId);
  if (!row || row.deletedAt !== null || !seesConnection(principal, row)) throw new Refusal('noSuchConnection');
  return row;
}

/** Refuses accounts that do not exist or that the caller may not see; a restricted caller has to name its accounts. */
async function checkAccounts(gateway: Gateway, principal: Principal, mids: string[] | null): Promise<void> {
  if (mids === null) {
    if (principal.mids !== null) throw invalidField('mids', SENTENCES.blank);
    return;
  }
  for (const mid of mids)
    if (!sees(principal, mid) || !(await gateway.accounts.find(mid))) throw invalidField('mids', SENTENCES.notAChoice);
}

/** What the audit log records of a connection; of credentials only which were set. */
const audited = ({ credentials, ...input }: ConnectionInput): Record<string, unknown> => ({
  ...input,
  ...(credentials && { credentials: Object.fromEntries(Object.keys(credentials).map((name) => [name, '***'])) }),
});

/** A connection that was saved, whatever the provider says, and the result of its check if one was made. */
export interface SavedConnection {
  row: ConnectionRow;
  check?: CheckResult;
}

const checkSaved = async (gateway: Gateway, row: ConnectionRow): Promise<Required<SavedConnection>> => {
  const check = await checkConnection(gateway, row);
  return { row: { ...row, activeMethods: check.activeMethods?.slice() ?? row.activeMethods }, check };
};

/** When the active methods of a connection are to be read, if its check does not do so before. */
const methodsDueAt = (connector: string, now: number): number | null =>
  connectorEntry(connector)?.listsMethods ? now : null;

/** Creates a connection, and checks its credentials once it is saved. */
export async function createConnection(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  connector: ConnectorName,
  input: ConnectionInput,
): Promise<Required<SavedConnection>> {
  const { name = '', mids = null, credentials = {}, settings = {} } = input;
  await checkAccounts(gateway, principal, mids);
  const connectionId = newId();
  const now = gateway.clock.real();
  const row: ConnectionRow = {
    connectionId,
    connector,
    name,
    mids,
    credentials: sealCredentials(gateway, connectionId, credentials),
    settings,
    activeMethods: null,
    methodsDueAt: methodsDueAt(connector, now),
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  const after = { connector, ...audited({ name, mids, credentials, settings }) };
  await gateway.connectionStore.insert(
    row,
    auditEntry(gateway, by, 'connections.create', { subject: connectionId, after }),
  );
  forgetConnections(gateway);
  gateway.log.info({ connection_id: connectionId, connector }, 'connection created');
  return checkSaved(gateway, row);
}

/** The time of a change. It differs from that of the change before, by which processes notice that a connection changed. */
const changeTime = ({ clock }: Gateway, { updatedAt }: ConnectionRow): number => Math.max(clock.real(), updatedAt + 1);

/** Changes a connection that the caller may see. */
async function change(
  gateway: Gateway,
  principal: Principal,
  connectionId: string,
  decide: (row: LockedConnection) => Decision<Omit<ConnectionChange, 'updatedAt'>>,
): Promise<ConnectionRow> {
  const changed = await gateway.connectionStore.change(connectionId, (row) => {
    if (!seesConnection(principal, row)) throw new Refusal('noSuchConnection');
    const decision = decide(row);
    return { ...decision, change: { ...decision.change, updatedAt: changeTime(gateway, row) } };
  });
  forgetConnections(gateway);
  if (!changed) throw new Refusal('noSuchConnection');
  return changed;
}

/**
 * Changes what was sent; credentials that were not sent stay, and `settings` replaces all settings. Once they are saved,
 * new credentials or settings are checked.
 */
export async function changeConnection(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  connectionId: string,
  input: ConnectionInput,
): Promise<SavedConnection> {
  const { name, mids, credentials, settings } = input;
  if (mids !== undefined) await checkAccounts(gateway, principal, mids);
  const changed = await change(gateway, principal, connectionId, (row) => {
    const sealed =
      credentials && sealCredentials(gateway, connectionId, { ...openCredentials(gateway, row), ...credentials });
    const before = Object.fromEntries(
      (['name', 'mids', 'settings'] as const)
        .filter((member) => input[member] !== undefined)
        .map((member) => [member, row[member]]),
    );
    return {
      change: {
        ...{ name, mids, credentials: sealed, settings },
        // Of other credentials, or at another address, nothing is known yet.
        ...((sealed || settings) && {
          activeMethods: null,
          methodsDueAt: methodsDueAt(row.connector, gateway.clock.real()),
        }),
      },
      audit: auditEntry(gateway, by, 'connections.change', { subject: connectionId, before, after: audited(input) }),
    };
  });
  if (!credentials && !settings) return { row: changed };
  return checkSaved(gateway, changed);
}

/** Deletes a connection that no route uses. Its payments can still be queried and refunded. */
export async function deleteConnection(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  connectionId: string,
): Promise<void> {
  await change(gateway, principal, connectionId, ({ isInUse }) => {
    if (isInUse) throw new Refusal('connectionInUse');
    const audit = auditEntry(gateway, by, 'connections.delete', { subject: connectionId });
    return { change: { deletedAt: gateway.clock.real() }, audit };
  });
}

/**
 * Makes a harmless call with the credentials; the answer counts for the health of the connection. Stores which methods are
 * active, if the provider says so.
 */
export async function checkConnection(gateway: Gateway, row: ConnectionRow): Promise<CheckResult> {
  const key = connectionKey(row.connector, row.connectionId);
  const deadline = new Deadline(LIMITS.outcomeTimeoutMs);
  try {
    const connector = await gateway.connections.connector(key);
    if (!connector?.check) return { ok: true, detail: 'The connector has no check.' };
    const result = await connector.check(deadline);
    if (result.ok) gateway.health.answered(key);
    if (result.activeMethods) {
      await gateway.connectionStore.noteMethods(row, result.activeMethods, gateway.clock.real() + LIMITS.dayMs);
      forgetConnections(gateway);
    }
    return result;
  } catch (error) {
    gateway.log.warn({ err: error, connection_id: row.connectionId }, 'check of a connection failed');
    const detail =
      error instanceof NotSent
        ? 'The provider could not be reached, or took no further calls.'
        : 'The provider did not answer as expected.';
    return { ok: false, detail };
  } finally {
    deadline.clear();
  }
}

/** Reads once a day which methods are active at each provider that says so; after a failure, the list before stays. */
export async function checkDueMethods(gateway: Gateway, isStopped: () => boolean): Promise<void> {
  while (!isStopped()) {
    const now = gateway.clock.real();
    const row = await gateway.connectionStore.claimDueMethods(now, now + LIMITS.hourMs);
    if (!row) return;
    await checkConnection(gateway, row);
  }
}

/** Those of the connections that production must not route payments to: their providers only simulate payments. */
export async function simulatedAmong(gateway: Gateway, rows: readonly ConnectionRow[]): Promise<ConnectionRow[]> {
  if (gateway.environment !== 'production') return [];
  // A connector with hosts of its own calls no other ones in production.
  const anywhere = rows.filter(({ connector }) => connectorEntry(connector)?.hosts === undefined);
  const results = await Promise.all(anywhere.map((row) => checkConnection(gateway, row)));
  return anywhere.filter((_, index) => results[index]?.isSimulated);
}

/** A connection as the admin API and the panel show it; credentials are write-only. */
export function connectionView(gateway: Gateway, row: ConnectionRow) {
  const { connectionId, connector, name, mids, settings, activeMethods, createdAt, updatedAt } = row;
  const key = connectionKey(connector, connectionId);
  const entry = connectorEntry(connector);
  const methods = methodsOf(connector, settings, activeMethods);
  const opened = openCredentials(gateway, row);
  return {
    connectionId,
    connector,
    name,
    mids,
    mode: entry ? modeOf(entry, (credential) => opened[credential] ?? '') : null,
    credentials: Object.fromEntries(
      (entry?.credentials ?? []).map((field) => [field.name, opened[field.name] ? 'set' : '']),
    ),
    settings,
    methods,
    inactiveMethods: Object.keys(methodsOf(connector, settings)).filter((brand) => !Object.hasOwn(methods, brand)),
    activeMethods,
    notificationUrl: `${gateway.inboundUrl}/inbound/${key}`,
    health: gateway.health.of(key),
    createdAt,
    updatedAt,
  };
}

export type ConnectionView = ReturnType<typeof connectionView>;

/** Another process, or this one, changed a connection. */
export function forgetConnections(gateway: Gateway): void {
  gateway.connections.forget();
  // Accounts are cached together with the connections of their routes.
  forgetAccounts(gateway);
}

interface OpenConnection {
  updatedAt: number;
  connector: Connector;
  methods: Readonly<Record<string, string>>;
}

/** Calls that are in flight when a connection changes have ended by then. */
const CLOSE_AFTER_MS = 2 * LIMITS.providerTimeoutMs;

/** Opens each connection once, and again after it has changed. `isLive` is as for the cache of accounts. */
export function createConnections(
  gateway: Pick<Gateway, 'connectionStore' | 'seal' | 'environment'>,
  isLive: () => boolean,
): Connections {
  const rows = createCache<ConnectionRow>({
    maxEntries: LIMITS.accountsRemembered,
    maxAgeMs: LIMITS.accountAgeMs,
    maxMissAgeMs: LIMITS.accountMissAgeMs,
    isUsable: isLive,
  });
  const open = new Map<string, OpenConnection>();

  const openConnection = (key: string, row: ConnectionRow): OpenConnection | undefined => {
    const known = open.get(key);
    if (known?.updatedAt === row.updatedAt) return known;
    if (known) setTimeout(() => void known.connector.close?.(), CLOSE_AFTER_MS).unref();
    const definition = DEFINITIONS[row.connector as ConnectorName];
    if (!definition) return undefined;
    const credentials = openCredentials(gateway, row);
    const connector = definition.create({
      credential: (name) => credentials[name] ?? '',
      settings: row.settings,
      apiBase: gateway.environment === 'sandbox' ? (row.settings.api_base as string | undefined) : undefined,
      environment: gateway.environment,
      callsPerSecond: callsPerSecondOf(row.connector, row.settings, gateway.environment),
    });
    const opened = { updatedAt: row.updatedAt, connector, methods: methodsOf(row.connector, row.settings) };
    open.set(key, opened);
    return opened;
  };

  return {
    connector(key) {
      const { connector, connectionId } = splitConnectionKey(key);
      if (connectionId === null || !isUuid(connectionId)) return undefined;
      return continueWith(
        rows.get(connectionId, () => gateway.connectionStore.find(connectionId)),
        (row) => (row?.connector === connector ? openConnection(key, row)?.connector : undefined),
      );
    },
    capabilities: (connector) => DEFINITIONS[connector as ConnectorName]?.capabilities,
    methodOf: (key, brand) => open.get(key)?.methods[brand],
    forget: () => rows.forget(),
    async close() {
      await Promise.all([...open.values()].map(({ connector }) => connector.close?.()));
    },
  };
}
