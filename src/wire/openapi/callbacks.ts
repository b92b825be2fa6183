/** The operator's calls on callbacks for the OpenAPI document: their log, sending them again, the sandbox's receiver. */
import { CALLBACK_STATES, type CallbackType, S2S_ACTIONS } from '../../rules/callbacks.ts';
import { LIMITS } from '../../rules/limits.ts';
import { call, common, inBook, mid, moment, ofAccount, ofCallback, ofOwner } from './operator-call.ts';
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
  refusals,
  text,
  uuid,
} from './schema.ts';

const callbackId = described(
  { ...text, pattern: '^[0-9a-f-]{36}-[1-9][0-9]*$' },
  'The payment and the sequence number; the header `webhook-id` says the same.',
);
const state = choice(CALLBACK_STATES);

const callback = {
  id: callbackId,
  mid: uuid,
  payment_id: uuid,
  sequence: described(integer, 'Grows with every event of the payment; the header `turnpike-sequence` says the same.'),
  type: choice(Object.keys(S2S_ACTIONS) as CallbackType[]),
  state,
  reason: orNull(described(text, 'Why it was parked.')),
  tries: described(integer, 'How often it was sent.'),
  next_try_at: orNull(date),
  url: orNull(described(text, 'Where it goes now, without the query of the address.')),
  format: choice(['form', 'json']),
  created_at: date,
  finished_at: orNull(date),
};

const attempt = object({
  try: integer,
  at: date,
  status: orNull(described(integer, 'What the server answered.')),
  took_ms: integer,
  error: orNull(described(text, 'Why the try did not deliver, in plain words.')),
});

const logged = { ...callback, log: listOf(attempt) };

const chosen: Record<string, Json> = {
  mid: uuid,
  payment_id: uuid,
  state,
  from: moment,
  to: moment,
};

const received = object({
  number: described(integer, 'Counts what arrived for this account.'),
  received_at: date,
  webhook_id: orNull(text),
  content_type: orNull(text),
  headers: { type: 'object' },
  body: described(text, 'As it was sent.'),
  fields: orNull({ type: 'object' }),
  hash_is_valid: described(flag, 'Whether `hash` is right by the password of the account.'),
  signature_is_valid: described(flag, 'Whether `webhook-signature` is right by the callback secret of the account.'),
  answered: described(integer, 'The status that the receiver answered.'),
});

export const CALLBACK_SCHEMAS: Readonly<Record<string, Json>> = {
  Callback: object(callback),
  LoggedCallback: object(logged),
  InboxCallback: received,
};

const id = [inPath('id', callbackId, 'The callback.')];
const resent = object({ resent: described(integer, 'How many callbacks are sent again.') });
const success = { const: 'SUCCESS' };

export const CALLBACK_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/accounts/{mid}/rotate-callback-secret': {
    parameters: mid,
    post: call('accounts', 'rotateCallbackSecret', 'Gives an account a new secret for callbacks.', {
      responses: {
        ...answers(
          'The new secret, shown only this once. Until the time given, callbacks are signed with both.',
          object({ mid: uuid, callback_secret: text, previous_callback_secret_valid_until: date }),
        ),
        ...ofAccount,
      },
    }),
  },
  '/admin/api/callbacks': {
    get: call('callbacks', 'listCallbacks', 'Lists callbacks, newest first.', {
      parameters: [
        inQuery('mid', uuid, 'Callbacks of this account.'),
        inQuery('payment_id', uuid, 'Callbacks of this payment.'),
        inQuery('state', state, 'Callbacks in this state.'),
        inQuery('from', moment, 'Made at this time or later.'),
        inQuery('to', moment, 'Made before this time.'),
        ...inBook(text),
      ],
      responses: { ...answers('A page of callbacks.', pageOf(ref('Callback'), text)), ...common },
    }),
  },
  '/admin/api/callbacks/{id}': {
    parameters: id,
    get: call('callbacks', 'readCallback', 'Reads a callback with its body and every try.', {
      responses: { ...answers('The callback.', object({ ...logged, body: text })), ...ofCallback },
    }),
  },
  '/admin/api/callbacks/{id}/resend': {
    parameters: id,
    post: call('callbacks', 'resendCallback', 'Sends a callback once more, whatever became of it.', {
      responses: { ...answers('It is sent at once.', resent), ...ofCallback },
    }),
  },
  '/admin/api/callbacks/resend': {
    post: call('callbacks', 'resendCallbacks', 'Sends the callbacks of a payment, of an account or of a time again.', {
      requestBody: jsonBody({
        ...object({}, chosen),
        anyOf: [
          { type: 'object', required: ['mid'] },
          { type: 'object', required: ['payment_id'] },
        ],
      }),
      responses: { ...answers('They are sent at once.', resent), ...ofOwner },
    }),
  },
  '/sandbox/callbacks/{mid}': {
    parameters: mid,
    post: {
      operationId: 'receiveCallback',
      tags: ['sandbox'],
      summary: 'Takes callbacks as a merchant’s server does: set `callback_url` to this address.',
      requestBody: { content: { '*/*': { schema: text } } },
      responses: {
        ...answers('The callback is kept.', object({ result: success })),
        ...refusals('noSuchAccount', 'bodyTooLarge', 'internal', 'unavailable'),
      },
    },
  },
  '/sandbox/api/callbacks/{mid}': {
    parameters: mid,
    get: call('sandbox', 'listReceivedCallbacks', 'Lists what arrived at the receiver of an account, oldest first.', {
      parameters: [
        inQuery('after', { ...integer, minimum: 0, default: 0 }, 'Those after the one with this number.'),
        inQuery(
          'limit',
          { ...integer, minimum: 1, maximum: LIMITS.adminPageSizeMost, default: LIMITS.adminPageSize },
          'How many items a page has.',
        ),
        inQuery(
          'wait',
          { ...integer, minimum: 0, maximum: LIMITS.inboxWaitMs / 1000, default: 0 },
          'When there are none, the answer waits this many seconds for one.',
        ),
      ],
      responses: {
        ...answers(
          `What arrived; the newest ${LIMITS.inboxMost} are kept.`,
          object({
            items: listOf(ref('InboxCallback')),
            next_cursor: orNull(described(text, 'The `after` of the next page.')),
            last: described(integer, 'The number of the newest that ever arrived.'),
            url: described(text, 'The `callback_url` of this receiver.'),
          }),
        ),
        ...ofAccount,
      },
    }),
    post: call('sandbox', 'setInboxAnswer', 'Lets the receiver answer the next callbacks with another status.', {
      requestBody: jsonBody(
        object(
          { answer: { ...integer, minimum: 200, maximum: 599 } },
          { count: { ...integer, minimum: 1, maximum: 10_000, default: 1 } },
        ),
      ),
      responses: {
        ...answers('It does.', object({ result: success, answer: integer, count: integer })),
        ...ofAccount,
      },
    }),
    delete: call('sandbox', 'clearReceivedCallbacks', 'Empties the receiver of an account.', {
      responses: { ...answers('It is empty.', object({ deleted: integer })), ...ofAccount },
    }),
  },
};
