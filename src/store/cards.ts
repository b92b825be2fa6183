/** The vault's rows: sealed cards, and the sealed keys that open them. */
import { iso } from './columns.ts';
import type { Database } from './database.ts';

export interface CardRow {
  mid: string;
  cardId: string;
  token: string;
  keyVersion: number;
  sealed: Buffer;
  fingerprint: string;
  masked: string;
  network: string;
  paymentId: string;
  createdAt: number;
}

export interface DataKeyRow {
  mid: string;
  version: number;
  sealed: Buffer;
}

const COLUMNS = [
  'mid',
  'cardId',
  'token',
  'keyVersion',
  'sealed',
  'fingerprint',
  'masked',
  'network',
  'paymentId',
  'createdAt',
] as const satisfies (keyof CardRow)[];

export interface CardStore {
  insert(card: CardRow): Promise<void>;
  find(mid: string, cardId: string): Promise<CardRow | undefined>;
  findByToken(mid: string, token: string): Promise<CardRow | undefined>;
  /** The newest key of an account's data, or one of a version. */
  dataKey(mid: string, version?: number): Promise<DataKeyRow | undefined>;
  /** Of several processes that make the same version, the key of one holds for all. */
  insertDataKey(key: DataKeyRow, at: number): Promise<void>;
}

export function createCardStore({ query }: Database): CardStore {
  const cards = (mid: string) => query.selectFrom('cards').select(COLUMNS).where('mid', '=', mid);
  return {
    async insert(card) {
      await query
        .insertInto('cards')
        .values({ ...card, createdAt: iso(card.createdAt) })
        .execute();
    },
    async find(mid, cardId) {
      return (await cards(mid).where('cardId', '=', cardId).executeTakeFirst()) as CardRow | undefined;
    },
    async findByToken(mid, token) {
      return (await cards(mid).where('token', '=', token).executeTakeFirst()) as CardRow | undefined;
    },
    async dataKey(mid, version) {
      let keys = query.selectFrom('dataKeys').select(['mid', 'version', 'sealed']).where('mid', '=', mid);
      if (version !== undefined) keys = keys.where('version', '=', version);
      return keys.orderBy('version', 'desc').limit(1).executeTakeFirst();
    },
    async insertDataKey(key, at) {
      await query
        .insertInto('dataKeys')
        .values({ ...key, createdAt: iso(at) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
  };
}
