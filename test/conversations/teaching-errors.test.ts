/** Refusals that teach: each entry names the field, what is expected and the section of the docs; nothing leaks. */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Body, SUCCESS_URL, sessionFields, signed } from '../support/checkout.ts';
import {
  type Answer,
  type Fields,
  type Merchant,
  newOrderId,
  openShop,
  saleFields,
  sign,
  type TestGateway,
} from '../support/gateway.ts';

const shop = openShop({ simulator: true });
const production = openShop({ environment: 'production' });

const checkout = async (path: string, body: Body, at: TestGateway = shop): Promise<Answer> => {
  const response = await fetch(`${at.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
};

const session = (fields: Body = {}, by: Merchant = shop.merchant): Promise<Answer> =>
  checkout('session', signed('session', sessionFields(fields), by));

/** The entries of a refusal, with the address of the gateway cut off their links. */
const entries = ({ status, body }: Answer, at: TestGateway = shop) => {
  expect([status, body.result]).toEqual([400, 'ERROR']);
  return body.errors.map(({ link, ...entry }: { link: string }) => ({ ...entry, link: link.replace(at.url, '') }));
};

const AMOUNTS = '/docs/merchant/sign-requests#amounts';
const KEYS = '/docs/merchant/errors#wrong-key-http-400';
const HASH = '/docs/merchant/sign-requests#hash-errors';
const SESSION = '/docs/reference/checkout#checkoutSession';

describe('an entry names the field as the caller does, and what is accepted', () => {
  const amountEntry = (param: string, expected: string) => ({
    error_code: 100000,
    error_message: `${param}: This value is not valid.`,
    param,
    expected,
    link: AMOUNTS,
  });

  test.each([
    ['USD', '19.9', 'A decimal number with two fraction digits for USD, greater than 0, such as 19.99.'],
    ['KWD', '19.9', 'A decimal number with three fraction digits for KWD, greater than 0, such as 19.999.'],
    ['JPY', '19.9', 'A whole number for JPY, greater than 0, such as 1999.'],
  ])('of an amount in %s', async (currency, amount, expected) => {
    const sale = await shop.sale({ order_amount: amount, order_currency: currency });
    expect(entries(sale)).toEqual([amountEntry('order_amount', expected)]);
    const order = { number: newOrderId(), amount, currency, description: 'Tea' };
    expect(entries(await session({ order }))).toEqual([amountEntry('order.amount', expected)]);
  });

  test.each([
    ['USD', '1999', 'Amounts are not in minor units: if 19.99 is meant, send 19.99; otherwise send 1999.00.'],
    ['USD', '5', 'Amounts are not in minor units: if 0.05 is meant, send 0.05; otherwise send 5.00.'],
    ['KWD', '19', 'Amounts are not in minor units: if 0.019 is meant, send 0.019; otherwise send 19.000.'],
  ])('of a whole number in %s: %s, with the mistake that was probably made', async (currency, amount, hint) => {
    const sale = await shop.sale({ order_amount: amount, order_currency: currency });
    expect(entries(sale)).toMatchObject([{ param: 'order_amount', hint }]);
    const order = { number: newOrderId(), amount, currency, description: 'Tea' };
    expect(entries(await session({ order }))).toMatchObject([{ param: 'order.amount', hint }]);
  });

  test('of a refund, by the currency of its payment', async () => {
    const { body } = await shop.sale();
    const fields = { payment_id: body.trans_id, amount: '1.234' };
    expect(entries(await checkout('payment/refund', signed('payment/refund', fields, shop.merchant)))).toEqual([
      amountEntry('amount', 'A decimal number with two fraction digits for USD, greater than 0, such as 19.99.'),
    ]);
  });

  test('of a duplicate order: order_id over /post, order.number in a session', async () => {
    const order_id = newOrderId();
    await shop.sale({ order_id });
    const entry = {
      error_code: 100000,
      error_message: 'order_id: Duplicate payment.',
      expected:
        'A new order number for a new payment, such as order-1002; an order is paid again only after its payments failed.',
      link: '/docs/merchant/idempotency#order-numbers',
    };
    const again = await shop.sale({ order_id, order_amount: '11.00' });
    expect(again.body).toMatchObject({ error_code: 100000, error_message: 'order_id: Duplicate payment.' });
    expect(entries(again)).toEqual([{ ...entry, param: 'order_id' }]);
    const order = { number: order_id, amount: '10.00', currency: 'USD', description: 'Tea' };
    expect(entries(await session({ order }))).toEqual([{ ...entry, param: 'order.number' }]);
  });

  test('of a field of a brand, with an example and the page of the brand', async () => {
    expect(entries(await shop.sale({ brand: 'upi-b', 'parameters[upi_id]': 'nobody' }))).toEqual([
      {
        error_code: 100000,
        error_message: 'parameters[upi_id]: This value is not valid.',
        param: 'parameters[upi_id]',
        expected: 'A UPI address such as name@bank.',
        link: '/docs/brands/upi-b',
      },
    ]);
  });

  test('of a brand that does not exist: those of the account, and the nearest', async () => {
    const merchant = await shop.newMerchant({ brands: ['vcard', 'upi-a'] });
    expect(entries(await shop.sale({ brand: 'upi_a' }, merchant))).toMatchObject([
      { param: 'brand', expected: 'One of the brands of the account: vcard, upi-a.', hint: 'Did you mean upi-a?' },
    ]);
  });

  test('of an amount that was sent as a JSON number', async () => {
    const order = { number: newOrderId(), amount: 10, currency: 'USD', description: 'Tea' };
    expect(entries(await session({ order }))).toMatchObject([
      {
        error_message: 'order.amount: This value should be a text.',
        param: 'order.amount',
        hint: 'The value is a JSON number or boolean: put it in quotes, and sign the same text.',
      },
    ]);
  });

  test('by the name that was sent, where a field has two', async () => {
    const query = signed('payment/status', { trans_id: ['one', 'two'] }, shop.merchant);
    const found: { error_message: string; param: string }[] = entries(await checkout('payment/status', query));
    expect(found.map(({ error_message, param }) => [error_message.split(': ')[0], param])).toContainEqual([
      'payment_id',
      'trans_id',
    ]);
  });

  test('of calls of the admin API: the accepted names and values, and the section of the reference', async () => {
    expect(entries(await shop.admin('GET', '/payments?statsu=SETTLED&limit=0&mid=x'))).toMatchObject([
      {
        error_message: 'statsu: This parameter does not exist.',
        expected: expect.stringMatching(/^Only q, mid, .*cursor, total\.$/),
        hint: 'Did you mean status?',
        link: '/docs/reference/payments#listPayments',
      },
      { param: 'limit', expected: expect.stringMatching(/^A whole number from 1 to \d+, such as \d+\.$/) },
      { param: 'mid', expected: expect.stringMatching(/^A UUID, such as /) },
    ]);
    expect(entries(await shop.admin('POST', '/accounts', { name: 'Shop', refund_allowed: true }))).toMatchObject([
      { param: 'refund_allowed', hint: 'Did you mean refunds_allowed?', link: '/docs/settings' },
    ]);
  });

  test('every refusal has a header that leads to its cause and cure', async () => {
    const unknown = await shop.status('01a1e3a7-ca9c-7000-a437-142ae3535e68');
    expect(unknown.body.errors).toEqual([]);
    expect(unknown.headers.get('link')).toBe(`<${shop.url}/docs/errors#unknowntransaction>; rel="help"`);
    const route = await shop.admin('GET', '/nothing');
    expect(route.headers.get('link')).toBe(`<${shop.url}/docs/errors#unknownroute>; rel="help"`);
    expect((await shop.sale()).headers.get('link')).toBeNull();
  });
});

describe('keys', () => {
  test('a key in the place of the other one is named', async () => {
    const { client_key, merchant_key, password } = shop.merchant;
    const sale = await shop.sale({}, { ...shop.merchant, client_key: merchant_key });
    expect(sale.body.error_message).toBe('Request data is invalid.');
    expect(entries(sale)).toEqual([
      {
        error_code: 100000,
        error_message: 'client_key: This value is not valid.',
        param: 'client_key',
        expected: 'The client_key of your account, such as test_0f3a…, for requests to /post.',
        hint: 'This is the merchant_key of an account, which is for requests to /api/v1/: send the client_key of the account.',
        link: KEYS,
      },
    ]);
    const opened = await session({}, { ...shop.merchant, merchant_key: client_key, password });
    expect(entries(opened)).toMatchObject([
      { param: 'merchant_key', hint: expect.stringMatching(/^This is the client_key of an account/) },
    ]);
  });

  test('nothing is said about a key that does not exist', async () => {
    const [entry] = entries(await shop.sale({}, { ...shop.merchant, client_key: `test_${'0'.repeat(32)}` }));
    expect(entry).not.toHaveProperty('hint');
  });

  test('a key of the other environment keeps its code, whether it exists or not', async () => {
    const live = { ...shop.merchant, client_key: production.merchant.client_key };
    for (const merchant of [live, { ...live, client_key: 'live_unknown' }]) {
      const { body } = await shop.sale({}, merchant);
      expect(body).toMatchObject({ error_code: 220002, error_message: 'Use merchant test key.' });
      expect(body.errors).toMatchObject([
        {
          error_message: 'client_key: Use merchant test key.',
          hint: 'This is a live key, and this gateway is the sandbox: each has its own keys and password.',
        },
      ]);
    }
    const { body } = await production.sale({}, shop.merchant);
    expect(body.errors).toMatchObject([{ hint: expect.stringMatching(/^This is a test key/) }]);
  });

  test('a key under the name of the other protocol', async () => {
    const { client_key, ...sale } = saleFields(shop.merchant);
    expect(entries(await shop.post({ ...sale, merchant_key: client_key as string }))).toMatchObject([
      {
        error_message: 'client_key: This value should not be blank.',
        hint: 'The request contains merchant_key, which is not a field of it. Did you mean client_key?',
      },
    ]);
  });
});

describe('a wrong hash', () => {
  const md5 = (text: string) => createHash('md5').update(text).digest('hex');
  const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');
  const values = (sale: Fields) =>
    ['identifier', 'order_id', 'order_amount', 'order_currency'].map((name) => sale[name]).join('');

  const MISTAKES: [string, (sale: Fields, password: string) => string, RegExp][] = [
    ['not upper-cased', (sale, password) => sha1(md5(values(sale) + password)), /^The text is not upper-cased/],
    ['only MD5', (sale, password) => md5((values(sale) + password).toUpperCase()), /MD5/],
    [
      'password first',
      (sale, password) => sha1(md5((password + values(sale)).toUpperCase())),
      /^The password is the first/,
    ],
    [
      'other order',
      (sale, password) => sign(password, sale.order_id as string, sale.identifier as string, '10.00USD'),
      /order/,
    ],
    ['other amount', (sale, password) => sign(password, values({ ...sale, order_amount: '10' })), /amount/],
  ];
  test.each(MISTAKES)('made so: %s, is explained in the sandbox', async (name, hashOf, hint) => {
    // Without digits: some numbers would be masked as card numbers.
    const sale = saleFields(shop.merchant, { order_id: name.replaceAll(' ', '-') });
    const answer = await shop.post({ ...sale, hash: hashOf(sale, shop.merchant.password) });
    expect(answer.body).toMatchObject({ error_code: 100000, error_message: 'Hash is not valid' });
    expect(entries(answer)).toEqual([
      {
        error_code: 100000,
        error_message: 'hash: Hash is not valid.',
        param: 'hash',
        expected:
          '40 hex digits: the SHA-1 of the hex MD5 of identifier + order_id + order_amount + order_currency + the password, in upper case and without separators.',
        hint: expect.stringMatching(hint),
        signed_text: `SUCCESS@EXAMPLE.COM${sale.order_id?.toUpperCase()}10.00USD***`,
        link: HASH,
      },
    ]);
  });

  test('over Checkout, and with a signed field under another name', async () => {
    const order = { number: 'a-1', amount: '10.00', currency: 'USD', description: 'Tea' };
    const wrong = await session({ order, hash: sign(shop.merchant.password, 'a-110.00usd') });
    expect(entries(wrong)).toMatchObject([{ param: 'hash', signed_text: 'A-110.00USDTEA***' }]);
    const { identifier, ...sale } = saleFields(shop.merchant, { brand: 'ips', order_currency: 'RSD' });
    expect(entries(await shop.post({ ...sale, identifer: identifier as string }))).toMatchObject([
      { hint: expect.stringMatching(/^The request contains identifer, .* Did you mean identifier\?/) },
    ]);
  });

  test('of many, only some are explained', async () => {
    const merchant = await shop.newMerchant();
    const { hash: _, ...sale } = saleFields(merchant);
    const hash = sha1(md5(values(sale) + merchant.password));
    const answers = await Promise.all(Array.from({ length: 30 }, () => shop.post({ ...sale, hash })));
    const found: { hint: string; signed_text: string }[] = answers.flatMap((answer) => entries(answer));
    expect(new Set(found.map(({ hint }) => hint.slice(0, 20)))).toEqual(
      new Set(['The text is not uppe', 'Compare the text tha']),
    );
    expect(new Set(found.map(({ signed_text }) => signed_text)).size).toBe(1);
  });

  test('is not explained in production', async () => {
    const sale = saleFields(production.merchant);
    const hash = sha1(md5(values(sale) + production.merchant.password));
    const [entry] = entries(await production.post({ ...sale, hash }), production);
    expect(Object.keys(entry)).toEqual(['error_code', 'error_message', 'param', 'expected', 'link']);
  });

  test('tells neither the password, nor a digest, nor a card number', async () => {
    const { password } = shop.merchant;
    const card = '4111111111111111';
    const order = { number: newOrderId(), amount: '10.00', currency: 'USD', description: 'Tea' };
    const { status, body } = await session({ order, hash: sign(password, 'wrong') });
    const halves = [password.slice(0, 16), password.slice(16)];
    // The signed text would contain the password, half of it from each of two fields.
    const spread = await shop.sale({
      identifier: halves[0] as string,
      order_id: halves[1] as string,
      brand: 'ips',
      order_currency: 'RSD',
      hash: '0'.repeat(40),
    });
    const withCard = await shop.sale({ identifier: card, brand: 'ips', order_currency: 'RSD', hash: '0'.repeat(40) });
    const method = await session({ methods: [card] });
    const told = JSON.stringify([body, spread.body, withCard.body, method.body]).toLowerCase();
    expect([status, spread.status, withCard.status, method.status]).toEqual([400, 400, 400, 400]);
    expect(told).not.toContain(password);
    expect(told).not.toContain(card);
    const valid = order.number + order.amount + order.currency + order.description;
    expect(told).not.toContain(sign(password, valid));
    expect(told).not.toContain(md5((valid + password).toUpperCase()));
  });
});

describe('misspelt fields', () => {
  test.each([
    ['return_ulr', 'return_url'],
    ['returnUrl', 'return_url'],
    ['Return_URL', 'return_url'],
    ['success_url', 'return_url'],
    ['description', 'order_description'],
    ['order_ammount', 'order_amount'],
  ])('%s over /post is taken for %s', async (sent, meant) => {
    const { [meant]: value, ...sale } = saleFields(shop.merchant);
    expect(entries(await shop.post({ ...sale, [sent]: value as string }))).toMatchObject([
      {
        error_message: `${meant}: This value should not be blank.`,
        hint: `The request contains ${sent}, which is not a field of it. Did you mean ${meant}?`,
      },
    ]);
  });

  test.each([[{ orderNumber: 'a-1' }], [{ order_id: 'a-1' }], [{ order: { number: undefined, nubmer: 'a-1' } }]])(
    '%j in a session is taken for order.number',
    async (fields) => {
      expect(entries(await session({ order: { number: undefined }, ...fields }))).toMatchObject([
        { param: 'order.number', hint: expect.stringMatching(/Did you mean order\.number\?$/), link: SESSION },
      ]);
    },
  );

  test('an unknown name that resembles nothing is tolerated and not repeated', async () => {
    expect((await shop.sale({ utm_source: 'mail' })).body.status).toBe('SETTLED');
    const { return_url: _, ...sale } = saleFields(shop.merchant);
    const [entry] = entries(await shop.post({ ...sale, utm_source: 'mail' }));
    expect(entry).not.toHaveProperty('hint');
  });

  test('a session that is accepted reports them in the sandbox', async () => {
    const fields = {
      canel_url: 'https://shop.example/basket',
      recurringInit: true,
      cancel_url: undefined,
      methods: ['card', 'ips', 'crad'],
      parameters: { 'upi-b': { upi_Id: 'name@bank' } },
      custom_data: { retrun_url: 'x' },
      utm_source: 'mail',
    };
    const { status, body } = await session(fields);
    expect(status).toBe(200);
    expect(body).toEqual({
      redirect_url: expect.stringContaining(`${shop.url}/pay/`),
      warnings: [
        {
          param: 'canel_url',
          hint: 'The request contains canel_url, which is not a field of it. Did you mean cancel_url?',
          link: shop.url + SESSION,
        },
        expect.objectContaining({ param: 'recurringInit' }),
        expect.objectContaining({ param: 'methods', hint: 'ips takes EUR, RSD, BAM, MKD, and the order is in USD.' }),
        expect.objectContaining({
          param: 'methods',
          hint: 'crad is not a method of this gateway. Did you mean card?',
        }),
        {
          param: 'parameters.upi-b.upi_Id',
          hint: 'The request contains parameters.upi-b.upi_Id, which is not a field of it. Did you mean parameters.upi-b.upi_id?',
          link: `${shop.url}/docs/brands/upi-b`,
        },
      ],
    });
  });

  test('and nothing else in production', async () => {
    const fields = signed('session', sessionFields({ canel_url: 'https://shop.example/' }), production.merchant);
    const { status, body } = await checkout('session', fields, production);
    expect([status, Object.keys(body)]).toEqual([200, ['redirect_url']]);
  });

  test('methods none of which fits: what would fit', async () => {
    const merchant = await shop.newMerchant({ brands: ['card', 'ips', 'vcard'] });
    expect(entries(await session({ methods: ['ips', 'vcrad'] }, merchant))).toEqual([
      {
        error_code: 100000,
        error_message: 'methods: This value should have a method that the account offers for this order.',
        param: 'methods',
        expected: 'A list with some of card, vcard, which the account offers for an order in USD.',
        hint: 'ips takes EUR, RSD, BAM, MKD, and the order is in USD. vcrad is not a method of this gateway. Did you mean vcard?',
        link: SESSION,
      },
    ]);
  });
});

describe('the order in which refusals win is the same', () => {
  let wrong: Fields;
  beforeAll(() => {
    const { return_url: _, ...sale } = saleFields(shop.merchant, { hash: '0'.repeat(40) });
    wrong = { ...sale, success_url: SUCCESS_URL };
  });

  test('key, then fields, then hash', async () => {
    const params = async (fields: Fields) =>
      entries(await shop.post(fields)).map(({ param }: { param: string }) => param);
    expect(await params({ ...wrong, client_key: shop.merchant.merchant_key })).toEqual(['client_key']);
    expect(await params(wrong)).toEqual(['return_url']);
    expect(await params({ ...wrong, return_url: SUCCESS_URL })).toEqual(['hash']);
  });
});
