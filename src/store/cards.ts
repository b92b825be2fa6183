/** The vault's rows: sealed cards, the sealed keys that open them, and the keys that make their fingerprints. */
import { isOpen, STATE_NAMES } from '../rules/states.ts';
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
  /** Erases the numbers of a payment's cards, or keeps them for good; nothing happens before it has its outcome. */
  eraseOf(payment: { mid: string; paymentId: string }): Promise<void>;
  /** Does the same to cards that were left over, so many at most; returns how many there were. */
  eraseLeftovers(most: number): Promise<number>;
  /** The fingerprint of a card, whether or not its number was erased. */
  findFingerprint(mid: string, cardId: string): Promise<string | undefined>;
  /** A card that can be opened; an erased one is not found here, nor by its token. */
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

const OPEN_STATES = STATE_NAMES.filter(isOpen)
  .map((state) => `'${state}'`)
  .join(', ');

/** Whether the payment `p` of a card `c` has its outcome; a card without a payment waits for none. */
export const HAS_OUTCOME = `(p.payment_id is null or p.state not in (${OPEN_STATES}) or p.authorised > 0)`;

/**
 * Whether the number of a card `c` is needed after the outcome of the payment `p` that it was typed for: for its token,
 * or for repetitions. Other payments use the card only by the one or the other, so they need not be looked at. A card
 * that its payment does not name was typed twice, or its process died before the payment knew of it.
 */
const IS_NEEDED = `coalesce(p.details #>> '{card,id}' = c.card_id::text
  and (p.recurring_token is not null or p.details #>> '{card,token}' is not null), false)`;

/** Decides on cards, each once. No payment gets from having an outcome to needing its card, so none is erased too early. */
const decide = (which: string): string => `
  update cards t set
    is_kept = d.is_needed,
    sealed = case when d.is_needed then t.sealed end,
    key_version = case when d.is_needed then t.key_version end
  from (
    select c.mid, c.card_id, ${IS_NEEDED} as is_needed
    from cards c left join payments p on p.mid = c.mid and p.payment_id = c.payment_id
    where c.sealed is not null and not c.is_kept and ${HAS_OUTCOME} ${which}
  ) d
  where t.mid = d.mid and t.card_id = d.card_id and t.sealed is not null and not t.is_kept`;

const DECIDE_OF = decide('and c.mid = $1 and c.payment_id = $2 for update of c');
export const DECIDE_LEFTOVERS = decide('limit $1 for update of c skip locked');

export function createCardStore({ query, pool }: Database): CardStore {
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
    async eraseOf({ mid, paymentId }) {
      await pool.query(DECIDE_OF, [mid, paymentId]);
    },
    async eraseLeftovers(most) {
      return (await pool.query(DECIDE_LEFTOVERS, [most])).rowCount ?? 0;
    },
    async findFingerprint(mid, cardId) {
      const card = query.selectFrom('cards').select('fingerprint').where('mid', '=', mid).where('cardId', '=', cardId);
      return (await card.executeTakeFirst())?.fingerprint;
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
