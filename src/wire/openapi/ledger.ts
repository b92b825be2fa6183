/** The ledger of the admin API in the OpenAPI document. */
import { NOTE_LENGTH } from '../../rules/attention.ts';
import { ADJUSTMENT_STATES, CATEGORY_GROUPS } from '../../rules/ledger.ts';
import {
  accountRefusals,
  adjustmentRefusals,
  call,
  commonRefusals,
  dateTime,
  mid,
  pageParameters,
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
  text,
  uuid,
} from './schema.ts';

const day: Json = { type: 'string', format: 'date' };
const ledgerAccount = { ...text, examples: ['operator:fees', 'provider:stripe:receivable'] };
const signedAmount = described(
  { ...text, examples: ['12.50', '-12.50'] },
  'With its sign, from the merchant’s view: a negative one reduces the balance.',
);
const csv = { 'text/csv': { schema: text } };
const complete = described(flag, 'False while payments from before an upgrade are still being added.');

export const LEDGER_SCHEMAS: Readonly<Record<string, Json>> = {
  Balance: object({
    as_of: date,
    complete,
    unpriced: described(flag, 'True if no price plan applies to the account: it pays no fees.'),
    items: listOf(
      object({
        currency: text,
        available: described(text, 'What can be paid out.'),
        pending: described(text, 'What becomes available on a later day.'),
        reserve: described(text, 'Withheld until a date.'),
        in_transit: described(text, 'In a payout that is not confirmed yet.'),
        total: described(text, 'The sum of the other four.'),
        becoming_available: described(listOf(object({ day, amount: text })), 'The parts of `pending`, by day.'),
      }),
    ),
  }),
  LedgerEntry: object({
    entry_id: described(uuid, 'Depends on what the entry records: a rebuild of the ledger gives the same one.'),
    category: described(
      text,
      `One of ${CATEGORY_GROUPS.join(', ')}; fees and costs name their event, as \`fee.sale\`.`,
    ),
    mid: orNull(uuid),
    payment_id: orNull(uuid),
    operation_id: described(orNull(uuid), 'The capture or the refund.'),
    posted_at: date,
    available_on: described(day, 'The day from which a posting of a merchant counts as available.'),
    reverses: described(orNull(uuid), 'The entry that this one corrects.'),
    note: orNull(text),
    plan: described(
      orNull(object({ plan_id: uuid, version: integer, line: integer })),
      'The line of a price plan that set the amount; lines are counted from 0.',
    ),
    postings: described(
      listOf(object({ account: ledgerAccount, side: choice(['debit', 'credit']), amount: text, currency: text })),
      'Debits equal credits. A merchant sees the postings of its own ledger accounts only.',
    ),
  }),
  Adjustment: object({
    adjustment_id: uuid,
    mid: uuid,
    currency: text,
    amount: signedAmount,
    reason: text,
    state: described(choice(ADJUSTMENT_STATES), 'The entry is posted when it is approved.'),
    proposed_by: text,
    proposed_at: date,
    decided_by: orNull(text),
    decided_at: orNull(date),
  }),
  Margins: object({
    from: day,
    to: day,
    complete,
    items: listOf(
      object(
        {
          currency: text,
          fees: described(text, 'Without tax, less what was returned.'),
          costs: text,
          margin: described(text, '`fees` without `costs`.'),
        },
        { day, mid: uuid, brand: text, connection: text },
      ),
    ),
    next_cursor: { type: 'null' },
  }),
  Receivables: object({
    at: date,
    complete,
    items: listOf(
      object({
        connector: text,
        currency: text,
        total: text,
        ages: described(
          listOf(object({ from_days: integer, to_days: orNull(integer), amount: text })),
          'What the provider paid or deducted settles the oldest amounts first.',
        ),
      }),
    ),
    next_cursor: { type: 'null' },
  }),
  TrialBalance: object({
    at: date,
    complete,
    items: listOf(
      object({
        account: ledgerAccount,
        currency: text,
        debit: text,
        credit: text,
        balance: described(text, 'On the normal side of the account; negative on the other side.'),
      }),
    ),
    totals: described(listOf(object({ currency: text, debit: text, credit: text })), 'Debits equal credits.'),
  }),
};

const adjustmentId = [inPath('adjustment_id', uuid, 'The adjustment.')];
const adjustmentFilters = [
  inQuery('mid', uuid, 'Adjustments of this account.'),
  inQuery('state', choice(ADJUSTMENT_STATES), 'Adjustments in this state.'),
];
const decision = (operationId: string, summary: string): Json => ({
  parameters: adjustmentId,
  post: call('ledger', operationId, summary, {
    responses: { ...answers('The adjustment.', ref('Adjustment')), ...adjustmentRefusals },
  }),
});

const marginParameters = [
  inQuery('from', day, 'The first day; default: 29 days before the last.'),
  inQuery('to', day, 'The last day, which is included; default: today.'),
  inQuery('mid', uuid, 'Of this account.'),
  inQuery(
    'group_by',
    { ...text, examples: ['day', 'mid,brand'] },
    'Any of `day`, `mid`, `brand`, `connection`, separated by commas. The rows always have a currency.',
  ),
];

const filters = [
  inQuery('mid', uuid, 'Entries of this account.'),
  inQuery('payment_id', uuid, 'Entries of this payment.'),
  inQuery('category', text, 'Entries of this category; `fee` finds those of every event.'),
  inQuery('account', ledgerAccount, 'Entries with a posting of this ledger account.'),
  inQuery('from', dateTime, 'Posted at this time or later.'),
  inQuery('to', dateTime, 'Posted before this time.'),
];
const moment = [
  inQuery('at', dateTime, 'The moment; entries that were posted later are left out. Without it, all entries count.'),
];

export const LEDGER_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/accounts/{mid}/balance': {
    parameters: mid,
    get: call('ledger', 'readBalance', 'Returns what is owed to an account, in each currency.', {
      responses: { ...answers('The balance.', ref('Balance')), ...accountRefusals },
    }),
  },
  '/admin/api/accounts/{mid}/balance.csv': {
    parameters: mid,
    get: call('ledger', 'readBalanceCsv', 'Returns what is owed to an account as CSV with a header line.', {
      responses: { '200': { description: 'The balance.', content: csv }, ...accountRefusals },
    }),
  },
  '/admin/api/ledger/entries': {
    get: call('ledger', 'listLedgerEntries', 'Lists ledger entries, newest first.', {
      parameters: [...filters, ...pageParameters(text)],
      responses: { ...answers('A page of entries.', pageOf(ref('LedgerEntry'), text)), ...commonRefusals },
    }),
  },
  '/admin/api/ledger/entries.csv': {
    get: call('ledger', 'readLedgerEntriesCsv', 'Returns ledger entries as CSV, a line for each posting.', {
      parameters: filters,
      responses: { '200': { description: 'The entries.', content: csv }, ...commonRefusals },
    }),
  },
  '/admin/api/ledger/trial-balance': {
    get: call('ledger', 'readTrialBalance', 'Returns the sums of all ledger accounts at a moment.', {
      parameters: moment,
      responses: { ...answers('The trial balance.', ref('TrialBalance')), ...commonRefusals },
    }),
  },
  '/admin/api/ledger/trial-balance.csv': {
    get: call('ledger', 'readTrialBalanceCsv', 'Returns the trial balance as CSV with a header line.', {
      parameters: moment,
      responses: { '200': { description: 'The trial balance.', content: csv }, ...commonRefusals },
    }),
  },
  '/admin/api/ledger/margin': {
    get: call('ledger', 'readMargins', 'Returns fees less costs of some days in groups.', {
      parameters: marginParameters,
      responses: { ...answers('The margins.', ref('Margins')), ...commonRefusals },
    }),
  },
  '/admin/api/ledger/margin.csv': {
    get: call('ledger', 'readMarginsCsv', 'Returns the margins as CSV with a header line.', {
      parameters: marginParameters,
      responses: { '200': { description: 'The margins.', content: csv }, ...commonRefusals },
    }),
  },
  '/admin/api/ledger/receivables': {
    get: call('ledger', 'readReceivables', 'Returns what providers still owe, by age.', {
      responses: { ...answers('The receivables.', ref('Receivables')), ...commonRefusals },
    }),
  },
  '/admin/api/ledger/receivables.csv': {
    get: call('ledger', 'readReceivablesCsv', 'Returns what providers still owe as CSV with a header line.', {
      responses: { '200': { description: 'The receivables.', content: csv }, ...commonRefusals },
    }),
  },
  '/admin/api/ledger/adjustments': {
    get: call('ledger', 'listAdjustments', 'Lists adjustments, newest first.', {
      parameters: [...adjustmentFilters, ...pageParameters(uuid)],
      responses: { ...answers('A page of adjustments.', pageOf(ref('Adjustment'))), ...commonRefusals },
    }),
    post: call('ledger', 'proposeAdjustment', 'Proposes an adjustment, which another person has to approve.', {
      requestBody: jsonBody(
        object({
          mid: uuid,
          currency: text,
          amount: signedAmount,
          reason: { ...text, maxLength: NOTE_LENGTH },
        }),
      ),
      responses: { ...answers('The adjustment waits.', ref('Adjustment'), '201'), ...accountRefusals },
    }),
  },
  '/admin/api/ledger/adjustments.csv': {
    get: call('ledger', 'readAdjustmentsCsv', 'Returns adjustments as CSV with a header line.', {
      parameters: adjustmentFilters,
      responses: { '200': { description: 'The adjustments.', content: csv }, ...commonRefusals },
    }),
  },
  '/admin/api/ledger/adjustments/{adjustment_id}/approve': decision(
    'approveAdjustment',
    'Approves an adjustment of another person: its entry is posted.',
  ),
  '/admin/api/ledger/adjustments/{adjustment_id}/refuse': decision(
    'refuseAdjustment',
    'Refuses an adjustment of another person.',
  ),
};
