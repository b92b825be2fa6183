/** Receipts: the page behind the payment link, and the e-mail, which is written with the settlement and sent once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { processEverythingDue } from '../../src/core/due/due.ts';
import {
  type Body,
  cardForm,
  checkoutOf,
  fill,
  inputs,
  marked,
  sessionFields,
  show,
  VCARD,
} from '../support/checkout.ts';
import { type Merchant, openShop, type TestGateway } from '../support/gateway.ts';
import { headersOf, partsOf, type ReceivedMail, startMailServer, type TestMailServer } from '../support/mail.ts';
import { signedIn } from '../support/operators.ts';
import { expectSafe, readable } from '../support/pages.ts';

const mail = { url: '', from: 'receipts@pay.example' };
let server: TestMailServer;
beforeAll(async () => {
  server = await startMailServer();
  mail.url = server.url;
});
afterAll(() => server.stop());
const shop = openShop({ simulator: true, mail });
const checkout = checkoutOf(shop);

const MAIL = 'ada@example.com';
const CUSTOMER = { customer: { name: 'Ada Byron', email: MAIL } };
const LINES = {
  amount: '25.00',
  lines: [
    { name: 'Green tea <b>', quantity: 2, unit_amount: '9.50' },
    { name: 'A cup', amount: '5.00' },
  ],
  shipping: '3.00',
  tax: '0.00',
  discount: '2.00',
};

let merchant: Merchant;
beforeAll(async () => {
  merchant = await shop.newMerchant({
    receipts: 'email',
    branding: { name: 'Tea & Sons', support_email: 'help@tea.example', terms_url: 'https://tea.example/terms' },
  });
});
beforeEach(() => {
  server.behaviour = 'accepts';
  server.mails.length = 0;
});

const work = (gateway: TestGateway['gateway'] = shop.gateway) => processEverythingDue(gateway);
const receiptOf = async (id: string) => (await shop.inspect(id)).receipt;
const only = (): ReceivedMail => {
  expect(server.mails).toHaveLength(1);
  return server.mails[0] as ReceivedMail;
};
const paid = (fields: Body = {}, by = merchant) => checkout.paid({ ...CUSTOMER, ...fields }, by);

describe('the page', () => {
  test('is linked from the result, and shows what was paid, how and to whom', async () => {
    const { id, url, orderId } = await checkout.paidByCard({ order: LINES }, merchant);
    const path = new URL(url).pathname;
    expect((await show(url)).text).toContain(`href="${path}/receipt"`);
    const page = await show(`${url}/receipt`);
    expect(page.status).toBe(200);
    expectSafe(page);
    const text = readable(page.text);
    for (const part of ['Receipt', '$25.00', 'Tea & Sons', orderId, 'Visa ending in 1111', id, 'UTC']) {
      expect(text).toContain(part);
    }
    for (const part of ['Green tea &lt;b&gt;', '2 × $9.50', '$19.00', 'Shipping', '-$2.00', 'help@tea.example']) {
      expect(text).toContain(part);
    }
    expect(page.text).not.toContain('411111');
  });

  test.each<[string, () => Promise<string>]>([
    ['is open', async () => (await checkout.open({}, merchant)).url],
    ['was declined', async () => (await checkout.paid({}, merchant, 'decline')).url],
  ])('does not exist for a payment that %s', async (_, open) => {
    const url = await open();
    expect(await show(`${url}/receipt`)).toMatchObject({ status: 303, location: new URL(url).pathname });
    expect((await show(url)).text).not.toContain('/receipt"');
  });

  test('needs the link of the payment', async () => {
    const { url } = await checkout.paid({}, merchant);
    expect((await show(`${url.slice(0, -1)}x/receipt`)).status).toBe(404);
  });

  test('says that an amount is only reserved, what was charged of it, and what was given back', async () => {
    const { url, id } = await checkout.paid({ auth: 'Y' }, merchant);
    expect(readable((await show(`${url}/receipt`)).text)).toContain('The amount is reserved');
    await checkout.send('payment/capture', { payment_id: id, amount: '8.00' }, merchant);
    await checkout.send('payment/refund', { payment_id: id, amount: '3.00' }, merchant);
    const text = readable((await show(`${url}/receipt`)).text);
    for (const part of ['Amount charged $8.00', 'Refunded $3.00']) expect(text).toContain(part);
    expect(text).not.toContain('reserved');
  });
});

describe('the e-mail', () => {
  test('is written with the settlement, sent by the work loop, and listed with its outcome', async () => {
    const { id, url, orderId } = await paid({ order: LINES });
    expect([await receiptOf(id), server.mails]).toMatchObject([{ state: 'waiting', attempts: 0, reason: null }, []]);
    await work();
    await work();
    const sent = only();
    expect(sent).toMatchObject({ from: mail.from, to: [MAIL] });
    const headers = headersOf(sent);
    expect(headers.get('message-id')).toBe(`<receipt-${id}@pay.example>`);
    expect(headers.get('subject')).toBe(`[Test mode] Receipt from Tea & Sons for order ${orderId}`);
    expect(headers.get('from')).toBe('"Tea & Sons" <receipts@pay.example>');
    expect([headers.get('to'), headers.get('reply-to')]).toEqual([MAIL, 'help@tea.example']);
    expect(headers.get('auto-submitted')).toBe('auto-generated');
    const parts = partsOf(sent);
    expect([...parts.keys()]).toEqual(['text/plain', 'text/html']);
    const html = parts.get('text/html') ?? '';
    const plain = (parts.get('text/plain') ?? '').replaceAll('\u00a0', ' ');
    for (const part of [
      orderId,
      '$25.00',
      'Test payment',
      id,
      `${url}/receipt`,
      'help@tea.example',
      'No real money moves.',
    ]) {
      expect(plain).toContain(part);
      expect(html.replaceAll('\u00a0', ' ')).toContain(part);
    }
    expect(html).toContain('Green tea &lt;b&gt;');
    expect(plain).toContain('Green tea <b>  (2 × $9.50)  $19.00');
    expect(await receiptOf(id)).toMatchObject({ state: 'sent', attempts: 1, reason: expect.stringMatching(/^250 /) });
    const operator = await signedIn(shop, 'viewer', [merchant.mid]);
    const page = readable((await operator.get(`/admin/payments/${id}`)).text);
    expect(page).toMatch(/Receipt by e-mail, attempt 1 sent ada@example.com · 250 /);
    for (const part of ['Order lines', 'Green tea &lt;b&gt;', 'USD 9.50', 'USD 19.00', '-USD 2.00'])
      expect(page).toContain(part);
  });

  test('has the masked card only, and the language of the payer', async () => {
    const { url, id } = await checkout.open({ ...CUSTOMER, methods: ['card'] }, merchant);
    const body = new URLSearchParams(cardForm());
    expect((await show(url, { method: 'POST', body, headers: { 'accept-language': 'ar-EG' } })).status).toBe(303);
    await work();
    const sent = only();
    expect(headersOf(sent).get('message-id')).toContain(id);
    const html = partsOf(sent).get('text/html') ?? '';
    expect(html).toContain('<html lang="ar-EG" dir="rtl">');
    expect(html).toMatch(/Visa.*1111/);
    expect(html).not.toMatch(/(?![0-9])\p{Nd}/u);
    expect([sent.raw, html].join()).not.toMatch(/4111|Byron/);
  });

  test('is sent for a capture, of what was captured, and for a sale over /post', async () => {
    const { id } = await paid({ auth: 'Y' });
    expect(await receiptOf(id)).toBeNull();
    await checkout.send('payment/capture', { payment_id: id, amount: '8.00' }, merchant);
    await work();
    expect(partsOf(only()).get('text/plain')?.replaceAll('\u00a0', ' ')).toContain('Amount: $8.00');
    server.mails.length = 0;
    await shop.sale({ payer_email: MAIL }, merchant);
    await work();
    expect(only().to).toEqual([MAIL]);
  });

  /** A session refuses such an address, but an earlier version may have stored it. */
  async function paidWithHeader(): Promise<string> {
    const email = `${MAIL}\r\nBcc: eve@evil.example`;
    const fields = { customer: { email }, methods: ['vcard'] };
    expect((await checkout.send('session', sessionFields(fields), merchant)).status).toBe(400);
    const { url, id } = await checkout.open({ ...CUSTOMER, methods: ['vcard'] }, merchant);
    const payer = JSON.stringify({ email });
    await shop.rows(`update payments set details = details || jsonb_build_object('payer', '${payer}'::jsonb)
      || jsonb_build_object('session', details -> 'session' || jsonb_build_object('payer', '${payer}'::jsonb))
      where payment_id = '${id}'`);
    expect((await fill(url, VCARD.success)).status).toBe(303);
    expect((await shop.inspect(id)).details.payer).toEqual({ email });
    return id;
  }

  test.each<[string, () => Promise<string>]>([
    ['a payment that was declined', async () => (await checkout.paid(CUSTOMER, merchant, 'decline')).id],
    ['a payer without an address', async () => (await checkout.paid({}, merchant)).id],
    ['an account that did not ask for it', async () => (await paid({}, shop.merchant)).id],
    ['an address that is none', async () => (await paid({ customer: { email: 'ada' } })).id],
    ['two addresses', async () => (await paid({ customer: { email: `${MAIL}, eve@evil.example` } })).id],
    ['a header in the address', paidWithHeader],
  ])('is not sent for %s', async (_, pay) => {
    const id = await pay();
    await work();
    expect([await receiptOf(id), server.mails]).toEqual([null, []]);
  });

  test('no header can be added by the name of a shop or an order', async () => {
    const name = 'Tea\r\nBcc: eve@evil.example\r\n\r\nHello';
    const shopOfEve = await shop.newMerchant({ receipts: 'email' });
    // As an earlier version may have stored it: the admin API refuses it.
    const refused = await shop.admin('PATCH', `/accounts/${shopOfEve.mid}`, { branding: { name } });
    expect([refused.status, refused.body.errors[0].param]).toEqual([400, 'branding.name']);
    await shop.rows(`update accounts set settings = settings || '${JSON.stringify({ 'branding.name': name })}'
      where mid = '${shopOfEve.mid}'`);
    await paid({ order: { number: 'ü, "x" <eve@evil.example>' } }, shopOfEve);
    await work();
    const sent = only();
    expect(sent.to).toEqual([MAIL]);
    const headers = headersOf(sent);
    expect([...headers.keys()].toSorted()).toEqual(
      ['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'].toSorted(),
    );
    expect(headers.get('to')).toBe(MAIL);
  });
});

describe('the address that the page asks for', () => {
  const asking = () => shop.newMerchant({ receipts: 'email', receipt_email_asked: true });

  test('is optional, checked, and used for the receipt only', async () => {
    const asked = await asking();
    const { url, id } = await checkout.open({ methods: ['card'] }, asked);
    expect(inputs((await show(url)).text)).toContain('receipt_email');
    const wrong = await fill(url, cardForm({ receipt_email: 'ada@' }));
    expect([wrong.status, marked(wrong.text)]).toEqual([422, ['receipt_email']]);
    expect(await checkout.events(id)).toEqual(['opened']);
    expect((await fill(url, cardForm({ receipt_email: ` ${MAIL} ` }))).status).toBe(303);
    await work();
    expect(only().to).toEqual([MAIL]);
    const { details, callbacks } = await shop.inspect(id);
    expect([details.receipt_email, details.payer.email]).toEqual([MAIL, undefined]);
    expect(JSON.stringify(callbacks)).not.toContain(MAIL);
    const without = await checkout.open({ methods: ['vcard'] }, asked);
    expect((await fill(without.url, { ...VCARD.success, receipt_email: '' })).status).toBe(303);
    expect(await receiptOf(without.id)).toBeNull();
  });

  test('is not asked for if it is known or nothing is sent, and ignored if it was not asked for', async () => {
    const asked = await asking();
    const off = await shop.newMerchant({ receipt_email_asked: true });
    for (const { url } of [
      await checkout.open({ ...CUSTOMER, methods: ['vcard'] }, asked),
      await checkout.open({ methods: ['vcard'] }, off),
    ]) {
      expect(inputs((await show(url)).text)).not.toContain('receipt_email');
    }
    const { url, id } = await checkout.open({ methods: ['vcard'] }, merchant);
    await fill(url, { ...VCARD.success, receipt_email: 'eve@evil.example' });
    expect(await receiptOf(id)).toBeNull();
  });
});

describe('a mail server that is away', () => {
  const MINUTE = 60;

  test('gets the e-mail when it is back', async () => {
    await server.stop();
    const { id } = await paid();
    await work();
    expect(await receiptOf(id)).toMatchObject({
      state: 'waiting',
      attempts: 1,
      reason: expect.stringContaining('ECONNREFUSED'),
    });
    await work();
    expect(await receiptOf(id)).toMatchObject({ attempts: 1 });
    await server.start();
    await shop.advanceClock(MINUTE, merchant.mid);
    expect(only().to).toEqual([MAIL]);
    expect(await receiptOf(id)).toMatchObject({ state: 'sent', attempts: 2 });
  });

  test('that stays away is given up after two days, and says so', async () => {
    const own = await shop.newMerchant({ receipts: 'email' });
    server.behaviour = 'busy';
    const { id } = await paid({}, own);
    await work();
    for (const minutes of [1, 5, 15, 60, 240, 720]) await shop.advanceClock(minutes * MINUTE, own.mid);
    expect(await receiptOf(id)).toMatchObject({ state: 'waiting', attempts: 7 });
    await shop.advanceClock(24 * 60 * MINUTE, own.mid);
    expect(await receiptOf(id)).toMatchObject({ state: 'failed', attempts: 8, reason: expect.stringContaining('451') });
    server.behaviour = 'accepts';
    await shop.advanceClock(48 * 60 * MINUTE, own.mid);
    expect(server.mails).toEqual([]);
    expect(shop.logs.some((line) => line.includes('receipt not sent') && line.includes(id))).toBe(true);
  });

  test.each(['rejects recipient', 'rejects message'] as const)('and one that %s is asked once', async (behaviour) => {
    server.behaviour = behaviour;
    const { id } = await paid();
    await work();
    expect(await receiptOf(id)).toMatchObject({
      state: 'failed',
      attempts: 1,
      reason: expect.stringMatching(/55[04]/),
    });
  });

  test('whose answer is lost gets the same e-mail again, under the same id', async () => {
    server.behaviour = 'dropped';
    const { id } = await paid();
    await work();
    await server.start();
    server.behaviour = 'accepts';
    await shop.advanceClock(MINUTE, merchant.mid);
    expect(server.mails.map((sent) => headersOf(sent).get('message-id'))).toEqual(
      Array(2).fill(`<receipt-${id}@pay.example>`),
    );
    expect(new Set(server.mails.map((sent) => headersOf(sent).get('date'))).size).toBe(1);
    expect(await receiptOf(id)).toMatchObject({ state: 'sent', attempts: 2 });
  });
});

describe('duplicates', () => {
  test('two processes send a receipt once', async () => {
    const other = await shop.anotherGateway();
    for (let count = 0; count < 6; count++) await paid();
    await Promise.all([work(), work(other)]);
    const ids = server.mails.map((sent) => headersOf(sent).get('message-id'));
    expect([ids.length, new Set(ids).size]).toEqual([6, 6]);
  });

  test('a settlement that is reported again sends nothing again', async () => {
    const { page, id } = await checkout.atDocA(CUSTOMER, merchant);
    await fill(page, { decision: 'approve' });
    await shop.sandbox('POST', `/payments/${id}`, { provider_status: 'executed' });
    await expect.poll(() => checkout.stateOf(id, merchant)).toBe('settled');
    await work();
    await shop.sandbox('POST', `/payments/${id}`, { bank_callback: 'ACSC' });
    await shop.advanceClock(3600, merchant.mid);
    only();
    expect(await shop.rows(`select count(*)::int from receipts where payment_id = '${id}'`)).toEqual([{ count: 1 }]);
  });

  test('a lease that was lost does not overwrite the outcome', async () => {
    const { id } = await paid();
    const [claimed] = await shop.gateway.receipts.claimDue(10);
    expect(claimed?.paymentId).toBe(id);
    await shop.rows(`update receipts set due_at = now() - interval '1 hour' where payment_id = '${id}'`);
    await work();
    const lost = { state: 'failed', reason: 'x', dueAt: null, attemptedAt: Date.now() } as const;
    expect(await shop.gateway.receipts.record(claimed as never, lost)).toBe(false);
    expect(await receiptOf(id)).toMatchObject({ state: 'sent', attempts: 1 });
  });
});
