/** Bank transfers: the payer has exactly five minutes from the sale, whichever process or request notices. */
import { describe, expect, test } from 'vitest';
import { findAccount } from '../../src/core/accounts/accounts.ts';
import { findStatus } from '../../src/core/payments/find.ts';
import { readClock } from '../../src/core/sandbox/clock.ts';
import { inputs } from '../support/checkout.ts';
import {
  type Answer,
  type Fields,
  type Merchant,
  newOrderId,
  openShop,
  PROVIDER_POLL,
  saleFields,
} from '../support/gateway.ts';

const shop = openShop({ simulator: true });

interface Transfer {
  brand: string;
  currency: string;
  field: string;
  right: string;
  wrong: string;
  /** The label above the input. */
  label: string;
  account: RegExp;
}

const TRANSFERS: Transfer[] = [
  {
    brand: 'transfer-a',
    currency: 'ARS',
    field: 'bank_cuil',
    right: '20123456786',
    wrong: '20123456785',
    label: 'CUIL',
    account: /^\d{22}$/,
  },
  {
    brand: 'transfer-b',
    currency: 'MXN',
    field: 'bank_curp',
    right: 'HEGG560427MVZRRL04',
    wrong: 'HEGG560427MVZRRL05',
    label: 'CURP',
    account: /^\d{18}$/,
  },
];
const [ARGENTINA] = TRANSFERS as [Transfer];

/** A sale of an account whose clock no other test moves. */
async function makeSale({ brand, currency, field, right }: Transfer, fields: Fields = {}) {
  const merchant = await shop.newMerchant();
  const request = saleFields(merchant, { brand, identifier: '', order_currency: currency, [field]: right, ...fields });
  const { body } = await shop.post(request);
  return { merchant, request, body, id: body.trans_id as string };
}
/** The same sale without the field of the brand. */
const makeSaleWithoutField = (transfer: Transfer, fields: Fields = {}) =>
  makeSale(transfer, { [transfer.field]: '', ...fields });

/** Sets the account’s clock to this many seconds after the sale, without running due work. */
async function setClock(seconds: number, { mid }: Merchant, id: string): Promise<void> {
  const { createdAt } = await storedPayment(id);
  await shop.gateway.installation.moveClock(mid, createdAt + seconds * 1000 - shop.gateway.clock.now(mid));
  await readClock(shop.gateway);
}
const work = ({ mid }: Merchant) => shop.advanceClock(0, mid);

async function storedPayment(id: string) {
  const payment = await shop.gateway.payments.findAnywhere(id);
  if (!payment) throw new Error(`There is no payment ${id}.`);
  return payment;
}
const statusOf = async (id: string, merchant: Merchant) => (await shop.status(id, merchant)).body;
const provider = (id: string, word: string) => shop.sandbox('POST', `/payments/${id}`, { provider_status: word });
const atProvider = async (id: string) => {
  const { url = '', key = '' } = shop.provider ?? {};
  const response = await fetch(`${url}/control/payments/${id}`, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
};
/** The payer pays, and the notification carries a wrong amount, so that only a query finds the outcome. */
async function payWithLostNotification(id: string, { mid }: Merchant): Promise<void> {
  await shop.sandbox('POST', '/faults', { mid, mode: 'wrong_amount' });
  await provider(id, 'executed');
  await shop.sandbox('POST', '/faults', { mid, mode: 'none' });
}
const lateSuccesses = async (): Promise<string[]> =>
  (await shop.admin('GET', '/payments?attention=late_success&limit=500')).body.items.map(
    (item: { payment_id: string }) => item.payment_id,
  );

describe.each(TRANSFERS)('$brand with $field', (transfer) => {
  test('is pending, and shows the payer the receiving account', async () => {
    const { body, request } = await makeSale(transfer);
    expect(body).toEqual({
      action: 'SALE',
      result: 'SUCCESS',
      status: 'PENDING',
      order_id: request.order_id,
      trans_id: expect.any(String),
      trans_date: expect.any(String),
      descriptor: 'Test Shop',
      amount: '10.00',
      currency: transfer.currency,
      redirect_params: {
        account_number: expect.stringMatching(transfer.account),
        account_holder: 'Test Shop',
        reference: expect.stringMatching(/^\d{7}$/),
      },
    });
  });

  test('a repeat of the sale returns the same account', async () => {
    const { body, request } = await makeSale(transfer);
    expect((await shop.post(request)).body).toEqual(body);
  });

  test('is pending after 299 seconds and declined after 300, by the status query alone', async () => {
    const { id, merchant } = await makeSale(transfer);
    await setClock(299, merchant, id);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'PENDING' });
    expect(await shop.events(id)).toEqual(['opened', 'accepted']);
    await setClock(300, merchant, id);
    expect(await statusOf(id, merchant)).toMatchObject({
      result: 'SUCCESS',
      status: 'DECLINED',
      decline_reason: 'The payer did not finish in time.',
    });
    expect(await shop.events(id)).toEqual(['opened', 'accepted', 'abandoned']);
  });

  test('by the work loop alone, however late it runs, the decline is dated five minutes after the sale', async () => {
    const { id, merchant } = await makeSale(transfer);
    await setClock(299, merchant, id);
    await work(merchant);
    expect((await shop.inspect(id)).status).toBe('PENDING');
    await setClock(1700, merchant, id);
    await work(merchant);
    expect((await shop.inspect(id)).status).toBe('DECLINED');
    const payment = await storedPayment(id);
    const decline = (await shop.gateway.payments.history(payment)).find(({ event }) => event === 'abandoned');
    expect(decline).toMatchObject({ fromState: 'PENDING', toState: 'DECLINED', actor: 'clock' });
    expect(Number(decline?.at)).toBe(payment.createdAt + 300_000);
  });

  test('a success in time settles it', async () => {
    const { id, merchant } = await makeSale(transfer);
    await setClock(299, merchant, id);
    expect((await provider(id, 'executed')).status).toBe(200);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'SETTLED' });
    await setClock(301, merchant, id);
    await work(merchant);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'SETTLED' });
    expect(await shop.inspect(id)).toMatchObject({ captured: '10.00', attention: null });
    expect(await lateSuccesses()).not.toContain(id);
  });

  test('a success after the end changes nothing, and is on the operator’s list until it is attended to', async () => {
    const { id, merchant } = await makeSale(transfer);
    await setClock(300, merchant, id);
    await work(merchant);
    expect((await provider(id, 'executed')).status).toBe(200);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'DECLINED' });
    expect(await lateSuccesses()).toContain(id);
    expect(await shop.inspect(id)).toMatchObject({ attention: 'late_success', captured: '0.00' });
    const { status, body } = await shop.admin('POST', `/payments/${id}/attended`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ payment_id: id, status: 'DECLINED', attention: null });
    expect(await lateSuccesses()).not.toContain(id);
    expect(await shop.events(id)).toEqual(['opened', 'accepted', 'abandoned', 'noted settled', 'attended']);
  });
});

describe('the five minutes', () => {
  test('apply in a second process too, which reads the time from the database', async () => {
    const { id, merchant } = await makeSale(ARGENTINA);
    const other = await shop.anotherGateway();
    const account = await findAccount(other, merchant.mid);
    if (!account) return expect.unreachable();
    await setClock(299, merchant, id);
    await readClock(other);
    expect(await findStatus(other, account, id)).toMatchObject({ state: 'PENDING' });
    await setClock(300, merchant, id);
    await readClock(other);
    expect(await findStatus(other, account, id)).toMatchObject({ state: 'DECLINED' });
    expect((await shop.inspect(id)).status).toBe('DECLINED');
  });

  test('end once, at any number of concurrent reads', async () => {
    const { id, merchant } = await makeSale(ARGENTINA);
    await setClock(300, merchant, id);
    const reads = Array.from({ length: 10 }, () => statusOf(id, merchant));
    const answers = await Promise.all([...reads, work(merchant)]);
    for (const answer of answers.slice(0, 10)) expect(answer).toMatchObject({ status: 'DECLINED' });
    expect((await shop.events(id)).filter((event) => event === 'abandoned')).toEqual(['abandoned']);
  });

  test('a success that is reported after them, but before the payment was declined, counts', async () => {
    const { id, merchant } = await makeSale(ARGENTINA);
    await setClock(301, merchant, id);
    await provider(id, 'executed');
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null, captured: '10.00' });
    expect(await shop.events(id)).toEqual(['opened', 'accepted', 'settled']);
  });

  test('a decline that is reported after them, but before the payment expired, is the provider’s own', async () => {
    const { id, merchant } = await makeSale(ARGENTINA);
    await setClock(301, merchant, id);
    await provider(id, 'rejected');
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', attention: null });
    expect(await statusOf(id, merchant)).toMatchObject({ decline_reason: 'Declined by the simulated provider.' });
  });

  test('end with a last query: finds a success whose notification got lost', async () => {
    const { id, merchant } = await makeSale(ARGENTINA);
    await setClock(299, merchant, id);
    await payWithLostNotification(id, merchant);
    expect((await shop.inspect(id)).status).toBe('PENDING');
    await setClock(300, merchant, id);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'SETTLED' });
    expect(await shop.events(id)).not.toContain('abandoned');
  });

  test('end although the provider does not answer the last query, and a later report is late', async () => {
    const { id, merchant } = await makeSale(ARGENTINA);
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'error_500', count: 1000 });
    await setClock(300, merchant, id);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'DECLINED' });
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'none' });
    await provider(id, 'executed');
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', attention: 'late_success' });
  });

  test('a decline within them is the provider’s own', async () => {
    const { id, merchant } = await makeSale(ARGENTINA);
    await provider(id, 'rejected');
    expect(await statusOf(id, merchant)).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'Declined by the simulated provider.',
    });
  });

  test('do not apply to a payer who finished and whose amount is only authorised', async () => {
    const { id, merchant } = await makeSale(ARGENTINA, { auth: 'Y' });
    const { payer_page } = (await atProvider(id)).body;
    await setClock(60, merchant, id);
    await fetch(payer_page, {
      method: 'POST',
      body: new URLSearchParams({ decision: 'approve' }),
      redirect: 'manual',
    });
    await expect.poll(async () => (await shop.inspect(id)).authorised, PROVIDER_POLL).toBe('10.00');
    await setClock(301, merchant, id);
    await work(merchant);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'PENDING' });
  });

  test('after the end the provider is queried for a while, in case its notification got lost, and then no more', async () => {
    const { id, merchant } = await makeSale(ARGENTINA);
    await setClock(300, merchant, id);
    await work(merchant);
    for (const seconds of [60, 60, 900, 3600, 21_600, 86_400, 86_400, 86_400]) {
      await shop.advanceClock(seconds, merchant.mid);
    }
    expect(await shop.events(id)).toEqual(['opened', 'accepted', 'abandoned', ...Array(6).fill('queried')]);
    expect(await storedPayment(id)).toMatchObject({ dueAt: null, attention: null, state: 'DECLINED' });
  });

  test('a late success whose notification carries a wrong amount is found by a query', async () => {
    const { id, merchant } = await makeSale(ARGENTINA);
    await setClock(300, merchant, id);
    await work(merchant);
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'wrong_amount' });
    await provider(id, 'executed');
    expect(await shop.inspect(id)).toMatchObject({ attention: 'wrong_amount' });
    await shop.advanceClock(60, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', attention: 'late_success' });
  });

  test('after them the order may be tried again', async () => {
    const { id, merchant, request } = await makeSale(ARGENTINA);
    await setClock(300, merchant, id);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'DECLINED' });
    const { body } = await shop.post(request);
    expect(body).toMatchObject({ result: 'SUCCESS', status: 'PENDING' });
    expect(body.trans_id).not.toBe(id);
  });
});

const open = async (url: string) => {
  const response = await fetch(url, { redirect: 'manual' });
  return { status: response.status, page: await response.text() };
};
const fill = async (url: string, form: Fields) => {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
  return { status: response.status, page: await response.text(), location: response.headers.get('location') };
};

describe.each(TRANSFERS)('$brand without $field', (transfer) => {
  const { field, right, wrong, label, account } = transfer;

  test('sends the payer to the payment page, which asks for exactly that field', async () => {
    const { body, id } = await makeSaleWithoutField(transfer);
    expect(body).toMatchObject({ result: 'REDIRECT', status: 'REDIRECT', redirect_method: 'GET', redirect_params: {} });
    expect(body.redirect_url).toMatch(new RegExp(`^${shop.url}/pay/${id}\\.[\\w-]{22}$`));
    const { status, page } = await open(body.redirect_url);
    expect(status).toBe(200);
    expect(inputs(page)).toEqual([field]);
    expect(page).toContain(label);
    expect((await atProvider(id)).status).toBe(404);
  });

  test.each([
    ['a wrong value', wrong],
    ['nothing', ''],
    ['blanks', '   '],
  ])('%s: the page shows the error at its field, and nothing changes', async (_, value) => {
    const { body, id } = await makeSaleWithoutField(transfer);
    const { status, page } = await fill(body.redirect_url, { [field]: value });
    expect(status).toBe(422);
    expect(inputs(page)).toEqual([field]);
    expect(page).toMatch(new RegExp(`<p class="error" id="${field}-error">[A-Z][^<]+</p>`));
    expect(page).toMatch(/role="alert"[^>]*><h2 hidden><\/h2><p>[^<]*Nothing was paid\.<\/p>/);
    expect(await shop.inspect(id)).toMatchObject({ status: 'REDIRECT', next_step: 'fields' });
    expect(await shop.events(id)).toEqual(['opened', 'redirected']);
    expect((await atProvider(id)).status).toBe(404);
  });

  test('stores a valid value with the payment, which is submitted and pending', async () => {
    const { body, id, merchant } = await makeSaleWithoutField(transfer);
    const { status, location } = await fill(body.redirect_url, { [field]: right });
    expect([status, location]).toEqual([303, new URL(body.redirect_url).pathname]);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'PENDING' });
    expect((await shop.inspect(id)).details.parameters).toEqual({ [field]: right });
    expect(await shop.events(id)).toEqual(['opened', 'redirected', 'collected', 'accepted']);
    expect((await atProvider(id)).body).toMatchObject({ status: 'pending', amount: '1000', brand: transfer.brand });
    const { page } = await open(body.redirect_url);
    expect(inputs(page)).toEqual([]);
    const [, shown = ''] = /<dt>Account number<.*?<dd><bdi>(\d+)<\/bdi><\/dd>/.exec(page) ?? [];
    expect(shown).toMatch(account);
  });

  test('five minutes count from the sale, not from the payer’s input', async () => {
    const { body, id, merchant } = await makeSaleWithoutField(transfer);
    await setClock(200, merchant, id);
    expect((await fill(body.redirect_url, { [field]: right })).status).toBe(303);
    await setClock(299, merchant, id);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'PENDING' });
    await setClock(300, merchant, id);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'DECLINED' });
    await provider(id, 'executed');
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', attention: 'late_success' });
  });

  test('a success after the payer’s input settles it', async () => {
    const { body, id, merchant } = await makeSaleWithoutField(transfer);
    await fill(body.redirect_url, { [field]: right });
    await provider(id, 'executed');
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'SETTLED' });
  });

  test('no input for five minutes: declined, and the provider is never called', async () => {
    const { body, id, merchant } = await makeSaleWithoutField(transfer);
    await setClock(299, merchant, id);
    expect(await statusOf(id, merchant)).toMatchObject({ status: 'REDIRECT' });
    await setClock(300, merchant, id);
    expect(await statusOf(id, merchant)).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The payer did not finish in time.',
    });
    const payment = await storedPayment(id);
    const decline = (await shop.gateway.payments.history(payment)).at(-1);
    expect(Number(decline?.at)).toBe(payment.createdAt + 300_000);
    await shop.advanceClock(86_400, merchant.mid);
    expect(await shop.events(id)).toEqual(['opened', 'redirected', 'abandoned']);
    const late = await fill(body.redirect_url, { [field]: right });
    expect(late.status).toBe(303);
    expect((await open(body.redirect_url)).page).toContain('The time to pay is over');
    expect((await shop.inspect(id)).details.parameters ?? {}).toEqual({});
    expect((await atProvider(id)).status).toBe(404);
  });

  test('by the page alone: it shows the expiry to a payer who opens it after five minutes', async () => {
    const { body, id, merchant } = await makeSaleWithoutField(transfer);
    await setClock(300, merchant, id);
    const { status, page } = await open(body.redirect_url);
    expect([status, inputs(page)]).toEqual([200, []]);
    expect(page).toContain('The time to pay is over');
    expect((await shop.inspect(id)).status).toBe('DECLINED');
  });
});

test('refuses a currency that is not the brand’s own', async () => {
  for (const { brand, field, right } of TRANSFERS) {
    const { status, body } = await shop.sale({ brand, identifier: '', order_id: newOrderId(), [field]: right });
    expect(status).toBe(400);
    expect(body.errors[0].error_message).toBe('order_currency: The value you selected is not a valid choice.');
  }
});
