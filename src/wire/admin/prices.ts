/** Admin calls on price plans: their versions, their assignment to accounts and connections, and quotes. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requireAccount } from '../../core/accounts/require-account.ts';
import { findConnection } from '../../core/connections/connections.ts';
import type { Gateway } from '../../core/context.ts';
import {
  assignmentView,
  linesCsv,
  listedPlanView,
  plansCsv,
  planView,
  versionView,
  warningText,
} from '../../core/exports/prices.ts';
import {
  addVersion,
  assignPlan,
  createPlan,
  findPlan,
  listPlans,
  type PlanAssignment,
  planHistory,
  quote,
} from '../../core/prices/prices.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { amountText } from '../../lib/money/money.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { type Read, readPlan, readQuote, readVersion } from '../../rules/price-plans.ts';
import { PLAN_SIDES } from '../../rules/pricing.ts';
import { needs } from '../bearer.ts';
import { objectBody, oneOf, page, pageSize, readQuery, refuseUnknown, uuidText } from './input.ts';

interface PlanParams {
  Params: { planId: string };
}
interface AccountParams {
  Params: { mid: string };
}
interface ConnectionParams {
  Params: { connectionId: string };
}

export function priceRoutes(app: FastifyInstance, gateway: Gateway): void {
  const requirePlan = ({ principal, params }: FastifyRequest<PlanParams>) => {
    if (!isUuid(params.planId)) throw new Refusal('noSuchPricePlan');
    return findPlan(gateway, principal, params.planId.toLowerCase());
  };

  app.post('/price-plans', needs('prices.manage', 'installation'), async ({ caller, body }, reply) => {
    const plan = await createPlan(gateway, caller, accepted(readPlan(objectBody(body))));
    reply.code(201);
    return planView(plan);
  });

  app.get('/price-plans', needs('prices.view', 'accounts'), async ({ principal, query }) => {
    const { side, limit, cursor } = readQuery(query, { side: oneOf(PLAN_SIDES), limit: pageSize, cursor: uuidText });
    const size = limit ?? LIMITS.adminPageSize;
    const plans = await listPlans(gateway, principal, side, size + 1, cursor);
    return page(plans, size, ({ planId }) => planId, listedPlanView);
  });

  app.get('/price-plans.csv', needs('prices.view', 'accounts'), async ({ principal, query }, reply) => {
    const { side } = readQuery(query, { side: oneOf(PLAN_SIDES) });
    return csv(reply, 'price-plans.csv', plansCsv(await listPlans(gateway, principal, side, LIMITS.reportCsvRowsMost)));
  });

  app.get<PlanParams>('/price-plans/:planId', needs('prices.view', 'accounts'), async (request) => {
    const { versions, ...plan } = await requirePlan(request);
    return { ...planView(plan), versions: versions.map(versionView) };
  });

  app.get<PlanParams>('/price-plans/:planId/lines.csv', needs('prices.view', 'accounts'), async (request, reply) => {
    const { planId, versions } = await requirePlan(request);
    return csv(reply, `price-plan-${planId}.csv`, linesCsv(versions));
  });

  app.post<PlanParams>(
    '/price-plans/:planId/versions',
    needs('prices.manage', 'installation'),
    async (request, reply) => {
      const { planId } = await requirePlan(request);
      const input = accepted(readVersion(objectBody(request.body)));
      const { version, warnings } = await addVersion(gateway, request.caller, planId, input);
      reply.code(201);
      return { plan_id: planId, ...versionView(version), warnings: warnings.map(warningText) };
    },
  );

  app.post<PlanParams>('/price-plans/:planId/quote', needs('prices.view', 'accounts'), async (request) => {
    const { versions } = await requirePlan(request);
    const input = accepted(readQuote(objectBody(request.body)));
    const { amount, tax, line, version } = quote(gateway, versions, input);
    const shown = (minor: bigint): string => amountText(minor, exponentOf(input.facts.currency));
    return { amount: shown(amount), tax: shown(tax), line, version };
  });

  const ownerOfPath = async ({ principal, params }: FastifyRequest<AccountParams>): Promise<{ mid: string }> => {
    const { mid } = await requireAccount(gateway, principal, params.mid);
    return { mid };
  };

  app.get<AccountParams>('/accounts/:mid/price-plan', needs('prices.view', 'accounts'), async (request) => {
    const owner = await ownerOfPath(request);
    return { ...owner, ...assignmentView(await planHistory(gateway, owner)) };
  });

  app.put<AccountParams>('/accounts/:mid/price-plan', needs('prices.manage', 'installation'), async (request) => {
    const owner = await ownerOfPath(request);
    const assignment = await assignPlan(gateway, request.caller, owner, readPlanId(request.body));
    return { ...owner, ...assignedView(assignment) };
  });

  const requireConnection = async ({ principal, params }: FastifyRequest<ConnectionParams>) => {
    if (!isUuid(params.connectionId)) throw new Refusal('noSuchConnection');
    const { connectionId } = await findConnection(gateway, principal, params.connectionId.toLowerCase());
    return { connectionId };
  };

  app.get<ConnectionParams>(
    '/connections/:connectionId/price-plan',
    needs('prices.view', 'installation'),
    async (request) => {
      const owner = await requireConnection(request);
      return { connection_id: owner.connectionId, ...assignmentView(await planHistory(gateway, owner)) };
    },
  );

  app.put<ConnectionParams>(
    '/connections/:connectionId/price-plan',
    needs('prices.manage', 'installation'),
    async (request) => {
      const owner = await requireConnection(request);
      const assignment = await assignPlan(gateway, request.caller, owner, readPlanId(request.body));
      return { connection_id: owner.connectionId, ...assignedView(assignment) };
    },
  );
}

/** What was read, unless something is wrong with it. */
function accepted<Value>({ value, problems }: Read<Value>): Value {
  if (problems) throw new Refusal('invalidData', problems);
  return value as Value;
}

/** A plan, or null for none; to send neither is a mistake. */
function readPlanId(body: unknown): string | null {
  const { plan_id: planId, ...rest } = objectBody(body);
  refuseUnknown(rest, ['plan_id']);
  if (planId === null) return null;
  if (typeof planId !== 'string' || !isUuid(planId))
    throw invalidField('plan_id', planId === undefined ? SENTENCES.blank : SENTENCES.notUuid, {
      expected: 'The id of a price plan, or null for none.',
    });
  return planId.toLowerCase();
}

function assignedView(assignment: PlanAssignment | undefined) {
  const { plan_id, assigned_at } = assignmentView(assignment ? [assignment] : []);
  return { plan_id, assigned_at };
}

function csv(reply: FastifyReply, filename: string, text: string): string {
  reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${filename}"`);
  return text;
}
