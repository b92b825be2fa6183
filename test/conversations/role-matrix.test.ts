/** Every route, as every role, with and without a restriction, for what is its own, what is foreign, and what does not exist. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { keepCard } from '../../src/core/cards/vault.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { PANEL_ROUTES } from '../../src/pages/panel/index.ts';
import { isAllowed, isMerchantRole, ROLES, type Role } from '../../src/rules/roles.ts';
import { routesOf } from '../fuzz/routes.ts';
import { ADMIN_TOKEN, type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';
import {
  ADMIN_API,
  type Ids,
  INVOICE,
  ISSUER,
  PANEL,
  type RouteRequest,
  type Row,
  SANDBOX_API,
} from '../support/role-table.ts';
import { sized } from '../support/size.ts';
import { uploadStatement } from '../support/statements.ts';

const shop = openShop({ simulator: true });

const prefixed = (prefix: string, table: Readonly<Record<string, Row>>): [string, Row][] =>
  Object.entries(table).map(([key, row]) => [key.replace(' ', ` ${prefix}`), row]);

/** The rows of the table by surface. */
const SURFACES = {
  api: new Map([...prefixed('/admin/api', ADMIN_API), ...prefixed('/sandbox/api', SANDBOX_API)]),
  panel: new Map(Object.entries(PANEL)),
} as const;
type Surface = keyof typeof SURFACES;

interface Answered {
  status: number;
  text: string;
}

/** A caller of the API by a token, or of the panel by a session. */
interface TestCaller {
  role: Role;
  isRestricted: boolean;
  send(method: string, path: string, request: RouteRequest): Promise<Answered>;
}

const CALLERS = ROLES.flatMap((role) => [
  { role, isRestricted: true },
  ...(isMerchantRole(role) ? [] : [{ role, isRestricted: false }]),
]);
const nameOf = ({ role, isRestricted }: Pick<TestCaller, 'role' | 'isRestricted'>): string =>
  `${isRestricted ? 'restricted' : 'unrestricted'} ${role}`;
const SAMPLE = ['restricted merchant_cashier', 'unrestricted support'];
const TESTED = CALLERS.filter((caller) => sized(SAMPLE.includes(nameOf(caller)), true));

const world = {} as Record<'own' | 'ownInPanel' | 'foreign' | 'random', Ids> & {
  callers: Record<Surface, Map<string, TestCaller>>;
  /** Names and ids that a restricted caller must not see. */
  markers: string[];
};

/** Two of each, so that the panel finds what the admin API has deleted. */
async function belongings(
  merchant: Merchant,
  name: string,
  cardNumber: string,
  reconciliationId: string,
): Promise<Ids> {
  const { mid } = merchant;
  const order = (suffix: string) => ({ order_id: `${name}-${suffix}-${randomUUID().slice(0, 8)}` });
  const paymentId = (await shop.sale(order('paid'), merchant)).body.trans_id;
  const disputedId = (await shop.sale(order('disputed'), merchant)).body.trans_id;
  const reviewedId = (await shop.sale(order('reviewed'), merchant)).body.trans_id;
  await shop.sandbox('POST', `/payments/${disputedId}`, { chargeback: true });
  await vi.waitFor(async () => {
    const { items } = (await shop.admin('GET', `/chargebacks?mid=${mid}`)).body;
    expect(items.map((one: { payment_id: string }) => one.payment_id)).toContain(disputedId);
  });
  const evidence = await fetch(`${shop.url}/admin/api/chargebacks/${disputedId}/evidence?name=${name}.txt`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'text/plain' },
    body: 'Evidence',
  });
  const scheduleId = randomUUID();
  const terms = { name: `${name} schedule`, intervalLength: 1, intervalUnit: 'month', paymentsCount: 3 } as const;
  const rest = { dayOfMonth: null, delays: 0, version: 1, deletedAt: null, createdAt: Date.now() };
  await shop.gateway.schedules.insert({ mid, scheduleId, ...terms, ...rest });
  const subscriptionId = randomUUID();
  await shop.rows(`insert into subscriptions (mid, subscription_id, schedule_id, first_payment_id, state, occurrences,
      declines, failed, anchor_at, anchor_day, intervals, schedule_version, next_at, created_at)
    values ('${mid}', '${subscriptionId}', '${scheduleId}', '${paymentId}', 'active', 0,
      0, 0, now(), 1, 0, 1, now() + interval '30 days', now())`);
  const card = { number: new Secret(cardNumber), month: '12', year: '2038', holder: 'Ada Byron' };
  const { token: cardToken } = await keepCard(shop.gateway, { mid, paymentId }, card, true);
  const credentials = { url: shop.provider?.url, key: shop.provider?.key, notification_secret: 'c2VjcmV0' };
  const connection = { connector: 'upstream', name: `${name} connection`, mids: [mid], credentials };
  const plan = (await shop.admin('POST', '/price-plans', { name: `${name} plan`, side: 'sell' })).body;
  await shop.admin('PUT', `/accounts/${mid}/price-plan`, { plan_id: plan.plan_id });
  const cut = async () => (await shop.admin('POST', '/settlements', { mid, currency: 'USD' })).body.settlement_id;
  const bankAccount = { currency: 'USD', holder: name, iban: 'DE89370400440532013000' };
  await shop.admin('PUT', `/accounts/${mid}/bank-account`, bankAccount);
  await shop.rows('update bank_accounts set held_until = null');
  await shop.admin('PATCH', `/accounts/${mid}`, { settlement_callbacks: true, 'billing.address': ['Main St 1'] });
  const paid = await cut();
  await shop.admin('POST', `/settlements/${paid}/approve`);
  const payout = (await shop.admin('POST', '/payouts', { settlement_ids: [paid], format: 'csv' })).body;
  const lines = [{ event: 'sale', percent: '1' }];
  await shop.admin('POST', `/price-plans/${plan.plan_id}/versions`, { lines });
  await shop.sale(order('charged'), merchant);
  await shop.admin('POST', `/settlements/${await cut()}/approve`);
  await shop.admin('PUT', '/fee-invoice-issuer', ISSUER);
  const feeInvoice = (await shop.admin('POST', '/fee-invoices', { mid, currency: 'USD' })).body;
  await shop.sale(order('settled'), merchant);
  const operator = await signedIn(shop, 'merchant_support', [mid]);
  await shop.rows(`update operators set name = '${name} operator' where operator_id = '${operator.operatorId}'`);
  const [call] = (await shop.admin('GET', `/requests?mid=${mid}`)).body.items;
  const { list_id: listId } = (await shop.admin('POST', '/risk/lists', { mid, name: `${name} list`, kind: 'email' }))
    .body;
  const entries = { items: [{ value: 'mallory@example.com', reason: `${name} reason` }] };
  const { body: added } = await shop.admin('POST', `/risk/lists/${listId}/entries`, entries);
  const condition = { field: 'currency', op: '=', value: 'EUR' };
  const rule = { mid, name: `${name} rule`, condition, action: { kind: 'block' }, state: 'off' };
  const { rule_id: ruleId } = (await shop.admin('POST', '/risk/rules', rule)).body;
  const tested = { rule_id: ruleId, from: '2026-01-01', to: '2026-01-02' };
  const { back_test_id: backTestId } = (await shop.admin('POST', '/risk/back-tests', tested)).body;
  await shop.rows(`insert into risk_decisions (mid, payment_id, at, amount, currency, decision, score, rules, shadow,
      three_ds, input, review_state, review_then, review_due_at)
    values ('${mid}', '${reviewedId}', now(), 1, 'USD', 'review', 0, '[]', '[]', '{}', '{}', 'waiting', 'approve', now() + interval '300 days')`);
  return {
    mid,
    listId,
    entryId: added.items[0].entry_id,
    ruleId,
    backTestId,
    reviewedId,
    paymentId,
    disputedId,
    callbackId: `${disputedId}-2`,
    callId: call.id,
    scheduleId,
    subscriptionId,
    evidenceId: ((await evidence.json()) as { evidence_id: string }).evidence_id,
    cardToken: cardToken as string,
    connectionId: (await shop.admin('POST', '/connections', connection)).body.connection_id,
    adjustmentId: (
      await shop.admin('POST', '/ledger/adjustments', { mid, currency: 'USD', amount: '1.00', reason: 'Goodwill' })
    ).body.adjustment_id,
    requestId: await waitingRefund(mid, (await shop.sale(order('large'), merchant)).body.trans_id),
    planId: plan.plan_id,
    tokenId: (await shop.admin('POST', '/tokens', { name: `${name} token`, role: 'viewer', mids: [mid] })).body
      .token_id,
    operatorId: operator.operatorId,
    invoiceId: (await shop.admin('POST', '/invoices', { mid, ...INVOICE, note: `${name} invoice` })).body.invoice_id,
    linkId: (await shop.admin('POST', '/links', { mid, title: `${name} link`, currency: 'EUR', amount: '1.00' })).body
      .link_id,
    settlementId: await cut(),
    feeInvoiceId: feeInvoice.fee_invoice_id,
    messageId: (await shop.admin('GET', `/settlement-messages?mid=${mid}`)).body.items[0].message_id,
    payoutId: payout.payout_id,
    transferId: payout.transfers[0].transfer_id,
    reconciliationId,
  };
}

async function waitingRefund(mid: string, paymentId: string): Promise<string> {
  await shop.admin('PATCH', `/accounts/${mid}`, { refund_approval_from: '5.00' });
  return (await shop.admin('POST', `/payments/${paymentId}/refund`)).body.refund_request.request_id;
}

async function apiCaller(role: Role, mids: string[] | null): Promise<TestCaller> {
  const { token } = (await shop.admin('POST', '/tokens', { name: `a ${role}`, role, mids })).body;
  return {
    role,
    isRestricted: mids !== null,
    async send(method, path, { body, file }) {
      const type = path.includes('/reconciliations')
        ? 'text/csv'
        : file === undefined
          ? 'application/json'
          : 'text/plain';
      const sent = file ?? (body === undefined ? undefined : JSON.stringify(body));
      const response = await fetch(shop.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(sent !== undefined && { 'content-type': type }) },
        ...(sent !== undefined && { body: sent }),
      });
      return { status: response.status, text: await response.text() };
    },
  };
}

async function panelCaller(role: Role, mids: string[] | null): Promise<TestCaller> {
  const operator = await signedIn(shop, role, mids);
  const token = /name="form_token" value="([^"]+)"/.exec((await operator.get('/admin/payments')).text)?.[1] ?? '';
  return {
    role,
    isRestricted: mids !== null,
    async send(method, path, { body, file }) {
      if (method === 'GET') return operator.get(path);
      return file === undefined
        ? operator.submit(path, body as Fields | undefined, token)
        : operator.upload(path, new File([file], 'file.csv'), token);
    },
  };
}

beforeAll(async () => {
  const [own, foreign] = [
    await shop.newMerchant({ name: 'Own Shop' }),
    await shop.newMerchant({ name: 'Zanzibar Foreign Shop' }),
  ];
  const period = { from: '2026-01-01', to: '2026-01-02' };
  const statement = async (): Promise<string> =>
    (await uploadStatement(shop, 'payment_id,amount,currency\nx,1.00,USD', period)).body.reconciliation_id;
  world.own = await belongings(own, 'own', '4111111111111111', await statement());
  world.ownInPanel = await belongings(own, 'own', '5555555555554444', await statement());
  world.foreign = await belongings(foreign, 'zanzibar', '4111111111111111', await statement());
  world.random = Object.fromEntries(
    Object.entries(world.foreign).map(([name, id]) => [name, id.replace(/[0-9a-f]{6}(?=(-2)?$)/, 'abcdef')]),
  ) as unknown as Ids;
  await shop.sandbox('POST', '/faults', { mid: foreign.mid, mode: 'error_500', count: 1 });
  const root = await signedIn(shop, 'owner');
  await shop.rows(`update operators set name = 'Zanzibar root' where operator_id = '${root.operatorId}'`);
  const rootToken = (await shop.admin('POST', '/tokens', { name: 'zanzibar root token', role: 'owner' })).body.token_id;
  const { reconciliationId: _, ...foreignIds } = world.foreign;
  world.markers = ['zanzibar', root.operatorId, rootToken, ...Object.values(foreignIds)];
  const callers = async (make: typeof apiCaller) =>
    new Map(
      await Promise.all(
        TESTED.map(async (one) => [nameOf(one), await make(one.role, one.isRestricted ? [own.mid] : null)] as const),
      ),
    );
  world.callers = { api: await callers(apiCaller), panel: await callers(panelCaller) };
});

/** The method, the path and the content of a request for these ids. */
function fill(key: string, row: Row, ids: Ids): [string, string, RouteRequest] {
  const [method = '', path = ''] = key.split(' ');
  const values: Record<string, string> = {
    ...ids,
    paymentId: path.includes('/chargebacks/')
      ? ids.disputedId
      : path.includes('/risk/')
        ? ids.reviewedId
        : ids.paymentId,
    id: path.includes('/callbacks/') ? ids.callbackId : path.includes('/requests/') ? ids.callId : ids.reconciliationId,
    connector: 'upstream',
    passkeyId: 'unknown',
    month: new Date().toISOString().slice(0, 7),
    sessionId: 'unknown',
  };
  const request = row.request(ids);
  const filled = path.replace(/:(\w+)/g, (_match, name: string) => values[name] ?? '');
  return [method, filled + (request.query ? `?${new URLSearchParams(request.query)}` : ''), request];
}

const isPermitted = ({ permission }: Row, { role }: TestCaller): boolean =>
  permission === 'any' || isAllowed(role, permission);
const isRefused = (row: Row, caller: TestCaller): boolean =>
  !isPermitted(row, caller) || (caller.isRestricted && row.scope === 'installation');
const hasIds = (key: string, row: Row): boolean =>
  JSON.stringify(fill(key, row, world.foreign)) !== JSON.stringify(fill(key, row, world.random));

/** Everything that the database has, except when something was last used. */
async function contents(): Promise<Record<string, unknown>> {
  const tables = await shop.rows(`select table_name from information_schema.tables where table_schema = 'public'
    and table_type = 'BASE TABLE' and table_name !~ '^(api_calls|operator_sessions)'`);
  const digests = await Promise.all(
    tables.map(async ({ table_name: name }) => {
      const row = `to_jsonb(t) - array['last_used_at', 'last_signed_in_at']`;
      const [found] = await shop.rows(`select md5(string_agg((${row})::text, '' order by t::text)) from ${name} t`);
      return [name as string, found?.md5] as const;
    }),
  );
  return Object.fromEntries(digests);
}

/** Sends some requests at a time; returns what was not as expected. */
async function each<Item>(
  items: readonly Item[],
  check: (item: Item) => Promise<string | undefined>,
): Promise<string[]> {
  const problems: string[] = [];
  for (let from = 0; from < items.length; from += 6) {
    const found = await Promise.all(items.slice(from, from + 6).map(check));
    problems.push(...found.filter((problem) => problem !== undefined));
  }
  return problems;
}

const markersIn = ({ text }: Answered): string[] =>
  world.markers.filter((marker) => text.toLowerCase().includes(marker.toLowerCase()));

/** An answer without the ids of the request, which it may repeat, and without times. */
const anonymous = ({ status, text }: Answered, ids: Ids): string =>
  `${status} ${Object.values(ids).reduce((left, id) => left.replaceAll(id, '{}'), text.replace(/<time.*?<\/time>/g, ''))}`;

test('the table has every route, and no other', async () => {
  const registered = (await routesOf(shop.gateway))
    .filter(({ path }) => /^\/(?:admin|sandbox)\/api\//.test(path))
    .map(({ method, path }) => `${method} ${path}`);
  expect([...SURFACES.api.keys()].sort()).toEqual([...new Set(registered)].sort());
  expect([...SURFACES.panel.keys()].sort()).toEqual(PANEL_ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
});

describe.each(Object.keys(SURFACES) as Surface[])('%s', (surface) => {
  const rows = [...SURFACES[surface]];
  const ownIds = (): Ids => (surface === 'api' ? world.own : world.ownInPanel);
  const callerOf = (name: string): TestCaller => world.callers[surface].get(name) as TestCaller;

  test.each(TESTED.map(nameOf))('%s is refused, and changes nothing', async (name) => {
    const caller = callerOf(name);
    const before = await contents();
    const problems = await each(rows, async ([key, row]) => {
      if (isRefused(row, caller)) {
        const { status } = await caller.send(...fill(key, row, ownIds()));
        return status === 403 ? undefined : `${key}: ${status} in place of 403`;
      }
      if (!caller.isRestricted || !hasIds(key, row)) return undefined;
      const [foreign, random] = [
        await caller.send(...fill(key, row, world.foreign)),
        await caller.send(...fill(key, row, world.random)),
      ];
      if (foreign.status !== row.foreign) return `${key}: ${foreign.status} in place of ${row.foreign}`;
      const isAlike = anonymous(foreign, world.foreign) === anonymous(random, world.random);
      if (!isAlike) return `${key}: a foreign id is answered differently from one that does not exist`;
      return markersIn(random).length > 0 ? `${key}: shows ${markersIn(random)}` : undefined;
    });
    expect(problems).toEqual([]);
    expect(await contents()).toEqual(before);
  });

  test.each(TESTED.map(nameOf))('%s reads what it may see', async (name) => {
    const caller = callerOf(name);
    const reads = rows.filter(([key, row]) => key.startsWith('GET ') && !isRefused(row, caller));
    const problems = await each(reads, async ([key, row]) => {
      const answer = await caller.send(...fill(key, row, ownIds()));
      const expected = row.isOfMaker && caller.role === 'merchant_cashier' ? 404 : row.own;
      if (answer.status !== expected) return `${key}: ${answer.status} in place of ${expected}`;
      return caller.isRestricted && markersIn(answer).length > 0 ? `${key}: shows ${markersIn(answer)}` : undefined;
    });
    expect(problems).toEqual([]);
  });

  // The first caller is the restricted owner; the others find what it has changed or deleted.
  test.each(TESTED.map(nameOf))('%s changes what it may change', async (name) => {
    const caller = callerOf(name);
    const isFirst = name === nameOf(TESTED[0] as TestCaller);
    const problems: string[] = [];
    for (const [key, row] of rows) {
      if (key.startsWith('GET ') || isRefused(row, caller)) continue;
      const answer = await caller.send(...fill(key, row, ownIds()));
      const isExpected = isFirst
        ? answer.status === row.own
        : answer.status !== 401 && answer.status !== 403 && answer.status < 500;
      if (!isExpected) problems.push(`${key}: ${answer.status} in place of ${row.own}: ${answer.text.slice(0, 300)}`);
      if (caller.isRestricted && markersIn(answer).length > 0) problems.push(`${key}: shows ${markersIn(answer)}`);
    }
    expect(problems).toEqual([]);
  });
});

test.each(TESTED.filter(({ isRestricted }) => isRestricted).map(nameOf))(
  'the API: %s is refused where the call without an account concerns all accounts',
  async (name) => {
    const caller = world.callers.api.get(name) as TestCaller;
    const before = await contents();
    for (const [key, row] of SURFACES.api) {
      if (row.scope !== 'installation without mid') continue;
      const [method, path, { body }] = fill(key, row, world.own);
      const { mid: _, ...rest } = body as Record<string, unknown>;
      for (const without of [rest, { ...rest, mid: null }, { ...rest, mid: '' }]) {
        expect([key, (await caller.send(method, path, { body: without })).status]).toEqual([key, 403]);
      }
    }
    expect(await contents()).toEqual(before);
  },
);
