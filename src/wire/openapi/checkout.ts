/** `/api/v1/` for the OpenAPI document: a JSON body per path, made from the rows, and what each is answered with. */
import type { ErrorName } from '../../rules/errors.ts';
import type { Field } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { type ApiOperation, CHECKOUT_OPERATIONS, type CheckoutPath } from '../../rules/operations.ts';
import { STATE_NAMES } from '../../rules/states.ts';
import { expectsOf, hashOver, isRequired } from './descriptions.ts';
import {
  answers,
  choice,
  date,
  described,
  type Json,
  jsonBody,
  listOf,
  object,
  ref,
  refusals,
  text,
  uuid,
} from './schema.ts';

/** Numbers may come as text as well; truth values say so in their own schema. */
function schemaOf({ schema, isLoose }: Field): Json {
  return isLoose && schema.type === 'integer' ? { anyOf: [schema, { type: 'string', pattern: '^\\d+$' }] } : schema;
}

function property(field: Field): Json {
  const expects = expectsOf(field);
  const isPlain = expects === 'text' || field.schema.enum !== undefined;
  return isPlain ? schemaOf(field) : described(schemaOf(field), `Expects ${expects}.`);
}

/** The names under which a row is sent, each with its schema. */
const propertiesOf = (field: Field, name: string): [string, Json][] => [
  [name, property(field)],
  ...(field.alias ? [[field.alias, described(schemaOf(field), `Another name of \`${name}\`.`)] as [string, Json]] : []),
];

/** A row, and the part of its name that has not been followed yet. */
type Row = readonly [path: string, field: Field];

/** An object of JSON with these rows: a dot leads into an object of its own. */
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

interface Messages {
  operationId: string;
  summary: string;
  description?: string;
  /** What the rows do not say of the fields. */
  fields?: Readonly<Record<string, Json>>;
  /** What the list of required fields cannot say. */
  also?: Json;
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

const WORDS: Readonly<Record<CheckoutPath, Messages>> = {
  session: {
    operationId: 'checkoutSession',
    summary: 'Opens a session: the payer pays on the page whose address is answered.',
    description:
      'A field that is not required may be `null` or empty as well, and unknown fields are ignored. ' +
      'The same request within 15 seconds is answered with the same page.',
    fields: {
      methods: described(listOf(text), 'The brands that the payer may choose among; all that fit when there are none.'),
      card_token: described(
        { ...listOf(text), maxItems: LIMITS.savedCardsMost },
        'Cards of earlier payments, which the payer may choose among.',
      ),
      parameters: described(
        { type: 'object', additionalProperties: { type: 'object' } },
        'Under the name of a brand, the fields of this brand, secrets and lists too; the payer is not asked for them.',
      ),
      custom_data: described(
        { type: 'object' },
        'Comes back in callbacks, all of it as text: `{"cart": {"id": 17}}` as `custom_data[cart][id]=17`.',
      ),
    },
    answer: ref('CheckoutPage'),
    refused: ['notUuid', 'duplicatePayment', 'unknownSchedule'],
  },
  'payment/status': {
    operationId: 'checkoutStatus',
    summary: 'Tells how a payment stands, or the newest attempts of an order.',
    description: 'With `size` the answer is a list, newest first. The hash covers whichever id was sent.',
    also: { anyOf: ['payment_id', 'trans_id', 'order_id'].map((name) => ({ required: [name] })) },
    answer: { oneOf: [PAYMENT, listOf(PAYMENT)] },
    refused: ['unknownOrder', 'unknownCheckoutPayment'],
  },
  'payment/card/credit': {
    operationId: 'checkoutCredit',
    summary: 'Pays back to a card, which a token of an earlier payment names.',
    fields: { order: { ...text, deprecated: true, description: 'The nested shape of before is not accepted.' } },
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
    summary: 'Pays back a payment, or a part of it.',
    answer: ACCEPTED,
    refused: ['notUuid', 'unknownPayment', 'duplicateOperation', ...REFUND_REFUSALS],
  },
  'payment/capture': {
    operationId: 'checkoutCapture',
    summary: 'Takes what was reserved, or a part of it; once.',
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
    summary: 'Cancels a payment before money has moved.',
    answer: ACCEPTED,
    refused: ['notUuid', 'unknownPayment', 'duplicateOperation', 'actionNotSupported'],
  },
  'payment/recurring': {
    operationId: 'checkoutRecurring',
    summary: 'Repeats a payment without its payer; in the currency of the first one, when it names none.',
    answer: PAYMENT,
    refused: ['notUuid', 'duplicatePayment', 'unknownSchedule', 'unknownRecurringPair', 'actionNotSupported'],
  },
};

const MERCHANT_KEY = described(text, 'The key of the account: `test_…` in the sandbox, `live_…` else.');

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
      ...WORDS[path].fields,
      hash: described(hash as Json, `The hash over ${hashOver(signs)}.`),
    },
    required: ['merchant_key', ...(own.required as string[])],
    ...WORDS[path].also,
  };
}

const PATHS = Object.keys(CHECKOUT_OPERATIONS) as CheckoutPath[];

const states = STATE_NAMES.map((name) => (name === 'DECLINED' ? 'decline' : name.toLowerCase()));
const state = described(choice(states), 'The state of the payment.');

export const CHECKOUT_SCHEMAS: Readonly<Record<string, Json>> = {
  ...Object.fromEntries(PATHS.map((path) => [nameOf(path), requestOf(path)])),
  CheckoutPage: object({ redirect_url: { type: 'string', format: 'uri' } }),
  CheckoutPayment: object(
    {
      payment_id: uuid,
      date,
      status: state,
      order: object({ number: text, amount: text, currency: text, description: text }),
      customer: object({}, { name: text, email: text }),
    },
    { reason: described(text, 'Why it was declined.'), recurring_token: text, schedule_id: uuid, card_token: text },
  ),
  CheckoutAccepted: object({ payment_id: uuid, result: { const: 'accepted' }, operation_id: uuid }),
  CheckoutCapture: object(
    {
      payment_id: uuid,
      status: state,
      trans_status: described(choice(['success', 'fail', 'undefined']), 'What came of the capture.'),
      date,
      operation_id: uuid,
    },
    { reason: described(text, 'Why the provider refused it.') },
  ),
};

export const CHECKOUT_PATHS: Readonly<Record<string, Json>> = Object.fromEntries(
  PATHS.map((path) => {
    const { operationId, summary, description, answer, refused } = WORDS[path];
    const post: Json = {
      operationId,
      tags: ['checkout'],
      summary,
      ...(description !== undefined && { description }),
      requestBody: jsonBody(ref(nameOf(path))),
      responses: {
        ...answers('What came of it.', answer),
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
