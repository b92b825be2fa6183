/** Admin calls on back-tests of risk rules. */
import type { FastifyInstance } from 'fastify';
import type { BackTest, Gateway } from '../../../core/context.ts';
import { amountsOf, requireBackTest, startBackTest, testedAccount } from '../../../core/risk/back-tests.ts';
import { readRule, requireRule } from '../../../core/risk/rules.ts';
import { isObject } from '../../../lib/text/json.ts';
import { wireDate } from '../../../lib/time/clock.ts';
import { invalidField } from '../../../rules/errors.ts';
import { SENTENCES } from '../../../rules/fields.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { needs } from '../../bearer.ts';
import { dateTime, objectBody, page, pageSize, readQuery, refuseUnknown, uuidText } from '../input.ts';
import { listFile } from '../list-file.ts';

function readTime(name: string, value: unknown): number {
  const time = typeof value === 'string' ? dateTime(value) : undefined;
  if (time === undefined)
    throw invalidField(name, value === undefined ? SENTENCES.blank : SENTENCES.invalid, {
      expected: dateTime.expected,
    });
  return time;
}

export function backTestRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.post('/risk/back-tests', needs('risk.manage', 'accounts'), async (request, reply) => {
    const { rule_id, rule, mid, from, to, ...rest } = objectBody(request.body);
    refuseUnknown(rest, ['rule_id', 'rule', 'mid', 'from', 'to']);
    const { principal, caller } = request;
    if ((rule_id === undefined) === (rule === undefined))
      throw invalidField('rule_id', 'Either rule_id or rule should be sent.');
    const tested =
      typeof rule_id === 'string'
        ? await requireRule(gateway, principal, rule_id)
        : await describedRule(gateway, principal, rule, mid);
    const { name, condition, action } = tested;
    const account = testedAccount(principal, tested.mid, mid);
    const [start, end] = [readTime('from', from), readTime('to', to)];
    const test = await startBackTest(
      gateway,
      caller,
      { name, condition, action, mid: tested.mid },
      account,
      start,
      end,
    );
    reply.code(201);
    return view(test);
  });

  app.get('/risk/back-tests', needs('risk.view', 'accounts'), async (request) => {
    const { limit, cursor } = readQuery(request.query, { limit: pageSize, cursor: uuidText });
    const size = limit ?? LIMITS.adminPageSize;
    const rows = await gateway.backTests.list(request.principal.mids, size + 1, cursor);
    return page(rows, size, ({ backTestId }) => backTestId, view);
  });

  listFile<BackTest>(app, gateway, '/risk/back-tests', {
    guard: ['risk.view', 'accounts'],
    name: 'back-tests',
    columns: COLUMNS,
    read({ principal, query }, limit, last) {
      readQuery(query, {});
      return gateway.backTests.list(principal.mids, limit, last?.backTestId);
    },
    cells: (test) => ({ ...view(test), rule: test.rule.name }),
  });

  app.get<{ Params: { backTestId: string } }>(
    '/risk/back-tests/:backTestId',
    needs('risk.view', 'accounts'),
    async (request) => view(await requireBackTest(gateway, request.principal, request.params.backTestId)),
  );
}

/** A rule that is not stored: its account is that of the rule, or of the back-test. */
function describedRule(
  gateway: Gateway,
  principal: Parameters<typeof readRule>[1],
  rule: unknown,
  mid: unknown,
): ReturnType<typeof readRule> {
  if (!isObject(rule)) throw invalidField('rule', SENTENCES.notAnObject);
  const { mid: own = mid ?? null, name = 'Back-test', condition, action, state = 'shadow', priority, ...rest } = rule;
  refuseUnknown(rest, ['mid', 'name', 'condition', 'action', 'state', 'priority']);
  return readRule(gateway, principal, own, { name, condition, action, state, priority });
}

const COLUMNS = [
  ...['back_test_id', 'mid', 'rule', 'from', 'to', 'state', 'seen', 'hits', 'settled', 'refunded', 'charged_back'],
  ...['failure', 'created_by', 'created_at'],
];

const view = (test: BackTest) => ({
  back_test_id: test.backTestId,
  mid: test.mid,
  rule: { name: test.rule.name, condition: test.rule.condition, action: test.rule.action },
  from: wireDate(test.fromAt),
  to: wireDate(test.toAt),
  state: test.state,
  seen: test.seen,
  hits: test.hits,
  amounts: amountsOf(test),
  settled: test.settled,
  refunded: test.refunded,
  charged_back: test.chargedBack,
  failure: test.failure,
  created_by: test.createdBy,
  created_at: wireDate(test.createdAt),
});
