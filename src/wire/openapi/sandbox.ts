/** The clock and the sandbox API in the OpenAPI document. */
import { BRAND_LABELS } from '../../rules/brands.ts';
import { DECLINE_ADVICE, DECLINE_CODE, FAULT_MODES, PROVIDER_STATUSES } from '../../rules/sandbox-scenarios.ts';
import { accountRefusals, call, commonRefusals, paymentRefusals } from './operator-call.ts';
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
  ref,
  text,
  uuid,
} from './schema.ts';

const anyObject: Json = { type: 'object' };

const fault = object({
  id: integer,
  mid: orNull(uuid),
  brand: orNull(text),
  mode: choice(FAULT_MODES),
  left: described(integer, 'The number of calls that it still applies to.'),
  code: orNull(text),
  advice: orNull(text),
});

const movement = object({
  id: integer,
  reference: described(uuid, 'The `trans_id` of the payment.'),
  brand: text,
  mid: uuid,
  operation: text,
  kind: choice([
    'sale',
    'payout',
    'chargeback',
    'chargeback_reversed',
    'second_chargeback',
    'capture',
    'void',
    'refund',
  ]),
  direction: choice(['in', 'out']),
  amount: described(text, 'In minor units.'),
  currency: text,
  at: described(integer, 'Milliseconds since 1970.'),
});

const chargeback: Json = {
  anyOf: [
    { const: true },
    object(
      {},
      {
        amount: described(text, 'In the currency of the payment, such as 3.00; by default everything that is left.'),
        respond_by: orNull({ ...text, format: 'date-time' }),
        reason: text,
      },
    ),
  ],
};

const scenario = (name: string, schema: Json): Json => object({ [name]: schema });

export const SANDBOX_SCHEMAS: Readonly<Record<string, Json>> = {
  Clock: object({ now: date, offset_seconds: { type: 'number' }, mid: orNull(uuid) }),
  Faults: object({ faults: listOf(fault) }),
  Movement: movement,
};

export const SANDBOX_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/clock': {
    get: call('sandbox', 'readClock', 'Returns the time of the sandbox clock, or of the clock of one account.', {
      parameters: [inQuery('mid', uuid, 'The account whose clock is read.')],
      responses: { ...answers('The time.', ref('Clock')), ...accountRefusals },
    }),
    post: call('sandbox', 'moveClock', 'Advances the clock and processes what becomes due before it responds.', {
      requestBody: jsonBody(object({ advance_seconds: { type: 'number', minimum: 0 } }, { mid: orNull(uuid) })),
      responses: { ...answers('The time.', ref('Clock')), ...accountRefusals },
    }),
  },
  '/sandbox/api/payments/{trans_id}': {
    parameters: [inPath('trans_id', uuid, 'The payment.')],
    post: call(
      'sandbox',
      'runScenario',
      'Runs a scenario: makes the simulated provider or bank report an outcome of a payment.',
      {
        requestBody: jsonBody({
          oneOf: [
            scenario('provider_status', choice(PROVIDER_STATUSES)),
            scenario('bank_callback', { ...text, pattern: '^[A-Z]{4}$', examples: ['ACSC', 'RJCT', 'PDNG'] }),
            scenario('chargeback', chargeback),
            scenario('chargeback_reversed', { const: true }),
            scenario('second_chargeback', chargeback),
          ],
        }),
        responses: {
          ...answers(
            'The payment at the simulated provider.',
            object({ result: { const: 'SUCCESS' }, payment: anyObject }),
          ),
          ...paymentRefusals,
        },
      },
    ),
  },
  '/sandbox/api/faults': {
    get: call('sandbox', 'listFaults', 'Lists the faults that are set.', {
      responses: { ...answers('The faults.', ref('Faults')), ...commonRefusals },
    }),
    post: call('sandbox', 'setFault', 'Sets a fault for the next provider calls; `none` removes faults.', {
      requestBody: jsonBody(
        object(
          { mode: choice(FAULT_MODES) },
          {
            mid: orNull(uuid),
            brand: orNull(choice(BRAND_LABELS)),
            count: { type: 'integer', minimum: 1, maximum: 10_000, default: 1 },
            code: described({ ...text, pattern: DECLINE_CODE.source }, 'Of `decline`: a response code of ISO 8583.'),
            advice: described({ ...text, pattern: DECLINE_ADVICE.source }, 'Of `decline`: the advice of the network.'),
          },
        ),
      ),
      responses: {
        ...answers('All faults that are set.', object({ result: { const: 'SUCCESS' }, faults: listOf(fault) })),
        ...commonRefusals,
      },
    }),
  },
  '/sandbox/api/ledger': {
    get: call('sandbox', 'readLedger', 'Returns the ledger of the provider simulator: every movement of money.', {
      parameters: [inQuery('after', { ...integer, minimum: 0, default: 0 }, 'The `next` of the previous page.')],
      responses: {
        ...answers('A page of movements.', object({ items: listOf(ref('Movement')), next: orNull(integer) })),
        ...commonRefusals,
      },
    }),
  },
};
