/** What accounts with volume limits have taken: sums of the payments that have ended, and those that may still change. */
import { FIRST_ID } from '../../lib/crypto/id.ts';
import { utcDay } from '../../lib/time/day.ts';
import { OPENED_BEFORE_MS } from '../../rules/risk/volume-limits.ts';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { PipelinedConnection } from '../database/pipelined-connection.ts';
import type { PaymentKey } from '../payments/payments.ts';

/** Runs statements: a pool, a client in a transaction, or a packet. */
export type Runner = Pick<PipelinedConnection, 'query'>;

/** The terms of a volume limit, by which the payments of an account are added up. */
export interface VolumeQuery {
  since: number;
  /** The start of the month, and an id that no payment which counts since then is below. */
  month: number;
  firstId: string;
  currency: string;
  /** Empty for all. */
  brands: readonly string[];
}

export interface Volume {
  amount: bigint;
  count: number;
}

export const NO_VOLUME: Volume = { amount: 0n, count: 0 };

export interface VolumeStore {
  /** What an account has taken. */
  read(mid: string, queries: readonly VolumeQuery[]): Promise<Volume[]>;
  /** The account is counted anew with its next payment: its limits change, or a payment that had ended was settled. */
  restart(mid: string): Promise<void>;
}

/** An item whose volumes are read; its own payment does not count. */
type Item = PaymentKey & { volumes: readonly VolumeQuery[] };

/** SQL: whether the payment `p` counts, and whether it stays so. */
const IS_ENDED = `p.state not in ('PREPARE', 'REDIRECT', '3DS', 'PENDING')`;
const SUCCEEDS = `p.state in ('PENDING', 'SETTLED', 'REFUND', 'CHARGEBACK')`;
const TAKEN = 'case when p.captured > 0 then p.captured else p.amount end';
/** SQL: the decision `d` about the payment `p`, and the day of the payment: that on which its limits were checked last. */
const DECISION = 'left join risk_decisions d on d.mid = p.mid and d.payment_id = p.payment_id';
const DAY = `(coalesce(d.evaluated_again_at, d.at, p.created_at) at time zone 'UTC')::date`;
const FIRST_DAY = `(i.month at time zone 'UTC')::date`;

/** Counts an account from its payments of the month, as often as a start is older than a day: nothing is lost for long. */
const COUNT = `
  with i as (
    select * from jsonb_to_recordset($1::jsonb) as i(mid uuid, currency text, month timestamptz, first_id uuid)
  ), p as (
    select p.*, ${TAKEN} as taken, ${DAY} as day, coalesce(d.decision <> 'block', false) as is_let_through
    from i join payments p on p.mid = i.mid and p.currency = i.currency and p.payment_id >= i.first_id
      and p.created_at >= i.month - interval '${OPENED_BEFORE_MS} milliseconds'
    ${DECISION} where ${DAY} >= ${FIRST_DAY}
  ), sums as (
    insert into risk_volumes (mid, currency, day, brand, amount, count)
    select p.mid, p.currency, p.day, p.brand, sum(p.taken), count(*) from p where ${IS_ENDED} and ${SUCCEEDS}
    group by p.mid, p.currency, p.day, p.brand
  ), open as (
    insert into risk_volume_open (mid, currency, payment_id, is_let_through)
    select p.mid, p.currency, p.payment_id, p.is_let_through from p where not ${IS_ENDED}
    on conflict do nothing
  )
  insert into risk_volume_starts (mid, currency, counted_at) select mid, currency, now() from i
  on conflict (mid, currency) do update set counted_at = excluded.counted_at`;

const FORGET = `
  with i as (select * from jsonb_to_recordset($1::jsonb) as i(mid uuid, currency text)),
  sums as (delete from risk_volumes v using i where v.mid = i.mid and v.currency = i.currency)
  delete from risk_volume_open o using i where o.mid = i.mid and o.currency = i.currency`;

/** The sums, and each open payment by itself; an account that has no recent start has one row without a brand. */
const SELECT_VOLUMES = `
  select i.mid, i.currency, null as day, null as brand, null::uuid as "paymentId", 0::bigint as amount, 0 as count from i
  where not exists (
    select from risk_volume_starts s where s.mid = i.mid and s.currency = i.currency and s.counted_at > now() - interval '1 day'
  )
  union all
  select v.mid, v.currency, v.day::text, v.brand, null, v.amount, v.count from i join risk_volumes v
    on v.mid = i.mid and v.currency = i.currency and v.day >= ${FIRST_DAY}
  union all
  select mid, currency, day::text, brand, payment_id, taken, 1 from o where is_counted`;

const OPEN = `
  i as (select * from jsonb_to_recordset($1::jsonb) as i(mid uuid, currency text, month timestamptz)),
  o as (
    select o.mid, o.currency, o.payment_id, p.brand, ${TAKEN} as taken, ${DAY} as day, ${IS_ENDED} as is_ended,
      ${SUCCEEDS} or not ${IS_ENDED} and o.is_let_through as is_counted
    from i join risk_volume_open o on o.mid = i.mid and o.currency = i.currency
    join payments p on p.mid = o.mid and p.payment_id = o.payment_id
    ${DECISION}
  )`;

const READ = `with ${OPEN} ${SELECT_VOLUMES}`;

/** Reads the same, and adds the payments that have ended to the sums. The caller holds the lock of the account's volumes. */
const SETTLE = `
  with ${OPEN}, ended as (
    delete from risk_volume_open r using o
    where o.is_ended and r.mid = o.mid and r.currency = o.currency and r.payment_id = o.payment_id
  ), added as (
    insert into risk_volumes as v (mid, currency, day, brand, amount, count)
    select mid, currency, day, brand, sum(taken), count(*) from o where is_ended and is_counted
    group by mid, currency, day, brand
    on conflict (mid, currency, day, brand) do update
      set amount = v.amount + excluded.amount, count = v.count + excluded.count
  ) ${SELECT_VOLUMES}`;

interface VolumeRow {
  mid: string;
  currency: string;
  day: string | null;
  brand: string | null;
  paymentId: string | null;
  amount: bigint;
  count: number;
}

/** Each account and currency once. */
const pairsOf = (items: readonly Item[]) => [
  ...new Map(
    items.flatMap(({ mid, volumes }) =>
      volumes.map(({ currency, month, firstId }) => [
        `${mid} ${currency}`,
        { mid, currency, month: iso(month), first_id: firstId },
      ]),
    ),
  ).values(),
];

type Pair = ReturnType<typeof pairsOf>[number];

const isUncounted =
  (rows: readonly VolumeRow[]) =>
  ({ mid, currency }: Pair): boolean =>
    rows.some((row) => row.brand === null && row.mid === mid && row.currency === currency);

/** What a query adds up, without the payment itself. */
const totalOf = (rows: readonly VolumeRow[], { mid, paymentId }: PaymentKey, query: VolumeQuery): Volume =>
  rows
    .filter(
      (row) =>
        row.mid === mid &&
        row.currency === query.currency &&
        row.brand !== null &&
        (row.day as string) >= utcDay(query.since) &&
        row.paymentId !== paymentId &&
        (query.brands.length === 0 || query.brands.includes(row.brand)),
    )
    .reduce(({ amount, count }, row) => ({ amount: amount + row.amount, count: count + row.count }), NO_VOLUME);

/**
 * The volumes of each item. The transaction holds the locks of the accounts; one that has no recent count is counted first.
 */
export async function settleVolumes(client: Runner, items: readonly Item[]): Promise<Volume[][]> {
  const pairs = pairsOf(items);
  if (pairs.length === 0) return items.map(() => []);
  const settle = async (wanted: readonly Pair[]): Promise<VolumeRow[]> =>
    (await client.query<VolumeRow>({ name: 'risk_volumes', text: SETTLE, values: [JSON.stringify(wanted)] })).rows;
  const rows = await settle(pairs);
  const uncounted = pairs.filter(isUncounted(rows));
  if (uncounted.length === 0) return volumesIn(rows, items);
  const values = [JSON.stringify(uncounted)];
  await client.query({ name: 'risk_forget_volumes', text: FORGET, values });
  await client.query({ name: 'risk_count_volumes', text: COUNT, values });
  return volumesIn(await settle(pairs), items);
}

const volumesIn = (rows: readonly VolumeRow[], items: readonly Item[]): Volume[][] =>
  items.map((item) => item.volumes.map((query) => totalOf(rows, item, query)));

export function createVolumeStore({ pool }: Database): VolumeStore {
  return {
    async read(mid, volumes) {
      const items = [{ mid, paymentId: FIRST_ID, volumes }];
      const { rows } = await pool.query<VolumeRow>(READ, [JSON.stringify(pairsOf(items))]);
      if (!pairsOf(items).some(isUncounted(rows))) return volumesIn(rows, items)[0] ?? [];
      // Nothing is written for a reader: the same is counted, and thrown away.
      const client = await pool.connect();
      try {
        await client.query('begin');
        return (await settleVolumes(client, items))[0] ?? [];
      } finally {
        await client.query('rollback').catch(() => undefined);
        client.release();
      }
    },
    async restart(mid) {
      await pool.query('delete from risk_volume_starts where mid = $1', [mid]);
    },
  };
}
