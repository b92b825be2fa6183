/** Fraud rates of connections: what was charged back as fraud in a quarter, beside what was captured in it. */
import { TAKING_STAGES } from '../../rules/chargebacks.ts';
import { FRAUD_REASON } from '../../rules/risk/fraud-rates.ts';
import { columns, iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

export interface FraudRate {
  /** The key of the connection that payments have. */
  connector: string;
  /** The start of the quarter. */
  quarter: number;
  currency: string;
  /** In minor units. */
  captured: bigint;
  fraud: bigint;
  computedAt: number;
}

export interface FraudRateStore {
  /** Computes the rates of a quarter again. */
  compute(quarter: number, until: number, at: number): Promise<void>;
  /** Newest quarter first. */
  list(since: number): Promise<FraudRate[]>;
}

/** SQL: whether the bank has taken money by a chargeback; inquiries and warnings move none. */
export const tookMoney = (chargeback: string): string =>
  `${chargeback}.stage in (${TAKING_STAGES.map((stage) => `'${stage}'`).join(', ')})`;

const COLUMNS = ['connector', 'quarter', 'currency', 'captured', 'fraud', 'computedAt'] as const;

/** Chargebacks that were won are not fraud. */
const COMPUTE = `
  insert into risk_fraud_rates as r (connector, quarter, currency, captured, fraud, computed_at)
  select connector, $1::timestamptz, currency, sum(captured), sum(fraud), $3::timestamptz from (
    select t.connector, t.currency, t.captured, 0::bigint as fraud from rollup_totals t
    where t.grain = 'day' and t.starts_at >= $1 and t.starts_at < $2
    union all
    select p.connector, p.currency, 0, c.amount from chargebacks c
    join payments p on p.mid = c.mid and p.payment_id = c.payment_id
    where c.received_at >= $1 and c.received_at < $2 and ${tookMoney('c')}
      and c.state <> 'won' and c.reason ~* $4
  ) s group by connector, currency
  on conflict (connector, quarter, currency) do update
    set captured = excluded.captured, fraud = excluded.fraud, computed_at = excluded.computed_at`;

export function createFraudRateStore({ pool }: Database): FraudRateStore {
  return {
    async compute(quarter, until, at) {
      await pool.query(COMPUTE, [iso(quarter), iso(until), iso(at), FRAUD_REASON.source]);
    },
    async list(since) {
      const { rows } = await pool.query<FraudRate>(
        `select ${columns('r', COLUMNS)} from risk_fraud_rates r where quarter >= $1
         order by quarter desc, connector, currency`,
        [iso(since)],
      );
      return rows;
    },
  };
}
