/** Price plans, their versions, and their assignments; rows are only added. */
import { sql } from 'kysely';
import type { PlanSide, PriceVersion } from '../../rules/pricing.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { lockQuery } from '../database/advisory-lock.ts';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Decision } from '../database/decision.ts';

export interface PricePlan {
  planId: string;
  name: string;
  side: PlanSide;
  createdAt: number;
}

/** A plan in a list: the number of its versions, and of the accounts or connections that have it now. */
export interface ListedPlan extends PricePlan {
  versions: number;
  assigned: number;
}

export interface StoredVersion extends PriceVersion {
  createdAt: number;
}

/** A plan, or none, from a time on. */
export interface PlanAssignment {
  planId: string | null;
  /** The name of the plan. */
  name: string | null;
  assignedAt: number;
}

/** What has a plan. */
export type PlanOwner = { mid: string } | { connectionId: string };

export interface PlanFilter {
  /** With accounts, only the sell plans that these accounts have or had. */
  mids: readonly string[] | null;
  side?: PlanSide | undefined;
}

export interface PriceStore {
  insertPlan(plan: PricePlan, audit: AuditEntry): Promise<void>;
  /** Newest first; `before` is the last plan of the page before. */
  list(filter: PlanFilter, limit: number, before?: string): Promise<ListedPlan[]>;
  find(planId: string, filter: PlanFilter): Promise<PricePlan | undefined>;
  /** In the order in which they become valid. */
  versions(planId: string): Promise<StoredVersion[]>;
  /**
   * Adds a version that is decided from the others while nobody adds one, and while nothing is priced. `ahead` are the
   * accounts that have had the plan, and have a sandbox clock of their own.
   */
  addVersion(
    planId: string,
    decide: (versions: StoredVersion[], ahead: string[]) => Decision<Omit<StoredVersion, 'planId'>>,
  ): Promise<StoredVersion>;
  /** Newest first. */
  assignments(owner: PlanOwner): Promise<PlanAssignment[]>;
  /** Assigns a plan that is decided from the newest assignment, as above; undefined changes nothing. */
  assign(
    owner: PlanOwner,
    decide: (newest: PlanAssignment | undefined) => Decision<Pick<PlanAssignment, 'planId' | 'assignedAt'>> | undefined,
  ): Promise<void>;
}

/** Where the assignments of an owner are. */
const placeOf = (owner: PlanOwner) =>
  'mid' in owner
    ? { table: sql.table('accountPricePlans'), column: sql.ref('mid'), id: owner.mid }
    : { table: sql.table('connectionPricePlans'), column: sql.ref('connectionId'), id: owner.connectionId };

/** The newest assignment of each account, or of each of these accounts, and of each connection. */
const newest = (mids: readonly string[] | null) => sql`
  select distinct on (mid) plan_id from account_price_plans
  where ${mids}::uuid[] is null or mid = any (${mids}::uuid[]) order by mid, assigned_at desc`;
const NEWEST_OF_CONNECTIONS = sql`
  select distinct on (connection_id) plan_id from connection_price_plans order by connection_id, assigned_at desc`;

/** The condition of plans `p` that a filter lets through. */
const passes = ({ mids, side }: PlanFilter) => {
  const conditions = [sql<boolean>`true`];
  if (side) conditions.push(sql`p.side = ${side}`);
  if (mids !== null)
    conditions.push(sql`p.side = 'sell' and exists (
      select from account_price_plans a where a.plan_id = p.plan_id and a.mid = any (${[...mids]}::uuid[]))`);
  return sql.join(conditions, sql` and `);
};

async function readVersions(source: Database['query'], planId: string): Promise<StoredVersion[]> {
  const versions = source.selectFrom('pricePlanVersions').selectAll().where('planId', '=', planId);
  return (await versions.orderBy('validFrom').execute()) as StoredVersion[];
}

async function readAssignments(source: Database['query'], owner: PlanOwner): Promise<PlanAssignment[]> {
  const { table, column, id } = placeOf(owner);
  const { rows } = await sql<PlanAssignment>`
    select a.plan_id, p.name, a.assigned_at from ${table} a left join price_plans p on p.plan_id = a.plan_id
    where a.${column} = ${id} order by a.assigned_at desc`.execute(source);
  return rows;
}

export function createPriceStore({ query }: Database): PriceStore {
  /** Runs alone among changes of prices, and not while events are priced. */
  const change = <Result>(write: (transaction: Database['query']) => Promise<Result>): Promise<Result> =>
    query.transaction().execute(async (transaction) => {
      await sql.raw(lockQuery('prices')).execute(transaction);
      return write(transaction);
    });
  return {
    async insertPlan({ createdAt, ...plan }, audit) {
      await query.transaction().execute(async (transaction) => {
        const row = { ...plan, createdAt: iso(createdAt) };
        await transaction.insertInto('pricePlans').values(row).execute();
        await appendAudit(transaction, audit);
      });
    },
    async list(filter, limit, before) {
      const { rows } = await sql<ListedPlan>`
        with used as materialized (select * from (${newest(filter.mids)}) a union all select * from (${NEWEST_OF_CONNECTIONS}) c)
        select p.*, (select count(*)::int from price_plan_versions v where v.plan_id = p.plan_id) as versions,
          (select count(*)::int from used u where u.plan_id = p.plan_id) as assigned
        from price_plans p
        where ${passes(filter)} and (${before ?? null}::uuid is null or p.plan_id < ${before ?? null}::uuid)
        order by p.plan_id desc limit ${limit}`.execute(query);
      return rows;
    },
    async find(planId, filter) {
      const { rows } = await sql<PricePlan>`
        select p.* from price_plans p where p.plan_id = ${planId} and ${passes(filter)}`.execute(query);
      return rows[0];
    },
    versions: (planId) => readVersions(query, planId),
    addVersion: (planId, decide) =>
      change(async (transaction) => {
        const ahead = await sql<{
          mid: string;
        }>`select distinct mid from account_price_plans join clock_offsets using (mid)
          where plan_id = ${planId}`.execute(transaction);
        const { change: added, audit } = decide(
          await readVersions(transaction, planId),
          ahead.rows.map(({ mid }) => mid),
        );
        const { validFrom, createdAt, lines, ...rest } = added;
        const times = { validFrom: iso(validFrom), createdAt: iso(createdAt) };
        const row = { planId, ...rest, lines: JSON.stringify(lines), ...times };
        await transaction.insertInto('pricePlanVersions').values(row).execute();
        await appendAudit(transaction, audit);
        return { planId, ...added };
      }),
    assignments: (owner) => readAssignments(query, owner),
    assign: (owner, decide) =>
      change(async (transaction) => {
        const [current] = await readAssignments(transaction, owner);
        const decision = decide(current);
        if (!decision) return;
        const { planId, assignedAt } = decision.change;
        const { table, column, id } = placeOf(owner);
        await sql`insert into ${table} (${column}, assigned_at, plan_id)
          values (${id}, ${iso(assignedAt)}, ${planId})`.execute(transaction);
        await appendAudit(transaction, decision.audit);
      }),
  };
}
