/** Admin calls on risk rules, and the trial of the rules on a described payment. */
import type { FastifyInstance } from 'fastify';
import { requireAccount } from '../../../core/accounts/require-account.ts';
import type { Gateway, RiskRule } from '../../../core/context.ts';
import { requireConfirmed } from '../../../core/risk/back-tests.ts';
import { shownRules } from '../../../core/risk/decisions.ts';
import {
  changeRule,
  createRule,
  deleteRule,
  listRules,
  readFacts,
  requireRule,
  tryRules,
} from '../../../core/risk/rules.ts';
import { watchedView } from '../../../core/risk/shadow.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { wireDate } from '../../../lib/time/clock.ts';
import { invalidField } from '../../../rules/errors.ts';
import { SENTENCES } from '../../../rules/fields.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { needs } from '../../bearer.ts';
import { objectBody, page, pageSize, readQuery, refuseUnknown, uuidText } from '../input.ts';
import { wholeList } from '../list-file.ts';
import { CSV_ROWS_MOST, sendCsv } from './csv.ts';

interface RuleParams {
  Params: { ruleId: string };
}

const MEMBERS = ['name', 'condition', 'action', 'state', 'priority', 'confirm'];

/** Splits the body of a rule. */
function readBody(body: unknown, known: readonly string[]) {
  const { mid, name, condition, action, state, priority, confirm, ...rest } = objectBody(body);
  refuseUnknown({ ...rest, ...(!known.includes('mid') && mid !== undefined && { mid }) }, known);
  if (confirm !== undefined && typeof confirm !== 'boolean')
    throw invalidField('confirm', SENTENCES.invalid, { expected: 'true or false.' });
  return { mid, terms: { name, condition, action, state, priority }, isConfirmed: confirm === true };
}

export function ruleRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.post('/risk/rules', needs('risk.manage', 'installation without mid'), async (request, reply) => {
    const { mid, terms, isConfirmed } = readBody(request.body, ['mid', ...MEMBERS]);
    const { principal, caller } = request;
    const rule = await createRule(gateway, principal, caller, mid, terms, (wanted) =>
      requireConfirmed(gateway, wanted, isConfirmed),
    );
    reply.code(201);
    return ruleView(rule);
  });

  app.get('/risk/rules', needs('risk.view', 'accounts'), async (request) => {
    const { limit, cursor, mid } = readQuery(request.query, { mid: uuidText, limit: pageSize, cursor: uuidText });
    const size = limit ?? LIMITS.adminPageSize;
    const rows = await listRules(gateway, { mid, mids: request.principal.mids }, size + 1, cursor);
    return page(rows, size, ({ ruleId }) => ruleId, ruleView);
  });

  app.get('/risk/rules.csv', needs('risk.view', 'accounts'), async (request, reply) => {
    const { mid } = readQuery(request.query, { mid: uuidText });
    const rows = await listRules(gateway, { mid, mids: request.principal.mids }, CSV_ROWS_MOST);
    const header = ['rule_id', 'mid', 'name', 'state', 'priority', 'version', 'condition', 'action', 'changed_at'];
    return sendCsv(
      reply,
      'risk-rules.csv',
      header,
      rows.map((row) => [
        row.ruleId,
        row.mid,
        row.name,
        row.state,
        row.priority,
        row.version,
        JSON.stringify(row.condition),
        JSON.stringify(row.action),
        wireDate(row.changedAt),
      ]),
    );
  });

  app.get<RuleParams>('/risk/rules/:ruleId', needs('risk.view', 'accounts'), async (request) =>
    ruleView(await requireRule(gateway, request.principal, request.params.ruleId)),
  );

  app.patch<RuleParams>('/risk/rules/:ruleId', needs('risk.manage', 'accounts'), async (request) => {
    const { terms, isConfirmed } = readBody(request.body, MEMBERS);
    const { principal, caller, params } = request;
    return ruleView(
      await changeRule(gateway, principal, caller, params.ruleId, terms, (wanted) =>
        requireConfirmed(gateway, wanted, isConfirmed),
      ),
    );
  });

  app.delete<RuleParams>('/risk/rules/:ruleId', needs('risk.manage', 'accounts'), async (request) => {
    const { ruleId } = request.params;
    await deleteRule(gateway, request.principal, request.caller, ruleId);
    return { rule_id: ruleId.toLowerCase(), deleted: true };
  });

  wholeList(app, gateway, '/risk/shadow', {
    guard: ['risk.view', 'accounts'],
    name: 'watching-rules',
    columns: ['rule_id', 'name', 'action', 'hits', 'amounts', 'settled', 'charged_back'],
    read({ principal, query }) {
      readQuery(query, {});
      return watchedView(gateway, principal.mids);
    },
    cells: (rule) => ({
      ...rule,
      action: rule.action.kind,
      amounts: rule.amounts.map(({ amount, currency }) => `${amount} ${currency}`).join(' '),
    }),
  });

  app.post('/risk/try', needs('risk.view', 'accounts'), async (request) => {
    const { mid, payment, ...rest } = objectBody(request.body);
    refuseUnknown(rest, ['mid', 'payment']);
    if (typeof mid !== 'string' || !isUuid(mid))
      throw invalidField('mid', mid === undefined ? SENTENCES.blank : SENTENCES.notUuid, {
        expected: uuidText.expected,
      });
    const facts = readFacts(payment);
    const account = await requireAccount(gateway, request.principal, mid);
    const { decision, score, rules, shadow, threeDs } = await tryRules(gateway, account, facts);
    const { mids } = request.principal;
    return {
      decision,
      rules: shownRules([...rules, ...shadow], mids),
      score,
      three_ds: { requested: threeDs.requested, reason: threeDs.reason },
    };
  });
}

const ruleView = (rule: RiskRule) => ({
  rule_id: rule.ruleId,
  mid: rule.mid,
  name: rule.name,
  condition: rule.condition,
  action: rule.action,
  state: rule.state,
  priority: rule.priority,
  version: rule.version,
  created_at: wireDate(rule.createdAt),
  changed_at: wireDate(rule.changedAt),
});
