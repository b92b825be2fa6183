/** Merchant accounts: creates, finds, lists and changes them, and rotates their secrets. */

import { newId, newSecret } from '../../lib/crypto/id.ts';
import { boundTo } from '../../lib/crypto/seal.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import { unpooled } from '../../lib/crypto/unpooled.ts';
import { type Cache, createCache } from '../../lib/flow/cache.ts';
import { within } from '../../lib/flow/faults.ts';
import type { MaybePromise } from '../../lib/flow/maybe-promise.ts';
import { addressList } from '../../lib/http/address.ts';
import {
  allowsTelephoneOrders,
  asksForCard,
  connectionKey,
  methodsOf,
  needsOf,
  passesTokens,
  tokenRecipientOf,
} from '../../rules/connectors.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Route } from '../../rules/routes.ts';
import { completeSettings } from '../../rules/settings.ts';
import type { AccountRow, AccountSecret, Environment } from '../../store/accounts/accounts.ts';
import type { ConnectionRow } from '../../store/connections/connections.ts';
import type { Account, AccountRoute, Gateway } from '../context.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';
import { restartVolumes } from '../risk/volume.ts';
import { openSecrets, sealSettings, settingProblems } from './secret-settings.ts';

/** Keys tell their environment by their prefix. */
export const KEY_PREFIXES: Readonly<Record<Environment, string>> = { sandbox: 'test_', production: 'live_' };

/** The environment of a key, by its prefix. */
export function environmentOfKey(key: string): Environment | undefined {
  return (Object.keys(KEY_PREFIXES) as Environment[]).find((environment) => key.startsWith(KEY_PREFIXES[environment]));
}

const COLUMNS: Readonly<Record<AccountSecret, string>> = { password: 'password', callbackSecret: 'callback_secret' };

/** Generates a secret of each kind, in the form that the merchant gets. */
const NEW_SECRET: Readonly<Record<AccountSecret, () => string>> = {
  password: newSecret,
  callbackSecret: () => `whsec_${Buffer.from(newSecret(24), 'hex').toString('base64')}`,
};

const bound = (column: string, mid: string): string => boundTo('accounts', column, mid);

function accountOf(gateway: Gateway, found: AccountRow, connections: readonly ConnectionRow[] = []): Account {
  const { mid } = found;
  const row: AccountRow = {
    ...found,
    password: unpooled(found.password),
    previousPassword: found.previousPassword && unpooled(found.previousPassword),
    callbackSecret: unpooled(found.callbackSecret),
    previousCallbackSecret: found.previousCallbackSecret && unpooled(found.previousCallbackSecret),
  };
  const settings = completeSettings(row.settings, gateway.environment);
  /** Decrypted on first use, so that a secret that cannot be decrypted affects only the requests that need it. */
  const secrets = (name: AccountSecret, sealed: Buffer, previous: Buffer | null, until: number | null) => {
    const opened: Secret[] = [];
    return (): readonly string[] => {
      const isOverlap = previous !== null && gateway.clock.now(mid) < (until as number);
      return (isOverlap ? [sealed, previous] : [sealed]).map((value, index) => {
        opened[index] ??= new Secret(gateway.seal.open(value, bound(COLUMNS[name], mid)));
        return opened[index].reveal();
      });
    };
  };
  const expiredPassword = (): string | undefined => {
    const { previousPassword, previousPasswordUntil } = row;
    const isExpired = previousPassword !== null && gateway.clock.now(mid) >= (previousPasswordUntil as number);
    return isExpired ? gateway.seal.open(previousPassword, bound(COLUMNS.password, mid)) : undefined;
  };
  const isListed = settings.ip_allowlist.length > 0 ? addressList(settings.ip_allowlist) : () => true;
  return {
    mid,
    name: row.name,
    clientKey: row.clientKey,
    merchantKey: row.merchantKey,
    settings,
    createdAt: row.createdAt,
    isSuspended: row.suspendedAt !== null,
    passwords: secrets('password', row.password, row.previousPassword, row.previousPasswordUntil),
    expiredPassword,
    callbackSecrets: secrets(
      'callbackSecret',
      row.callbackSecret,
      row.previousCallbackSecret,
      row.previousCallbackSecretUntil,
    ),
    isAddressAllowed: isListed,
    routes: row.routes.map((route) => withConnection(route, connections)),
  };
}

function withConnection(route: Route, connections: readonly ConnectionRow[]): AccountRoute {
  const row = connections.find(({ connectionId }) => connectionId === route.connectionId);
  if (!row) return route;
  const { connector, name, settings, connectionId, activeMethods } = row;
  const key = connectionKey(connector, connectionId);
  const methods = methodsOf(connector, settings, activeMethods);
  const needs = needsOf(connector, settings);
  return {
    ...route,
    connection: {
      ...{ key, name, connector, methods, needs },
      passesTokens: passesTokens(connector),
      tokenRecipient: tokenRecipientOf(connector, settings),
      asksForCard: asksForCard(connector, settings),
      allowsTelephoneOrders: allowsTelephoneOrders(connector, settings),
    },
  };
}

/** The connections of an account's routes that it may use. */
async function connectionsOf(gateway: Gateway, { mid, routes }: AccountRow): Promise<ConnectionRow[]> {
  const ids = routes.flatMap(({ connectionId }) => connectionId ?? []);
  const rows = ids.length === 0 ? [] : await gateway.connectionStore.findAll(ids);
  return rows.filter(({ mids, deletedAt }) => deletedAt === null && (mids === null || mids.includes(mid)));
}

/** The name of the merchant for payers, providers and banks. */
export const displayName = ({ name, settings }: Pick<Account, 'name' | 'settings'>): string =>
  settings['branding.name'] || name;

/** A new account with its secrets in the clear, which are displayed this once. */
export interface NewAccount {
  account: Account;
  password: Secret;
  callbackSecret: Secret;
}

/** `mid` is the id of the new account, which no other account has. */
export async function createAccount(
  gateway: Gateway,
  by: Caller,
  name: string,
  given: AccountRow['settings'],
  { mid = newId(), isSuspended = false }: { mid?: string; isSuspended?: boolean | undefined } = {},
): Promise<NewAccount> {
  const password = NEW_SECRET.password();
  const callbackSecret = NEW_SECRET.callbackSecret();
  const prefix = KEY_PREFIXES[gateway.environment];
  const { settings, secrets } = sealSettings(gateway, mid, given);
  const createdAt = gateway.clock.now(mid);
  const row: AccountRow = {
    mid,
    name,
    environment: gateway.environment,
    clientKey: prefix + newSecret(),
    merchantKey: prefix + newSecret(),
    password: gateway.seal.seal(password, bound('password', mid)),
    previousPassword: null,
    previousPasswordUntil: null,
    callbackSecret: gateway.seal.seal(callbackSecret, bound('callback_secret', mid)),
    previousCallbackSecret: null,
    previousCallbackSecretUntil: null,
    settings,
    routes: [],
    createdAt,
    suspendedAt: isSuspended ? createdAt : null,
  };
  const after = { name, ...settings, ...(isSuspended && { suspended: true }) };
  const audit = auditEntry(gateway, by, 'accounts.create', { mid, after });
  await gateway.accounts.insert(row, audit, secrets);
  forgetAccounts(gateway, mid);
  gateway.log.info({ mid }, 'account created');
  return {
    account: accountOf(gateway, row),
    password: new Secret(password),
    callbackSecret: new Secret(callbackSecret),
  };
}

/** `isLive` returns whether this process is notified of changes by others; otherwise the cache is not used. */
export const createAccountCache = (isLive: () => boolean): Cache<Account> =>
  createCache({
    maxEntries: LIMITS.accountsRemembered,
    maxAgeMs: LIMITS.accountAgeMs,
    maxMissAgeMs: LIMITS.accountMissAgeMs,
    isUsable: isLive,
  });

/** Cached, because every request needs it. */
export const findAccountByKey = (
  gateway: Gateway,
  kind: 'clientKey' | 'merchantKey',
  key: string,
): MaybePromise<Account | undefined> =>
  readCached(gateway, `${kind} ${key}`, () => gateway.accounts.findByKey(kind, key));

/** Cached, because every transition of a payment needs it. */
export const findAccount = (gateway: Gateway, mid: string): MaybePromise<Account | undefined> =>
  readCached(gateway, mid, () => gateway.accounts.find(mid));

const readCached = (
  gateway: Gateway,
  key: string,
  read: () => Promise<AccountRow | undefined>,
): MaybePromise<Account | undefined> =>
  gateway.accountCache.get(key, async () => {
    const row = await within(LIMITS.accountReadTimeoutMs, read());
    if (row?.environment !== gateway.environment) return undefined;
    return accountOf(gateway, row, await within(LIMITS.accountReadTimeoutMs, connectionsOf(gateway, row)));
  });

/** Removes one account, or all of them, from the cache. */
export const forgetAccounts = ({ accountCache }: Pick<Gateway, 'accountCache'>, mid?: string): void =>
  accountCache.forget((account) => mid === undefined || account.mid === mid);

/** Newest first; `mids` are the accounts that the caller may see. */
export async function listAccounts(
  gateway: Gateway,
  limit: number,
  before: string | undefined,
  mids: readonly string[] | null,
): Promise<Account[]> {
  const rows = await gateway.accounts.list(limit, before, mids);
  return rows.map((row) => accountOf(gateway, row));
}

/**
 * Changes the name and settings, or suspends the account: it then takes no new payments. Settings that would not fit
 * those of the account as it is now are refused.
 */
export async function changeAccount(
  gateway: Gateway,
  by: Caller,
  mid: string,
  {
    name,
    settings: given = {},
    isSuspended,
  }: { name?: string | undefined; settings?: AccountRow['settings']; isSuspended?: boolean },
): Promise<Account | undefined> {
  const now = gateway.clock.now(mid);
  const changed = Object.keys(given) as (keyof typeof given)[];
  // Payments are counted only while there are limits; until the change is committed, nobody counts by the new ones.
  if ('volume_limits' in given) await restartVolumes(gateway, mid);
  const row = await gateway.accounts.change(mid, (before) => {
    const stored = openSecrets(gateway, mid, before.secrets);
    const problems = settingProblems(before.settings, stored, given);
    if (problems.length > 0) throw new Refusal('invalidData', problems);
    const { settings, secrets } = sealSettings(gateway, mid, given, stored);
    const suspendedAt = isSuspended === undefined ? undefined : isSuspended ? (before.suspendedAt ?? now) : null;
    const audit = auditEntry(gateway, by, 'accounts.change', {
      mid,
      before: {
        ...(name !== undefined && { name: before.name }),
        ...(isSuspended !== undefined && { suspended: before.suspendedAt !== null }),
        ...Object.fromEntries(changed.map((setting) => [setting, before.settings[setting] ?? null])),
      },
      after: {
        ...(name !== undefined && { name }),
        ...(isSuspended !== undefined && { suspended: isSuspended }),
        ...settings,
      },
    });
    return { change: { name, settings, suspendedAt, secrets }, audit };
  });
  forgetAccounts(gateway, mid);
  if (row) gateway.log.info({ mid, changed }, 'account changed');
  return row && accountOf(gateway, row);
}

/** Replaces the password or the callback secret; the previous one stays valid until `previousUntil`. */
export async function rotateSecret(
  gateway: Gateway,
  by: Caller,
  mid: string,
  name: AccountSecret,
): Promise<{ secret: Secret; previousUntil: number }> {
  const secret = NEW_SECRET[name]();
  const previousUntil = gateway.clock.now(mid) + LIMITS.passwordOverlapMs;
  const sealed = gateway.seal.seal(secret, bound(COLUMNS[name], mid));
  const audit = auditEntry(gateway, by, 'accounts.rotate_secret', { mid, subject: COLUMNS[name] });
  await gateway.accounts.changeSecret(mid, name, sealed, previousUntil, audit);
  forgetAccounts(gateway, mid);
  gateway.log.info({ mid }, `${COLUMNS[name]} rotated`);
  return { secret: new Secret(secret), previousUntil };
}
