/** Price plans for operators: creates plans and versions, assigns them to accounts and connections, and quotes prices. */
import { newId } from '../../lib/crypto/id.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  EXPECTED_FROM,
  lineView,
  type PlanInput,
  type PriceWarning,
  priceWarnings,
  type QuoteInput,
  type ValidFrom,
  type VersionInput,
} from '../../rules/price-plans.ts';
import { type PlanSide, type Price, price, versionAt } from '../../rules/pricing.ts';
import type {
  ListedPlan,
  PlanAssignment,
  PlanFilter,
  PlanOwner,
  PricePlan,
  StoredVersion,
} from '../../store/prices/prices.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller, type Principal } from '../operators/principal.ts';

export type { ListedPlan, PlanAssignment, PlanOwner, PricePlan, StoredVersion } from '../../store/prices/prices.ts';

/** A restricted caller sees the sell plans of its accounts only: those of others, and costs, are not its business. */
const seen = ({ mids }: Pick<Principal, 'mids'>): PlanFilter => ({ mids });

export const listPlans = (
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  side: PlanSide | undefined,
  limit: number,
  before?: string,
): Promise<ListedPlan[]> => gateway.prices.list({ ...seen(principal), side }, limit, before);

export async function findPlan(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  planId: string,
): Promise<PricePlan & { versions: StoredVersion[] }> {
  const plan = await gateway.prices.find(planId, seen(principal));
  if (!plan) throw new Refusal('noSuchPricePlan');
  return { ...plan, versions: await gateway.prices.versions(planId) };
}

export async function createPlan(gateway: Gateway, by: Caller, { name, side }: PlanInput): Promise<PricePlan> {
  const plan = { planId: newId(), name, side, createdAt: gateway.clock.real() };
  const audit = auditEntry(gateway, by, 'prices.create', { subject: plan.planId, after: { name, side } });
  await gateway.prices.insertPlan(plan, audit);
  return plan;
}

/**
 * The time from which a new version is valid. The day of today means now, by the furthest clock of the accounts with the
 * plan, because no event of the past is priced anew.
 */
function validTime(
  from: ValidFrom | undefined,
  now: number,
  furthest: number,
  others: readonly StoredVersion[],
): number {
  const isTaken = (at: number): boolean => others.some(({ validFrom }) => validFrom === at);
  if (from === undefined || (from.isDay && from.at === now - (now % LIMITS.dayMs))) {
    let at = furthest;
    while (isTaken(at)) at += 1;
    return at;
  }
  if (from.at < furthest)
    throw invalidField('valid_from', 'This value should not be in the past.', { expected: EXPECTED_FROM });
  if (isTaken(from.at)) throw invalidField('valid_from', 'Another version of the plan is valid from this time on.');
  return from.at;
}

/** Adds a version to a plan that exists; its warnings name the lines that price a sale above its amount, which is applied as written. */
export async function addVersion(
  gateway: Gateway,
  by: Caller,
  planId: string,
  { validFrom, ...prices }: VersionInput,
): Promise<{ version: StoredVersion; warnings: PriceWarning[] }> {
  const version = await gateway.prices.addVersion(planId, (versions, ahead) => {
    const now = gateway.clock.now();
    const furthest = Math.max(now, ...ahead.map((mid) => gateway.clock.now(mid)));
    const added = {
      ...prices,
      version: versions.length + 1,
      validFrom: validTime(validFrom, now, furthest, versions),
      createdAt: gateway.clock.real(),
    };
    const after = {
      version: added.version,
      valid_from: new Date(added.validFrom).toISOString(),
      refund_policy: prices.refundPolicy,
      tax_percent: prices.taxPercent,
      lines: prices.lines.map(lineView),
    };
    return { change: added, audit: auditEntry(gateway, by, 'prices.add_version', { subject: planId, after }) };
  });
  return { version, warnings: priceWarnings(version) };
}

/** The plans that an account or a connection has had, newest first. */
export const planHistory = (gateway: Gateway, owner: PlanOwner): Promise<PlanAssignment[]> =>
  gateway.prices.assignments(owner);

/** Assigns a plan, or none, from now on; returns the assignment. To assign the plan that is assigned changes nothing. */
export async function assignPlan(
  gateway: Gateway,
  by: Caller,
  owner: PlanOwner,
  planId: string | null,
): Promise<PlanAssignment | undefined> {
  const side: PlanSide = 'mid' in owner ? 'sell' : 'buy';
  const plan = planId === null ? undefined : await gateway.prices.find(planId, { mids: null });
  if (planId !== null && !plan) throw invalidField('plan_id', SENTENCES.notAChoice);
  if (plan && plan.side !== side) throw invalidField('plan_id', `This value should be a ${side} plan.`);
  const [action, mid, subject] =
    'mid' in owner
      ? (['accounts.assign_prices', owner.mid, null] as const)
      : (['connections.assign_prices', null, owner.connectionId] as const);
  await gateway.prices.assign(owner, (current) => {
    if ((current?.planId ?? null) === planId) return undefined;
    const now = gateway.clock.now('mid' in owner ? owner.mid : undefined);
    const facts = { before: { plan_id: current?.planId ?? null }, after: { plan_id: planId } };
    return {
      change: { planId, assignedAt: Math.max(now, (current?.assignedAt ?? 0) + 1) },
      audit: auditEntry(gateway, by, action, { mid, subject, ...facts }),
    };
  });
  return (await planHistory(gateway, owner))[0];
}

/** What an event would cost by these versions of a plan; `version` is null if none is valid then. */
export function quote(
  gateway: Gateway,
  versions: readonly StoredVersion[],
  { event, facts, amount, at }: QuoteInput,
): Price & { version: number | null } {
  const version = versionAt(versions, at ?? gateway.clock.now());
  const priced = price(version ?? { lines: [], taxPercent: '0' }, event, facts, amount);
  return { ...priced, version: version?.version ?? null };
}
