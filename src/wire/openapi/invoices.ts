/** The calls on invoices in the OpenAPI document. */
import { INVOICE_LIMITS, INVOICE_STATES } from '../../rules/invoices.ts';
import { accountRefusals, call, commonRefusals, operatorRefusals, pageParameters } from './operator-call.ts';
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

const line = {
  description: text,
  quantity: described(text, 'A decimal number with at most three decimals.'),
  unit_amount: described(text, 'The net amount of one piece.'),
  tax_percent: text,
};
const payer = object({ name: text, email: text }, { address: text });
const dueOn = { ...text, format: 'date' };

export const INVOICE_SCHEMAS: Readonly<Record<string, Json>> = {
  Invoice: object({
    invoice_id: uuid,
    mid: uuid,
    number: described(text, 'Consecutive for each account, such as `INV-00017`.'),
    url: described(text, 'The address for the payer.'),
    state: choice(INVOICE_STATES),
    currency: text,
    total: described(text, 'With tax.'),
    tax: text,
    lines: listOf(object({ ...line, amount: described(text, 'Net, rounded half up.'), tax: text })),
    payer,
    due_on: dueOn,
    note: text,
    sent_count: integer,
    sent_at: orNull(date),
    created_at: date,
  }),
};

const invoiceId = [inPath('invoice_id', uuid, 'The invoice.')];
const { tax_percent, ...required } = line;

export const INVOICE_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/invoices.csv': {
    get: call('payments', 'readInvoicesCsv', 'Returns invoices as CSV with a header line.', {
      parameters: [
        inQuery('mid', uuid, 'Invoices of this account.'),
        inQuery('state', choice(INVOICE_STATES), 'Invoices in this state.'),
      ],
      responses: {
        '200': { description: 'The invoices.', content: { 'text/csv': { schema: text } } },
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/invoices': {
    post: call('payments', 'createInvoice', 'Makes an invoice of an account.', {
      requestBody: jsonBody(
        object(
          {
            mid: uuid,
            currency: text,
            lines: { ...listOf(object(required, { tax_percent })), minItems: 1, maxItems: INVOICE_LIMITS.lines },
            payer,
            due_on: dueOn,
          },
          { note: text },
        ),
      ),
      responses: { ...answers('The invoice.', ref('Invoice'), '201'), ...accountRefusals },
    }),
    get: call('payments', 'listInvoices', 'Lists invoices, newest first.', {
      parameters: [
        inQuery('mid', uuid, 'Invoices of this account.'),
        inQuery('state', choice(INVOICE_STATES), 'Invoices in this state.'),
        ...pageParameters(uuid),
      ],
      responses: { ...answers('A page of invoices.', pageOf(ref('Invoice'))), ...commonRefusals },
    }),
  },
  '/admin/api/invoices/{invoice_id}': {
    parameters: invoiceId,
    get: call('payments', 'readInvoice', 'Reads an invoice.', {
      responses: { ...answers('The invoice.', ref('Invoice')), ...operatorRefusals('noSuchInvoice') },
    }),
  },
  '/admin/api/invoices/{invoice_id}/void': {
    parameters: invoiceId,
    post: call('payments', 'voidInvoice', 'Voids an invoice and ends its open sessions.', {
      responses: { ...answers('The invoice.', ref('Invoice')), ...operatorRefusals('invoiceNotOpen', 'noSuchInvoice') },
    }),
  },
  '/admin/api/invoices/{invoice_id}/send': {
    parameters: invoiceId,
    post: call('payments', 'sendInvoice', 'Sends an invoice to its payer by e-mail.', {
      responses: {
        ...answers('The invoice.', ref('Invoice')),
        ...operatorRefusals('invoiceNotOpen', 'notMailed', 'noSuchInvoice'),
      },
    }),
  },
};
