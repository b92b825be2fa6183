/** Risk rules and cards: lists by payment, card ranges, and what rules ask 3-D Secure for. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { receiveNotifications } from '../../../src/core/payments/notifications.ts';
import { BRAND_EXPECTATIONS } from '../../support/brand-expectations.ts';
import { show, submitPage } from '../../support/checkout.ts';
import { cardSalesOf } from '../../support/dialect.ts';
import { type Fields, type Merchant, openShop } from '../../support/gateway.ts';
import { operationsOf } from '../../support/operations.ts';

const shop = openShop({ simulator: true });
const at = operationsOf(shop);
let merchant: Merchant;

async function newRule(rule: Record<string, unknown>): Promise<string> {
  const body = { mid: merchant.mid, name: 'A rule', state: 'on', action: { kind: 'block' }, confirm: true, ...rule };
  const answer = await shop.admin('POST', '/risk/rules', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.rule_id;
}
const upload = (path: string, csv: string) =>
  fetch(`${shop.url}/admin/api${path}`, {
    method: 'POST',
    body: csv,
    headers: { 'content-type': 'text/csv', authorization: `Bearer a-token-that-is-long-enough-for-the-tests` },
  });

beforeAll(async () => {
  merchant = await shop.newMerchant({
    dialect: { card_sales: true },
    risk: { transaction_risk_limit: { USD: '100.00' } },
  });
});
const sell = async (fields: Fields = {}) => (await cardSalesOf(shop, () => merchant)(fields)).body;

test('the card of a payment is listed without typing its number, until the entry expires', async () => {
  const other = await sell({ card_number: '5555555555554444' });
  expect(other.status).toBe('SETTLED');
  const { body: list } = await shop.admin('POST', '/risk/lists', { mid: merchant.mid, name: 'Stolen', kind: 'card' });
  const rule = await newRule({ condition: { field: 'card', op: 'in_list', value: list.list_id } });
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const items = [{ payment_id: other.trans_id, reason: 'Stolen', expires_at }];
  const added = await shop.admin('POST', `/risk/lists/${list.list_id}/entries`, { items });
  expect(added.status).toBe(201);
  expect(JSON.stringify(added.body)).not.toContain('5555555555554444');
  expect((await sell({ card_number: '5555555555554444' })).status).toBe('DECLINED');
  expect((await sell()).status).toBe('SETTLED');
  const removal = await shop.admin('DELETE', `/risk/lists/${list.list_id}`);
  expect(removal.status).toBe(400);
  await shop.advanceClock(3601, merchant.mid);
  expect((await sell({ card_number: '5555555555554444' })).status).toBe('SETTLED');
  await shop.admin('DELETE', `/risk/rules/${rule}`);
  expect((await shop.admin('DELETE', `/risk/lists/${list.list_id}`)).status).toBe(200);
});

test('a missing card range does not silently pass if the rule says so', async () => {
  const condition = { field: 'bin_country', op: '!=', value: 'DE', unknown: 'match' };
  const rule = await newRule({ condition });
  expect((await sell()).status).toBe('DECLINED');
  expect(
    (await upload('/risk/bins', 'from,to,network,country,funding,issuer\n400000,419999,visa,DE,debit,Bank')).status,
  ).toBe(200);
  const { status, trans_id } = await sell({ card_number: '4111111111111111' });
  expect(status).toBe('SETTLED');
  expect((await shop.inspect(trans_id)).risk.input).toMatchObject({
    bin_country: 'DE',
    funding: 'debit',
    network: 'visa',
  });
  expect((await sell({ card_number: '5555555555554444' })).status).toBe('DECLINED');
  await shop.admin('DELETE', `/risk/rules/${rule}`);
  const { body } = await shop.admin('GET', '/risk/bins');
  expect(body.items).toMatchObject([{ from: '400000000000', to: '419999999999', country: 'DE' }]);
  const wrong = await upload('/risk/bins', 'from,to\n400000,3');
  expect(wrong.status).toBe(400);
  expect(JSON.stringify(await wrong.json())).toContain('line 2.to');
});

test('names of issuers and networks: what cannot be stored is refused, and a long one is cut between characters', async () => {
  for (const [column, row] of [
    ['network', '411111,411111,vi\0sa,DE,debit,Bank'],
    ['issuer', '411111,411111,visa,DE,debit,Ba\0nk'],
  ] as const) {
    const wrong = await upload('/risk/bins', `from,to,network,country,funding,issuer\n${row}`);
    expect([wrong.status, JSON.stringify(await wrong.json())]).toEqual([
      400,
      expect.stringContaining(`line 2.${column}`),
    ]);
  }
  const issuer = `${'a'.repeat(99)}😀`;
  expect((await upload('/risk/bins', `from,to,issuer\n411111,411111,${issuer}`)).status).toBe(200);
  expect((await shop.admin('GET', '/risk/bins')).body.items).toMatchObject([{ issuer: 'a'.repeat(99) }]);
});

test('ranges with more digits than rules know of a card match only by what they agree on', async () => {
  const csv = 'from,to,country,funding\n411111110,411111114,DE,debit\n411111115,411111119,FR,debit';
  expect((await upload('/risk/bins', csv)).status).toBe(200);
  const rule = await newRule({ condition: { field: 'bin_country', op: '=', value: 'FR' }, state: 'shadow' });
  const { trans_id } = await sell({ card_number: '4111111111111111' });
  const { input } = (await shop.inspect(trans_id)).risk;
  expect([input.bin_country, input.funding]).toEqual([undefined, 'debit']);
  await shop.admin('DELETE', `/risk/rules/${rule}`);
});

test('a range with more digits than are known of a card does not match', async () => {
  const csv = 'from,to,country\n41111100,41111149,DE\n41111150,41111199,FR\n4200,4299,NL';
  expect((await upload('/risk/bins', csv)).status).toBe(200);
  const rule = await newRule({ condition: { field: 'bin_country', op: 'in', value: ['DE', 'FR', 'NL'] } });
  const decide = async (bin: string) =>
    (await shop.admin('POST', '/risk/try', { mid: merchant.mid, payment: { bin } })).body.decision;
  expect([await decide('411111'), await decide('41111120'), await decide('422222')]).toEqual([
    'none',
    'block',
    'block',
  ]);
  await shop.admin('DELETE', `/risk/rules/${rule}`);
});

test('the country of an IP address is that of the narrowest network', async () => {
  await upload('/risk/ip-countries', 'network,country\n203.0.113.0/24,FR\n203.0.113.128/25,DE');
  const rule = await newRule({ condition: { field: 'ip_country', op: '=', value: 'fr' } });
  expect((await sell({ payer_ip: '203.0.113.7' })).status).toBe('DECLINED');
  expect((await sell({ payer_ip: '203.0.113.200' })).status).toBe('SETTLED');
  await shop.admin('DELETE', `/risk/rules/${rule}`);
});

test('a list of a CSV file, and ranges of addresses in it', async () => {
  const { body: list } = await shop.admin('POST', '/risk/lists', { mid: merchant.mid, name: 'Networks', kind: 'ip' });
  const path = `/risk/lists/${list.list_id}/entries.csv`;
  expect((await upload(path, '\ufeffvalue,reason,expires_at\n198.51.100.0/24,Tests,\n')).status).toBe(201);
  const wrong = await upload(path, 'value\n198.51.100.1\nnowhere');
  expect(wrong.status).toBe(400);
  expect(JSON.stringify(await wrong.json())).toContain('line 3.value');
  const rule = await newRule({ condition: { field: 'ip', op: 'in_list', value: list.list_id } });
  expect((await sell({ payer_ip: '198.51.100.77' })).status).toBe('DECLINED');
  expect((await sell({ payer_ip: '198.51.101.1' })).status).toBe('SETTLED');
  await shop.admin('DELETE', `/risk/rules/${rule}`);
  const { body } = await shop.admin('GET', `/risk/lists/${list.list_id}/entries`);
  expect(body.items).toMatchObject([{ value: '198.51.100.0/24', reason: 'Tests' }]);
});

test('a back-test sees what the rules saw: eight digits of the card, and whether the card was new', async () => {
  const own = await shop.newMerchant({ dialect: { card_sales: true } });
  const watched = { field: 'bin', op: '=', value: '99999999' };
  await newRule({ mid: own.mid, condition: watched, state: 'shadow' });
  const pay = async (card_number: string) => {
    expect((await cardSalesOf(shop, () => own)({ card_number })).body.status).toBe('SETTLED');
  };
  await pay('4111111111111111');
  const from = new Date().toISOString();
  const to = new Date(Date.now() + 86_400_000).toISOString();
  for (const number of ['4111111111111111', '5555555555554444']) await pay(number);
  const hits = async (condition: object) => {
    const rule = { name: 'Tested', condition, action: { kind: 'block' } };
    const { body } = await shop.admin('POST', '/risk/back-tests', { rule, mid: own.mid, from, to });
    const read = async () => (await shop.admin('GET', `/risk/back-tests/${body.back_test_id}`)).body;
    await expect.poll(async () => (await read()).state, { timeout: 20_000 }).toBe('done');
    const result = await read();
    return [result.seen, result.hits];
  };
  expect(await hits({ field: 'bin', op: '=', value: '41111111' })).toEqual([2, 1]);
  expect(await hits({ field: 'is_new_card', op: '=', value: true })).toEqual([2, 1]);
});

describe('3-D Secure', () => {
  const all = { field: 'brand', op: '=', value: 'card' };
  const authentications = async (id: string): Promise<string[]> =>
    (await shop.inspect(id)).provider_calls.map(
      ({ verb, outcome }: { verb: string; outcome: string }) => `${verb} ${outcome}`,
    );

  test('skip_3ds sends no AReq; a bank that wants one gets it in one repetition', async () => {
    const rule = await newRule({ condition: all, action: { kind: 'skip_3ds' } });
    // The bank would have challenged nobody: the card is submitted without an authentication.
    const plain = await sell({ card_exp_month: '07' });
    expect(plain.status).toBe('SETTLED');
    expect((await shop.inspect(plain.trans_id)).risk.three_ds).toEqual({
      requested: 'none',
      reason: 'skip_3ds',
      sent_as: 'exact',
    });
    const challenged = await sell({ card_exp_month: '05' });
    expect([challenged.result, challenged.status]).toEqual(['REDIRECT', '3DS']);
    await submitPage(await submitPage(await submitPage(await show(challenged.redirect_url)), { code: '1234' }));
    await expect
      .poll(async () => (await shop.status(challenged.trans_id, merchant)).body.status, { timeout: 20_000 })
      .toBe('SETTLED');
    expect((await shop.events(challenged.trans_id)).filter((event) => event === 'rerouted')).toHaveLength(1);
    await shop.admin('DELETE', `/risk/rules/${rule}`);
    expect(await authentications(plain.trans_id)).toEqual(['submit settled']);
  });

  test.each(['low_value', 'transaction_risk'])(
    '%s: a bank that wants an authentication all the same gets one repetition',
    async (reason) => {
      const rule = await newRule({ condition: all, action: { kind: 'exempt', reason } });
      onTestFinished(async () => {
        await shop.admin('DELETE', `/risk/rules/${rule}`);
      });
      const softDecline = () => at.fault('decline', { mid: merchant.mid, code: '1A' });
      const card = { card_number: '4000056655665556', card_exp_month: '04' };
      await softDecline();
      const repeated = await sell(card);
      expect(repeated.status).toBe('SETTLED');
      expect((await shop.inspect(repeated.trans_id)).risk.three_ds).toMatchObject({ requested: 'none', reason });
      expect(await shop.events(repeated.trans_id)).toEqual(['opened', 'rerouted', 'settled']);
      // The second answer of the bank is final.
      await softDecline();
      await softDecline();
      const declined = await sell(card);
      expect(declined.status).toBe('DECLINED');
      expect(await shop.events(declined.trans_id)).toEqual(['opened', 'rerouted', 'declined']);
      // Operations of the gateway reach the second submission only.
      const { trans_id: reference } = declined;
      await receiveNotifications(shop.gateway, 'upstream', [
        { eventId: randomUUID(), reference, body: { reference, type: 'payment', status: 'settled' } },
      ]);
      expect(await shop.inspect(reference)).toMatchObject({ status: 'DECLINED', attention: 'late_success' });
      for (const resolve of ['accept', 'refund']) {
        const { body } = await shop.admin('POST', `/payments/${reference}/attention`, { resolve });
        expect(body.errors?.[0].error_message).toMatch(/^resolve: Another submission of this payment has the money/);
      }
    },
  );

  test('require_3ds wins over an exemption; transaction_risk only up to the limit of the account', async () => {
    const exempt = await newRule({ condition: all, action: { kind: 'exempt', reason: 'transaction_risk' } });
    const low = await sell();
    expect((await shop.inspect(low.trans_id)).risk.three_ds).toEqual({
      requested: 'none',
      reason: 'transaction_risk',
      sent_as: 'exact',
    });
    const high = await sell({ order_amount: '100.01' });
    expect((await shop.inspect(high.trans_id)).risk.three_ds).toEqual({ requested: null, reason: null, sent_as: null });
    const require = await newRule({ condition: all, action: { kind: 'require_3ds' } });
    const both = await sell();
    expect((await shop.inspect(both.trans_id)).risk.three_ds).toEqual({
      requested: 'challenge',
      reason: 'require_3ds',
      sent_as: 'exact',
    });
    for (const rule of [exempt, require]) await shop.admin('DELETE', `/risk/rules/${rule}`);
  });
});

test('a request for a payment without a card is recorded as lost', async () => {
  const rule = await newRule({
    condition: { field: 'brand', op: '!=', value: 'card' },
    action: { kind: 'require_3ds' },
  });
  const fields = { brand: 'ips', identifier: '', ...BRAND_EXPECTATIONS.ips?.complete };
  const { trans_id } = (await shop.sale(fields, merchant)).body;
  expect((await shop.inspect(trans_id)).risk.three_ds).toMatchObject({ reason: 'require_3ds', sent_as: 'nothing' });
  await shop.admin('DELETE', `/risk/rules/${rule}`);
});

describe('the exemption of low amounts', () => {
  const lowValue = {
    condition: { field: 'brand', op: '=', value: 'card' },
    action: { kind: 'exempt', reason: 'low_value' },
  };
  const asked = async (fields: Fields): Promise<string | null> =>
    (await shop.inspect((await sell(fields)).trans_id)).risk.three_ds.reason;

  test('is asked for by a card five times, and again after a payment without it', async () => {
    const rule = await newRule(lowValue);
    const card = { card_number: '4242424242424242' };
    const reasons = [];
    for (let count = 0; count < 7; count++) reasons.push(await asked(card));
    expect(reasons).toEqual([...Array(5).fill('low_value'), null, 'low_value']);
    // Another card has its own count.
    expect(await asked({ card_number: '5105105105105100' })).toBe('low_value');
    await shop.admin('DELETE', `/risk/rules/${rule}`);
  });

  test('does not begin anew with a payment whose directory did not answer', async () => {
    const rule = await newRule(lowValue);
    const card = { card_number: '4222222222222220' };
    for (let count = 0; count < 5; count++) expect(await asked(card)).toBe('low_value');
    const { threeDs } = shop.gateway;
    const authenticate = () => Promise.reject(new Error('No answer.'));
    shop.gateway.threeDs = threeDs && { ...threeDs, authenticate };
    const { trans_id, status } = await sell(card);
    shop.gateway.threeDs = threeDs;
    const { provider_calls, risk } = await shop.inspect(trans_id);
    expect([status, risk.three_ds.reason]).toEqual(['SETTLED', null]);
    expect(provider_calls).toMatchObject([{ verb: 'submit', authentication: 'unanswered' }]);
    expect(await asked(card)).toBeNull();
    // The bank was asked this time.
    expect(await asked(card)).toBe('low_value');
    await shop.admin('DELETE', `/risk/rules/${rule}`);
  });

  test('in euros: up to 30.00 at a time and 100.00 together; what was declined does not count', async () => {
    const rule = await newRule(lowValue);
    const pay = (order_amount: string, card_exp_month = '01') =>
      asked({ card_number: '4012888888881881', order_currency: 'EUR', order_amount, card_exp_month });
    expect(await pay('30.01')).toBeNull();
    for (let count = 0; count < 3; count++) expect(await pay('30.00')).toBe('low_value');
    expect(await pay('30.00', '02')).toBeNull();
    expect(await pay('10.00', '02')).toBe('low_value');
    expect(await pay('10.00')).toBe('low_value');
    expect(await pay('0.01')).toBeNull();
    await shop.admin('DELETE', `/risk/rules/${rule}`);
  });

  test('is not asked for in a currency without known amounts, nor above those of dollars', async () => {
    const rule = await newRule(lowValue);
    const pay = (order_currency: string, order_amount: string) =>
      asked({ card_number: '4000056655665556', order_currency, order_amount });
    expect([await pay('CHF', '5.00'), await pay('USD', '30.01')]).toEqual([null, null]);
    expect(await pay('USD', '30.00')).toBe('low_value');
    await shop.admin('DELETE', `/risk/rules/${rule}`);
  });

  test('20 payments of a card at once: exactly five ask for it, and those that a bank challenges count', async () => {
    const rule = await newRule(lowValue);
    const card = { card_number: '378282246310005', card_cvv2: '1234', card_exp_month: '05' };
    const reasons = await Promise.all(Array.from({ length: 20 }, () => asked(card)));
    expect(reasons.filter((reason) => reason === 'low_value')).toHaveLength(5);
    await shop.admin('DELETE', `/risk/rules/${rule}`);
  });
});
