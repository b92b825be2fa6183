/** Mistakes that gateways make with risk rules, and this one does not. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Connector, NotSent } from '../../../src/connectors/connector.ts';
import { type Merchant, openShop } from '../../support/gateway.ts';
import { signedIn } from '../../support/operators.ts';

const shop = openShop({ simulator: true });
const LARGE = { field: 'amount', op: '>', value: '50.00', currency: 'USD' };

async function newRule(merchant: Merchant, rule: Record<string, unknown>): Promise<string> {
  const body = { mid: merchant.mid, name: 'A rule', state: 'on', action: { kind: 'block' }, confirm: true, ...rule };
  const answer = await shop.admin('POST', '/risk/rules', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.rule_id;
}

const pay = async (merchant: Merchant, fields: Record<string, string> = {}) =>
  (await shop.sale({ payer_email: 'jo@example.com', ...fields }, merchant)).body;

const declined = (within: string, value: number) => ({
  velocity: { measure: 'count', by: ['email'], within, outcome: 'declined' },
  op: '>=',
  value,
});

describe('rules that look active and are off', () => {
  test.each([
    ['on', 'DECLINED', 'On'],
    ['shadow', 'SETTLED', 'Only watching'],
    ['off', 'SETTLED', 'Off'],
  ])('%s: the API and the panel show the state by which payments are decided, after each change', async (...row) => {
    const [state, status, label] = row;
    const merchant = await shop.newMerchant();
    const rule_id = await newRule(merchant, { name: `Is ${state}`, condition: LARGE, state: 'on' });
    const changed = await shop.admin('PATCH', `/risk/rules/${rule_id}`, { state, confirm: true });
    expect([changed.status, changed.body.state]).toEqual([200, state]);
    const { trans_id, status: outcome } = await pay(merchant, { order_amount: '60.00' });
    expect(outcome).toBe(status);
    const owner = await signedIn(shop, 'owner');
    expect((await owner.get('/admin/risk/rules')).text).toMatch(new RegExp(`Is ${state}</a>.*?>${label}</span>`, 's'));
    const { risk } = await shop.inspect(trans_id);
    const idsOf = (rules: { rule_id: string }[]) => rules.map((one) => one.rule_id);
    // Without another rule, nothing is evaluated, and the payment has no decision.
    if (state === 'off') expect(risk).toBeNull();
    else expect(idsOf(state === 'on' ? risk.rules : risk.shadow)).toEqual([rule_id]);
  });

  test('a list that a rule uses is not deleted under it', async () => {
    const merchant = await shop.newMerchant();
    const { body: list } = await shop.admin('POST', '/risk/lists', { mid: merchant.mid, name: 'Bad', kind: 'email' });
    await newRule(merchant, { name: 'Bad buyers', condition: { field: 'email', op: 'in_list', value: list.list_id } });
    const { status, body } = await shop.admin('DELETE', `/risk/lists/${list.list_id}`);
    expect([status, JSON.stringify(body).includes('Bad buyers')]).toEqual([400, true]);
    const items = [{ value: 'jo@example.com' }];
    expect((await shop.admin('POST', `/risk/lists/${list.list_id}/entries`, { items })).status).toBe(201);
    expect((await pay(merchant)).status).toBe('DECLINED');
  });
});

test('own outages do not count as card testing', async () => {
  const merchant = await shop.newMerchant();
  await newRule(merchant, { condition: declined('1h', 1) });
  const upstream = shop.gateway.connectors.upstream as Connector;
  const submit = () => Promise.reject(new NotSent('The provider cannot be reached.'));
  shop.gateway.connectors = { ...shop.gateway.connectors, upstream: { ...upstream, submit } };
  onTestFinished(() => {
    shop.gateway.connectors = { ...shop.gateway.connectors, upstream };
  });
  expect((await pay(merchant, { brand: 'pin-a', 'parameters[pin]': '1234567890123456' })).status).toBe('DECLINED');
  expect((await pay(merchant)).status).toBe('SETTLED');
  // A decline of the payer's bank counts.
  expect((await pay(merchant, { identifier: 'decline@example.com' })).status).toBe('DECLINED');
  expect((await pay(merchant)).decline_reason).toBe("Refused by the merchant's rules.");
});

describe('good buyers are not blocked for ever', () => {
  test('a velocity lets them through when its time is over, however often they tried meanwhile', async () => {
    const merchant = await shop.newMerchant();
    await newRule(merchant, { condition: declined('10m', 1) });
    expect((await pay(merchant, { identifier: 'decline@example.com' })).status).toBe('DECLINED');
    await shop.advanceClock(300, merchant.mid);
    for (let count = 0; count < 3; count++) expect((await pay(merchant)).status).toBe('DECLINED');
    await shop.advanceClock(301, merchant.mid);
    expect((await pay(merchant)).status).toBe('SETTLED');
  });

  test('an entry ends with its expiry or by a person', async () => {
    const merchant = await shop.newMerchant();
    const { body: list } = await shop.admin('POST', '/risk/lists', { mid: merchant.mid, name: 'Bad', kind: 'email' });
    await newRule(merchant, { condition: { field: 'email', op: 'in_list', value: list.list_id } });
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const items = [{ value: 'jo@example.com', expires_at }, { value: 'al@example.com' }];
    const { body } = await shop.admin('POST', `/risk/lists/${list.list_id}/entries`, { items });
    for (const payer_email of ['jo@example.com', 'al@example.com'])
      expect((await pay(merchant, { payer_email })).status).toBe('DECLINED');
    await shop.advanceClock(3601, merchant.mid);
    expect((await pay(merchant)).status).toBe('SETTLED');
    expect((await pay(merchant, { payer_email: 'al@example.com' })).status).toBe('DECLINED');
    const entry = body.items.find(({ value }: { value: string }) => value === 'al@example.com');
    await shop.admin('DELETE', `/risk/lists/${list.list_id}/entries/${entry.entry_id}`);
    expect((await pay(merchant, { payer_email: 'al@example.com' })).status).toBe('SETTLED');
  });
});
