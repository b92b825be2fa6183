/** The sandbox console of the panel: payments of every brand, the bank, faults, the clock and the callback inbox. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pretendWalletSettings } from '../../src/core/wallets/pretend-wallet.ts';
import { BRANDS } from '../../src/rules/brands.ts';
import { newOrderId, openShop, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type PanelAnswer, signedIn, type TestOperator } from '../support/operators.ts';
import { unescaped } from '../support/pages.ts';

const shop = openShop({ simulator: true });
const PATH = '/admin/sandbox';

let owner: TestOperator;
beforeAll(async () => {
  owner = await signedIn(shop, 'owner');
});

/** The fields of the form that sends a payment, as a browser submits them. */
function formFields(page: string): Record<string, string> {
  const form =
    /<form method="post" action="\/admin\/sandbox(?:\/requests\?[^"]*)?">(.*?)<\/form>/s.exec(page)?.[1] ?? '';
  const inputs = [...form.matchAll(/<input [^>]*name="([^"]+)"[^>]* value="([^"]*)"/g)];
  const areas = [...form.matchAll(/<textarea [^>]*name="([^"]+)"[^>]*>\n?(.*?)<\/textarea>/gs)];
  const selects = [...form.matchAll(/<select [^>]*name="([^"]+)"[^>]*>(.*?)<\/select>/gs)].map(
    ([, name = '', options = '']) => ['', name, /<option value="([^"]*)" selected/.exec(options)?.[1] ?? ''] as const,
  );
  const { form_token: _token, ...fields } = Object.fromEntries(
    [...inputs, ...areas, ...selects].map(([, name = '', value = '']) => [unescaped(name), unescaped(value)]),
  );
  return fields;
}

const open = async (query: Record<string, string>, operator = owner): Promise<Record<string, string>> => {
  const page = await operator.get(`${PATH}?${new URLSearchParams({ mid: shop.merchant.mid, ...query })}`);
  expect(page.status).toBe(200);
  return formFields(page.text);
};

const paymentOf = ({ text }: PanelAnswer): string => /href="\/admin\/payments\/([\da-f-]{36})"/.exec(text)?.[1] ?? '';
const noticeOf = ({ text }: PanelAnswer): string | undefined => /role="status">(.*?)<\/div>/.exec(text)?.[1];
const errorAt = ({ text }: PanelAnswer, name: string): string | undefined =>
  text.split(`id="${name}-error">`)[1]?.split('<')[0];
const balance = async (id: string): Promise<string> => (await shop.inspect(id)).status;

describe('a payment', () => {
  const brands = Object.keys(BRANDS);
  beforeAll(async () => {
    // The brand's own settings of the account.
    const settings = {
      account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41',
      ...pretendWalletSettings(Date.now()),
    };
    await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, settings);
  });

  test('may be of every brand', async () => {
    const page = await owner.get(`${PATH}?mid=${shop.merchant.mid}`);
    for (const brand of brands) expect(page.text).toContain(`<option value="${brand}"`);
  });

  test.each(brands)('of %s is accepted with the values of the form', async (brand) => {
    const answer = await owner.submit(PATH, { ...(await open({ brand })), order_id: newOrderId() });
    expect([answer.status, noticeOf(answer)]).toEqual([200, 'The gateway accepted the request.']);
    expect((await shop.inspect(paymentOf(answer))).brand).toBe(brand);
  });

  test.each([
    ['s2s', 'order_id'],
    ['checkout', 'order.number'],
  ])('over %s is signed with the digest of the account', async (protocol, order) => {
    const { mid } = await shop.newMerchant({ dialect: { digest: 'sha256', hash: 'reversed_md5' } });
    const fields = await open({ mid, protocol, brand: 'vcard' });
    const answer = await owner.submit(PATH, { ...fields, [order]: newOrderId() });
    expect([answer.status, noticeOf(answer)]).toEqual([200, 'The gateway accepted the request.']);
  });

  test('of Checkout opens a session that offers the brand', async () => {
    for (const brand of ['card', 'bank-a', 'open-banking-a', 'transfer-a', 'klarna', 'blik']) {
      const fields = await open({ protocol: 'checkout', brand });
      const answer = await owner.submit(PATH, { ...fields, 'order.number': newOrderId() });
      expect([brand, answer.status]).toEqual([brand, 200]);
      const link = unescaped(/href="([^"]+)" target="_blank"/.exec(answer.text)?.[1] ?? '');
      const payer = await fetch(link);
      expect([brand, payer.status]).toEqual([brand, 200]);
      expect(await balance(paymentOf(answer))).toBe('PREPARE');
    }
  });

  test('shows the request, the signed text without the password, and the answer', async () => {
    const fields = { ...(await open({ brand: 'vcard' })), order_id: 'tea-7' };
    const { text } = await owner.submit(PATH, fields);
    expect(text).toContain('SUCCESS@EXAMPLE.COMTEA-710.00EUR***');
    expect(text).toContain(shop.merchant.client_key);
    expect(unescaped(text)).toContain('"status": "SETTLED"');
    const [call] = (await shop.admin('GET', '/requests?order_id=tea-7')).body.items;
    expect(call).toMatchObject({ action: 'SALE', outcome: 'accepted', mid: shop.merchant.mid });
    for (const secret of [shop.merchant.password, shop.merchant.password.toUpperCase()])
      expect(text).not.toContain(secret);
    const { items } = (await shop.admin('GET', '/audit?action=sandbox.pay')).body;
    expect(items[0]).toMatchObject({ mid: shop.merchant.mid, actor: { kind: 'operator', name: owner.name } });
  });

  test('that is refused shows the sentences of the gateway beside the fields', async () => {
    const fields = { ...(await open({ brand: 'bank-a' })), 'parameters[bank_code]': 'x', order_amount: '-1' };
    const answer = await owner.submit(PATH, fields);
    expect(answer.status).toBe(400);
    expect(noticeOf(answer)).toContain('Request data is invalid.');
    const sentence = async (name: string): Promise<string> => {
      const { body } = await shop.sale({ brand: 'bank-a', ...fields, hash: '' });
      const entry = body.errors.find((one: { error_message: string }) => one.error_message.startsWith(`${name}: `));
      return entry.error_message.slice(name.length + 2);
    };
    for (const name of ['order_amount', 'parameters[bank_code]']) {
      expect(unescaped(errorAt(answer, name) ?? '')).toBe(await sentence(name));
    }
    expect(formFields(answer.text)).toMatchObject({ 'parameters[bank_code]': 'x', order_amount: '-1' });
  });

  test('does not show secrets of a brand again', async () => {
    const fields = { ...(await open({ brand: 'pin-a' })), 'parameters[pin]': '9911223344556677', order_amount: 'x' };
    expect((await owner.submit(PATH, fields)).text).not.toContain('9911223344556677');
  });

  test('needs the permission, a form of this session, and an account that the operator sees', async () => {
    const viewer = await signedIn(shop, 'viewer');
    expect((await viewer.get(PATH)).status).toBe(403);
    const other = await shop.newMerchant();
    const merchant = await signedIn(shop, 'merchant', [other.mid]);
    expect((await merchant.get(`${PATH}?mid=${shop.merchant.mid}`)).status).toBe(404);
    const fields = await open({ brand: 'vcard' });
    expect((await merchant.submit(PATH, { ...fields, order_id: newOrderId() })).status).toBe(404);
    expect((await owner.submit(PATH, fields, 'stale')).status).toBe(403);
    expect((await merchant.submit(PATH, { ...fields, mid: other.mid, order_id: newOrderId() })).status).toBe(200);
    expect((await merchant.get(PATH)).text).not.toContain(shop.merchant.mid);
  });
});

describe('another request', () => {
  const path = (call: string): string => `${PATH}/requests?call=${encodeURIComponent(call)}`;
  const openCall = async (call: string, payment: string, mid = shop.merchant.mid): Promise<Record<string, string>> => {
    const page = await owner.get(`${path(call)}&mid=${mid}&payment=${payment}`);
    expect([call, page.status]).toEqual([call, 200]);
    return formFields(page.text);
  };
  /** Sends the form of a call as it is shown, with these changes. */
  const sendCall = async (call: string, payment: string, changes: Record<string, string> = {}): Promise<PanelAnswer> =>
    owner.submit(path(call), { ...(await openCall(call, payment)), ...changes });

  test('is offered for every call of a merchant, signed, and says what the gateway answers', async () => {
    const page = await owner.get(`${PATH}/requests?mid=${shop.merchant.mid}`);
    const calls = [...page.text.matchAll(/<option value="([^"]+)"[^>]*>\/(?:post|api)/g)].map(([, call]) => call ?? '');
    expect(calls.toSorted()).toEqual(
      [
        ...['GET_TRANS_STATUS', 'GET_TRANS_STATUS_BY_ORDER', 'CAPTURE', 'VOID', 'CREDITVOID', 'RECURRING_SALE'],
        ...['CREATE_SCHEDULE', 'UPDATE_SCHEDULE', 'DELETE_SCHEDULE', 'link', 'payment/status', 'payment/card/credit'],
        ...['payment/refund', 'payment/capture', 'payment/void', 'payment/retry', 'payment/recurring'],
      ].toSorted(),
    );
    const { body } = await shop.sale();
    for (const call of calls) {
      const { text } = await sendCall(call, body.trans_id);
      expect([call, text.includes('Hash is not valid')]).toEqual([call, false]);
      expect([call, /HTTP (200|400)/.test(text)]).toEqual([call, true]);
      expect(text).not.toContain(shop.merchant.password);
    }
  });

  test.each([
    ['GET_TRANS_STATUS', {}],
    ['GET_TRANS_STATUS_BY_ORDER', {}],
    ['payment/status', {}],
    ['CREDITVOID', { amount: '1.00' }],
    ['payment/refund', { amount: '1.00' }],
    ['CREATE_SCHEDULE', {}],
    ['UPDATE_SCHEDULE', { name: 'Another name' }],
    ['DELETE_SCHEDULE', {}],
    ['link', {}],
  ])('%s is accepted with the values of the form', async (call, changes) => {
    const { body } = await shop.sale();
    const answer = await sendCall(call, body.trans_id, changes);
    expect([answer.status, noticeOf(answer)]).toEqual([200, 'The gateway accepted the request.']);
  });

  test('goes on from a payment, and shows its callbacks', async () => {
    const sale = await owner.submit(PATH, { ...(await open({ brand: 'vcard' })), auth: 'Y', order_id: newOrderId() });
    const id = paymentOf(sale);
    expect(sale.text).toContain(`${PATH}/requests?mid=${shop.merchant.mid}&amp;payment=${id}`);
    const captured = await sendCall('CAPTURE', id, { amount: '4.00' });
    expect(captured.status).toBe(200);
    expect(await balance(id)).toBe('SETTLED');
    expect(captured.text).toContain('Callbacks of the payment');
    const shown = unescaped(captured.text);
    const { items } = (await shop.admin('GET', `/callbacks?payment_id=${id}`)).body;
    expect(items.length).toBeGreaterThan(0);
    expect(shown).toContain(`trans_id=${id}`);
    const { items: log } = (await shop.admin('GET', '/audit?action=sandbox.request')).body;
    expect(log[0]).toMatchObject({ mid: shop.merchant.mid, subject: '/post CAPTURE' });
  });

  test('that is refused keeps what was typed, with the sentence beside the field', async () => {
    const { body } = await shop.sale();
    const answer = await sendCall('CREDITVOID', body.trans_id, { amount: 'much' });
    expect(answer.status).toBe(400);
    expect(unescaped(errorAt(answer, 'amount') ?? '')).toBe('This value is not valid.');
    expect(formFields(answer.text)).toMatchObject({ amount: 'much', trans_id: body.trans_id });
    expect(await balance(body.trans_id)).toBe('SETTLED');
  });

  test('is not for others, nor about payments of another account', async () => {
    const viewer = await signedIn(shop, 'viewer');
    expect((await viewer.get(`${PATH}/requests`)).status).toBe(403);
    const other = await shop.newMerchant();
    const merchant = await signedIn(shop, 'merchant', [other.mid]);
    expect((await merchant.get(`${PATH}/requests?mid=${shop.merchant.mid}`)).status).toBe(404);
    expect((await merchant.submit(path('VOID'), { mid: shop.merchant.mid })).status).toBe(404);
    const { body } = await shop.sale();
    expect((await merchant.get(`${path('VOID')}&payment=${body.trans_id}`)).text).not.toContain(body.trans_id);
  });
});

describe('the bank', () => {
  const controls = `${PATH}/controls`;

  test('reports the outcome of a payment', async () => {
    const { body } = await shop.sale({ brand: 'ips', order_currency: 'RSD' });
    const page = await owner.get(`${controls}?payment=${body.trans_id}`);
    expect(page.text).toContain(`value="${body.trans_id}"`);
    const answer = await owner.submit(`${controls}/bank`, { payment: body.trans_id, scenario: 'bank_callback:ACSC' });
    expect([answer.status, answer.location]).toEqual([
      303,
      expect.stringContaining(`payment=${body.trans_id}&done=bank`),
    ]);
    await expect.poll(() => balance(body.trans_id)).toBe('SETTLED');
    await owner.submit(`${controls}/bank`, { payment: body.trans_id, scenario: 'chargeback:true' });
    await expect.poll(() => balance(body.trans_id)).toBe('CHARGEBACK');
    const { items } = (await shop.admin('GET', '/audit?action=sandbox.bank')).body;
    expect(items[0]).toMatchObject({ subject: body.trans_id, after: { chargeback: true } });
  });

  test('refuses what the simulator refuses, beside the field', async () => {
    const { body } = await shop.sale();
    const refused = await owner.submit(`${controls}/bank`, {
      payment: body.trans_id,
      scenario: 'provider_status:executed',
    });
    expect([refused.status, errorAt(refused, 'scenario')]).toEqual([
      400,
      'The test brand has no provider that could be told.',
    ]);
    const unknown = await owner.submit(`${controls}/bank`, { payment: shop.merchant.mid, scenario: 'chargeback:true' });
    expect([unknown.status, errorAt(unknown, 'payment')]).toEqual([400, 'Payment does not exist.']);
    const other = await signedIn(shop, 'merchant', [(await shop.newMerchant()).mid]);
    const foreign = await other.submit(`${controls}/bank`, { payment: body.trans_id, scenario: 'chargeback:true' });
    expect([foreign.status, errorAt(foreign, 'payment')]).toEqual([400, 'Payment does not exist.']);
    const odd = await owner.submit(`${controls}/bank`, { payment: body.trans_id, scenario: 'party:true' });
    expect([odd.status, errorAt(odd, 'scenario')]).toEqual([400, 'Choose one of the list.']);
  });

  test('a fault makes the next call fail', async () => {
    const { mid } = shop.merchant;
    const answer = await owner.submit(`${controls}/fault`, { mid, brand: '', mode: 'timeout_after', count: '1' });
    expect(answer.location).toContain('done=fault');
    expect((await owner.get(controls)).text).toContain('No answer, but the payment is made');
    expect((await owner.get(controls)).text).toContain('<option value="card">');
    const card = await owner.submit(`${controls}/fault`, { mid, brand: 'card', mode: 'error_500', count: '1' });
    expect(card.location).toContain('done=fault');
    await owner.submit(`${controls}/fault`, { mid, brand: '', mode: 'none', count: '1' });
    expect((await owner.get(controls)).text).toContain('No faults are set.');
    const wrong = await owner.submit(`${controls}/fault`, { mid, brand: '', mode: 'error_500', count: '0' });
    expect([wrong.status, errorAt(wrong, 'count')]).toEqual([400, 'This value should be a whole number in the range.']);
    const restricted = await signedIn(shop, 'merchant', [mid]);
    const all = await restricted.submit(`${controls}/fault`, { mid: '', brand: '', mode: 'error_500', count: '1' });
    expect([all.status, errorAt(all, 'fault_mid') ?? '']).toEqual([400, '']);
    expect(all.text).toContain('Choose one of your accounts.');
  });

  test('the clock moves for one account', async () => {
    const { mid } = await shop.newMerchant();
    const before = shop.gateway.clock.offset(mid);
    const answer = await owner.submit(`${controls}/clock`, { clock_mid: mid, by: '2', unit: 'days' });
    expect(answer.location).toContain('done=clock');
    expect(shop.gateway.clock.offset(mid) - before).toBe(2 * 86_400_000);
    expect(shop.gateway.clock.offset(undefined)).toBe(0);
    for (const by of ['0', 'x', '-1']) {
      const wrong = await owner.submit(`${controls}/clock`, { clock_mid: mid, by, unit: 'days' });
      expect([wrong.status, errorAt(wrong, 'by')]).toEqual([400, 'This value should be a number above 0.']);
    }
    const far = await owner.submit(`${controls}/clock`, { clock_mid: mid, by: '999999', unit: 'days' });
    expect([far.status, errorAt(far, 'by')]).toEqual([
      400,
      expect.stringContaining('This value should be a number from 0 to'),
    ]);
    const restricted = await signedIn(shop, 'merchant', [mid]);
    expect((await restricted.submit(`${controls}/clock`, { clock_mid: '', by: '1', unit: 'days' })).status).toBe(400);
  });
});

describe('the inbox', () => {
  test('gets the callbacks of an account after one button, and answers as it is told', async () => {
    const merchant = await shop.newMerchant();
    const path = `${PATH}/callbacks`;
    expect((await owner.get(`${path}?mid=${merchant.mid}`)).text).toContain('No callbacks arrived yet');
    expect((await owner.submit(`${path}/${merchant.mid}/use`)).location).toContain('done=use');
    expect((await owner.submit(`${path}/${merchant.mid}/answer`, { answer: '503', count: '1' })).location).toContain(
      'done=answer',
    );
    const { body } = await shop.sale({}, merchant);
    await shop.gateway.deliverer.drain();
    const page = await owner.get(`${path}?mid=${merchant.mid}`);
    expect(page.text).toContain(body.trans_id);
    expect(page.text).toContain('HTTP 503');
    expect(page.text).toContain('data-refresh=');
    expect(page.text).not.toContain('Send callbacks here');
    const wrong = await owner.submit(`${path}/${merchant.mid}/answer`, { answer: '99', count: '1' });
    expect([wrong.status, errorAt(wrong, 'answer')]).toEqual([
      400,
      'This value should be a whole number in the range.',
    ]);
    await owner.submit(`${path}/${merchant.mid}/clear`);
    expect((await owner.get(`${path}?mid=${merchant.mid}`)).text).toContain('No callbacks arrived yet');
  });

  test('changes no account of another operator, nor the address without the permission', async () => {
    const { mid } = await shop.newMerchant();
    const path = `${PATH}/callbacks/${shop.merchant.mid}`;
    const other = await signedIn(shop, 'merchant', [mid]);
    expect((await other.submit(`${path}/clear`)).status).toBe(404);
    expect((await other.submit(`${path}/answer`, { answer: '500', count: '1' })).status).toBe(404);
    expect((await other.submit(`${PATH}/callbacks/${mid}/use`)).status).toBe(403);
    expect((await other.get(`${PATH}/callbacks?mid=${mid}`)).text).not.toContain('Send callbacks here');
  });
});

describe('in production', () => {
  let production: TestGateway;
  beforeAll(async () => {
    production = await startTestGateway({ environment: 'production' });
  });
  afterAll(() => production?.close());

  test('there is no console', async () => {
    const operator = await signedIn(production, 'owner');
    for (const path of ['', '/controls', '/callbacks']) expect((await operator.get(PATH + path)).status).toBe(404);
    expect((await operator.submit(PATH)).status).toBe(404);
    expect((await operator.get('/admin/payments')).text).not.toContain('Sandbox console');
  });
});
