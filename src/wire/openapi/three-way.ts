/** The three-way reconciliation in the OpenAPI document. */
import { PROVIDER_DAYS, PROVIDER_DAYS_MOST, THREE_WAY_STATES } from '../../rules/three-way.ts';
import { call, commonRefusals } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  inQuery,
  type Json,
  jsonBody,
  listOf,
  object,
  orNull,
  ref,
  text,
} from './schema.ts';

const day: Json = { type: 'string', format: 'date' };
const boolean: Json = { type: 'boolean' };
const terms = {
  connector: described(text, 'The connector of payments, such as `stripe`.'),
  days: { type: 'integer', minimum: 0, maximum: PROVIDER_DAYS_MOST },
};

export const THREE_WAY_SCHEMAS: Readonly<Record<string, Json>> = {
  ThreeWayRow: object({
    connector: text,
    currency: text,
    day: described(orNull(day), 'In UTC; null for what was paid beyond all days.'),
    due_on: described(orNull(day), 'Until then it is expected.'),
    ours: described(text, 'What the provider owes of the day by the ledger.'),
    statement: described(orNull(text), 'The same by its statements, less fees; null if none has the day.'),
    bank: described(text, 'What payments of the provider cover, the oldest days first.'),
    open: described(text, 'What is not covered.'),
    state: choice(THREE_WAY_STATES),
    exception: boolean,
  }),
  ProviderTerms: object({ ...terms, changed_at: date }),
};

const filters = [
  inQuery('connector', text, 'This provider.'),
  inQuery('currency', text, 'This currency.'),
  inQuery('state', choice(THREE_WAY_STATES), 'Days in this state.'),
  inQuery('from', day, 'The first day of those that are no exception; without it, 31 days ago.'),
];
const tagged = (operationId: string, summary: string, rest: Json): Json =>
  call('settlements', operationId, summary, rest);

export const THREE_WAY_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/ledger/three-way': {
    get: tagged('compareThreeWays', 'Compares the ledger with statements and payments of providers, day by day.', {
      parameters: filters,
      responses: {
        ...answers(
          'The days, newest first.',
          object({ complete: boolean, items: listOf(ref('ThreeWayRow')), next_cursor: { type: 'null' } }),
        ),
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/ledger/three-way.csv': {
    get: tagged('compareThreeWaysCsv', 'Returns the comparison as CSV.', {
      parameters: filters,
      responses: {
        '200': { description: 'A header line, and a line for each row.', content: { 'text/csv': { schema: text } } },
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/provider-terms.csv': {
    get: tagged('readProviderTermsCsv', 'Returns after how many days providers pay as CSV with a header line.', {
      responses: { '200': { description: 'The terms.', content: { 'text/csv': { schema: text } } }, ...commonRefusals },
    }),
  },
  '/admin/api/provider-terms': {
    get: tagged('readProviderTerms', `Returns after how many days providers pay; ${PROVIDER_DAYS} if it was not set.`, {
      responses: {
        ...answers('The terms.', object({ items: listOf(ref('ProviderTerms')), next_cursor: { type: 'null' } })),
        ...commonRefusals,
      },
    }),
    put: tagged('setProviderTerms', 'Sets after how many days a provider pays.', {
      requestBody: jsonBody(object(terms)),
      responses: { ...answers('The terms.', ref('ProviderTerms')), ...commonRefusals },
    }),
  },
};
