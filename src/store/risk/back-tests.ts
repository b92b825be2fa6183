/** Back-tests of risk rules: what came of them so far, and the earlier payments that they read. */
import { sql } from 'kysely';
import { NO_BRAND_YET } from '../../rules/brands.ts';
import { KEY_FIELDS } from '../../rules/risk/velocities.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { columns, iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { PAYMENT_COLUMNS, type PaymentWithDetails } from '../payments/payments.ts';
import { tookMoney } from './fraud-rates.ts';
import type { RuleTerms } from './rules.ts';
import { columnOf, type Keys } from './velocities.ts';

/** What a rule would have done; `settled`, `refunded` and `chargedBack` are hits that ever were so. */
export interface BackTestResult {
  seen: number;
  hits: number;
  /** In minor units, by currency. */
  amounts: Record<string, string>;
  settled: number;
  refunded: number;
  chargedBack: number;
}

export interface BackTest extends BackTestResult {
  backTestId: string;
  mid: string | null;
  rule: Pick<RuleTerms, 'name' | 'condition' | 'action'> & { mid: string | null };
  fromAt: number;
  toAt: number;
  state: 'running' | 'done' | 'failed';
  failure: string | null;
  createdBy: string;
  createdAt: number;
}

/** An earlier payment with what rules and results need to know. */
export interface PastPayment extends PaymentWithDetails {
  /** What the rules knew of it; null if they were not evaluated. */
  input: Record<string, unknown> | null;
  keys: Keys;
  /** The account had seen the card before. */
  isKnownCard: boolean;
  isBlocked: boolean;
  isChargedBack: boolean;
}

export interface PastQuery {
  mid: string | null;
  from: number;
  to: number;
  /** No payment since `from` has a smaller id. */
  firstId: string;
}

export interface BackTestStore {
  insert(test: BackTest, audit: AuditEntry): Promise<void>;
  find(backTestId: string): Promise<BackTest | undefined>;
  /** Newest first; within accounts only those of the accounts' own rules. */
  list(mids: readonly string[] | null, limit: number, before?: string): Promise<BackTest[]>;
  /** Takes a test that no process works on; undefined if there is none. */
  claim(leaseMs: number, backTestId?: string): Promise<BackTest | undefined>;
  progress(
    backTestId: string,
    result: BackTestResult,
    end?: { state: 'done' | 'failed'; failure: string | null },
  ): Promise<void>;
  /** Oldest first, after the given id. */
  past(query: PastQuery, limit: number, after?: string): Promise<PastPayment[]>;
  /** The newest ones, oldest first. */
  newest(query: PastQuery, limit: number): Promise<PastPayment[]>;
}

const COLUMNS = [
  'backTestId',
  'mid',
  'rule',
  'fromAt',
  'toAt',
  'state',
  'seen',
  'hits',
  'amounts',
  'settled',
  'refunded',
  'chargedBack',
  'failure',
  'createdBy',
  'createdAt',
] as const;

const SELECTED = columns('t', COLUMNS);

const PAST = `
  select ${columns('p', [...PAYMENT_COLUMNS, 'details'])}, d.input,
    jsonb_strip_nulls(jsonb_build_object(${KEY_FIELDS.map((field) => `'${field}', d.${columnOf(field)}`).join(', ')}))
      || case when d.card_key is null and c.fingerprint is not null then jsonb_build_object('card', c.fingerprint)
        else '{}' end as keys,
    exists (
      select from risk_decisions e
      where e.card_key = d.card_key and e.mid = d.mid and (e.at, e.payment_id) < (d.at, d.payment_id)
    ) or coalesce(c.payment_id <> p.payment_id, false) or exists (
      select from cards k where k.mid = c.mid and k.fingerprint = c.fingerprint and k.created_at < c.created_at
    ) as "isKnownCard",
    coalesce(d.decision = 'block', false) as "isBlocked",
    p.state = 'CHARGEBACK' or exists (
      select from chargebacks b where b.mid = p.mid and b.payment_id = p.payment_id and ${tookMoney('b')}
    ) as "isChargedBack"
  from payments p
  left join risk_decisions d on d.mid = p.mid and d.payment_id = p.payment_id
  left join cards c on c.mid = p.mid and c.card_id::text = p.details #>> '{card,id}'
  where ($1::uuid is null or p.mid = $1) and p.created_at >= $2 and p.created_at < $3 and p.payment_id >= $4
    and p.brand <> '${NO_BRAND_YET}'`;

export function createBackTestStore({ query, pool }: Database): BackTestStore {
  const valuesOf = ({ mid, from, to, firstId }: PastQuery): unknown[] => [mid, iso(from), iso(to), firstId];
  return {
    async insert(test, audit) {
      await query.transaction().execute(async (transaction) => {
        await sql`insert into risk_back_tests (back_test_id, mid, rule, from_at, to_at, state, created_by, created_at)
          values (${test.backTestId}, ${test.mid}, ${JSON.stringify(test.rule)}, ${iso(test.fromAt)}, ${iso(test.toAt)},
            'running', ${test.createdBy}, ${iso(test.createdAt)})`.execute(transaction);
        await appendAudit(transaction, audit);
      });
    },
    async find(backTestId) {
      const { rows } = await pool.query<BackTest>(`select ${SELECTED} from risk_back_tests t where back_test_id = $1`, [
        backTestId,
      ]);
      return rows[0];
    },
    async list(mids, limit, before) {
      const { rows } = await pool.query<BackTest>(
        `select ${SELECTED} from risk_back_tests t
         where ($1::uuid[] is null or (t.mid = any ($1) and t.rule ->> 'mid' is not null))
           and ($2::uuid is null or t.back_test_id < $2)
         order by t.back_test_id desc limit $3`,
        [mids, before ?? null, limit],
      );
      return rows;
    },
    async claim(leaseMs, backTestId) {
      const { rows } = await pool.query<BackTest>(
        `update risk_back_tests t set progress_at = now() where t.back_test_id = (
           select back_test_id from risk_back_tests
           where state = 'running' and ($2::uuid is null or back_test_id = $2)
             and (progress_at is null or progress_at < now() - $1 * interval '1 ms')
           order by created_at limit 1 for update skip locked
         ) returning ${SELECTED}`,
        [leaseMs, backTestId ?? null],
      );
      return rows[0];
    },
    async progress(backTestId, { seen, hits, amounts, settled, refunded, chargedBack }, end) {
      await pool.query(
        `update risk_back_tests set seen = $2, hits = $3, amounts = $4, settled = $5, refunded = $6, charged_back = $7,
           progress_at = now(), state = $8, failure = $9
         where back_test_id = $1`,
        [
          backTestId,
          seen,
          hits,
          JSON.stringify(amounts),
          settled,
          refunded,
          chargedBack,
          end?.state ?? 'running',
          end?.failure ?? null,
        ],
      );
    },
    async past(wanted, limit, after) {
      const { rows } = await pool.query<PastPayment>(
        `${PAST} and ($5::uuid is null or p.payment_id > $5) order by p.payment_id limit $6`,
        [...valuesOf(wanted), after ?? null, limit],
      );
      return rows;
    },
    async newest(wanted, limit) {
      const { rows } = await pool.query<PastPayment>(`${PAST} order by p.payment_id desc limit $5`, [
        ...valuesOf(wanted),
        limit,
      ]);
      return rows.reverse();
    },
  };
}
