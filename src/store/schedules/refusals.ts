/** The series and the cards that must not be charged again, after a decline of the class `never`. */
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

const REFUSE_CARD = `
  insert into refused_cards (mid, fingerprint, refused_at)
  select mid, fingerprint, $3 from cards where mid = $1 and card_id = $2
  on conflict (mid, fingerprint) do update set refused_at = greatest(refused_cards.refused_at, excluded.refused_at)`;

/** A card with which a series began after the refusal was accepted again, with its holder. */
const IS_SERIES_REFUSED = `
  select exists (select from refused_series where mid = $1 and first_payment_id = $2) or exists (
    select from cards c
    join refused_cards r on r.mid = c.mid and r.fingerprint = c.fingerprint
    join payments p on p.mid = c.mid and p.payment_id = $2
    where c.mid = $1 and c.card_id = $3 and r.refused_at >= p.created_at
  ) as "isRefused"`;

export interface RefusalStore {
  /** The card of a series must not be charged again. */
  refuseSeries(mid: string, firstPaymentId: string, now: number): Promise<void>;
  /** A card must not be charged again by any series of the account that has begun. */
  refuseCard(mid: string, cardId: string, now: number): Promise<void>;
  /** Whether a series was refused, or its card, without which there is none to look for. */
  isSeriesRefused(mid: string, firstPaymentId: string, cardId?: string): Promise<boolean>;
}

export const createRefusalStore = ({ pool, query }: Pick<Database, 'pool' | 'query'>): RefusalStore => ({
  async refuseSeries(mid, firstPaymentId, now) {
    await query
      .insertInto('refusedSeries')
      .values({ mid, firstPaymentId, refusedAt: iso(now) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  },
  async refuseCard(mid, cardId, now) {
    await pool.query(REFUSE_CARD, [mid, cardId, iso(now)]);
  },
  async isSeriesRefused(mid, firstPaymentId, cardId) {
    const { rows } = await pool.query<{ isRefused: boolean }>(IS_SERIES_REFUSED, [mid, firstPaymentId, cardId ?? null]);
    return rows[0]?.isRefused === true;
  },
});
