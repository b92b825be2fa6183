/** The operator paths of the OpenAPI document: accounts, payments, schedules, notifications, the clock and the sandbox API. */
import { ATTENTIONS } from '../../rules/attention.ts';
import { BRANDS } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { FAULT_MODES, PROVIDER_STATUSES } from '../../rules/sandbox-scenarios.ts';
import { SETTING_NAMES, SETTINGS } from '../../rules/settings.ts';
import { STATE_NAMES } from '../../rules/states.ts';
import {
  accountRefusals,
  call,
  commonRefusals,
  dateTime,
  mid,
  pageParameters,
  paymentRefusals,
  scheduleRefusals,
} from './operator-call.ts';
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

type Members = Record<string, Json>;

/** The type of a setting is the type of its default. */
function settingSchema(value: unknown): Json {
  if (Array.isArray(value)) return listOf(text);
  return { type: typeof value === 'object' ? 'object' : typeof value };
}

/** The schemas of the settings; a name with a dot is a member of a nested object. */
function settingMembers(): Members {
  const members: Members = {};
  for (const name of SETTING_NAMES) {
    const { about, expects, default: value } = SETTINGS[name];
    const parts = name.split('.');
    const last = parts.pop() as string;
    let inside = members;
    for (const part of parts) {
      inside[part] ??= { type: 'object', properties: {} };
      inside = inside[part].properties as Members;
    }
    inside[last] = { ...settingSchema(value), default: value, description: `${about} Expects ${expects}.` };
  }
  return members;
}

const account = {
  mid: uuid,
  name: text,
  suspended: described(flag, 'Whether the account takes no new payments.'),
  environment: choice(['sandbox', 'production']),
  client_key: text,
  merchant_key: text,
  settings: ref('Settings'),
  created_at: date,
};

const attention = described(choice([...ATTENTIONS]), 'Why the payment is on the attention list.');

const payment = {
  payment_id: uuid,
  mid: uuid,
  order_id: text,
  attempt: integer,
  status: choice(STATE_NAMES),
  brand: text,
  protocol: choice(['s2s', 'checkout']),
  amount: text,
  currency: text,
  authorised: text,
  captured: text,
  refunded: text,
  decline_reason: orNull(text),
  attention: orNull(attention),
  schedule_id: orNull(uuid),
  created_at: date,
  updated_at: date,
};

const historyRow = object({
  seq: integer,
  event: text,
  from: orNull(choice(STATE_NAMES)),
  to: choice(STATE_NAMES),
  actor: choice(['merchant', 'provider', 'payer', 'operator', 'clock']),
  actor_name: described(orNull(text), 'The name of the operator or of the token.'),
  at: date,
});

const operationRequest = {
  amount: described(text, 'Without it, the whole amount.'),
  operation_id: described(
    uuid,
    'Idempotency key chosen by the caller: a repeat with the same id is the same operation.',
  ),
};

const OPERATION_VERBS = ['capture', 'void', 'reversal', 'refund', 'credit', 'expiry'];

const operation = object({
  operation_id: uuid,
  operation: choice(OPERATION_VERBS),
  state: described(choice(['sent', 'done', 'declined']), '`sent` means that the outcome is not known yet.'),
  amount: text,
  reason: orNull(text),
  requested_at: date,
  finished_at: orNull(date),
});

const subscription = {
  subscription_id: uuid,
  first_payment_id: uuid,
  state: described(
    choice(['active', 'finished', 'ended']),
    '`ended` means that the subscription stopped before its last charge.',
  ),
  occurrences: described(integer, 'The number of past occurrences, charged or given up.'),
  declines: described(integer, 'How often the current charge was declined.'),
  failed: described(integer, 'The number of occurrences that were given up.'),
  next_charge_at: orNull(date),
};

const schedule = object({
  schedule_id: uuid,
  mid: uuid,
  name: text,
  interval_length: integer,
  interval_unit: choice(['day', 'week', 'month']),
  payments_count: integer,
  day_of_month: orNull(integer),
  delays: integer,
  created_at: date,
  deleted_at: orNull(date),
  next_charge_at: orNull(date),
  subscriptions_total: described(integer, 'The number of subscriptions.'),
  subscriptions_by_state: described(
    object({ active: integer, finished: integer, ended: integer }),
    'The number of subscriptions in each state.',
  ),
  subscriptions: described(
    listOf(object(subscription)),
    `The first ${LIMITS.listedSubscriptionsMost} subscriptions, by the time of the next charge.`,
  ),
});

const providerCall = object({
  verb: choice(['submit', 'query', 'notification', 'authenticate', ...OPERATION_VERBS]),
  connector: text,
  outcome: text,
  took_ms: integer,
  at: date,
});

const notificationRow = object(
  {
    connector: text,
    event_id: text,
    reference: described(text, 'The payment, as the provider references it.'),
    state: described(
      choice(['new', 'applied', 'unmatched']),
      '`unmatched` means that no payment matches the reference.',
    ),
    tries: integer,
    received_at: date,
  },
  { type: text },
);

const details = described(
  { type: 'object' },
  'The request data, under the field names of the requests. Fields that are stored encrypted are replaced by `sealed`, ' +
    'whose value is always `***`. The `session` of a Checkout payment has `first_payment_id` and `expires_at`, and may ' +
    'have its own `sealed`.',
);

const anyObject: Json = { type: 'object' };

const fault = object({
  id: integer,
  mid: orNull(uuid),
  brand: orNull(text),
  mode: choice(FAULT_MODES),
  left: described(integer, 'The number of calls that it still applies to.'),
});

const movement = object({
  id: integer,
  reference: described(uuid, 'The `trans_id` of the payment.'),
  brand: text,
  mid: uuid,
  operation: text,
  kind: choice(['sale', 'payout', 'chargeback', 'capture', 'void', 'refund']),
  direction: choice(['in', 'out']),
  amount: described(text, 'In minor units.'),
  currency: text,
  at: described(integer, 'Milliseconds since 1970.'),
});

export const OPERATOR_SCHEMAS: Readonly<Record<string, Json>> = {
  Settings: { type: 'object', properties: settingMembers() },
  AccountInput: {
    description: 'A name and settings. The settings are members of the body, of its object `settings`, or of both.',
    allOf: [
      {
        type: 'object',
        properties: { name: { ...text, minLength: 1, maxLength: 100 }, suspended: flag, settings: ref('Settings') },
      },
      ref('Settings'),
    ],
  },
  Account: object(account),
  NewAccount: object({
    ...account,
    password: described(text, 'Shown only once.'),
    callback_secret: described(text, 'Shown only once.'),
  }),
  Payment: object(payment),
  PaymentWithDetails: object({
    ...payment,
    connector: text,
    provider_reference: orNull(text),
    in_doubt: described(flag, 'The provider was called and the outcome is not known.'),
    payer_until: orNull(date),
    next_step: orNull(choice(['fields', 'redirect', 'challenge', 'code', 'transfer'])),
    details,
    history: listOf(historyRow),
    operations: listOf(operation),
    provider_calls: listOf(providerCall),
    notifications: listOf(notificationRow),
    callbacks: listOf(ref('LoggedCallback')),
  }),
  Clock: object({ now: date, offset_seconds: { type: 'number' }, mid: orNull(uuid) }),
  Faults: object({ faults: listOf(fault) }),
  Movement: movement,
};

const filters = [
  inQuery(
    'q',
    text,
    'Text search: payments that match all words, at most five. A word is compared with payment, operation and schedule ' +
      'ids, provider references and recurring tokens, the beginning of order ids, the last four digits of cards, e-mail ' +
      'addresses of payers, and amounts such as `10.00`. Quotation marks keep spaces inside a word.',
  ),
  inQuery('mid', uuid, 'Payments of this account.'),
  inQuery('order_id', text, 'Payments of this order.'),
  inQuery('status', choice(STATE_NAMES), 'Payments in this state.'),
  inQuery('brand', text, 'Payments of this brand.'),
  inQuery('attention', attention, 'Payments on the attention list for this reason.'),
  inQuery('schedule_id', uuid, 'Payments of this schedule.'),
  inQuery('from', dateTime, 'Created at this time or later.'),
  inQuery('to', dateTime, 'Created before this time.'),
];

const paymentId = [inPath('payment_id', uuid, 'The payment.')];

const scenario = (name: string, schema: Json): Json => object({ [name]: schema });

export const OPERATOR_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/accounts': {
    post: call('accounts', 'createAccount', 'Creates an account.', {
      requestBody: jsonBody({ allOf: [ref('AccountInput'), { type: 'object', required: ['name'] }] }),
      responses: { ...answers('The account, with its secrets.', ref('NewAccount'), '201'), ...commonRefusals },
    }),
    get: call('accounts', 'listAccounts', 'Lists accounts, newest first.', {
      parameters: pageParameters(uuid),
      responses: { ...answers('A page of accounts.', pageOf(ref('Account'))), ...commonRefusals },
    }),
  },
  '/admin/api/accounts/{mid}': {
    parameters: mid,
    get: call('accounts', 'readAccount', 'Returns an account.', {
      responses: { ...answers('The account.', ref('Account')), ...accountRefusals },
    }),
    patch: call(
      'accounts',
      'changeAccount',
      'Changes the name or settings; members that are not sent stay unchanged.',
      {
        requestBody: jsonBody(ref('AccountInput')),
        responses: { ...answers('The updated account.', ref('Account')), ...accountRefusals },
      },
    ),
  },
  '/admin/api/accounts/{mid}/rotate-password': {
    parameters: mid,
    post: call('accounts', 'rotatePassword', 'Rotates the password of an account.', {
      responses: {
        ...answers(
          'The new password, which is shown only once. The previous one is valid until the returned time.',
          object({ mid: uuid, password: text, previous_password_valid_until: date }),
        ),
        ...accountRefusals,
      },
    }),
  },
  '/admin/api/payments': {
    get: call('payments', 'listPayments', 'Lists payments, newest first.', {
      parameters: [...filters, ...pageParameters(uuid)],
      responses: {
        ...answers(
          'A page of payments. A text search may return fewer than `limit` before the last page, even none.',
          pageOf(ref('Payment')),
        ),
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/payments.csv': {
    get: call('payments', 'exportPayments', 'Exports payments as CSV, newest first.', {
      parameters: filters,
      responses: {
        '200': {
          description:
            'All payments that match, in the format of RFC 4180. The first row has the names of the fields of a payment.',
          content: { 'text/csv': { schema: text } },
        },
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/payments/{payment_id}': {
    parameters: paymentId,
    get: call(
      'payments',
      'readPayment',
      'Returns a payment with its history, operations, provider calls, notifications and callbacks.',
      {
        responses: { ...answers('The payment.', ref('PaymentWithDetails')), ...paymentRefusals },
      },
    ),
  },
  '/admin/api/payments/{payment_id}/attended': {
    parameters: paymentId,
    post: call('payments', 'attendPayment', 'Removes a payment from the attention list.', {
      responses: { ...answers('The updated payment.', ref('Payment')), ...paymentRefusals },
    }),
  },
  ...Object.fromEntries(
    [
      ['capture', 'Captures an authorised amount in full or in part.'],
      ['void', 'Cancels a payment before money moves.'],
      ['refund', 'Refunds a settled payment in full or in part, or reverses an authorisation.'],
    ].map(([name, summary]) => [
      `/admin/api/payments/{payment_id}/${name}`,
      {
        parameters: paymentId,
        post: call('payments', `${name}Payment`, summary as string, {
          requestBody: { required: false, content: { 'application/json': { schema: object({}, operationRequest) } } },
          responses: {
            ...answers('The updated payment and the operation.', object({ ...payment, operation })),
            ...paymentRefusals,
          },
        }),
      },
    ]),
  ),
  '/admin/api/schedules': {
    get: call('payments', 'listSchedules', 'Lists schedules with their subscriptions, newest first.', {
      parameters: [inQuery('mid', uuid, 'Schedules of this account.'), ...pageParameters(text)],
      responses: { ...answers('A page of schedules.', pageOf(schedule, text)), ...commonRefusals },
    }),
  },
  '/admin/api/schedules/{schedule_id}/subscriptions': {
    parameters: [inPath('schedule_id', uuid, 'The schedule.')],
    get: call('payments', 'listSubscriptions', 'Lists the subscriptions of a schedule, newest first.', {
      parameters: [
        inQuery('mid', uuid, 'The account; without it, all accounts that have a schedule with this id.'),
        ...pageParameters(uuid),
      ],
      responses: {
        ...answers('A page of subscriptions.', pageOf(object({ mid: uuid, ...subscription }))),
        ...scheduleRefusals,
      },
    }),
  },
  '/admin/api/notifications': {
    get: call(
      'payments',
      'listNotifications',
      'Lists provider notifications, newest first; by default those without a matching payment.',
      {
        parameters: [
          inQuery(
            'state',
            choice(['new', 'applied', 'unmatched']),
            'Notifications in this state; default `unmatched`.',
          ),
          ...pageParameters(text),
        ],
        responses: { ...answers('A page of notifications.', pageOf(notificationRow, text)), ...commonRefusals },
      },
    ),
  },
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
            scenario('chargeback', { const: true }),
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
            brand: orNull(choice(Object.keys(BRANDS))),
            count: { type: 'integer', minimum: 1, maximum: 10_000, default: 1 },
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
