/** What each route of the admin API, the sandbox API and the panel needs, written a second time, with a request to it. */
import { randomUUID } from 'node:crypto';
import type { Permission, Scope } from '../../src/rules/roles.ts';
import type { Fields } from './gateway.ts';

/** The ids of what belongs to one account. */
export interface Ids {
  mid: string;
  paymentId: string;
  /** A payment with a chargeback. */
  disputedId: string;
  callbackId: string;
  callId: string;
  scheduleId: string;
  subscriptionId: string;
  evidenceId: string;
  listId: string;
  entryId: string;
  ruleId: string;
  backTestId: string;
  /** A payment in the review queue. */
  reviewedId: string;
  cardToken: string;
  connectionId: string;
  /** A sell plan that the account has. */
  planId: string;
  tokenId: string;
  adjustmentId: string;
  /** A refund that waits for a second person. */
  requestId: string;
  operatorId: string;
  linkId: string;
  invoiceId: string;
  /** A draft. */
  settlementId: string;
  feeInvoiceId: string;
  /** A callback about a settlement. */
  messageId: string;
  /** A payout that waits, and its transfer. */
  payoutId: string;
  transferId: string;
  /** Of the installation: the same for all accounts. */
  reconciliationId: string;
}

export interface RouteRequest {
  query?: Fields;
  /** JSON of an API, or the fields of a form. */
  body?: unknown;
  /** The content of a file. */
  file?: string;
}

export interface Row {
  permission: Permission | 'any';
  scope: Scope;
  request: (ids: Ids) => RouteRequest;
  /** What the first restricted owner gets for what belongs to its account. */
  own: number;
  /** A cashier sees only what it made itself; to it, this does not exist. */
  isOfMaker?: true;
  /** What a restricted caller gets for what belongs to another account, or does not exist. */
  foreign: number;
}

type Options = Partial<Omit<Row, 'permission' | 'scope'>>;

const row =
  (scope: Scope, own: number) =>
  (permission: Row['permission'], options: Options = {}): Row => ({
    permission,
    scope,
    request: () => ({}),
    own,
    foreign: 404,
    ...options,
  });
const ok = row('accounts', 200);
const created = row('accounts', 201);
/** A form leads to a page when it is done. */
const done = row('accounts', 303);
const whole = row('installation', 200);
/** The filter is not seen: an empty list. */
const listed = (permission: Row['permission'], options: Options = {}): Row =>
  ok(permission, { request: ({ mid }) => ({ query: { mid } }), foreign: 200, ...options });

const json = (body: unknown): Options => ({ request: () => ({ body }) });
const ofAccount = (more: object = {}): Options => ({ request: ({ mid }) => ({ body: { mid, ...more } }) });
const ofPayment: Options = { request: ({ disputedId }) => ({ body: { payment_id: disputedId } }) };
const file = (content: string): Options => ({ request: () => ({ file: content }) });

const inUsd: Options = { request: () => ({ query: { currency: 'USD' } }) };

const STATEMENT = 'payment_id,amount,currency\nx,1.00,USD';
const RULE = {
  name: 'New',
  condition: { field: 'currency', op: '=', value: 'USD' },
  action: { kind: 'block' },
  state: 'off',
};
export const INVOICE = {
  currency: 'EUR',
  lines: [{ description: 'Tea', quantity: '1', unit_amount: '1.00' }],
  payer: { name: 'Ana', email: 'ana@example.com' },
  due_on: '2099-01-31',
};
const ADJUSTMENT = { currency: 'USD', amount: '1.00', reason: 'Goodwill' };
export const ISSUER = { name: 'Turnpike Ltd', address: ['Gate 1', '10115 Berlin'], prefix: 'FEE-' };
const TERMS = { currency: 'USD', cycle: 'manual', delay_days: 0 };
const BANK_ACCOUNT = { currency: 'USD', holder: 'Shop', iban: 'DE89370400440532013000' };
const PERIOD = { from: '2026-01-01', to: '2026-01-02' };

export const ADMIN_API: Readonly<Record<string, Row>> = {
  'GET /me': ok('any'),
  'GET /operators': ok('operators.manage'),
  'GET /operators.csv': ok('operators.manage'),
  'GET /operators/:operatorId': ok('operators.manage'),
  'GET /tokens': ok('tokens.manage'),
  'GET /audit': ok('audit.view'),
  'GET /accounts': ok('accounts.view'),
  'GET /accounts/:mid': ok('accounts.view'),
  'GET /connections': ok('connections.view'),
  'GET /connections/:connectionId': ok('connections.view'),
  'GET /accounts/:mid/routes': ok('connections.view'),
  'GET /price-plans': ok('prices.view'),
  'GET /price-plans.csv': ok('prices.view'),
  'GET /price-plans/:planId': ok('prices.view'),
  'GET /price-plans/:planId/lines.csv': ok('prices.view'),
  'GET /accounts/:mid/price-plan': ok('prices.view'),
  'GET /connections/:connectionId/price-plan': whole('prices.view'),
  'GET /payments': listed('payments.view'),
  'GET /payments.csv': listed('payments.view'),
  'GET /payments/:paymentId': ok('payments.view'),
  'GET /notifications': whole('notifications.view'),
  'GET /callbacks': listed('callbacks.view'),
  'GET /callbacks/:id': ok('callbacks.view'),
  'GET /chargebacks': listed('chargebacks.view'),
  'GET /chargebacks/:paymentId/evidence': ok('chargebacks.view'),
  'GET /chargebacks/:paymentId/evidence/:evidenceId': ok('chargebacks.view'),
  'GET /schedules': listed('schedules.view'),
  'GET /schedules/:scheduleId/subscriptions': ok('schedules.view'),
  'GET /telephone-orders': listed('telephone_orders.take'),
  'GET /telephone-orders.csv': listed('telephone_orders.take'),
  'GET /links': listed('links.view'),
  'GET /links.csv': listed('links.view'),
  'GET /links/:linkId': ok('links.view', { isOfMaker: true }),
  'GET /invoices': listed('invoices.view'),
  'GET /invoices.csv': listed('invoices.view'),
  'GET /invoices/:invoiceId': ok('invoices.view'),
  'GET /requests': listed('requests.view'),
  'GET /requests/:id': ok('requests.view'),
  'GET /overview': listed('reports.view'),
  'GET /reports': listed('reports.view'),
  'GET /reports.csv': listed('reports.view'),
  'GET /accounts/:mid/balance': ok('ledger.view'),
  'GET /accounts/:mid/balance.csv': ok('ledger.view'),
  'GET /ledger/entries': listed('ledger.view'),
  'GET /ledger/entries.csv': listed('ledger.view'),
  'GET /ledger/trial-balance': whole('ledger.view'),
  'GET /ledger/trial-balance.csv': whole('ledger.view'),
  'GET /ledger/receivables': whole('ledger.view'),
  'GET /ledger/receivables.csv': whole('ledger.view'),
  'GET /ledger/margin': whole('ledger.view'),
  'GET /ledger/margin.csv': whole('ledger.view'),
  'GET /ledger/adjustments': listed('adjustments.view'),
  'GET /ledger/adjustments.csv': listed('adjustments.view'),
  'POST /ledger/adjustments': created('adjustments.manage', ofAccount(ADJUSTMENT)),
  'POST /ledger/adjustments/:adjustmentId/approve': ok('adjustments.manage'),
  'POST /ledger/adjustments/:adjustmentId/refuse': ok('adjustments.manage', { own: 400 }),
  'GET /accounts/:mid/settlement-terms': ok('settlements.view'),
  'GET /accounts/:mid/settlement-terms.csv': ok('settlements.view'),
  'PUT /accounts/:mid/settlement-terms': ok('settlements.set_terms', json(TERMS)),
  'GET /accounts/:mid/bank-account': ok('settlements.view'),
  'GET /accounts/:mid/bank-account.csv': ok('settlements.view'),
  // Before the caller changes it: another person confirms.
  'POST /accounts/:mid/bank-account/confirm': ok('settlements.manage', json({ currency: 'USD' })),
  'PUT /accounts/:mid/bank-account': ok('settlements.set_terms', json(BANK_ACCOUNT)),
  'GET /holidays': whole('settlements.view'),
  'GET /holidays.csv': whole('settlements.view'),
  'PUT /holidays': whole('settlements.set_terms', json({ holidays: [] })),
  'GET /payout-account': whole('settlements.view'),
  'GET /payout-account.csv': whole('settlements.view'),
  'PUT /payout-account': whole('settlements.set_terms', json(BANK_ACCOUNT)),
  'GET /settlements': listed('settlements.view'),
  'GET /settlements.csv': listed('settlements.view'),
  'GET /settlements/:settlementId': ok('settlements.view'),
  'GET /settlements/:settlementId/entries': ok('settlements.view'),
  'GET /settlements/:settlementId/entries.csv': ok('settlements.view'),
  'POST /settlements/:settlementId/approve': ok('settlements.manage'),
  'POST /settlements/:settlementId/void': ok('settlements.manage', { own: 400 }),
  'POST /settlements': created('settlements.manage', ofAccount({ currency: 'USD' })),
  'GET /settlements/:settlementId/statement': ok('settlements.view'),
  'GET /settlements/:settlementId/statement.csv': ok('settlements.view'),
  'GET /accounts/:mid/statements': ok('settlements.view'),
  'GET /accounts/:mid/statements.csv': ok('settlements.view'),
  'GET /accounts/:mid/statements/:month': ok('settlements.view', inUsd),
  'GET /accounts/:mid/statements/:month.csv': ok('settlements.view', inUsd),
  'GET /settlement-messages': listed('settlements.view'),
  'GET /settlement-messages.csv': listed('settlements.view'),
  'POST /settlement-messages/:messageId/resend': ok('settlements.manage'),
  'GET /fee-invoice-issuer': whole('settlements.view'),
  'GET /fee-invoice-issuer.csv': whole('settlements.view'),
  'PUT /fee-invoice-issuer': whole('settlements.set_terms', json(ISSUER)),
  'GET /fee-invoices': listed('settlements.view'),
  'GET /fee-invoices.csv': listed('settlements.view'),
  'GET /fee-invoices/:feeInvoiceId': ok('settlements.view'),
  'POST /fee-invoices/:feeInvoiceId/correct': created('settlements.manage', json({ reason: 'Wrong address' })),
  'POST /fee-invoices': created('settlements.manage', ofAccount({ currency: 'USD' })),
  'GET /ledger/three-way': whole('ledger.view'),
  'GET /ledger/three-way.csv': whole('ledger.view'),
  'GET /provider-terms': whole('ledger.view'),
  'GET /provider-terms.csv': whole('ledger.view'),
  'PUT /provider-terms': whole('settlements.set_terms', json({ connector: 'vcard', days: 3 })),
  'GET /payouts': whole('settlements.view'),
  'GET /payouts.csv': whole('settlements.view'),
  'GET /payouts/:payoutId': whole('settlements.view'),
  'GET /payouts/:payoutId/file': whole('settlements.manage', { own: 400 }),
  'POST /payouts': whole('settlements.manage', json({ settlement_ids: [], format: 'csv' })),
  'POST /payouts/:payoutId/transfers/:transferId': whole('settlements.manage', json({ state: 'paid' })),
  'POST /payouts/:payoutId/refuse': whole('settlements.manage'),
  'POST /payouts/:payoutId/approve': whole('settlements.manage'),
  'GET /provider-payments': whole('settlements.view'),
  'GET /provider-payments.csv': whole('settlements.view'),
  'POST /provider-payments': whole('settlements.manage', json({ connector: 'vcard' })),
  'GET /installation': whole('installation.view'),
  'GET /restore': whole('restore.view'),
  'GET /reconciliations': whole('reports.view'),
  'GET /reconciliations/:id': whole('reports.view'),
  'GET /reconciliations/:id/rows': whole('reports.view'),
  'GET /reconciliations/:id/rows.csv': whole('reports.view'),
  'GET /clock': ok('sandbox.use', { request: ({ mid }) => ({ query: { mid } }) }),
  'POST /explain': ok('requests.explain', ofAccount({ request: 'action=SALE' })),
  'POST /accounts/:mid/routes/try': ok('connections.view', json({ brand: 'vcard', currency: 'USD', amount: '1.00' })),
  'POST /price-plans/:planId/quote': ok(
    'prices.view',
    json({ event: 'sale', brand: 'vcard', currency: 'USD', amount: '1.00' }),
  ),
  'POST /price-plans': whole('prices.manage', json({ name: 'New', side: 'sell' })),
  'POST /price-plans/:planId/versions': whole('prices.manage', json({ lines: [] })),
  'PUT /accounts/:mid/price-plan': whole('prices.manage', json({ plan_id: null })),
  'PUT /connections/:connectionId/price-plan': whole('prices.manage', json({ plan_id: null })),
  'POST /tokens': created('tokens.manage', {
    request: ({ mid }) => ({ body: { name: 'New', role: 'viewer', mids: [mid] } }),
    foreign: 403,
  }),
  'POST /operators': created('operators.manage', {
    request: ({ mid }) => ({
      body: { email: `${randomUUID()}@example.com`, role: 'merchant_cashier', mids: [mid] },
    }),
    foreign: 403,
  }),
  'PATCH /operators/:operatorId': ok('operators.manage', json({ refund_limit: '50.00' })),
  'POST /links': created('links.manage', ofAccount({ title: 'Tea', currency: 'EUR', amount: '1.00' })),
  'PATCH /links/:linkId': ok('links.manage', json({ state: 'inactive' })),
  'POST /invoices': created('invoices.manage', ofAccount(INVOICE)),
  'POST /invoices/:invoiceId/send': ok('invoices.manage', { own: 400 }),
  'POST /invoices/:invoiceId/void': ok('invoices.manage'),
  'POST /telephone-orders': created('telephone_orders.take', {
    ...ofAccount({ amount: '1.00', currency: 'EUR', description: 'Tea' }),
    own: 400,
  }),
  'POST /accounts': whole('accounts.create', json({ name: 'New' })),
  'PATCH /accounts/:mid': ok('accounts.change_own', json({ 'branding.colour': '#1a7f5a' })),
  'POST /accounts/:mid/rotate-password': ok('accounts.rotate_secrets'),
  'POST /accounts/:mid/rotate-callback-secret': ok('accounts.rotate_secrets'),
  'POST /accounts/:mid/test-callback': ok('callbacks.resend', { own: 400 }),
  'POST /connections': created('connections.manage', {
    request: ({ mid }) => ({
      body: {
        connector: 'upstream',
        name: 'New',
        mids: [mid],
        credentials: { url: 'http://127.0.0.1:1', key: 'k', notification_secret: 'c2VjcmV0' },
      },
    }),
    foreign: 400,
  }),
  'PATCH /connections/:connectionId': ok('connections.manage', json({ name: 'Own connection' })),
  'POST /connections/:connectionId/check': ok('connections.manage'),
  'PUT /accounts/:mid/routes': ok('connections.manage', json([])),
  'GET /refund-requests': listed('payments.view'),
  'GET /refund-requests.csv': listed('payments.view'),
  'POST /refund-requests/:requestId/approve': ok('payments.refund'),
  'POST /refund-requests/:requestId/refuse': ok('payments.refund', { own: 400 }),
  'POST /payments/:paymentId/refund': ok('payments.refund', json({ amount: '0.01' })),
  'POST /payments/:paymentId/capture': ok('payments.operate', { own: 400 }),
  'POST /payments/:paymentId/void': ok('payments.operate', { own: 400 }),
  'POST /payments/:paymentId/attended': ok('payments.resolve_attention'),
  'POST /payments/:paymentId/attention': ok('payments.resolve_attention', {
    ...json({ resolve: 'dismiss' }),
    own: 400,
  }),
  'DELETE /accounts/:mid/cards/:cardToken': ok('cards.remove'),
  'POST /payments/:paymentId/erase': ok('payments.erase'),
  'POST /callbacks/:id/resend': ok('callbacks.resend'),
  'POST /callbacks/resend': ok('callbacks.resend', ofPayment),
  'PATCH /chargebacks/:paymentId': ok('chargebacks.change', json({ note: 'Seen' })),
  'POST /chargebacks/:paymentId/evidence': created('chargebacks.change', {
    request: () => ({ query: { name: 'note.txt' }, file: 'More evidence' }),
  }),
  'GET /risk/lists': listed('risk.view'),
  'GET /risk/lists.csv': listed('risk.view'),
  'GET /risk/lists/:listId/entries': ok('risk.view'),
  'GET /risk/lists/:listId/entries.csv': ok('risk.view'),
  'GET /risk/rules': listed('risk.view'),
  'GET /risk/rules.csv': listed('risk.view'),
  'GET /risk/rules/:ruleId': ok('risk.view'),
  'GET /risk/shadow': ok('risk.view'),
  'GET /risk/shadow.csv': ok('risk.view'),
  'GET /risk/back-tests': ok('risk.view'),
  'GET /risk/back-tests.csv': ok('risk.view'),
  'GET /risk/back-tests/:backTestId': ok('risk.view'),
  'GET /risk/reviews': listed('risk.view'),
  'GET /risk/reviews.csv': listed('risk.view'),
  'GET /risk/fraud-rates': whole('risk.view'),
  'GET /risk/fraud-rates.csv': whole('risk.view'),
  'GET /risk/bins': whole('risk.import'),
  'GET /risk/bins.csv': whole('risk.import'),
  'GET /risk/ip-countries': whole('risk.import'),
  'GET /risk/ip-countries.csv': whole('risk.import'),
  'POST /risk/try': ok('risk.view', ofAccount({ payment: {} })),
  'POST /risk/lists': row('installation without mid', 201)('risk.manage', ofAccount({ name: 'New', kind: 'email' })),
  'POST /risk/lists/:listId/entries': created('risk.manage', json({ items: [{ value: 'jo@example.com' }] })),
  'POST /risk/lists/:listId/entries.csv': created('risk.manage', file('value\njo@example.com')),
  'POST /risk/rules': row('installation without mid', 201)('risk.manage', ofAccount(RULE)),
  'PATCH /risk/rules/:ruleId': ok('risk.manage', json({ name: 'Renamed' })),
  'POST /risk/back-tests': created('risk.manage', {
    request: ({ ruleId }) => ({ body: { rule_id: ruleId, ...PERIOD } }),
  }),
  'POST /risk/reviews/:paymentId': ok('risk.review', json({ decision: 'approve' })),
  'POST /risk/bins': whole('risk.import', file('from,to\n411111,411111')),
  'POST /risk/ip-countries': whole('risk.import', file('network,country\n203.0.113.0/24,DE')),
  'POST /restore/release': whole('restore.release', json({ note: 'Checked' })),
  'POST /reconciliations': whole('reports.reconcile', { request: () => ({ query: PERIOD, file: STATEMENT }) }),
  'POST /clock': row('installation without mid', 200)('sandbox.use', ofAccount({ advance_seconds: 0 })),
  'DELETE /chargebacks/:paymentId/evidence/:evidenceId': ok('chargebacks.change'),
  'DELETE /risk/lists/:listId/entries/:entryId': ok('risk.manage'),
  'DELETE /risk/lists/:listId': ok('risk.manage'),
  'DELETE /risk/rules/:ruleId': ok('risk.manage'),
  'DELETE /schedules/:scheduleId/subscriptions/:subscriptionId': ok('schedules.stop', {
    request: ({ mid }) => ({ query: { mid } }),
  }),
  'DELETE /schedules/:scheduleId': ok('schedules.stop', { request: ({ mid }) => ({ query: { mid } }) }),
  'POST /accounts/:mid/erase': ok('payments.erase', json({ email: 'nobody@example.com' })),
  'DELETE /connections/:connectionId': ok('connections.manage'),
  'DELETE /tokens/:tokenId': ok('tokens.manage'),
  'DELETE /operators/:operatorId': ok('operators.manage'),
  'DELETE /reconciliations/:id': whole('reports.reconcile'),
};

export const SANDBOX_API: Readonly<Record<string, Row>> = {
  'GET /faults': ok('sandbox.use'),
  'GET /ledger': whole('sandbox.use'),
  'GET /callbacks/:mid': ok('sandbox.use'),
  'POST /callbacks/:mid': ok('sandbox.use', json({ answer: 500 })),
  'DELETE /callbacks/:mid': ok('sandbox.use'),
  'POST /faults': row('installation without mid', 200)('sandbox.use', ofAccount({ mode: 'none' })),
  'POST /payments/:paymentId': ok('sandbox.use', json({ chargeback: true })),
};

const NEW_CONNECTION = {
  name: 'New',
  'credentials.url': 'http://127.0.0.1:1',
  'credentials.key': 'k',
  'credentials.notification_secret': 'c2VjcmV0',
};
const chosen = (more: Fields) => ({ request: ({ mid }: Ids) => ({ body: { ...more, [`mid.${mid}`]: '1' } }) });

export const PANEL: Readonly<Record<string, Row>> = {
  'GET /admin': listed('any'),
  'GET /admin/reports': listed('reports.view'),
  'GET /admin/reports.csv': listed('reports.view'),
  'GET /admin/ledger': listed('ledger.view', { foreign: 404 }),
  'GET /admin/ledger/entries.csv': listed('ledger.view', { foreign: 404 }),
  'GET /admin/ledger/trial-balance': whole('ledger.view'),
  'GET /admin/ledger/trial-balance.csv': whole('ledger.view'),
  'GET /admin/ledger/margin': whole('ledger.view'),
  'GET /admin/ledger/margin.csv': whole('ledger.view'),
  'GET /admin/ledger/settlements': listed('settlements.view'),
  'GET /admin/ledger/settlements.csv': ok('settlements.view'),
  'GET /admin/ledger/settlements/:settlementId': ok('settlements.view'),
  'GET /admin/ledger/settlements/:settlementId/entries.csv': ok('settlements.view'),
  'POST /admin/ledger/settlements': done('settlements.manage', ofAccount({ currency: 'USD' })),
  'GET /admin/accounts/:mid/settlement': ok('settlements.view'),
  'POST /admin/accounts/:mid/settlement/terms': done(
    'settlements.set_terms',
    json({ currency: 'USD', cycle: 'manual', delay_days: '0' }),
  ),
  // Before the change: its author cannot confirm it.
  'POST /admin/accounts/:mid/settlement/bank-account/confirm': done('settlements.manage', json({ currency: 'USD' })),
  'POST /admin/accounts/:mid/settlement/bank-account': done(
    'settlements.set_terms',
    json({ bank_currency: 'USD', holder: BANK_ACCOUNT.holder, iban: BANK_ACCOUNT.iban }),
  ),
  'GET /admin/ledger/owed': listed('settlements.view'),
  'GET /admin/ledger/payouts': whole('settlements.view'),
  'GET /admin/ledger/payouts.csv': whole('settlements.view'),
  'GET /admin/ledger/payouts/:payoutId': whole('settlements.view'),
  'GET /admin/ledger/payouts/:payoutId/file': whole('settlements.manage', { own: 400 }),
  'POST /admin/ledger/payouts': whole('settlements.manage'),
  'POST /admin/ledger/payouts/account': whole('settlements.set_terms', json(BANK_ACCOUNT)),
  'POST /admin/ledger/payouts/:payoutId/approve': whole('settlements.manage'),
  'POST /admin/ledger/payouts/:payoutId/refuse': whole('settlements.manage'),
  'POST /admin/ledger/payouts/:payoutId/paid': whole('settlements.manage'),
  'POST /admin/ledger/payouts/:payoutId/transfers/:transferId': whole('settlements.manage', json({ state: 'paid' })),
  'GET /admin/ledger/calendar': whole('settlements.view'),
  'POST /admin/ledger/calendar': whole('settlements.set_terms', json({ holidays: '' })),
  'POST /admin/ledger/settlements/:settlementId/approve': done('settlements.manage'),
  'POST /admin/ledger/settlements/:settlementId/void': done('settlements.manage', { own: 400 }),
  'GET /admin/ledger/settlements/:settlementId/statement': ok('settlements.view'),
  'GET /admin/ledger/settlements/:settlementId/statement.csv': ok('settlements.view'),
  'GET /admin/ledger/settlements/:settlementId/statement.json': ok('settlements.view'),
  'GET /admin/ledger/statements': listed('settlements.view', { foreign: 404 }),
  'GET /admin/ledger/statements.csv': listed('settlements.view', { foreign: 404 }),
  'GET /admin/ledger/statements/:mid/:month': ok('settlements.view', inUsd),
  'GET /admin/ledger/statements/:mid/:month.csv': ok('settlements.view', inUsd),
  'GET /admin/ledger/statements/:mid/:month.json': ok('settlements.view', inUsd),
  'GET /admin/ledger/fee-invoices': listed('settlements.view'),
  'GET /admin/ledger/fee-invoices.csv': listed('settlements.view'),
  'GET /admin/ledger/fee-invoices/:feeInvoiceId': ok('settlements.view'),
  'POST /admin/ledger/fee-invoices': done('settlements.manage', ofAccount({ currency: 'USD' })),
  'POST /admin/ledger/fee-invoices/issuer': whole(
    'settlements.set_terms',
    json({ name: 'Turnpike Ltd', address: 'Gate 1', prefix: 'FEE-' }),
  ),
  'POST /admin/ledger/fee-invoices/:feeInvoiceId/correct': done('settlements.manage', json({ reason: 'Wrong' })),
  'GET /admin/ledger/three-way': whole('ledger.view'),
  'GET /admin/ledger/three-way.csv': whole('ledger.view'),
  'POST /admin/ledger/three-way/payments': whole('settlements.manage'),
  'POST /admin/ledger/three-way/terms': whole('settlements.set_terms', json({ provider: 'vcard', days: '3' })),
  'GET /admin/ledger/adjustments': listed('adjustments.view'),
  'GET /admin/ledger/adjustments.csv': listed('adjustments.view'),
  'POST /admin/ledger/adjustments': done('adjustments.manage', ofAccount(ADJUSTMENT)),
  'POST /admin/ledger/adjustments/:adjustmentId/approve': done('adjustments.manage'),
  'POST /admin/ledger/adjustments/:adjustmentId/refuse': done('adjustments.manage', { own: 400 }),
  'GET /admin/installation': whole('installation.view'),
  'GET /admin/restore': whole('restore.view'),
  'GET /admin/reports/reconciliations': whole('reports.view'),
  'GET /admin/reports/reconciliations/:reconciliationId': whole('reports.view'),
  'GET /admin/reports/reconciliations/:reconciliationId/rows.csv': whole('reports.view'),
  'GET /admin/reports/reconciliations/:reconciliationId/delete': whole('reports.reconcile'),
  'GET /admin/payments': listed('payments.view'),
  'GET /admin/payments.csv': listed('payments.view'),
  'GET /admin/payments/:paymentId': ok('payments.view'),
  'GET /admin/payments/:paymentId/capture': ok('payments.operate'),
  'GET /admin/payments/:paymentId/void': ok('payments.operate'),
  'GET /admin/payments/:paymentId/refund': ok('payments.refund'),
  'GET /admin/payments/:paymentId/erase': ok('payments.erase'),
  'GET /admin/payments/:paymentId/receipt': ok('payments.view'),
  'GET /admin/payments/:paymentId/attention/accept': ok('payments.resolve_attention', { own: 400 }),
  'GET /admin/payments/:paymentId/attention/refund': ok('payments.resolve_attention', { own: 400 }),
  'GET /admin/payments/:paymentId/attention/dismiss': ok('payments.resolve_attention', { own: 400 }),
  'GET /admin/attention': listed('payments.view'),
  'GET /admin/risk': ok('risk.view'),
  'GET /admin/risk/rules': ok('risk.view'),
  'GET /admin/risk/shadow': ok('risk.view'),
  'GET /admin/risk/fraud-rates': whole('risk.view'),
  'GET /admin/risk/lists': ok('risk.view'),
  'GET /admin/risk/lists/:listId': ok('risk.view'),
  'GET /admin/risk/rules/new': ok('risk.manage'),
  'GET /admin/risk/rules/:ruleId': ok('risk.manage'),
  'GET /admin/chargebacks': listed('chargebacks.view'),
  'GET /admin/chargebacks/:paymentId': ok('chargebacks.view'),
  'GET /admin/chargebacks/:paymentId/evidence/:evidenceId': ok('chargebacks.view'),
  'GET /admin/chargebacks/:paymentId/evidence/:evidenceId/delete': ok('chargebacks.change'),
  'GET /admin/accounts': ok('accounts.view'),
  'GET /admin/accounts/new': whole('accounts.create'),
  'GET /admin/accounts/:mid': ok('accounts.view'),
  'GET /admin/accounts/:mid/preview': ok('accounts.view'),
  'GET /admin/accounts/:mid/preview/notes': ok('accounts.view'),
  'GET /admin/accounts/:mid/logo': ok('accounts.change_own'),
  'GET /admin/accounts/:mid/routes': ok('connections.view'),
  'GET /admin/connections': ok('connections.view'),
  'GET /admin/connections/new': ok('connections.manage'),
  'GET /admin/connections/new/:connector': ok('connections.manage'),
  'GET /admin/connections/:connectionId': ok('connections.view'),
  'GET /admin/prices': ok('prices.view'),
  'GET /admin/prices.csv': ok('prices.view'),
  'GET /admin/prices/:planId': ok('prices.view'),
  'GET /admin/prices/:planId/lines.csv': ok('prices.view'),
  'GET /admin/prices/:planId/new': whole('prices.manage'),
  'GET /admin/callbacks': listed('callbacks.view'),
  'GET /admin/callbacks/:id': ok('callbacks.view'),
  'GET /admin/callbacks/resend': listed('callbacks.resend', { foreign: 400 }),
  'GET /admin/schedules': listed('schedules.view'),
  'GET /admin/schedules/:mid/:scheduleId': ok('schedules.view'),
  'GET /admin/schedules/:mid/:scheduleId/stop': ok('schedules.stop'),
  'GET /admin/schedules/:mid/:scheduleId/subscriptions/:subscriptionId/stop': ok('schedules.stop'),
  'GET /admin/links': ok('links.view'),
  'GET /admin/links/:linkId': ok('links.view', { isOfMaker: true }),
  'GET /admin/links/:linkId/print': ok('links.view', { isOfMaker: true }),
  'GET /admin/invoices': ok('invoices.view'),
  'GET /admin/invoices/new': ok('invoices.manage'),
  'GET /admin/invoices/:invoiceId': ok('invoices.view'),
  'GET /admin/telephone-orders': ok('telephone_orders.take'),
  'GET /admin/requests': listed('requests.view'),
  'GET /admin/requests/:id': ok('requests.view'),
  'GET /admin/debugger': listed('requests.explain'),
  'GET /admin/sandbox': listed('sandbox.use', { foreign: 404 }),
  'GET /admin/sandbox/requests': listed('sandbox.use', { foreign: 404 }),
  'GET /admin/sandbox/controls': listed('sandbox.use', { foreign: 404 }),
  'GET /admin/sandbox/callbacks': listed('sandbox.use', { foreign: 404 }),
  'GET /admin/operators': ok('operators.manage'),
  'GET /admin/operators/:operatorId': ok('operators.manage'),
  'GET /admin/tokens': ok('tokens.manage'),
  'GET /admin/audit': ok('audit.view'),
  'GET /admin/me': ok('any'),
  'GET /admin/me/passkeys/options': ok('any'),
  'GET /admin/confirmed': ok('any'),
  'POST /admin/restore/release': whole('restore.release', json({ note: 'Checked' })),
  'POST /admin/reports/reconciliations': whole('reports.reconcile', file(STATEMENT)),
  'POST /admin/reports/reconciliations/:reconciliationId/compare': whole('reports.reconcile'),
  'POST /admin/reports/reconciliations/:reconciliationId/delete': whole('reports.reconcile'),
  'POST /admin/payments/filters': done('payments.view', json({ name: 'Mine', query: 'status=SETTLED' })),
  'POST /admin/payments/filters/delete': done('payments.view', json({ name: 'Mine' })),
  'POST /admin/payments/:paymentId/capture': done('payments.operate', { own: 400 }),
  'POST /admin/payments/:paymentId/void': done('payments.operate', { own: 400 }),
  'POST /admin/refund-requests/:requestId/approve': done('payments.refund'),
  'POST /admin/refund-requests/:requestId/refuse': done('payments.refund', { own: 400 }),
  'POST /admin/payments/:paymentId/refund': done('payments.refund', json({ amount: '0.01' })),
  'POST /admin/payments/:paymentId/attention/accept': done('payments.resolve_attention', { own: 400 }),
  'POST /admin/payments/:paymentId/attention/refund': done('payments.resolve_attention', { own: 400 }),
  'POST /admin/payments/:paymentId/attention/dismiss': done('payments.resolve_attention', { own: 400 }),
  'POST /admin/payments/:paymentId/erase': done('payments.erase'),
  'POST /admin/risk/rules': row('installation without mid', 303)('risk.manage', {
    request: ({ mid }) => ({
      body: { mid, name: 'New', state: 'off', action: 'block', json: JSON.stringify(RULE.condition) },
    }),
  }),
  'POST /admin/risk/rules/:ruleId': done(
    'risk.manage',
    json({ name: 'New', state: 'off', action: 'block', json: JSON.stringify(RULE.condition) }),
  ),
  'POST /admin/risk/rules/:ruleId/delete': done('risk.manage'),
  'POST /admin/risk/lists': row('installation without mid', 303)(
    'risk.manage',
    ofAccount({ name: 'New', kind: 'email' }),
  ),
  'POST /admin/risk/lists/:listId/entries': done('risk.manage', json({ value: 'jo@example.com' })),
  'POST /admin/risk/lists/:listId/import': done('risk.manage', file('value\njo@example.com')),
  'POST /admin/risk/lists/:listId/entries/:entryId/delete': done('risk.manage'),
  'POST /admin/risk/lists/:listId/delete': done('risk.manage'),
  'POST /admin/payments/:paymentId/block': done('risk.manage', { ...json({ what: 'card', days: '7' }), own: 400 }),
  'POST /admin/risk/:paymentId': done('risk.review', json({ decision: 'approve' })),
  'POST /admin/chargebacks/:paymentId': done('chargebacks.change', json({ note: 'Seen' })),
  'POST /admin/chargebacks/:paymentId/evidence': done('chargebacks.change', file('More evidence')),
  'POST /admin/chargebacks/:paymentId/evidence/:evidenceId/delete': done('chargebacks.change'),
  'POST /admin/accounts/new': whole('accounts.create', json({ name: 'New' })),
  'POST /admin/accounts/:mid': done('accounts.change_own', json({ 'branding.colour': '#1a7f5a' })),
  'POST /admin/accounts/:mid/preview': ok('accounts.change_own', json({ 'branding.colour': '#1a7f5a' })),
  'POST /admin/accounts/:mid/rename': done('accounts.change', json({ name: 'Own Shop' })),
  'POST /admin/accounts/:mid/logo': ok('accounts.change_own', { own: 400 }),
  'POST /admin/accounts/:mid/logo/remove': done('accounts.change_own'),
  'POST /admin/accounts/:mid/suspend': done('accounts.change', json({ suspended: 'false' })),
  'POST /admin/accounts/:mid/rotate-password': ok('accounts.rotate_secrets'),
  'POST /admin/accounts/:mid/rotate-callback-secret': ok('accounts.rotate_secrets'),
  'POST /admin/accounts/:mid/test-callback': ok('callbacks.resend', { own: 400 }),
  'POST /admin/accounts/:mid/test-payment': done('sandbox.use'),
  'POST /admin/accounts/:mid/routes': done('connections.manage'),
  'POST /admin/prices': whole('prices.manage', json({ name: 'New', side: 'sell' })),
  'POST /admin/prices/:planId/new': whole('prices.manage'),
  'POST /admin/accounts/:mid/price-plan': whole('prices.manage', json({ plan_id: '' })),
  'POST /admin/connections/:connectionId/price-plan': whole('prices.manage', json({ plan_id: '' })),
  'POST /admin/connections/new/:connector': done('connections.manage', {
    request: ({ mid }) => ({ body: { ...NEW_CONNECTION, mids: mid } }),
    foreign: 400,
  }),
  'POST /admin/connections/:connectionId': done(
    'connections.manage',
    json({ ...NEW_CONNECTION, name: 'Own connection' }),
  ),
  'POST /admin/connections/:connectionId/check': ok('connections.manage'),
  'POST /admin/connections/:connectionId/delete': done('connections.manage'),
  'POST /admin/callbacks/:id/resend': done('callbacks.resend'),
  'POST /admin/callbacks/resend': done('callbacks.resend', ofPayment),
  'POST /admin/schedules/:mid/:scheduleId/subscriptions/:subscriptionId/stop': done('schedules.stop'),
  'POST /admin/schedules/:mid/:scheduleId/stop': done('schedules.stop'),
  'POST /admin/links': done('links.manage', ofAccount({ title: 'Tea', currency: 'EUR', amount: '1' })),
  'POST /admin/links/:linkId/off': done('links.manage'),
  'POST /admin/links/:linkId/on': done('links.manage'),
  'POST /admin/invoices/new': done(
    'invoices.manage',
    ofAccount({
      currency: 'EUR',
      name: 'Ana',
      email: 'ana@example.com',
      due_on: '2099-01-31',
      'line.0.description': 'Tea',
      'line.0.quantity': '1',
      'line.0.unit_amount': '1',
    }),
  ),
  'POST /admin/invoices/:invoiceId/send': done('invoices.manage', { own: 400 }),
  'POST /admin/invoices/:invoiceId/void': done('invoices.manage'),
  'POST /admin/telephone-orders': ok('telephone_orders.take', {
    ...ofAccount({ amount: '1', currency: 'EUR', description: 'Tea' }),
    own: 400,
  }),
  'POST /admin/debugger': ok('requests.explain', ofAccount({ request: 'action=SALE' })),
  'POST /admin/sandbox': ok('sandbox.use', { ...ofAccount({ brand: 'vcard' }), own: 400 }),
  'POST /admin/sandbox/requests': ok('sandbox.use', { ...ofAccount(), own: 400 }),
  'POST /admin/sandbox/controls/bank': done('sandbox.use', {
    request: ({ paymentId }) => ({ body: { payment: paymentId, scenario: 'chargeback:true' } }),
    foreign: 400,
  }),
  'POST /admin/sandbox/controls/fault': done('sandbox.use', {
    ...ofAccount({ mode: 'none', count: '1' }),
    foreign: 400,
  }),
  'POST /admin/sandbox/controls/clock': done('sandbox.use', {
    request: ({ mid }) => ({ body: { clock_mid: mid, by: '1', unit: 'minutes' } }),
    foreign: 400,
  }),
  'POST /admin/sandbox/callbacks/:mid/answer': done('sandbox.use', json({ answer: '500', count: '1' })),
  'POST /admin/sandbox/callbacks/:mid/clear': done('sandbox.use'),
  'POST /admin/sandbox/callbacks/:mid/use': done('accounts.change'),
  'POST /admin/operators': ok('operators.manage', {
    request: ({ mid }) => ({ body: { email: 'new@example.com', role: 'merchant_support', [`mid.${mid}`]: '1' } }),
    foreign: 400,
  }),
  'POST /admin/operators/:operatorId/invite': ok('operators.manage'),
  'POST /admin/operators/:operatorId/accounts': done('operators.manage', chosen({})),
  'POST /admin/operators/:operatorId/refund-limit': done('operators.manage', json({ refund_limit: '50.00' })),
  'POST /admin/operators/:operatorId/role': done('operators.manage', json({ role: 'merchant_cashier' })),
  'POST /admin/operators/:operatorId/suspend': done('operators.manage', json({ suspended: 'true' })),
  'POST /admin/operators/:operatorId/delete': done('operators.manage'),
  'POST /admin/tokens': ok('tokens.manage', { ...chosen({ name: 'New', role: 'viewer', days: '30' }), foreign: 400 }),
  'POST /admin/tokens/:tokenId/revoke': done('tokens.manage'),
  'POST /admin/me/language': done('any', json({ language: 'de' })),
  'POST /admin/me/notices': done('any', json({ chargebacks: '1' })),
  'POST /admin/me/passkeys': ok('any', { own: 400 }),
  'POST /admin/me/passkeys/:passkeyId/rename': done('any', json({ new_name: 'Key' })),
  'POST /admin/me/passkeys/:passkeyId/remove': done('any'),
  'POST /admin/me/password': ok('any', { own: 400 }),
  'POST /admin/me/setup': ok('any', { own: 400 }),
  'POST /admin/me/setup/code': ok('any', { own: 400 }),
  'POST /admin/me/recovery-codes': ok('any', { own: 400 }),
  'POST /admin/me/sessions/end': done('any'),
  'POST /admin/me/sessions/:sessionId/end': done('any'),
};
