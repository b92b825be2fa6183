/** The chargebacks of the admin API in the OpenAPI document. */
import { NOTE_LENGTH } from '../../rules/attention.ts';
import { CHARGEBACK_STAGES, CHARGEBACK_STATES, EVIDENCE_LIMITS, EVIDENCE_TYPES } from '../../rules/chargebacks.ts';
import { call, chargebackRefusals, commonRefusals, dateTime, pageParameters } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
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

const state = choice([...CHARGEBACK_STATES]);
const stage = choice([...CHARGEBACK_STAGES]);
const note = { ...text, maxLength: NOTE_LENGTH };

export const CHARGEBACK_SCHEMAS: Readonly<Record<string, Json>> = {
  Chargeback: object({
    payment_id: uuid,
    mid: uuid,
    order_id: text,
    stage: described(stage, 'An inquiry or a warning moves no money.'),
    amount: described(text, 'The amount as the provider names it, or what is left of the payment.'),
    currency: text,
    received_at: described(date, 'When the provider reported this stage.'),
    reason: described(text, 'The cause in the words of the provider; empty if it names none.'),
    respond_by: described(orNull(date), 'Until when the bank accepts an answer; null if it accepts none.'),
    state,
    note,
    evidence_files: described(integer, 'The number of evidence files.'),
  }),
  Evidence: object({
    evidence_id: uuid,
    name: text,
    media_type: choice([...EVIDENCE_TYPES]),
    size: described(integer, 'In bytes.'),
    added_by: described(text, 'The operator or token that added the file.'),
    created_at: date,
  }),
};

const paymentId = [inPath('payment_id', uuid, 'The payment that was charged back.')];
const evidenceId = inPath('evidence_id', uuid, 'The file.');
const file = { type: 'string', format: 'binary' };

export const CHARGEBACK_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/chargebacks': {
    get: call('payments', 'listChargebacks', 'Lists chargebacks, newest first.', {
      parameters: [
        inQuery('mid', uuid, 'Chargebacks of this account.'),
        inQuery('state', state, 'Chargebacks in this state.'),
        inQuery('stage', stage, 'Chargebacks in this stage.'),
        inQuery('from', dateTime, 'Received at this time or later.'),
        inQuery('to', dateTime, 'Received before this time.'),
        ...pageParameters(text),
      ],
      responses: { ...answers('A page of chargebacks.', pageOf(ref('Chargeback'), text)), ...commonRefusals },
    }),
  },
  '/admin/api/chargebacks/{payment_id}': {
    parameters: paymentId,
    patch: call('payments', 'changeChargeback', 'Changes the note and the state of a chargeback.', {
      requestBody: jsonBody(object({}, { state, note })),
      responses: { ...answers('The updated chargeback.', ref('Chargeback')), ...chargebackRefusals },
    }),
  },
  '/admin/api/chargebacks/{payment_id}/evidence': {
    parameters: paymentId,
    get: call('payments', 'listEvidence', 'Lists the evidence files of a chargeback, oldest first.', {
      responses: {
        ...answers('The files.', object({ items: listOf(ref('Evidence')), next_cursor: { type: 'null' } })),
        ...chargebackRefusals,
      },
    }),
    post: call(
      'payments',
      'addEvidence',
      `Adds a file to a chargeback: PDF, PNG, JPEG or text, up to ${EVIDENCE_LIMITS.bytes} bytes. Its content decides its type.`,
      {
        parameters: [{ ...inQuery('name', text, 'The name of the file.'), required: true }],
        requestBody: { required: true, content: { 'application/octet-stream': { schema: file } } },
        responses: { ...answers('The stored file.', ref('Evidence'), '201'), ...chargebackRefusals },
      },
    ),
  },
  '/admin/api/chargebacks/{payment_id}/evidence/{evidence_id}': {
    parameters: [...paymentId, evidenceId],
    get: call('payments', 'readEvidence', 'Returns an evidence file as an attachment.', {
      responses: {
        '200': {
          description: 'The file.',
          content: Object.fromEntries(EVIDENCE_TYPES.map((type) => [type, { schema: file }])),
        },
        ...chargebackRefusals,
      },
    }),
    delete: call('payments', 'deleteEvidence', 'Deletes an evidence file.', {
      responses: {
        ...answers('The deleted file.', object({ evidence_id: uuid, deleted: { const: true } })),
        ...chargebackRefusals,
      },
    }),
  },
};
