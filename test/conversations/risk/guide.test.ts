/** The ten rules of the chapter about risk: each matches what it is for, and lets the rest pass. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { cardSalesOf } from '../../support/dialect.ts';
import { ADMIN_TOKEN, type Fields, type Merchant, openShop } from '../../support/gateway.ts';

const shop = openShop({ simulator: true });
const chapter = readFileSync(new URL('../../../docs/operator/risk.md', import.meta.url), 'utf8');

interface Rule {
  name: string;
  condition: unknown;
  action: { kind: string };
}
const [, tenRules = ''] = chapter.split('## Ten rules');
const RULES: Rule[] = [...tenRules.matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => JSON.parse(text));

const EUR = { order_currency: 'EUR' };
const CARDS = ['4111111111111111', '5555555555554444', '4000056655665556', '4242424242424242', '6011111111111117'];
const jo = { payer_email: 'jo@example.com', payer_ip: '203.0.113.7' };

/** What is paid before, what the rule does not match, and what it matches. */
const CASES: Readonly<Record<string, { before?: Fields[]; passes: Fields; matches: Fields }>> = {
  'Many cards per address': {
    before: CARDS.map((card_number) => ({ ...jo, card_number })),
    passes: { payer_ip: '203.0.113.8' },
    matches: jo,
  },
  'Declined again and again': {
    before: Array(3).fill({ card_exp_month: '02' }),
    passes: { card_number: '5555555555554444' },
    matches: {},
  },
  'Many cards per e-mail': {
    before: CARDS.slice(0, 3).map((card_number) => ({ ...jo, card_number })),
    passes: { payer_email: 'eve@example.com' },
    matches: jo,
  },
  'Card of another country': {
    passes: { payer_country: 'DE', card_number: '4111111111111111' },
    matches: { payer_country: 'DE', card_number: '5555555555554444' },
  },
  'High first order': {
    passes: { ...EUR, order_amount: '299.99' },
    matches: { ...EUR, order_amount: '300.00', card_number: CARDS[3] as string },
  },
  'Large prepaid': {
    passes: { ...EUR, order_amount: '250.00', card_number: '4111111111111111' },
    matches: { ...EUR, order_amount: '250.00', card_number: '5555555555554444' },
  },
  'Disposable e-mail': { passes: jo, matches: { payer_email: 'x@Trash.example' } },
  'Spent too much today': {
    before: [{ ...EUR, ...jo, order_amount: '1000.00' }],
    passes: { ...EUR, payer_email: 'eve@example.com' },
    matches: { ...EUR, ...jo },
  },
  'Low amounts': { passes: { ...EUR, order_amount: '20.01' }, matches: { ...EUR, order_amount: '20.00' } },
};

test('there are ten rules', () => {
  expect(RULES.map(({ name }) => name)).toEqual([...Object.keys(CASES), 'Repeated payments']);
});

describe.each(RULES.filter(({ name }) => Object.hasOwn(CASES, name)))('$name', (rule) => {
  let merchant: Merchant;
  const pay = async (fields: Fields) => {
    const { status, body } = await cardSalesOf(shop, () => merchant)(fields);
    expect(status, JSON.stringify(body)).toBe(200);
    const { risk } = await shop.inspect(body.trans_id);
    return risk.rules.length === 1;
  };
  beforeAll(async () => {
    merchant = await shop.newMerchant({ dialect: { card_sales: true } });
    const headers = { 'content-type': 'text/csv', authorization: `Bearer ${ADMIN_TOKEN}` };
    const body =
      'from,to,network,country,funding,issuer\n411111,411111,visa,DE,credit,\n555555,555555,mastercard,US,prepaid,';
    await fetch(`${shop.url}/admin/api/risk/bins`, { method: 'POST', headers, body });
    const { status } = await shop.admin('POST', '/risk/rules', { ...rule, mid: merchant.mid, state: 'on' });
    expect(status).toBe(201);
  });

  test('matches what it is for, and nothing else', async () => {
    const { before = [], passes, matches } = CASES[rule.name] as (typeof CASES)[string];
    for (const fields of before) await pay(fields);
    expect(await pay(passes)).toBe(false);
    expect(await pay(matches)).toBe(true);
  });
});

test('Repeated payments', async () => {
  const merchant = await shop.newMerchant();
  const rule = RULES.find(({ name }) => name === 'Repeated payments');
  await shop.admin('POST', '/risk/rules', { ...rule, mid: merchant.mid, state: 'on' });
  const attempt = (is_recurring: boolean) =>
    shop.admin('POST', '/risk/try', { mid: merchant.mid, payment: { is_recurring } });
  expect((await attempt(true)).body.decision).toBe('allow');
  expect((await attempt(false)).body.decision).toBe('none');
});
