/** Payment links: made by the admin API and by a merchant's program, opened, paid, used up, switched off. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type Body, checkoutOf, type FetchedPage, fill, follow, show, VCARD } from '../support/checkout.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';
import { expectSafe } from '../support/pages.ts';

const shop = openShop();
const checkout = checkoutOf(shop);

let own: Merchant;
let other: Merchant;
beforeAll(async () => {
  [own, other] = [await shop.newMerchant({ name: 'Tea House' }), await shop.newMerchant()];
});

const TERMS = { title: 'Two teapots', currency: 'EUR', amount: '19.99', methods: ['vcard'] };
const make = (terms: object = {}, token?: string) =>
  shop.admin('POST', '/links', { mid: own.mid, ...TERMS, ...terms }, token);
const read = async (id: string) => (await shop.admin('GET', `/links/${id}`)).body;
const paramsOf = (answer: { body: { errors?: { param: string }[] } }) => answer.body.errors?.map(({ param }) => param);
const localUrl = (url: string): string => shop.url + new URL(url).pathname;
const newToken = async (role: string, mids = [own.mid]): Promise<string> =>
  (await shop.admin('POST', '/tokens', { name: `a ${role}`, role, mids })).body.token;

/** Opens the link and continues with what is typed; returns the payment page. */
const begin = async (url: string, typed: Record<string, string> = {}): Promise<FetchedPage> =>
  follow(await fill(localUrl(url), typed));
/** Submits the payment page, and follows to the page after it. */
const submit = async ({ url }: FetchedPage, form: Record<string, string> = VCARD.success): Promise<FetchedPage> =>
  follow(await fill(url, form));
const pay = async (url: string): Promise<FetchedPage> => submit(await begin(url));

describe('making a link', () => {
  test('with an amount', async () => {
    const { status, body } = await make({ uses: 3, valid_until: '2099-01-01', ask: ['name', 'email'] });
    expect(status).toBe(201);
    expect(body).toMatchObject({ ...TERMS, state: 'active', uses: 3, uses_left: 3, payments: 0, captured: '0.00' });
    expect(body.url).toMatch(/\/l\/[\da-zA-Z]{14}$/);
    expect(await read(body.link_id)).toEqual(body);
  });

  test('for any number of uses, or for one', async () => {
    expect((await make({ uses: null })).body).toMatchObject({ uses: null, uses_left: null });
    expect((await make()).body).toMatchObject({ uses: 1, uses_left: 1 });
  });

  test.each<[string, object, string[]]>([
    ['no title', { title: '' }, ['title']],
    ['a title with a control character', { title: 'Tea\u0007' }, ['title']],
    ['a title that is turned around', { title: 'Tea \u202epot' }, ['title']],
    ['a description with a line break', { description: 'Tea\r\nBcc: x@example.com' }, ['description']],
    ['a description with an isolate', { description: 'Tea \u2066pot' }, ['description']],
    ['a title with a card number', { title: 'Card 4111 1111 1111 1111' }, ['title']],
    ['a long title', { title: 'a'.repeat(101) }, ['title']],
    ['no currency', { currency: undefined }, ['currency']],
    ['an unknown currency', { currency: 'XXQ' }, ['currency']],
    ['no amount', { amount: undefined }, ['amount']],
    ['an amount below nothing', { amount: '-1.00' }, ['amount']],
    ['nothing', { amount: '0.00' }, ['amount']],
    ['an amount as a number', { amount: 10 }, ['amount']],
    ['an amount and bounds', { min_amount: '1.00', max_amount: '2.00' }, ['amount']],
    ['one bound', { amount: undefined, min_amount: '1.00' }, ['max_amount']],
    ['bounds that cross', { amount: undefined, min_amount: '2.00', max_amount: '1.00' }, ['max_amount']],
    ['no uses', { uses: 0 }, ['uses']],
    ['half a use', { uses: 1.5 }, ['uses']],
    ['a past end', { valid_until: '2020-01-01' }, ['valid_until']],
    ['an unknown method', { methods: ['nothing'] }, ['methods']],
    ['an unknown question', { ask: ['password'] }, ['ask']],
    ['a script as an address', { success_url: 'javascript:alert(1)' }, ['success_url']],
    ['a list as a switch', { authorise: [true] }, ['authorise']],
    ['a prefix with spaces', { order_prefix: 'a b' }, ['order_prefix']],
    ['a member that does not exist', { price: '1.00' }, ['price']],
  ])('%s is refused', async (_, terms, params) => {
    const answer = await make(terms);
    expect([answer.status, paramsOf(answer)]).toEqual([400, params]);
  });

  /** The uses of a link that was made by the admin API and by a program, or what was refused. */
  const madeWith = async (uses: unknown) => {
    const program = { title: 'Two teapots', currency: 'EUR', amount: '19.99', uses };
    const answers = [await make({ uses }), await checkout.send('link', program as Body, own)];
    return answers.map(({ body }) => paramsOf({ body }) ?? body.uses);
  };
  test.each<[unknown, number | null]>([
    [3, 3],
    ['3', 3],
    [1_000_000, 1_000_000],
    [null, null],
  ])('takes the uses %j', async (uses, made) => {
    expect(await madeWith(uses)).toEqual([made, made]);
  });
  test.each([
    ...[0, -1, 1.5, 1_000_001, 1e21, true, false, [3], ['3'], {}],
    ...['', ' ', '0', '1.5', '3.0', '1e3', '0x10', '+3', '-3', 'three', '٣', 'null'],
  ])('refuses the uses %j', async (uses) => {
    expect(await madeWith(uses)).toEqual([['uses'], ['uses']]);
  });

  describe('with methods', () => {
    const NONE = 'methods: This value should have a method that the account offers for this order.';
    const TEXTS = 'methods: This value should be a list of texts.';
    const open = { amount: undefined, min_amount: '5.00', max_amount: '20.00' };

    test.each<[string, object, string[]]>([
      ['twice', { methods: ['vcard', 'vcard', 'doc-a'] }, ['vcard', 'doc-a']],
      ['of which one is not known', { methods: ['nothing', 'vcard', ''] }, ['vcard']],
      ['of which one does not fit', { methods: ['upi-b', 'ips', 'vcard'], currency: 'USD' }, ['upi-b', 'ips', 'vcard']],
      ['of an open amount', { ...open, methods: ['vcard'] }, ['vcard']],
      ['none', { methods: [] }, []],
    ])('%s', async (_, terms, methods) => {
      expect((await make(terms)).body.methods).toEqual(methods);
    });

    test.each<[string, unknown, string, object?]>([
      ['that are not known', ['nothing', 'constructor', 'toString'], NONE],
      ['that are empty', [''], NONE],
      ['for payouts', ['payout-a'], NONE],
      ['that do not have the currency', ['ips'], NONE, { currency: 'USD' }],
      ['that need what a link does not have', ['klarna'], NONE],
      ['that the order does not fit, of an open amount', ['ips'], NONE, { ...open, currency: 'USD' }],
      ['that are no texts', ['vcard', 7], TEXTS],
      ['that are null', [null], TEXTS],
      ['in a list of its own', [['vcard']], TEXTS],
      ['as an object', { 0: 'vcard' }, TEXTS],
      ['as a text', 'vcard', TEXTS],
    ])('%s is refused', async (_, methods, message, terms = {}) => {
      const program = { title: 'Two teapots', currency: 'EUR', amount: '19.99', ...terms, methods };
      for (const answer of [await make({ ...terms, methods }), await checkout.send('link', program as Body, own)]) {
        expect(answer).toMatchObject({ status: 400, body: { errors: [{ error_message: message }] } });
      }
    });

    test('that a route takes for some amount between the bounds', async () => {
      const { mid } = await shop.newMerchant();
      const credentials = { url: 'http://127.0.0.1:9', key: 'a key', notification_secret: 'whsec_c2VjcmV0' };
      const { body } = await shop.admin('POST', '/connections', { connector: 'upstream', name: 'Cards', credentials });
      const route = { connection_id: body.connection_id, min_amount: '10.00', max_amount: '12.00' };
      expect((await shop.admin('PUT', `/accounts/${mid}/routes`, [route])).status).toBe(200);
      const statusOf = async (least: string, most: string): Promise<number> =>
        (await make({ mid, methods: ['card'], amount: undefined, min_amount: least, max_amount: most })).status;
      expect([await statusOf('5.00', '20.00'), await statusOf('11.00', '20.00')]).toEqual([201, 201]);
      expect([await statusOf('5.00', '9.99'), await statusOf('12.01', '20.00')]).toEqual([400, 400]);
    });
  });

  test('of a foreign or unknown account is refused alike', async () => {
    const token = await newToken('merchant');
    const answers = await Promise.all([other.mid, randomUUID()].map((mid) => make({ mid }, token)));
    expect(answers.map(({ status, body }) => [status, body.error_message])).toEqual(
      Array(2).fill([404, 'Account does not exist.']),
    );
    expect(paramsOf(await make({ mid: undefined }))).toEqual(['mid']);
  });

  test('by a program of the merchant, with a hash', async () => {
    const fields = { title: 'Donation', currency: 'EUR', min_amount: '1.00', max_amount: '100.00', uses: null };
    const answer = await checkout.send('link', { ...fields, description: 'Thank you' }, own);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ ...fields, mid: own.mid, state: 'active', uses_left: null });
    const fixed = { title: 'Two teapots', currency: 'EUR', amount: '19.99' };
    expect((await checkout.send('link', fixed, own)).body).toMatchObject({ ...fixed, uses: 1, description: '' });
    const wrong = await checkout.send('link', { ...fields, hash: 'f'.repeat(40) }, own);
    expect(wrong.status).toBe(400);
    const refused = await checkout.send('link', { ...fields, title: 'Tea \u202epot' }, own);
    expect(paramsOf(refused)).toEqual(['title']);
  });
});

describe('the page of a link', () => {
  test('shows the shop and what is paid, in the language of the payer, and writes nothing', async () => {
    const { body } = await make({ title: 'Tee <b>&</b> mehr', description: 'Frisch' });
    const before = await shop.rows('select (select count(*) from payments) p, (select count(*) from begun_orders) b');
    const page = await show(localUrl(body.url), { headers: { 'accept-language': 'de' } });
    expectSafe(page);
    expect(page.text).toContain('Tee &lt;b&gt;&amp;&lt;/b&gt; mehr');
    expect(page.text).toContain('Tea House');
    expect(page.text).toContain('19,99');
    expect(page.text).toContain('Weiter');
    expect(await shop.rows('select (select count(*) from payments) p, (select count(*) from begun_orders) b')).toEqual(
      before,
    );
  });

  test('follows the account, the language and the state of the link, however often it was opened', async () => {
    const own = await shop.newMerchant({ branding: { name: 'Tea & Sons' } });
    const { body } = await shop.admin('POST', '/links', {
      ...{ mid: own.mid, title: 'Tea', currency: 'EUR', amount: '5.00' },
    });
    const opened = async (language = 'en', encoding = 'identity') => {
      const headers = { 'accept-language': language, 'accept-encoding': encoding };
      const { status, text, headers: answered } = await show(localUrl(body.url), { headers });
      return { status, text, encoding: answered.get('content-encoding'), vary: answered.get('vary') };
    };
    const first = await opened();
    expect(await opened()).toEqual(first);
    expect(first).toMatchObject({ status: 200, encoding: null, vary: 'accept-encoding' });
    for (const encoding of ['br', 'gzip', 'br']) expect(await opened('en', encoding)).toEqual({ ...first, encoding });
    expect((await opened('de', 'br')).text).toContain('<html lang="de"');
    await shop.admin('PATCH', `/accounts/${own.mid}`, { branding: { name: 'Coffee & Daughters' } });
    for (const language of ['en', 'de']) {
      const { text } = await opened(language, 'br');
      expect([text.includes('Coffee &amp; Daughters'), text.includes('Tea &amp; Sons')]).toEqual([true, false]);
    }
    await shop.admin('PATCH', `/links/${body.link_id}`, { state: 'inactive' });
    expect((await opened()).status).toBe(410);
    await shop.admin('PATCH', `/links/${body.link_id}`, { state: 'active' });
    expect((await opened()).status).toBe(200);
  });

  test('of an unknown address is a page that says so', async () => {
    for (const code of ['nonsense', 'aaaaaaaaaaaaaa']) {
      const response = await fetch(`${shop.url}/l/${code}`);
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect((await fetch(`${shop.url}/l/${code}/qr.svg`)).status).toBe(404);
    }
  });

  test('has a QR code of its address', async () => {
    const { body } = await make();
    const [svg, png] = await Promise.all(['svg', 'png'].map((kind) => fetch(`${localUrl(body.url)}/qr.${kind}`)));
    expect([svg?.headers.get('content-type'), png?.headers.get('content-type')]).toEqual([
      'image/svg+xml',
      'image/png',
    ]);
    expect(await svg?.text()).toContain('<svg');
    expect(
      Buffer.from(await (png as Response).arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  test('asks for what the merchant wants to know, and for an amount within the bounds', async () => {
    const ask = ['name', 'email', 'phone', 'reference'];
    const { body } = await make({ amount: undefined, min_amount: '5.00', max_amount: '50.00', ask });
    const url = localUrl(body.url);
    const empty = await fill(url, {});
    expect(empty.status).toBe(422);
    expect(empty.text.match(/aria-invalid="true"/g)).toHaveLength(5);
    const typed = { name: 'Ana Petrovic', email: 'ana@example.com', phone: '+381 11 123', reference: 'Flat 7' };
    for (const amount of ['4.99', '50,01', 'much', '-5']) {
      expect((await fill(url, { ...typed, amount })).status).toBe(422);
    }
    expect((await fill(url, { ...typed, amount: '20', email: 'a@b\r\nBcc: c@d' })).status).toBe(422);
    const page = await begin(body.url, { ...typed, amount: '20,50' });
    expect(page.text).toContain('20.50');
    const [row] = await shop.rows(`select details, amount_text from payments order by payment_id desc limit 1`);
    expect(row?.amount_text).toBe('20.50');
    expect(row?.details).toMatchObject({
      payer: { first_name: 'Ana', last_name: 'Petrovic', email: 'ana@example.com', phone: '+381 11 123' },
      customData: { reference: 'Flat 7' },
    });
  });

  test('takes no form of another site', async () => {
    const { body } = await make();
    const response = await fetch(localUrl(body.url), {
      method: 'POST',
      headers: { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' },
    });
    expect(response.status).toBe(403);
  });
});

describe('paying', () => {
  test('is an ordinary payment with the id of the link, and uses it up', async () => {
    const { body } = await make({ order_prefix: 'tea-' });
    const page = await pay(body.url);
    expect(page.text).toContain('Payment complete');
    const [payment] = (await shop.admin('GET', `/payments?mid=${own.mid}`)).body.items;
    expect(payment).toMatchObject({ status: 'SETTLED', amount: '19.99', protocol: 'checkout' });
    expect(payment).toMatchObject({ link_id: body.link_id, invoice_id: null, channel: null });
    expect(payment.order_id).toMatch(/^tea-/);
    expect((await shop.admin('GET', `/payments/${payment.payment_id}`)).body.link_id).toBe(body.link_id);
    expect(await read(body.link_id)).toMatchObject({ state: 'used_up', uses_left: 0, payments: 1, captured: '19.99' });
    const again = await show(localUrl(body.url));
    expect([again.status, again.text.includes('This was paid already')]).toEqual([410, true]);
    expect((await fill(localUrl(body.url), {})).status).toBe(410);
  });

  test('has the methods, the language, the return address and the reservation of the link', async () => {
    const success_url = 'https://shop.example/thanks';
    const { body } = await make({ methods: ['vcard'], locale: 'fr', success_url, authorise: true });
    expect((await show(localUrl(body.url), { headers: { 'accept-language': 'de' } })).text).toContain(
      '<html lang="fr"',
    );
    const page = await begin(body.url);
    expect(page.text).toContain('name="identifier"');
    expect(page.text).not.toContain('name="card_number"');
    const paid = await fill(page.url, VCARD.success);
    expect(paid.location.startsWith(success_url)).toBe(true);
    const [payment] = (await shop.admin('GET', `/payments?mid=${own.mid}`)).body.items;
    expect(payment).toMatchObject({ link_id: body.link_id, status: 'PENDING', authorised: '19.99', captured: '0.00' });
    expect(await read(body.link_id)).toMatchObject({ state: 'used_up', payments: 1, captured: '0.00' });
  });

  test('a declined payment and an open session use nothing', async () => {
    const { body } = await make();
    const declined = await submit(await begin(body.url), VCARD.decline);
    expect(declined.text).not.toContain('Payment complete');
    await begin(body.url);
    expect(await read(body.link_id)).toMatchObject({ state: 'active', uses_left: 1, payments: 0 });
    expect((await pay(body.url)).text).toContain('Payment complete');
  });

  test('a second payer sees that a link for one use is paid before entering anything', async () => {
    const { body } = await make();
    const [first, second] = [await begin(body.url), await begin(body.url)];
    expect((await submit(first)).text).toContain('Payment complete');
    expect((await show(second.url)).text).toContain('This was paid already');
    expect((await submit(second)).text).toContain('This was paid already');
    expect(await read(body.link_id)).toMatchObject({ payments: 1, captured: '19.99' });
  });

  test('of many payers at the same time, as many pay as the link has uses', async () => {
    for (const uses of [1, 3]) {
      const { body } = await make({ uses });
      const pages = await Promise.all(Array.from({ length: 8 }, () => begin(body.url)));
      await Promise.all(pages.map((page) => submit(page)));
      expect(await read(body.link_id)).toMatchObject({ payments: uses, uses_left: 0 });
    }
  });

  test('of many payers who try again after a decline, as many pay as the link has uses', async () => {
    for (const uses of [1, 2, 1]) {
      const { body } = await make({ uses });
      const pages = await Promise.all(Array.from({ length: 8 }, () => begin(body.url)));
      await Promise.all(pages.map((page) => submit(page, VCARD.decline)));
      await Promise.all(pages.map((page) => submit(page)));
      expect(await read(body.link_id)).toMatchObject({ payments: uses, uses_left: 0 });
    }
  });

  test('a second attempt that found the link used up holds no use', async () => {
    const { body } = await make();
    const [first, second] = [await begin(body.url), await begin(body.url)];
    await submit(first, VCARD.decline);
    const claim = shop.gateway.begunOrders.claim;
    vi.spyOn(shop.gateway.begunOrders, 'claim').mockImplementationOnce(async (attempt, now) => {
      expect((await submit(second)).text).toContain('Payment complete');
      return claim(attempt, now);
    });
    expect((await submit(first)).text).toContain('This was paid already');
    expect(await read(body.link_id)).toMatchObject({ payments: 1, captured: '19.99' });
  });

  test('a refund does not give the use back', async () => {
    const { body } = await make();
    await pay(body.url);
    const [{ payment_id: id }] = (await shop.admin('GET', `/payments?mid=${own.mid}`)).body.items;
    expect((await shop.admin('POST', `/payments/${id}/refund`)).status).toBe(200);
    expect((await read(body.link_id)).state).toBe('used_up');
  });

  test('a link that is switched off or over opens no session, and its open sessions end', async () => {
    const { body } = await make({ uses: null });
    const open = await begin(body.url);
    const off = await shop.admin('PATCH', `/links/${body.link_id}`, { state: 'inactive' });
    expect(off.body).toMatchObject({ state: 'inactive' });
    expect((await show(localUrl(body.url))).status).toBe(410);
    expect((await fill(localUrl(body.url), {})).status).toBe(410);
    expect((await show(open.url)).text).toContain('no longer valid');
    expect((await submit(open)).text).toContain('no longer valid');
    await shop.admin('PATCH', `/links/${body.link_id}`, { state: 'active' });
    expect((await pay(body.url)).text).toContain('Payment complete');
    const ending = await make({ valid_until: new Date(Date.now() + 60_000).toISOString().replace(/\.\d+/, '') });
    await shop.rows(
      `update links set valid_until = now() - interval '1 second' where link_id = '${ending.body.link_id}'`,
    );
    expect((await read(ending.body.link_id)).state).toBe('expired');
    expect((await fill(localUrl(ending.body.url), {})).status).toBe(410);
  });
});

describe('who sees links', () => {
  test('lists by account and state', async () => {
    const { mid } = await shop.newMerchant();
    const [first, second] = [(await make({ mid })).body.link_id, (await make({ mid })).body.link_id];
    await shop.admin('PATCH', `/links/${first}`, { state: 'inactive' });
    const ids = async (query: string) =>
      (await shop.admin('GET', `/links?${query}`)).body.items.map((item: { link_id: string }) => item.link_id);
    expect(await ids(`mid=${mid}`)).toEqual([second, first]);
    expect(await ids(`mid=${mid}&state=inactive`)).toEqual([first]);
    expect(await ids(`mid=${mid}&state=active`)).toEqual([second]);
    const [used, over] = [(await make({ mid })).body, (await make({ mid })).body];
    await pay(used.url);
    await shop.rows(`update links set valid_until = now() - interval '1 second' where link_id = '${over.link_id}'`);
    expect(await ids(`mid=${mid}&state=used_up`)).toEqual([used.link_id]);
    expect(await ids(`mid=${mid}&state=expired`)).toEqual([over.link_id]);
    expect(await ids(`mid=${mid}&state=active`)).toEqual([second]);
    const page = (await shop.admin('GET', `/links?mid=${mid}&limit=3`)).body;
    expect(await ids(`mid=${mid}&limit=3&cursor=${page.next_cursor}`)).toEqual([first]);
  });

  test('lists by the state that a link has by the clock of its account', async () => {
    const [ahead, present] = [await shop.newMerchant(), await shop.newMerchant()];
    const until = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/, '');
    const [over, active] = await Promise.all(
      [ahead, present].map(async ({ mid }) => (await make({ mid, valid_until: until })).body.link_id),
    );
    await shop.advanceClock(2 * 86_400, ahead.mid);
    expect((await read(over)).state).toBe('expired');
    const token = await newToken('merchant', [ahead.mid, present.mid]);
    const ids = async (state: string) =>
      (await shop.admin('GET', `/links?state=${state}`, undefined, token)).body.items.map(
        (item: { link_id: string }) => item.link_id,
      );
    expect([await ids('expired'), await ids('active')]).toEqual([[over], [active]]);
  });

  test('a foreign link does not exist', async () => {
    const { link_id: foreign } = (await make({ mid: other.mid })).body;
    const token = await newToken('merchant');
    for (const id of [foreign, randomUUID(), 'nonsense']) {
      const answers = [
        await shop.admin('GET', `/links/${id}`, undefined, token),
        await shop.admin('PATCH', `/links/${id}`, { state: 'inactive' }, token),
      ];
      expect(answers.map(({ status, body }) => [status, body.error_message])).toEqual(
        Array(2).fill([404, 'Link does not exist.']),
      );
    }
  });

  test('a cashier makes links and sees those that it made', async () => {
    const cashier = await newToken('merchant_cashier');
    const [mine, foreign] = [(await make({}, cashier)).body.link_id, (await make()).body.link_id];
    const { items } = (await shop.admin('GET', '/links', undefined, cashier)).body;
    expect(items.map((item: { link_id: string }) => item.link_id)).toEqual([mine]);
    expect((await shop.admin('GET', `/links/${foreign}`, undefined, cashier)).status).toBe(404);
    const switched = (id: string) => shop.admin('PATCH', `/links/${id}`, { state: 'inactive' }, cashier);
    expect([(await switched(foreign)).status, (await switched(mine)).status]).toEqual([404, 200]);
    expect((await read(foreign)).state).toBe('active');
    const inPanel = await signedIn(shop, 'merchant_cashier', [own.mid]);
    for (const id of [mine, foreign]) {
      expect((await inPanel.get(`/admin/links/${id}`)).status).toBe(404);
      expect((await inPanel.submit(`/admin/links/${id}/off`)).status).toBe(404);
    }
    expect((await inPanel.get('/admin/links')).text).not.toContain(mine);
    expect((await shop.admin('GET', '/payments', undefined, cashier)).status).toBe(403);
  });
});

test('the panel makes a link in one form, and shows its address, its code and its button', async () => {
  const cashier = await signedIn(shop, 'merchant_cashier', [own.mid]);
  const form = await cashier.get('/admin/links');
  expect(form.text).toContain(`name="mid" value="${own.mid}"`);
  const made = await cashier.submit('/admin/links', {
    mid: own.mid,
    title: 'Lamp <1>',
    amount: '12,5',
    currency: 'eur',
    uses: '1',
  });
  expect(made.status).toBe(303);
  const page = (await cashier.get(made.location as string)).text;
  expect(page).toMatch(/\/l\/[\da-zA-Z]{14}</);
  expect(page).toContain('<svg');
  const [, snippet = ''] = /<pre[^>]*>([^<]+)<\/pre>/.exec(page) ?? [];
  const [, address = ''] =
    /^&lt;a href=&quot;([^&]+)&quot; style=&quot;[^&]+&quot;&gt;[^&]+&lt;\/a&gt;$/.exec(snippet) ?? [];
  expect(address).toMatch(/\/l\/[\da-zA-Z]{14}$/);
  expect((await show(localUrl(address))).text).toContain('Lamp &lt;1&gt;');
  expect(page).toContain('Lamp &lt;1&gt;');
  const sheet = await cashier.get(`${(made.location as string).split('?')[0]}/print`);
  expect(sheet.text).toContain('size:105mm 148mm');
  for (const text of ['Tea House', 'Lamp &lt;1&gt;', '12.50', address, '<svg']) expect(sheet.text).toContain(text);
  expect(sheet.headers.get('content-security-policy')).toContain("script-src 'none'");
  const refused = await cashier.submit('/admin/links', { mid: own.mid, title: '', amount: 'x', currency: 'EUR' });
  expect([refused.status, refused.text.match(/class="error"/g)?.length]).toEqual([400, 2]);
  const foreign = await cashier.submit('/admin/links', { mid: other.mid, title: 'A', amount: '1', currency: 'EUR' });
  expect(foreign.status).toBe(404);
});
