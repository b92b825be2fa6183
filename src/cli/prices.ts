/** The commands `prices`: price plans, their versions, and their assignment, without the panel. */
import type { Readable } from 'node:stream';
import { findConnection } from '../core/connections/connections.ts';
import type { Gateway } from '../core/context.ts';
import { planView, versionView, warningText } from '../core/exports/prices.ts';
import { commandCaller } from '../core/operators/principal.ts';
import { addVersion, assignPlan, createPlan, findPlan, listPlans, type PlanOwner } from '../core/prices/prices.ts';
import { isUuid } from '../lib/crypto/id.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import { isObject } from '../lib/text/json.ts';
import { LIMITS } from '../rules/limits.ts';
import { type Read, readPlan, readVersion } from '../rules/price-plans.ts';
import { type CommandResult, explain, readJson, refuse, requireAccount, SYSTEM } from './connection.ts';
import { columns } from './output.ts';

/** What was read, unless something is wrong with it. */
function accepted<Value>({ value, problems }: Read<Value>): Value {
  if (problems) throw refuse(problems);
  return value as Value;
}

export async function listedPlans(gateway: Gateway): Promise<CommandResult> {
  const plans = await listPlans(gateway, SYSTEM, undefined, LIMITS.reportCsvRowsMost);
  const text = columns(plans.map(({ planId, side, name }) => [planId, side, name]));
  return { value: { items: plans.map(planView) }, text: text || 'There are no price plans.' };
}

export async function shownPlan(gateway: Gateway, planId: string): Promise<CommandResult> {
  const { versions, ...plan } = await findPlan(gateway, SYSTEM, planId.toLowerCase()).catch(explain);
  const value = { ...planView(plan), versions: versions.map(versionView) };
  return { value, text: JSON.stringify(value, null, 2) };
}

export async function createdPlan(gateway: Gateway, name: string, side: string): Promise<CommandResult> {
  const plan = await createPlan(gateway, commandCaller('prices create'), accepted(readPlan({ name, side })));
  return { value: planView(plan), text: plan.planId };
}

export async function addedVersion(gateway: Gateway, planId: string, input: Readable): Promise<CommandResult> {
  const plan = await findPlan(gateway, SYSTEM, planId.toLowerCase()).catch(explain);
  const sent = await readJson(input);
  const version = accepted(readVersion(isObject(sent) ? sent : {}));
  const added = await addVersion(gateway, commandCaller('prices add-version'), plan.planId, version).catch(explain);
  const { version: number, valid_from } = versionView(added.version);
  const warnings = added.warnings.map(warningText);
  const text = [`Version ${number} is valid from ${valid_from} UTC on.`, ...warnings].join('\n');
  return { value: { plan_id: plan.planId, version: number, valid_from, warnings }, text };
}

const NONE = 'none';

/** Assigns a plan, or none, to an account or a connection. */
export async function assignedPlan(
  gateway: Gateway,
  wanted: string,
  kind: 'account' | 'connection',
  id: string,
): Promise<CommandResult> {
  const owner: PlanOwner =
    kind === 'account'
      ? { mid: (await requireAccount(gateway, id)).mid }
      : { connectionId: (await findConnection(gateway, SYSTEM, id.toLowerCase()).catch(explain)).connectionId };
  if (wanted !== NONE && !isUuid(wanted))
    throw new StartupError('plan_id: This value should be the id of a price plan, or none.');
  const planId = wanted === NONE ? null : wanted.toLowerCase();
  await assignPlan(gateway, commandCaller('prices assign'), owner, planId).catch(explain);
  const text = planId === null ? `The ${kind} has no price plan.` : `The ${kind} has the price plan ${planId}.`;
  return { value: { plan_id: planId }, text };
}
