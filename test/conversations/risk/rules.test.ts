/** Risk rules: what they block, allow and record, when they bind, and who may see and change them. */
import { describe, expect, test } from 'vitest';
import { findAccount } from '../../../src/core/accounts/accounts.ts';
import type { Account } from '../../../src/core/context.ts';
import { type Order, openPayment } from '../../../src/core/payments/open.ts';
import { type Merchant, newOrderId, openShop } from '../../support/gateway.ts';

const shop = openShop();
const BLOCKED = "Refused by the merchant's rules.";

const amountAbove = (value: string) => ({ field: 'amount', op: '>', value, currency: 'USD' });

async function newRule(merchant: Merchant | null, rule: Record<string, unknown>) {
  const body = { mid: merchant?.mid ?? null, name: 'A rule', state: 'on', action: { kind: 'block' }, ...rule };
  return shop.admin('POST', '/risk/rules', body);
}

const order = (): Order => ({
  protocol: 's2s',
  brand: 'vcard',
  orderId: newOrderId(),
  amountText: '10.00',
  currency: 'USD',
  isAuthorisation: false,
  isRecurringInit: false,
  details: { description: 'A book', identifier: 'success@example.com', payer: {} },
  content: newOrderId(),
});

const pay = (merchant: Merchant, fields: Record<string, string> = {}) =>
  shop.sale({ order_currency: 'USD', order_amount: '10.00', ...fields }, merchant);

describe('a rule that blocks', () => {
  test('declines the payment with its reason, without a provider, and is recorded', async () => {
    const merchant = await shop.newMerchant();
    const { status, body: rule } = await newRule(merchant, { condition: amountAbove('50.00') });
    expect(status).toBe(201);
    expect(rule).toMatchObject({ mid: merchant.mid, version: 1, state: 'on', priority: 100 });
    expect((await pay(merchant)).body.status).toBe('SETTLED');
    const { status: http, body } = await pay(merchant, { order_amount: '50.01' });
    expect(http).toBe(200);
    expect(body).toMatchObject({ result: 'DECLINED', status: 'DECLINED', decline_reason: BLOCKED });
    expect(JSON.stringify(body)).not.toContain('A rule');
    const payment = await shop.inspect(body.trans_id);
    expect(payment.provider_calls).toEqual([]);
    expect(payment.risk).toMatchObject({
      decision: 'block',
      score: 0,
      rules: [{ rule_id: rule.rule_id, version: 1, name: 'A rule', action: { kind: 'block' } }],
      shadow: [],
      three_ds: { requested: null, reason: null },
      input: { amount: '5001', currency: 'USD', brand: 'vcard', protocol: 's2s' },
    });
  });

  test('binds from its 201 on, in every process', async () => {
    const merchant = await shop.newMerchant();
    const other = await shop.anotherGateway();
    const account = (await findAccount(other, merchant.mid)) as Account;
    // Announcements of changes do not arrive: only the statement that opens a payment tells the other process.
    other.ruleBook.forget = () => undefined;
    const payElsewhere = async (): Promise<string> => (await openPayment(other, account, order())).state;
    expect(await payElsewhere()).toBe('SETTLED');
    for (let round = 0; round < 10; round++) {
      const { body: rule } = await newRule(merchant, { condition: amountAbove('1.00'), confirm: true });
      expect(await payElsewhere()).toBe('DECLINED');
      expect((await shop.admin('PATCH', `/risk/rules/${rule.rule_id}`, { state: 'off' })).status).toBe(200);
      expect(await payElsewhere()).toBe('SETTLED');
    }
  });

  test('changes by a new version, and earlier decisions keep theirs', async () => {
    const merchant = await shop.newMerchant();
    const { body: rule } = await newRule(merchant, { condition: amountAbove('5.00') });
    const { body: first } = await pay(merchant);
    const changed = await shop.admin('PATCH', `/risk/rules/${rule.rule_id}`, { name: 'Renamed', state: 'shadow' });
    expect(changed.body).toMatchObject({ version: 2, name: 'Renamed', state: 'shadow' });
    const { body: second } = await pay(merchant);
    expect(second.status).toBe('SETTLED');
    expect((await shop.inspect(first.trans_id)).risk.rules).toMatchObject([{ version: 1, name: 'A rule' }]);
    expect((await shop.inspect(second.trans_id)).risk).toMatchObject({
      decision: 'none',
      rules: [],
      shadow: [{ version: 2, name: 'Renamed', state: 'shadow' }],
    });
    const { body: audit } = await shop.admin('GET', '/audit');
    expect(JSON.stringify(audit.items)).toContain('risk.change_rule');
  });

  test('that is off does nothing, and costs nothing', async () => {
    const merchant = await shop.newMerchant();
    await newRule(merchant, { condition: amountAbove('1.00'), state: 'off' });
    const { body } = await pay(merchant);
    expect(body.status).toBe('SETTLED');
    expect((await shop.inspect(body.trans_id)).risk).toBeNull();
  });
});

describe('the order of actions', () => {
  const always = { field: 'currency', op: '=', value: 'USD' };
  test('the installation blocks in spite of an allow; an allow ends blocks of the account', async () => {
    const merchant = await shop.newMerchant();
    const only = { all: [always, { field: 'email', op: '=', value: `${merchant.mid}@example.com` }] };
    await newRule(merchant, { condition: always });
    await newRule(merchant, { condition: always, action: { kind: 'allow' } });
    const { body: allowed } = await pay(merchant);
    expect((await shop.inspect(allowed.trans_id)).risk.decision).toBe('allow');
    expect(allowed.status).toBe('SETTLED');
    const { body: rule } = await newRule(null, { name: 'Secret', condition: only });
    const { body: blocked } = await pay(merchant, { payer_email: `${merchant.mid}@EXAMPLE.com` });
    expect(blocked.decline_reason).toBe(BLOCKED);
    await shop.admin('DELETE', `/risk/rules/${rule.rule_id}`);
    const { body: token } = await shop.admin('POST', '/tokens', { name: 'm', role: 'merchant', mids: [merchant.mid] });
    const { body: seen } = await shop.admin('GET', `/payments/${blocked.trans_id}`, undefined, token.token);
    expect(seen.risk.rules.map(({ name }: { name: string | null }) => name)).toContain(null);
    expect(JSON.stringify(seen.risk)).not.toContain('Secret');
  });

  test('scores add up, and block at or above the threshold of the account', async () => {
    const merchant = await shop.newMerchant({ 'risk.block_score': 100 });
    await newRule(merchant, { condition: always, action: { kind: 'score', points: 60 } });
    const { body: below } = await pay(merchant);
    expect(below.status).toBe('SETTLED');
    expect((await shop.inspect(below.trans_id)).risk.score).toBe(60);
    await newRule(merchant, { condition: always, action: { kind: 'score', points: 40 } });
    expect((await pay(merchant)).body.decline_reason).toBe(BLOCKED);
  });
});

test('`try` explains without doing anything', async () => {
  const merchant = await shop.newMerchant();
  const { body: rule } = await newRule(merchant, { condition: amountAbove('50.00') });
  const payment = { amount: '60.00', currency: 'USD', email: 'Jo@Example.com' };
  const { body } = await shop.admin('POST', '/risk/try', { mid: merchant.mid, payment });
  expect(body).toMatchObject({
    decision: 'block',
    score: 0,
    rules: [{ rule_id: rule.rule_id, name: 'A rule', state: 'on', action: { kind: 'block' } }],
  });
  const wrong = await shop.admin('POST', '/risk/try', { mid: merchant.mid, payment: { colour: 'red' } });
  expect(wrong.status).toBe(400);
  expect(wrong.body.errors[0].error_message).toContain('payment.colour');
});

test.each([
  [{ field: 'colour', op: '=', value: 'red' }, 'condition.field'],
  [{ all: [] }, 'condition.all'],
  [{ all: [{ field: 'amount', op: '>', value: '1.00' }] }, 'condition.all[0].currency'],
  [{ not: { field: 'hour', op: '=', value: 24 } }, 'condition.not.value'],
  [{ any: [{ field: 'email', op: '<', value: 'a@b.example' }] }, 'condition.any[0].op'],
  [{ field: 'email', op: 'in_list', value: 'x' }, 'condition.value'],
  [{ field: 'brand', op: '=', value: 'vcard', unknown: 'maybe' }, 'condition.unknown'],
  [
    { velocity: { measure: 'count', by: ['card', 'hour'], within: '10m' }, op: '>', value: 3 },
    'condition.velocity.by[1]',
  ],
  [{ velocity: { measure: 'count', by: ['card'], within: '91d' }, op: '>', value: 3 }, 'condition.velocity.within'],
  [{ velocity: { measure: 'distinct', by: ['ip'], within: '1d' }, op: '>', value: 3 }, 'condition.velocity.of'],
  [{ velocity: { measure: 'amount', by: ['ip'], within: '1d' }, op: '>', value: '3.00' }, 'condition.currency'],
])('a condition that is not valid is refused with its node: %j', async (condition, field) => {
  const merchant = await shop.newMerchant();
  const { status, body } = await newRule(merchant, { condition });
  expect(status).toBe(400);
  expect(body.errors[0].error_message).toMatch(new RegExp(`^${field.replace(/[[\].]/g, '\\$&')}:`));
});

describe('a rule that would stop most payments', () => {
  test('is switched on only with a confirmation', async () => {
    const merchant = await shop.newMerchant();
    for (let count = 0; count < 12; count++) await pay(merchant);
    const condition = amountAbove('5.00');
    const { status, body } = await newRule(merchant, { condition });
    expect(status).toBe(400);
    expect(body.errors[0].error_message).toBe('confirm: This rule would have stopped 12 of the last 12 payments.');
    expect((await newRule(merchant, { condition, state: 'shadow' })).status).toBe(201);
    expect((await newRule(merchant, { condition, confirm: true })).status).toBe(201);
  });

  test('is renamed without a confirmation, and does something else only with one', async () => {
    const merchant = await shop.newMerchant();
    for (let count = 0; count < 12; count++) await pay(merchant);
    const condition = amountAbove('1.00');
    const { body: rule } = await newRule(merchant, { condition, confirm: true });
    const change = async (sent: object) =>
      (await shop.admin('PATCH', `/risk/rules/${rule.rule_id}`, sent)).body.errors?.[0]?.param;
    expect(await change({ name: 'Renamed' })).toBeUndefined();
    expect(await change({ name: 'Once more', priority: 7, condition, state: 'on' })).toBeUndefined();
    expect(await change({ condition: amountAbove('2.00') })).toBe('confirm');
    expect(await change({ action: { kind: 'review', hours: 24, then: 'refuse' } })).toBe('confirm');
    expect(await change({ state: 'shadow' })).toBeUndefined();
    expect(await change({ state: 'on' })).toBe('confirm');
  });

  test('is changed to that only with a confirmation', async () => {
    const merchant = await shop.newMerchant();
    for (let count = 0; count < 12; count++) await pay(merchant);
    const { body: rule } = await newRule(merchant, { condition: amountAbove('500.00') });
    const change = (body: object) => shop.admin('PATCH', `/risk/rules/${rule.rule_id}`, body);
    const condition = amountAbove('5.00');
    const { status, body } = await change({ condition });
    expect([status, body.errors?.[0]?.param]).toEqual([400, 'confirm']);
    expect((await change({ condition, confirm: true })).body).toMatchObject({ condition, version: 2 });
  });

  test('by points that reach the threshold of the account needs it too', async () => {
    const merchant = await shop.newMerchant({ risk: { block_score: 50 } });
    for (let count = 0; count < 12; count++) await pay(merchant);
    const points = (points: number) => ({ condition: amountAbove('5.00'), action: { kind: 'score', points } });
    expect((await newRule(merchant, points(49))).status).toBe(201);
    const { status, body } = await newRule(merchant, points(50));
    expect([status, body.errors?.[0]?.param]).toEqual([400, 'confirm']);
  });
});

describe('accounts do not see each other', () => {
  test('a merchant switches a rule off that uses a list of the installation', async () => {
    const merchant = await shop.newMerchant();
    const list = { mid: null, name: 'Everywhere', kind: 'email' };
    const { list_id } = (await shop.admin('POST', '/risk/lists', list)).body;
    const condition = { field: 'email', op: 'in_list', value: list_id.toUpperCase() };
    const { body: rule } = await newRule(merchant, { condition });
    const { body: token } = await shop.admin('POST', '/tokens', { name: 'm', role: 'merchant', mids: [merchant.mid] });
    const change = (body: unknown) => shop.admin('PATCH', `/risk/rules/${rule.rule_id}`, body, token.token);
    expect(await change({ state: 'off' })).toMatchObject({ status: 200, body: { state: 'off' } });
    expect((await change({ condition })).status).toBe(400);
    // However its id is written, a list in use stays.
    expect((await shop.admin('DELETE', `/risk/lists/${list_id}`)).status).toBe(400);
    await shop.admin('DELETE', `/risk/rules/${rule.rule_id}`);
    expect((await shop.admin('DELETE', `/risk/lists/${list_id}`)).status).toBe(200);
  });

  test('a merchant manages own rules only', async () => {
    const [one, other] = [await shop.newMerchant(), await shop.newMerchant()];
    const { body: token } = await shop.admin('POST', '/tokens', { name: 'm', role: 'merchant', mids: [one.mid] });
    const { body: rule } = await newRule(other, { condition: amountAbove('1.00'), state: 'off' });
    const as = (method: string, path: string, body?: unknown) => shop.admin(method, path, body, token.token);
    expect((await as('GET', `/risk/rules/${rule.rule_id}`)).status).toBe(404);
    expect((await as('PATCH', `/risk/rules/${rule.rule_id}`, { name: 'x' })).status).toBe(404);
    const mine = { name: 'Mine', condition: amountAbove('1.00'), action: { kind: 'block' }, state: 'off' };
    expect((await as('POST', '/risk/rules', { mid: null, ...mine })).status).toBe(403);
    expect((await as('POST', '/risk/rules', { mid: other.mid, ...mine })).status).toBe(404);
    expect((await as('POST', '/risk/rules', { mid: one.mid, ...mine })).status).toBe(201);
    expect((await as('GET', '/risk/rules')).body.items).toHaveLength(1);
  });
});

describe('the number of rules', () => {
  const many = (mid: string) =>
    shop.rows(`insert into risk_rules (rule_id, mid, version, name, condition, action, state, priority, created_at, changed_at)
      select gen_random_uuid(), ${mid}, 1, 'Many', '{}', '{"kind": "allow"}', 'off', 100, now(), now()
      from generate_series(1, 500)`);

  test('is limited for the installation, whatever accounts have', async () => {
    const { mid } = await shop.newMerchant();
    const rule = { condition: amountAbove('1.00'), state: 'off' };
    await many(`'${mid}'`);
    expect((await newRule(null, rule)).status).toBe(201);
    await many('null');
    // Newer ones of the account.
    await shop.rows(
      `update risk_rules set rule_id = ('ffffffff' || substr(rule_id::text, 9))::uuid where mid = '${mid}'`,
    );
    const { status, body } = await newRule(null, rule);
    expect([status, body.errors[0].error_message]).toEqual([400, 'body: There should be 500 rules or less.']);
    await shop.rows(`delete from risk_rules where name = 'Many'`);
  });
});

test('a repeat of a blocked request gets the same payment', async () => {
  const merchant = await shop.newMerchant();
  await newRule(merchant, { condition: amountAbove('1.00') });
  const order_id = newOrderId();
  const [first, second] = [await pay(merchant, { order_id }), await pay(merchant, { order_id })];
  expect(second.body.trans_id).toBe(first.body.trans_id);
});
