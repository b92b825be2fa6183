/** Merchant accounts: their keys, sealed secrets and settings. */
import { sql } from 'kysely';
import type { SettingName } from '../rules/settings.ts';
import { announce } from './changes.ts';
import type { Database } from './database.ts';

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
  createdAt: number;
}

/** The secrets of an account that can be replaced. */
export type AccountSecret = 'password' | 'callbackSecret';

export interface AccountStore {
  insert(account: AccountRow): Promise<void>;
  find(mid: string): Promise<AccountRow | undefined>;
  findByKey(kind: 'clientKey' | 'merchantKey', key: string): Promise<AccountRow | undefined>;
  /** Newest first; `before` is the mid of the last account of the previous page. */
  list(limit: number, before?: string): Promise<AccountRow[]>;
  /** Changes the name and merges the settings into the stored ones. */
  update(mid: string, name: string | undefined, settings: AccountRow['settings']): Promise<AccountRow | undefined>;
  /** Replaces a secret; the previous one remains valid until the given time. */
  changeSecret(mid: string, name: AccountSecret, sealed: Buffer, previousUntil: number): Promise<void>;
}

export function createAccountStore({ query }: Database): AccountStore {
  const accounts = () => query.selectFrom('accounts').selectAll();
  return {
    async insert(account) {
      await query
        .insertInto('accounts')
        .values({
          ...account,
          previousPasswordUntil: null,
          previousCallbackSecretUntil: null,
          settings: JSON.stringify(account.settings),
          createdAt: new Date(account.createdAt).toISOString(),
        })
        .execute();
    },
    async find(mid) {
      return (await accounts().where('mid', '=', mid).executeTakeFirst()) as AccountRow | undefined;
    },
    async findByKey(kind, key) {
      return (await accounts().where(kind, '=', key).executeTakeFirst()) as AccountRow | undefined;
    },
    async list(limit, before) {
      let list = accounts().orderBy('mid', 'desc').limit(limit);
      if (before !== undefined) list = list.where('mid', '<', before);
      return (await list.execute()) as AccountRow[];
    },
    async update(mid, name, settings) {
      return query.transaction().execute(async (transaction) => {
        const row = await transaction
          .updateTable('accounts')
          .set({
            ...(name === undefined ? {} : { name }),
            settings: sql<string>`settings || ${JSON.stringify(settings)}::jsonb`,
          })
          .where('mid', '=', mid)
          .returningAll()
          .executeTakeFirst();
        await announce(transaction, `account ${mid}`);
        return row as AccountRow | undefined;
      });
    },
    async changeSecret(mid, name, sealed, previousUntil) {
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
        await announce(transaction, `account ${mid}`);
      });
    },
  };
}
