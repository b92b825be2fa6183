/** The rows of a reconciliation: finds the payments of a statement, and compares both sides in portions of payments. */
import { Outage } from '../../lib/flow/faults.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Outcome, StatementType } from '../../rules/statements.ts';
import { columns, iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { type Column, itemRows } from '../database/item-rows.ts';
import { inTransaction } from '../database/transaction.ts';
import { SEARCH } from '../payments/search-projection.ts';
import { events, MOVEMENTS, PAYOUT_BRANDS } from '../reports/rollup-deltas.ts';
import type { ReconciliationRun, StatementTotal } from './reconciliations.ts';

/** A row of a statement, with the sign of its amount. */
export interface StatementRow {
  line: number;
  /** Our payment id or operation id; null if the reference is none. */
  ownId: string | null;
  providerReference: string | null;
  /** As the statement has it. */
  reference: string;
  type: StatementType;
  amount: bigint;
  /** What the provider charged; null if the statement does not tell. */
  fee: bigint | null;
  currency: string;
  at: number | null;
}

/** What a provider charged for the event of a history row. */
export interface ChargedRow {
  number: bigint;
  mid: string;
  paymentId: string;
  seq: number;
  type: StatementType;
  fee: bigint;
  currency: string;
}

export interface ReconciledRow {
  number: bigint;
  outcome: Outcome;
  type: StatementType;
  line: bigint | null;
  reference: string | null;
  amount: bigint | null;
  currency: string | null;
  at: number | null;
  mid: string | null;
  paymentId: string | null;
  ourAmount: bigint | null;
  ourCurrency: string | null;
  ourAt: number | null;
}

/** The movements that a statement should have. */
export interface StatementScope {
  from: number;
  to: number;
  /** Null means all connectors. */
  connector: string | null;
}

export interface ReconciliationRowStore {
  /** Writes rows of the statement with the payments that they refer to; they are missing here until they are compared. */
  insert(run: ReconciliationRun, connector: string | null, rows: readonly StatementRow[]): Promise<void>;
  /** All rows are written: returns the first and the last time in the statement, or undefined if it has none. */
  prepare(run: ReconciliationRun): Promise<{ from: number; to: number } | undefined>;
  /** Compares the next portion of payments of the statement after one; undefined when there are no more. */
  comparePortion(run: ReconciliationRun, scope: StatementScope, after: string): Promise<string | undefined>;
  /** Adds the movements in the scope whose payments the statement does not have at all. */
  addMissing(run: ReconciliationRun, scope: StatementScope): Promise<void>;
  totals(run: ReconciliationRun): Promise<StatementTotal[]>;
  /** The rows that were compared with a movement of ours and tell what it cost, in portions. */
  charged(run: ReconciliationRun, limit: number, after: bigint): Promise<ChargedRow[]>;
  /** In the order of the statement; `after` is the number of the last row of the previous page. */
  list(reconciliationId: string, outcome: Outcome | undefined, limit: number, after: bigint): Promise<ReconciledRow[]>;
}

const ROWS: readonly Column<StatementRow>[] = [
  ['line', 'bigint', ({ line }) => line],
  ['own_id', 'uuid', ({ ownId }) => ownId],
  ['provider_reference', 'text', ({ providerReference }) => providerReference],
  ['reference', 'text', ({ reference }) => reference],
  ['type', 'text', ({ type }) => type],
  ['amount', 'bigint', ({ amount }) => amount],
  ['fee', 'bigint', ({ fee }) => fee],
  ['currency', 'text', ({ currency }) => currency],
  ['at', 'timestamptz', ({ at }) => at],
];
const statementRows = itemRows(ROWS, 3);

/**
 * An operation tells its type; a payout is listed as a sale. Refunds, chargebacks and payouts have either sign, which
 * depends on the provider; a negative amount of another sale takes it back.
 */
const INSERT = `
  -- The payments that changed since the position of the projection, in the same snapshot.
  with recent as materialized (
    select distinct p.mid, p.payment_id, p.provider_reference from history h
    join payments p on p.mid = h.mid and p.payment_id = h.payment_id
    where h.number > (select history_number from projections where name = '${SEARCH}')
      and p.provider_reference is not null
  )
  insert into reconciliation_rows (reconciliation_id, number, line, outcome, reference, type, amount, fee, currency, at,
    mid, payment_id)
  select $1, s.line, s.line, 'missing_here', s.reference, t.type,
    case when t.type = 'sale' and not t.is_payout then s.amount else abs(s.amount) end, s.fee, s.currency, s.at, f.mid, f.payment_id
  from ${statementRows.manyRows('s')} left join lateral (
    (select p.mid, p.payment_id, p.brand, null as verb from payments p where p.payment_id = s.own_id limit 1)
    union all
    (select o.mid, o.payment_id, null, o.verb::text from operations o where o.operation_id = s.own_id limit 1)
    union all
    (select p.mid, p.payment_id, p.brand, null from (
        select r.mid, r.payment_id from payment_search r
        where r.provider_reference = s.provider_reference and length(r.provider_reference) <= 255
        union select n.mid, n.payment_id from recent n where n.provider_reference = s.provider_reference
      ) f join payments p on p.mid = f.mid and p.payment_id = f.payment_id
      where p.provider_reference = s.provider_reference and ($2::text is null or p.connector = $2)
      order by p.payment_id desc limit 1)
    limit 1
  ) f on true cross join lateral (
    select coalesce(f.brand in ${PAYOUT_BRANDS}, false) as is_payout,
      case when f.verb in ('refund', 'credit') then 'refund' when f.verb = 'capture' or f.brand in ${PAYOUT_BRANDS} then 'sale'
        else s.type end as type
  ) t`;

/** A reversal stays what no movement of ours was found for; its sign tells it from the others. */
const OUTCOME = `case when r.outcome = 'missing_here' and r.amount < 0 then 'reversed' else r.outcome end`;
const ofOutcome = (outcome: Outcome): string =>
  outcome === 'reversed' || outcome === 'missing_here'
    ? `r.outcome = 'missing_here' and r.amount ${outcome === 'reversed' ? '<' : '>='} 0`
    : `r.outcome = '${outcome}'`;

const RANGE = `
  select min(at) as "from", max(at) as "to" from reconciliation_rows where reconciliation_id = $1 having min(at) is not null`;

/** The numbers of movements that the statement does not have follow those of all other rows. */
const missingThere = (source: string): string => `
  insert into reconciliation_rows (reconciliation_id, number, outcome, type, mid, payment_id, our_amount, our_currency,
    our_at)
  select $1, (select coalesce(max(number), 0) from reconciliation_rows where reconciliation_id = $1)
      + row_number() over (order by m.at, m.payment_id, m.seq),
    'missing_there', m.type, m.mid, m.payment_id, m.amount, m.currency, m.at
  from ${source}`;

const IN_SCOPE = `m.at >= $2 and m.at < $3 and ($4::text is null or m.connector = $4)`;

/** The last payment of the next portion. */
const BOUND = `
  select payment_id as "paymentId" from (
    select payment_id from reconciliation_rows
    where reconciliation_id = $1 and payment_id > $2 and line is not null order by payment_id limit $3
  ) next order by payment_id desc limit 1`;

/**
 * Pairs each row of the statement with one movement of its payment and type: first those with the same amount, then the
 * others in their order. Both sides are sorted together instead of joined, because the planner cannot estimate them.
 */
const COMPARE = `
  with listed as materialized (
    select r.number, r.mid, r.payment_id, r.type, r.amount, r.currency from reconciliation_rows r
    where r.reconciliation_id = $1 and r.payment_id > $5 and r.payment_id <= $6 and r.line is not null
  ), portion as materialized (
    select distinct mid, payment_id from listed
  ), events as materialized (
    ${events('portion x join history h on h.mid = x.mid and h.payment_id = x.payment_id', 'true')}
  ), sides as (
    select number, mid, payment_id, type, amount, currency, null::int as seq, null::timestamptz as at, null as connector
    from listed where amount > 0
    union all
    select null, mid, payment_id, type, amount, currency, seq, at, connector from (${MOVEMENTS}) m
  ), counted as (
    select s.*, row_number() over (partition by payment_id, type, amount, currency, number is null order by number, seq) as n
    from sides s
  ), marked as (
    select c.*, count(*) over (partition by payment_id, type, amount, currency, n) = 2 as is_exact from counted c
  ), ranked as (
    select m.*, row_number() over (partition by payment_id, type, is_exact, number is null order by number, seq) as place
    from marked m
  ), pairs as materialized (
    select mid, payment_id, type, is_exact, max(number) as number, max(seq) as seq, max(at) as at,
      max(connector) as connector, max(amount) filter (where number is null) as amount,
      max(currency) filter (where number is null) as currency
    from ranked
    group by mid, payment_id, type, is_exact, case when is_exact then n else place end,
      case when is_exact then amount end, case when is_exact then currency end
  ), compared as (
    update reconciliation_rows r
    set outcome = case when p.is_exact then 'matched' else 'different' end, our_amount = p.amount,
      our_currency = p.currency, our_at = p.at, our_seq = p.seq
    from pairs p where r.reconciliation_id = $1 and r.number = p.number and p.seq is not null
  )
  ${missingThere(`pairs m where m.number is null and ${IN_SCOPE}`)}`;

const ADD_MISSING = `
  with events as materialized (
    ${events('history h', 'h.at >= $2 and h.at < $3')}
  )
  ${missingThere(`(${MOVEMENTS}) m where ${IN_SCOPE} and not exists (
    select from reconciliation_rows r
    where r.reconciliation_id = $1 and r.payment_id = m.payment_id and r.line is not null
  )`)}`;

/** The two sides of a difference may have different currencies. */
const TOTALS = `
  select outcome, type, currency, max(rows)::int as rows, sum(statement)::text as statement, sum(ours)::text as ours
  from (
    select ${OUTCOME} as outcome, type, currency, count(*) as rows, sum(amount) as statement, 0 as ours
    from reconciliation_rows r where reconciliation_id = $1 and line is not null group by 1, 2, 3
    union all
    select outcome, type, our_currency, count(*), 0, sum(our_amount)
    from reconciliation_rows where reconciliation_id = $1 and our_amount is not null group by 1, 2, 3
  ) sides
  group by 1, 2, 3 order by 1, 2, 3`;

const CHARGED = `
  select number, mid, payment_id as "paymentId", our_seq as seq, type, fee, currency from reconciliation_rows
  where reconciliation_id = $1 and number > $2 and fee is not null and our_seq is not null and currency = our_currency
  order by number limit $3`;

const COLUMNS = [
  'number',
  'type',
  'line',
  'reference',
  'amount',
  'currency',
  'at',
  'mid',
  'paymentId',
  'ourAmount',
  'ourCurrency',
  'ourAt',
] as const satisfies (keyof ReconciledRow)[];

const scopeValues = ({ from, to, connector }: StatementScope): unknown[] => [iso(from), iso(to), connector];

export function createReconciliationRowStore({ pool }: Database): ReconciliationRowStore {
  return {
    async insert({ reconciliationId }, connector, rows) {
      await inTransaction(pool, 'begin; set local enable_seqscan = off', async (client) => {
        const { rowCount } = await client.query('select from projections where name = $1 and backfill_before is null', [
          SEARCH,
        ]);
        if (rowCount === 0) throw new Outage('Not all payments can be found by their reference yet.');
        await client.query(INSERT, [reconciliationId, connector, ...statementRows.values(rows)]);
      });
    },
    async prepare({ reconciliationId }) {
      // Without statistics of the new rows the planner would read all of them for each portion.
      await pool.query('analyze reconciliation_rows');
      const { rows } = await pool.query<{ from: number; to: number }>(RANGE, [reconciliationId]);
      return rows[0];
    },
    async comparePortion({ reconciliationId }, scope, after) {
      const { rows } = await pool.query<{ paymentId: string }>(BOUND, [
        reconciliationId,
        after,
        LIMITS.statementPortion,
      ]);
      const last = rows[0]?.paymentId;
      if (last !== undefined) await pool.query(COMPARE, [reconciliationId, ...scopeValues(scope), after, last]);
      return last;
    },
    async addMissing({ reconciliationId }, scope) {
      await pool.query(ADD_MISSING, [reconciliationId, ...scopeValues(scope)]);
    },
    async totals({ reconciliationId }) {
      return (await pool.query<StatementTotal>(TOTALS, [reconciliationId])).rows;
    },
    async charged({ reconciliationId }, limit, after) {
      const { rows } = await pool.query<ChargedRow>(CHARGED, [reconciliationId, after, limit]);
      return rows;
    },
    async list(reconciliationId, outcome, limit, after) {
      const { rows } = await pool.query<ReconciledRow>(
        `select ${columns('r', COLUMNS)}, ${OUTCOME} as outcome from reconciliation_rows r
         where r.reconciliation_id = $1 and r.number > $2 and ${outcome ? ofOutcome(outcome) : 'true'}
         order by r.number limit $3`,
        [reconciliationId, after, limit],
      );
      return rows;
    },
  };
}
