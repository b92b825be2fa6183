/** Statements of merchants' balances in the OpenAPI document. */
import { accountRefusals, call, mid, operatorRefusals } from './operator-call.ts';
import {
  answers,
  date,
  described,
  inPath,
  inQuery,
  integer,
  type Json,
  listOf,
  object,
  orNull,
  ref,
  text,
  uuid,
} from './schema.ts';

const signed = described(text, 'With its sign, from the merchant’s view.');
const sums = { gross: signed, fee: described(signed, 'Without tax.'), tax: signed, net: signed };
const statement = {
  mid: uuid,
  name: described(text, 'The name of the account.'),
  currency: text,
  from: orNull(date),
  until: date,
  opening: signed,
  items: listOf(ref('StatementRow')),
  next_cursor: { type: 'null' },
  totals: object(sums),
  closing: signed,
};

export const STATEMENT_SCHEMAS: Readonly<Record<string, Json>> = {
  StatementMonth: object({
    month: described(text, 'In UTC, such as `2026-11`.'),
    currency: text,
    opening: signed,
    credits: text,
    debits: text,
    closing: signed,
  }),
  StatementRow: object({
    entry_id: uuid,
    posted_at: date,
    available_on: { type: 'string', format: 'date' },
    category: text,
    payment_id: orNull(uuid),
    order_id: orNull(text),
    operation_id: orNull(uuid),
    note: orNull(text),
    ...sums,
    net: described(signed, 'The sum of `gross`, `fee` and `tax`.'),
    balance: described(signed, 'The balance after this entry.'),
  }),
  SettlementStatement: object({ ...statement, settlement_id: uuid, number: integer }),
  MonthStatement: object({ ...statement, month: text }),
};

const csv = { description: 'A header line, and a line for each row.', content: { 'text/csv': { schema: text } } };
const get = (operationId: string, summary: string, parameters: Json[], ok: Json, refused: Json): Json => ({
  get: call('settlements', operationId, summary, { parameters, responses: { ...ok, ...refused } }),
});
const settlementId = [inPath('settlement_id', uuid, 'The settlement.')];
const settlementRefusals = operatorRefusals('noSuchSettlement', 'settlementVoid');
const ofMonth = [
  ...mid,
  inPath('month', text, 'The month, in UTC, such as `2026-11`.'),
  { ...inQuery('currency', text, 'The currency.'), required: true },
];

export const STATEMENT_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/settlements/{settlement_id}/statement': get(
    'readSettlementStatement',
    'Returns the statement of a settlement: a row for each entry, with the balance after it.',
    settlementId,
    answers('The statement.', ref('SettlementStatement')),
    settlementRefusals,
  ),
  '/admin/api/settlements/{settlement_id}/statement.csv': get(
    'readSettlementStatementCsv',
    'Returns the statement of a settlement as CSV.',
    settlementId,
    { '200': csv },
    settlementRefusals,
  ),
  '/admin/api/accounts/{mid}/statements': get(
    'listStatements',
    'Lists the months of an account with entries, newest first, with their balances.',
    mid,
    answers('The months.', object({ items: listOf(ref('StatementMonth')), next_cursor: { type: 'null' } })),
    accountRefusals,
  ),
  '/admin/api/accounts/{mid}/statements.csv': get(
    'readStatementsCsv',
    'Returns the months of an account as CSV.',
    mid,
    { '200': csv },
    accountRefusals,
  ),
  '/admin/api/accounts/{mid}/statements/{month}': get(
    'readMonthStatement',
    'Returns the statement of a month: a row for each entry, with the balance after it.',
    ofMonth,
    answers('The statement.', ref('MonthStatement')),
    accountRefusals,
  ),
  '/admin/api/accounts/{mid}/statements/{month}.csv': get(
    'readMonthStatementCsv',
    'Returns the statement of a month as CSV.',
    ofMonth,
    { '200': csv },
    accountRefusals,
  ),
};
