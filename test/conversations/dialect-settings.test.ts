/** The settings of the dialect besides the hashes: who switches card sales on, callbacks, amounts, addresses, warnings. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Body, cardForm, checkoutOf, fill, sessionFields, show, submitPage } from '../support/checkout.ts';
import { CARD_NUMBER, callbacksOf, cardSale, cardSalesOf, inboxOf, specifiedHash } from '../support/dialect.ts';
import { type Answer, type Merchant, newOrderId, openShop, sign } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';

const shop = openShop({ simulator: true });
const live = openShop({ environment: 'production', simulator: true });
const checkout = checkoutOf(shop);

const withInbox = async (dialect: Record<string, unknown>): Promise<Merchant> => {
  const merchant = await shop.newMerchant({ dialect });
  await shop.admin('PATCH', `/accounts/${merchant.mid}`, inboxOf(shop, merchant));
  return merchant;
};

describe('card sales in production', () => {
  test('an owner switches them on with a confirmation; an operator does not', async () => {
    const path = `/accounts/${live.merchant.mid}`;
    const on = { dialect: { card_sales: true } };
    const refused = await live.admin('PATCH', path, on);
    expect([refused.status, refused.body.errors[0].error_message]).toEqual([
      400,
      'confirm_card_data: This value should be true.',
    ]);
    const { token } = (await live.admin('POST', '/tokens', { name: 'o', role: 'operator' })).body;
    expect((await live.admin('PATCH', path, { ...on, confirm_card_data: true }, token)).status).toBe(403);
    const confirmed = await live.admin('PATCH', path, { ...on, confirm_card_data: true });
    expect([confirmed.status, confirmed.body.settings.dialect.card_sales]).toEqual([200, true]);
    // What is on needs no further confirmation, and is switched off by anyone who may change the account.
    expect((await live.admin('PATCH', path, { ...on, descriptor: 'TEA' }, token)).status).toBe(200);
    expect((await live.admin('PATCH', path, { dialect: { card_sales: false } }, token)).status).toBe(200);
    expect((await live.admin('POST', '/accounts', { name: 'New', ...on })).status).toBe(400);
  });

  test('the panel asks an owner for the confirmation, and tells others whom to ask', async () => {
    const { mid } = await live.newMerchant({});
    const path = `/admin/accounts/${mid}`;
    const on = { tab: 'advanced', 'dialect.card_sales': 'true' };
    const [owner, operator] = await Promise.all([signedIn(live, 'owner'), signedIn(live, 'operator')]);
    const shown = (await operator.get(`${path}?tab=advanced`)).text;
    expect(shown).toContain('Only an owner can switch this on.');
    expect(shown).not.toContain('confirm_card_data');
    expect((await operator.submit(path, { ...on, confirm_card_data: 'true' })).status).toBe(403);
    const refused = await owner.submit(path, on);
    expect([refused.status, refused.text.includes('Confirm this to switch card sales on.')]).toEqual([400, true]);
    expect((await owner.get('/admin/accounts')).text).not.toContain('Card numbers over /post');
    expect((await owner.submit(path, { ...on, confirm_card_data: 'true' })).status).toBe(303);
    expect((await owner.get('/admin/accounts')).text).toContain('Card numbers over /post');
  });
});

describe('callbacks', () => {
  test('with final_callbacks_only, a challenge is not reported; every invariant holds', async () => {
    const [all, few] = await Promise.all([
      withInbox({ card_sales: true }),
      withInbox({ card_sales: true, final_callbacks_only: true }),
    ]);
    for (const merchant of [all, few]) {
      const sell = cardSalesOf(shop, () => merchant);
      expect((await sell({ card_exp_month: '05' })).body.status).toBe('3DS');
      expect((await sell()).body.status).toBe('SETTLED');
    }
    const statuses = async (merchant: Merchant) =>
      (await callbacksOf(shop, merchant)).map(({ fields }) => fields.status);
    expect((await statuses(all)).toSorted()).toEqual(['3DS', 'SETTLED']);
    expect(await statuses(few)).toEqual(['SETTLED']);
  });

  test('with final_callbacks_only, a redirect over /post is not reported', async () => {
    const reported = async (final_callbacks_only: boolean) => {
      const merchant = await withInbox({ card_sales: true, final_callbacks_only });
      expect((await cardSalesOf(shop, () => merchant)({ card_exp_month: '12' })).body.status).toBe('REDIRECT');
      return (await callbacksOf(shop, merchant)).map(({ fields }) => fields.status);
    };
    expect(await reported(false)).toEqual(['REDIRECT']);
    expect(await reported(true)).toEqual([]);
  });

  test.each([
    ['05/38', 'success'],
    ['06/38', 'fail'],
  ])('with final_callbacks_only, Checkout reports outcomes only: %s', async (card_expiry, status) => {
    const reported = async (final_callbacks_only: boolean) => {
      const merchant = await withInbox({ final_callbacks_only });
      const { url } = await checkout.open({ methods: ['card'] }, merchant);
      await fill(url, cardForm({ card_expiry }));
      await submitPage(await submitPage(await submitPage(await show(url)), { code: '1234' }));
      const sent = async () => (await callbacksOf(shop, merchant)).map(({ fields }) => [fields.type, fields.status]);
      await expect.poll(sent).toContainEqual(['sale', status]);
      return sent();
    };
    expect((await reported(false)).map(([type]) => type)).toContain('3ds');
    expect(await reported(true)).toEqual([['sale', status]]);
  });

  test('a card token is only in the callback of a success', async () => {
    const merchant = await withInbox({ card_sales: true });
    const sell = cardSalesOf(shop, () => merchant);
    const { card_token } = (await sell({ req_token: 'Y' })).body;
    await sell({ req_token: 'Y', card_exp_month: '02' });
    // The callbacks of two payments have no order.
    const sent = (await callbacksOf(shop, merchant)).map(({ fields }) => [fields.status, fields.card_token] as const);
    expect(new Map(sent)).toEqual(
      new Map([
        ['SETTLED', card_token],
        ['DECLINED', undefined],
      ]),
    );
  });

  test('a recurring payment over Checkout has Checkout callbacks, also if its first payment was made over /post', async () => {
    const merchant = await withInbox({});
    const first = (await shop.sale({ recurring_init: 'Y' }, merchant)).body;
    const order = { number: newOrderId(), amount: '3.00', description: 'Tea' };
    const recurring = { recurring_init_trans_id: first.trans_id, recurring_token: first.recurring_token, order };
    expect((await checkout.send('payment/recurring', recurring, merchant)).status).toBe(200);
    // The callbacks of two payments have no order.
    const sent = (await callbacksOf(shop, merchant)).map(({ fields }) => fields);
    expect(sent).toHaveLength(2);
    expect(sent).toContainEqual(expect.objectContaining({ action: 'SALE', trans_id: first.trans_id }));
    expect(sent).toContainEqual(
      expect.objectContaining({ type: 'recurring', order_number: order.number, status: 'success' }),
    );
  });
});

describe('sessions', () => {
  const open = (merchant: Merchant, fields: Body) => checkout.send('session', sessionFields(fields), merchant);
  /** Sends fields in which `AMOUNT` stands for a number that is written so. */
  const sendNumber = async (merchant: Merchant, path: string, fields: Body, amount: string, hash: string) => {
    const body = JSON.stringify({ ...fields, merchant_key: merchant.merchant_key, hash }).replace('"AMOUNT"', amount);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${shop.url}/api/v1/${path}`, { method: 'POST', headers, body });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  const raw = (merchant: Merchant, amount: string) => {
    const order = { number: newOrderId(), amount: 'AMOUNT', currency: 'USD', description: 'Tea' };
    const hash = sign(merchant.password, order.number, amount, 'USD', 'Tea');
    return sendNumber(merchant, 'session', sessionFields({ order }), amount, hash);
  };
  const rawLink = (merchant: Merchant, amount: string, name: string, more: Body = {}) => {
    const fields = { title: 'Tea', currency: 'USD', [name]: 'AMOUNT', ...more };
    return sendNumber(merchant, 'link', fields, amount, sign(merchant.password, 'Tea', amount, 'USD'));
  };

  test.each(['10.50', '10.5', '10'])(
    'the number %s is an amount with number_amounts only, and signed as it is written',
    async (amount) => {
      const merchant = await shop.newMerchant({ dialect: { number_amounts: true } });
      expect((await raw(merchant, amount)).status).toBe(200);
      const { status, body } = await raw(shop.merchant, amount);
      expect([status, body.errors[0]?.error_message]).toEqual([400, 'order.amount: This value should be a text.']);
    },
  );

  test.each([
    ['10.50', '10.50'],
    ['10.5', '10.50'],
    ['10', '10.00'],
  ])('the number %s is an amount of a link likewise', async (written, amount) => {
    const merchant = await shop.newMerchant({ dialect: { number_amounts: true } });
    expect(await rawLink(merchant, written, 'amount')).toMatchObject({ status: 200, body: { amount } });
    expect(await rawLink(merchant, written, 'min_amount', { max_amount: 20 })).toMatchObject({
      status: 200,
      body: { min_amount: amount, max_amount: '20.00' },
    });
    const { status, body } = await rawLink(shop.merchant, written, 'amount');
    expect([status, body.errors[0]?.error_message]).toEqual([400, 'amount: This value should be a text.']);
  });

  test('callback_url: for the life of the payment with session_callback_url, otherwise a warning', async () => {
    const merchant = await shop.newMerchant({ dialect: { session_callback_url: true } });
    const { callback_url } = inboxOf(shop, merchant);
    const opened = (await open(merchant, { callback_url })).body;
    expect(opened).not.toHaveProperty('warnings');
    const [{ url } = {}] = await shop.rows(
      `select details ->> 'callbackUrl' as url from payments where mid = '${merchant.mid}'`,
    );
    expect(url).toBe(callback_url);
    const paid = await checkout.paid({ callback_url }, merchant);
    await checkout.send('payment/refund', { payment_id: paid.id }, merchant);
    await expect
      .poll(async () => (await callbacksOf(shop, merchant)).map(({ fields }) => fields.type).toSorted())
      .toEqual(['refund', 'sale']);
    expect((await open(merchant, { callback_url: 'ftp://x' })).status).toBe(400);
    const { warnings } = (await open(shop.merchant, { callback_url, channel_id: 'pos-7', vat_calc: true })).body;
    expect(warnings.map(({ param }: { param: string }) => param)).toEqual(['channel_id', 'vat_calc', 'callback_url']);
  });

  test('a sale over /post names the well-known fields without effect, and nothing else', async () => {
    const { warnings } = (await shop.sale({ channel_id: 'pos-7', payee: 'x', callback_url: 'https://shop.example/c' }))
      .body;
    expect(warnings).toEqual([
      { param: 'channel_id', hint: expect.stringContaining('kept with the payment'), link: expect.any(String) },
      { param: 'payee', hint: expect.stringContaining('does not act upon it'), link: expect.any(String) },
    ]);
    expect((await shop.sale({})).body).not.toHaveProperty('warnings');
  });

  test('AUTH names them too', async () => {
    const merchant = await shop.newMerchant({ dialect: { card_sales: true } });
    const { body } = await cardSalesOf(shop, () => merchant)({ action: 'AUTH', payee: 'x' });
    expect([body.status, body.warnings]).toEqual(['PENDING', [expect.objectContaining({ param: 'payee' })]]);
  });

  test('production names them, and reports no misspelt fields', async () => {
    const merchant = await live.newMerchant({ dialect: { card_sales: true }, confirm_card_data: true });
    const sold = (await cardSalesOf(live, () => merchant)({ payee: 'x' })).body;
    expect([sold.status, sold.warnings]).toEqual(['SETTLED', [expect.objectContaining({ param: 'payee' })]]);
    const { body } = await checkoutOf(live).send(
      'session',
      sessionFields({ vat_calc: true, canel_url: 'x' }),
      merchant,
    );
    expect(body).toEqual({
      redirect_url: expect.any(String),
      warnings: [expect.objectContaining({ param: 'vat_calc' })],
    });
  });

  test('with the digest sha256, a hash with MD5 is refused', async () => {
    const merchant = await shop.newMerchant({ dialect: { digest: 'sha256' } });
    const order = { number: newOrderId(), amount: '10.00', currency: 'USD', description: 'Tea' };
    const text = (Object.values(order).join('') + merchant.password).toUpperCase();
    const hash = createHash('sha1').update(createHash('sha256').update(text).digest('hex')).digest('hex');
    expect((await open(merchant, { order })).body.error_message).toBe('Hash is not valid');
    expect((await open(merchant, { order, hash })).status).toBe(200);
  });

  test('app links of listed schemes are addresses for the return', async () => {
    const merchant = await shop.newMerchant({ return_schemes: ['myapp'] });
    expect((await open(merchant, { success_url: 'myapp://paid', cancel_url: 'myapp://no' })).status).toBe(200);
    for (const address of ['other://paid', 'javascript://x', 'myapp:paid']) {
      expect((await open(merchant, { success_url: address })).status, address).toBe(400);
    }
    expect((await open(shop.merchant, { success_url: 'myapp://paid' })).status).toBe(400);
  });
});

test('channel_id is kept, shown and filters payments', async () => {
  const merchant = await shop.newMerchant({ dialect: { card_sales: true } });
  const sale = cardSale(merchant, { channel_id: 'pos-9' });
  const { trans_id } = (await shop.post({ ...sale, hash: specifiedHash(merchant, sale) })).body;
  await shop.sale({ channel_id: 'pos-9' }, merchant);
  const { items } = (await shop.admin('GET', `/payments?channel_id=pos-9&mid=${merchant.mid}`)).body;
  expect(items.map(({ payment_id }: { payment_id: string }) => payment_id)).toContain(trans_id);
  expect(items).toHaveLength(2);
  expect((await shop.inspect(trans_id)).details.channel_id).toBe('pos-9');
  expect((await shop.admin('GET', '/payments?channel_id=other')).body.items).toEqual([]);
  const careless = (await shop.sale({ channel_id: CARD_NUMBER }, merchant)).body;
  expect((await shop.inspect(careless.trans_id)).details).not.toHaveProperty('channel_id');
  const viewer = await signedIn(shop, 'viewer');
  const filtered = `/admin/payments?mid=${merchant.mid}&channel_id=pos-9`;
  expect((await viewer.get(`/admin/payments/${trans_id}`)).text).toContain(
    `<a href="${filtered.replaceAll('&', '&amp;')}">pos-9</a>`,
  );
  expect((await viewer.get(filtered)).text).toContain(`/admin/payments/${trans_id}`);
  expect((await viewer.get('/admin/payments?channel_id=other')).text).not.toContain(trans_id);
});
