/** Messages to merchants about settlements in the OpenAPI document. */
import { MESSAGE_CHANNELS, MESSAGE_STATES } from '../../rules/settlement-messages.ts';
import { call, commonRefusals, operatorRefusals, pageParameters } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  inPath,
  inQuery,
  integer,
  type Json,
  object,
  orNull,
  pageOf,
  ref,
  text,
  uuid,
} from './schema.ts';

export const SETTLEMENT_MESSAGE_SCHEMAS: Readonly<Record<string, Json>> = {
  SettlementMessage: object({
    message_id: described(uuid, 'Of a callback: its `webhook-id`.'),
    mid: uuid,
    channel: choice(MESSAGE_CHANNELS),
    type: choice(['settlement', 'payout', 'bank_account']),
    status: described(text, 'The state that the settlement or the transfer entered, or `changed`.'),
    currency: text,
    settlement_id: orNull(uuid),
    transfer_id: orNull(uuid),
    state: choice(MESSAGE_STATES),
    tries: integer,
    reason: described(orNull(text), 'What the receiver answered, or why there was no answer.'),
    next_try_at: orNull(date),
    created_at: date,
    tried_at: orNull(date),
  }),
};

const filters = [
  inQuery('mid', uuid, 'Messages to this account.'),
  inQuery('settlement_id', uuid, 'Messages about this settlement.'),
  inQuery('state', choice(MESSAGE_STATES), 'Messages in this state.'),
];
const tagged = (operationId: string, summary: string, rest: Json): Json =>
  call('settlements', operationId, summary, rest);

export const SETTLEMENT_MESSAGE_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/settlement-messages': {
    get: tagged('listSettlementMessages', 'Lists callbacks and e-mails about settlements, newest first.', {
      parameters: [...filters, ...pageParameters(uuid)],
      responses: { ...answers('A page of messages.', pageOf(ref('SettlementMessage'))), ...commonRefusals },
    }),
  },
  '/admin/api/settlement-messages.csv': {
    get: tagged('readSettlementMessagesCsv', 'Returns callbacks and e-mails about settlements as CSV.', {
      parameters: filters,
      responses: {
        '200': { description: 'A header line, and a line for each row.', content: { 'text/csv': { schema: text } } },
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/settlement-messages/{message_id}/resend': {
    parameters: [inPath('message_id', uuid, 'The message.')],
    post: tagged('resendSettlementMessage', 'Sends a message again, whatever its state.', {
      responses: { ...answers('The message.', ref('SettlementMessage')), ...operatorRefusals('noSuchMessage') },
    }),
  },
};
