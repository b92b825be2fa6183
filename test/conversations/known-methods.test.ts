/** The methods that payers know by their names, such as iDEAL and Klarna: sales, outcomes, refunds and refusals. */
import { describe, expect, test } from 'vitest';
import { NOT_A_CHOICE } from '../support/brand-expectations.ts';
import { type Body, checkoutOf, choices, fill, inputs, marked, sessionFields, show } from '../support/checkout.ts';
import { type Fields, type Merchant, openShop, PROVIDER_POLL, saleFields } from '../support/gateway.ts';
import { readable } from '../support/pages.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

/** By label: the name on the payment page, the currency, and the country of the payer. */
const AT_PROVIDER: Readonly<Record<string, readonly [name: string, currency: string, country: string]>> = {
  ideal: ['iDEAL', 'EUR', 'NL'],
  bancontact: ['Bancontact', 'EUR', 'BE'],
  eps: ['EPS', 'EUR', 'AT'],
  przelewy24: ['Przelewy24', 'PLN', 'PL'],
  paypal: ['PayPal', 'EUR', 'DE'],
  klarna: ['Klarna', 'EUR', 'DE'],
  twint: ['TWINT', 'CHF', 'CH'],
  swish: ['Swish', 'SEK', 'SE'],
  mobilepay: ['MobilePay', 'DKK', 'DK'],
};
const IN_APP: typeof AT_PROVIDER = {
  blik: ['BLIK', 'PLN', 'PL'],
  mbway: ['MB WAY', 'EUR', 'PT'],
  'sepa-debit': ['SEPA direct debit', 'EUR', 'DE'],
};
const METHODS = Object.entries({ ...AT_PROVIDER, ...IN_APP });
const LINES: Fields = { 'order_lines[0][name]': 'Teapot', 'order_lines[0][amount]': '10.00' };
/** What the simulated provider needs of a payer. */
const NEEDED: Readonly<Record<string, Fields>> = {
  klarna: LINES,
  blik: { 'parameters[code]': '777123' },
  mbway: { payer_phone: '+351 912 345 678' },
  'sepa-debit': {
    'parameters[iban]': 'DE89 3704 0044 0532 0130 00',
    payer_first_name: 'Ana',
    payer_last_name: 'Petrović',
  },
};

async function sell(brand: string, fields: Fields = {}, merchant: Merchant = shop.merchant) {
  const [, order_currency = ''] = AT_PROVIDER[brand] ?? IN_APP[brand] ?? [];
  const request = saleFields(merchant, { brand, identifier: '', order_currency, ...NEEDED[brand], ...fields });
  const sent = Object.fromEntries(
    Object.entries(request).filter(([name, value]) => value !== '' || name === 'identifier'),
  );
  const { status, body } = await shop.post(sent);
  return { status, body, id: body.trans_id as string, page: body.redirect_url as string };
}

const decide = async (page: string, decision: string): Promise<string> => {
  const body = new URLSearchParams({ decision });
  return (await fetch(page, { method: 'POST', body, redirect: 'manual' })).headers.get('location') ?? '';
};
const becomes = (id: string, status: string): Promise<void> =>
  expect.poll(async () => (await shop.inspect(id)).status, PROVIDER_POLL).toBe(status);
const errorsOf = (body: { errors: { error_message: string }[] }): string[] =>
  body.errors.map(({ error_message }) => error_message);

async function refund(id: string): Promise<void> {
  expect((await shop.admin('POST', `/payments/${id}/refund`, { amount: '4.00' })).status).toBe(200);
  await expect.poll(async () => (await shop.inspect(id)).refunded, PROVIDER_POLL).toBe('4.00');
  expect((await shop.admin('POST', `/payments/${id}/refund`, {})).status).toBe(200);
  await becomes(id, 'REFUND');
}

describe.each(Object.keys(AT_PROVIDER))('%s', (brand) => {
  test('leads to the provider without a question; the payer approves: SETTLED; the amount is refunded', async () => {
    const { body, id, page } = await sell(brand);
    expect(body).toMatchObject({ result: 'REDIRECT', status: 'REDIRECT' });
    expect(page).toMatch(new RegExp(`^${shop.provider?.url}/pay/`));
    await show(await decide(page, 'approve'));
    await becomes(id, 'SETTLED');
    await refund(id);
  });

  test('the payer declines: DECLINED', async () => {
    const { id, page } = await sell(brand);
    await show(await decide(page, 'decline'));
    expect((await shop.status(id)).body).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The payer declined the payment.',
    });
  });

  test('the payer goes back without paying: open for an hour, then DECLINED', async () => {
    const merchant = await shop.newMerchant();
    const { id, page } = await sell(brand, {}, merchant);
    await show(await decide(page, 'leave'));
    expect((await shop.status(id, merchant)).body.status).toBe('REDIRECT');
    await shop.advanceClock(3600, merchant.mid);
    expect((await shop.status(id, merchant)).body).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The payer did not finish in time.',
    });
  });
});

describe.each(Object.keys(IN_APP))('%s', (brand) => {
  const bank = (id: string, bank_callback: string) => shop.sandbox('POST', `/payments/${id}`, { bank_callback });

  test('waits for the payer or the bank, who agrees: SETTLED; the amount is refunded', async () => {
    const { body, id } = await sell(brand);
    expect(body).toMatchObject({ result: 'SUCCESS', status: 'PENDING' });
    await bank(id, 'ACSC');
    await becomes(id, 'SETTLED');
    await refund(id);
  });

  test('the payer or the bank refuses: DECLINED', async () => {
    const { id } = await sell(brand);
    await bank(id, 'RJCT');
    await becomes(id, 'DECLINED');
  });

  test('the merchant cancels it meanwhile: VOID', async () => {
    const { id } = await sell(brand);
    await shop.admin('POST', `/payments/${id}/void`, {});
    await becomes(id, 'VOID');
  });

  test('nobody answers: DECLINED after its time', async () => {
    const merchant = await shop.newMerchant();
    const { id } = await sell(brand, {}, merchant);
    const days = brand === 'sepa-debit' ? 21 : 1;
    await shop.advanceClock(days * 86_400 - 60, merchant.mid);
    expect((await shop.status(id, merchant)).body.status).toBe('PENDING');
    await shop.advanceClock(120, merchant.mid);
    expect((await shop.status(id, merchant)).body.status).toBe('DECLINED');
  });

  test('without what the provider needs: our page asks for it', async () => {
    const nothing = Object.fromEntries(Object.keys(NEEDED[brand] ?? {}).map((name) => [name, '']));
    const { body, page, id } = await sell(brand, nothing);
    expect(body).toMatchObject({ result: 'REDIRECT', status: 'REDIRECT' });
    expect(page).toContain(shop.url);
    const form = await show(page);
    expect(inputs(form.text).toSorted()).toEqual(Object.keys(NEEDED[brand] ?? {}).toSorted());
    expect(marked((await fill(page, { ...NEEDED[brand], [Object.keys(nothing)[0] as string]: 'x' })).text)).toEqual([
      Object.keys(nothing)[0],
    ]);
    await fill(page, NEEDED[brand] ?? {});
    expect((await shop.inspect(id)).status).toBe('PENDING');
  });
});

test.each([
  ['blik', { 'parameters[code]': '000000' }, 'The code is not valid.'],
  ['sepa-debit', { 'parameters[iban]': 'DE62370400440532013001' }, 'The account does not exist.'],
])('%s: the provider declines %j', async (brand, fields, decline_reason) => {
  expect((await sell(brand, fields)).body).toMatchObject({ result: 'DECLINED', status: 'DECLINED', decline_reason });
});

test.each(['blik', 'sepa-debit'])('%s: what the payer entered is sealed', async (brand) => {
  const { id } = await sell(brand);
  const [secret = ''] = Object.values(NEEDED[brand] ?? {});
  expect(JSON.stringify(await shop.inspect(id))).not.toContain(secret);
  expect(JSON.stringify(await shop.rows(`select details from payments where payment_id = '${id}'`))).not.toContain(
    secret,
  );
});

describe('refusals', () => {
  test.each(METHODS)('%s in a currency that it does not have', async (brand) => {
    const { status, body } = await sell(brand, { order_currency: 'RSD' });
    expect([status, errorsOf(body)]).toEqual([400, [`order_currency: ${NOT_A_CHOICE}`]]);
    expect(body.errors[0].expected).toContain('One of');
  });

  test.each(METHODS.filter(([brand]) => brand !== 'paypal'))('%s for a payer from elsewhere', async (brand) => {
    const { status, body } = await sell(brand, { payer_country: 'BR' });
    expect([status, errorsOf(body)]).toEqual([400, [`payer_country: ${NOT_A_CHOICE}`]]);
  });

  test.each<[string, Fields, string]>([
    [
      'no lines',
      { 'order_lines[0][name]': '', 'order_lines[0][amount]': '' },
      'order_lines: This value should not be blank.',
    ],
    [
      'lines that do not add up',
      { 'order_lines[0][amount]': '9.99' },
      'order_lines: The lines, with shipping and tax and less the discount, should add up to order_amount.',
    ],
    [
      'a line that does not multiply',
      { 'order_lines[0][quantity]': '3', 'order_lines[0][unit_amount]': '3.00' },
      'order_lines[0][amount]: This value should be unit_amount times quantity.',
    ],
    ['a line without a name', { 'order_lines[0][name]': '' }, 'order_lines[0][name]: This value should not be blank.'],
    ['shipping that is no amount', { order_shipping: 'free' }, 'order_shipping: This value is not valid.'],
  ])('klarna with %s', async (_, fields, expected) => {
    const { status, body } = await sell('klarna', fields);
    expect([status, errorsOf(body)]).toEqual([400, [expected]]);
  });
});

test('the lines of a sale with klarna are those of the order', async () => {
  const { id } = await sell('klarna', {
    ...{ 'order_lines[0][name]': 'Teapot', 'order_lines[0][quantity]': '2', 'order_lines[0][unit_amount]': '4.00' },
    ...{ 'order_lines[0][amount]': '', 'order_lines[1][name]': 'Cup', 'order_lines[1][amount]': '1.50' },
    ...{ order_shipping: '1.00', order_discount: '0.50' },
  });
  const [{ details }] = (await shop.rows(`select details from payments where payment_id = '${id}'`)) as [
    { details: Record<string, unknown> },
  ];
  expect(details.lines).toEqual({
    items: [
      { name: 'Teapot', quantity: 2, unitAmount: '400', amount: '800' },
      { name: 'Cup', quantity: 1, amount: '150' },
    ],
    shipping: '100',
    discount: '50',
  });
  expect(details.parameters).toBeUndefined();
});

describe('on the payment page', () => {
  const order = (currency: string): Body => ({ currency, lines: [{ name: 'Teapot', amount: '10.00' }] });

  test.each(METHODS)('%s has its name, and leads to the provider', async (label, [name, currency, country]) => {
    const { url, id } = await checkout.open({
      methods: [label, 'vcard'],
      order: order(currency),
      billing_address: { country },
    });
    const { text } = await show(url);
    expect(choices(text)).toContain(label);
    expect(readable(text)).toContain(name);
    await fill(url, { method: label, ...NEEDED[label] });
    expect((await shop.inspect(id)).brand).toBe(label);
    expect((await shop.inspect(id)).status).toBe(label in IN_APP ? 'PENDING' : 'REDIRECT');
  });

  test('names are the same in every language, but for the direct debit', async () => {
    const { url } = await checkout.open({ methods: ['ideal', 'klarna', 'sepa-debit'], order: order('EUR') });
    const { text } = await show(url, { headers: { 'accept-language': 'de' } });
    for (const name of ['iDEAL', 'Klarna', 'SEPA-Lastschrift']) expect(readable(text)).toContain(name);
  });

  test('the payer of a direct debit reads what they agree to', async () => {
    const { url } = await checkout.open({ methods: ['sepa-debit'], order: order('EUR') });
    expect(readable((await show(url)).text)).toContain('you authorise Test Shop to instruct your bank');
  });

  test.each<[string, string, string | undefined, string[]]>([
    ['euros in the Netherlands', 'EUR', 'NL', ['ideal', 'paypal', 'klarna', 'sepa-debit']],
    ['euros in Serbia', 'EUR', 'RS', ['paypal', 'sepa-debit']],
    ['złoty in Poland', 'PLN', 'PL', ['przelewy24', 'blik', 'paypal', 'klarna']],
    ['kronor in Sweden', 'SEK', 'SE', ['swish', 'paypal', 'klarna']],
    ['francs in Switzerland', 'CHF', 'CH', ['twint', 'paypal', 'klarna']],
    ['dollars in Japan', 'USD', 'JP', ['paypal']],
  ])('%s: the methods of the payer’s country and the currency', async (_, currency, country, expected) => {
    const merchant = await shop.newMerchant({ brands: [...METHODS.map(([label]) => label), 'vcard'] });
    const { url } = await checkout.open({ order: order(currency), billing_address: { country } }, merchant);
    expect(choices((await show(url)).text).toSorted()).toEqual([...expected, 'vcard'].toSorted());
  });

  test('a session that names klarna and has no lines is refused, and told why', async () => {
    const { status, body } = await checkout.send(
      'session',
      sessionFields({ methods: ['klarna'], order: { currency: 'EUR' } }),
    );
    expect([status, body.errors[0].hint]).toEqual([400, 'klarna needs order.lines.']);
  });

  test('lines among the parameters of klarna, which nothing adds up, are not those of the order', async () => {
    const parameters = { klarna: { order_lines: [{ name: 'Teapot', amount: '1.00' }], order_shipping: '1.00' } };
    const refused = await checkout.send(
      'session',
      sessionFields({ methods: ['klarna'], order: { currency: 'EUR' }, parameters }),
    );
    expect([refused.status, refused.body.errors?.[0].hint]).toEqual([400, 'klarna needs order.lines.']);
    const { id } = await checkout.open({ methods: ['klarna'], order: order('EUR'), parameters });
    expect((await checkout.inspect(id)).details.session.parameters).toEqual({ klarna: {} });
  });

  test('beside other methods klarna is left out without lines, and the sandbox says why', async () => {
    const { body } = await checkout.send(
      'session',
      sessionFields({ methods: ['klarna', 'vcard'], order: { currency: 'EUR' } }),
    );
    expect(body.warnings).toEqual([expect.objectContaining({ param: 'methods', hint: 'klarna needs order.lines.' })]);
  });
});
