/** The operator’s calls for the OpenAPI document: accounts, payments, the clock, and the strings of the sandbox. */
import { ATTENTIONS } from '../../rules/attention.ts';
import { BRANDS } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { FAULT_MODES, PROVIDER_STATUSES } from '../../rules/sandbox-scenarios.ts';
import { SETTING_NAMES, SETTINGS } from '../../rules/settings.ts';
import { STATE_NAMES } from '../../rules/states.ts';
import { call, common, inBook, mid, moment, ofAccount, ofPayment, ofSchedule } from './operator-call.ts';
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

/** The type of a setting follows from its default. */
function settingSchema(value: unknown): Json {
  if (Array.isArray(value)) return listOf(text);
  return { type: typeof value === 'object' ? 'object' : typeof value };
}

/** The settings as JSON shows them: a name with a dot is a member of an object. */
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
  environment: choice(['sandbox', 'production']),
  client_key: text,
  merchant_key: text,
  settings: ref('Settings'),
  created_at: date,
};

const attention = described(choice([...ATTENTIONS]), 'Why an operator should look at the payment.');

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
  at: date,
});

const operatorOrder = {
  amount: described(text, 'Everything, when it is left out.'),
  operation_id: described(uuid, 'Chosen by the caller: a repeat with the same id is the same operation.'),
};

const OPERATION_VERBS = ['capture', 'void', 'reversal', 'refund', 'credit', 'expiry'];

const operation = object({
  operation_id: uuid,
  operation: choice(OPERATION_VERBS),
  state: described(choice(['sent', 'done', 'declined']), '`sent` means that the outcome is still to come.'),
  amount: text,
  reason: orNull(text),
  requested_at: date,
  finished_at: orNull(date),
});

const subscription = {
  subscription_id: uuid,
  first_payment_id: uuid,
  state: described(choice(['active', 'finished', 'ended']), '`ended` before all its charges were made.'),
  occurrences: described(integer, 'Occurrences so far, charged or given up.'),
  declines: described(integer, 'How often the charge that is due now was declined.'),
  failed: described(integer, 'Occurrences that were given up.'),
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
  subscriptions_total: described(integer, 'How many subscriptions the schedule has.'),
  subscriptions_by_state: described(
    object({ active: integer, finished: integer, ended: integer }),
    'How many of them are in each state.',
  ),
  subscriptions: described(
    listOf(object(subscription)),
    `The first ${LIMITS.listedSubscriptionsMost} of them, those that are charged next first.`,
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
    reference: described(text, 'The payment that they are about, as the provider names it.'),
    state: described(choice(['new', 'applied', 'unmatched']), '`unmatched` are news of a payment that nobody knows.'),
    tries: integer,
    received_at: date,
  },
  { type: text },
);

const details = described(
  { type: 'object' },
  'What was sent, under the names of the requests. Of the fields that are kept sealed there is `sealed`, and its ' +
    'value is always `***`. A `session` of Checkout has its first payment in `first_payment_id`, ends at `expires_at`, ' +
    'and may have a `sealed` of its own.',
);

const anyObject: Json = { type: 'object' };

const fault = object({
  id: integer,
  mid: orNull(uuid),
  brand: orNull(text),
  mode: choice(FAULT_MODES),
  left: described(integer, 'How many calls it is still good for.'),
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
    description: 'A name and settings; the settings stand beside the name or below `settings`.',
    allOf: [
      { type: 'object', properties: { name: { ...text, minLength: 1, maxLength: 100 }, settings: ref('Settings') } },
      ref('Settings'),
    ],
  },
  Account: object(account),
  NewAccount: object({
    ...account,
    password: described(text, 'Shown only this once.'),
    callback_secret: described(text, 'Shown only this once.'),
  }),
  Payment: object(payment),
  WholePayment: object({
    ...payment,
    connector: text,
    provider_reference: orNull(text),
    in_doubt: described(flag, 'The provider was called and its outcome is not known.'),
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
  inQuery('mid', uuid, 'Payments of this account.'),
  inQuery('order_id', text, 'Payments of this order.'),
  inQuery('status', choice(STATE_NAMES), 'Payments in this state.'),
  inQuery('brand', text, 'Payments of this brand.'),
  inQuery('attention', attention, 'Payments that somebody should look at, for this reason.'),
  inQuery('schedule_id', uuid, 'Payments of this schedule.'),
  inQuery('from', moment, 'Made at this time or later.'),
  inQuery('to', moment, 'Made before this time.'),
];

const paymentId = [inPath('payment_id', uuid, 'The payment.')];

const wish = (name: string, schema: Json): Json => object({ [name]: schema });

export const OPERATOR_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/accounts': {
    post: call('accounts', 'createAccount', 'Makes an account.', {
      requestBody: jsonBody({ allOf: [ref('AccountInput'), { type: 'object', required: ['name'] }] }),
      responses: { ...answers('The account, with its secrets.', ref('NewAccount'), '201'), ...common },
    }),
    get: call('accounts', 'listAccounts', 'Lists accounts, newest first.', {
      parameters: inBook(uuid),
      responses: { ...answers('A page of accounts.', pageOf(ref('Account'))), ...common },
    }),
  },
  '/admin/api/accounts/{mid}': {
    parameters: mid,
    get: call('accounts', 'readAccount', 'Reads an account.', {
      responses: { ...answers('The account.', ref('Account')), ...ofAccount },
    }),
    patch: call('accounts', 'changeAccount', 'Changes the name or settings; what is not named stays as it is.', {
      requestBody: jsonBody(ref('AccountInput')),
      responses: { ...answers('The account as it is now.', ref('Account')), ...ofAccount },
    }),
  },
  '/admin/api/accounts/{mid}/rotate-password': {
    parameters: mid,
    post: call('accounts', 'rotatePassword', 'Gives an account a new password.', {
      responses: {
        ...answers(
          'The new password, shown only this once.',
          object({ mid: uuid, password: text, previous_password_valid_until: date }),
        ),
        ...ofAccount,
      },
    }),
  },
  '/admin/api/payments': {
    get: call('payments', 'listPayments', 'Lists payments, newest first.', {
      parameters: [...filters, ...inBook(uuid)],
      responses: { ...answers('A page of payments.', pageOf(ref('Payment'))), ...common },
    }),
  },
  '/admin/api/payments/{payment_id}': {
    parameters: paymentId,
    get: call('payments', 'readPayment', 'Reads a payment with everything that happened to it.', {
      responses: { ...answers('The payment.', ref('WholePayment')), ...ofPayment },
    }),
  },
  '/admin/api/payments/{payment_id}/attended': {
    parameters: paymentId,
    post: call('payments', 'attendPayment', 'Takes a payment off the attention list.', {
      responses: { ...answers('The payment as it is now.', ref('Payment')), ...ofPayment },
    }),
  },
  ...Object.fromEntries(
    [
      ['capture', 'Takes a reserved amount, or a part of it.'],
      ['void', 'Cancels a payment before money moved.'],
      ['refund', 'Pays back all or a part; gives a reservation back.'],
    ].map(([name, summary]) => [
      `/admin/api/payments/{payment_id}/${name}`,
      {
        parameters: paymentId,
        post: call('payments', `${name}Payment`, summary as string, {
          requestBody: { required: false, content: { 'application/json': { schema: object({}, operatorOrder) } } },
          responses: {
            ...answers('The payment as it is now, and the operation.', object({ ...payment, operation })),
            ...ofPayment,
          },
        }),
      },
    ]),
  ),
  '/admin/api/schedules': {
    get: call('payments', 'listSchedules', 'Lists schedules, newest first, with what they charge.', {
      parameters: [inQuery('mid', uuid, 'Schedules of this account.'), ...inBook(text)],
      responses: { ...answers('A page of schedules.', pageOf(schedule, text)), ...common },
    }),
  },
  '/admin/api/schedules/{schedule_id}/subscriptions': {
    parameters: [inPath('schedule_id', uuid, 'The schedule.')],
    get: call('payments', 'listSubscriptions', 'Lists all subscriptions of a schedule, newest first.', {
      parameters: [
        inQuery('mid', uuid, 'The account; without it, of every account that has a schedule of this id.'),
        ...inBook(uuid),
      ],
      responses: {
        ...answers('A page of subscriptions.', pageOf(object({ mid: uuid, ...subscription }))),
        ...ofSchedule,
      },
    }),
  },
  '/admin/api/notifications': {
    get: call(
      'payments',
      'listNotifications',
      'Lists news of providers, newest first; those that no payment was found for.',
      {
        parameters: [
          inQuery('state', choice(['new', 'applied', 'unmatched']), 'News in this state; `unmatched` when not given.'),
          ...inBook(text),
        ],
        responses: { ...answers('A page of news.', pageOf(notificationRow, text)), ...common },
      },
    ),
  },
  '/admin/api/clock': {
    get: call('sandbox', 'readClock', 'Tells the time of the sandbox, or of one account.', {
      parameters: [inQuery('mid', uuid, 'The account whose clock is read.')],
      responses: { ...answers('The time.', ref('Clock')), ...ofAccount },
    }),
    post: call('sandbox', 'moveClock', 'Lets time pass; what is due by then happens before the answer.', {
      requestBody: jsonBody(object({ advance_seconds: { type: 'number', minimum: 0 } }, { mid: orNull(uuid) })),
      responses: { ...answers('The time.', ref('Clock')), ...ofAccount },
    }),
  },
  '/sandbox/api/payments/{trans_id}': {
    parameters: [inPath('trans_id', uuid, 'The payment.')],
    post: call('sandbox', 'runScenario', 'Tells the simulated provider or bank of a payment what to say now.', {
      requestBody: jsonBody({
        oneOf: [
          wish('provider_status', choice(PROVIDER_STATUSES)),
          wish('bank_callback', { ...text, pattern: '^[A-Z]{4}$', examples: ['ACSC', 'RJCT', 'PDNG'] }),
          wish('chargeback', { const: true }),
        ],
      }),
      responses: {
        ...answers(
          'The payment as the simulated provider knows it.',
          object({ result: { const: 'SUCCESS' }, payment: anyObject }),
        ),
        ...ofPayment,
      },
    }),
  },
  '/sandbox/api/faults': {
    get: call('sandbox', 'listFaults', 'Lists the faults that are waiting.', {
      responses: { ...answers('The faults.', ref('Faults')), ...common },
    }),
    post: call('sandbox', 'setFault', 'Makes the next provider calls misbehave; `none` takes faults back.', {
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
        ...answers('All faults that are waiting.', object({ result: { const: 'SUCCESS' }, faults: listOf(fault) })),
        ...common,
      },
    }),
  },
  '/sandbox/api/ledger': {
    get: call('sandbox', 'readLedger', 'Reads the books of the simulated provider: what moved, and when.', {
      parameters: [inQuery('after', { ...integer, minimum: 0, default: 0 }, 'The `next` of the page before.')],
      responses: {
        ...answers('A page of movements.', object({ items: listOf(ref('Movement')), next: orNull(integer) })),
        ...common,
      },
    }),
  },
};
