/** Merchant accounts: their keys, sealed secrets and settings. */
import { sql } from 'kysely';
import type { Route } from '../../rules/routes.ts';
import type { SettingName } from '../../rules/settings.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { type ConnectionRow, lockConnections } from '../connections/connections.ts';
import { announce } from '../database/changes.ts';
import { isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Decide } from '../database/decision.ts';

export type Environment = 'sandbox' | 'production';

export interface AccountRow {
  mid: string;
  name: string;
  environment: Environment;
  clientKey: string;
  merchantKey: string;
  password: Buffer;
  previousPassword: Buffer | null;
  previousPasswordUntil: number | null;
  callbackSecret: Buffer;
  previousCallbackSecret: Buffer | null;
  previousCallbackSecretUntil: number | null;
  /** Only the settings that were set; `src/rules/settings.ts` has the defaults. */
  settings: Partial<Record<SettingName, unknown>>;
  routes: Route[];
  createdAt: number;
  /** Since when the account takes no new payments; null if it does. */
  suspendedAt: number | null;
}

/** What a change of an account sets; undefined leaves the value as it is. */
export interface AccountChange {
  name: string | undefined;
  settings: AccountRow['settings'];
  suspendedAt: number | null | undefined;
  secrets?: SealedSecrets | undefined;
}

/**
 * Secrets among the settings; null removes one. The current value stays usable until `previousUntil`; null ends the time
 * of the previous one and keeps none.
 */
export type SealedSecrets = Partial<Record<SettingName, { sealed: Buffer; previousUntil: number | null } | null>>;

/** A secret setting: the current value, and the previous one while it stays usable. */
export interface SealedSetting {
  sealed: Buffer;
  previousSealed: Buffer | null;
  previousUntil: number | null;
}

/** An account that is about to change, with its secret settings. */
export interface LockedAccount extends AccountRow {
  secrets: Partial<Record<SettingName, SealedSetting>>;
}

/** The secrets of an account that can be replaced. */
export type AccountSecret = 'password' | 'callbackSecret';

export interface AccountStore {
  insert(account: AccountRow, audit: AuditEntry, secrets?: SealedSecrets): Promise<void>;
  /** The secret settings of an account, by name. */
  secrets(mid: string): Promise<Partial<Record<SettingName, SealedSetting>>>;
  find(mid: string): Promise<AccountRow | undefined>;
  findByKey(kind: 'clientKey' | 'merchantKey', key: string): Promise<AccountRow | undefined>;
  /** Newest first; `before` is the mid of the last account of the previous page. */
  list(limit: number, before: string | undefined, mids: readonly string[] | null): Promise<AccountRow[]>;
  /** Merges the settings into the stored ones. */
  change(mid: string, decide: Decide<LockedAccount, AccountChange>): Promise<AccountRow | undefined>;
  /**
   * Replaces the routes. `audit` decides from the account and the connections of the new routes, which are locked: none
   * of them is deleted meanwhile. It refuses by throwing.
   */
  changeRoutes(
    mid: string,
    routes: readonly Route[],
    audit: (before: AccountRow, connections: readonly ConnectionRow[]) => AuditEntry,
  ): Promise<void>;
  /** Replaces a secret; the previous one remains valid until the given time. */
  changeSecret(
    mid: string,
    name: AccountSecret,
    sealed: Buffer,
    previousUntil: number,
    audit: AuditEntry,
  ): Promise<void>;
}

export function createAccountStore({ query }: Database): AccountStore {
  const accounts = () => query.selectFrom('accounts').selectAll();
  return {
    async insert(account, audit, secrets = {}) {
      await query.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('accounts')
          .values({
            ...account,
            routes: JSON.stringify(account.routes),
            previousPasswordUntil: null,
            previousCallbackSecretUntil: null,
            settings: JSON.stringify(account.settings),
            createdAt: new Date(account.createdAt).toISOString(),
            suspendedAt: isoOrNull(account.suspendedAt),
          })
          .execute();
        await writeSecrets(transaction, account.mid, secrets);
        await appendAudit(transaction, audit);
      });
    },
    secrets: (mid) => readSecrets(query, mid),
    async find(mid) {
      return (await accounts().where('mid', '=', mid).executeTakeFirst()) as AccountRow | undefined;
    },
    async findByKey(kind, key) {
      return (await accounts().where(kind, '=', key).executeTakeFirst()) as AccountRow | undefined;
    },
    async list(limit, before, mids) {
      let list = accounts().orderBy('mid', 'desc').limit(limit);
      if (mids !== null) list = list.where(sql<boolean>`mid = any(${[...mids]}::uuid[])`);
      if (before !== undefined) list = list.where('mid', '<', before);
      return (await list.execute()) as AccountRow[];
    },
    async change(mid, decide) {
      return query.transaction().execute(async (transaction) => {
        const before = await lockAccount(transaction, mid);
        if (!before) return undefined;
        const { change, audit } = decide({ ...before, secrets: await readSecrets(transaction, mid) });
        const { name, settings, suspendedAt, secrets = {} } = change;
        const after = (await transaction
          .updateTable('accounts')
          .set({
            ...(name === undefined ? {} : { name }),
            ...(suspendedAt === undefined ? {} : { suspendedAt: isoOrNull(suspendedAt) }),
            settings: sql<string>`settings || ${JSON.stringify(settings)}::jsonb`,
          })
          .where('mid', '=', mid)
          .returningAll()
          .executeTakeFirstOrThrow()) as AccountRow;
        await writeSecrets(transaction, mid, secrets);
        await appendAudit(transaction, audit);
        await announce(transaction, `account ${mid}`);
        return after;
      });
    },
    async changeRoutes(mid, routes, audit) {
      await query.transaction().execute(async (transaction) => {
        const ids = routes.flatMap(({ connectionId }) => connectionId ?? []);
        const connections = await lockConnections(transaction, ids);
        const before = await lockAccount(transaction, mid);
        if (!before) return;
        const entry = audit(before, connections);
        await transaction
          .updateTable('accounts')
          .set({ routes: JSON.stringify(routes) })
          .where('mid', '=', mid)
          .execute();
        await appendAudit(transaction, entry);
        await announce(transaction, `account ${mid}`);
      });
    },
    async changeSecret(mid, name, sealed, previousUntil, audit) {
      const until = new Date(previousUntil).toISOString();
      await query.transaction().execute(async (transaction) => {
        await transaction
          .updateTable('accounts')
          .set(
            name === 'password'
              ? { password: sealed, previousPassword: sql<Buffer>`password`, previousPasswordUntil: until }
              : {
                  callbackSecret: sealed,
                  previousCallbackSecret: sql<Buffer>`callback_secret`,
                  previousCallbackSecretUntil: until,
                },
          )
          .where('mid', '=', mid)
          .execute();
        await appendAudit(transaction, audit);
        await announce(transaction, `account ${mid}`);
      });
    },
  };
}

async function lockAccount(transaction: Database['query'], mid: string): Promise<AccountRow | undefined> {
  const row = transaction.selectFrom('accounts').selectAll().where('mid', '=', mid).forUpdate();
  return (await row.executeTakeFirst()) as AccountRow | undefined;
}

async function readSecrets(query: Database['query'], mid: string): Promise<LockedAccount['secrets']> {
  const rows = await query
    .selectFrom('accountSecrets')
    .select(['name', 'sealed', 'previousSealed', 'previousUntil'])
    .where('mid', '=', mid)
    .execute();
  return Object.fromEntries(rows.map(({ name, ...row }) => [name, row]));
}

async function writeSecrets(transaction: Database['query'], mid: string, secrets: SealedSecrets): Promise<void> {
  for (const [name, secret] of Object.entries(secrets)) {
    if (secret === null) {
      await transaction.deleteFrom('accountSecrets').where('mid', '=', mid).where('name', '=', name).execute();
    } else {
      const { sealed, previousUntil } = secret;
      await transaction
        .insertInto('accountSecrets')
        .values({ mid, name, sealed })
        .onConflict((conflict) =>
          conflict.columns(['mid', 'name']).doUpdateSet({
            sealed,
            previousSealed: previousUntil === null ? null : sql<Buffer>`account_secrets.sealed`,
            previousUntil: isoOrNull(previousUntil),
          }),
        )
        .execute();
    }
  }
}
