/** A payment is evaluated again after its challenge, before a provider hears of it. */
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Body, cardForm, checkoutOf, fill, show, submitPage } from '../../support/checkout.ts';
import { type Merchant, openShop, PROVIDER_POLL } from '../../support/gateway.ts';

const shop = openShop({ simulator: true });
let checkout: ReturnType<typeof checkoutOf>;
let merchant: Merchant;

beforeAll(async () => {
  merchant = await shop.newMerchant({ card_failures_per_address: 0, card_failures_per_account: 0 });
  checkout = checkoutOf(shop);
});

async function newRule(rule: Record<string, unknown>): Promise<string> {
  const body = { mid: merchant.mid, name: 'A rule', state: 'on', action: { kind: 'block' }, confirm: true, ...rule };
  const answer = await shop.admin('POST', '/risk/rules', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.rule_id;
}
const drop = (...rules: string[]) => Promise.all(rules.map((rule) => shop.admin('DELETE', `/risk/rules/${rule}`)));

/** A payer whom the card’s bank challenges; `pass` enters the code. */
async function atBank(fields: Body = {}) {
  const session = await checkout.open({ methods: ['card'], ...fields }, merchant);
  expect((await fill(session.url, cardForm({ card_expiry: '05/38' }))).status).toBe(303);
  const { id } = session;
  const pass = async () => {
    await submitPage(await submitPage(await submitPage(await show(session.url)), { code: '1234' }));
    await expect.poll(async () => (await shop.inspect(id)).status, PROVIDER_POLL).not.toBe('3DS');
    return shop.inspect(id);
  };
  return { id, pass };
}

const anyCard = { field: 'brand', op: '=', value: 'card' };
const verbs = ({ provider_calls }: { provider_calls: { verb: string }[] }) => provider_calls.map(({ verb }) => verb);

test('a card that is listed during the challenge is blocked, and no provider hears of it', async () => {
  const { body: list } = await shop.admin('POST', '/risk/lists', { mid: merchant.mid, name: 'Stolen', kind: 'card' });
  const rule = await newRule({ name: 'Stolen', condition: { field: 'card', op: 'in_list', value: list.list_id } });
  const { id, pass } = await atBank();
  expect((await shop.inspect(id)).risk).toMatchObject({ decision: 'none', evaluated_again_at: null });
  const entries = `/risk/lists/${list.list_id}/entries`;
  expect((await shop.admin('POST', entries, { items: [{ payment_id: id }] })).status).toBe(201);
  const payment = await pass();
  expect(payment).toMatchObject({ status: 'DECLINED', decline_reason: "Refused by the merchant's rules." });
  expect(payment.risk).toMatchObject({ decision: 'block', rules: [{ name: 'Stolen' }] });
  expect(payment.risk.evaluated_again_at).not.toBeNull();
  expect(verbs(payment)).not.toContain('submit');
  await drop(rule);
});

test('a review that the second evaluation asks for only authorises', async () => {
  const first = await newRule({ state: 'shadow', condition: anyCard });
  const { pass } = await atBank();
  const review = { kind: 'review', hours: 24, then: 'refuse' };
  const second = await newRule({ condition: anyCard, action: review });
  const payment = await pass();
  expect(payment.status).toBe('PENDING');
  expect(payment.risk).toMatchObject({ decision: 'review', review: { state: 'waiting' } });
  await drop(first, second);
});

test('a rule of another process binds, before its announcement arrives', async () => {
  const { pass } = await atBank();
  const { ruleBook } = shop.gateway;
  const { forget } = ruleBook;
  ruleBook.forget = () => undefined;
  onTestFinished(() => {
    ruleBook.forget = forget;
  });
  const rule = await newRule({ condition: anyCard });
  expect(await pass()).toMatchObject({ status: 'DECLINED', risk: { decision: 'block' } });
  await drop(rule);
});

test('a decision is not loosened: what was sent to a person stays there', async () => {
  const rule = await newRule({ condition: anyCard, action: { kind: 'review', hours: 24, then: 'refuse' } });
  const { pass } = await atBank();
  await drop(rule);
  const other = await newRule({ condition: anyCard, action: { kind: 'allow' } });
  const payment = await pass();
  expect(payment.status).toBe('PENDING');
  expect(payment.risk).toMatchObject({ decision: 'review', review: { state: 'waiting' } });
  await drop(other);
});

test('the payment counts once, and what only the browser showed is not missing the second time', async () => {
  const counted = await newRule({
    condition: { velocity: { measure: 'count', by: ['card'], within: '90d' }, op: '>=', value: 1000 },
  });
  const address = await newRule({
    condition: { all: [anyCard, { field: 'ip', op: '=', value: '192.0.2.1', unknown: 'match' }] },
  });
  const fresh = await newRule({ condition: { field: 'is_new_card', op: '=', value: true }, state: 'shadow' });
  const { id, pass } = await atBank();
  const before = (await shop.inspect(id)).risk;
  const payment = await pass();
  expect(payment.status).toBe('SETTLED');
  expect(payment.risk.input.is_new_card).toBe(before.input.is_new_card);
  expect(await shop.rows(`select from risk_decisions where payment_id = '${id}'`)).toHaveLength(1);
  await drop(counted, address, fresh);
});

test('the address of the payer’s browser is known the second time', async () => {
  await shop.rows(`insert into risk_ip_countries (network, country) values ('127.0.0.0/8', 'FR')`);
  const watching = await newRule({ condition: anyCard, state: 'shadow' });
  for (const [field, value] of [
    ['ip', '127.0.0.0/8'],
    ['ip_country', 'FR'],
  ]) {
    const { pass } = await atBank();
    const rule = await newRule({ name: `By ${field}`, condition: { field, op: '=', value } });
    expect(await pass(), field).toMatchObject({
      status: 'DECLINED',
      risk: { decision: 'block', rules: [{ name: `By ${field}` }] },
    });
    await drop(rule);
  }
  await drop(watching);
});

test('the address is sealed while the payer is at the bank', async () => {
  const rule = await newRule({ condition: { field: 'ip', op: '=', value: '192.0.2.1' } });
  const { id } = await atBank();
  const [row] = await shop.rows(`select next_step from payments where payment_id = '${id}'`);
  expect(row).toMatchObject({ next_step: { kind: 'challenge', sealed: expect.stringMatching(/^[\w+/]{40,}=*$/) } });
  await drop(rule);
});

test('an account without rules is not evaluated at all', async () => {
  const { pass } = await atBank();
  expect((await pass()).risk).toBeNull();
});
