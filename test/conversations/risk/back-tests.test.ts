/** Back-tests: of stored and of described rules, with velocities, and who may start and see them. */
import { expect, test } from 'vitest';
import { openShop } from '../../support/gateway.ts';

const shop = openShop();

const DAY = 86_400_000;
const span = () => ({
  from: new Date(Date.now() - DAY).toISOString(),
  to: new Date(Date.now() + DAY).toISOString(),
});
const LARGE = {
  ...{ name: 'Large', action: { kind: 'block' }, state: 'off' },
  condition: { field: 'amount', op: '>', value: '50.00', currency: 'USD' },
};

const start = (body: object, token?: string) => shop.admin('POST', '/risk/back-tests', { ...span(), ...body }, token);

async function finished(id: string) {
  const read = async () => (await shop.admin('GET', `/risk/back-tests/${id}`)).body;
  await expect.poll(async () => (await read()).state, { timeout: 20_000 }).toBe('done');
  return read();
}

test('of a stored rule, in its account only; a rule with a velocity counts as it would have counted', async () => {
  const [merchant, other] = [await shop.newMerchant(), await shop.newMerchant()];
  for (const order_amount of ['60.00', '10.00']) await shop.sale({ order_amount }, merchant);
  for (let count = 0; count < 3; count++) await shop.sale({ payer_email: 'jo@example.com' }, merchant);
  await shop.sale({ order_amount: '70.00' }, other);
  const { body: rule } = await shop.admin('POST', '/risk/rules', { ...LARGE, mid: merchant.mid });
  const { status, body } = await start({ rule_id: rule.rule_id });
  expect([status, body.mid]).toEqual([201, merchant.mid]);
  expect(await finished(body.back_test_id)).toMatchObject({ seen: 5, hits: 1, amounts: [{ amount: '60.00' }] });
  const velocity = { measure: 'count', by: ['email'], within: '1h' };
  const often = { name: 'Often', action: { kind: 'block' }, condition: { velocity, op: '>=', value: 2 } };
  const { body: second } = await start({ rule: often, mid: merchant.mid });
  expect(await finished(second.back_test_id)).toMatchObject({ seen: 5, hits: 1, settled: 1 });
});

test.each([
  ['neither', {}, 'rule_id'],
  ['both', { rule_id: crypto.randomUUID(), rule: LARGE }, 'rule_id'],
  ['a rule that is not an object', { rule: 'Large' }, 'rule'],
  ['a wrong node', { rule: { ...LARGE, condition: { not: { field: 'colour' } } } }, 'condition.not.field'],
  ['a time that is none', { rule: LARGE, from: 'yesterday' }, 'from'],
  ['an end before the start', { rule: LARGE, to: new Date(0).toISOString() }, 'to'],
  ['a member that does not exist', { rule: LARGE, speed: 'fast' }, 'speed'],
])('%s is refused', async (_, body, param) => {
  const { status, body: answer } = await start(body);
  expect([status, answer.errors?.[0]?.param]).toEqual([400, param]);
});

test('a merchant tests own rules on own payments', async () => {
  const [own, other] = [await shop.newMerchant(), await shop.newMerchant()];
  const { body: token } = await shop.admin('POST', '/tokens', { name: 'm', role: 'merchant', mids: [own.mid] });
  const { body: foreign } = await shop.admin('POST', '/risk/rules', { ...LARGE, mid: other.mid });
  expect((await start({ rule_id: foreign.rule_id }, token.token)).status).toBe(404);
  expect((await start({ rule: LARGE, mid: other.mid }, token.token)).status).toBe(404);
  expect((await start({ rule: LARGE }, token.token)).status).toBe(403);
  const { body: theirs } = await start({ rule_id: foreign.rule_id });
  const path = `/risk/back-tests/${theirs.back_test_id}`;
  expect((await shop.admin('GET', path, undefined, token.token)).status).toBe(404);
  const { status, body: mine } = await start({ rule: LARGE, mid: own.mid }, token.token);
  expect(status).toBe(201);
  const { body: seen } = await shop.admin('GET', '/risk/back-tests', undefined, token.token);
  expect(seen.items.map(({ back_test_id }: { back_test_id: string }) => back_test_id)).toEqual([mine.back_test_id]);
});

test('a merchant sees no test of a rule of the installation, also if it read the own payments only', async () => {
  const own = await shop.newMerchant();
  const { body: token } = await shop.admin('POST', '/tokens', { name: 'm', role: 'merchant', mids: [own.mid] });
  const { body: rule } = await shop.admin('POST', '/risk/rules', { ...LARGE, name: 'Of all', mid: null });
  const { status, body } = await start({ rule_id: rule.rule_id, mid: own.mid });
  expect([status, body.mid]).toEqual([201, own.mid]);
  const path = `/risk/back-tests/${body.back_test_id}`;
  expect((await shop.admin('GET', path, undefined, token.token)).status).toBe(404);
  expect((await shop.admin('GET', '/risk/back-tests', undefined, token.token)).body.items).toEqual([]);
  expect((await shop.admin('GET', path)).body.rule.name).toBe('Of all');
});

test('a velocity of the installation counts payments of all accounts, and only those of the chosen one are hits', async () => {
  const [own, other] = [await shop.newMerchant(), await shop.newMerchant()];
  const payer_email = `${crypto.randomUUID()}@example.com`;
  for (const merchant of [other, other, own]) await shop.sale({ payer_email }, merchant);
  const velocity = { measure: 'count', by: ['email'], within: '1h' };
  const often = { ...LARGE, condition: { velocity, op: '>=', value: 1 } };
  const { body } = await start({ rule: { ...often, mid: null }, mid: own.mid });
  expect(await finished(body.back_test_id)).toMatchObject({ seen: 1, hits: 1 });
  const { body: ofOwn } = await start({ rule: { ...often, mid: own.mid }, mid: own.mid });
  expect(await finished(ofOwn.back_test_id)).toMatchObject({ seen: 1, hits: 0 });
});

test('an inquiry or a warning is not charged back: only money that the bank has taken counts', async () => {
  const merchant = await shop.newMerchant();
  const { body: rule } = await shop.admin('POST', '/risk/rules', { ...LARGE, mid: merchant.mid, state: 'shadow' });
  for (const stage of ['inquiry', 'warning', 'chargeback']) {
    const { trans_id } = (await shop.sale({ order_amount: '60.00' }, merchant)).body;
    await shop.rows(`insert into chargebacks (mid, payment_id, amount, received_at, respond_by, changed_at, stage)
      values ('${merchant.mid}', '${trans_id}', 6000, now(), now(), now(), '${stage}')`);
  }
  const { body } = await start({ rule_id: rule.rule_id });
  expect(await finished(body.back_test_id)).toMatchObject({ hits: 3, charged_back: 1 });
  const { items } = (await shop.admin('GET', '/risk/shadow')).body;
  expect(items.find(({ rule_id }: { rule_id: string }) => rule_id === rule.rule_id)).toMatchObject({
    ...{ hits: 3, charged_back: 1 },
  });
});
