/** Risk rules: the current version of each, their former versions, and the counter of changes. */
import { sql } from 'kysely';
import type { Action, RuleState } from '../../rules/risk/actions.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { announce } from '../database/changes.ts';
import { columns, iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Decide } from '../database/decision.ts';

/** What a change of a rule replaces. */
export interface RuleTerms {
  name: string;
  condition: unknown;
  action: Action;
  state: RuleState;
  priority: number;
}

export interface RiskRule extends RuleTerms {
  ruleId: string;
  /** Null for a rule of the installation. */
  mid: string | null;
  version: number;
  createdAt: number;
  changedAt: number;
}

export interface RuleFilter {
  /** Null for the rules of the installation only. */
  mid?: string | null | undefined;
  /** The accounts that the caller may see; null means all, and the installation. */
  mids: readonly string[] | null;
}

export interface RiskRuleStore {
  /** The rules that are on or in shadow, and the counter of changes, from one snapshot. */
  active(): Promise<{ version: number; rules: RiskRule[] }>;
  /** Newest first, all without a limit; `before` is the id of the last one of the previous page. */
  list(filter: RuleFilter, limit?: number, before?: string): Promise<RiskRule[]>;
  /** How often rules have changed. */
  version(): Promise<number>;
  find(ruleId: string): Promise<RiskRule | undefined>;
  insert(rule: RiskRule, by: string, audit: AuditEntry): Promise<void>;
  /** Makes a new version; undefined if there is no such rule. */
  change(
    ruleId: string,
    by: string,
    at: number,
    decide: Decide<RiskRule, Partial<RuleTerms>>,
  ): Promise<RiskRule | undefined>;
  /** The rule does not apply any more; its versions stay. */
  remove(ruleId: string, at: number, audit: AuditEntry): Promise<boolean>;
  /** The name of a rule that uses a list; conditions are stored as they were sent. */
  userOf(listId: string): Promise<string | undefined>;
}

/** The announcement that rules have changed. */
export const RULES_CHANGED = 'risk';

const COLUMNS = [
  'ruleId',
  'mid',
  'version',
  'name',
  'condition',
  'action',
  'state',
  'priority',
  'createdAt',
  'changedAt',
] as const;

/** Of concurrent changes, one waits for the other here. */
async function countChange(transaction: Database['query']): Promise<void> {
  await sql`update risk_version set version = version + 1 where is_only`.execute(transaction);
  await announce(transaction, RULES_CHANGED);
}

async function addVersion(transaction: Database['query'], rule: RiskRule, by: string): Promise<void> {
  const { ruleId, version, name, condition, action, state, priority, changedAt } = rule;
  await sql`insert into risk_rule_versions (rule_id, version, name, condition, action, state, priority, made_by, made_at)
    values (${ruleId}, ${version}, ${name}, ${JSON.stringify(condition)}, ${JSON.stringify(action)}, ${state},
      ${priority}, ${by}, ${iso(changedAt)})`.execute(transaction);
}

export function createRiskRuleStore({ query, pool }: Database): RiskRuleStore {
  return {
    async active() {
      const { rows } = await pool.query<RiskRule & { counter: number }>(
        `select c.version as counter, ${columns('r', COLUMNS)} from risk_version c
         left join risk_rules r on r.deleted_at is null and r.state <> 'off'`,
      );
      return {
        version: rows[0]?.counter ?? 0,
        rules: rows.filter(({ ruleId }) => ruleId !== null).map(({ counter: _, ...rule }) => rule),
      };
    },
    async list({ mid, mids }, limit, before) {
      const conditions = [
        sql`r.deleted_at is null`,
        mid !== undefined && (mid === null ? sql`r.mid is null` : sql`r.mid = ${mid}`),
        mids !== null && sql`r.mid = any(${[...mids]}::uuid[])`,
        before !== undefined && sql`r.rule_id < ${before}`,
      ].filter((condition) => condition !== false);
      const { rows } = await sql<RiskRule>`select ${sql.raw(columns('r', COLUMNS))} from risk_rules r
        where ${sql.join(conditions, sql` and `)} order by r.rule_id desc limit ${limit ?? null}`.execute(query);
      return rows;
    },
    async version() {
      const { rows } = await pool.query<{ version: number }>('select version from risk_version where is_only');
      return rows[0]?.version ?? 0;
    },
    async find(ruleId) {
      const { rows } = await sql<RiskRule>`select ${sql.raw(columns('r', COLUMNS))} from risk_rules r
        where rule_id = ${ruleId} and deleted_at is null`.execute(query);
      return rows[0];
    },
    async insert(rule, by, audit) {
      await query.transaction().execute(async (transaction) => {
        await countChange(transaction);
        const { ruleId, mid, version, name, condition, action, state, priority, createdAt } = rule;
        await sql`insert into risk_rules (rule_id, mid, version, name, condition, action, state, priority, created_at,
            changed_at)
          values (${ruleId}, ${mid}, ${version}, ${name}, ${JSON.stringify(condition)}, ${JSON.stringify(action)},
            ${state}, ${priority}, ${iso(createdAt)}, ${iso(createdAt)})`.execute(transaction);
        await addVersion(transaction, rule, by);
        await appendAudit(transaction, audit);
      });
    },
    change: (ruleId, by, at, decide) =>
      query.transaction().execute(async (transaction) => {
        await countChange(transaction);
        const { rows } = await sql<RiskRule>`select ${sql.raw(columns('r', COLUMNS))} from risk_rules r
          where rule_id = ${ruleId} and deleted_at is null for update`.execute(transaction);
        const before = rows[0];
        if (!before) return undefined;
        const { change, audit } = decide(before);
        const after: RiskRule = { ...before, ...change, version: before.version + 1, changedAt: at };
        await sql`update risk_rules set version = ${after.version}, name = ${after.name},
            condition = ${JSON.stringify(after.condition)}, action = ${JSON.stringify(after.action)},
            state = ${after.state}, priority = ${after.priority}, changed_at = ${iso(at)}
          where rule_id = ${ruleId}`.execute(transaction);
        await addVersion(transaction, after, by);
        await appendAudit(transaction, audit);
        return after;
      }),
    remove: (ruleId, at, audit) =>
      query.transaction().execute(async (transaction) => {
        await countChange(transaction);
        const { numAffectedRows } = await sql`update risk_rules set deleted_at = ${iso(at)}
          where rule_id = ${ruleId} and deleted_at is null`.execute(transaction);
        if (numAffectedRows !== 1n) return false;
        await appendAudit(transaction, audit);
        return true;
      }),
    async userOf(listId) {
      const { rows } = await sql<{ name: string }>`select name from risk_rules
        where deleted_at is null and position(${listId} in lower(condition::text)) > 0 limit 1`.execute(query);
      return rows[0]?.name;
    },
  };
}
