/** The risk calls of the admin API in the OpenAPI document. */
import { NOTE_LENGTH } from '../../rules/attention.ts';
import { LIMITS } from '../../rules/limits.ts';
import { ACTION_KINDS, DECISIONS, DEFAULT_PRIORITY, PRIORITY_MOST, RULE_STATES } from '../../rules/risk/actions.ts';
import { RISK_FIELD_NAMES } from '../../rules/risk/fields.ts';
import { LIST_KIND_NAMES } from '../../rules/risk/list-kinds.ts';
import { call, commonRefusals, dateTime, operatorRefusals, pageParameters } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  flag,
  inPath,
  inQuery,
  integer,
  type Json,
  jsonBody,
  listOf,
  object,
  orNull,
  pageOf,
  ref,
  text,
  uuid,
} from './schema.ts';

const name = { ...text, minLength: 1, maxLength: LIMITS.riskNameLength };
const owner = described(orNull(uuid), 'The account; null for the installation.');
const condition = described(
  { type: 'object' },
  'A tree of `all`, `any`, `not` and comparisons; the chapter about risk rules describes it.',
);
const action = {
  type: 'object',
  required: ['kind'],
  properties: {
    kind: choice([...ACTION_KINDS]),
    hours: described(integer, 'review: how long the payment waits.'),
    then: described(choice(['refuse', 'approve']), 'review: what happens after that time.'),
    reason: described(choice(['low_value', 'transaction_risk']), 'exempt: the exemption.'),
    points: described(integer, 'score: the points.'),
  },
};
const state = choice([...RULE_STATES]);
const sums = listOf(object({ currency: text, amount: text }));
const priority = { type: 'integer', minimum: 0, maximum: PRIORITY_MOST, default: DEFAULT_PRIORITY };
const confirm = described(flag, 'Switches on a rule that would have stopped most of the last payments.');
const reviewState = choice(['waiting', 'approved', 'refused', 'over']);
const threeDs = object({
  requested: orNull(choice(['challenge', 'none'])),
  reason: orNull(choice(['require_3ds', 'skip_3ds', 'low_value', 'transaction_risk'])),
});
const recordedThreeDs = object({
  requested: orNull(choice(['challenge', 'none'])),
  reason: orNull(choice(['require_3ds', 'skip_3ds', 'low_value', 'transaction_risk'])),
  sent_as: described(
    orNull(choice(['exact', 'nearest', 'nothing'])),
    'Whether the provider gets the request, the nearest that it supports, or nothing of it.',
  ),
});

const review = {
  state: reviewState,
  in_progress: described(flag, 'It is decided, and the outcome of its capture, void or refund is not known yet.'),
  then: orNull(choice(['refuse', 'approve'])),
  due_at: orNull(date),
  decided_at: orNull(date),
  decided_by: orNull(text),
  note: orNull(text),
};

export const RISK_SCHEMAS: Readonly<Record<string, Json>> = {
  RiskList: object({
    list_id: uuid,
    mid: owner,
    name,
    kind: choice([...LIST_KIND_NAMES]),
    entries: described(integer, 'The number of entries.'),
    created_at: date,
  }),
  RiskListEntry: object({
    entry_id: uuid,
    value: text,
    reason: orNull(text),
    expires_at: described(orNull(date), 'From when it does not match any more.'),
    created_by: text,
    created_at: date,
  }),
  RiskRule: object({
    rule_id: uuid,
    mid: owner,
    name,
    condition,
    action,
    state,
    priority,
    version: described(integer, 'Counts the changes of the rule.'),
    created_at: date,
    changed_at: date,
  }),
  MatchedRule: object({
    rule_id: uuid,
    version: integer,
    name: described(orNull(text), 'Null for a rule of the installation, if the caller is restricted to accounts.'),
    state,
    action,
    of_installation: flag,
  }),
  Risk: described(
    object({
      decision: choice([...DECISIONS]),
      score: integer,
      rules: listOf(ref('MatchedRule')),
      shadow: described(listOf(ref('MatchedRule')), 'Rules in shadow that matched, and decided nothing.'),
      three_ds: recordedThreeDs,
      failure: described(orNull(text), 'Why the rules could not be evaluated.'),
      evaluated_again_at: described(orNull(text), 'When they were evaluated once more, after a challenge.'),
      input: described({ type: 'object' }, 'What the rules knew; without card number, addresses and phone number.'),
      at: date,
      review: orNull(object(review)),
    }),
    'The decision of the risk rules.',
  ),
  BackTest: object({
    back_test_id: uuid,
    mid: described(orNull(uuid), 'The account whose payments are read; null for all.'),
    rule: object({ name, condition, action }),
    from: date,
    to: date,
    state: choice(['running', 'done', 'failed']),
    seen: described(integer, 'The payments that were read.'),
    hits: described(integer, 'Those that the rule would have matched.'),
    amounts: described(sums, 'The amounts of the hits.'),
    settled: described(integer, 'Hits that were ever settled.'),
    refunded: described(integer, 'Hits that were ever refunded, partly or fully.'),
    charged_back: described(integer, 'Hits that were ever charged back.'),
    failure: orNull(text),
    created_by: text,
    created_at: date,
  }),
  WatchingRule: object({
    rule_id: uuid,
    name,
    action,
    hits: described(integer, 'The payments that it matched.'),
    amounts: described(sums, 'Their amounts.'),
    settled: described(integer, 'Hits that were settled.'),
    charged_back: described(integer, 'Hits that were charged back.'),
    days: described(listOf(object({ day: text, hits: integer, amounts: sums })), 'Each day by UTC, oldest first.'),
  }),
  Review: object({
    payment_id: uuid,
    mid: uuid,
    order_id: text,
    brand: text,
    amount: text,
    currency: text,
    status: described(text, 'The state of the payment.'),
    score: integer,
    rules: listOf(ref('MatchedRule')),
    failure: orNull(text),
    created_at: date,
    ...review,
  }),
};

const listId = [inPath('list_id', uuid, 'The list.')];
const ruleId = [inPath('rule_id', uuid, 'The rule.')];
const ofAccount = inQuery('mid', uuid, 'Of this account.');
const listRefusals = operatorRefusals('invalidData', 'noSuchRiskList');
const ruleRefusals = operatorRefusals('invalidData', 'noSuchRiskRule');

const csv = (description: string): Json => ({ '200': { description, content: { 'text/csv': { schema: text } } } });
const csvBody = { required: true, content: { 'text/csv': { schema: text } } };
const risk = (operationId: string, summary: string, rest: Json): Json => call('risk', operationId, summary, rest);
const rows = object({ rows: described(integer, 'The rows that were imported.') });

export const RISK_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/risk/lists': {
    post: risk('createRiskList', 'Creates a list.', {
      requestBody: jsonBody(object({ mid: owner, name, kind: choice([...LIST_KIND_NAMES]) })),
      responses: {
        ...answers('The list.', ref('RiskList'), '201'),
        ...operatorRefusals('invalidData', 'noSuchAccount'),
      },
    }),
    get: risk('listRiskLists', 'Lists the lists, newest first.', {
      parameters: [ofAccount, ...pageParameters(uuid)],
      responses: { ...answers('A page of lists.', pageOf(ref('RiskList'))), ...commonRefusals },
    }),
  },
  '/admin/api/risk/lists.csv': {
    get: risk('exportRiskLists', 'Lists the lists as CSV.', {
      parameters: [ofAccount],
      responses: { ...csv('The lists.'), ...commonRefusals },
    }),
  },
  '/admin/api/risk/lists/{list_id}': {
    parameters: listId,
    delete: risk('deleteRiskList', 'Deletes a list with its entries; refused while a rule uses it.', {
      responses: {
        ...answers('The deleted list.', object({ list_id: uuid, deleted: { const: true } })),
        ...operatorRefusals('noSuchRiskList', 'riskListInUse'),
      },
    }),
  },
  '/admin/api/risk/lists/{list_id}/entries': {
    parameters: listId,
    post: risk('addRiskListEntries', 'Adds entries; one with a value that is listed already replaces it.', {
      requestBody: jsonBody(
        object({
          items: listOf(
            object(
              {},
              {
                value: text,
                payment_id: described(uuid, 'In a list of cards, in place of a value: the card of this payment.'),
                reason: { ...text, maxLength: LIMITS.riskReasonLength },
                expires_at: dateTime,
              },
            ),
          ),
        }),
      ),
      responses: {
        ...answers('The entries.', pageOf(ref('RiskListEntry')), '201'),
        ...operatorRefusals('invalidData', 'noSuchRiskList', 'noSuchPayment'),
      },
    }),
    get: risk('listRiskListEntries', 'Lists the entries, newest first.', {
      parameters: pageParameters(uuid),
      responses: { ...answers('A page of entries.', pageOf(ref('RiskListEntry'))), ...listRefusals },
    }),
  },
  '/admin/api/risk/lists/{list_id}/entries.csv': {
    parameters: listId,
    get: risk('exportRiskListEntries', 'The entries as CSV: `value,reason,expires_at`.', {
      responses: { ...csv('The entries.'), ...listRefusals },
    }),
    post: risk('importRiskListEntries', 'Imports entries from CSV: `value,reason,expires_at`.', {
      requestBody: csvBody,
      responses: { ...answers('How many.', object({ entries: integer }), '201'), ...listRefusals },
    }),
  },
  '/admin/api/risk/lists/{list_id}/entries/{entry_id}': {
    parameters: [...listId, inPath('entry_id', uuid, 'The entry.')],
    delete: risk('deleteRiskListEntry', 'Deletes an entry.', {
      responses: {
        ...answers('The deleted entry.', object({ entry_id: uuid, deleted: { const: true } })),
        ...operatorRefusals('noSuchRiskList', 'noSuchRiskEntry'),
      },
    }),
  },
  '/admin/api/risk/rules': {
    post: risk('createRiskRule', 'Creates a rule. It binds from this answer on, in every process.', {
      requestBody: jsonBody(object({ mid: owner, name, condition, action, state }, { priority, confirm })),
      responses: {
        ...answers('The rule.', ref('RiskRule'), '201'),
        ...operatorRefusals('invalidData', 'noSuchAccount'),
      },
    }),
    get: risk('listRiskRules', 'Lists the rules, newest first.', {
      parameters: [ofAccount, ...pageParameters(uuid)],
      responses: { ...answers('A page of rules.', pageOf(ref('RiskRule'))), ...commonRefusals },
    }),
  },
  '/admin/api/risk/rules.csv': {
    get: risk('exportRiskRules', 'Lists the rules as CSV.', {
      parameters: [ofAccount],
      responses: { ...csv('The rules.'), ...commonRefusals },
    }),
  },
  '/admin/api/risk/rules/{rule_id}': {
    parameters: ruleId,
    get: risk('readRiskRule', 'Returns a rule.', {
      responses: { ...answers('The rule.', ref('RiskRule')), ...operatorRefusals('noSuchRiskRule') },
    }),
    patch: risk('changeRiskRule', 'Changes a rule, which makes a new version; earlier decisions keep theirs.', {
      requestBody: jsonBody(object({}, { name, condition, action, state, priority, confirm })),
      responses: { ...answers('The changed rule.', ref('RiskRule')), ...ruleRefusals },
    }),
    delete: risk('deleteRiskRule', 'Deletes a rule.', {
      responses: {
        ...answers('The deleted rule.', object({ rule_id: uuid, deleted: { const: true } })),
        ...operatorRefusals('noSuchRiskRule'),
      },
    }),
  },
  '/admin/api/risk/try': {
    post: risk('tryRiskRules', 'Tries the rules on a described payment, without doing anything.', {
      requestBody: jsonBody(
        object({
          mid: uuid,
          payment: described(
            { type: 'object', properties: Object.fromEntries(RISK_FIELD_NAMES.map((field) => [field, {}])) },
            'The fields of conditions.',
          ),
        }),
      ),
      responses: {
        ...answers(
          'The decision, and the rules that match, those in shadow as well.',
          object({
            decision: choice([...DECISIONS]),
            rules: listOf(ref('MatchedRule')),
            score: integer,
            three_ds: threeDs,
          }),
        ),
        ...operatorRefusals('invalidData', 'noSuchAccount'),
      },
    }),
  },
  '/admin/api/risk/back-tests.csv': {
    get: risk('readBackTestsCsv', 'Returns back-tests as CSV with a header line.', {
      responses: {
        '200': { description: 'The back-tests.', content: { 'text/csv': { schema: text } } },
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/risk/back-tests': {
    post: risk('startBackTest', 'Applies a rule to earlier payments, in the background.', {
      requestBody: jsonBody(
        object(
          { from: dateTime, to: dateTime },
          { rule_id: uuid, rule: described({ type: 'object' }, 'A rule that is not stored.'), mid: uuid },
        ),
      ),
      responses: {
        ...answers('The back-test.', ref('BackTest'), '201'),
        ...operatorRefusals('invalidData', 'noSuchRiskRule', 'noSuchAccount'),
      },
    }),
    get: risk('listBackTests', 'Lists back-tests, newest first.', {
      parameters: pageParameters(uuid),
      responses: { ...answers('A page of back-tests.', pageOf(ref('BackTest'))), ...commonRefusals },
    }),
  },
  '/admin/api/risk/back-tests/{back_test_id}': {
    parameters: [inPath('back_test_id', uuid, 'The back-test.')],
    get: risk('readBackTest', 'Returns a back-test, with its progress while it runs.', {
      responses: { ...answers('The back-test.', ref('BackTest')), ...operatorRefusals('noSuchBackTest') },
    }),
  },
  '/admin/api/risk/shadow': {
    get: risk('listWatchingRules', 'What rules in shadow would have done in the last 7 days, most hits first.', {
      responses: { ...answers('The rules.', pageOf(ref('WatchingRule'))), ...commonRefusals },
    }),
  },
  '/admin/api/risk/shadow.csv': {
    get: risk('exportWatchingRules', 'The same as CSV, without the days.', {
      responses: { ...csv('The rules.'), ...commonRefusals },
    }),
  },
  '/admin/api/risk/fraud-rates.csv': {
    get: risk('readFraudRatesCsv', 'Returns the fraud rates as CSV with a header line.', {
      responses: { '200': { description: 'The rates.', content: { 'text/csv': { schema: text } } }, ...commonRefusals },
    }),
  },
  '/admin/api/risk/fraud-rates': {
    get: risk('listFraudRates', 'The fraud rate of each connection by quarter: charged back as fraud ÷ captured.', {
      responses: {
        ...answers(
          'The rates of the last quarters, and the rates up to which banks accept the exemption.',
          object({
            items: listOf(
              object({
                connector: described(text, 'The key of the connection.'),
                quarter: described(text, 'Such as 2026-Q4.'),
                currency: text,
                captured: text,
                fraud: described(text, 'What was charged back as fraud, and not won.'),
                percent: described(orNull(text), 'Null if nothing was captured.'),
                computed_at: date,
              }),
            ),
            bands: listOf(object({ up_to: text, currency: text, percent: text })),
          }),
        ),
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/risk/reviews': {
    get: risk('listReviews', 'Lists reviews, oldest first.', {
      parameters: [ofAccount, inQuery('state', reviewState, 'Reviews in this state.'), ...pageParameters(text)],
      responses: { ...answers('A page of reviews.', pageOf(ref('Review'), text)), ...commonRefusals },
    }),
  },
  '/admin/api/risk/reviews.csv': {
    get: risk('exportReviews', 'Lists reviews as CSV.', {
      parameters: [ofAccount, inQuery('state', reviewState, 'Reviews in this state.')],
      responses: { ...csv('The reviews.'), ...commonRefusals },
    }),
  },
  '/admin/api/risk/reviews/{payment_id}': {
    parameters: [inPath('payment_id', uuid, 'The payment.')],
    post: risk('decideReview', 'Approves or refuses a payment: captures or voids it, or sends the money back.', {
      requestBody: jsonBody(
        object({ decision: choice(['approve', 'refuse']) }, { note: { ...text, maxLength: NOTE_LENGTH } }),
      ),
      responses: {
        ...answers('The payment.', ref('Payment')),
        ...operatorRefusals(
          'invalidData',
          'noSuchReview',
          'reviewEnded',
          'installationReview',
          'refundNotAllowed',
          'refundOnlyInPortal',
          'actionNotSupported',
        ),
      },
    }),
  },
  ...Object.fromEntries(
    (
      [
        ['bins', 'Bins', 'card ranges', 'from,to,network,country,funding,issuer'],
        ['ip-countries', 'IpCountries', 'countries of IP networks', 'network,country'],
      ] as const
    ).flatMap(([path, id, subject, columns]) => [
      [
        `/admin/api/risk/${path}`,
        {
          get: risk(`list${id}`, `Lists the ${subject}.`, {
            parameters: pageParameters(text),
            responses: { ...answers('A page.', pageOf({ type: 'object' }, text)), ...commonRefusals },
          }),
          post: risk(`import${id}`, `Imports ${subject} from CSV, in place of the former ones: \`${columns}\`.`, {
            requestBody: csvBody,
            responses: { ...answers('How many.', rows), ...commonRefusals },
          }),
        },
      ],
      [
        `/admin/api/risk/${path}.csv`,
        {
          get: risk(`export${id}`, `The ${subject} as CSV.`, {
            responses: { ...csv('The file.'), ...commonRefusals },
          }),
        },
      ],
    ]),
  ),
};
