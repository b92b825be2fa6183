/** Prices in the panel: a plan, a version built from choices, what an event would cost, and the plan of an account. */
import { describe, expect, test } from 'vitest';
import { openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';
import { connect, openProviders, type TestProvider } from '../support/providers.ts';

const shop = openShop();
const providers = openProviders(1);

/** The fields of a form with these lines. */
const fields = (lines: Record<string, string>[], more: Record<string, string> = {}): Record<string, string> => ({
  valid_from: '',
  tax_percent: '20',
  refund_policy: 'proportional',
  ...more,
  ...Object.fromEntries(
    lines.flatMap((line, index) => Object.entries(line).map(([name, value]) => [`line${index}.${name}`, value])),
  ),
});
const SALE = { event: 'sale', currencies: 'EUR', percent: '2,9', fixed: '0.30' };

async function newPlan(side = 'sell', name = 'Standard'): Promise<string> {
  return (await shop.admin('POST', '/price-plans', { name, side })).body.plan_id;
}

describe('a price plan', () => {
  test('is created, and leads to the form of its first version', async () => {
    const owner = await signedIn(shop, 'owner');
    const created = await owner.submit('/admin/prices', { name: 'Standard 2027', side: 'sell' });
    expect(created.location).toMatch(/^\/admin\/prices\/[\w-]+\/new$/);
    expect((await owner.get('/admin/prices')).text).toContain('Standard 2027');
    expect((await owner.get(created.location as string)).text).toContain('name="line0.event"');
    const refused = await owner.submit('/admin/prices', { name: ' ', side: 'sell' });
    expect([refused.status, refused.text.includes('id="name-error"')]).toEqual([400, true]);
  });

  test('gets a version whose numbers are typed with a comma or a point, and shows it in words', async () => {
    const owner = await signedIn(shop, 'owner');
    const path = `/admin/prices/${await newPlan()}`;
    const saved = await owner.submit(
      `${path}/new`,
      fields([{ event: '' }, SALE, { event: 'decline', brands: 'card, vcard', networks: 'visa' }]),
    );
    expect(saved.location).toBe(`${path}?done=1`);
    const { text } = await owner.get(path);
    expect(text).toContain('<strong>2.9 % + 0.30 EUR</strong>');
    expect(text).toContain('Free of charge');
    expect(text).toContain('Valid now');
    expect(text).toContain('Line 1: a sale of');
    const tried = await owner.get(`${path}?event=sale&brand=card&network=visa&currency=EUR&amount=100,00&connector=`);
    expect(tried.text).toContain('Line 1 of version 1');
    expect(tried.text.replaceAll('\u00a0', ' ')).toContain('EUR 3.20');
    const nothing = await owner.get(`${path}?event=void&brand=card&network=&currency=EUR&amount=1.00&connector=`);
    expect(nothing.text).toContain('No line prices this event');
    const wrong = await owner.get(`${path}?event=sale&brand=card&network=&currency=EUR&amount=x&connector=`);
    expect(wrong.text).toContain('id="amount-error"');
    const next = (await owner.get(`${path}/new`)).text;
    expect(next).toMatch(/name="line1.brands"[^>]*value="card, vcard"/);
    expect(next).toContain('value="2.9"');
  });

  test('shows what is wrong with a version at its field, keeps what was typed, and adds lines', async () => {
    const owner = await signedIn(shop, 'owner');
    const planId = await newPlan();
    const path = `/admin/prices/${planId}/new`;
    const refused = await owner.submit(path, fields([SALE, { ...SALE, percent: '101', currencies: 'EUR, USD' }]));
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('id="line1.percent-error"');
    expect(refused.text).toContain('id="line1.currencies-error"');
    expect(refused.text).toContain('value="101"');
    const past = await owner.submit(path, fields([SALE], { valid_from: '2020-01-01' }));
    expect([past.status, past.text.includes('id="valid_from-error"')]).toEqual([400, true]);
    const longer = await owner.submit(path, fields([SALE], { add: '1' }));
    expect([longer.status, longer.text.includes('name="line1.event"')]).toEqual([200, true]);
    expect((await shop.admin('GET', `/price-plans/${planId}`)).body.versions).toEqual([]);
  });
});

describe('the plan of an account', () => {
  test('is assigned on its page, and its merchant sees the plan but no other', async () => {
    const owner = await signedIn(shop, 'owner');
    const { mid } = await shop.newMerchant();
    const [planId, other] = [await newPlan('sell', 'Of this shop'), await newPlan('sell', 'Of another shop')];
    const assigned = await owner.submit(`/admin/accounts/${mid}/price-plan`, { plan_id: planId });
    expect(assigned.location).toBe(`/admin/accounts/${mid}?done=1`);
    const merchant = await signedIn(shop, 'merchant', [mid]);
    const account = (await merchant.get(`/admin/accounts/${mid}`)).text;
    expect(account).toContain('Of this shop');
    expect(account).not.toContain('Of another shop');
    expect(account).not.toContain('name="plan_id"');
    const list = (await merchant.get('/admin/prices')).text;
    expect([list.includes('Of this shop'), list.includes('Of another shop')]).toEqual([true, false]);
    expect((await merchant.get(`/admin/prices/${other}`)).status).toBe(404);
  });

  test('of a connection is what it costs', async () => {
    const owner = await signedIn(shop, 'owner');
    const connectionId = await connect(shop, providers[0] as TestProvider);
    const [buy, sell] = [await newPlan('buy', 'Acquirer'), await newPlan('sell', 'Merchants')];
    const page = (await owner.get(`/admin/connections/${connectionId}`)).text;
    expect([page.includes(buy), page.includes(sell)]).toEqual([true, false]);
    await owner.submit(`/admin/connections/${connectionId}/price-plan`, { plan_id: buy });
    expect((await shop.admin('GET', `/connections/${connectionId}/price-plan`)).body.plan_id).toBe(buy);
    expect((await owner.submit(`/admin/connections/${connectionId}/price-plan`, { plan_id: sell })).status).toBe(400);
  });
});
