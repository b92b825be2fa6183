/** Fee invoices through the admin API: addresses, tax, consecutive numbers, credit notes, and invoices each month. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { foldProjections } from '../../src/core/projections/projections.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { type Answer, type Merchant, openShop } from '../support/gateway.ts';

const shop = openShop({ simulator: true });
const DAY = 86_400;
const ISSUER = { name: 'Turnpike Ltd', address: ['Gate 1', '10115 Berlin'], tax_number: 'DE1', prefix: 'FEE-' };
const BILLING = { 'billing.name': 'Tea House GmbH', 'billing.address': ['Main St 1', '20095 Hamburg'] };

const done = async (method: string, path: string, body?: unknown, token?: string): Promise<Answer['body']> => {
  const answer = await shop.admin(method, path, body, token);
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
  return answer.body;
};
const refused = async (status: number, message: RegExp, method: string, path: string, body?: unknown) => {
  const answer = await shop.admin(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  expect(JSON.stringify(answer.body)).toMatch(message);
};

/** An account that pays 2 % and tax on it. */
async function priced(settings: object = BILLING, tax = '19'): Promise<Merchant> {
  const merchant = await shop.newMerchant({ name: 'Tea House', ...settings });
  const { plan_id: planId } = await done('POST', '/price-plans', { name: 'Two', side: 'sell' });
  const lines = [{ event: 'sale', percent: '2' }];
  await done('POST', `/price-plans/${planId}/versions`, { tax_percent: tax, refund_policy: 'full', lines });
  await done('PUT', `/accounts/${merchant.mid}/price-plan`, { plan_id: planId });
  return merchant;
}
const sale = async (merchant: Merchant, amount: string): Promise<string> =>
  (await shop.sale({ order_amount: amount }, merchant)).body.trans_id;
async function settle({ mid }: Merchant): Promise<void> {
  const { settlement_id: id } = await done('POST', '/settlements', { mid, currency: 'USD' });
  await done('POST', `/settlements/${id}/approve`);
}
const make = ({ mid }: Merchant, more: object = {}): Promise<Answer['body']> =>
  done('POST', '/fee-invoices', { mid, currency: 'USD', ...more });
const sequenceOf = ({ number }: { number: string }): number => Number(number.replace(/^\D*/, ''));

beforeAll(async () => {
  await refused(400, /Nobody is set who issues/, 'POST', '/fee-invoices', { mid: shop.merchant.mid, currency: 'USD' });
  expect((await done('GET', '/fee-invoice-issuer')).items).toEqual([]);
  expect(await done('PUT', '/fee-invoice-issuer', ISSUER)).toMatchObject(ISSUER);
  expect((await done('GET', '/fee-invoice-issuer')).items).toMatchObject([ISSUER]);
});
afterAll(async () => {
  await foldProjections(shop.gateway);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

describe('an invoice', () => {
  test('has the fees of the settlements since the last one, with tax and both addresses', async () => {
    const merchant = await priced();
    await sale(merchant, '100.00');
    await settle(merchant);
    await sale(merchant, '50.00');
    await settle(merchant);
    const invoice = await make(merchant);
    expect(invoice).toMatchObject({
      number: expect.stringMatching(/^FEE-\d{6}$/),
      kind: 'invoice',
      mid: merchant.mid,
      currency: 'USD',
      from: null,
      lines: [{ category: 'fee.sale', count: 2, tax_percent: '19', net: '3.00', tax: '0.57' }],
      net: '3.00',
      tax: '0.57',
      total: '3.57',
      corrects: null,
      corrected_by: null,
      issuer: { name: ISSUER.name, address: ISSUER.address, tax_number: 'DE1' },
      recipient: { name: 'Tea House GmbH', address: BILLING['billing.address'], tax_number: '' },
    });
    await refused(400, /no fees to invoice/, 'POST', '/fee-invoices', { mid: merchant.mid, currency: 'USD' });
    await sale(merchant, '10.00');
    await settle(merchant);
    expect(await make(merchant)).toMatchObject({ total: '0.24', from: expect.any(String) });
    expect(await done('GET', `/fee-invoices/${invoice.fee_invoice_id}`)).toEqual(invoice);
  });

  test('leaves out drafts, and settlements after a time', async () => {
    const merchant = await priced();
    await sale(merchant, '100.00');
    await done('POST', '/settlements', { mid: merchant.mid, currency: 'USD' });
    await refused(400, /no fees/, 'POST', '/fee-invoices', { mid: merchant.mid, currency: 'USD' });
    const early = priced();
    const other = await early;
    await sale(other, '100.00');
    await settle(other);
    const body = { mid: other.mid, currency: 'USD', until: '2020-01-01' };
    await refused(400, /no fees/, 'POST', '/fee-invoices', body);
    await refused(400, /future/, 'POST', '/fee-invoices', { ...body, until: '2999-01-01' });
    await refused(400, /currency/, 'POST', '/fee-invoices', { ...body, currency: 'XXX' });
  });

  test('of returned fees is a credit note', async () => {
    const merchant = await priced();
    const id = await sale(merchant, '100.00');
    await settle(merchant);
    await make(merchant);
    await done('POST', `/payments/${id}/refund`, { amount: '100.00' });
    await settle(merchant);
    expect(await make(merchant)).toMatchObject({ kind: 'credit_note', total: '-2.38', corrects: null });
  });

  test('needs the address of the account', async () => {
    const merchant = await priced({});
    await refused(400, /billing\.address/, 'POST', '/fee-invoices', { mid: merchant.mid, currency: 'USD' });
  });
});

describe('a correction', () => {
  test('is a credit note, after which the fees can be invoiced again', async () => {
    const merchant = await priced();
    await sale(merchant, '100.00');
    await settle(merchant);
    const invoice = await make(merchant);
    const path = `/fee-invoices/${invoice.fee_invoice_id}`;
    await refused(400, /reason/, 'POST', `${path}/correct`, {});
    const note = await done('POST', `${path}/correct`, { reason: 'Wrong address' });
    expect(note).toMatchObject({
      kind: 'credit_note',
      total: '-2.38',
      corrects: invoice.fee_invoice_id,
      reason: 'Wrong address',
    });
    expect(sequenceOf(note)).toBe(sequenceOf(invoice) + 1);
    expect(await done('GET', path)).toMatchObject({ corrected_by: note.fee_invoice_id, total: '2.38' });
    await refused(400, /corrected before/, 'POST', `${path}/correct`, { reason: 'Again' });
    const again = `/fee-invoices/${note.fee_invoice_id}/correct`;
    await refused(400, /is a correction/, 'POST', again, { reason: 'Again' });
    await done('PATCH', `/accounts/${merchant.mid}`, { 'billing.address': ['Other St 2'] });
    expect(await make(merchant)).toMatchObject({ total: '2.38', recipient: { address: ['Other St 2'] } });
    await refused(404, /not exist/, 'POST', `/fee-invoices/${crypto.randomUUID()}/correct`, { reason: 'x' });
  });
});

test('numbers have no gaps and are given once, whoever makes invoices at the same time', async () => {
  const merchants = await Promise.all(Array.from({ length: 6 }, () => priced()));
  for (const merchant of merchants) {
    await sale(merchant, '10.00');
    await settle(merchant);
  }
  const makes = merchants.flatMap(({ mid }) =>
    [1, 2].map(() => shop.admin('POST', '/fee-invoices', { mid, currency: 'USD' })),
  );
  const made = (await Promise.all(makes)).filter(({ status }) => status === 201).map(({ body }) => body);
  expect(made).toHaveLength(merchants.length);
  const { items } = await done('GET', '/fee-invoices?limit=500');
  const numbers: number[] = items.map(sequenceOf);
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from(numbers, (_, index) => index + 1));
  const csv = (await done('GET', '/fee-invoices.csv')).trimEnd().split('\r\n');
  expect(csv).toHaveLength(items.length + 1);
});

test('with the setting monthly, the fees of a month are invoiced when it is over', async () => {
  const merchant = await priced({ ...BILLING, fee_invoices: 'monthly' });
  await sale(merchant, '100.00');
  await settle(merchant);
  const own = async () => (await done('GET', `/fee-invoices?mid=${merchant.mid}`)).items;
  expect(await own()).toEqual([]);
  for (let day = 0; day < 35; day += 5) await shop.advanceClock(5 * DAY, merchant.mid);
  expect(await own()).toMatchObject([{ kind: 'invoice', total: '2.38', issued_by: 'settlement cycle' }]);
  await shop.advanceClock(35 * DAY, merchant.mid);
  expect(await own()).toHaveLength(1);
});

test('without an address the invoice of a month waits until there is one', async () => {
  const merchant = await priced({ fee_invoices: 'monthly' });
  await sale(merchant, '100.00');
  await settle(merchant);
  await shop.advanceClock(35 * DAY, merchant.mid);
  const own = async () => (await done('GET', `/fee-invoices?mid=${merchant.mid}`)).items;
  expect(await own()).toEqual([]);
  await done('PATCH', `/accounts/${merchant.mid}`, BILLING);
  await shop.advanceClock(2 * DAY, merchant.mid);
  expect(await own()).toHaveLength(1);
});

test.each([
  [{ name: '' }, /name/],
  [{ address: [] }, /address/],
  [{ address: 'Gate 1' }, /address/],
  [{ prefix: 'FEE1' }, /prefix.*no digit/],
  [{ prefix: '' }, /prefix/],
  [{ tax_number: 5 }, /tax_number/],
  [{ taxnumber: 'x' }, /Did you mean tax_number/],
])('an issuer with %j is refused', async (more, message) => {
  await refused(400, message, 'PUT', '/fee-invoice-issuer', { ...ISSUER, ...more });
  expect((await done('GET', '/fee-invoice-issuer')).items).toMatchObject([ISSUER]);
});

test('merchants see their own, without names of those who work for the operator', async () => {
  const [merchant, other] = [await priced(), await priced()];
  for (const one of [merchant, other]) {
    await sale(one, '10.00');
    await settle(one);
    await make(one);
  }
  const { token } = await done('POST', '/tokens', { name: 'Tea', role: 'merchant', mids: [merchant.mid] });
  const { items } = await done('GET', '/fee-invoices', undefined, token);
  expect(items).toMatchObject([{ mid: merchant.mid, issued_by: 'operator' }]);
});
