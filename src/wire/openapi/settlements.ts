/** Settlement terms, bank accounts, settlements, payouts and payments of providers in the OpenAPI document. */
import { PAYOUT_FORMATS, PAYOUT_STATES, TRANSFER_STATES, TRANSFERS_MOST } from '../../rules/payouts.ts';
import { HOLIDAYS_MOST } from '../../rules/settlement-calendar.ts';
import { CYCLES, SETTLEMENT_STATES, WITHHELD_REASONS } from '../../rules/settlements.ts';
import {
  accountRefusals,
  call,
  commonRefusals,
  dateTime,
  mid,
  operatorRefusals,
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
const csv = { 'text/csv': { schema: text } };
const list = (items: Json): Json => object({ items: listOf(items), next_cursor: { type: 'null' } });
const signed = described(text, 'With its sign, from the merchant’s view.');

const cycle = described(choice(CYCLES), 'A cut is made at `cut_off` of each day of the cycle; `manual`: by hand only.');
const delayDays = described(integer, 'After how many days later sales, their fees and their reserve are available.');
const optionalTerms = {
  weekday: described(orNull(integer), 'From 1, Monday, to 7; only with cycle `weekly`.'),
  day: described(orNull(integer), 'From 1 to 31, in a shorter month its last day; only with cycle `monthly`.'),
  minimum: described(orNull(text), 'Smaller amounts are not paid.'),
  reserve: described(
    orNull(object({ percent: text, days: integer })),
    'Withholds this percentage of each later sale, and releases it that many days later.',
  ),
  time_zone: described(text, 'The time zone of days and of `cut_off`, such as `Europe/Berlin`; without one UTC.'),
  cut_off: described(text, 'The time of day of cuts, such as `17:30`; without one `00:00`.'),
  business_days: described(
    flag,
    'Whether the delay counts business days only, and cuts wait for the next one: Monday to Friday without holidays.',
  ),
  hold: described(orNull(text), 'Why nothing is paid; null: it is paid.'),
};
const bankAccount = {
  currency: text,
  holder: text,
  account: described(text, 'The country and the last characters of the number.'),
  changed_at: date,
};
const holiday = { day, name: text };
const payout = {
  payout_id: uuid,
  currency: text,
  format: choice(PAYOUT_FORMATS),
  state: choice(PAYOUT_STATES),
  control_sum: described(text, 'The sum of all transfers.'),
  sha256: described(text, 'The digest of the file.'),
  made_by: text,
  made_at: date,
  decided_by: orNull(text),
  decided_at: orNull(date),
};
const providerPayment = {
  connector: described(text, 'The connector of payments, such as `stripe`.'),
  currency: text,
  amount: text,
  reference: described(text, 'Of the bank credit; the same one twice is one payment.'),
  received_on: day,
};

export const SETTLEMENT_SCHEMAS: Readonly<Record<string, Json>> = {
  SettlementTerms: object({ currency: text, cycle, delay_days: delayDays, ...optionalTerms, valid_from: date }),
  BankAccount: object({
    ...bankAccount,
    held_until: described(orNull(date), 'Nothing is paid before: the account was changed, and nobody confirmed it.'),
  }),
  Holiday: object(holiday),
  PayoutAccount: object({ ...bankAccount, bic: orNull(text) }),
  Settlement: object({
    settlement_id: uuid,
    number: described(integer, 'Counted from 1 for each account and currency.'),
    mid: uuid,
    currency: text,
    from: described(orNull(date), 'The cut before.'),
    until: described(date, 'The cut: entries that were posted before are in this settlement, or in an earlier one.'),
    opening: signed,
    closing: described(signed, '`opening` and the lines.'),
    payout: described(text, '`closing` without what is withheld.'),
    state: choice(SETTLEMENT_STATES),
    cut_by: text,
    cut_at: date,
    decided_by: orNull(text),
    decided_at: orNull(date),
    lines: listOf(object({ category: text, count: integer, amount: signed })),
    withheld: listOf(
      object({
        reason: described(choice(WITHHELD_REASONS), '`earlier`: what earlier settlements have not paid yet.'),
        amount: signed,
      }),
    ),
  }),
  Transfer: object({
    transfer_id: uuid,
    settlement_id: uuid,
    mid: uuid,
    amount: text,
    currency: text,
    holder: described(orNull(text), 'The receiver as the merchant wrote it; null in payouts of earlier versions.'),
    holder_in_file: described(orNull(text), 'The same in the characters of the file.'),
    state: choice(TRANSFER_STATES),
    reason: orNull(text),
    paid_at: orNull(date),
    returned_at: orNull(date),
  }),
  ListedPayout: object(payout),
  Payout: object({ ...payout, transfers: listOf(ref('Transfer')) }),
  ProviderPayment: object({ provider_payment_id: uuid, ...providerPayment, recorded_by: text, recorded_at: date }),
};

const filters = [
  inQuery('mid', uuid, 'Settlements of this account.'),
  inQuery('state', choice(SETTLEMENT_STATES), 'Settlements in this state.'),
];
const settlementId = [inPath('settlement_id', uuid, 'The settlement.')];
const payoutId = [inPath('payout_id', uuid, 'The payout.')];
const settlementRefusals = operatorRefusals(
  'invalidData',
  'noSuchSettlement',
  'settlementDecided',
  'settlementNotNewest',
);
const payoutRefusals = operatorRefusals(
  ...(['invalidData', 'noSuchPayout', 'ownPayout', 'payoutDecided', 'payoutNotApproved'] as const),
  ...(['payoutNotPossible', 'noSuchTransfer', 'transferRecorded'] as const),
);

const tagged = (operationId: string, summary: string, rest: Json): Json =>
  call('settlements', operationId, summary, rest);
const post = (parameters: Json[], operationId: string, summary: string, schema: Json, refused: Json): Json => ({
  parameters,
  post: tagged(operationId, summary, { responses: { ...schema, ...refused } }),
});
const file = (operationId: string, summary: string, parameters: Json[], refused: Json): Json => ({
  get: tagged(operationId, summary, {
    parameters,
    responses: { '200': { description: 'A header line, and a line for each row.', content: csv }, ...refused },
  }),
});

export const SETTLEMENT_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/accounts/{mid}/settlement-terms': {
    parameters: mid,
    get: tagged('readSettlementTerms', 'Returns the settlement terms of an account, for each currency.', {
      responses: { ...answers('The terms.', list(ref('SettlementTerms'))), ...accountRefusals },
    }),
    put: tagged('setSettlementTerms', 'Sets the settlement terms of a currency, for later sales and the next cut.', {
      requestBody: jsonBody(object({ currency: text, cycle, delay_days: delayDays }, optionalTerms)),
      responses: { ...answers('The terms.', ref('SettlementTerms')), ...accountRefusals },
    }),
  },
  '/admin/api/accounts/{mid}/settlement-terms.csv': {
    parameters: mid,
    get: tagged('readSettlementTermsCsv', 'Returns the settlement terms of an account as CSV with a header line.', {
      responses: { '200': { description: 'The terms.', content: csv }, ...accountRefusals },
    }),
  },
  '/admin/api/accounts/{mid}/bank-account.csv': {
    parameters: mid,
    get: tagged('readBankAccountsCsv', 'Returns the bank accounts of an account as CSV with a header line.', {
      responses: { '200': { description: 'The bank accounts.', content: csv }, ...accountRefusals },
    }),
  },
  '/admin/api/accounts/{mid}/bank-account': {
    parameters: mid,
    get: tagged('readBankAccounts', 'Returns the bank accounts of an account, masked.', {
      responses: { ...answers('The bank accounts.', list(ref('BankAccount'))), ...accountRefusals },
    }),
    put: tagged('setBankAccount', 'Sets the bank account of a currency; a change holds payouts for 24 hours.', {
      requestBody: jsonBody(
        object(
          { currency: text, holder: text },
          { iban: text, account_number: text, bank_code: text, country: described(text, 'With `account_number`.') },
        ),
      ),
      responses: { ...answers('The bank account.', ref('BankAccount')), ...accountRefusals },
    }),
  },
  '/admin/api/accounts/{mid}/bank-account/confirm': {
    parameters: mid,
    post: tagged('confirmBankAccount', 'Confirms the bank account that another person has changed.', {
      requestBody: jsonBody(object({ currency: text })),
      responses: {
        ...answers('The bank account.', ref('BankAccount')),
        ...operatorRefusals('invalidData', 'noSuchAccount', 'noSuchBankAccount', 'ownBankAccount'),
      },
    }),
  },
  '/admin/api/holidays': {
    get: tagged('readHolidays', 'Returns the holidays of the installation, which are no business days.', {
      responses: { ...answers('The holidays.', list(ref('Holiday'))), ...commonRefusals },
    }),
    put: tagged('setHolidays', 'Replaces the holidays of the installation, for later sales and the next cuts.', {
      requestBody: jsonBody(object({ holidays: { ...listOf(ref('Holiday')), maxItems: HOLIDAYS_MOST } })),
      responses: { ...answers('The holidays.', list(ref('Holiday'))), ...commonRefusals },
    }),
  },
  '/admin/api/holidays.csv': {
    get: tagged('readHolidaysCsv', 'Returns the holidays of the installation as CSV with a header line.', {
      responses: { '200': { description: 'The holidays.', content: csv }, ...commonRefusals },
    }),
  },
  '/admin/api/payout-account.csv': {
    get: tagged('readPayoutAccountsCsv', 'Returns the accounts from which payouts go as CSV with a header line.', {
      responses: { '200': { description: 'The accounts.', content: csv }, ...commonRefusals },
    }),
  },
  '/admin/api/payout-account': {
    get: tagged('readPayoutAccounts', 'Returns the accounts from which payouts go, masked.', {
      responses: { ...answers('The accounts.', list(ref('PayoutAccount'))), ...commonRefusals },
    }),
    put: tagged('setPayoutAccount', 'Sets the account from which payouts of a currency go.', {
      requestBody: jsonBody(object({ currency: text, holder: text, iban: text }, { bic: orNull(text) })),
      responses: { ...answers('The account.', ref('PayoutAccount')), ...commonRefusals },
    }),
  },
  '/admin/api/settlements': {
    get: tagged('listSettlements', 'Lists settlements, newest first.', {
      parameters: [...filters, ...pageParameters(uuid)],
      responses: { ...answers('A page of settlements.', pageOf(ref('Settlement'))), ...commonRefusals },
    }),
    post: tagged('cutSettlement', 'Cuts a settlement of everything that was posted until now, or until a time.', {
      requestBody: jsonBody(object({ mid: uuid, currency: text }, { until: dateTime })),
      responses: {
        ...answers('The settlement was cut.', ref('Settlement'), '201'),
        ...answers('It exists: nothing was posted since, or it has the same cut.', ref('Settlement')),
        ...accountRefusals,
      },
    }),
  },
  '/admin/api/settlements.csv': file('readSettlementsCsv', 'Returns settlements as CSV.', filters, commonRefusals),
  '/admin/api/settlements/{settlement_id}': {
    parameters: settlementId,
    get: tagged('readSettlement', 'Returns a settlement.', {
      responses: { ...answers('The settlement.', ref('Settlement')), ...operatorRefusals('noSuchSettlement') },
    }),
  },
  '/admin/api/settlements/{settlement_id}/entries': {
    parameters: settlementId,
    get: tagged('listSettlementEntries', 'Lists the ledger entries of a settlement, oldest first.', {
      parameters: pageParameters(text),
      responses: {
        ...answers('A page of entries.', pageOf(ref('LedgerEntry'), text)),
        ...operatorRefusals('invalidData', 'noSuchSettlement'),
      },
    }),
  },
  '/admin/api/settlements/{settlement_id}/entries.csv': {
    parameters: settlementId,
    ...file(
      'readSettlementEntriesCsv',
      'Returns the entries of a settlement as CSV, a line for each posting.',
      [],
      operatorRefusals('noSuchSettlement'),
    ),
  },
  '/admin/api/settlements/{settlement_id}/approve': post(
    settlementId,
    'approveSettlement',
    'Approves a settlement, so that it can be paid.',
    answers('The settlement.', ref('Settlement')),
    settlementRefusals,
  ),
  '/admin/api/settlements/{settlement_id}/void': post(
    settlementId,
    'voidSettlement',
    'Voids the newest settlement of an account and currency while it is a draft.',
    answers('The settlement.', ref('Settlement')),
    settlementRefusals,
  ),
  '/admin/api/payouts': {
    get: tagged('listPayouts', 'Lists payouts, newest first.', {
      parameters: pageParameters(uuid),
      responses: { ...answers('A page of payouts.', pageOf(ref('ListedPayout'))), ...commonRefusals },
    }),
    post: tagged('makePayout', 'Makes a payout of approved settlements, which another person has to approve.', {
      requestBody: jsonBody(
        object({
          settlement_ids: { ...listOf(uuid), minItems: 1, maxItems: TRANSFERS_MOST },
          format: choice(PAYOUT_FORMATS),
        }),
      ),
      responses: {
        ...answers('The payout waits.', ref('Payout'), '201'),
        ...operatorRefusals('invalidData', 'payoutNotPossible'),
      },
    }),
  },
  '/admin/api/payouts.csv': file('readPayoutsCsv', 'Returns payouts as CSV.', [], commonRefusals),
  '/admin/api/payouts/{payout_id}': {
    parameters: payoutId,
    get: tagged('readPayout', 'Returns a payout with its transfers.', {
      responses: { ...answers('The payout.', ref('Payout')), ...operatorRefusals('noSuchPayout') },
    }),
  },
  '/admin/api/payouts/{payout_id}/file': {
    parameters: payoutId,
    get: tagged('readPayoutFile', 'Returns the file for the bank, the same bytes each time.', {
      responses: {
        '200': { description: 'The file.', content: { ...csv, 'application/xml': { schema: text } } },
        ...operatorRefusals('noSuchPayout', 'payoutNotApproved'),
      },
    }),
  },
  '/admin/api/payouts/{payout_id}/approve': post(
    payoutId,
    'approvePayout',
    'Approves a payout of another person: the money leaves the balances.',
    answers('The payout.', ref('Payout')),
    payoutRefusals,
  ),
  '/admin/api/payouts/{payout_id}/refuse': post(
    payoutId,
    'refusePayout',
    'Refuses a payout of another person: its settlements are approved as before.',
    answers('The payout.', ref('Payout')),
    payoutRefusals,
  ),
  '/admin/api/payouts/{payout_id}/transfers/{transfer_id}': {
    parameters: [...payoutId, inPath('transfer_id', uuid, 'The transfer.')],
    post: tagged('recordTransfer', 'Records that the bank has paid or returned a transfer, each once.', {
      requestBody: jsonBody(object({ state: choice(['paid', 'returned']) }, { reason: orNull(text) })),
      responses: { ...answers('The transfer.', ref('Transfer')), ...payoutRefusals },
    }),
  },
  '/admin/api/provider-payments': {
    get: tagged('listProviderPayments', 'Lists payments of providers, newest first.', {
      parameters: pageParameters(uuid),
      responses: { ...answers('A page of payments.', pageOf(ref('ProviderPayment'))), ...commonRefusals },
    }),
    post: tagged('recordProviderPayment', 'Records a bank credit of a provider, which reduces what it owes.', {
      requestBody: jsonBody(object(providerPayment)),
      responses: {
        ...answers('The payment was recorded.', ref('ProviderPayment'), '201'),
        ...answers('It was recorded before.', ref('ProviderPayment')),
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/provider-payments.csv': file(
    'readProviderPaymentsCsv',
    'Returns payments of providers as CSV.',
    [],
    commonRefusals,
  ),
};
