/** Merchant accounts: made, found by key, changed, and given new passwords. */
import { addressList } from '../lib/address.ts';
import { newId, newSecret } from '../lib/id.ts';
import { boundTo } from '../lib/seal.ts';
import { Secret } from '../lib/secret.ts';
import { LIMITS } from '../rules/limits.ts';
import { completeSettings } from '../rules/settings.ts';
import type { AccountRow, Environment } from '../store/accounts.ts';
import type { Account, Gateway } from './context.ts';

const PREFIX: Record<Environment, string> = { sandbox: 'test_', production: 'live_' };
const REMEMBERED_MOST = 10_000;

/** The environment that a key belongs to, told by its prefix alone. */
export function environmentOfKey(key: string): Environment | undefined {
  return (Object.keys(PREFIX) as Environment[]).find((environment) => key.startsWith(PREFIX[environment]));
}

const bound = (column: string, mid: string): string => boundTo('accounts', column, mid);

function open(gateway: Gateway, row: AccountRow): Account {
  const { mid } = row;
  const settings = completeSettings(row.settings);
  const password = new Secret(gateway.seal.open(row.password, bound('password', mid)));
  const previous = row.previousPassword
    ? new Secret(gateway.seal.open(row.previousPassword, bound('password', mid)))
    : undefined;
  const isListed = settings.ip_allowlist.length > 0 ? addressList(settings.ip_allowlist) : () => true;
  return {
    mid,
    name: row.name,
    clientKey: row.clientKey,
    merchantKey: row.merchantKey,
    settings,
    createdAt: row.createdAt,
    passwords() {
      const isOverlap = previous && gateway.clock.now(mid) < (row.previousPasswordUntil as number);
      return isOverlap ? [password.reveal(), previous.reveal()] : [password.reveal()];
    },
    isAddressAllowed: isListed,
  };
}

/** The name that payers, providers and banks know a merchant by. */
export const shownName = ({ name, settings }: Pick<Account, 'name' | 'settings'>): string =>
  settings['branding.name'] || name;

/** The secrets of an account, which are shown only when they are made. */
export interface NewAccount {
  account: Account;
  password: Secret;
  callbackSecret: Secret;
}

export async function createAccount(
  gateway: Gateway,
  name: string,
  settings: AccountRow['settings'],
): Promise<NewAccount> {
  const mid = newId();
  const password = newSecret();
  const callbackSecret = `whsec_${Buffer.from(newSecret(24), 'hex').toString('base64')}`;
  const prefix = PREFIX[gateway.environment];
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
    settings,
    createdAt: gateway.clock.now(mid),
  };
  await gateway.accounts.insert(row);
  gateway.log.info({ mid }, 'account created');
  return { account: open(gateway, row), password: new Secret(password), callbackSecret: new Secret(callbackSecret) };
}

/** The account of a key; remembered between requests, because every request asks. */
export async function findAccountByKey(
  gateway: Gateway,
  kind: 'clientKey' | 'merchantKey',
  key: string,
): Promise<Account | undefined> {
  const { remembered } = gateway;
  const known = remembered.isLive ? remembered.accounts.get(key) : undefined;
  if (known?.[kind] === key) return known;
  const { generation } = remembered;
  const row = await gateway.accounts.findByKey(kind, key);
  if (!row || row.environment !== gateway.environment) return undefined;
  const account = open(gateway, row);
  // What was read before a change was announced must not be remembered after it.
  if (remembered.isLive && remembered.generation === generation) {
    if (remembered.accounts.size >= REMEMBERED_MOST) remembered.accounts.clear();
    remembered.accounts.set(key, account);
  }
  return account;
}

/** Forgets what was remembered of one account, or of all of them. */
export function forgetAccounts(gateway: Pick<Gateway, 'remembered'>, mid?: string): void {
  const { accounts } = gateway.remembered;
  gateway.remembered.generation++;
  if (mid === undefined) accounts.clear();
  for (const [key, account] of accounts) if (account.mid === mid) accounts.delete(key);
}

export async function findAccount(gateway: Gateway, mid: string): Promise<Account | undefined> {
  const row = await gateway.accounts.find(mid);
  return row && open(gateway, row);
}

/** Newest first. */
export async function listAccounts(gateway: Gateway, limit: number, before?: string): Promise<Account[]> {
  const rows = await gateway.accounts.list(limit, before);
  return rows.map((row) => open(gateway, row));
}

export async function changeAccount(
  gateway: Gateway,
  mid: string,
  name: string | undefined,
  settings: AccountRow['settings'],
): Promise<Account | undefined> {
  const row = await gateway.accounts.update(mid, name, settings);
  forgetAccounts(gateway, mid);
  if (row) gateway.log.info({ mid, changed: Object.keys(settings) }, 'account changed');
  return row && open(gateway, row);
}

/** A new password; the one before keeps working until the returned time. */
export async function rotatePassword(
  gateway: Gateway,
  mid: string,
): Promise<{ password: Secret; previousUntil: number }> {
  const password = newSecret();
  const previousUntil = gateway.clock.now(mid) + LIMITS.passwordOverlapMs;
  await gateway.accounts.changePassword(mid, gateway.seal.seal(password, bound('password', mid)), previousUntil);
  forgetAccounts(gateway, mid);
  gateway.log.info({ mid }, 'password rotated');
  return { password: new Secret(password), previousUntil };
}
