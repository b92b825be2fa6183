/** The three-way reconciliation: the ledger, a provider's statement and its payment at the bank, through the admin API and the panel. */
import { expect, test } from 'vitest';
import { type Answer, openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';
import { uploadStatement } from '../support/statements.ts';

const shop = openShop({ simulator: true });
const today = (): string => new Date().toISOString().slice(0, 10);

const done = async (method: string, path: string, body?: unknown): Promise<Answer['body']> => {
  const answer = await shop.admin(method, path, body);
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
  return answer.body;
};
const rows = async (query = ''): Promise<Answer['body'][]> => (await done('GET', `/ledger/three-way${query}`)).items;
const pay = (amount: string, reference: string) =>
  done('POST', '/provider-payments', {
    ...{ connector: 'vcard', currency: 'USD', amount, reference },
    received_on: today(),
  });

test('a day is expected, then matched, and too much is not assigned', async () => {
  const id = (await shop.sale({ order_amount: '100.00' })).body.trans_id;
  const open = { connector: 'vcard', currency: 'USD', day: today(), ours: '100.00' };
  expect(await rows()).toEqual([
    {
      ...open,
      due_on: expect.any(String),
      statement: null,
      bank: '0.00',
      open: '100.00',
      state: 'expected',
      exception: false,
    },
  ]);
  const statement = `payment_id,amount,currency,date\n${id},100.00,USD,${today()}`;
  for (const _ of ['first', 'again']) await uploadStatement(shop, statement, { connector: 'vcard' });
  expect(await rows()).toMatchObject([{ ...open, statement: '100.00', open: '100.00', state: 'expected' }]);
  await pay('100.00', 'credit-1');
  expect(await rows()).toMatchObject([
    { ...open, statement: '100.00', bank: '100.00', open: '0.00', state: 'matched' },
  ]);
  await pay('5.00', 'credit-2');
  expect(await rows('?state=unassigned')).toMatchObject([{ day: null, bank: '5.00', exception: true }]);
  const csv = (await done('GET', '/ledger/three-way.csv')).trimEnd().split('\r\n');
  expect(csv).toHaveLength(3);
  const page = await (await signedIn(shop, 'accountant')).get('/admin/ledger/three-way');
  expect(page.status).toBe(200);
  for (const shown of ['Matched', 'Paid too much', 'Days that need a look: 1']) expect(page.text).toContain(shown);
});

test('what does not arrive within the days of the provider is overdue, and not before', async () => {
  await shop.sale({ order_amount: '40.00' });
  await done('PUT', '/provider-terms', { connector: 'vcard', days: 2 });
  expect((await done('GET', '/provider-terms')).items).toMatchObject([{ connector: 'vcard', days: 2 }]);
  await shop.advanceClock(2 * 86_400);
  const states = async () => (await rows()).map(({ state }) => state);
  expect(await states()).not.toContain('overdue');
  await shop.advanceClock(86_400);
  // A part of the day was reported and paid; its statement does not have the rest.
  expect(await rows('?state=different')).toMatchObject([
    { day: today(), ours: '140.00', statement: '100.00', state: 'different' },
  ]);
});

test.each([
  [{ connector: 'No!', days: 1 }, /connector/],
  [{ connector: 'vcard', days: 400 }, /days.*from 0 to 365/],
  [{ connector: 'vcard' }, /days/],
  [{ connector: 'vcard', days: 1, day: 1 }, /Did you mean days/],
])('terms %j are refused', async (body, message) => {
  const answer = await shop.admin('PUT', '/provider-terms', body);
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).toMatch(message);
});

test('callers that are restricted to accounts see nothing of it', async () => {
  const merchant = { name: 'Tea', role: 'merchant', mids: [shop.merchant.mid] };
  const { token } = await done('POST', '/tokens', merchant);
  expect((await shop.admin('GET', '/ledger/three-way', undefined, token)).status).toBe(403);
});
