/** The vault's rows: sealed cards, the sealed keys that open them, and the keys that make their fingerprints. */
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

/** A card with the key that opens it, read in one look: a rotation may replace both at any moment. */
export type KeyedCard = CardRow & { keySealed: Buffer };

export interface DataKeyRow {
  mid: string;
  version: number;
  sealed: Buffer;
}

export interface CardStore {
  /** False when the key of the card was retired meanwhile. */
  insert(card: CardRow): Promise<boolean>;
  remove(mid: string, cardId: string): Promise<void>;
  find(mid: string, cardId: string): Promise<KeyedCard | undefined>;
  /** The cards of these tokens that the account has, newest first. */
  findByTokens(mid: string, tokens: readonly string[]): Promise<KeyedCard[]>;
  /** The card of a token, whichever account it belongs to. */
  findAnywhere(token: string): Promise<KeyedCard | undefined>;
  /** The newest key of an account's data. */
  dataKey(mid: string): Promise<DataKeyRow | undefined>;
  /** Of several processes that make the same version, the key of one holds for all. */
  insertDataKey(key: DataKeyRow, at: number): Promise<void>;
  fingerprintKey(mid: string): Promise<Buffer | undefined>;
  /** Keeps the key that is there already. */
  insertFingerprintKey(mid: string, sealed: Buffer, at: number): Promise<void>;
}

const FOREIGN_KEY_VIOLATION = '23503';

export function createCardStore({ query }: Database): CardStore {
  const cards = () =>
    query
      .selectFrom('cards as c')
      .innerJoin('dataKeys as k', (join) => join.onRef('k.mid', '=', 'c.mid').onRef('k.version', '=', 'c.keyVersion'))
      .select(['c.mid', 'c.cardId', 'c.token', 'c.keyVersion', 'c.sealed', 'c.fingerprint', 'c.masked', 'c.network'])
      .select(['c.paymentId', 'c.createdAt', 'k.sealed as keySealed']);
  return {
    async insert(card) {
      try {
        await query
          .insertInto('cards')
          .values({ ...card, createdAt: iso(card.createdAt) })
          .execute();
        return true;
      } catch (error) {
        if ((error as { code?: string }).code === FOREIGN_KEY_VIOLATION) return false;
        throw error;
      }
    },
    async remove(mid, cardId) {
      await query.deleteFrom('cards').where('mid', '=', mid).where('cardId', '=', cardId).execute();
    },
    async find(mid, cardId) {
      const row = await cards().where('c.mid', '=', mid).where('c.cardId', '=', cardId).executeTakeFirst();
      return row as KeyedCard | undefined;
    },
    async findByTokens(mid, tokens) {
      if (tokens.length === 0) return [];
      const rows = await cards()
        .where('c.mid', '=', mid)
        .where('c.token', 'in', tokens)
        .orderBy('c.createdAt', 'desc')
        .orderBy('c.cardId', 'desc')
        .execute();
      return rows as KeyedCard[];
    },
    async findAnywhere(token) {
      return (await cards().where('c.token', '=', token).executeTakeFirst()) as KeyedCard | undefined;
    },
    async dataKey(mid) {
      return query
        .selectFrom('dataKeys')
        .select(['mid', 'version', 'sealed'])
        .where('mid', '=', mid)
        .orderBy('version', 'desc')
        .limit(1)
        .executeTakeFirst();
    },
    async insertDataKey(key, at) {
      await query
        .insertInto('dataKeys')
        .values({ ...key, createdAt: iso(at) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
    async fingerprintKey(mid) {
      const row = await query.selectFrom('fingerprintKeys').select('sealed').where('mid', '=', mid).executeTakeFirst();
      return row?.sealed;
    },
    async insertFingerprintKey(mid, sealed, at) {
      await query
        .insertInto('fingerprintKeys')
        .values({ mid, sealed, createdAt: iso(at) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
  };
}
