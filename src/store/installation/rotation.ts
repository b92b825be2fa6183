/** Key rotation: reads sealed values page by page, and replaces each only if it has not changed since. */
import pg from 'pg';
import { boundTo } from '../../lib/crypto/seal.ts';
import type { KeyedCard } from '../cards/cards.ts';
import { BoundedClient } from '../database/bounded-client.ts';
import { columns, iso } from '../database/columns.ts';
import type { Connection } from '../database/database.ts';

/** A value that is sealed with the master key, the key of its row, and what it is bound to. */
export interface SealedValue {
  key: readonly string[];
  sealed: Buffer;
  bound: string;
}

/** A column, or a JSON path in a column, that contains sealed values. */
interface SealedColumn {
  table: string;
  key: Readonly<Record<string, 'uuid' | 'int' | 'text'>>;
  /** SQL: the sealed bytes of a row `t`, and the assignment that replaces them with `i.renewed`. */
  value: string;
  replace: string;
  /** The column name and the row in the associated data of the value. */
  boundAs: string;
  owner: string;
  /** The rows that are read at a time, if not as many as usual. */
  page?: number;
}

const keysOf = ({ key }: Pick<SealedColumn, 'key'>): string =>
  Object.keys(key)
    .map((name) => `t.${name}`)
    .join(', ');

const sealedColumn = (table: string, key: SealedColumn['key'], name: string, boundAs = name): SealedColumn => ({
  table,
  key,
  value: `t.${name}`,
  replace: `${name} = i.renewed`,
  boundAs,
  owner: `concat_ws(' ', ${keysOf({ key })})`,
});

/** A JSON path in a column of payments. PostgreSQL puts line breaks into base64, which are removed. */
const inPayments = (column: string, path: string, boundAs: string, owner: string): SealedColumn => ({
  table: 'payments',
  key: { mid: 'uuid', payment_id: 'uuid' },
  value: `decode(t.${column} #>> '{${path}}', 'base64')`,
  replace: `${column} = jsonb_set(t.${column}, '{${path}}', to_jsonb(translate(encode(i.renewed, 'base64'), E'\\n', '')))`,
  boundAs,
  owner,
});

/** Everything that is sealed with the master key. Cards are not listed: they are sealed with the data keys. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  sealedColumn('data_keys', { mid: 'uuid', version: 'int' }, 'sealed'),
  sealedColumn('fingerprint_keys', { mid: 'uuid' }, 'sealed'),
  sealedColumn('accounts', { mid: 'uuid' }, 'password'),
  sealedColumn('accounts', { mid: 'uuid' }, 'previous_password', 'password'),
  sealedColumn('accounts', { mid: 'uuid' }, 'callback_secret'),
  sealedColumn('accounts', { mid: 'uuid' }, 'previous_callback_secret', 'callback_secret'),
  sealedColumn('account_secrets', { mid: 'uuid', name: 'text' }, 'sealed'),
  sealedColumn('account_secrets', { mid: 'uuid', name: 'text' }, 'previous_sealed', 'sealed'),
  {
    ...sealedColumn('installation', { name: 'text' }, 'value'),
    value: `case when t.name in ('secret', 'wallet_authorities') then t.value end`,
  },
  sealedColumn('connections', { connection_id: 'uuid' }, 'credentials'),
  sealedColumn('operator_passwords', { operator_id: 'uuid' }, 'totp_seed'),
  sealedColumn('bank_accounts', { mid: 'uuid', currency: 'text' }, 'sealed'),
  sealedColumn('payout_accounts', { currency: 'text' }, 'sealed'),
  { ...sealedColumn('payouts', { payout_id: 'uuid' }, 'file'), page: 4 },
  sealedColumn('transfers', { mid: 'uuid', transfer_id: 'uuid' }, 'holder'),
  // Files: few at a time, because each can have megabytes.
  {
    ...sealedColumn('chargeback_evidence', { mid: 'uuid', payment_id: 'uuid', evidence_id: 'uuid' }, 'sealed'),
    page: 4,
  },
  inPayments('details', 'sealed', 'details', 't.payment_id'),
  inPayments('details', 'session,sealed', 'session', `t.details #>> '{session,id}'`),
  inPayments('provider_data', 'sealed', 'provider_data', 't.payment_id'),
  inPayments('next_step', 'sealed', 'next_step', 't.payment_id'),
];

/** Rows per statement: few enough that requests do not wait noticeably for their locks. */
const PAGE = 100;

/** A card that is not sealed with the newest data key of its account, with both keys. */
export type AgedCard = KeyedCard & { newestVersion: number; newestSealed: Buffer };

export interface RotationStore {
  /** The number of values that are sealed with another version of the master key. */
  countSealed(version: string): Promise<number>;
  /** These values, page by page. */
  sealed(version: string): AsyncGenerator<{ replace: Replace; values: SealedValue[] }>;
  /** The accounts with cards whose newest data key is sealed with another master key, and the version of that data key. */
  accountsOfOldKeys(version: string): Promise<{ mid: string; version: number }[]>;
  insertDataKey(mid: string, version: number, sealed: Buffer): Promise<void>;
  countAgedCards(): Promise<number>;
  agedCards(): AsyncGenerator<AgedCard[]>;
  /** Moves cards to the newest data key; cards that another process has moved already are not changed. */
  resealCards(cards: readonly (AgedCard & { resealed: Buffer })[]): Promise<void>;
  /** Deletes old data keys that no card uses; false when one is still in use. */
  retireDataKeys(): Promise<boolean>;
  close(): Promise<void>;
}

/** Replaces the values that have not changed since they were read. */
export type Replace = (values: readonly (SealedValue & { renewed: Buffer })[]) => Promise<void>;

const isOld = (value: string): string => `substring(${value} from 1 for 4) <> decode($1, 'hex')`;

const AGED = `from cards c
  join data_keys k on k.mid = c.mid and k.version = c.key_version
  join lateral (select version, sealed from data_keys d where d.mid = c.mid order by version desc limit 1) newest
    on newest.version > c.key_version`;
const CARD_COLUMNS = [
  'mid',
  'cardId',
  'token',
  'keyVersion',
  'sealed',
  'fingerprint',
  'masked',
  'network',
  'paymentId',
];

const FOREIGN_KEY_VIOLATION = '23503';

/** `application_name`, shown in `pg_stat_activity`. */
const APPLICATION = 'turnpike rotate-keys';

/** Uses its own connection, without a statement timeout, because a large database takes long. */
export function openRotationStore(connection: Connection): RotationStore {
  const pool = new pg.Pool({
    ...connection,
    Client: BoundedClient,
    max: 1,
    connectionTimeoutMillis: 5000,
    application_name: APPLICATION,
  });
  // A lost connection fails the statement that uses it.
  pool.on('error', () => undefined);
  const rows = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
    (await pool.query<Row>(text, values)).rows;
  const count = async (text: string, values: unknown[] = []): Promise<number> =>
    Number((await rows<{ count: string }>(text, values))[0]?.count);

  async function* pagesOf(column: SealedColumn, version: string): AsyncGenerator<SealedValue[]> {
    const names = Object.keys(column.key);
    const size = column.page ?? PAGE;
    const keys = keysOf(column);
    const after = Object.values(column.key).map((type, index) => `$${index + 2}::${type}`);
    const read = `select ${names.map((name) => `t.${name}::text as "${name}"`).join(', ')}, ${column.value} as sealed,
      (${column.owner})::text as owner from ${column.table} t where ${isOld(column.value)}`;
    let last: readonly string[] | undefined;
    for (;;) {
      const page = await rows<Record<string, string> & { sealed: Buffer; owner: string }>(
        `${read} ${last ? `and (${keys}) > (${after.join(', ')})` : ''} order by ${keys} limit ${size}`,
        [version, ...(last ?? [])],
      );
      const values = page.map((row) => {
        const key = names.map((name) => row[name] as string);
        return { key, sealed: row.sealed, bound: boundTo(column.table, column.boundAs, row.owner) };
      });
      if (values.length > 0) yield values;
      if (values.length < size) return;
      last = values.at(-1)?.key;
    }
  }

  const replaceAt = (column: SealedColumn): Replace => {
    const key = Object.entries(column.key);
    const arrays = [...key.map(([, type]) => type), 'bytea', 'bytea'].map((type, index) => `$${index + 1}::${type}[]`);
    const text = `update ${column.table} t set ${column.replace}
      from unnest(${arrays.join(', ')}) as i(${key.map(([name]) => name).join(', ')}, old, renewed)
      where ${key.map(([name]) => `t.${name} = i.${name}`).join(' and ')} and ${column.value} = i.old`;
    return async (values) => {
      await pool.query(text, [
        ...key.map((_, index) => values.map((value) => value.key[index])),
        values.map(({ sealed }) => sealed),
        values.map(({ renewed }) => renewed),
      ]);
    };
  };

  return {
    async countSealed(version) {
      const counts = await Promise.all(
        SEALED_COLUMNS.map(({ table, value }) =>
          count(`select count(*) from ${table} t where ${isOld(value)}`, [version]),
        ),
      );
      return counts.reduce((sum, each) => sum + each, 0);
    },
    async *sealed(version) {
      for (const column of SEALED_COLUMNS) {
        const replace = replaceAt(column);
        for await (const values of pagesOf(column, version)) yield { replace, values };
      }
    },
    accountsOfOldKeys: (version) =>
      rows(
        `select mid, version from (select distinct on (mid) * from data_keys order by mid, version desc) t
          where ${isOld('t.sealed')} and exists (select from cards c where c.mid = t.mid)`,
        [version],
      ),
    async insertDataKey(mid, version, sealed) {
      const values = [mid, version, sealed, iso(Date.now())];
      await rows(
        'insert into data_keys (mid, version, sealed, created_at) values ($1, $2, $3, $4) on conflict do nothing',
        values,
      );
    },
    countAgedCards: () => count(`select count(*) ${AGED}`),
    async *agedCards() {
      let last: AgedCard | undefined;
      for (;;) {
        const page: AgedCard[] = await rows<AgedCard>(
          `select ${columns('c', CARD_COLUMNS)}, k.sealed as "keySealed", newest.version as "newestVersion",
            newest.sealed as "newestSealed" ${AGED}
            ${last ? 'where (c.mid, c.card_id) > ($1::uuid, $2::uuid)' : ''} order by c.mid, c.card_id limit ${PAGE}`,
          last ? [last.mid, last.cardId] : [],
        );
        if (page.length > 0) yield page;
        if (page.length < PAGE) return;
        last = page.at(-1);
      }
    },
    async resealCards(cards) {
      await pool.query(
        `update cards t set sealed = i.sealed, key_version = i.newest
          from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::bytea[]) as i(mid, card_id, old, newest, sealed)
          where t.mid = i.mid and t.card_id = i.card_id and t.key_version = i.old`,
        [
          cards.map(({ mid }) => mid),
          cards.map(({ cardId }) => cardId),
          cards.map(({ keyVersion }) => keyVersion),
          cards.map(({ newestVersion }) => newestVersion),
          cards.map(({ resealed }) => resealed),
        ],
      );
    },
    async retireDataKeys() {
      try {
        await pool.query(`delete from data_keys k
          where version < (select max(version) from data_keys n where n.mid = k.mid)
            and not exists (select from cards c where c.mid = k.mid and c.key_version = k.version)`);
      } catch (error) {
        // A card was stored with an old key at the same time; the next round finds it.
        if ((error as { code?: string }).code !== FOREIGN_KEY_VIOLATION) throw error;
      }
      const old = 'select from data_keys n where n.mid = k.mid and n.version > k.version';
      return (await count(`select count(*) from data_keys k where exists (${old})`)) === 0;
    },
    close: () => pool.end(),
  };
}
