/** The callback paths of the OpenAPI document: delivery log, resending, and the callback inbox of the sandbox. */
import { CALLBACK_ACTIONS, CALLBACK_STATES, type CallbackType } from '../../rules/callbacks.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  accountRefusals,
  call,
  callbackRefusals,
  commonRefusals,
  dateTime,
  EVERY_CALL,
  mid,
  pageParameters,
  resendRefusals,
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
  refusals,
  text,
  uuid,
} from './schema.ts';

const callbackId = described(
  { ...text, pattern: '^[0-9a-f-]{36}-[1-9][0-9]*$' },
  'The payment id and the sequence number; equal to the header `webhook-id`.',
);
const state = choice(CALLBACK_STATES);

const callback = {
  id: callbackId,
  mid: uuid,
  payment_id: uuid,
  sequence: described(integer, 'Increases with every event of the payment; equal to the header `turnpike-sequence`.'),
  type: choice(Object.keys(CALLBACK_ACTIONS) as CallbackType[]),
  state,
  reason: orNull(described(text, 'Why it was parked.')),
  tries: described(integer, 'The number of delivery attempts.'),
  next_try_at: orNull(date),
  url: orNull(described(text, 'The current destination, without its query string.')),
  format: choice(['form', 'json']),
  created_at: date,
  finished_at: orNull(date),
};

const attempt = object({
  try: integer,
  at: date,
  status: orNull(described(integer, 'The HTTP status of the response.')),
  took_ms: integer,
  error: orNull(described(text, 'Why the attempt failed.')),
});

const loggedCallback = { ...callback, log: listOf(attempt) };

const resendFilter: Record<string, Json> = {
  mid: uuid,
  payment_id: uuid,
  state,
  from: dateTime,
  to: dateTime,
};

const inboxCallback = object({
  number: described(integer, 'The number of the callback, counted per account.'),
  received_at: date,
  webhook_id: orNull(text),
  content_type: orNull(text),
  headers: { type: 'object' },
  body: described(text, 'The body as it was received.'),
  fields: orNull({ type: 'object' }),
  hash_is_valid: described(flag, 'Whether `hash` matches the password of the account.'),
  signature_is_valid: described(flag, 'Whether `webhook-signature` matches the callback secret of the account.'),
  answered: described(integer, 'The HTTP status with which the inbox responded.'),
});

export const CALLBACK_SCHEMAS: Readonly<Record<string, Json>> = {
  Callback: object(callback),
  LoggedCallback: object(loggedCallback),
  InboxCallback: inboxCallback,
};

const id = [inPath('id', callbackId, 'The callback.')];
const resentCount = object({ resent: described(integer, 'The number of callbacks that are resent.') });
const success = { const: 'SUCCESS' };

export const CALLBACK_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/accounts/{mid}/rotate-callback-secret': {
    parameters: mid,
    post: call('accounts', 'rotateCallbackSecret', 'Rotates the callback secret of an account.', {
      responses: {
        ...answers(
          'The new secret, which is shown only once. Until the returned time, callbacks are signed with both secrets.',
          object({ mid: uuid, callback_secret: text, previous_callback_secret_valid_until: date }),
        ),
        ...accountRefusals,
      },
    }),
  },
  '/admin/api/accounts/{mid}/test-callback': {
    parameters: mid,
    post: call('accounts', 'testCallback', 'Sends a signed test to the callback address of an account, once.', {
      responses: {
        ...answers(
          'What the server answered. The test is not in the delivery log.',
          object({
            mid: uuid,
            id: described(text, 'The header `webhook-id` of the test.'),
            accepted: described(flag, 'Whether the server answered with a 2xx status.'),
            status: orNull(described(integer, 'The HTTP status of the response.')),
            problem: orNull(described(text, 'What is wrong with the response, or why there is none.')),
            answer: orNull(described(text, 'The beginning of the response.')),
            took_ms: integer,
          }),
        ),
        ...refusals('tooManyRequests', 'invalidData', 'noSuchAccount', ...EVERY_CALL),
      },
    }),
  },
  '/admin/api/callbacks': {
    get: call('callbacks', 'listCallbacks', 'Lists callbacks, newest first.', {
      parameters: [
        inQuery('mid', uuid, 'Callbacks of this account.'),
        inQuery('payment_id', uuid, 'Callbacks of this payment.'),
        inQuery('state', state, 'Callbacks in this state.'),
        inQuery('from', dateTime, 'Created at this time or later.'),
        inQuery('to', dateTime, 'Created before this time.'),
        ...pageParameters(text),
      ],
      responses: { ...answers('A page of callbacks.', pageOf(ref('Callback'), text)), ...commonRefusals },
    }),
  },
  '/admin/api/callbacks/{id}': {
    parameters: id,
    get: call('callbacks', 'readCallback', 'Returns a callback with its body and its delivery attempts.', {
      responses: { ...answers('The callback.', object({ ...loggedCallback, body: text })), ...callbackRefusals },
    }),
  },
  '/admin/api/callbacks/{id}/resend': {
    parameters: id,
    post: call('callbacks', 'resendCallback', 'Resends a callback, whatever its state.', {
      responses: { ...answers('The callback is resent immediately.', resentCount), ...callbackRefusals },
    }),
  },
  '/admin/api/callbacks/resend': {
    post: call(
      'callbacks',
      'resendCallbacks',
      'Resends the callbacks of a payment or an account, optionally of one state or period.',
      {
        requestBody: jsonBody({
          ...object({}, resendFilter),
          anyOf: [
            { type: 'object', required: ['mid'] },
            { type: 'object', required: ['payment_id'] },
          ],
        }),
        responses: { ...answers('The callbacks are resent immediately.', resentCount), ...resendRefusals },
      },
    ),
  },
  '/sandbox/callbacks/{mid}': {
    parameters: mid,
    post: {
      operationId: 'receiveCallback',
      tags: ['sandbox'],
      summary: 'Callback inbox: receives callbacks like a merchant’s server. Set `callback_url` to this address.',
      requestBody: { content: { '*/*': { schema: text } } },
      responses: {
        ...answers('The callback is stored.', object({ result: success })),
        ...refusals('noSuchAccount', 'bodyTooLarge', 'internal', 'unavailable'),
      },
    },
  },
  '/sandbox/api/callbacks/{mid}': {
    parameters: mid,
    get: call('sandbox', 'listReceivedCallbacks', 'Lists the callbacks in the inbox of an account, oldest first.', {
      parameters: [
        inQuery('after', { ...integer, minimum: 0, default: 0 }, 'Callbacks after this number.'),
        inQuery(
          'limit',
          { ...integer, minimum: 1, maximum: LIMITS.adminPageSizeMost, default: LIMITS.adminPageSize },
          'The number of items per page.',
        ),
        inQuery(
          'wait',
          { ...integer, minimum: 0, maximum: LIMITS.inboxWaitMs / 1000, default: 0 },
          'If there is no callback, waits up to this many seconds for one.',
        ),
      ],
      responses: {
        ...answers(
          `The callbacks; the inbox keeps the newest ${LIMITS.inboxMost}.`,
          object({
            items: listOf(ref('InboxCallback')),
            next_cursor: orNull(described(text, 'The value of `after` for the next page.')),
            last: described(integer, 'The number of the newest callback that was received.'),
            url: described(text, 'The `callback_url` of this inbox.'),
          }),
        ),
        ...accountRefusals,
      },
    }),
    post: call(
      'sandbox',
      'setInboxAnswer',
      'Sets the HTTP status with which the inbox responds to the next callbacks.',
      {
        requestBody: jsonBody(
          object(
            { answer: { ...integer, minimum: 200, maximum: 599 } },
            { count: { ...integer, minimum: 1, maximum: 10_000, default: 1 } },
          ),
        ),
        responses: {
          ...answers(
            'The status and the number of callbacks it applies to.',
            object({ result: success, answer: integer, count: integer }),
          ),
          ...accountRefusals,
        },
      },
    ),
    delete: call('sandbox', 'clearReceivedCallbacks', 'Deletes the callbacks in the inbox of an account.', {
      responses: {
        ...answers('The number of callbacks that were deleted.', object({ deleted: integer })),
        ...accountRefusals,
      },
    }),
  },
};
