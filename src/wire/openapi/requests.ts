/** The calls on recent API calls in the OpenAPI document. */
import { CALL_ACTIONS, CALL_OUTCOMES } from '../../core/api-calls/list.ts';
import { call, commonRefusals, dateTime, pageParameters, requestRefusals } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  inPath,
  inQuery,
  integer,
  type Json,
  listOf,
  object,
  orNull,
  pageOf,
  ref,
  text,
  uuid,
} from './schema.ts';

const fields = listOf(object({ name: text, value: text }));

const apiCall = {
  id: uuid,
  at: date,
  mid: described(orNull(uuid), 'Null if the key of a refused request is not known.'),
  request_id: described(text, 'The header `x-request-id` of the answer.'),
  protocol: choice(['s2s', 'checkout']),
  action: choice([...CALL_ACTIONS]),
  outcome: choice([...CALL_OUTCOMES]),
  status: described(integer, 'The HTTP status of the answer.'),
  error_code: orNull(integer),
  error_message: orNull(text),
  order_id: orNull(text),
  payment_id: orNull(uuid),
  took_ms: integer,
};

export const REQUEST_SCHEMAS: Readonly<Record<string, Json>> = {
  ApiCall: object(apiCall),
  ApiCallDetails: object({
    ...apiCall,
    address: described(text, 'The address of the client.'),
    fields: described(fields, 'The fields of the request; secrets, card numbers and unknown fields are `[masked]`.'),
    answer: described(text, 'The answer as JSON, masked as well.'),
    explanation: described(
      orNull(object({ fields, signed_text: text, mistakes: listOf(text), hints: listOf(text) })),
      'What the hash debugger found when the hash was refused; null for other calls.',
    ),
  }),
};

export const REQUEST_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/requests': {
    get: call('requests', 'listRequests', 'Lists recent API calls of merchants, newest first.', {
      parameters: [
        inQuery('mid', uuid, 'The account.'),
        inQuery('outcome', choice([...CALL_OUTCOMES]), 'Whether the call was accepted.'),
        inQuery('action', choice([...CALL_ACTIONS]), 'The action of a form, or the path of a Checkout request.'),
        inQuery('error_code', integer, 'The code of the error that was answered.'),
        inQuery('error_message', text, 'The message of the error that was answered.'),
        inQuery('order_id', text, 'The order.'),
        inQuery('payment_id', uuid, 'The payment.'),
        inQuery('from', dateTime, 'At this time or later.'),
        inQuery('to', dateTime, 'Before this time.'),
        ...pageParameters(uuid),
      ],
      responses: { ...answers('A page of calls.', pageOf(ref('ApiCall'))), ...commonRefusals },
    }),
  },
  '/admin/api/requests/{id}': {
    parameters: [inPath('id', uuid, 'The call.')],
    get: call('requests', 'readRequest', 'Returns one API call with its fields and its answer, masked.', {
      responses: { ...answers('The call.', ref('ApiCallDetails')), ...requestRefusals },
    }),
  },
};
