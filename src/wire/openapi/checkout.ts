/** The Checkout paths of the OpenAPI document: request schemas generated from the field tables, and responses. */

import type { ErrorName } from '../../rules/errors.ts';
import type { Field } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { type ApiOperation, CHECKOUT_OPERATIONS, type CheckoutPath } from '../../rules/operations.ts';
import { STATE_NAMES } from '../../rules/states.ts';
import { expectsOf, hashOver, isRequired } from './descriptions.ts';
import { LINK_FIELDS } from './links.ts';
import {
  answers,
  choice,
  date,
  described,
  digitalWallet,
  type Json,
  jsonBody,
  listOf,
  object,
  ref,
  refusals,
  text,
  uuid,
} from './schema.ts';

/** Numbers may be sent as strings, too; the schema of a boolean already allows strings. */
function schemaOf({ schema, isLoose }: Field): Json {
  return isLoose && schema.type === 'integer' ? { anyOf: [schema, { type: 'string', pattern: '^\\d+$' }] } : schema;
}

function property(field: Field): Json {
  const expects = expectsOf(field);
  const isPlain = expects === 'text' || field.schema.enum !== undefined;
  return isPlain ? schemaOf(field) : described(schemaOf(field), `Expects ${expects}.`);
}

/** The names of a field, each with its schema. */
const propertiesOf = (field: Field, name: string): [string, Json][] => [
  [name, property(field)],
  ...(field.alias ? [[field.alias, described(schemaOf(field), `Alias of \`${name}\`.`)] as [string, Json]] : []),
];

/** A field, and the rest of its dotted name below the current object. */
type Row = readonly [path: string, field: Field];

/** The object schema of these fields; a dot in a name denotes a nested object. */
function objectOf(rows: readonly Row[]): Json {
  const members = [...Map.groupBy(rows, ([path]) => path.split('.')[0] as string)];
  const isNeeded = (group: readonly Row[]): boolean => group.some(([, field]) => isRequired(field));
  const schemasOf = ([name, group]: [string, readonly Row[]]): [string, Json][] => {
    const [path, field] = group[0] as Row;
    if (path === name) return propertiesOf(field, name);
    return [[name, objectOf(group.map(([inside, row]) => [inside.slice(name.length + 1), row]))]];
  };
  return {
    type: 'object',
    properties: Object.fromEntries(members.flatMap(schemasOf)),
    required: members.filter(([, group]) => isNeeded(group)).map(([name]) => name),
  };
}

interface OperationDescription {
  operationId: string;
  summary: string;
  description?: string;
  /** Fields that the field tables do not contain or describe. */
  fields?: Readonly<Record<string, Json>>;
  /** Constraints that the list of required fields cannot express. */
  constraints?: Json;
  answer: Json;
  refused: readonly ErrorName[];
}

const ACCEPTED = ref('CheckoutAccepted');
const PAYMENT = ref('CheckoutPayment');
const REFUND_REFUSALS = [
  'refundNotAllowed',
  'refundOnlyInPortal',
  'actionNotSupported',
  'refundNotSettled',
  'refundTooMuch',
] as const;

const DESCRIPTIONS: Readonly<Record<CheckoutPath, OperationDescription>> = {
  session: {
    operationId: 'checkoutSession',
    summary: 'Opens a session and returns the address of its payment page.',
    description:
      'An optional field may be `null` or empty; unknown fields are ignored. ' +
      'An identical request within 15 seconds returns the same page.',
    fields: {
      methods: described(
        listOf(text),
        'The brands that the payer may choose from; without it, all brands that fit the order.',
      ),
      card_token: described(
        { ...listOf(text), maxItems: LIMITS.savedCardsMost },
        'Tokens of saved cards that the payer may choose from.',
      ),
      parameters: described(
        { type: 'object', additionalProperties: { type: 'object' } },
        'Maps a brand to its fields, including secrets and lists; the payer does not have to enter them.',
      ),
      custom_data: described(
        { type: 'object' },
        'Returned in callbacks as strings: `{"cart": {"id": 17}}` as `custom_data[cart][id]=17`.',
      ),
    },
    answer: ref('CheckoutPage'),
    refused: ['notUuid', 'duplicatePayment', 'unknownSchedule'],
  },
  link: {
    operationId: 'checkoutLink',
    summary: 'Makes a payment link and returns its address.',
    description:
      'A link has `amount`, or `min_amount` and `max_amount` between which the payer chooses. Without `uses` it can be paid once; `null` means any number of times.',
    fields: LINK_FIELDS,
    answer: ref('Link'),
    refused: [],
  },
  'payment/status': {
    operationId: 'checkoutStatus',
    summary: 'Returns the status of a payment, or the newest attempts of an order.',
    description: 'With `size` the response is a list, newest first. The hash covers the id that was sent.',
    constraints: { anyOf: ['payment_id', 'trans_id', 'order_id'].map((name) => ({ required: [name] })) },
    answer: { oneOf: [PAYMENT, listOf(PAYMENT)] },
    refused: ['unknownOrder', 'unknownCheckoutPayment'],
  },
  'payment/card/credit': {
    operationId: 'checkoutCredit',
    summary: 'Credits a saved card, identified by the token of an earlier payment.',
    fields: {
      order: { ...text, deprecated: true, description: 'An earlier, nested request format; no longer accepted.' },
    },
    answer: ACCEPTED,
    refused: [
      'notUuid',
      'duplicatePayment',
      'unknownCardToken',
      'foreignCardToken',
      'expiredCardToken',
      'duplicateOperation',
      ...REFUND_REFUSALS,
    ],
  },
  'payment/refund': {
    operationId: 'checkoutRefund',
    summary: 'Refunds a payment in full or in part.',
    answer: ACCEPTED,
    refused: ['notUuid', 'unknownPayment', 'duplicateOperation', ...REFUND_REFUSALS],
  },
  'payment/capture': {
    operationId: 'checkoutCapture',
    summary: 'Captures an authorised amount in full or in part, once.',
    answer: ref('CheckoutCapture'),
    refused: [
      'notUuid',
      'unknownPayment',
      'duplicateOperation',
      'actionNotSupported',
      'captureNotPending',
      'captureTooMuch',
    ],
  },
  'payment/void': {
    operationId: 'checkoutVoid',
    summary: 'Cancels a payment before money moves.',
    answer: ACCEPTED,
    refused: ['notUuid', 'unknownPayment', 'duplicateOperation', 'actionNotSupported'],
  },
  'payment/retry': {
    operationId: 'checkoutRetry',
    summary: 'Repeats a declined recurring payment as a new attempt of its order.',
    answer: PAYMENT,
    refused: ['duplicatePayment', 'unknownPayment', 'actionNotSupported'],
  },
  'payment/recurring': {
    operationId: 'checkoutRecurring',
    summary: 'Makes a recurring payment without the payer; by default in the currency of the first payment.',
    answer: PAYMENT,
    refused: ['notUuid', 'duplicatePayment', 'unknownSchedule', 'unknownRecurringPair', 'actionNotSupported'],
  },
};

const MERCHANT_KEY = described(text, 'The key of the account: `test_…` in the sandbox, `live_…` in production.');

const nameOf = (path: CheckoutPath): string => `checkout.${path.replaceAll('/', '.')}`;

function requestOf(path: CheckoutPath): Json {
  const { fields, signs }: ApiOperation = CHECKOUT_OPERATIONS[path];
  const { properties, ...own } = objectOf(fields.map((field) => [field.name, field]));
  const { hash, ...rest } = properties as Record<string, Json>;
  return {
    ...own,
    properties: {
      merchant_key: MERCHANT_KEY,
      ...rest,
      ...DESCRIPTIONS[path].fields,
      hash: described(hash as Json, `The hash over ${hashOver(signs)}.`),
    },
    required: ['merchant_key', ...(own.required as string[])],
    ...DESCRIPTIONS[path].constraints,
  };
}

const PATHS = Object.keys(CHECKOUT_OPERATIONS) as CheckoutPath[];

const states = STATE_NAMES.map((name) => (name === 'DECLINED' ? 'decline' : name.toLowerCase()));
const state = described(choice(states), 'The state of the payment.');

export const CHECKOUT_SCHEMAS: Readonly<Record<string, Json>> = {
  ...Object.fromEntries(PATHS.map((path) => [nameOf(path), requestOf(path)])),
  CheckoutPage: object(
    { redirect_url: { type: 'string', format: 'uri' } },
    {
      warnings: described(
        listOf(object({ param: text, hint: text, link: { type: 'string', format: 'uri' } })),
        'Well-known fields that the gateway does not act upon; in the sandbox also fields that are probably misspelt, and methods that are not offered.',
      ),
    },
  ),
  CheckoutPayment: object(
    {
      payment_id: uuid,
      date,
      status: state,
      order: object({ number: text, amount: text, currency: text, description: text }),
      customer: object({}, { name: text, email: text }),
    },
    {
      reason: described(text, 'Why it was declined.'),
      recurring_token: text,
      schedule_id: uuid,
      digital_wallet: digitalWallet,
      card_token: text,
    },
  ),
  CheckoutAccepted: object({ payment_id: uuid, result: { const: 'accepted' }, operation_id: uuid }),
  CheckoutCapture: object(
    {
      payment_id: uuid,
      status: state,
      trans_status: described(choice(['SUCCESS', 'FAIL', 'UNDEFINED']), 'The outcome of the capture.'),
      date,
      operation_id: uuid,
    },
    { reason: described(text, 'Why the provider declined it.') },
  ),
};

export const CHECKOUT_PATHS: Readonly<Record<string, Json>> = Object.fromEntries(
  PATHS.map((path) => {
    const { operationId, summary, description, answer, refused } = DESCRIPTIONS[path];
    const post: Json = {
      operationId,
      tags: ['checkout'],
      summary,
      ...(description !== undefined && { description }),
      requestBody: jsonBody(ref(nameOf(path))),
      responses: {
        ...answers('The response of the operation.', answer),
        ...refusals(
          ...(['wrongEnvironment', 'addressNotAllowed', 'invalidData', 'wrongHash'] as const),
          ...refused,
          ...(['bodyTooLarge', 'tooManyRequests', 'internal', 'providerBusy', 'unavailable'] as const),
        ),
      },
    };
    return [`/api/v1/${path}`, { post }];
  }),
);
