/** Reconciliations in the OpenAPI document. */
import { LIMITS } from '../../rules/limits.ts';
import { AMOUNT_FORMATS, DELIMITERS, OUTCOMES, STATEMENT_COLUMNS, STATEMENT_TYPES } from '../../rules/statements.ts';
import { call, commonRefusals, dateTime, pageParameters, reconciliationRefusals } from './operator-call.ts';
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

const outcome = described(
  choice(OUTCOMES),
  '`different`: another amount or currency; `reversed`: a sale with a negative amount; `missing_here`: in the statement only; `missing_there`: with us only.',
);
const type = choice(STATEMENT_TYPES);

const reconciliation = object({
  reconciliation_id: uuid,
  file_name: text,
  sha256: described(text, 'The SHA-256 digest of the file, in hex.'),
  bytes: integer,
  created_at: date,
  created_by: text,
  state: choice(['uploaded', 'comparing', 'failed', 'done']),
  error: described(orNull(text), 'Why the statement could not be compared.'),
  columns: described(orNull(object({})), 'The columns that were used.'),
  connector: orNull(text),
  from: orNull(date),
  to: orNull(date),
  rows_read: integer,
  rows_skipped: described(integer, 'Rows of other types, such as fees, and rows without an amount.'),
  totals: orNull(
    listOf(
      object({
        outcome,
        type,
        currency: text,
        rows: integer,
        statement: described(text, 'The sum in the statement.'),
        ours: described(text, 'The sum of our amounts.'),
      }),
    ),
  ),
});

const row = object({
  outcome,
  type,
  row: described(orNull(integer), 'The line of the file.'),
  reference: orNull(text),
  date: orNull(date),
  amount: orNull(text),
  currency: orNull(text),
  payment_id: orNull(uuid),
  mid: orNull(uuid),
  our_date: orNull(date),
  our_amount: orNull(text),
  our_currency: orNull(text),
});

export const RECONCILIATION_SCHEMAS = { Reconciliation: reconciliation, ReconciledRow: row };

const COLUMN_MEANS: Readonly<Record<(typeof STATEMENT_COLUMNS)[number], string>> = {
  reference: 'our payment id or operation id',
  provider_reference: 'the reference of the provider',
  amount: 'the amount',
  currency: 'the currency',
  type: 'the type: sale, refund or chargeback',
  date: 'the date',
  fee: 'what the provider charged',
  net: 'the amount without the fee',
};

const parameters: Json[] = [
  inQuery('filename', text, 'The name of the file.'),
  inQuery('connector', text, 'The connector whose payments the statement should have; default: all.'),
  inQuery('from', dateTime, 'The start of the period; default: the first day of the statement.'),
  inQuery('to', dateTime, 'The end of the period; default: the end of the last day of the statement.'),
  inQuery('delimiter', choice(Object.keys(DELIMITERS)), 'Default: guessed from the first line.'),
  inQuery('amount_format', { ...choice(AMOUNT_FORMATS), default: 'decimal' }, 'How amounts are written.'),
  inQuery('fixed_currency', text, 'The currency of rows without one.'),
  ...STATEMENT_COLUMNS.map((column) =>
    inQuery(
      column,
      text,
      `The column with ${COLUMN_MEANS[column]}; default: guessed from the first line; \`-\`: none.`,
    ),
  ),
];

const byId = [inPath('reconciliation_id', uuid, 'The reconciliation.')];
const ofOutcome = inQuery('outcome', outcome, 'Rows with this outcome.');
const csv = { 'text/csv': { schema: text } };

export const RECONCILIATION_PATHS = {
  '/admin/api/reconciliations': {
    get: call('reports', 'listReconciliations', 'Lists reconciliations, newest first.', {
      parameters: pageParameters(uuid),
      responses: { ...answers('One page.', pageOf(ref('Reconciliation'))), ...commonRefusals },
    }),
    post: call('reports', 'createReconciliation', 'Compares the statement of a provider with our payments.', {
      parameters,
      requestBody: {
        required: true,
        description: `A CSV file of at most ${LIMITS.statementBytes / 1024 / 1024} MiB.`,
        content: csv,
      },
      responses: { ...answers('The result.', ref('Reconciliation'), '201'), ...commonRefusals },
    }),
  },
  '/admin/api/reconciliations/{reconciliation_id}': {
    parameters: byId,
    get: call('reports', 'readReconciliation', 'Returns a reconciliation with its totals.', {
      responses: { ...answers('The reconciliation.', ref('Reconciliation')), ...reconciliationRefusals },
    }),
    delete: call('reports', 'deleteReconciliation', 'Deletes a reconciliation and its rows.', {
      responses: {
        ...answers('It is deleted.', object({ reconciliation_id: uuid, deleted: { const: true } })),
        ...reconciliationRefusals,
      },
    }),
  },
  '/admin/api/reconciliations/{reconciliation_id}/rows': {
    parameters: byId,
    get: call('reports', 'listReconciledRows', 'Lists the rows of a reconciliation in the order of the statement.', {
      parameters: [ofOutcome, ...pageParameters(text)],
      responses: { ...answers('One page.', pageOf(ref('ReconciledRow'), text)), ...reconciliationRefusals },
    }),
  },
  '/admin/api/reconciliations/{reconciliation_id}/rows.csv': {
    parameters: byId,
    get: call('reports', 'readReconciledRowsCsv', 'Returns the rows of a reconciliation as CSV with a header line.', {
      parameters: [ofOutcome],
      responses: { '200': { description: 'The rows.', content: csv }, ...reconciliationRefusals },
    }),
  },
};
