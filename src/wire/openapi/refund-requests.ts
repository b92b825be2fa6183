/** Refunds that need a second person in the OpenAPI document. */
import { REFUND_REQUEST_STATES } from '../../rules/refund-requests.ts';
import { call, commonRefusals, operatorRefusals, pageParameters } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  inPath,
  inQuery,
  type Json,
  object,
  orNull,
  pageOf,
  ref,
  text,
  uuid,
} from './schema.ts';

export const REFUND_REQUEST_SCHEMAS: Readonly<Record<string, Json>> = {
  RefundRequest: object({
    request_id: uuid,
    mid: uuid,
    payment_id: uuid,
    operation_id: described(uuid, 'The operation of the payment, once it is approved.'),
    amount: text,
    currency: text,
    note: orNull(text),
    state: described(choice(REFUND_REQUEST_STATES), 'The refund is sent to the provider when it is approved.'),
    requested_by: text,
    requested_at: date,
    decided_by: orNull(text),
    decided_at: orNull(date),
  }),
};

const filters = [
  inQuery('mid', uuid, 'Refunds of this account.'),
  inQuery('payment_id', uuid, 'Refunds of this payment.'),
  inQuery('state', choice(REFUND_REQUEST_STATES), 'Refunds in this state.'),
];

const decision = (operationId: string, summary: string): Json => ({
  parameters: [inPath('request_id', uuid, 'The request.')],
  post: call('payments', operationId, summary, {
    responses: {
      ...answers('The decided request.', ref('RefundRequest')),
      ...operatorRefusals('noSuchRefundRequest', 'ownRefundRequest', 'refundRequestDecided', 'refundTooMuch'),
    },
  }),
});

export const REFUND_REQUEST_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/refund-requests': {
    get: call('payments', 'listRefundRequests', 'Lists refunds that need a second person, newest first.', {
      parameters: [...filters, ...pageParameters(uuid)],
      responses: { ...answers('A page of requests.', pageOf(ref('RefundRequest'))), ...commonRefusals },
    }),
  },
  '/admin/api/refund-requests.csv': {
    get: call('payments', 'readRefundRequestsCsv', 'Returns refunds that need a second person as CSV.', {
      parameters: filters,
      responses: {
        '200': { description: 'The requests, with a header line.', content: { 'text/csv': { schema: text } } },
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/refund-requests/{request_id}/approve': decision(
    'approveRefundRequest',
    'Approves a refund and sends it, as another person or token than the one that requested it.',
  ),
  '/admin/api/refund-requests/{request_id}/refuse': decision(
    'refuseRefundRequest',
    'Refuses a refund, as another person or token than the one that requested it.',
  ),
};
