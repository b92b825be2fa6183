/** Recent API calls of merchants: what is kept, what is masked, who sees it, and the wrong hashes among them. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';
import { checkoutOf, sessionFields } from '../support/checkout.ts';
import { CARD_NUMBER, cardSale, cardSalesOf, reversedSaleHash } from '../support/dialect.ts';
import { newOrderId, openShop, saleFields, sign } from '../support/gateway.ts';
import { holdRates } from '../support/hold-rates.ts';
import { signedIn } from '../support/operators.ts';

const shop = openShop({ simulator: true });

interface Listed {
  id: string;
  [name: string]: unknown;
}

const list = async (query: Record<string, string>): Promise<Listed[]> => {
  const { status, body } = await shop.admin('GET', `/requests?${new URLSearchParams(query)}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.items;
};
const only = async (query: Record<string, string>): Promise<Listed> => {
  const calls = await list(query);
  expect(calls).toHaveLength(1);
  return (await shop.admin('GET', `/requests/${calls[0]?.id}`)).body;
};
const fieldsOf = (call: Listed): Record<string, string> =>
  Object.fromEntries((call.fields as { name: string; value: string }[]).map(({ name, value }) => [name, value]));

describe('a call', () => {
  test('that was accepted is kept with its answer', async () => {
    const order_id = newOrderId();
    const { body, headers } = await shop.sale({ order_id });
    const call = await only({ order_id });
    expect(call).toMatchObject({
      mid: shop.merchant.mid,
      request_id: headers.get('x-request-id'),
      protocol: 's2s',
      action: 'SALE',
      outcome: 'accepted',
      status: 200,
      error_code: null,
      error_message: null,
      payment_id: body.trans_id,
      address: '127.0.0.1',
      explanation: null,
    });
    expect(fieldsOf(call)).toMatchObject({
      order_id,
      order_amount: '10.00',
      client_key: shop.merchant.client_key,
      order_description: 'A test order',
      hash: '[masked]',
    });
    expect(JSON.parse(call.answer as string)).toMatchObject({ status: 'SETTLED', trans_id: body.trans_id });
  });

  test('that was refused is kept with the error, and with the payment that it names', async () => {
    const order_id = newOrderId();
    const { body: sale } = await shop.sale({ order_id });
    const { body } = await shop.post({
      action: 'CAPTURE',
      client_key: shop.merchant.client_key,
      trans_id: sale.trans_id,
      hash: sign(shop.merchant.password, sale.trans_id),
    });
    const call = await only({ payment_id: sale.trans_id, outcome: 'refused' });
    expect(call).toMatchObject({ action: 'CAPTURE', error_code: body.error_code, error_message: body.error_message });
    expect(JSON.parse(call.answer as string)).toEqual(body);
    expect(await list({ payment_id: sale.trans_id })).toHaveLength(2);
  });

  test('of Checkout is kept with the paths of its fields and the payment of its session', async () => {
    const checkout = checkoutOf(shop);
    const { id, orderId } = await checkout.open({ customer: { name: 'Ada' }, recurring_init: true });
    const call = await only({ order_id: orderId });
    expect(call).toMatchObject({ protocol: 'checkout', action: 'session', payment_id: id, outcome: 'accepted' });
    expect(fieldsOf(call)).toMatchObject({ 'order.number': orderId, 'customer.name': 'Ada', recurring_init: 'true' });
    expect(call.answer).toContain(`/pay/${id}.[secret]`);
  });

  test('with an unknown key has no account', async () => {
    const order_id = newOrderId();
    const client_key = `test_${'0'.repeat(32)}`;
    await shop.post({ ...saleFields(shop.merchant, { order_id }), client_key });
    const call = await only({ order_id });
    expect(call).toMatchObject({ mid: null, outcome: 'refused' });
    expect(fieldsOf(call).client_key).toBe('[masked]');
  });

  test('whose body cannot be read has no fields', async () => {
    const { headers } = await fetch(`${shop.url}/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"order":',
    });
    const [call] = await list({ action: 'unknown', outcome: 'refused' });
    expect(call).toMatchObject({ request_id: headers.get('x-request-id'), protocol: 'checkout', mid: null });
    expect((await shop.admin('GET', `/requests/${call?.id}`)).body.fields).toEqual([]);
  });

  test('with characters that the database does not take is kept without them', async () => {
    const order_id = newOrderId();
    await shop.sale({ order_id, payer_city: 'a\0b', 'custom_data[note]': `${'x'.repeat(499)}🍵 tea` });
    const fields = fieldsOf(await only({ order_id }));
    expect([fields.payer_city, fields['custom_data[note]']]).toEqual(['[masked]', `${'x'.repeat(499)}\ufffd…`]);
    const number = newOrderId();
    const { merchant_key } = shop.merchant;
    const body = JSON.stringify({ merchant_key, order: { number }, customer: { name: 'X' } }).replace('X', '\\ud800');
    const headers = { 'content-type': 'application/json' };
    const { status } = await fetch(`${shop.url}/api/v1/session`, { method: 'POST', headers, body });
    expect(status).toBe(400);
    expect(fieldsOf(await only({ order_id: number }))['customer.name']).toBe('[masked]');
  });

  test('of the payer is not kept', async () => {
    const { url, orderId } = await checkoutOf(shop).open();
    await fetch(url);
    expect(await list({ order_id: orderId })).toHaveLength(1);
  });
});

describe('a call of an account with dialect.card_sales', () => {
  const started = async (settings = {}) => {
    const merchant = await shop.newMerchant({ dialect: { card_sales: true }, ...settings });
    return { merchant, sell: cardSalesOf(shop, () => merchant) };
  };

  test('is kept with its action, without anything of the card, and found by it', async () => {
    const { merchant, sell } = await started();
    const { mid, client_key, password } = merchant;
    const { trans_id } = (await sell({ action: 'AUTH', req_token: 'Y' })).body;
    await sell();
    await shop.post({ action: 'GET_TRANS_DETAILS', client_key, trans_id, hash: sign(password, trans_id) });
    const order = { order_id: newOrderId(), order_amount: '1.00', order_currency: 'USD', order_description: 'Back' };
    const hash = sign(password, ...Object.values(order));
    const payee = { payee_first_name: 'Ana', payee_country: 'DE' };
    await shop.post({ action: 'CREDIT2CARD', client_key, ...order, ...payee, card_number: CARD_NUMBER, hash });
    expect((await list({ mid })).map(({ action, outcome }) => [action, outcome])).toEqual([
      ['CREDIT2CARD', 'accepted'],
      ['GET_TRANS_DETAILS', 'accepted'],
      ['SALE', 'accepted'],
      ['AUTH', 'accepted'],
    ]);
    for (const action of ['AUTH', 'GET_TRANS_DETAILS', 'CREDIT2CARD']) await only({ mid, action });
    expect(fieldsOf(await only({ mid, action: 'CREDIT2CARD' }))).toMatchObject({ ...order, ...payee });
    const authorised = await only({ mid, action: 'AUTH' });
    expect(authorised.payment_id).toBe(trans_id);
    expect(fieldsOf(authorised)).toMatchObject({ card_exp_month: '[masked]', card_exp_year: '[masked]' });
    expect(JSON.stringify(authorised)).not.toContain('1111');
  });

  test('to /post-va is kept as its sale', async () => {
    const { merchant } = await started();
    const sale = saleFields(merchant);
    const { status } = await fetch(`${shop.url}/post-va`, { method: 'POST', body: new URLSearchParams(sale) });
    expect(status).toBe(200);
    expect(await only({ mid: merchant.mid })).toMatchObject({ action: 'SALE', order_id: sale.order_id });
  });

  test('is kept with its action, too, if the account does not take it', async () => {
    const { merchant, sell } = await started({ dialect: { card_sales: false } });
    expect((await sell({ action: 'AUTH' })).status).toBe(404);
    const call = await only({ mid: merchant.mid, action: 'AUTH' });
    expect(call).toMatchObject({ outcome: 'refused', status: 404, error_code: 0 });
    expect(JSON.stringify(call)).not.toContain('1111');
  });
});

describe('masked are', () => {
  const refused = async (fields: Record<string, string>) => {
    const order_id = newOrderId();
    await shop.post({ ...saleFields(shop.merchant, { order_id, ...fields }), order_amount: 'wrong' });
    const rows = await shop.rows(`select * from api_calls order by call_id desc limit 1`);
    const call = await only({ order_id });
    return { fields: fieldsOf(call), row: JSON.stringify([call, rows]) };
  };

  test.each([
    ['the password of the account', 'order_description', () => `pw ${shop.merchant.password.toUpperCase()}`],
    ['a card number', 'order_description', () => 'Card 4111 1111 1111 1111, 123'],
    ['a card number with unusual separators', 'payer_address', () => '4111/1111/1111/1111'],
    ['a card number in wide digits', 'payer_city', () => '４１１１１１１１１１１１１１１１'],
    ['a card number in percent-encoding', 'payer_city', () => '4111%201111%201111%201111'],
    ['a hash', 'custom_data[note]', () => 'a'.repeat(40)],
    ['the secret of a brand', 'parameters[SecurityQuestionAnswer]', () => 'Rex the cat'],
    ['a voucher', 'parameters[pin]', () => '6337180011223341'],
    ['an entry of a secret list', 'parameters[payee_identifications][0][identification]', () => '31926819'],
    ['a token', 'recurring_token', () => 'something opaque'],
    // Longer than a real one, so that it does not occur in a time or an id by chance.
    ['a security code', 'card_cvv', () => '912-912-912'],
    ['a field that no operation has', 'note_to_self', () => 'what is this'],
  ])('%s', async (_, name, value) => {
    const sent = value();
    const { fields, row } = await refused({ [name]: sent });
    expect(fields[name]).toBe('[masked]');
    expect(row).not.toContain(sent);
  });

  test('a name that contains a card number', async () => {
    const { fields, row } = await refused({ 'custom_data[4111111111111111]': 'x' });
    expect(Object.keys(fields)).toContain('[masked]');
    expect(row).not.toContain('4111111111111111');
  });

  test('nothing else: texts with numbers stay readable, and long ones are cut', async () => {
    const { fields } = await refused({
      order_description: 'Order 2026-11-16 05:47:20, 2 × tea, +44 7911 123455',
      payer_phone: '+447911123455',
      'custom_data[note]': 'x'.repeat(3000),
    });
    expect(fields).toMatchObject({
      order_description: 'Order 2026-11-16 05:47:20, 2 × tea, +44 7911 123455',
      payer_phone: '+447911123455',
      'custom_data[note]': `${'x'.repeat(LIMITS.apiCallValueLength)}…`,
    });
  });
});

describe('the list', () => {
  test('is filtered, and read in pages', async () => {
    const merchant = await shop.newMerchant();
    const { mid } = merchant;
    for (let count = 0; count < 3; count++) await shop.sale({}, merchant);
    await shop.sale({ order_amount: 'x' }, merchant);
    await shop.post({ ...saleFields(merchant), hash: '0'.repeat(40) });
    expect(await list({ mid })).toHaveLength(5);
    expect(await list({ mid, outcome: 'accepted' })).toHaveLength(3);
    expect(await list({ mid, error_code: '100000' })).toHaveLength(2);
    expect(await list({ mid, error_message: 'Hash is not valid' })).toHaveLength(1);
    expect(await list({ mid, error_code: '101000' })).toEqual([]);
    expect(await list({ mid, action: 'CAPTURE' })).toEqual([]);
    expect(await list({ mid, to: '2020-01-01' })).toEqual([]);
    expect(await list({ mid, from: '2020-01-01' })).toHaveLength(5);
    const first = (await shop.admin('GET', `/requests?mid=${mid}&limit=2`)).body;
    const second = (await shop.admin('GET', `/requests?mid=${mid}&limit=3&cursor=${first.next_cursor}`)).body;
    expect(second.next_cursor).toBeNull();
    const ids = [...first.items, ...second.items].map(({ id }: Listed) => id);
    expect(ids).toEqual((await list({ mid })).map(({ id }) => id));
    expect(ids).toEqual(ids.toSorted().reverse());
  });

  test.each([
    ['mid=x', 'mid'],
    ['outcome=maybe', 'outcome'],
    ['action=DANCE', 'action'],
    ['error_code=x', 'error_code'],
  ])('refuses %s', async (query, field) => {
    const { status, body } = await shop.admin('GET', `/requests?${query}`);
    expect([status, body.errors[0].error_message]).toEqual([400, expect.stringMatching(new RegExp(`^${field}: `))]);
  });

  test('shows a caller its own accounts only', async () => {
    const [own, other] = [await shop.newMerchant(), await shop.newMerchant()];
    for (const merchant of [own, other]) await shop.sale({}, merchant);
    await shop.post({ action: 'SALE', client_key: `test_${'1'.repeat(32)}` });
    const { token } = (await shop.admin('POST', '/tokens', { name: 'x', role: 'merchant', mids: [own.mid] })).body;
    const { items } = (await shop.admin('GET', '/requests', undefined, token)).body;
    expect(items.map(({ mid }: Listed) => mid)).toEqual([own.mid]);
    const foreign = [(await only({ mid: other.mid })).id, (await list({ action: 'SALE' })).find(({ mid }) => !mid)?.id];
    for (const id of [...foreign, own.mid, 'nonsense']) {
      const { status, body } = await shop.admin('GET', `/requests/${id}`, undefined, token);
      expect([status, body.error_message]).toEqual([404, 'Request does not exist.']);
    }
  });
});

describe('keeping', () => {
  test('accepted calls are a sample, and refused ones are all kept', async () => {
    const merchant = await shop.newMerchant({ requests_per_second: 0 });
    const burst = (LIMITS.apiCallsPerAccount * LIMITS.apiCallsBurstMs) / 1000;
    holdRates();
    const transId = (await shop.sale({}, merchant)).body.trans_id;
    for (let count = 0; count < burst + 40; count++) await shop.status(transId, merchant);
    for (let count = 0; count < 20; count++) await shop.sale({ order_amount: 'x' }, merchant);
    const { mid } = merchant;
    const accepted = await list({ mid, outcome: 'accepted', limit: '500' });
    expect(accepted).toHaveLength(burst);
    expect(await list({ mid, outcome: 'refused' })).toHaveLength(20);
    expect(await (await fetch(`${shop.url}/metrics`)).text()).toMatch(/not_kept_total\{why="sampled"\} [1-9]/);
  });

  test('calls beyond the number of an account are deleted', async () => {
    const merchant = await shop.newMerchant();
    const { mid } = merchant;
    await shop.sale({}, merchant);
    const { id } = await only({ mid });
    const copy = (callId: string, count: number) =>
      shop.rows(`insert into api_calls select (jsonb_populate_record(c, jsonb_build_object('call_id', ${callId}))).*
        from api_calls c, generate_series(1, ${count}) n where c.call_id = '${id}'`);
    await copy(`overlay('${id}' placing lpad(n::text, 12, '0') from 25)`, LIMITS.apiCallsKeptMost + 50);
    await shop.gateway.callRecorder.sweep(() => false);
    const [row] = await shop.rows(`select count(*)::int as count from api_calls where mid = '${mid}'`);
    expect(row?.count).toBe(LIMITS.apiCallsKeptMost);
  });
});

describe('a wrong hash', () => {
  const wrong = async () => {
    const merchant = await shop.newMerchant();
    const fields = saleFields(merchant, { order_id: 'tea-1' });
    // The client signs the values in lower case.
    const text = `${fields.identifier}tea-110.00USD${merchant.password}`;
    const hash = createHash('sha1').update(createHash('md5').update(text).digest('hex')).digest('hex');
    await shop.post({ ...fields, hash });
    return { merchant, hash, call: await only({ mid: merchant.mid }) };
  };

  test('is explained when it is kept, without the hash and the password', async () => {
    const { merchant, hash, call } = await wrong();
    expect(call.explanation).toMatchObject({
      signed_text: 'SUCCESS@EXAMPLE.COMTEA-110.00USD***',
      mistakes: ['not_upper_cased'],
      fields: expect.arrayContaining([{ name: 'order_id', value: 'tea-1' }]),
    });
    const stored = JSON.stringify(await shop.rows(`select * from api_calls where mid = '${merchant.mid}'`));
    for (const secret of [hash, merchant.password, merchant.password.toUpperCase()])
      expect(stored).not.toContain(secret);
  });

  test('of the recipe reversed_md5 is kept with the text of that recipe', async () => {
    const merchant = await shop.newMerchant({ dialect: { card_sales: true, hash: 'reversed_md5' } });
    const sale = cardSale(merchant, { order_id: 'tea' });
    const hash = reversedSaleHash({ ...merchant, password: 'another' }, sale);
    await shop.post({ ...sale, hash });
    const { explanation } = await only({ mid: merchant.mid });
    expect(explanation).toMatchObject({ signed_text: 'MOC.ELPMAXE@ANA***1111111114', mistakes: ['unknown'] });
  });

  test('can be picked in the debugger', async () => {
    const { merchant, call } = await wrong();
    const operator = await signedIn(shop, 'support', [merchant.mid]);
    const { text } = await operator.get('/admin/debugger');
    expect(text).toContain(`/admin/debugger?call=${call.id}`);
    const picked = await operator.get(`/admin/debugger?call=${call.id}`);
    expect(picked.status).toBe(200);
    expect(picked.text).toContain('SUCCESS@EXAMPLE.COMTEA-110.00USD***');
    expect(picked.text).toContain('not_upper_cased');
    const stranger = await signedIn(shop, 'merchant', [shop.merchant.mid]);
    expect((await stranger.get(`/admin/debugger?call=${call.id}`)).status).toBe(404);
    expect((await stranger.get('/admin/debugger')).text).not.toContain(call.id);
  });
});

describe('the panel', () => {
  test('lists calls, filters them and shows one', async () => {
    const merchant = await shop.newMerchant();
    const order_id = newOrderId();
    await shop.sale({ order_id }, merchant);
    await shop.sale({ order_amount: 'x' }, merchant);
    const operator = await signedIn(shop, 'viewer');
    const { text } = await operator.get(`/admin/requests?mid=${merchant.mid}&outcome=accepted`);
    expect(text).toContain(order_id);
    expect(text).not.toContain('Request data is invalid.');
    const { id, payment_id } = await only({ order_id });
    const page = await operator.get(`/admin/requests/${id}`);
    expect(page.text).toContain(`/admin/payments/${payment_id}`);
    expect(page.text).toContain('[masked]');
    expect(page.text).not.toContain('/admin/debugger?call=');
    expect((await operator.get('/admin/requests?order_id=none-of-this-name')).text).toContain('No API call matches');
    const stranger = await signedIn(shop, 'merchant', [shop.merchant.mid]);
    expect((await stranger.get(`/admin/requests/${id}`)).status).toBe(404);
    expect((await stranger.get(`/admin/requests?order_id=${order_id}`)).text).not.toContain(merchant.mid);
  });

  test('a wrong session hash leads to the debugger', async () => {
    const checkout = checkoutOf(shop);
    const fields = sessionFields();
    await checkout.sendBody('session', { ...fields, merchant_key: shop.merchant.merchant_key, hash: '1'.repeat(40) });
    const [call] = await list({ action: 'session', error_message: 'Hash is not valid' });
    const operator = await signedIn(shop, 'operator');
    expect((await operator.get(`/admin/requests/${call?.id}`)).text).toContain(`/admin/debugger?call=${call?.id}`);
  });
});
