/** Known card numbers and security codes pass through every path; then the database, log and responses must not contain them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CVV, disguises, found, grouped, hasCode, NUMBERS } from './support/canaries.ts';
import {
  type Body,
  cardForm,
  checkoutOf,
  creditFields,
  type FetchedPage,
  fill,
  follow,
  marked,
  sessionFields,
  show,
  signed,
  VCARD,
} from './support/checkout.ts';
import { cardSale, inboxOf, reversedSaleHash, specifiedHash } from './support/dialect.ts';
import {
  type Fields,
  type Merchant,
  newOrderId,
  saleFields,
  sign,
  startTestGateway,
  type TestGateway,
} from './support/gateway.ts';

const [VISA = '', MASTERCARD = '', AMEX = ''] = NUMBERS;

let shop: TestGateway;
let checkout: ReturnType<typeof checkoutOf>;
const answers: string[] = [];
const { fetch } = globalThis;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true, logLevel: 'trace' });
  checkout = checkoutOf(shop);
  const { mid } = shop.merchant;
  await shop.admin('PATCH', `/accounts/${mid}`, { callback_url: `${shop.url}/sandbox/callbacks/${mid}` });
  globalThis.fetch = async (...request) => {
    const response = await fetch(...request);
    if (String(request[0]).startsWith(shop.url)) {
      answers.push(JSON.stringify([...response.headers]) + (await response.clone().text()));
    }
    return response;
  };
});
afterAll(async () => {
  globalThis.fetch = fetch;
  await shop.close();
});

const PAN_SPACED = grouped(VISA, ' ');
const form = (fields: Fields = {}): Fields => cardForm({ card_number: VISA, card_cvv: CVV, ...fields });

/** Submits the first form of a page, as a browser does. */
function press({ text, url }: FetchedPage, fields: Fields = {}): Promise<FetchedPage> {
  const [, action = ''] = /<form[^>]*\saction="([^"]*)"/.exec(text) ?? [];
  const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const values = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]));
  return fill(new URL(action.replaceAll('&amp;', '&'), url).href, { ...values, ...fields });
}

describe('cards in the intended fields', () => {
  test('every network and every outcome: paid, declined, authorised, connection lost', async () => {
    for (const card_number of NUMBERS) {
      const { status } = await fill((await checkout.open({ methods: ['card'] })).url, form({ card_number }));
      expect(status).toBe(303);
    }
    for (const card_expiry of ['02/38', '03/38', '12/38', '12/39', '01/39']) {
      const { url } = await checkout.open({ methods: ['card'] });
      await fill(url, form({ card_expiry, card_number: grouped(MASTERCARD, ' ') }));
      await show(url);
    }
  });

  test('forms that the script of the page sends: paid, declined, refused, sent too late, and what others see', async () => {
    const { url } = await checkout.open({ methods: ['card', 'vcard'] });
    for (const fields of [
      { card_cvv: '1' },
      { card_number: `${VISA}1` },
      { card_holder: VISA },
      { card_expiry: '02/38', attempt: '1' },
      { card_expiry: '01/38', attempt: '1' },
    ]) {
      await fill(url, form({ ...fields, answer: 'json' }));
      for (const address of [url, `${url}?method=card`, `${url}?method=card&lang=de`, `${url}/status`])
        await show(address);
    }
    expect((await fill(url, form({ attempt: '2', answer: 'json' }))).text).toContain('location');
  });

  test.each(['05/38', '06/38'])('3DS challenge, expiry %s', async (card_expiry) => {
    const { url, id } = await checkout.open({ methods: ['card'], req_token: true });
    const challenge = await follow(await fill(url, form({ card_expiry })));
    const bank = await press(challenge);
    const sent = await press(bank, { code: '1234' });
    await press(sent);
    expect(await checkout.stateOf(id)).toBe(card_expiry === '05/38' ? 'settled' : 'decline');
  });

  test('a card that the browser keeps after a decline, shown to its payer and to others, and sent again', async () => {
    for (const card_number of NUMBERS) {
      const { url } = await checkout.open({ methods: ['card'] });
      const { headers } = await fill(url, form({ card_number, card_expiry: '02/38' }));
      const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
      for (const address of [url, `${url}?method=card&lang=de`, `${url}/status`]) {
        await show(address, { headers: { cookie } });
        await show(address);
      }
      const again = form({ card_number: '', saved_card: 'kept' });
      for (const sentCookie of ['', cookie.replace(/=.{20}/, `=${'A'.repeat(20)}`), cookie.slice(0, -9)])
        expect((await fill(url, again, { cookie: sentCookie })).status).toBe(422);
      await fill(url, { ...again, card_cvv: '1' }, { cookie });
      await fill(url, { ...again, card_cvv: '1', answer: 'json' }, { cookie });
      expect((await fill(url, again, { cookie })).location).toContain('shop.example');
    }
  });

  test('saved, recurring, refunded, credited, charged back', async () => {
    const { id, token } = await checkout.paidByCard({ recurring_init: true }, undefined, form());
    const { url } = await checkout.open({ methods: ['card'], card_token: token });
    await show(url);
    const [{ id: cardId } = {}] = await shop.rows(
      `select details -> 'card' ->> 'id' as id from payments where payment_id = '${id}'`,
    );
    await fill(url, { method: 'card', saved_card: String(cardId), card_cvv: '1' });
    expect((await fill(url, { method: 'card', saved_card: String(cardId), card_cvv: CVV })).status).toBe(303);
    const { recurring_token } = (await checkout.status({ payment_id: id })).body;
    const order = { number: newOrderId(), amount: '3.00', description: 'Tea' };
    await checkout.send('payment/recurring', { recurring_init_trans_id: id, recurring_token, order });
    await checkout.send('payment/refund', { payment_id: id, amount: '1.00' });
    expect((await checkout.send('payment/card/credit', creditFields({ card_token: token }))).status).toBe(200);
    await shop.sandbox('POST', `/payments/${id}`, { chargeback: true });
    await checkout.inspect(id);
  });

  test('to the provider: a card number as the account of a payee and as a voucher in a session', async () => {
    const payee = { payee_name: 'Tea House', payee_country: 'GB' };
    const payee_identifications = NUMBERS.map((identification) => ({ type: 'PAN', identification }));
    const parameters = { 'open-banking-a': { ...payee, payee_identifications }, 'pin-a': { pin: VISA } };
    const { url, id, orderId } = await checkout.open({ methods: ['open-banking-a', 'pin-a', 'vcard'], parameters });
    await fill(url, VCARD.decline);
    await show(url);
    for (const method of ['open-banking-a', 'pin-a']) await show(`${url}?method=${method}`);
    const { location } = await fill(url, { method: 'open-banking-a' });
    await follow(await fill(location, { decision: 'decline' }));
    expect((await fill(url, { method: 'pin-a' })).status).toBe(303);
    expect(await checkout.attempts(orderId)).toHaveLength(3);
    expect(await checkout.stateOf(id)).toBe('decline');
    await checkout.inspect(id);
    // Malformed values are sealed, too.
    for (const wrong of [VISA, [VISA], [{ type: 'IBAN', identification: VISA }], { pan: VISA }, [[VISA]]]) {
      const sent = { 'open-banking-a': { ...payee, payee_identifications: wrong }, 'pin-a': { pin: [VISA] } };
      await checkout.send('session', sessionFields({ methods: ['open-banking-a'], parameters: sent }));
      const session = await checkout.open({ methods: ['open-banking-a', 'vcard'], parameters: sent });
      await show(session.url);
      await fill(session.url, { method: 'open-banking-a' });
      await checkout.inspect(session.id);
    }
  });
});

describe('cards over /post', () => {
  const merchants: Merchant[] = [];
  beforeAll(async () => {
    for (const hash of ['specified', 'reversed_md5']) {
      const merchant = await shop.newMerchant({ dialect: { card_sales: true, hash } });
      await shop.admin('PATCH', `/accounts/${merchant.mid}`, inboxOf(shop, merchant));
      merchants.push(merchant);
    }
  });
  /** The code has four digits, as the cards of one network. */
  const sale = (merchant: Merchant, fields: Fields = {}): Fields => {
    const sent = cardSale(merchant, { card_number: AMEX, card_cvv2: CVV, ...fields });
    return { ...sent, hash: fields.hash ?? specifiedHash(merchant, sent) };
  };

  test('every outcome: paid, declined, authorised, checked, challenged, connection lost, beyond a limit', async () => {
    for (const merchant of merchants) {
      for (const card_exp_month of ['01', '02', '03', '05', '06', '12']) {
        const { body } = await shop.post(sale(merchant, { card_exp_month, recurring_init: 'Y', req_token: 'Y' }));
        expect(body.trans_id).toBeTruthy();
        await shop.post({ ...sale(merchant), action: 'GET_TRANS_DETAILS', trans_id: body.trans_id });
        await shop.inspect(body.trans_id);
      }
      await shop.post(sale(merchant, { action: 'AUTH', order_amount: '0.00' }));
      await shop.post(sale(merchant, { card_exp_month: '12', card_exp_year: '2039' }));
      const sent = cardSale(merchant, { card_number: AMEX, card_cvv2: CVV });
      await shop.post({ ...sent, hash: reversedSaleHash(merchant, sent) });
      const order = [newOrderId(), '1.00', 'USD', 'Back'] as const;
      const [order_id, order_amount, order_currency, order_description] = order;
      const fields = { order_id, order_amount, order_currency, order_description, card_number: AMEX };
      const hash = sign(merchant.password, ...order);
      await shop.post({ action: 'CREDIT2CARD', client_key: merchant.client_key, ...fields, hash });
      await shop.admin('PATCH', `/accounts/${merchant.mid}`, { card_failures_per_address: 1 });
      const { body } = await shop.post(sale(merchant, { card_exp_month: '02' }));
      expect(body.status).toBe('DECLINED');
      await shop.admin('PATCH', `/accounts/${merchant.mid}`, { card_failures_per_address: 0 });
    }
  });

  test('every refusal: of each field, the hash, the key, the account, the body', async () => {
    for (const merchant of [...merchants, shop.merchant]) {
      for (const name of Object.keys(sale(merchant))) {
        const values = ['', AMEX, `${AMEX} ${CVV}`];
        await Promise.all(values.map((value) => shop.post(sale(merchant, { [name]: value }))));
      }
      for (const action of ['AUTH', 'CREDIT2CARD', 'GET_TRANS_DETAILS', 'REFUND', 'CAPTURE', 'CREATE_SCHEDULE']) {
        await shop.post(sale(merchant, { action }));
        await shop.post(sale(merchant, { action, hash: 'wrong' }));
      }
      for (const more of [
        { brand: 'vcard' },
        { 'card_number[0]': AMEX },
        { card_token: AMEX },
        { card_number: VISA },
        { 'custom_data[pan]': AMEX },
        { client_key: `test_${AMEX}` },
        { client_key: 'live_x' },
      ] as Fields[]) {
        await shop.post(sale(merchant, more));
      }
      const form = new URLSearchParams(sale(merchant)).toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      for (const body of [`${form}&card_number=${VISA}`, `${form}&x=%zz`, `${form}&card_cvv2=${CVV}`]) {
        await show(`${shop.url}/post`, { method: 'POST', body, headers });
        await show(`${shop.url}/post-va`, { method: 'POST', body, headers });
      }
      const multipart = new FormData();
      for (const [name, value] of Object.entries(sale(merchant, { hash: 'wrong' }))) multipart.set(name, value);
      await show(`${shop.url}/post/`, { method: 'POST', body: multipart });
      await show(`${shop.url}/post`, { method: 'POST', body: `${form}&filler=${'x'.repeat(7_000_000)}`, headers });
      await shop.admin('POST', '/explain', { mid: merchant.mid, request: form });
      await shop.admin('PATCH', `/accounts/${merchant.mid}`, { suspended: true });
      await shop.post(sale(merchant));
      await shop.admin('PATCH', `/accounts/${merchant.mid}`, { suspended: false });
    }
  }, 180_000);
});

describe('cards in other fields', () => {
  test('a card form with values in wrong fields', async () => {
    const { url } = await checkout.open({ methods: ['card'] });
    for (const wrong of [
      { card_number: `${VISA.slice(0, -1)}0` },
      { card_number: `${VISA}${MASTERCARD}` },
      { card_expiry: VISA },
      { card_expiry: `01/38 ${PAN_SPACED}` },
      { card_expiry: '01/20' },
      { card_holder: VISA },
      { card_holder: PAN_SPACED, card_cvv: '' },
      { card_holder: `Ada ${VISA} Byron`, card_expiry: '' },
      { card_cvv: VISA },
      { card_cvv: `${CVV}9` },
      { method: VISA },
      { saved_card: VISA },
      { [VISA]: VISA },
    ] as Fields[]) {
      const { status } = await fill(url, form(wrong));
      if (status === 303) await show(url);
    }
    await show(`${url}?card_number=${VISA}&card_cvv=${CVV}`);
    await show(`${shop.url}/pay/${VISA}`);
    await fill(`${url}${VISA}`, form());
    await show(url, { method: 'POST', body: `card_number=${VISA}&card_number=${VISA}&x%` });
    await show(url, { method: 'POST', body: JSON.stringify(form()), headers: { 'content-type': 'application/json' } });
  });

  test('a card number as the name of the payer', async () => {
    const parameters = { 'parameters[bank_code]': 'DEUTDEFF', 'parameters[bank_account_number]': '532013000' };
    const form = { method: 'bank-a', payer_first_name: 'Ada', payer_last_name: 'Byron', ...parameters };
    const { url, id } = await checkout.open({ methods: ['bank-a'] });
    for (const name of ['payer_first_name', 'payer_last_name']) {
      const { status, text } = await fill(url, { ...form, [name]: PAN_SPACED });
      expect([status, marked(text)]).toEqual([422, [name]]);
    }
    expect((await fill(url, form)).status).toBe(303);
    expect(await checkout.stateOf(id)).not.toBe('prepare');
  });

  test('every field of a refused sale, and every text field of an accepted one', async () => {
    const fields = Object.keys(saleFields(shop.merchant));
    const more = ['payer_first_name', 'payer_email', 'parameters[document_number]', 'parameters[pin]', 'card_number'];
    for (const name of [...fields, ...more, 'custom_data[note]', 'schedule_id', VISA]) {
      for (const value of [VISA, PAN_SPACED, `${VISA} ${CVV}`]) {
        await shop.post({ ...saleFields(shop.merchant, { [name]: value }), hash: 'wrong' });
        await shop.post(saleFields(shop.merchant, { [name]: value, order_amount: 'wrong' }));
      }
    }
    for (const [name, value] of [
      ['order_description', VISA],
      ['order_description', `Card ${grouped(MASTERCARD, '-')}, thank you`],
      ['order_description', grouped(AMEX, ' ')],
      ['custom_data[note]', `pan=${VISA}`],
      ['custom_data[a][b]', PAN_SPACED],
      [`custom_data[${VISA}]`, 'x'],
      ...['first_name', 'last_name', 'address', 'city', 'state'].map((name) => [`payer_${name}`, PAN_SPACED]),
    ] as [string, string][]) {
      const { status, body } = await shop.post(saleFields(shop.merchant, { [name]: value }));
      expect([status, body.error_code], name).toEqual([400, 100000]);
      expect(body.errors[0].error_message).toMatch(/: This value looks like a card number|custom_data/);
    }
  });

  test('every text field of a session, and every field of a refused one', async () => {
    const texts: Body[] = [
      { order: { description: `Tea ${VISA}` } },
      { custom_data: { note: PAN_SPACED } },
      { custom_data: { [VISA]: 'x' } },
      { customer: { name: `Ada ${VISA}` } },
      ...['address', 'city', 'state', 'district'].map((name) => ({ billing_address: { [name]: PAN_SPACED } })),
    ];
    for (const fields of texts) {
      const { status, body } = await checkout.send('session', sessionFields(fields));
      expect(status).toBe(400);
      expect(body.errors[0].error_message).toContain('looks like a card number');
    }
    for (const path of ['session', 'payment/status', 'payment/card/credit', 'payment/refund', 'payment/recurring']) {
      const body = signed(path, { ...sessionFields(), ...creditFields() }, shop.merchant);
      for (const name of [...Object.keys(body), 'payment_id', 'card_number', 'cvv', VISA]) {
        await checkout.sendBody(path, { ...body, [name]: VISA, hash: 'wrong' });
        await checkout.sendBody(path, { ...body, [name]: { number: VISA, cvv: CVV } });
      }
    }
  });

  test('a description may contain the order number, and numbers that are not card numbers', async () => {
    const order_id = newOrderId();
    for (const [id, order_description] of [
      [`${order_id}-4000056655665556`, 'Order 4000056655665556'],
      [newOrderId(), 'Order 4000056655665557'],
      [newOrderId(), 'Invoice 2026010100000001, account 000000000012345674'],
    ] as [string, string][]) {
      expect((await shop.sale({ order_id: id, order_description })).status, order_description).toBe(200);
    }
  });

  test('malformed bodies, unknown paths, headers', async () => {
    const headers = { 'content-type': 'application/json', 'user-agent': `card ${VISA}`, 'x-request-id': VISA };
    for (const path of ['/post', '/api/v1/session', '/admin/api/accounts', `/api/v1/${VISA}`, `/${VISA}?cvv=${CVV}`]) {
      for (const body of [`{"card_number":"${VISA}","cvv":"${CVV}"`, `number=${VISA}&cvv=${CVV}`, `"${PAN_SPACED}"`]) {
        await show(shop.url + path, { method: 'POST', body, headers });
        await show(shop.url + path, { method: 'POST', body });
      }
    }
    await show(`${shop.url}/post`, {
      method: 'POST',
      body: `card_number=${VISA}&filler=${'x'.repeat(7_000_000)}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    await shop.admin('GET', `/payments/${VISA}`, undefined, VISA);
    await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, { callback_url: VISA, authorisation_days: CVV });
    await shop.sandbox('POST', `/payments/${VISA}`, { card: VISA });
    await shop.post({ action: VISA, client_key: VISA, hash: sign(VISA, VISA) });
  });

  test('the operator reads everything', async () => {
    const { items } = (await shop.admin('GET', '/payments?limit=500')).body;
    for (const { payment_id } of items) await shop.admin('GET', `/payments/${payment_id}`);
    await shop.admin('GET', '/accounts');
    const calls = (await shop.admin('GET', '/requests?limit=500')).body.items;
    for (const { id } of calls) await shop.admin('GET', `/requests/${id}`);
    expect(calls.length).toBeGreaterThan(100);
    await show(`${shop.url}/metrics`);
    await checkout.paid({}, undefined, 'success').then(({ url }) => fill(url, VCARD.success));
    expect(items.length).toBeGreaterThan(10);
  });
});

describe('afterwards', () => {
  test('the merchant has received all callbacks', async () => {
    const received = async (): Promise<number> => {
      await shop.gateway.deliverer.drain();
      return (await shop.sandbox('GET', `/callbacks/${shop.merchant.mid}`)).body.items.length;
    };
    await expect.poll(received, { timeout: 20_000 }).toBeGreaterThan(20);
    await shop.gateway.callRecorder.close();
  });

  test('no table of the database contains them', async () => {
    const tables = await shop.rows(
      `select table_name as name from information_schema.tables where table_schema = 'public'`,
    );
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['cards', 'payments', 'history', 'operations', 'api_calls']),
    );
    for (const { name } of tables) {
      const rows = await shop.rows(`select t::text as whole, to_jsonb(t) as parts from ${name} t`);
      for (const { whole, parts } of rows) {
        expect(found(String(whole)), String(name)).toEqual([]);
        const words = Object.entries(parts as Body).filter(([column]) => !/(_at|_id|^mid|sealed)$/.test(column));
        expect(hasCode(JSON.stringify(words)), `a code in ${name}`).toBe(false);
      }
    }
    const [{ cards } = {}] = await shop.rows('select count(*)::int as cards from cards');
    expect(cards).toBeGreaterThan(NUMBERS.length);
  });

  test('only the numbers of tokens, recurring payments and open payments are stored, sealed', async () => {
    const stored = await shop.rows(`select p.state, p.authorised::int as authorised,
        p.recurring_token is not null or p.details #>> '{card,token}' is not null as is_needed
      from cards c join payments p using (mid, payment_id) where c.sealed is not null`);
    const [{ erased } = {}] = await shop.rows('select count(*)::int as erased from cards where sealed is null');
    expect(stored.length).toBeGreaterThan(0);
    expect(erased).toBeGreaterThan(NUMBERS.length);
    for (const { state, authorised, is_needed } of stored) {
      if (!is_needed) expect([state, authorised]).toEqual([expect.stringMatching(/^(3DS|REDIRECT|PENDING)$/), 0]);
    }
  });

  test('no line of the log contains them', () => {
    expect(shop.logs.length).toBeGreaterThan(100);
    for (const line of shop.logs) {
      expect(found(line)).toEqual([]);
      expect(hasCode(line)).toBe(false);
    }
  });

  test('no response contains them', () => {
    expect(answers.length).toBeGreaterThan(200);
    for (const answer of answers) {
      expect(found(answer), answer.slice(0, 300).replace(/\d/g, '#')).toEqual([]);
      expect(hasCode(answer)).toBe(false);
    }
  });

  test('the search finds a card number when there is one', () => {
    for (const digits of NUMBERS)
      for (const [, text] of disguises(digits)) expect(found(`x ${text} y`)).not.toEqual([]);
    const json = Buffer.from(`{"pan":"${VISA}"}`);
    for (const text of [json.toString('base64'), json.toString('hex'), encodeURIComponent(PAN_SPACED)]) {
      expect(found(text)).not.toEqual([]);
    }
    expect(hasCode(`{"cvv":"${CVV}"}`)).toBe(true);
  });
});
