/** The tables of the vault: sealed cards, the sealed data keys that open them, and the fingerprint keys. */
import { isOpen, STATE_NAMES } from '../rules/states.ts';
import { iso, UNWAITED } from './columns.ts';
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

/** A card with the data key that opens it, read in one statement, because a rotation may replace both at any time. */
export type KeyedCard = CardRow & { keySealed: Buffer };

export interface DataKeyRow {
  mid: string;
  version: number;
  sealed: Buffer;
}

export interface CardStore {
  /**
   * False when the data key of the card was retired meanwhile. `isReferredLater` means that a payment is written next
   * which refers to the card, and that nothing needs the card before.
   */
  insert(card: CardRow, isReferredLater: boolean): Promise<boolean>;
  remove(mid: string, cardId: string): Promise<void>;
  /** Erases the card numbers of a payment with an outcome, or marks them as kept; changes nothing without an outcome. */
  eraseOf(payment: { mid: string; paymentId: string }): Promise<void>;
  /** Does the same for cards that `eraseOf` missed, for example after a crash; returns how many there were. */
  eraseLeftovers(most: number): Promise<number>;
  /** The fingerprint of a card, also of an erased one. */
  findFingerprint(mid: string, cardId: string): Promise<string | undefined>;
  /** A card that can be opened. Erased cards are not found, neither here nor by token. */
  find(mid: string, cardId: string): Promise<KeyedCard | undefined>;
  /** The account's cards with these tokens, newest first. */
  findByTokens(mid: string, tokens: readonly string[]): Promise<KeyedCard[]>;
  /** The card with this token, of any account. */
  findAnywhere(token: string): Promise<KeyedCard | undefined>;
  /** The newest data key of an account. */
  dataKey(mid: string): Promise<DataKeyRow | undefined>;
  /** Keeps the stored key when another process has inserted the same version. */
  insertDataKey(key: DataKeyRow, at: number): Promise<void>;
  fingerprintKey(mid: string): Promise<Buffer | undefined>;
  /** Keeps the stored key, if there is one. */
  insertFingerprintKey(mid: string, sealed: Buffer, at: number): Promise<void>;
}

const FOREIGN_KEY_VIOLATION = '23503';

/** SQL: the states of payments without an outcome. */
export const OPEN_STATES = STATE_NAMES.filter(isOpen)
  .map((state) => `'${state}'`)
  .join(', ');

/** Whether the payment `p` of a card `c` has an outcome; true for a card without a payment. */
export const HAS_OUTCOME = `(p.payment_id is null or p.state not in (${OPEN_STATES}) or p.authorised > 0)`;

/**
 * Whether the number of a card `c` is still needed after the outcome of the payment `p` for which it was entered: for
 * its card token, or for recurring sales. Other payments use the card through one of these only, so they are not
 * checked. A card that its payment does not reference was submitted twice, or its process died before the update.
 */
const IS_NEEDED = `coalesce(p.details #>> '{card,id}' = c.card_id::text
  and (p.recurring_token is not null or p.details #>> '{card,token}' is not null), false)`;

/**
 * Erases or keeps each card once. A payment with an outcome never begins to need its card, so the decision is final. What
 * a crash of the database loses of it, `eraseLeftovers` does again.
 */
const eraseOrKeep = (which: string): string => `
  with ${UNWAITED}
  update cards t set
    is_kept = d.is_needed,
    sealed = case when d.is_needed then t.sealed end,
    key_version = case when d.is_needed then t.key_version end
  from (
    select c.mid, c.card_id, ${IS_NEEDED} as is_needed
    from cards c left join payments p on p.mid = c.mid and p.payment_id = c.payment_id
    where c.sealed is not null and not c.is_kept and ${HAS_OUTCOME} ${which}
  ) d, unwaited
  where t.mid = d.mid and t.card_id = d.card_id and t.sealed is not null and not t.is_kept`;

const ERASE_OF_PAYMENT = eraseOrKeep('and c.mid = $1 and c.payment_id = $2 for update of c');
export const ERASE_LEFTOVERS = eraseOrKeep('limit $1 for update of c skip locked');

const INSERT = `
  insert into cards (mid, card_id, token, key_version, sealed, fingerprint, masked, network, payment_id, created_at)
  select $1::uuid, $2::uuid, $3::text, $4::int, $5::bytea, $6::text, $7::text, $8::text, $9::uuid, $10::timestamptz`;
const INSERT_UNWAITED = `with ${UNWAITED} ${INSERT} from unwaited`;

export function createCardStore({ query, pool }: Database): CardStore {
  const cards = () =>
    query
      .selectFrom('cards as c')
      .innerJoin('dataKeys as k', (join) => join.onRef('k.mid', '=', 'c.mid').onRef('k.version', '=', 'c.keyVersion'))
      .select(['c.mid', 'c.cardId', 'c.token', 'c.keyVersion', 'c.sealed', 'c.fingerprint', 'c.masked', 'c.network'])
      .select(['c.paymentId', 'c.createdAt', 'k.sealed as keySealed']);
  return {
    async insert(card, isReferredLater) {
      const { mid, cardId, token, keyVersion, sealed, fingerprint, masked, network, paymentId, createdAt } = card;
      const values = [mid, cardId, token, keyVersion, sealed, fingerprint, masked, network, paymentId, iso(createdAt)];
      try {
        await pool.query(isReferredLater ? INSERT_UNWAITED : INSERT, values);
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
      await pool.query(ERASE_OF_PAYMENT, [mid, paymentId]);
    },
    async eraseLeftovers(most) {
      return (await pool.query(ERASE_LEFTOVERS, [most])).rowCount ?? 0;
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
