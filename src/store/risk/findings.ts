/** What is read for decisions of risk rules: velocities, list entries, the operator's data and volumes of accounts. */
import { LIMITS } from '../../rules/limits.ts';
import { AUTHENTICATION_REQUIRED, UNANSWERED_AUTHENTICATION } from '../../rules/reasons.ts';
import type { RiskDecision } from '../../rules/risk/actions.ts';
import { type LowValueUse, NO_LOW_VALUE_USE } from '../../rules/risk/exemptions.ts';
import { RANGE_DIGITS } from '../../rules/risk/list-kinds.ts';
import { type KeyField, LOOKED_UP_FIELDS, type Measurement } from '../../rules/risk/velocities.ts';
import { iso } from '../database/columns.ts';
import { itemRows } from '../database/item-rows.ts';
import type { FraudRate } from './fraud-rates.ts';
import { type Measured, type MeasuredPayment, measure, placeOf } from './velocities.ts';
import { NO_VOLUME, type Runner, settleVolumes, type Volume, type VolumeQuery } from './volumes.ts';

export interface ListLookup {
  listId: string;
  /** The entries that would match. */
  values: readonly string[];
}

/** What is read for the decision about a payment. */
export interface Findings {
  /** In the order of the measurements; undefined if the payment lacks a key. */
  measured: (number | bigint | undefined)[];
  /** In the order of the lookups. */
  listed: boolean[];
  volumes: Volume[];
  bin: { network: string | null; country: string | null; funding: string | null } | undefined;
  ipCountry: string | undefined;
  /** Whether an earlier payment of the account had the card; undefined if nobody asks. */
  isKnownCard: boolean | undefined;
  lowValue: LowValueUse;
  /** The rates of the connection in this quarter and in the one before; empty if nobody asks. */
  fraudRates: readonly FraudShare[];
}

export type FraudShare = Pick<FraudRate, 'captured' | 'fraud'>;

export interface Evaluation extends MeasuredPayment {
  amount: bigint;
  currency: string;
  brand: string;
  /** The values of fields that velocities may count, as the input has them. */
  values: Readonly<Record<string, unknown>>;
  lookups: readonly ListLookup[];
  volumes: readonly VolumeQuery[];
  /** The account has limits in this currency, so that the payment is counted. */
  countsVolume?: boolean;
  /** The first digits of a card number, and the networks around an address; undefined if nobody asks. */
  bin?: string | undefined;
  networks?: readonly string[] | undefined;
  /** Whether it matters if an earlier payment had the card. */
  asksForCard?: boolean;
  /** Whether it matters how often the card used the exemption of low amounts. */
  asksForLowValue?: boolean;
  /** The connection and the quarter whose fraud rate matters. */
  fraudRate?: { connector: string; since: number } | undefined;
  /** The second evaluation of a payment. */
  isAgain?: boolean;
}

interface LookupRow {
  n: number;
  listId: string;
  value: string;
  at: number;
}
const LOOKUPS = itemRows<LookupRow>([
  ['n', 'int', ({ n }) => n],
  ['list_id', 'uuid', ({ listId }) => listId],
  ['value', 'text', ({ value }) => value],
  ['at', 'timestamptz', ({ at }) => at],
]);

const LOOK_UP = `
  select l.n from ${LOOKUPS.rows('l')}
  join risk_list_entries e on e.list_id = l.list_id and e.value = l.value and (e.expires_at is null or e.expires_at > l.at)`;

/**
 * The payments of a card by the exemption of low amounts since its last payment without an exemption. If the bank wanted
 * an authentication all the same, the payment was made without one. A payment whose 3DS directory did not answer had no
 * authentication, and does not begin a new count.
 */
const COUNT_LOW_VALUE = `
  with d as (
    select i.n, d.at, d.amount, d.currency = i.currency as is_counted, d.three_ds ->> 'reason' as reason,
      p.route_reason like '%${AUTHENTICATION_REQUIRED}%' as is_refused,
      p.state in ('PENDING', 'SETTLED', 'REFUND', 'CHARGEBACK') and d.three_ds ->> 'requested' is distinct from 'none' as is_plain,
      exists (
        select from history h where h.mid = p.mid and h.payment_id = p.payment_id
          and h.call ->> 'authentication' = '${UNANSWERED_AUTHENTICATION}'
      ) as is_unanswered
    from jsonb_to_recordset($1::jsonb) as i(n int, mid uuid, payment_id uuid, card_key text, currency text, since timestamptz)
    join risk_decisions d on d.card_key = i.card_key and d.at > i.since and d.mid = i.mid and d.payment_id <> i.payment_id
      and d.decision <> 'block'
    join payments p on p.mid = d.mid and p.payment_id = d.payment_id
      and p.state not in ('DECLINED', 'VOID', 'REVERSAL', 'EXPIRED')
  )
  select n, count(*)::int as count, coalesce(sum(amount) filter (where is_counted), 0)::bigint as amount from d
  where reason = 'low_value' and is_refused is not true and not exists (
    select from d later where later.n = d.n and later.at > d.at and (later.is_plain or later.is_refused) and not later.is_unanswered
  )
  group by n`;

/** A range of card numbers is found if it has all numbers with the first digits that are known. */
const FIND_DATA = `
  select i.n, b.network, b.country, b.funding, c.country as "ipCountry", exists (
      select from risk_decisions d where d.card_key = i.card_key and d.mid = i.mid and d.payment_id <> i.payment_id
    ) as "isKnownCard"
  from jsonb_to_recordset($1::jsonb) as i(n int, mid uuid, payment_id uuid, card_key text, bin bigint, last_bin bigint, networks text[])
  left join lateral (
    select * from risk_bins b where b.first_number <= i.bin order by b.first_number desc limit 1
  ) b on b.last_number >= i.last_bin
  left join lateral (
    select r.country from risk_ip_countries r where r.network = any (i.networks)
    order by split_part(r.network, '/', 2)::int desc limit 1
  ) c on true`;

export const hasKeys = ({ keys }: Evaluation, { velocity }: Measurement): boolean =>
  velocity.by.every((field) => keys[field] !== undefined);

/** Whether later payments count values that are found while this one is decided. */
export const addsFoundValues = (item: Evaluation): boolean =>
  item.measurements.some((one) => LOOKED_UP_FIELDS.includes(one.velocity.of) && hasKeys(item, one));

/** What an earlier payment of the same transaction adds to a velocity. */
function isCounted(earlier: Evaluation, item: Evaluation, { velocity, isOfInstallation }: Measurement): boolean {
  return (
    velocity.outcome === 'attempted' &&
    (isOfInstallation || earlier.mid === item.mid) &&
    earlier.paymentId !== item.paymentId &&
    velocity.by.every((field) => earlier.keys[field] === item.keys[field])
  );
}

const isInVolume = (earlier: Evaluation, item: Evaluation, { currency, brands }: VolumeQuery): boolean =>
  earlier.mid === item.mid && earlier.currency === currency && (brands.length === 0 || brands.includes(earlier.brand));

function totalOf(
  row: Measured | undefined,
  earlier: readonly DecidedItem[],
  { velocity: { measure, of, currency } }: Measurement,
): number | bigint {
  if (measure === 'count') return (row?.count ?? 0) + earlier.length;
  if (measure === 'amount') {
    const more = earlier.reduce((sum, { item }) => (item.currency === currency ? sum + item.amount : sum), 0n);
    return (row?.amount ?? 0n) + more;
  }
  const added = earlier.map(({ item, input }) => item.keys[of as KeyField] ?? input[of as string]);
  return new Set(
    [...(row?.values ?? []), ...added].filter((value) => value !== null && value !== undefined).map(String),
  ).size;
}

async function lookUp(runner: Runner, items: readonly Evaluation[]): Promise<Set<number>> {
  const lookups: LookupRow[] = [];
  items.forEach(({ lookups: wanted, at }, index) => {
    wanted.forEach(({ listId, values }, position) => {
      for (const value of values) lookups.push({ n: placeOf(index, position), listId, value, at });
    });
  });
  if (lookups.length === 0) return new Set();
  const values = LOOKUPS.values(lookups);
  const { rows } = await runner.query<{ n: number }>({ name: 'risk_look_up', text: LOOK_UP, values });
  return new Set(rows.map(({ n }) => n));
}

/** How long ago a payment may have been that still counts for the exemption of low amounts. */
const LOW_VALUE_MS = 90 * LIMITS.dayMs;

export const usesLowValue = ({ asksForLowValue, keys }: Evaluation): boolean =>
  asksForLowValue === true && keys.card !== undefined;

async function countLowValue(runner: Runner, items: readonly Evaluation[]): Promise<Map<number, LowValueUse>> {
  const rows = items.flatMap((item, n) =>
    usesLowValue(item)
      ? {
          n,
          mid: item.mid,
          payment_id: item.paymentId,
          card_key: item.keys.card,
          currency: item.currency,
          since: iso(item.at - LOW_VALUE_MS),
        }
      : [],
  );
  if (rows.length === 0) return new Map();
  const found = await runner.query<LowValueUse & { n: number }>({
    name: 'risk_low_value',
    text: COUNT_LOW_VALUE,
    values: [JSON.stringify(rows)],
  });
  return new Map(found.rows.map(({ n, ...used }) => [n, used]));
}

const FRAUD_RATES = `
  select i.n, r.captured, r.fraud
  from jsonb_to_recordset($1::jsonb) as i(n int, connector text, since timestamptz, currency text)
  join risk_fraud_rates r on r.connector = i.connector and r.quarter >= i.since and r.currency = i.currency`;

async function readFraudRates(runner: Runner, items: readonly Evaluation[]): Promise<Map<number, FraudShare[]>> {
  const rows = items.flatMap(({ fraudRate, currency }, n) =>
    fraudRate ? { n, connector: fraudRate.connector, since: iso(fraudRate.since), currency } : [],
  );
  if (rows.length === 0) return new Map();
  const found = await runner.query<FraudShare & { n: number }>({
    name: 'risk_fraud_rates',
    text: FRAUD_RATES,
    values: [JSON.stringify(rows)],
  });
  return Map.groupBy(found.rows, ({ n }) => n);
}

interface Data {
  n: number;
  network: string | null;
  country: string | null;
  funding: string | null;
  ipCountry: string | null;
  isKnownCard: boolean;
}
async function readData(runner: Runner, items: readonly Evaluation[]): Promise<Map<number, Data>> {
  const rows = items.flatMap(({ mid, paymentId, keys, bin, networks = [], asksForCard }, n) => {
    const card = asksForCard ? (keys.card ?? null) : null;
    if (card === null && bin === undefined && networks.length === 0) return [];
    const [first, last] = ['0', '9'].map((digit) => bin?.padEnd(RANGE_DIGITS, digit) ?? null);
    return { n, mid, payment_id: paymentId, card_key: card, bin: first, last_bin: last, networks };
  });
  if (rows.length === 0) return new Map();
  const found = await runner.query<Data>({ name: 'risk_data', text: FIND_DATA, values: [JSON.stringify(rows)] });
  return new Map(found.rows.map((row) => [row.n, row]));
}

/** An item of the same transaction that is decided already. */
export interface DecidedItem {
  item: Evaluation;
  decision: RiskDecision;
  /** What was known of it, with what was found. */
  input: Readonly<Record<string, unknown>>;
  /** It asks for the exemption of low amounts. */
  isLowValue: boolean;
}

/** Reads for all items; each gets its findings once those before it are decided. */
export async function read(runner: Runner, items: readonly Evaluation[], areVolumesLocked = false) {
  // The first statement of each is sent at once, so that a pipelined connection gets them together.
  const [measured, listed, data, volumes, lowValues, fraudRates] = await Promise.all([
    measure(runner, items),
    lookUp(runner, items),
    readData(runner, items),
    areVolumesLocked ? settleVolumes(runner, items) : [],
    countLowValue(runner, items),
    readFraudRates(runner, items),
  ]);
  return (index: number, decided: readonly DecidedItem[]): Findings => {
    const item = items[index] as Evaluation;
    const own = data.get(index);
    return {
      measured: item.measurements.map((measurement, position) => {
        if (!hasKeys(item, measurement)) return undefined;
        const earlier = decided.filter((one) => isCounted(one.item, item, measurement));
        return totalOf(measured.get(placeOf(index, position)), earlier, measurement);
      }),
      listed: item.lookups.map((_, position) => listed.has(placeOf(index, position))),
      volumes: item.volumes.map((wanted, position) =>
        decided
          .filter((one) => one.decision !== 'block' && isInVolume(one.item, item, wanted))
          .reduce(
            ({ amount, count }, one) => ({ amount: amount + one.item.amount, count: count + 1 }),
            volumes[index]?.[position] ?? NO_VOLUME,
          ),
      ),
      bin: own && { network: own.network, country: own.country, funding: own.funding },
      ipCountry: own?.ipCountry ?? undefined,
      isKnownCard: item.asksForCard
        ? own?.isKnownCard === true ||
          decided.some((one) => one.item.mid === item.mid && one.item.keys.card === item.keys.card)
        : undefined,
      lowValue: decided
        .filter((one) => one.isLowValue && one.item.mid === item.mid && one.item.keys.card === item.keys.card)
        .reduce(
          ({ count, amount }, one) => ({
            count: count + 1,
            amount: one.item.currency === item.currency ? amount + one.item.amount : amount,
          }),
          lowValues.get(index) ?? NO_LOW_VALUE_USE,
        ),
      fraudRates: fraudRates.get(index) ?? [],
    };
  };
}
