/** Card sales over `/post`, for accounts with `dialect.card_sales`: the payment page's own way, through another door. */
import { beforeAll, describe, expect, test } from 'vitest';
import { newDataKey } from '../../src/core/cards/vault.ts';
import { foldProjections } from '../../src/core/projections/projections.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { show, submitPage, UNKNOWN_ID } from '../support/checkout.ts';
import { CARD_NUMBER, cardSale, cardSalesOf, specifiedHash } from '../support/dialect.ts';
import { type Fields, type Merchant, newOrderId, openShop, sign, UUID_7 } from '../support/gateway.ts';

const shop = openShop({ simulator: true });
let merchant: Merchant;
beforeAll(async () => {
  merchant = await shop.newMerchant({ dialect: { card_sales: true } });
});
const sell = cardSalesOf(shop, () => merchant);
const act = (action: string, trans_id: string, more: Fields = {}) =>
  shop.post({ action, client_key: merchant.client_key, trans_id, ...more, hash: sign(merchant.password, trans_id) });
const repeat = (first: { trans_id: string; recurring_token: string }) => {
  const order_id = newOrderId();
  return shop.post({
    action: 'RECURRING_SALE',
    client_key: merchant.client_key,
    order_id,
    order_amount: '5.00',
    order_description: 'Again',
    recurring_first_trans_id: first.trans_id,
    recurring_token: first.recurring_token,
    hash: sign(merchant.password, order_id),
  });
};
const entries = (body: { errors: { error_message: string }[] }): string[] =>
  body.errors.map(({ error_message }) => error_message);

describe('answers', () => {
  test('a sale is settled', async () => {
    const { status, body } = await sell({ order_id: 'tea-1', 'custom_data[basket]': '17' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      action: 'SALE',
      result: 'SUCCESS',
      status: 'SETTLED',
      order_id: 'tea-1',
      trans_id: expect.stringMatching(UUID_7),
      amount: '10.00',
      currency: 'USD',
    });
    expect(body).not.toHaveProperty('card_token');
    expect(body).not.toHaveProperty('redirect_url');
    const payment = await shop.inspect(body.trans_id);
    expect(payment).toMatchObject({ brand: 'card', protocol: 's2s', status: 'SETTLED' });
    expect(JSON.stringify(payment)).not.toContain(CARD_NUMBER);
  });

  test('what is optional of the payer is kept', async () => {
    const optional = { payer_state: 'BE', payer_middle_name: 'Maria', payer_birth_date: '1990-02-28' };
    const { details } = await shop.inspect((await sell(optional)).body.trans_id);
    expect(details.payer).toMatchObject({ state: 'BE', middle_name: 'Maria', birth_date: '1990-02-28' });
  });

  test('a declined card', async () => {
    const { status, body } = await sell({ card_exp_month: '02' });
    expect([status, body.result, body.status]).toEqual([200, 'DECLINED', 'DECLINED']);
    expect(body.decline_reason).toBeTruthy();
  });

  test('an authorisation, by auth=Y and by AUTH, is captured and voided', async () => {
    const authorised = (await sell({ auth: 'Y' })).body;
    expect([authorised.action, authorised.result, authorised.status]).toEqual(['SALE', 'SUCCESS', 'PENDING']);
    expect((await act('CAPTURE', authorised.trans_id)).body.status).toBe('SETTLED');
    const other = (await sell({ action: 'AUTH' })).body;
    expect([other.action, other.status]).toEqual(['AUTH', 'PENDING']);
    expect((await act('VOID', other.trans_id)).body.status).toBe('VOID');
  });

  test.each([
    ['settles after it', '05', 'SETTLED'],
    ['declines after it', '06', 'DECLINED'],
  ])('a challenge redirects the payer to the payment page, and %s', async (_, card_exp_month, status) => {
    const { body } = await sell({ card_exp_month });
    expect(body).toMatchObject({
      result: 'REDIRECT',
      status: '3DS',
      redirect_url: expect.stringContaining('/pay/'),
      redirect_method: 'GET',
      redirect_params: {},
    });
    const answered = await submitPage(await submitPage(await show(body.redirect_url)), { code: '1234' });
    const returned = await submitPage(answered);
    await expect.poll(async () => (await shop.status(body.trans_id, merchant)).body.status).toBe(status);
    expect(returned.location || (await show(body.redirect_url)).location || returned.text).toContain(
      'https://shop.example/return',
    );
    expect(await shop.rows(`select 1 from cards where payment_id = '${body.trans_id}' and sealed is not null`)).toEqual(
      [],
    );
  });

  test('a token is made on request, and pays without expiry and code', async () => {
    const first = (await sell({ req_token: 'Y' })).body;
    expect(first.card_token).toMatch(/^\w{20,}$/);
    const { card_number: _, ...rest } = cardSale(merchant, { card_token: first.card_token });
    const { card_exp_month, card_exp_year, card_cvv2, ...sale } = rest;
    const { body } = await shop.post({ ...sale, hash: specifiedHash(merchant, sale) });
    expect([body.status, body.card_token]).toEqual(['SETTLED', first.card_token]);
  });

  test('an unknown token, and one of another account', async () => {
    expect((await sell({ card_number: '', card_token: 'x' })).body.error_code).toBe(205005);
    const other = await shop.newMerchant({ dialect: { card_sales: true } });
    const { card_token } = (await cardSalesOf(shop, () => other)({ req_token: 'Y' })).body;
    expect((await sell({ card_number: '', card_token })).body.error_code).toBe(205007);
  });

  test('recurring_init answers a recurring token, with which the payer is charged again', async () => {
    const first = (await sell({ recurring_init: 'Y' })).body;
    expect(first.recurring_token).toBeTruthy();
    expect((await repeat(first)).body.status).toBe('SETTLED');
  });

  test('a repeat gets the first outcome; another card for the order is a duplicate', async () => {
    const order_id = newOrderId();
    const { body } = await sell({ order_id });
    expect((await sell({ order_id })).body.trans_id).toBe(body.trans_id);
    expect((await sell({ order_id, card_number: '5555555555554444' })).body.error_message).toBe(
      'order_id: Duplicate payment.',
    );
  });

  test('multipart, and a slash at the end of the path', async () => {
    const sale = cardSale(merchant);
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...sale, hash: specifiedHash(merchant, sale) })) form.set(name, value);
    const response = await fetch(`${shop.url}/post/`, { method: 'POST', body: form });
    expect(await response.json()).toMatchObject({ status: 'SETTLED' });
  });
});

describe('a card check', () => {
  test('answers PENDING, refuses a capture, and ends VOID', async () => {
    const { body } = await sell({ order_amount: '0.00', auth: 'Y' });
    expect([body.result, body.status, body.amount]).toEqual(['SUCCESS', 'PENDING', '0.00']);
    await expect.poll(async () => (await shop.status(body.trans_id, merchant)).body.status).toBe('VOID');
    expect((await act('CAPTURE', body.trans_id)).body.error_code).toBe(208003);
  });

  test('refuses a capture while it is not voided yet', async () => {
    const { trans_id } = (await sell({ auth: 'Y' })).body;
    await shop.rows(
      `update payments set details = details || '{"isCardCheck": true}' where payment_id = '${trans_id}'`,
    );
    expect((await act('CAPTURE', trans_id)).body.error_code).toBe(204005);
    expect((await shop.status(trans_id, merchant)).body.status).toBe('PENDING');
  });

  test.each<Fields>([{}, { card_number: '', card_token: 'x' }])('takes no schedule_id: %j', async (fields) => {
    const check = { order_amount: '0.00', auth: 'Y', recurring_init: 'Y', schedule_id: UNKNOWN_ID };
    const { status, body } = await sell({ ...check, ...fields });
    expect([status, body.error_code, entries(body)]).toEqual([
      400,
      100000,
      ['schedule_id: This value should not be sent with an order_amount of zero.'],
    ]);
  });

  test('needs auth, and declines as any card', async () => {
    expect(entries((await sell({ order_amount: '0.00' })).body)).toEqual([
      'order_amount: This value should be greater than 0.',
    ]);
    expect((await sell({ order_amount: '0.00', action: 'AUTH', card_exp_month: '02' })).body.status).toBe('DECLINED');
  });
});

describe('refusals', () => {
  test.each<[Fields, string]>([
    [{ card_number: '' }, 'card_number: This value should not be blank.'],
    [{ card_number: '4111111111111112' }, 'card_number: This value is not valid.'],
    [{ card_exp_month: '13' }, 'card_exp_month: This value is not valid.'],
    [{ card_exp_year: '38' }, 'card_exp_year: This value is not valid.'],
    [{ card_exp_year: '2020' }, 'card_exp_year: This card has expired.'],
    [{ card_cvv2: '' }, 'card_cvv2: This value should not be blank.'],
    [{ card_cvv2: '1234' }, 'card_cvv2: This value is not valid.'],
    [{ payer_email: '' }, 'payer_email: This value should not be blank.'],
    [{ term_url_3ds: '' }, 'term_url_3ds: This value should not be blank.'],
    [{ channel_id: 'x'.repeat(17) }, 'channel_id: This value is too long. It should have 16 characters or less.'],
    [{ brand: 'vcard' }, 'brand: This value should not be sent with a card.'],
    [{ brand: 'vcard', action: 'AUTH' }, 'brand: This value should not be sent with a card.'],
    [{ card_token: 'x' }, 'card_token: This value should be the same as card_number, or only one of them sent.'],
    [{ schedule_id: UNKNOWN_ID }, 'recurring_init: This value should not be blank.'],
    [{ schedule_id: UNKNOWN_ID, card_number: '', card_token: 'x' }, 'recurring_init: This value should not be blank.'],
    [
      { order_description: `Card ${CARD_NUMBER}` },
      'order_description: This value looks like a card number, which should never be sent here.',
    ],
  ])('%j', async (fields, entry) => {
    const { status, body } = await sell(fields);
    expect([status, body.error_code]).toEqual([400, 100000]);
    expect(entries(body)).toContain(entry);
    expect(JSON.stringify(body)).not.toContain('1111');
  });

  test('an account that did not opt in: the refusal of today, and an entry that says what to do', async () => {
    const sale = cardSale(shop.merchant);
    const { status, body } = await shop.post({ ...sale, hash: specifiedHash(shop.merchant, sale) });
    expect([status, body.error_code, body.error_message]).toEqual([400, 100000, 'Request data is invalid.']);
    expect(entries(body)).toEqual(
      expect.arrayContaining([
        'brand: This value should not be blank.',
        'return_url: This value should not be blank.',
        'action: This is a card sale, which this account does not take over /post.',
      ]),
    );
    expect(
      await shop.rows('select 1 from payments where mid = (select mid from accounts order by mid limit 1)'),
    ).toEqual([]);
  });

  test.each(['AUTH', 'CREDIT2CARD', 'GET_TRANS_DETAILS'])('%s does not exist for it', async (action) => {
    const { status, body } = await shop.post({ ...cardSale(shop.merchant), action, hash: 'x' });
    expect([status, body.error_code, body.error_message]).toEqual([404, 0, 'Route or parameters is not supported']);
  });
});

describe('the vault', () => {
  /** Whether the number is stored, and whether the row is as the commit that opened the payment wrote it. */
  const stored = async (fields: Fields) => {
    const { body } = await sell(fields);
    const [card] = await shop.rows(`select c.sealed is not null as is_sealed, c.is_kept, c.xmin = h.xmin as is_first
      from cards c join history h using (mid, payment_id) where c.payment_id = '${body.trans_id}' and h.seq = 1`);
    return { status: body.status, ...card };
  };

  test.each([
    ['01', 'SETTLED'],
    ['02', 'DECLINED'],
  ])('never gets the number of a sale that ends at once: %s, %s', async (card_exp_month, status) => {
    expect(await stored({ card_exp_month })).toEqual({ status, is_sealed: false, is_kept: false, is_first: true });
  });

  test.each<[string, Fields, object]>([
    ['a challenge', { card_exp_month: '05' }, { status: '3DS', is_kept: false, is_first: false }],
    ['a token', { req_token: 'Y' }, { status: 'SETTLED', is_kept: true, is_first: true }],
    ['recurring sales', { recurring_init: 'Y' }, { status: 'SETTLED', is_kept: true, is_first: false }],
  ])('gets the number for %s', async (_, fields, expected) => {
    expect(await stored(fields)).toEqual({ ...expected, is_sealed: true });
  });

  test('a data key that was retired meanwhile is replaced, and the sales beside it are not affected', async () => {
    const account = await shop.newMerchant({ dialect: { card_sales: true } });
    const sell = cardSalesOf(shop, () => account);
    await sell({ req_token: 'Y' });
    await shop.gateway.cards.insertDataKey(newDataKey(shop.gateway, account.mid, 2), Date.now());
    await shop.rows(`delete from cards where mid = '${account.mid}';
      delete from data_keys where mid = '${account.mid}' and version = 1`);
    const sales = await Promise.all([sell({ req_token: 'Y' }), sell(), sell({ req_token: 'Y' })]);
    expect(sales.map(({ body }) => body.status)).toEqual(['SETTLED', 'SETTLED', 'SETTLED']);
    expect(
      await shop.rows(`select key_version from cards where mid = '${account.mid}' order by key_version nulls last`),
    ).toEqual([{ key_version: 2 }, { key_version: 2 }, { key_version: null }]);
  });
});

describe('the limits of card attempts', () => {
  const DECLINED = { card_exp_month: '02' };
  const limited = async (card_failures_per_address: number) => {
    const account = await shop.newMerchant({ dialect: { card_sales: true }, card_failures_per_address });
    const attempts = () => shop.rows(`select order_id from card_attempts where mid = '${account.mid}'`);
    return { sell: cardSalesOf(shop, () => account), attempts };
  };
  const TOO_MANY = 'Too many cards were tried.';

  test('an attempt is written in the commit of its payment', async () => {
    const { body } = await sell({ card_exp_month: '05' });
    expect(
      await shop.rows(`select h.xmin = a.xmin as is_same from history h join payments p using (mid, payment_id)
        join card_attempts a using (mid, order_id, attempt) where p.payment_id = '${body.trans_id}' and h.seq = 1`),
    ).toEqual([{ is_same: true }]);
  });

  test('a card beyond them is declined, neither stored nor sent, and does not count', async () => {
    const { sell, attempts } = await limited(2);
    const answers = [await sell(DECLINED), await sell(DECLINED), await sell(), await sell({ req_token: 'Y' })];
    expect(answers.map(({ body }) => body.decline_reason === TOO_MANY)).toEqual([false, false, true, true]);
    for (const { body } of answers.slice(2)) {
      expect(body).toMatchObject({ result: 'DECLINED', status: 'DECLINED' });
      expect(body).not.toHaveProperty('card_token');
      expect(await shop.rows(`select 1 from cards where payment_id = '${body.trans_id}'`)).toEqual([]);
    }
    expect(await attempts()).toHaveLength(2);
    expect((await sell({ payer_ip: '198.51.100.9' })).body.status).toBe('SETTLED');
  });

  test('a saved card is counted, too', async () => {
    const { sell } = await limited(1);
    const { card_token } = (await sell({ req_token: 'Y' })).body;
    await sell(DECLINED);
    expect((await sell({ card_number: '', card_token })).body.decline_reason).toBe(TOO_MANY);
  });

  test('twenty concurrent cards never exceed them, and the rest of the limit can be used', async () => {
    const { sell, attempts } = await limited(4);
    const isTried = ({ body }: Awaited<ReturnType<typeof sell>>): boolean => body.decline_reason !== TOO_MANY;
    const concurrent = await Promise.all(Array.from({ length: 20 }, () => sell(DECLINED)));
    const tried = concurrent.filter(isTried).length;
    expect(tried).toBeLessThanOrEqual(4);
    const rest = [];
    for (let sales = 0; sales < 5; sales++) rest.push(await sell(DECLINED));
    expect(tried + rest.filter(isTried).length).toBe(4);
    expect(await attempts()).toHaveLength(4);
  });
});

describe('further actions', () => {
  test('GET_TRANS_DETAILS', async () => {
    const { trans_id } = (await sell({ auth: 'Y' })).body;
    await act('CAPTURE', trans_id, { amount: '4.00' });
    const { body } = await act('GET_TRANS_DETAILS', trans_id);
    expect(body).toMatchObject({
      action: 'GET_TRANS_DETAILS',
      result: 'SUCCESS',
      status: 'SETTLED',
      name: 'Ana Petrovic',
      mail: 'ana@example.com',
      ip: '203.0.113.7',
      amount: '10.00',
      currency: 'USD',
      card: '411111******1111',
      transactions: [
        { type: 'AUTH', status: 'success', amount: '10.00' },
        { type: 'CAPTURE', status: 'success', amount: '4.00' },
      ],
    });
  });

  test('GET_TRANS_DETAILS calls a direct sale that a review authorised a sale', async () => {
    const { body: rule } = await shop.admin('POST', '/risk/rules', {
      ...{ mid: merchant.mid, name: 'Large', action: { kind: 'review', hours: 24, then: 'refuse' }, state: 'on' },
      ...{ condition: { field: 'amount', op: '>', value: '500.00', currency: 'USD' }, confirm: true },
    });
    const { trans_id, status } = (await sell({ order_amount: '600.00' })).body;
    expect(status).toBe('PENDING');
    expect((await shop.admin('POST', `/risk/reviews/${trans_id}`, { decision: 'approve' })).status).toBe(200);
    expect((await act('GET_TRANS_DETAILS', trans_id)).body.transactions).toMatchObject([
      { type: 'SALE', status: 'success', amount: '600.00' },
      { type: 'CAPTURE', status: 'success', amount: '600.00' },
    ]);
    await shop.admin('DELETE', `/risk/rules/${rule.rule_id}`);
  });

  describe('CREDIT2CARD by number', () => {
    const credit = (card_number: string, more: Fields = {}) => {
      const order = { order_id: newOrderId(), order_amount: '2.00', order_currency: 'USD', order_description: 'Back' };
      const fields = { ...order, card_number, ...more };
      const { order_id, order_amount, order_currency, order_description } = fields;
      const hash = sign(merchant.password, order_id, order_amount, order_currency, order_description);
      return shop.post({ action: 'CREDIT2CARD', client_key: merchant.client_key, ...fields, hash });
    };

    test('refunds the newest settled sale of the card; an unknown card is 205005', async () => {
      const number = '5555555555554444';
      await sell({ card_number: number });
      const { trans_id } = (await sell({ card_number: number })).body;
      const { body } = await credit(number);
      expect([body.action, body.result, body.trans_id]).toEqual(['CREDIT2CARD', 'ACCEPTED', trans_id]);
      await expect.poll(async () => (await shop.inspect(trans_id)).refunded).toBe('2.00');
      expect((await credit('378282246310005')).body.error_code).toBe(205005);
      const { status, body: both } = await credit(number, { card_token: 'x' });
      expect([status, both.errors[0].error_message]).toEqual([
        400,
        'card_token: This value should be the same as card_number, or only one of them sent.',
      ]);
    });

    test.each(['with an operation_id', 'within the window'])('a repeat gets the first credit: %s', async (by) => {
      const number = by === 'within the window' ? '4000056655665556' : '5200828282828210';
      const [older, newer] = [await sell({ card_number: number }), await sell({ card_number: number })];
      const order_id = newOrderId();
      const again = {
        order_id,
        order_amount: '10.00',
        ...(by === 'with an operation_id' && { operation_id: newId() }),
      };
      const first = (await credit(number, again)).body;
      expect([first.result, first.trans_id]).toEqual(['ACCEPTED', newer.body.trans_id]);
      await expect.poll(async () => (await shop.inspect(newer.body.trans_id)).status).toBe('REFUND');
      // The newest settled sale of the card is another one each time: an older one, a newer one, and none.
      expect((await credit(number, again)).body).toEqual(first);
      const newest = await sell({ card_number: number });
      expect((await credit(number, again)).body).toEqual(first);
      for (const { body } of [older, newest]) await act('CREDITVOID', body.trans_id);
      for (const { body } of [older, newest])
        await expect.poll(async () => (await shop.inspect(body.trans_id)).status).toBe('REFUND');
      expect((await credit(number, again)).body).toEqual(first);
      const changed = (await credit(number, { ...again, order_amount: '9.00' })).body;
      expect(changed).toMatchObject({ result: 'ERROR' });
      expect((await shop.inspect(newer.body.trans_id)).operations).toHaveLength(1);
    });

    test('concurrent repeats get one credit, although a sale settles between them', async () => {
      const number = '4000002500001001';
      const sales = [await sell({ card_number: number }), await sell({ card_number: number })];
      const order_id = newOrderId();
      const { cards } = shop.gateway;
      const { findSettled } = cards;
      let found = 0;
      // Each request sees another sale.
      cards.findSettled = async (mid, fingerprint) => {
        const sold = await findSettled(mid, fingerprint);
        return sold && { ...sold, paymentId: sales[found++ % 2]?.body.trans_id };
      };
      const credits = await Promise.all(Array.from({ length: 6 }, () => credit(number, { order_id })));
      cards.findSettled = findSettled;
      expect(new Set(credits.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      const operations = await Promise.all(
        sales.map(async ({ body }) => (await shop.inspect(body.trans_id)).operations),
      );
      expect(operations.flat()).toHaveLength(1);
    });

    test('a sale by its token and a repetition are sales of the card, also when the first sale is refunded', async () => {
      const number = '4242424242424242';
      const first = (await sell({ card_number: number, req_token: 'Y', recurring_init: 'Y' })).body;
      const credited = async () => (await credit(number)).body.trans_id;
      const byToken = (await sell({ card_number: '', card_token: first.card_token })).body;
      expect(await credited()).toBe(byToken.trans_id);
      const repetition = (await repeat(first)).body;
      expect(await credited()).toBe(repetition.trans_id);
      await act('CREDITVOID', first.trans_id);
      await expect.poll(async () => (await shop.inspect(first.trans_id)).status).toBe('REFUND');
      await foldProjections(shop.gateway);
      expect(await credited()).toBe(repetition.trans_id);
    });
  });

  test('/post-va takes sales with a brand, of accounts that opted in', async () => {
    const to = async (of: Merchant, fields: Fields) => {
      const sale = cardSale(of, {
        brand: 'vcard',
        identifier: 'success@example.com',
        return_url: 'https://a.example',
        ...fields,
      });
      for (const name of Object.keys(sale)) if (name.startsWith('card_')) delete sale[name];
      const { identifier = '', order_id = '', order_amount = '', order_currency = '' } = sale;
      const hash = sign(of.password, identifier, order_id, order_amount, order_currency);
      const body = new URLSearchParams({ ...sale, hash });
      const response = await fetch(`${shop.url}/post-va`, { method: 'POST', body });
      return [response.status, ((await response.json()) as Fields).status];
    };
    expect(await to(merchant, {})).toEqual([200, 'SETTLED']);
    expect(await to(merchant, { action: 'GET_TRANS_STATUS' })).toEqual([404, undefined]);
    expect(await to(shop.merchant, {})).toEqual([404, undefined]);
  });
});
