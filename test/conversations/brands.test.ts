/** Every brand over the wire: required fields, fields that the payer is asked for, and refusals. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  BRAND_EXPECTATIONS,
  type BrandExpectation,
  changedBy,
  NOT_A_CHOICE,
  NOT_SET,
  NOT_SINGLE,
  without,
} from '../support/brand-expectations.ts';
import { entryOf } from '../support/entries.ts';
import {
  type Answer,
  DATE,
  type Fields,
  type Merchant,
  newOrderId,
  saleFields,
  startTestGateway,
  type TestGateway,
  UUID_7,
} from '../support/gateway.ts';

let shop: TestGateway;
/** An account with all settings that the brands read. */
let merchant: Merchant;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true });
  const settings = Object.values(BRAND_EXPECTATIONS).map((expected) => expected.settings);
  merchant = await shop.newMerchant(Object.assign({}, ...settings));
});
afterAll(() => shop.close());

const of = (label: string): BrandExpectation => BRAND_EXPECTATIONS[label] as BrandExpectation;
const LABELS = Object.keys(BRAND_EXPECTATIONS);
/** The brands that can be paid without a genuine token of a device; `wallets.test.ts` has the others. */
const PAYABLE = LABELS.filter((label) => of(label).notStored === undefined);
const labelsWith = (part: keyof BrandExpectation): string[] => LABELS.filter((label) => of(label)[part] !== undefined);

/** A signed sale of the brand with these fields, minus one of the default fields. */
function saleOf(label: string, fields: Fields, { absent = '', by = merchant } = {}): Promise<Answer> {
  const { [absent]: _, ...sent } = saleFields(by, { brand: label, ...fields });
  return shop.post(sent);
}

const refusal = (problems: Fields) => ({
  result: 'ERROR',
  error_code: 100000,
  error_message: 'Request data is invalid.',
  errors: Object.entries(problems).map(([field, sentence]) => entryOf(`${field}: ${sentence}`)),
});

function expectRefused({ status, body }: Answer, problems: Fields, words: string): void {
  expect(body, words).toEqual(refusal(problems));
  expect(status, words).toBe(400);
}

function expectSale({ status, body }: Answer, order_id: string, words: string): void {
  expect(body, words).toMatchObject({
    action: 'SALE',
    result: expect.stringMatching(/^(SUCCESS|REDIRECT)$/),
    status: expect.stringMatching(/^(SETTLED|PENDING|REDIRECT)$/),
    order_id,
    trans_id: expect.stringMatching(UUID_7),
    trans_date: expect.stringMatching(DATE),
    descriptor: 'Test Shop',
    amount: '10.00',
    currency: expect.stringMatching(/^[A-Z]{3}$/),
  });
  expect(body, words).not.toHaveProperty('errors');
  expect(status, words).toBe(200);
}

function expectOurPage({ status, body }: Answer, words: string): void {
  expect(body, words).toMatchObject({
    result: 'REDIRECT',
    status: 'REDIRECT',
    redirect_url: expect.any(String),
    redirect_method: 'GET',
    redirect_params: {},
  });
  expect(body.redirect_url, words).toMatch(new RegExp(`^${shop.url}/pay/.`));
  expect(status, words).toBe(200);
}

const isOurPage = ({ body }: Answer): boolean => String(body.redirect_url ?? '').startsWith(`${shop.url}/pay/`);

/** Processes all items with bounded concurrency. */
async function inGroups<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += 16) await Promise.all(items.slice(at, at + 16).map(work));
}

describe('a complete sale', () => {
  test.each(PAYABLE)('%s', async (label) => {
    const order_id = newOrderId();
    const { complete } = of(label);
    const answer = await saleOf(label, { ...complete, order_id });
    expectSale(answer, order_id, label);
    expect(answer.body.currency).toBe(complete.order_currency ?? 'USD');
    expect(isOurPage(answer)).toBe(false);
    const { body } = await shop.status(answer.body.trans_id, merchant);
    expect(body).toMatchObject({ result: 'SUCCESS', order_id, trans_id: answer.body.trans_id });
  });

  test('ips answers with a QR code in each of its currencies', async () => {
    await inGroups(['EUR', 'RSD', 'BAM', 'MKD'], async (order_currency) => {
      const { body } = await saleOf('ips', { order_currency });
      expect(body).toMatchObject({ result: 'SUCCESS', status: 'PENDING', currency: order_currency });
      expect(body.redirect_params.qr_code).toMatch(/^[A-Za-z\d+/]+={0,2}$/);
    });
  });
});

interface Wrong {
  words: string;
  fields: Fields;
  absent?: string;
  problems: Fields;
}

/** Every invalid variant of a sale of the brand. */
function wrongSales(label: string): Wrong[] {
  const { complete, required = {}, asked = [], optional = [], settings = {}, bad = {}, cases = [] } = of(label);
  const sent = Object.entries(required).filter(([field]) => !Object.hasOwn(settings, field));
  const scalars = [...sent.map(([field]) => field), ...asked, ...optional].filter(
    (field) =>
      !field.startsWith('parameters[payee_identifications]') &&
      // They have to fit each other.
      !['order_lines', 'order_shipping', 'order_tax', 'order_discount'].some((name) => field.startsWith(name)) &&
      field !== 'fee_calculation_method',
  );
  return [
    ...sent.map(([field, sentence]) => ({
      words: `without ${field}`,
      fields: without(complete, field),
      absent: field,
      problems: { [field]: sentence },
    })),
    ...sent
      .filter(([field]) => field !== 'parameters[payee_identifications]')
      .map(([field, sentence]) => ({
        words: `empty ${field}`,
        fields: { ...without(complete, field), [field]: '' },
        problems: { [field]: sentence },
      })),
    ...scalars.map((field) => ({
      words: `a list for ${field}`,
      fields: { ...without(complete, field), [`${field}[0]`]: complete[field] ?? 'x' },
      absent: field,
      problems: { [field]: NOT_SINGLE },
    })),
    ...Object.entries(bad).flatMap(([field, values]) =>
      values.map(([value, sentence]) => ({
        words: `${field} ${value}`,
        fields: { ...complete, [field]: value },
        problems: { [field]: sentence },
      })),
    ),
    ...cases.flatMap(({ words, fields, problems }) =>
      problems ? [{ words, fields: changedBy(of(label), fields), problems }] : [],
    ),
  ];
}

describe('refuses missing and invalid fields by name and leaves the order free', () => {
  test.each(LABELS.filter((label) => wrongSales(label).length > 0))('%s', async (label) => {
    const order_id = newOrderId();
    await inGroups(wrongSales(label), async ({ words, fields, problems, ...more }) => {
      expectRefused(await saleOf(label, { ...fields, order_id }, more), problems, words);
    });
    const corrected = await saleOf(label, { ...of(label).complete, order_id });
    if (PAYABLE.includes(label)) expectSale(corrected, order_id, 'corrected');
    else expect(corrected.body).toMatchObject({ error_code: 204005 });
  });
});

describe('fields that the payer can fill in', () => {
  const askedHere = (label: string): string[] =>
    (of(label).asked ?? []).filter((field) => !of(label).unneeded?.includes(field));

  test.each(LABELS.filter((label) => askedHere(label).length > 0))(
    '%s: sends the payer to the payment page when they are missing',
    async (label) => {
      const { complete, subMethods } = of(label);
      const asked = askedHere(label);
      const groups = subMethods ? [asked] : [...asked.map((field) => [field]), asked];
      await inGroups(groups, async (fields) => {
        const words = `without ${fields.join()}`;
        const order_id = newOrderId();
        const answer = await saleOf(label, { ...without(complete, ...fields), order_id });
        expectSale(answer, order_id, words);
        expectOurPage(answer, words);
      });
    },
  );

  test.each(Object.entries(of('hosted-a').subMethods ?? {}))(
    'hosted-a asks for nothing when all fields of %s are sent, but offers no payment method without the quantity',
    async (method, fields) => {
      const { complete } = of('hosted-a');
      const sent = Object.fromEntries(fields.map((field) => [field, complete[field] as string]));
      const answer = await saleOf('hosted-a', sent);
      expect(answer.body).toMatchObject({ result: 'REDIRECT', redirect_url: expect.any(String) });
      expect(isOurPage(answer)).toBe(false);
      const { body } = await shop.admin('GET', `/payments/${answer.body.trans_id}`);
      expect(body.details.methods).toContain(method);
      const quantity = 'parameters[product_quantity]';
      expectOurPage(await saleOf('hosted-a', without(sent, quantity)), `without ${quantity}`);
    },
  );

  test.each(labelsWith('cases'))('%s: requirements that depend on other fields', async (label) => {
    const right = (of(label).cases ?? []).filter(({ problems }) => !problems);
    await inGroups(right, async ({ words, fields, asks }) => {
      const order_id = newOrderId();
      const answer = await saleOf(label, { ...changedBy(of(label), fields), order_id });
      expectSale(answer, order_id, words);
      if (asks) expectOurPage(answer, words);
      else expect(isOurPage(answer), words).toBe(false);
    });
  });
});

describe('secret fields', () => {
  test.each(labelsWith('secret'))('%s: are neither shown nor logged', async (label) => {
    const { complete, secret = [] } = of(label);
    const hidden = Object.entries(complete)
      .filter(([name]) => secret.some((it) => name.startsWith(`parameters[${it}]`)) && !name.endsWith('[type]'))
      .map(([, value]) => value);
    expect(hidden.length).toBeGreaterThan(0);
    const { body } = await saleOf(label, complete);
    const { body: payment } = await shop.admin('GET', `/payments/${body.trans_id}`);
    expect(payment.details).toMatchObject({ description: expect.any(String) });
    const rows = await shop.rows(`select * from payments where payment_id = '${body.trans_id}'`);
    expect(rows).toHaveLength(1);
    const history = await shop.rows(`select * from history where payment_id = '${body.trans_id}'`);
    for (const value of hidden) {
      const isIn = (text: string): boolean => text.includes(value) || text.includes(JSON.stringify(value).slice(1, -1));
      expect([body, payment, rows, history].map((it) => isIn(JSON.stringify(it)))).toEqual([
        false,
        false,
        false,
        false,
      ]);
      expect(shop.logs.filter(isIn)).toEqual([]);
    }
  });
});

describe('payout-a', () => {
  test('requires the account_uuid of the account; once it is set, the same order is paid', async () => {
    const { complete, settings } = of('payout-a');
    const other = await shop.newMerchant();
    const order_id = newOrderId();
    const pay = (fields: Fields) => saleOf('payout-a', { ...complete, ...fields, order_id }, { by: other });
    expectRefused(await pay({}), { account_uuid: NOT_SET }, 'not set');
    expectRefused(await pay({ ...settings }), { account_uuid: NOT_SET }, 'sent, but not set');
    expect((await shop.admin('PATCH', `/accounts/${other.mid}`, settings)).status).toBe(200);
    expectSale(await pay({}), order_id, 'set');
  });
});

describe('trading-b', () => {
  test('refuses a list under either spelling', async () => {
    const { complete } = of('trading-b');
    const answer = await saleOf('trading-b', { ...complete, 'withdrawalCurrency[0]': 'ETH' });
    expectRefused(answer, { withdrawalCurrency: NOT_SINGLE }, 'a list');
  });
});

describe('mobile-money-a', () => {
  test('accepts a file that is larger than the limit for other requests', async () => {
    const { complete } = of('mobile-money-a');
    const order_id = newOrderId();
    const file = Buffer.alloc(1 << 20, 'a page of an invoice ').toString('base64');
    const answer = await saleOf('mobile-money-a', { ...complete, 'parameters[NarrativeFileBase64]': file, order_id });
    expectSale(answer, order_id, 'a large file');
  });
});

test('ignores fields that the brand does not define, and does not store them', async () => {
  await inGroups(PAYABLE, async (label) => {
    const { body } = await saleOf(label, { ...of(label).complete, 'parameters[nobody_knows]': 'this', unheard: 'of' });
    const { body: payment } = await shop.admin('GET', `/payments/${body.trans_id}`);
    expect(payment.details, label).toMatchObject({ description: expect.any(String) });
    expect(JSON.stringify(payment), label).not.toMatch(/nobody_knows|unheard/);
  });
});

test.each(['bank', 'AGG-A', 'agg-k', 'crypto', 'wallet-c', 'transfer-a ', '__proto__'])(
  '%j is not a brand',
  async (label) => {
    expectRefused(await saleOf(label, {}), { brand: NOT_A_CHOICE }, label);
  },
);
