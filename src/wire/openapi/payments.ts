/** The payments of the admin API, and the notifications of providers, in the OpenAPI document. */

import { NETWORK_NAMES } from '../../lib/cards/networks.ts';
import { ATTENTIONS, NOTE_LENGTH, RESOLUTIONS } from '../../rules/attention.ts';
import { DECLINE_CLASSES } from '../../rules/declines.ts';
import { STATE_NAMES } from '../../rules/states.ts';
import { call, commonRefusals, dateTime, pageParameters, paymentRefusals } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  digitalWallet,
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

const attention = described(choice([...ATTENTIONS]), 'Why the payment is on the attention list.');

export const PAYMENT = {
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
  decline_class: described(
    orNull(choice([...DECLINE_CLASSES])),
    'Whether and how it may be tried again; null if it is not declined.',
  ),
  decline_code: described(orNull(text), 'The code of ISO 8583, or the provider’s own.'),
  attention: orNull(attention),
  schedule_id: orNull(uuid),
  connector: text,
  connection_id: described(orNull(uuid), 'Null for the installation’s own provider.'),
  route_reason: described(orNull(text), 'Why the payment went there; null if the account has no routes.'),
  provider_reference: orNull(text),
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
  note: described(orNull(text), 'Why the operator decided so.'),
  amount: described(orNull(text), 'What the event captured, refunded, charged back or returned.'),
  at: date,
});

const operation_id = described(
  uuid,
  'Idempotency key chosen by the caller: a repeat with the same id is the same operation.',
);
const operationRequest = { amount: described(text, 'Without it, the whole amount.'), operation_id };

const OPERATION_VERBS = ['capture', 'void', 'reversal', 'refund', 'credit', 'expiry', 'late_refund', 'late_void'];

const resolution = described(
  choice([...RESOLUTIONS]),
  '`accept`: the late success counts, the payment becomes `SETTLED`. `refund`: the money is sent back; the mark goes away ' +
    'when the provider has done it. `dismiss`: only the mark is removed. The [attention list](operator/attention-list.md) ' +
    'says which mark allows what.',
);
const note = described({ ...text, maxLength: NOTE_LENGTH }, 'Why; for the history and the audit log.');

const operation = object({
  operation_id: uuid,
  operation: choice(OPERATION_VERBS),
  state: described(choice(['sent', 'done', 'declined']), '`sent` means that the outcome is not known yet.'),
  amount: text,
  reason: orNull(text),
  requested_at: date,
  finished_at: orNull(date),
});

const providerCall = object({
  verb: choice(['submit', 'query', 'resume', 'withdraw', 'notification', 'authenticate', ...OPERATION_VERBS]),
  connector: text,
  connection_id: orNull(uuid),
  outcome: text,
  reason: described(orNull(text), 'Why the provider declined, or why there was no answer.'),
  took_ms: integer,
  authentication: described(
    orNull(text),
    'The `transStatus` of 3DS with which the card was submitted; `unanswered` if the directory did not answer.',
  ),
  reported: described(orNull(text), 'The amount and the currency that were reported in place of the expected ones.'),
  at: date,
});

const notificationRow = object(
  {
    connector: text,
    connection_id: orNull(uuid),
    event_id: text,
    reference: described(orNull(text), 'The payment, by our reference; null until it is matched.'),
    provider_reference: described(orNull(text), 'The payment, by the provider’s reference.'),
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

const LISTED = {
  ...PAYMENT,
  link_id: described(orNull(uuid), 'The link that the payer began from.'),
  invoice_id: described(orNull(uuid), 'The invoice that was paid.'),
  channel: described(orNull({ const: 'moto' }), 'A telephone order.'),
};

export const PAYMENT_SCHEMAS: Readonly<Record<string, Json>> = {
  Payment: object(PAYMENT),
  ListedPayment: object(LISTED),
  PaymentWithDetails: object({
    ...LISTED,
    digital_wallet: orNull(digitalWallet),
    fee: described(orNull(object({ amount: text, currency: text })), 'What the provider charges, if it reports it.'),
    in_doubt: described(flag, 'The provider was called and the outcome is not known.'),
    payer_until: orNull(date),
    next_step: orNull(choice(['fields', 'authentication', 'redirect', 'challenge', 'code', 'transfer'])),
    details,
    history: listOf(historyRow),
    operations: listOf(operation),
    refund_requests: described(listOf(ref('RefundRequest')), 'Refunds that needed a second person, newest first.'),
    provider_calls: listOf(providerCall),
    notifications: listOf(notificationRow),
    callbacks: listOf(ref('LoggedCallback')),
    receipt: described(
      orNull(
        object({
          state: choice(['waiting', 'sent', 'failed']),
          attempts: integer,
          reason: described(orNull(text), 'What the mail server answered, or why there was no answer.'),
          created_at: date,
          attempted_at: orNull(date),
        }),
      ),
      'The e-mail with the receipt; null if none is sent.',
    ),
    risk: described(orNull(ref('Risk')), 'The decision of the risk rules; null if there were none.'),
    money: described(
      object(
        {
          gross: described(text, 'What was captured; a payout is negative.'),
          refunded: text,
          charged_back: described(text, 'Without what the provider returned.'),
          fees: described(text, 'With tax, less what was returned.'),
          net: described(text, 'What is left for the merchant: costs are not deducted.'),
        },
        { costs: described(text, 'What the provider charges; merchants do not see it.') },
      ),
      'What became of the money.',
    ),
    entries: described(listOf(ref('LedgerEntry')), 'The ledger entries, oldest first.'),
  }),
};

const filters = [
  inQuery(
    'q',
    text,
    'Text search: payments that have all words, at most five, in any case and with or without accents. A word may be any ' +
      'part of the order id, of the e-mail address or name of the payer, of the description, of the last four digits of ' +
      'the card, of the amount (`10.00` or `10,00`), of the provider reference, of the recurring token or of the schedule ' +
      'id; or it is the complete id of a payment or an operation. Quotation marks keep spaces inside a word.',
  ),
  inQuery('mid', uuid, 'Payments of this account.'),
  inQuery('order_id', text, 'Payments of this order.'),
  inQuery('status', choice(STATE_NAMES), 'Payments in this state.'),
  inQuery('brand', text, 'Payments of this brand.'),
  inQuery('attention', attention, 'Payments on the attention list for this reason.'),
  inQuery('schedule_id', uuid, 'Payments of this schedule.'),
  inQuery('channel_id', text, 'Payments of this channel.'),
  inQuery(
    'connection_id',
    text,
    'Payments of this connection, or of the connector of the installation with this name.',
  ),
  inQuery('network', choice(NETWORK_NAMES), 'Payments with a card of this network.'),
  inQuery('country', text, 'Payments of payers in this country: two letters, such as `DE`.'),
  inQuery('currency', text, 'Payments in this currency: three letters, such as `EUR`.'),
  inQuery('amount', text, 'Payments of this amount, such as `19.99`.'),
  inQuery('amount_from', text, 'Payments of this amount or more.'),
  inQuery('amount_to', text, 'Payments of this amount or less.'),
  inQuery('from', dateTime, 'Created at this time or later.'),
  inQuery('to', dateTime, 'Created before this time.'),
];

const paymentPage = object(
  {
    items: listOf(ref('ListedPayment')),
    next_cursor: orNull(uuid),
    is_complete: described(
      flag,
      'False while the list is being built after an upgrade: older payments follow. A payment is found by its id and by ' +
        'its order id all the same.',
    ),
  },
  {
    total: described(integer, 'How many payments match; at most 10,000 are counted.'),
    total_is_more: described(flag, 'Whether more payments match than `total` says.'),
  },
);

const paymentId = [inPath('payment_id', uuid, 'The payment.')];

export const PAYMENT_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/payments': {
    get: call('payments', 'listPayments', 'Lists payments, newest first.', {
      parameters: [
        ...filters,
        ...pageParameters(uuid),
        inQuery('total', choice(['true', 'false']), 'With `true`, the answer has `total`. Default `false`.'),
      ],
      responses: {
        ...answers(
          'A page of payments. A search may return fewer than `limit` before the last page, even none.',
          paymentPage,
        ),
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/payments.csv': {
    get: call('payments', 'exportPayments', 'Exports payments as CSV, newest first.', {
      parameters: [
        ...filters,
        inQuery(
          'columns',
          text,
          'Names of columns, separated by commas, in the order of the file; all if it is not sent.',
        ),
      ],
      responses: {
        '200': {
          description:
            'All payments that match, in the format of RFC 4180. The first row has the names of the fields of a payment, then `payer_name`, `payer_email`, `card`, `card_network`, `description` and `payer_country`.',
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
    post: call('payments', 'attendPayment', 'Removes a payment from the attention list: `attention` with `dismiss`.', {
      deprecated: true,
      responses: { ...answers('The updated payment.', ref('Payment')), ...paymentRefusals },
    }),
  },
  '/admin/api/payments/{payment_id}/attention': {
    parameters: paymentId,
    post: call('payments', 'resolveAttention', 'Carries out a decision about a payment on the attention list.', {
      requestBody: jsonBody(object({ resolve: resolution }, { note, operation_id })),
      responses: {
        ...answers(
          'The updated payment, and the operation of a refund.',
          object({ ...PAYMENT, operation: orNull(operation) }),
        ),
        ...paymentRefusals,
      },
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
          requestBody: {
            required: false,
            content: {
              'application/json': { schema: object({}, name === 'void' ? { operation_id } : operationRequest) },
            },
          },
          responses: {
            ...answers('The updated payment and the operation.', object({ ...PAYMENT, operation })),
            ...(name === 'refund' &&
              answers(
                'The refund waits for a second person (setting `refund_approval_from`).',
                object({ ...PAYMENT, operation: { type: 'null' }, refund_request: ref('RefundRequest') }),
                '202',
              )),
            ...paymentRefusals,
          },
        }),
      },
    ]),
  ),
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
};
