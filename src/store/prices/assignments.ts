/** The price plans that accounts and connections had at any time, for folds that price events. */
import type { Assignment, PriceVersion } from '../../rules/pricing.ts';
import { lockQuery } from '../database/advisory-lock.ts';
import { types } from '../database/database.ts';
import type { Client } from '../projections/projection.ts';

/** All assignments in the order of their times, by account and by connection; without an entry there is no plan. */
export interface Assignments {
  sell: ReadonlyMap<string, readonly Assignment[]>;
  buy: ReadonlyMap<string, readonly Assignment[]>;
}

/**
 * Keeps prices as they are until the transaction ends. Whoever changes them waits, and reads the clock afterwards, so that
 * a change never concerns an event that was committed, and may be priced already, before it.
 */
export const keepPrices = (client: Client): Promise<unknown> => client.query(lockQuery('prices', true));

const ASSIGNED = (table: string, id: string): string => `
  select a.${id} as "ownerId", a.assigned_at as "assignedAt", a.plan_id as "planId"
  from ${table} a where a.${id} = any ($1::uuid[]) order by a.assigned_at`;

const VERSIONS = `
  select plan_id as "planId", version, valid_from as "validFrom", refund_policy as "refundPolicy",
    tax_percent as "taxPercent", lines
  from price_plan_versions where plan_id = any ($1::uuid[]) order by valid_from`;

interface AssignedRow {
  ownerId: string;
  assignedAt: number;
  planId: string | null;
}

export async function readAssignments(
  client: Client,
  mids: readonly string[],
  connectionIds: readonly string[],
): Promise<Assignments> {
  const read = async (table: string, id: string, ids: readonly string[]): Promise<AssignedRow[]> =>
    ids.length === 0 ? [] : (await client.query<AssignedRow>({ text: ASSIGNED(table, id), values: [ids], types })).rows;
  const sell = await read('account_price_plans', 'mid', mids);
  const buy = await read('connection_price_plans', 'connection_id', connectionIds);
  const planIds = new Set([...sell, ...buy].flatMap(({ planId }) => planId ?? []));
  const versions =
    planIds.size === 0
      ? []
      : (await client.query<PriceVersion>({ text: VERSIONS, values: [[...planIds]], types })).rows;
  const byPlan = Map.groupBy(versions, ({ planId }) => planId);
  const byOwner = (rows: AssignedRow[]): ReadonlyMap<string, readonly Assignment[]> =>
    new Map(
      [...Map.groupBy(rows, ({ ownerId }) => ownerId)].map(([ownerId, owned]) => [
        ownerId,
        owned.map(({ assignedAt, planId }) => ({
          assignedAt,
          planId,
          versions: (planId === null ? undefined : byPlan.get(planId)) ?? [],
        })),
      ]),
    );
  return { sell: byOwner(sell), buy: byOwner(buy) };
}
