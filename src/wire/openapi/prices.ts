/** Price plans, their versions and assignments, and quotes in the OpenAPI document. */
import { LINE_CHOICES, PLAN_NAME_LENGTH } from '../../rules/price-plans.ts';
import { PLAN_SIDES, PRICE_EVENTS, REFUND_POLICIES } from '../../rules/pricing.ts';
import {
  accountRefusals,
  call,
  commonRefusals,
  dateTime,
  mid,
  operatorRefusals,
  pageParameters,
  pricePlanRefusals,
} from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
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

const list = (items: Json): Json => described(listOf(items), 'Empty means any.');
const number = (about: string): Json => described(orNull(text), about);
const ofLine = ' In the only currency of the line.';
const percent = '0 to 100, with at most four decimals, such as `2.9`.';

const plan = {
  plan_id: uuid,
  name: { ...text, minLength: 1, maxLength: PLAN_NAME_LENGTH },
  side: described(choice(PLAN_SIDES), '`sell`: what merchants pay; `buy`: what a connection costs.'),
  created_at: date,
};
const refundPolicy = described(
  choice(REFUND_POLICIES),
  'What refunds return of the fee of a sale: nothing, the refunded share of its percent part, or all of it when the payment is wholly refunded.',
);
const lines = described(listOf(ref('PriceLine')), 'The first line that matches an event applies.');
const version = {
  version: described(integer, 'Counted from 1.'),
  valid_from: date,
  refund_policy: refundPolicy,
  tax_percent: described(text, 'Tax on the fees.'),
  lines,
  created_at: date,
};
const assignedPlan = {
  plan_id: described(orNull(uuid), 'Null is no plan.'),
  assigned_at: described(orNull(date), 'Null if no plan was ever assigned.'),
};

export const PRICE_SCHEMAS: Readonly<Record<string, Json>> = {
  PriceLine: object(
    { event: choice(PRICE_EVENTS) },
    {
      brands: list(text),
      networks: list(choice(LINE_CHOICES.networks)),
      currencies: list(text),
      connectors: list(choice(LINE_CHOICES.connectors)),
      min_amount: number('The least amount of the event, in its currency; inclusive.'),
      max_amount: number('The greatest amount of the event, in its currency; inclusive.'),
      percent: number(`The percentage of the amount: ${percent}`),
      fixed: number(`Added to the percentage.${ofLine}`),
      minimum: number(`The least fee.${ofLine}`),
      maximum: number(`The greatest fee.${ofLine}`),
    },
  ),
  PricePlan: object(plan),
  PriceVersion: object(version),
  PlanAssignment: object({
    ...assignedPlan,
    history: described(
      listOf(object({ plan_id: orNull(uuid), name: orNull(text), assigned_at: date })),
      'All assignments, newest first.',
    ),
  }),
};

const planId = [inPath('plan_id', uuid, 'The price plan.')];
const connectionId = [inPath('connection_id', uuid, 'The connection.')];
const side = inQuery('side', choice(PLAN_SIDES), 'Only plans of this side.');
const csvAnswer = (description: string): Json => ({
  '200': { description, content: { 'text/csv': { schema: text } } },
});

/** The calls on the plan of an account or a connection. */
const assignment = (owner: string, operationId: string, id: Json, refusals: Json): Json => ({
  get: call('prices', `read${operationId}`, `Returns the price plan of ${owner}, and those that it had before.`, {
    responses: { ...answers('The plan.', { allOf: [object(id as never), ref('PlanAssignment')] }), ...refusals },
  }),
  put: call('prices', `assign${operationId}`, `Assigns a price plan to ${owner} from now on.`, {
    requestBody: jsonBody(object({ plan_id: assignedPlan.plan_id })),
    responses: { ...answers('The plan.', object({ ...id, ...assignedPlan } as never)), ...refusals },
  }),
});

export const PRICE_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/price-plans': {
    post: call('prices', 'createPricePlan', 'Creates a price plan without versions.', {
      requestBody: jsonBody(object({ name: plan.name, side: plan.side })),
      responses: { ...answers('The plan.', ref('PricePlan'), '201'), ...commonRefusals },
    }),
    get: call('prices', 'listPricePlans', 'Lists price plans, newest first.', {
      parameters: [side, ...pageParameters(uuid)],
      responses: {
        ...answers(
          'The plans.',
          pageOf({
            allOf: [
              ref('PricePlan'),
              object({
                version_count: integer,
                assigned_count: described(integer, 'How many accounts or connections have the plan now.'),
              }),
            ],
          }),
        ),
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/price-plans.csv': {
    get: call('prices', 'exportPricePlans', 'Returns the list of price plans as CSV.', {
      parameters: [side],
      responses: { ...csvAnswer('The plans.'), ...commonRefusals },
    }),
  },
  '/admin/api/price-plans/{plan_id}': {
    parameters: planId,
    get: call('prices', 'readPricePlan', 'Returns a price plan with its versions, in the order in which they apply.', {
      responses: {
        ...answers('The plan.', {
          allOf: [ref('PricePlan'), object({ versions: listOf(ref('PriceVersion')) })],
        }),
        ...pricePlanRefusals,
      },
    }),
  },
  '/admin/api/price-plans/{plan_id}/lines.csv': {
    parameters: planId,
    get: call('prices', 'exportPriceLines', 'Returns the lines of all versions of a price plan as CSV.', {
      responses: { ...csvAnswer('The lines.'), ...pricePlanRefusals },
    }),
  },
  '/admin/api/price-plans/{plan_id}/versions': {
    parameters: planId,
    post: call('prices', 'addPriceVersion', 'Adds a version to a price plan; it is never changed or deleted.', {
      requestBody: jsonBody(
        object(
          { lines },
          {
            valid_from: described(dateTime, 'Not in the past, and not that of another version; without it: now.'),
            refund_policy: { ...refundPolicy, default: 'keep' },
            tax_percent: described({ ...text, default: '0' }, `Tax on the fees: ${percent}`),
          },
        ),
      ),
      responses: {
        ...answers(
          'The version.',
          {
            allOf: [
              object({ plan_id: uuid }),
              ref('PriceVersion'),
              object({ warnings: described(listOf(text), 'The lines that price a sale above its amount.') }),
            ],
          },
          '201',
        ),
        ...pricePlanRefusals,
      },
    }),
  },
  '/admin/api/price-plans/{plan_id}/quote': {
    parameters: planId,
    post: call('prices', 'quotePrice', 'Tells what an event would cost, without doing anything.', {
      requestBody: jsonBody(
        object(
          { event: choice(PRICE_EVENTS), brand: text, currency: text, amount: text },
          { network: text, connector: text, at: described(dateTime, 'Without it: now.') },
        ),
      ),
      responses: {
        ...answers(
          'The price.',
          object({
            amount: described(text, 'Without tax.'),
            tax: text,
            line: described(orNull(integer), 'The line that applies, counted from 0; null if none does.'),
            version: described(orNull(integer), 'The version that applies; null if none is valid then.'),
          }),
        ),
        ...pricePlanRefusals,
      },
    }),
  },
  '/admin/api/accounts/{mid}/price-plan': {
    parameters: mid,
    ...assignment('an account', 'AccountPricePlan', { mid: uuid }, accountRefusals),
  },
  '/admin/api/connections/{connection_id}/price-plan': {
    parameters: connectionId,
    ...assignment(
      'a connection',
      'ConnectionPricePlan',
      { connection_id: uuid },
      operatorRefusals('invalidData', 'noSuchConnection'),
    ),
  },
};
