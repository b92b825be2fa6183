/** The tables of the vault: sealed cards, the sealed data keys that open them, and the fingerprint keys. */
import { createCache } from '../../lib/flow/cache.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen, STATE_NAMES } from '../../rules/states.ts';
import { iso, UNWAITED } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { type Column, itemRows, listed, namesOf } from '../database/item-rows.ts';
import { type PipelinedConnection, run } from '../database/pipelined-connection.ts';
import { createBatching, isolating } from '../payments/batch.ts';
import { paymentSearch } from '../payments/search-projection.ts';
import type { Portion } from '../projections/projection.ts';
import { readProjection } from '../projections/read.ts';

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

/** A card that is written with its payment; without a number if nothing needs it after the payment. */
export type SentCardRow = Pick<CardRow, 'cardId' | 'token' | 'fingerprint' | 'masked' | 'network'> & {
  keyVersion: number | null;
  sealed: Buffer | null;
  /** Whether the number is kept for good, whatever becomes of the payment. */
  isKept: boolean;
};

/** What identifies the card of a sale, also after its number was erased. */
export type SoldCard = Pick<CardRow, 'mid' | 'cardId' | 'fingerprint' | 'paymentId'>;

/** A card with the data key that opens it, read in one statement, because a rotation may replace both at any time. */
export type KeyedCard = CardRow & { keySealed: Buffer };

export interface DataKeyRow {
  mid: string;
  version: number;
  sealed: Buffer;
}

export interface CardStore {
  /**
   * Stores a card, or the number of a transient one; false when the data key of the card was retired meanwhile. A card need
   * not be waited for until it is on the disk if nothing needs it before the next commit of its payment.
   */
  insert(card: CardRow, isWaited: boolean): Promise<boolean>;
  /** Whether a write of a card failed because its data key was retired; the newest one is read again then. */
  forgetRetiredKey(error: unknown): Promise<boolean>;
  remove(mid: string, cardId: string): Promise<void>;
  /**
   * Erases the card numbers of payments with an outcome, or marks them as kept, as the transition to the outcome does: for
   * cards that were stored after it, or for no payment. Returns how many there were.
   */
  eraseLeftovers(most: number): Promise<number>;
  /**
   * The card of the newest settled sale that a card with this fingerprint paid for, and that sale. Until the search of
   * payments is built after an upgrade, older sales by token and repetitions may be missing.
   */
  findSettled(mid: string, fingerprint: string): Promise<SoldCard | undefined>;
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

const KEY_OF_CARD = 'cards_mid_key_version_fkey';

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

/** SQL: the assignments that keep the number of a card `t` for good, or erase it. */
export const keptIf = (isNeeded: string): string => `
    is_kept = ${isNeeded},
    sealed = case when ${isNeeded} then t.sealed end,
    key_version = case when ${isNeeded} then t.key_version end`;

/** SQL: whether a card `t` is neither kept for good nor erased. A payment with an outcome never begins to need its card. */
const IS_UNDECIDED = 't.sealed is not null and not t.is_kept';

/** What a crash of the database loses of it, the next sweep does again. */
export const ERASE_LEFTOVERS = `
  with ${UNWAITED}
  update cards t set ${keptIf('d.is_needed')}
  from (
    select c.mid, c.card_id, ${IS_NEEDED} as is_needed
    from cards c left join payments p on p.mid = c.mid and p.payment_id = c.payment_id
    where c.sealed is not null and not c.is_kept and ${HAS_OUTCOME}
    limit $1 for update of c skip locked
  ) d, unwaited
  where t.mid = d.mid and t.card_id = d.card_id and ${IS_UNDECIDED}`;

const CARD: Column<CardRow>[] = [
  ['mid', 'uuid', ({ mid }) => mid],
  ['card_id', 'uuid', ({ cardId }) => cardId],
  ['token', 'text', ({ token }) => token],
  ['key_version', 'int', ({ keyVersion }) => keyVersion],
  ['sealed', 'bytea', ({ sealed }) => sealed],
  ['fingerprint', 'text', ({ fingerprint }) => fingerprint],
  ['masked', 'text', ({ masked }) => masked],
  ['network', 'text', ({ network }) => network],
  ['payment_id', 'uuid', ({ paymentId }) => paymentId],
  ['created_at', 'timestamptz', ({ createdAt }) => createdAt],
];
const CARD_ITEMS = itemRows<CardRow>(CARD);
const INSERT = `
  insert into cards (${listed(namesOf(CARD))})
  select ${listed(namesOf(CARD), 'i')}`;
/** The sweep erases a number that was stored after the outcome. */
const OR_SEAL = `
  on conflict (mid, card_id) do update set sealed = excluded.sealed, key_version = excluded.key_version
  where cards.sealed is null and cards.payment_id = excluded.payment_id`;
const INSERT_WAITED = `${INSERT} from ${CARD_ITEMS.rows('i')} ${OR_SEAL}`;
const INSERT_UNWAITED = `with ${UNWAITED} ${INSERT} from ${CARD_ITEMS.rows('i')}, unwaited ${OR_SEAL}`;

/** The keys of an account change with a rotation only; one that was retired meanwhile is refused by the foreign key. */
const KEYS_KEPT = { maxEntries: LIMITS.accountsRemembered, maxAgeMs: LIMITS.vaultKeyAgeMs, maxMissAgeMs: 0 };

/** SQL: sales by token and repetitions use the card row of an earlier sale, and the search finds them by that card. */
const newestSettled = (tail: Portion): string => `
  with entered as (select card_id, payment_id from cards where mid = $1 and fingerprint = $2)
  select p.mid, e.card_id as "cardId", $2 as fingerprint, p.payment_id as "paymentId" from (
    select payment_id from entered
    union select s.payment_id from entered join payment_search s on s.mid = $1 and s.card_id = entered.card_id
    union select t.payment_id from (${tail.payments}) t where t.mid = $1
  ) f join payments p on p.mid = $1 and p.payment_id = f.payment_id and p.state = 'SETTLED'
  join entered e on e.card_id::text = p.details #>> '{card,id}'
  order by p.payment_id desc limit 1`;

export function createCardStore({ query, pool, writes, isolated }: Database): CardStore {
  const batched = createBatching(() => undefined, {});
  const inserting = (name: string, text: string) => {
    const insertAll = (connection: PipelinedConnection) => async (cards: CardRow[]) => {
      await run(connection, name, text, CARD_ITEMS.values(cards));
      return cards.map(() => true);
    };
    return batched(
      name,
      insertAll(writes),
      isolating(({ cardId }) => cardId, insertAll(isolated)),
    );
  };
  const insert = inserting('insert_cards', INSERT_WAITED);
  const insertUnwaited = inserting('insert_cards_unwaited', INSERT_UNWAITED);
  const dataKeys = createCache<DataKeyRow>(KEYS_KEPT);
  const fingerprintKeys = createCache<Buffer>(KEYS_KEPT);
  async function forgetRetiredKey(error: unknown): Promise<boolean> {
    const isRetired = (error as { constraint?: string }).constraint === KEY_OF_CARD;
    if (isRetired) dataKeys.forget();
    return isRetired;
  }
  const cards = () =>
    query
      .selectFrom('cards as c')
      .innerJoin('dataKeys as k', (join) => join.onRef('k.mid', '=', 'c.mid').onRef('k.version', '=', 'c.keyVersion'))
      .select(['c.mid', 'c.cardId', 'c.token', 'c.keyVersion', 'c.sealed', 'c.fingerprint', 'c.masked', 'c.network'])
      .select(['c.paymentId', 'c.createdAt', 'k.sealed as keySealed']);
  return {
    async insert(card, isWaited) {
      try {
        return await (isWaited ? insert : insertUnwaited)(card);
      } catch (error) {
        if (await forgetRetiredKey(error)) return false;
        throw error;
      }
    },
    forgetRetiredKey,
    async remove(mid, cardId) {
      await query.deleteFrom('cards').where('mid', '=', mid).where('cardId', '=', cardId).execute();
    },
    async eraseLeftovers(most) {
      return (await pool.query(ERASE_LEFTOVERS, [most])).rowCount ?? 0;
    },
    findSettled: (mid, fingerprint) =>
      readProjection({ pool }, paymentSearch, async ({ client, tail }) => {
        const { rows } = await client.query<SoldCard>(newestSettled(tail), [mid, fingerprint]);
        return rows[0];
      }),
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
      return dataKeys.get(mid, () =>
        query
          .selectFrom('dataKeys')
          .select(['mid', 'version', 'sealed'])
          .where('mid', '=', mid)
          .orderBy('version', 'desc')
          .limit(1)
          .executeTakeFirst(),
      );
    },
    async insertDataKey(key, at) {
      await query
        .insertInto('dataKeys')
        .values({ ...key, createdAt: iso(at) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
    async fingerprintKey(mid) {
      return fingerprintKeys.get(mid, async () => {
        const row = query.selectFrom('fingerprintKeys').select('sealed').where('mid', '=', mid);
        return (await row.executeTakeFirst())?.sealed;
      });
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
