/** The rows of a reconciliation: finds the payments of a statement, and compares both sides in portions of payments. */
import { LIMITS } from '../rules/limits.ts';
import type { Outcome, StatementType } from '../rules/statements.ts';
import { columns, iso } from './columns.ts';
import type { Database } from './database.ts';
import type { ReconciliationRun, StatementTotal } from './reconciliations.ts';
import { events, MOVEMENTS, PAYOUT_BRANDS } from './rollup-deltas.ts';
import { type Column, unnestTable } from './unnest.ts';

/** A row of a statement; the amount has no sign. */
export interface StatementRow {
  line: number;
  /** Our payment id or operation id; null if the reference is none. */
  ownId: string | null;
  providerReference: string | null;
  /** As the statement has it. */
  reference: string;
  type: StatementType;
  amount: bigint;
  currency: string;
  at: number | null;
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
  /** The first and the last time in the statement; undefined if it has none. */
  range(run: ReconciliationRun): Promise<{ from: number; to: number } | undefined>;
  /** Compares the next portion of payments of the statement after one; undefined when there are no more. */
  comparePortion(run: ReconciliationRun, scope: StatementScope, after: string): Promise<string | undefined>;
  /** Adds the movements in the scope whose payments the statement does not have at all. */
  addMissing(run: ReconciliationRun, scope: StatementScope): Promise<void>;
  totals(run: ReconciliationRun): Promise<StatementTotal[]>;
  /** In the order of the statement; `after` is the number of the last row of the previous page. */
  list(reconciliationId: string, outcome: Outcome | undefined, limit: number, after: bigint): Promise<ReconciledRow[]>;
}

const ROWS: readonly Column<StatementRow>[] = [
  ['line', 'bigint', 'plain', ({ line }) => line],
  ['own_id', 'uuid', 'plain', ({ ownId }) => ownId],
  ['provider_reference', 'text', 'texts', ({ providerReference }) => providerReference],
  ['reference', 'text', 'texts', ({ reference }) => reference],
  ['type', 'text', 'plain', ({ type }) => type],
  ['amount', 'bigint', 'plain', ({ amount }) => amount],
  ['currency', 'text', 'plain', ({ currency }) => currency],
  ['at', 'timestamptz', 'moments', ({ at }) => at],
];
const statementRows = unnestTable(ROWS, 3);

/** An operation tells its type; a payout is listed as a sale, whatever the sign of its amount. */
const INSERT = `
  insert into reconciliation_rows (reconciliation_id, number, line, outcome, reference, type, amount, currency, at, mid,
    payment_id)
  select $1, s.line, s.line, 'missing_here', s.reference,
    case when f.verb in ('refund', 'credit') then 'refund' when f.verb = 'capture' or f.brand in ${PAYOUT_BRANDS} then 'sale'
      else s.type end, s.amount, s.currency, s.at, f.mid, f.payment_id
  from ${statementRows.rows('s')} left join lateral (
    (select p.mid, p.payment_id, p.brand, null as verb from payments p where p.payment_id = s.own_id limit 1)
    union all
    (select o.mid, o.payment_id, null, o.verb::text from operations o where o.operation_id = s.own_id limit 1)
    union all
    (select p.mid, p.payment_id, p.brand, null from payments p
      where p.provider_reference = s.provider_reference and length(p.provider_reference) <= 255
        and ($2::text is null or p.connector = $2)
      order by p.payment_id desc limit 1)
    limit 1
  ) f on true`;

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

/**
 * Pairs each row of the statement with one movement of its payment and type: first those with the same amount, then the
 * others in their order.
 */
const COMPARE = `
  with bound as materialized (
    select payment_id from (
      select payment_id from reconciliation_rows
      where reconciliation_id = $1 and payment_id > $5 and line is not null order by payment_id limit $6
    ) next order by payment_id desc limit 1
  ), listed as materialized (
    select r.number, r.mid, r.payment_id, r.type, r.amount, r.currency,
      row_number() over (partition by r.payment_id, r.type, r.amount, r.currency order by r.number) as n
    from reconciliation_rows r
    where r.reconciliation_id = $1 and r.payment_id > $5 and r.payment_id <= (select payment_id from bound)
      and r.line is not null
  ), portion as materialized (
    select distinct mid, payment_id from listed
  ), events as materialized (
    ${events('portion x join history h on h.mid = x.mid and h.payment_id = x.payment_id', 'true')}
  ), movements as materialized (
    select m.*, row_number() over (partition by payment_id, type, amount, currency order by seq) as n
    from (${MOVEMENTS}) m
  ), exact as materialized (
    select l.number, m.payment_id, m.seq from listed l join movements m using (payment_id, type, amount, currency, n)
  ), other_rows as (
    select l.number, l.payment_id, l.type, row_number() over (partition by l.payment_id, l.type order by l.number) as n
    from listed l where not exists (select from exact x where x.number = l.number)
  ), other_movements as (
    select m.payment_id, m.type, m.seq, row_number() over (partition by m.payment_id, m.type order by m.seq) as n
    from movements m where not exists (select from exact x where x.payment_id = m.payment_id and x.seq = m.seq)
  ), pairs as materialized (
    select number, payment_id, seq, 'matched' as outcome from exact
    union all
    select r.number, r.payment_id, m.seq, 'different' from other_rows r join other_movements m using (payment_id, type, n)
  ), compared as (
    update reconciliation_rows r
    set outcome = p.outcome, our_amount = m.amount, our_currency = m.currency, our_at = m.at
    from pairs p join movements m on m.payment_id = p.payment_id and m.seq = p.seq
    where r.reconciliation_id = $1 and r.number = p.number
  ), missing as (
    ${missingThere(`movements m where ${IN_SCOPE}
      and not exists (select from pairs p where p.payment_id = m.payment_id and p.seq = m.seq)`)}
  )
  select payment_id as "paymentId" from bound`;

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
    select outcome, type, currency, count(*) as rows, sum(amount) as statement, 0 as ours
    from reconciliation_rows where reconciliation_id = $1 and line is not null group by 1, 2, 3
    union all
    select outcome, type, our_currency, count(*), 0, sum(our_amount)
    from reconciliation_rows where reconciliation_id = $1 and our_amount is not null group by 1, 2, 3
  ) sides
  group by 1, 2, 3 order by 1, 2, 3`;

const COLUMNS = [
  'number',
  'outcome',
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
      await pool.query(INSERT, [reconciliationId, connector, ...statementRows.values(rows)]);
    },
    async range({ reconciliationId }) {
      const { rows } = await pool.query<{ from: number; to: number }>(RANGE, [reconciliationId]);
      return rows[0];
    },
    async comparePortion({ reconciliationId }, scope, after) {
      const values = [reconciliationId, ...scopeValues(scope), after, LIMITS.statementPortion];
      const { rows } = await pool.query<{ paymentId: string }>(COMPARE, values);
      return rows[0]?.paymentId;
    },
    async addMissing({ reconciliationId }, scope) {
      await pool.query(ADD_MISSING, [reconciliationId, ...scopeValues(scope)]);
    },
    async totals({ reconciliationId }) {
      return (await pool.query<StatementTotal>(TOTALS, [reconciliationId])).rows;
    },
    async list(reconciliationId, outcome, limit, after) {
      const ofOutcome = outcome === undefined ? '' : 'and r.outcome = $4';
      const { rows } = await pool.query<ReconciledRow>(
        `select ${columns('r', COLUMNS)} from reconciliation_rows r
         where r.reconciliation_id = $1 and r.number > $2 ${ofOutcome} order by r.number limit $3`,
        [reconciliationId, after, limit, ...(outcome === undefined ? [] : [outcome])],
      );
      return rows;
    },
  };
}
