/** Who may call the admin API: API tokens, their roles and accounts, and the audit log of what they changed. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { keepCard } from '../../src/core/cards/vault.ts';
import type { Schedule } from '../../src/core/context.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { isAllowed, isMerchantRole, PERMISSIONS, type Permission, ROLES, type Role } from '../../src/rules/roles.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { ADMIN_TOKEN, type Answer, DATE, type Merchant, openShop, UUID_7 } from '../support/gateway.ts';
import { uploadStatement } from '../support/statements.ts';

const shop = openShop({ simulator: true });
const RANDOM_ID = '01234567-89ab-7def-8123-456789abcdef';

async function newToken(role: Role, more: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await shop.admin('POST', '/tokens', { name: `a ${role}`, role, ...more });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.token;
}

const refusal = ({ status, body }: Answer) => [status, body.error_message];
const FORBIDDEN = [403, 'Your role does not allow this.'];
const UNAUTHORISED = [401, 'The admin token is missing or wrong.'];

describe('a token', () => {
  test('is shown once, and identifies its caller', async () => {
    const created = await shop.admin('POST', '/tokens', { name: 'Monitoring', role: 'viewer' });
    expect(created).toMatchObject({
      status: 201,
      body: {
        token_id: expect.stringMatching(UUID_7),
        name: 'Monitoring',
        role: 'viewer',
        mids: null,
        created_at: expect.stringMatching(DATE),
        expires_at: null,
        last_used_at: null,
        token: expect.stringMatching(/^tpk_[0-9a-f]{64}$/),
      },
    });
    const { token, token_id } = created.body;
    expect((await shop.admin('GET', '/me', undefined, token)).body).toEqual({
      kind: 'token',
      name: 'Monitoring',
      role: 'viewer',
      mids: null,
      refund_limit: null,
    });
    const listed = (await shop.admin('GET', '/tokens')).body.items.find(
      (one: { token_id: string }) => one.token_id === token_id,
    );
    expect(listed).toMatchObject({ name: 'Monitoring', last_used_at: expect.stringMatching(DATE) });
    expect(listed.token).toBeUndefined();
    expect(JSON.stringify(await shop.rows('select * from api_tokens'))).not.toContain(token.slice(4));
  });

  test('the configured token is an owner', async () => {
    expect((await shop.admin('GET', '/me')).body).toEqual({
      kind: 'token',
      name: 'TURNPIKE_ADMIN_TOKEN',
      role: 'owner',
      mids: null,
      refund_limit: null,
    });
  });

  test('is refused after it was revoked', async () => {
    const { body } = await shop.admin('POST', '/tokens', { name: 'Short', role: 'viewer' });
    expect((await shop.admin('DELETE', `/tokens/${body.token_id}`)).body).toEqual({
      token_id: body.token_id,
      revoked: true,
    });
    expect(refusal(await shop.admin('GET', '/me', undefined, body.token))).toEqual(UNAUTHORISED);
    expect((await shop.admin('DELETE', `/tokens/${body.token_id}`)).status).toBe(404);
    expect((await shop.admin('DELETE', '/tokens/nonsense')).status).toBe(404);
  });

  test('is refused after it expired', async () => {
    const { now } = (await shop.admin('GET', '/clock')).body;
    const expires_at = new Date(Date.parse(`${now.replace(' ', 'T')}Z`) + 60_000).toISOString();
    const token = await newToken('viewer', { expires_at });
    expect((await shop.admin('GET', '/me', undefined, token)).status).toBe(200);
    await shop.advanceClock(61);
    expect(refusal(await shop.admin('GET', '/me', undefined, token))).toEqual(UNAUTHORISED);
  });

  test.each([
    ['', 401],
    ['wrong', 401],
    [`tpk_${'0'.repeat(64)}`, 401],
  ])('%j is unknown', async (token, status) => {
    expect((await shop.admin('GET', '/me', undefined, token)).status).toBe(status);
  });

  test.each([
    [{}, ['name', 'role']],
    [{ name: ' ', role: 'viewer' }, ['name']],
    [{ name: 'x'.repeat(101), role: 'viewer' }, ['name']],
    [{ name: 'x', role: 'root' }, ['role']],
    [{ name: 'x', role: 'merchant' }, ['mids']],
    [{ name: 'x', role: 'viewer', mids: [] }, ['mids']],
    [{ name: 'x', role: 'viewer', mids: ['nonsense'] }, ['mids']],
    [{ name: 'x', role: 'viewer', mids: [randomUUID()] }, ['mids']],
    [{ name: 'x', role: 'merchant', mids: [randomUUID()] }, ['mids']],
    [{ name: 'x', role: 'viewer', expires_at: 'tomorrow' }, ['expires_at']],
    [{ name: 'x', role: 'viewer', expires_at: '2020-01-01' }, ['expires_at']],
    [{ name: 'x', role: 'viewer', scope: 'all' }, ['scope']],
  ])('cannot be created from %j', async (body, fields) => {
    const refused = await shop.admin('POST', '/tokens', body);
    expect(refused.status).toBe(400);
    const named = refused.body.errors.map((one: { error_message: string }) => one.error_message.split(':')[0]);
    expect(named).toEqual(fields);
  });
});

async function newSchedule(mid: string): Promise<Schedule> {
  const terms = { name: 'Monthly', intervalLength: 1, intervalUnit: 'month', paymentsCount: 3 } as const;
  const rest = { dayOfMonth: null, delays: 0, version: 1, deletedAt: null, createdAt: Date.now() };
  const schedule = { mid, scheduleId: randomUUID(), ...terms, ...rest };
  await shop.gateway.schedules.insert(schedule);
  return schedule;
}

/** A call for each permission, which succeeds for a role that has it. */
const CALLS: Readonly<Record<Permission, (token: string, merchant: Merchant, id: string) => Promise<Answer>>> = {
  'accounts.view': (token, { mid }) => shop.admin('GET', `/accounts/${mid}`, undefined, token),
  'accounts.create': (token) => shop.admin('POST', '/accounts', { name: 'New' }, token),
  'accounts.change': (token, { mid }) => shop.admin('PATCH', `/accounts/${mid}`, { name: 'Changed' }, token),
  'accounts.change_own': (token, { mid }) =>
    shop.admin('PATCH', `/accounts/${mid}`, { 'branding.colour': '#1a7f5a' }, token),
  'accounts.rotate_secrets': (token, { mid }) =>
    shop.admin('POST', `/accounts/${mid}/rotate-callback-secret`, undefined, token),
  'connections.view': (token) => shop.admin('GET', '/connections', undefined, token),
  'connections.manage': (token, { mid }) => shop.admin('PUT', `/accounts/${mid}/routes`, [], token),
  'prices.view': (token) => shop.admin('GET', '/price-plans', undefined, token),
  'prices.manage': (token) => shop.admin('POST', '/price-plans', { name: 'New', side: 'sell' }, token),
  'payments.view': (token, _, id) => shop.admin('GET', `/payments/${id}`, undefined, token),
  'payments.operate': async (token, merchant) => {
    const { trans_id } = (await shop.sale({ auth: 'Y' }, merchant)).body;
    return shop.admin('POST', `/payments/${trans_id}/capture`, { amount: '0.01' }, token);
  },
  'payments.refund': (token, _, id) => shop.admin('POST', `/payments/${id}/refund`, { amount: '0.01' }, token),
  'payments.erase': (token, _, id) => shop.admin('POST', `/payments/${id}/erase`, undefined, token),
  'cards.remove': async (token, { mid }, id) => {
    const card = { number: new Secret('4111111111111111'), month: '12', year: '2038', holder: 'Ada Byron' };
    const kept = await keepCard(shop.gateway, { mid, paymentId: id }, card, true);
    return shop.admin('DELETE', `/accounts/${mid}/cards/${kept.token}`, undefined, token);
  },
  'payments.resolve_attention': (token, _, id) => shop.admin('POST', `/payments/${id}/attended`, undefined, token),
  'chargebacks.view': (token) => shop.admin('GET', '/chargebacks', undefined, token),
  'chargebacks.change': async (token, _, id) => {
    await shop.sandbox('POST', `/payments/${id}`, { chargeback: true });
    return shop.admin('PATCH', `/chargebacks/${id}`, { state: 'answered' }, token);
  },
  'risk.view': (token, { mid }) => shop.admin('POST', '/risk/try', { mid, payment: {} }, token),
  'risk.manage': (token, { mid }) => shop.admin('POST', '/risk/lists', { mid, name: 'Mail', kind: 'email' }, token),
  'risk.review': async (token, merchant) => {
    const { mid } = merchant;
    const id = (await shop.sale({}, merchant)).body.trans_id;
    await shop.rows(`insert into risk_decisions (mid, payment_id, at, amount, currency, decision, score, rules, shadow,
        three_ds, input, review_state, review_then, review_due_at)
      values ('${mid}', '${id}', now(), 1, 'USD', 'review', 0, '[]', '[]', '{}', '{}', 'waiting', 'approve', now() + interval '300 days')
      on conflict do nothing`);
    return shop.admin('POST', `/risk/reviews/${id}`, { decision: 'approve' }, token);
  },
  'risk.import': (token) => shop.admin('GET', '/risk/bins', undefined, token),
  'callbacks.view': (token) => shop.admin('GET', '/callbacks', undefined, token),
  'callbacks.resend': (token, { mid }) => shop.admin('POST', '/callbacks/resend', { mid }, token),
  'schedules.view': (token) => shop.admin('GET', '/schedules', undefined, token),
  'schedules.stop': async (token, { mid }) => {
    const { scheduleId } = await newSchedule(mid);
    return shop.admin('DELETE', `/schedules/${scheduleId}?mid=${mid}`, undefined, token);
  },
  'links.view': (token) => shop.admin('GET', '/links', undefined, token),
  'links.manage': (token, { mid }) =>
    shop.admin('POST', '/links', { mid, title: 'Tea', currency: 'EUR', amount: '1.00' }, token),
  'invoices.view': (token) => shop.admin('GET', '/invoices', undefined, token),
  'invoices.manage': (token, { mid }) => {
    const lines = [{ description: 'Tea', quantity: '1', unit_amount: '1.00' }];
    const payer = { name: 'Ana', email: 'ana@example.com' };
    return shop.admin('POST', '/invoices', { mid, currency: 'EUR', lines, payer, due_on: '2099-01-31' }, token);
  },
  'telephone_orders.take': async (token, { mid }) => {
    await shop.admin('PATCH', `/accounts/${mid}`, { telephone_orders: true });
    const order = { mid, amount: '1.00', currency: 'EUR', description: 'Tea' };
    return shop.admin('POST', '/telephone-orders', order, token);
  },
  'notifications.view': (token) => shop.admin('GET', '/notifications', undefined, token),
  'reports.view': (token) => shop.admin('GET', '/reports', undefined, token),
  'ledger.view': (token) => shop.admin('GET', '/ledger/entries', undefined, token),
  'settlements.view': (token) => shop.admin('GET', '/settlements', undefined, token),
  'settlements.manage': (token, { mid }) => shop.admin('POST', '/settlements', { mid, currency: 'USD' }, token),
  'settlements.set_terms': (token, { mid }) =>
    shop.admin('PUT', `/accounts/${mid}/settlement-terms`, { currency: 'USD', cycle: 'manual', delay_days: 0 }, token),
  'adjustments.view': (token) => shop.admin('GET', '/ledger/adjustments', undefined, token),
  'adjustments.manage': (token, { mid }) =>
    shop.admin('POST', '/ledger/adjustments', { mid, currency: 'USD', amount: '1.00', reason: 'Goodwill' }, token),
  'reports.reconcile': (token) =>
    uploadStatement(
      shop,
      'payment_id,amount,currency\nx,1.00,USD',
      { from: '2026-01-01', to: '2026-01-02' },
      { token },
    ),
  'requests.view': (token, { mid }) => shop.admin('GET', `/requests?mid=${mid}`, undefined, token),
  'requests.explain': (token, { mid }) => shop.admin('POST', '/explain', { mid, request: 'action=SALE' }, token),
  'tokens.manage': (token) => shop.admin('GET', '/tokens', undefined, token),
  'operators.manage': (token) => shop.admin('GET', '/operators', undefined, token),
  'audit.view': (token) => shop.admin('GET', '/audit', undefined, token),
  'installation.view': (token) => shop.admin('GET', '/installation', undefined, token),
  'restore.view': (token) => shop.admin('GET', '/restore', undefined, token),
  'restore.release': async (token) => {
    await shop.rows('insert into restores (restored_at, backup_at) select now(), now()');
    const answer = await shop.admin('POST', '/restore/release', { note: 'Compared with the statement.' }, token);
    await shop.rows('delete from restores');
    return answer;
  },
  'sandbox.use': (token, { mid }) => shop.sandbox('GET', `/callbacks/${mid}`, undefined, token),
};

describe.each(ROLES)('the role %s', (role) => {
  let merchant: Merchant;
  let token: string;
  let id: string;
  beforeAll(async () => {
    merchant = await shop.newMerchant();
    token = await newToken(role, isMerchantRole(role) ? { mids: [merchant.mid] } : {});
    id = (await shop.sale({}, merchant)).body.trans_id;
  });

  test.each(Object.keys(PERMISSIONS) as Permission[])('%s', async (permission) => {
    const answer = await CALLS[permission](token, merchant, id);
    if (isAllowed(role, permission)) expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
    else expect(refusal(answer)).toEqual(FORBIDDEN);
  });
});

describe('a token for one account', () => {
  let own: Merchant;
  let other: Merchant;
  let token: string;
  let ids: { own: string; other: string };
  beforeAll(async () => {
    [own, other] = [await shop.newMerchant(), await shop.newMerchant()];
    token = await newToken('operator', { mids: [own.mid.toUpperCase()] });
    ids = {
      own: (await shop.sale({}, own)).body.trans_id,
      other: (await shop.sale({}, other)).body.trans_id,
    };
  });
  const call = (method: string, path: string, body?: unknown) => shop.admin(method, path, body, token);

  test('sees its account, its payments and its callbacks', async () => {
    expect((await call('GET', '/accounts')).body.items).toMatchObject([{ mid: own.mid }]);
    expect((await call('GET', '/payments')).body.items).toMatchObject([{ payment_id: ids.own }]);
    expect((await call('GET', `/payments?mid=${own.mid}`)).body.items).toHaveLength(1);
    expect((await call('GET', '/callbacks')).body.items).toMatchObject([{ payment_id: ids.own }]);
    expect((await call('GET', `/payments/${ids.own}`)).status).toBe(200);
  });

  test.each<[string, string, unknown?]>([
    ['GET', '/accounts/{mid}'],
    ['PATCH', '/accounts/{mid}', { name: 'Mine' }],
    ['POST', '/accounts/{mid}/rotate-password'],
    ['GET', '/payments/{id}'],
    ['POST', '/payments/{id}/refund'],
    ['POST', '/payments/{id}/attended'],
    ['POST', '/payments/{id}/attention', { resolve: 'dismiss' }],
    ['PATCH', '/chargebacks/{id}', { state: 'closed' }],
    ['GET', '/chargebacks/{id}/evidence'],
    ['DELETE', '/chargebacks/{id}/evidence/{id}'],
    ['DELETE', '/schedules/{id}?mid={mid}'],
    ['GET', '/callbacks/{id}-2'],
    ['POST', '/callbacks/{id}-2/resend'],
    ['POST', '/callbacks/resend', { mid: '{mid}' }],
    ['POST', '/callbacks/resend', { payment_id: '{id}' }],
    ['GET', '/clock?mid={mid}'],
    ['POST', '/clock', { mid: '{mid}', advance_seconds: 1 }],
  ])('%s %s of another account answers as for an id that does not exist', async (method, path, body) => {
    const fill = (mid: string, id: string) =>
      JSON.parse(JSON.stringify({ path, body }).replaceAll('{mid}', mid).replaceAll('{id}', id));
    const foreign = fill(other.mid, ids.other);
    const random = fill(RANDOM_ID, RANDOM_ID);
    const answer = await call(method, foreign.path, foreign.body);
    const unknown = await call(method, random.path, random.body);
    expect(answer.status).toBe(404);
    expect([answer.status, answer.body]).toEqual([unknown.status, unknown.body]);
  });

  test.each<[string, string, unknown?]>([
    ['GET', `/payments?mid={mid}`],
    ['GET', `/callbacks?mid={mid}`],
    ['GET', `/callbacks?payment_id={id}`],
    ['GET', `/schedules?mid={mid}`],
    ['GET', `/chargebacks?mid={mid}`],
  ])('%s %s of another account is empty', async (method, path) => {
    const answer = await call(method, path.replace('{mid}', other.mid).replace('{id}', ids.other));
    expect([answer.status, answer.body.items]).toEqual([200, []]);
  });

  test.each<[string, string, unknown?]>([
    ['POST', '/accounts', { name: 'Another' }],
    ['POST', '/clock', { advance_seconds: 1 }],
    ['GET', '/notifications'],
  ])('%s %s concerns the whole installation, and is refused', async (method, path, body) => {
    expect(refusal(await call(method, path, body))).toEqual(FORBIDDEN);
  });

  test('the sandbox API drives its own payments only', async () => {
    const chargeback = { chargeback: true };
    expect((await shop.sandbox('POST', `/payments/${ids.other}`, chargeback, token)).status).toBe(404);
    expect((await shop.sandbox('GET', `/callbacks/${other.mid}`, undefined, token)).status).toBe(404);
    expect(refusal(await shop.sandbox('GET', '/ledger', undefined, token))).toEqual(FORBIDDEN);
    expect(refusal(await shop.sandbox('POST', '/faults', { mode: 'error_500' }, token))).toEqual(FORBIDDEN);
  });
});

describe('the audit log', () => {
  test('names who changed what, from where, newest first', async () => {
    const token = await newToken('operator', {});
    const { mid } = await shop.newMerchant();
    await shop.admin('PATCH', `/accounts/${mid}`, { refunds_allowed: false }, token);
    const { body } = await shop.admin('GET', '/audit?limit=1');
    expect(body.items).toEqual([
      {
        seq: expect.any(Number),
        at: expect.stringMatching(DATE),
        actor: { kind: 'token', id: expect.stringMatching(UUID_7), name: 'a operator' },
        address: '127.0.0.1',
        action: 'accounts.change',
        mid,
        subject: null,
        before: { refunds_allowed: null },
        after: { refunds_allowed: false },
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    const next = await shop.admin('GET', `/audit?limit=1&cursor=${body.next_cursor}`);
    expect(next.body.items).toMatchObject([
      { action: 'accounts.create', mid, actor: { name: 'TURNPIKE_ADMIN_TOKEN' } },
    ]);
  });

  test('filters by actor, action and time', async () => {
    const actions = async (query: string) =>
      (await shop.admin('GET', `/audit?${query}`)).body.items.map((one: { action: string }) => one.action);
    await shop.newMerchant();
    expect(new Set(await actions('action=accounts.create'))).toEqual(new Set(['accounts.create']));
    expect(new Set(await actions('actor=a%20operator'))).not.toContain('tokens.create');
    expect(await actions('from=2999-01-01')).toEqual([]);
    expect(await actions('to=2020-01-01')).toEqual([]);
    expect((await shop.admin('GET', '/audit?cursor=x')).status).toBe(400);
  });

  test('has the actions on payments, and the history of the payment names the operator', async () => {
    const token = await newToken('operator', {});
    const { trans_id: id } = (await shop.sale()).body;
    expect((await shop.admin('POST', `/payments/${id}/refund`, { amount: '1.00' }, token)).status).toBe(200);
    expect((await shop.admin('GET', '/audit?action=payments.refund&limit=1')).body.items).toMatchObject([
      { subject: id, mid: shop.merchant.mid, actor: { name: 'a operator' }, after: { amount: '1.00' } },
    ]);
    const { history } = await shop.inspect(id);
    expect(
      history.map((row: { actor: string; actor_name: string | null }) => [row.actor, row.actor_name]),
    ).toContainEqual(['operator', 'a operator']);
    expect(history[0]).toMatchObject({ actor: 'merchant', actor_name: null });
  });

  test('contains no secret', async () => {
    const { mid } = await shop.newMerchant();
    const rotated = await shop.admin('POST', `/accounts/${mid}/rotate-password`);
    const token = await newToken('viewer', {});
    const text = JSON.stringify(await shop.rows('select * from audit_log'));
    for (const secret of [rotated.body.password, token, ADMIN_TOKEN]) expect(text).not.toContain(secret);
    expect((await shop.admin('GET', '/audit?limit=2')).body.items).toMatchObject([
      { action: 'tokens.create' },
      { action: 'accounts.rotate_secret', mid, subject: 'password' },
    ]);
  });

  test('concurrent changes form one chain', async () => {
    await Promise.all(Array.from({ length: 20 }, () => shop.newMerchant()));
    const rows = await shop.rows('select seq::int from audit_log order by seq');
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
    expect((await verifyAt(shop.connection)).violations).toEqual([]);
  });

  test.each([
    ['changed', `update audit_log set actor_name = 'somebody else' where seq = 3`, 3],
    ['removed', 'delete from audit_log where seq = 4', 5],
    ['removed at the end', 'delete from audit_log where seq = (select max(seq) from audit_log)', undefined],
  ])('an entry that was %s is found by verify', async (_, sql, seq) => {
    const rows = await shop.rows('select * from audit_log');
    const head = (await shop.rows('select seq::int from audit_head'))[0]?.seq;
    await shop.rows(`create table kept_audit as table audit_log`);
    try {
      await shop.rows(sql);
      expect((await verifyAt(shop.connection)).violations).toEqual([
        `The audit log was changed: entry ${seq ?? head} does not fit its digest.`,
      ]);
    } finally {
      await shop.rows('truncate audit_log; insert into audit_log table kept_audit; drop table kept_audit');
    }
    expect(await shop.rows('select * from audit_log')).toHaveLength(rows.length);
  });
});
