/** Fee invoices in the OpenAPI document. */
import { FEE_INVOICE_KINDS } from '../../rules/fee-invoices.ts';
import { call, commonRefusals, dateTime, operatorRefusals, pageParameters } from './operator-call.ts';
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

const party = { name: text, address: listOf(text), tax_number: text };
const prefix = described(text, 'What numbers begin with; each prefix has numbers of its own.');

export const FEE_INVOICE_SCHEMAS: Readonly<Record<string, Json>> = {
  InvoiceParty: object(party),
  FeeInvoiceIssuer: object({ ...party, prefix, changed_at: date }),
  FeeInvoice: object({
    fee_invoice_id: uuid,
    number: described(text, 'Consecutive, without gaps.'),
    kind: choice(FEE_INVOICE_KINDS),
    mid: uuid,
    currency: text,
    from: orNull(date),
    until: date,
    net: described(text, 'Negative for a credit note.'),
    tax: text,
    total: text,
    corrects: described(orNull(uuid), 'The invoice that this credit note takes back.'),
    corrected_by: described(orNull(uuid), 'The credit note that takes this invoice back.'),
    reason: orNull(text),
    issued_by: text,
    issued_at: date,
    lines: listOf(object({ category: text, count: integer, tax_percent: text, net: text, tax: text })),
    issuer: ref('InvoiceParty'),
    recipient: ref('InvoiceParty'),
  }),
};

const mid = inQuery('mid', uuid, 'Invoices of this account.');
const feeInvoiceId = [inPath('fee_invoice_id', uuid, 'The invoice.')];
const tagged = (operationId: string, summary: string, rest: Json): Json =>
  call('settlements', operationId, summary, rest);

export const FEE_INVOICE_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/fee-invoice-issuer': {
    get: tagged('readFeeInvoiceIssuer', 'Returns who issues fee invoices; an empty list before that is set.', {
      responses: {
        ...answers('The issuer.', object({ items: listOf(ref('FeeInvoiceIssuer')), next_cursor: { type: 'null' } })),
        ...commonRefusals,
      },
    }),
    put: tagged('setFeeInvoiceIssuer', 'Sets who issues later fee invoices, and what their numbers begin with.', {
      requestBody: jsonBody(object({ name: text, address: listOf(text), prefix }, { tax_number: text })),
      responses: { ...answers('The issuer.', ref('FeeInvoiceIssuer')), ...commonRefusals },
    }),
  },
  '/admin/api/fee-invoice-issuer.csv': {
    get: tagged('readFeeInvoiceIssuerCsv', 'Returns who issues fee invoices as CSV with a header line.', {
      responses: {
        '200': { description: 'The issuer.', content: { 'text/csv': { schema: text } } },
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/fee-invoices': {
    get: tagged('listFeeInvoices', 'Lists fee invoices and credit notes, newest first.', {
      parameters: [mid, ...pageParameters(uuid)],
      responses: { ...answers('A page of invoices.', pageOf(ref('FeeInvoice'))), ...commonRefusals },
    }),
    post: tagged('makeFeeInvoice', 'Invoices the fees of approved settlements that have no invoice yet.', {
      requestBody: jsonBody(object({ mid: uuid, currency: text }, { until: dateTime })),
      responses: {
        ...answers('The invoice.', ref('FeeInvoice'), '201'),
        ...operatorRefusals('invalidData', 'noSuchAccount', 'feeInvoiceNotPossible'),
      },
    }),
  },
  '/admin/api/fee-invoices.csv': {
    get: tagged('readFeeInvoicesCsv', 'Returns fee invoices and credit notes as CSV.', {
      parameters: [mid],
      responses: {
        '200': { description: 'A header line, and a line for each row.', content: { 'text/csv': { schema: text } } },
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/fee-invoices/{fee_invoice_id}': {
    parameters: feeInvoiceId,
    get: tagged('readFeeInvoice', 'Returns a fee invoice or a credit note.', {
      responses: { ...answers('The invoice.', ref('FeeInvoice')), ...operatorRefusals('noSuchFeeInvoice') },
    }),
  },
  '/admin/api/fee-invoices/{fee_invoice_id}/correct': {
    parameters: feeInvoiceId,
    post: tagged('correctFeeInvoice', 'Takes an invoice back by a credit note; its fees can be invoiced again.', {
      requestBody: jsonBody(object({ reason: text })),
      responses: {
        ...answers('The credit note.', ref('FeeInvoice'), '201'),
        ...operatorRefusals('invalidData', 'noSuchFeeInvoice', 'feeInvoiceCorrected'),
      },
    }),
  },
};
