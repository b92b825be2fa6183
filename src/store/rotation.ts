/** What a rotation of the keys reads and replaces, page by page; each replacement happens only to what was read. */
import pg from 'pg';
import { boundTo } from '../lib/seal.ts';
import type { KeyedCard } from './cards.ts';
import { columns, iso } from './columns.ts';
import type { Connection } from './database.ts';

/** A value that is sealed under the master key, and where it stands. */
export interface SealedValue {
  key: readonly string[];
  sealed: Buffer;
  bound: string;
}

/** Where sealed values stand. */
interface Place {
  table: string;
  key: Readonly<Record<string, 'uuid' | 'int' | 'text'>>;
  /** The sealed bytes of a row `t`, and how `i.renewed` takes their place. */
  value: string;
  replace: string;
  /** As what the value is bound, and to whom. */
  boundAs: string;
  owner: string;
}

const keysOf = ({ key }: Pick<Place, 'key'>): string =>
  Object.keys(key)
    .map((name) => `t.${name}`)
    .join(', ');

const column = (table: string, key: Place['key'], name: string, boundAs = name): Place => ({
  table,
  key,
  value: `t.${name}`,
  replace: `${name} = i.renewed`,
  boundAs,
  owner: `concat_ws(' ', ${keysOf({ key })})`,
});

/** A place in the details of payments. The database breaks lines in base64, which nobody else does. */
const inDetails = (path: string, boundAs: string, owner: string): Place => ({
  table: 'payments',
  key: { mid: 'uuid', payment_id: 'uuid' },
  value: `decode(t.details #>> '{${path}}', 'base64')`,
  replace: `details = jsonb_set(t.details, '{${path}}', to_jsonb(translate(encode(i.renewed, 'base64'), E'\\n', '')))`,
  boundAs,
  owner,
});

/** Everything that is sealed under the master key, except the cards themselves: they are under the data keys. */
const PLACES: readonly Place[] = [
  column('data_keys', { mid: 'uuid', version: 'int' }, 'sealed'),
  column('fingerprint_keys', { mid: 'uuid' }, 'sealed'),
  column('accounts', { mid: 'uuid' }, 'password'),
  column('accounts', { mid: 'uuid' }, 'previous_password', 'password'),
  column('accounts', { mid: 'uuid' }, 'callback_secret'),
  column('accounts', { mid: 'uuid' }, 'previous_callback_secret', 'callback_secret'),
  { ...column('installation', { name: 'text' }, 'value'), value: `case when t.name = 'secret' then t.value end` },
  inDetails('sealed', 'details', 't.payment_id'),
  inDetails('session,sealed', 'session', `t.details #>> '{session,id}'`),
];

/** How many rows are replaced in one statement: few enough that nobody has to wait for them. */
const PAGE = 100;

/** A card that is not under the newest key of its account, with both keys. */
export type AgedCard = KeyedCard & { newestVersion: number; newestSealed: Buffer };

export interface RotationStore {
  /** How many sealed values there are under another master key than this version. */
  countSealed(version: string): Promise<number>;
  /** All of them, page by page. */
  sealed(version: string): AsyncGenerator<{ replace: Replace; values: SealedValue[] }>;
  /** The accounts with cards whose newest data key is sealed under another master key, and the version of that key. */
  accountsOfOldKeys(version: string): Promise<{ mid: string; version: number }[]>;
  insertDataKey(mid: string, version: number, sealed: Buffer): Promise<void>;
  countAgedCards(): Promise<number>;
  agedCards(): AsyncGenerator<AgedCard[]>;
  /** Puts cards under the newest key; those that somebody else has put there are left alone. */
  resealCards(cards: readonly (AgedCard & { resealed: Buffer })[]): Promise<void>;
  /** Deletes the data keys that no card needs any more; false when an old one is needed still. */
  retireDataKeys(): Promise<boolean>;
  close(): Promise<void>;
}

/** Puts renewed values in the places of old ones, where those are still there. */
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

/** As whom the database shows it to somebody who wonders what is going on. */
const APPLICATION = 'turnpike rotate-keys';

/** A connection of its own, because a large database takes its time. */
export function openRotationStore(connection: Connection): RotationStore {
  const pool = new pg.Pool({ ...connection, max: 1, connectionTimeoutMillis: 5000, application_name: APPLICATION });
  const rows = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
    (await pool.query<Row>(text, values)).rows;
  const count = async (text: string, values: unknown[] = []): Promise<number> =>
    Number((await rows<{ count: string }>(text, values))[0]?.count);

  async function* pagesOf(place: Place, version: string): AsyncGenerator<SealedValue[]> {
    const names = Object.keys(place.key);
    const keys = keysOf(place);
    const after = Object.values(place.key).map((type, index) => `$${index + 2}::${type}`);
    const read = `select ${names.map((name) => `t.${name}::text as "${name}"`).join(', ')}, ${place.value} as sealed,
      (${place.owner})::text as owner from ${place.table} t where ${isOld(place.value)}`;
    let last: readonly string[] | undefined;
    for (;;) {
      const page = await rows<Record<string, string> & { sealed: Buffer; owner: string }>(
        `${read} ${last ? `and (${keys}) > (${after.join(', ')})` : ''} order by ${keys} limit ${PAGE}`,
        [version, ...(last ?? [])],
      );
      const values = page.map((row) => {
        const key = names.map((name) => row[name] as string);
        return { key, sealed: row.sealed, bound: boundTo(place.table, place.boundAs, row.owner) };
      });
      if (values.length > 0) yield values;
      if (values.length < PAGE) return;
      last = values.at(-1)?.key;
    }
  }

  const replaceAt = (place: Place): Replace => {
    const key = Object.entries(place.key);
    const arrays = [...key.map(([, type]) => type), 'bytea', 'bytea'].map((type, index) => `$${index + 1}::${type}[]`);
    const text = `update ${place.table} t set ${place.replace}
      from unnest(${arrays.join(', ')}) as i(${key.map(([name]) => name).join(', ')}, old, renewed)
      where ${key.map(([name]) => `t.${name} = i.${name}`).join(' and ')} and ${place.value} = i.old`;
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
        PLACES.map(({ table, value }) => count(`select count(*) from ${table} t where ${isOld(value)}`, [version])),
      );
      return counts.reduce((sum, one) => sum + one, 0);
    },
    async *sealed(version) {
      for (const place of PLACES) {
        const replace = replaceAt(place);
        for await (const values of pagesOf(place, version)) yield { replace, values };
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
        // A card came under an old key in this very moment: it is found at the next look.
        if ((error as { code?: string }).code !== FOREIGN_KEY_VIOLATION) throw error;
      }
      const old = 'select from data_keys n where n.mid = k.mid and n.version > k.version';
      return (await count(`select count(*) from data_keys k where exists (${old})`)) === 0;
    },
    close: () => pool.end(),
  };
}
