/** Fees and costs in the ledger: price plans of accounts and connections price the events of payments. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { foldProjections, rebuildProjection } from '../../src/core/projections/projections.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { cardForm, checkoutOf, fill } from '../support/checkout.ts';
import { type Answer, type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { operationsOf } from '../support/operations.ts';

const shop = openShop({ simulator: true });

const admin = async (method: string, path: string, body?: unknown): Promise<Answer['body']> => {
  const answer = await shop.admin(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

async function newPlan(version: object, side = 'sell'): Promise<string> {
  const { plan_id } = await admin('POST', '/price-plans', { name: 'Standard', side });
  await admin('POST', `/price-plans/${plan_id}/versions`, version);
  return plan_id;
}

async function pricedMerchant(version: object): Promise<{ merchant: Merchant; planId: string }> {
  const merchant = await shop.newMerchant();
  const planId = await newPlan(version);
  await admin('PUT', `/accounts/${merchant.mid}/price-plan`, { plan_id: planId });
  return { merchant, planId };
}

const sold = async (merchant: Merchant, fields: Fields = {}): Promise<string> =>
  (await shop.sale({ order_amount: '100.00', ...fields }, merchant)).body.trans_id;
const refund = (id: string, amount: string): Promise<Answer> =>
  shop.admin('POST', `/payments/${id}/refund`, { amount });

/** `category amount of each posting`, with debits positive, oldest first. */
const lines = async (id: string): Promise<string[]> =>
  (await shop.inspect(id)).entries.map(
    ({ category, postings }: { category: string; postings: Fields[] }) =>
      `${category}: ${postings
        .map(({ account = '', side, amount }) => `${account.split(':').at(-1)} ${side === 'debit' ? '' : '-'}${amount}`)
        .join(', ')}`,
  );

afterAll(async () => {
  await foldProjections(shop.gateway);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

describe('a sell plan', () => {
  let merchant: Merchant;
  let planId: string;
  beforeAll(async () => {
    ({ merchant, planId } = await pricedMerchant({
      refund_policy: 'proportional',
      tax_percent: '20',
      lines: [
        { event: 'refund', currencies: ['USD'], fixed: '0.10' },
        { event: 'sale', currencies: ['USD'], percent: '2.9', fixed: '0.30' },
        { event: 'authorisation', currencies: ['USD'], fixed: '0.05' },
        { event: 'decline', currencies: ['USD'], fixed: '0.02' },
        { event: 'void', currencies: ['USD'], fixed: '0.03' },
        { event: 'chargeback', currencies: ['USD'], fixed: '15.00' },
      ],
    }));
  });

  test('prices a sale and returns a part of the fee with a refund', async () => {
    const id = await sold(merchant);
    await refund(id, '50.00');
    expect(await lines(id)).toEqual([
      'sale: receivable 100.00, balance -100.00',
      'fee.sale: balance 3.84, fees -3.20, tax -0.64',
      'refund: balance 50.00, receivable -50.00',
      'fee_returned.sale: fees 1.45, tax 0.29, balance -1.74',
      'fee.refund: balance 0.12, fees -0.10, tax -0.02',
    ]);
    const { money, entries } = await shop.inspect(id);
    expect(money).toEqual({
      gross: '100.00',
      refunded: '50.00',
      charged_back: '0.00',
      fees: '2.22',
      costs: '0.00',
      net: '47.78',
    });
    const planOf = (category: string) =>
      entries.find((entry: { category: string }) => entry.category === category).plan;
    expect(planOf('fee.sale')).toEqual({ plan_id: planId, version: 1, line: 1 });
    expect(planOf('fee.refund')).toEqual({ plan_id: planId, version: 1, line: 0 });
    expect(planOf('sale')).toBeNull();
  });

  test('prices an authorisation, its capture, a void and a decline', async () => {
    const captured = await sold(merchant, { auth: 'Y' });
    await shop.admin('POST', `/payments/${captured}/capture`, { amount: '40.00' });
    expect(await lines(captured)).toEqual([
      'fee.authorisation: balance 0.06, fees -0.05, tax -0.01',
      'sale: receivable 40.00, balance -40.00',
      'fee.sale: balance 1.75, fees -1.46, tax -0.29',
    ]);
    const voided = await sold(merchant, { auth: 'Y' });
    await shop.admin('POST', `/payments/${voided}/void`, {});
    expect(await lines(voided)).toEqual([
      'fee.authorisation: balance 0.06, fees -0.05, tax -0.01',
      'fee.void: balance 0.04, fees -0.03, tax -0.01',
    ]);
  });

  test('prices a direct sale that a review authorises first as a sale only', async () => {
    const condition = { field: 'amount', op: '>', value: '500.00', currency: 'USD' };
    const action = { kind: 'review', hours: 24, then: 'refuse' };
    const rule = { mid: merchant.mid, name: 'Large', condition, action, state: 'on', confirm: true };
    const { rule_id } = await admin('POST', '/risk/rules', rule);
    const approved = async (fields: Fields = {}): Promise<string> => {
      const id = await sold(merchant, { order_amount: '1000.00', ...fields });
      await admin('POST', `/risk/reviews/${id}`, { decision: 'approve' });
      return id;
    };
    expect(await lines(await approved())).toEqual([
      'sale: receivable 1000.00, balance -1000.00',
      'fee.sale: balance 35.16, fees -29.30, tax -5.86',
    ]);
    expect(await lines(await approved({ auth: 'Y' }))).toEqual([
      'fee.authorisation: balance 0.06, fees -0.05, tax -0.01',
    ]);
    await admin('DELETE', `/risk/rules/${rule_id}`);
  });

  test('is read the same from the balance, before and after it is folded, and after a rebuild', async () => {
    const before = await admin('GET', `/accounts/${merchant.mid}/balance`);
    expect(before).toMatchObject({ unpriced: false });
    const entries = await admin('GET', `/ledger/entries?mid=${merchant.mid}&limit=100`);
    for (const rebuilds of [false, true]) {
      if (rebuilds) await rebuildProjection(shop.gateway, 'ledger');
      await foldProjections(shop.gateway);
      expect((await admin('GET', `/accounts/${merchant.mid}/balance`)).items).toEqual(before.items);
      expect(await admin('GET', `/ledger/entries?mid=${merchant.mid}&limit=100`)).toEqual(entries);
    }
  });

  test('a new version, and another plan, price later events only', async () => {
    const id = await sold(merchant, { order_amount: '10.00' });
    await admin('POST', `/price-plans/${planId}/versions`, {
      lines: [{ event: 'sale', currencies: ['USD'], fixed: '1.00' }],
    });
    const next = await sold(merchant, { order_amount: '10.00' });
    await admin('PUT', `/accounts/${merchant.mid}/price-plan`, { plan_id: null });
    const free = await sold(merchant, { order_amount: '10.00' });
    expect((await lines(id))[1]).toBe('fee.sale: balance 0.71, fees -0.59, tax -0.12');
    expect((await lines(next))[1]).toBe('fee.sale: balance 1.00, fees -1.00');
    expect(await lines(free)).toHaveLength(1);
    expect(await admin('GET', `/accounts/${merchant.mid}/balance`)).toMatchObject({ unpriced: true });
  });
});

test('a new version prices no earlier event of an account whose clock is ahead', async () => {
  const sale = { event: 'sale', currencies: ['USD'] };
  const { merchant, planId } = await pricedMerchant({ lines: [{ ...sale, fixed: '1.00' }] });
  await shop.advanceClock(3 * 86_400, merchant.mid);
  const earlier = await sold(merchant);
  await foldProjections(shop.gateway);
  const path = `/price-plans/${planId}/versions`;
  await admin('POST', path, { lines: [{ ...sale, fixed: '2.00' }] });
  const today = new Date().toISOString().slice(0, 10);
  const later = await sold(merchant);
  await admin('POST', path, { valid_from: today, lines: [{ ...sale, fixed: '3.00' }] });
  const last = await sold(merchant);
  const fees = await Promise.all([earlier, later, last].map(async (id) => (await shop.inspect(id)).money.fees));
  expect(fees).toEqual(['1.00', '2.00', '3.00']);
});

test('a buy plan of a connection costs the operator, which merchants do not see', async () => {
  const merchant = await shop.newMerchant();
  const { url, key, notificationSecret } = shop.provider as NonNullable<typeof shop.provider>;
  const { connection_id } = await admin('POST', '/connections', {
    connector: 'upstream',
    name: 'Costly',
    credentials: { url, key, notification_secret: notificationSecret },
  });
  await admin('PUT', `/accounts/${merchant.mid}/routes`, [{ connection_id }]);
  const plan = await newPlan({ lines: [{ event: 'sale', percent: '1.5' }] }, 'buy');
  await admin('PUT', `/connections/${connection_id}/price-plan`, { plan_id: plan });
  const id = await operationsOf(shop).sale('pin-a', merchant, { order_amount: '100.00' }, 'SETTLED');
  expect(await lines(id)).toEqual([
    'sale: receivable 100.00, balance -100.00',
    'cost.sale: costs 1.50, receivable -1.50',
  ]);
  expect((await shop.inspect(id)).money).toMatchObject({ costs: '1.50', fees: '0.00', net: '100.00' });
  const { token } = await admin('POST', '/tokens', { name: 'Shop', role: 'merchant', mids: [merchant.mid] });
  const { body } = await shop.admin('GET', `/ledger/entries?mid=${merchant.mid}`, undefined, token);
  expect(body.items.map(({ category }: Fields) => category)).toEqual(['sale']);
  expect((await shop.admin('GET', '/ledger/entries?category=cost', undefined, token)).body.items).toEqual([]);
});

test('the margin is what fees bring more than costs, in groups', async () => {
  const margin = async (query: string): Promise<Answer['body']> => admin('GET', `/ledger/margin?${query}`);
  const { merchant } = await pricedMerchant({ lines: [{ event: 'sale', percent: '3' }] });
  const { url, key, notificationSecret } = shop.provider as NonNullable<typeof shop.provider>;
  const credentials = { url, key, notification_secret: notificationSecret };
  const { connection_id } = await admin('POST', '/connections', { connector: 'upstream', name: 'Costly', credentials });
  await admin('PUT', `/accounts/${merchant.mid}/routes`, [{ connection_id, brands: ['pin-a'] }]);
  const plan = await newPlan({ lines: [{ event: 'sale', percent: '1' }] }, 'buy');
  await admin('PUT', `/connections/${connection_id}/price-plan`, { plan_id: plan });
  await operationsOf(shop).sale('pin-a', merchant, { order_amount: '100.00' }, 'SETTLED');
  await sold(merchant);
  const today = new Date().toISOString().slice(0, 10);
  for (const isFolded of [false, true]) {
    if (isFolded) await foldProjections(shop.gateway);
    const { items } = await margin(`mid=${merchant.mid}`);
    expect(items).toEqual([{ currency: 'USD', fees: '6.00', costs: '1.00', margin: '5.00' }]);
    expect((await margin(`mid=${merchant.mid}&group_by=brand,connection`)).items).toEqual([
      {
        brand: 'pin-a',
        connection: `upstream/${connection_id}`,
        currency: 'USD',
        fees: '3.00',
        costs: '1.00',
        margin: '2.00',
      },
      { brand: 'vcard', connection: 'vcard', currency: 'USD', fees: '3.00', costs: '0.00', margin: '3.00' },
    ]);
    expect((await margin(`mid=${merchant.mid}&group_by=day&from=${today}`)).items).toMatchObject([{ day: today }]);
    expect((await margin(`mid=${merchant.mid}&to=2020-01-01`)).items).toEqual([]);
  }
  for (const query of ['group_by=hour', 'from=2026-13-01', 'from=2026-02-01&to=2026-01-01'])
    expect((await shop.admin('GET', `/ledger/margin?${query}`)).status).toBe(400);
});

describe('3-D Secure', () => {
  test.each([
    ['01/38', 'no authentication', []],
    ['07/38', 'an authentication without a challenge', ['fee.three_ds: balance 0.05, fees -0.05']],
    ['05/38', 'a challenge', ['fee.three_ds: balance 0.05, fees -0.05']],
    ['11/38', 'a refusal by the bank', ['fee.three_ds: balance 0.05, fees -0.05']],
  ])('a card that expires %s has %s', async (card_expiry, _name, expected) => {
    const lines3ds = [{ event: 'three_ds', currencies: ['USD'], fixed: '0.05' }];
    await admin('PUT', `/accounts/${shop.merchant.mid}/price-plan`, { plan_id: await newPlan({ lines: lines3ds }) });
    const session = await checkoutOf(shop).open({ methods: ['card'] });
    await fill(session.url, cardForm({ card_expiry, card_cvv: '737' }));
    expect((await lines(session.id)).filter((entry) => entry.startsWith('fee'))).toEqual(expected);
  });
});
