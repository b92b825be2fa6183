/** Payments through a connection to Adyen, from the payer's page to the webhook, against a double of Adyen. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AdyenDouble, AUTHENTICATED_CARD, startAdyen } from '../doubles/adyen.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { type Body, cardForm, checkoutOf, fill } from '../support/checkout.ts';
import { cardSalesOf } from '../support/dialect.ts';
import { type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { connect, route } from '../support/providers.ts';

const shop = openShop();
const checkout = checkoutOf(shop);
let adyen: AdyenDouble;
let connection: string;
let merchant: Merchant;

const connectAdyen = (settings: Record<string, unknown> = {}): Promise<string> =>
  connect(shop, adyen, {
    connector: 'adyen',
    settings: { api_base: adyen.url, methods: { 'bank-a': 'ideal' }, ...settings },
  });
const merchantOf = async (connection_id: string): Promise<Merchant> => {
  const created = await shop.newMerchant();
  await route(shop, created.mid, [{ connection_id }]);
  return created;
};
beforeAll(async () => {
  adyen = await startAdyen();
  connection = await connectAdyen();
  merchant = await merchantOf(connection);
});
beforeEach(() => {
  adyen.webhooks();
  adyen.calls.length = 0;
});
afterAll(async () => {
  expect(adyen.violations).toEqual([]);
  const logged = shop.logs.join('\n');
  for (const secret of ['4111111111111111', AUTHENTICATED_CARD, adyen.credentials.api_key, adyen.credentials.hmac_key])
    expect(logged).not.toContain(secret);
  await adyen.close();
});

const send = async (body: Buffer, to = connection): Promise<[number, string]> => {
  const response = await fetch(`${shop.url}/inbound/adyen/${to}`, { method: 'POST', body: new Uint8Array(body) });
  return [response.status, await response.text()];
};
/** Adyen delivers its webhooks, each of them twice, in reverse order. */
const deliver = async (to = connection): Promise<void> => {
  const sent = adyen.webhooks().toReversed();
  for (const { body } of [...sent, ...sent]) expect(await send(body, to)).toEqual([200, '[accepted]']);
};
const sale = async (fields: Fields = {}, by = merchant): Promise<Body> =>
  (await shop.sale({ brand: 'bank-a', identifier: '', ...BRAND_EXPECTATIONS['bank-a']?.complete, ...fields }, by)).body;
const byCard = async (fields: Body = {}, form: Fields = {}): Promise<string> => {
  const session = await checkout.open({ methods: ['card'], ...fields }, merchant);
  const { status, text } = await fill(session.url, cardForm(form));
  expect(status, text).toBe(303);
  return session.id;
};
/** A payment whose payer has authenticated at the bank and comes back, while Adyen has these faults. */
const authenticated = async (...faults: Parameters<AdyenDouble['fault']>): Promise<string> => {
  const session = await checkout.open({ methods: ['card'] }, merchant);
  await fill(session.url, cardForm({ card_number: AUTHENTICATED_CARD }));
  expect(await shop.inspect(session.id)).toMatchObject({ status: 'REDIRECT' });
  const [row] = await shop.rows(`select next_step ->> 'url' as url from payments where payment_id = '${session.id}'`);
  const returned = new URLSearchParams(adyen.decide(String(row?.url)));
  adyen.fault(...faults);
  await fetch(`${String(adyen.calls[0]?.body.returnUrl)}?${returned}`, { redirect: 'manual' });
  return session.id;
};
const refund = (id: string, amount: string) => shop.admin('POST', `/payments/${id}/refund`, { amount });

describe('the connection', () => {
  test('is checked by a call without effect', async () => {
    const { body } = await shop.admin('POST', `/connections/${connection}/check`);
    expect(body).toEqual({ ok: true, detail: 'The merchant account offers 14 payment methods.' });
  });

  test.each([
    [{ credentials: { hmac_key: 'secret' } }, 'credentials.hmac_key'],
    [{ settings: { mode: 'Hosted' } }, 'settings.mode'],
    [{ settings: { other: 'x' } }, 'settings.other'],
  ])('%j is refused', async (changes, field) => {
    const { status, body } = await shop.admin('PATCH', `/connections/${connection}`, changes);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)]);
  });
});

describe('a card', () => {
  test('is charged, the webhook adds nothing', async () => {
    const id = await byCard({}, { browser: '1280 800 24 -120' });
    const before = await shop.inspect(id);
    expect(before).toMatchObject({ status: 'SETTLED', connector: 'adyen', connection_id: connection });
    expect(before.provider_reference).toBe(adyen.payment(id)?.pspReference);
    expect(adyen.calls[0]?.body).toMatchObject({ browserInfo: { screenWidth: 1280 } });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '10.00', attention: null });
  });

  test('is checked by an authorisation of zero, which is cancelled', async () => {
    const shopper = await merchantOf(connection);
    await shop.admin('PATCH', `/accounts/${shopper.mid}`, { 'dialect.card_sales': true });
    const { body } = await cardSalesOf(shop, () => shopper)({ order_amount: '0.00', auth: 'Y' });
    expect([body.status, body.amount]).toEqual(['PENDING', '0.00']);
    expect(adyen.calls[0]?.body).toMatchObject({ amount: { value: 0, currency: 'USD' } });
    await expect.poll(() => adyen.payment(body.trans_id)?.state).toBe('cancelled');
    await deliver();
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'VOID', attention: null });
  });

  test('is on the attention list after an event of the future, also one about its refund', async () => {
    const code = 'REFUND_OF_THE_FUTURE' as 'REFUND';
    const amount = { currency: 'USD', value: 100 };
    const ids = [await byCard(), await byCard()] as const;
    const [first, second] = ids.map((id) => adyen.payment(id)?.pspReference as string) as [string, string];
    await refund(ids[1], '1.00');
    const [operation] = await shop.rows(`select operation_id from operations where payment_id = '${ids[1]}'`);
    adyen.webhooks();
    adyen.report(code, true, { amount, reference: ids[0] }, { psp: first });
    adyen.report(code, true, { amount, reference: String(operation?.operation_id) }, { psp: 'D77', original: second });
    await deliver();
    for (const id of ids) {
      const payment = await shop.inspect(id);
      expect([payment.attention, JSON.stringify(payment.provider_calls)]).toEqual([
        'unresolved',
        expect.stringContaining(code),
      ]);
    }
    const marked = (await shop.admin('GET', `/payments?attention=unresolved&mid=${merchant.mid}`)).body.items;
    expect(marked.map(({ payment_id }: Body) => payment_id)).toEqual(expect.arrayContaining([...ids]));
  });

  test('is declined with the reason', async () => {
    const id = await byCard({}, { card_holder: 'DECLINED:12' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', decline_reason: 'Insufficient funds.' });
  });

  test('is authenticated at the bank, and charged when the payer comes back', async () => {
    const id = await authenticated();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED' });
    await deliver();
    expect(adyen.balance(id)).toBe(1000n);
  });

  test('is authorised, captured in part and refunded in part; webhooks bring the outcomes', async () => {
    const id = await byCard({ auth: 'Y' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING' });
    await deliver();
    await shop.admin('POST', `/payments/${id}/capture`, { amount: '6.00' });
    expect(await shop.inspect(id)).toMatchObject({ captured: '0.00', operations: [{ state: 'sent' }] });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '6.00' });
    await refund(id, '2.00');
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ refunded: '2.00', attention: null });
    expect(adyen.balance(id)).toBe(400n);
  });

  test('a refund that takes days is not marked; its webhook brings the outcome', async () => {
    const [late, never] = [await byCard(), await byCard()];
    await deliver();
    for (const id of [late, never]) await refund(id, '2.00');
    const [first] = adyen.webhooks();
    await shop.advanceClock(20 * 24 * 3600, merchant.mid);
    for (const id of [late, never])
      expect(await shop.inspect(id)).toMatchObject({
        refunded: '0.00',
        attention: null,
        operations: [{ state: 'sent' }],
      });
    expect(await send(first?.body as Buffer)).toEqual([200, '[accepted]']);
    expect(await shop.inspect(late)).toMatchObject({ refunded: '2.00', attention: null });
    // Adyen cannot be asked: after its days, an operator has to look.
    await shop.advanceClock(20 * 24 * 3600, merchant.mid);
    expect(await shop.inspect(never)).toMatchObject({ refunded: '0.00', attention: 'unresolved' });
  });

  test('is authorised and voided', async () => {
    const id = await byCard({ auth: 'Y' });
    await shop.admin('POST', `/payments/${id}/void`);
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'VOID' });
    expect(adyen.payment(id)?.state).toBe('cancelled');
  });

  test('is repeated by the merchant with Adyen’s token', async () => {
    const id = await byCard({ recurring_init: true });
    const { recurring_token } = (await checkout.status({ payment_id: id }, merchant)).body;
    const order = { number: `${id} again`, amount: '3.00', description: 'Tea' };
    const repeated = { recurring_init_trans_id: id, recurring_token, order };
    const { body } = await checkout.send('payment/recurring', repeated, merchant);
    expect(body).toMatchObject({ status: 'settled' });
    expect(adyen.calls.at(-1)?.body).toMatchObject({
      shopperInteraction: 'ContAuth',
      shopperReference: id,
      paymentMethod: { storedPaymentMethodId: `TOKEN${adyen.payment(id)?.pspReference}` },
    });
    const [row] = await shop.rows(`select provider_data::text as data from payments where payment_id = '${id}'`);
    expect(row?.data).not.toContain('TOKEN');
  });
});

describe('answers that get lost', () => {
  test('a payer comes back while Adyen takes no more calls: what the payer brought is sent again', async () => {
    const id = await authenticated('rate_limited', 'rate_limited');
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null });
    expect(adyen.calls.filter(({ path }) => path.endsWith('/payments/details'))).toHaveLength(3);
  });

  test('a payment without an answer stays open until the webhook', async () => {
    adyen.fault('lost_after', 'lost_after');
    const id = await byCard();
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true });
    await shop.advanceClock(600, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null });
    expect(adyen.balance(id)).toBe(1000n);
  });

  test('a refund without an answer is repeated under its key, and done once', async () => {
    const id = await byCard();
    adyen.fault('lost_after');
    await refund(id, '4.00');
    await shop.advanceClock(10, merchant.mid);
    const keys = adyen.calls.filter(({ path }) => path.endsWith('/refunds')).map(({ key }) => key);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ refunded: '4.00', operations: [{ state: 'done' }] });
    expect(adyen.balance(id)).toBe(600n);
  });
});

describe('a bank', () => {
  test('is paid by a payer who does not come back; a forged webhook counts nothing', async () => {
    const { trans_id, redirect_url } = await sale();
    expect(adyen.calls[0]?.body).toMatchObject({ paymentMethod: { type: 'ideal' } });
    adyen.decide(String(redirect_url));
    const [webhook] = adyen.webhooks();
    const body = String(webhook?.body);
    expect(await send(Buffer.from(body.replace('"value":1000', '"value":1001')))).toMatchObject([
      401,
      expect.any(String),
    ]);
    expect((await shop.inspect(String(trans_id))).status).toBe('REDIRECT');
    expect(await shop.gateway.metrics.text()).toMatch(
      /^turnpike_notifications_refused_total\{connector="adyen\/[\da-f-]{36}"\} 1$/m,
    );
    expect(await send(Buffer.from(body))).toEqual([200, '[accepted]']);
    expect((await shop.inspect(String(trans_id))).status).toBe('SETTLED');
  });

  test('refuses', async () => {
    const { trans_id, redirect_url } = await sale();
    adyen.decide(String(redirect_url), 'cancel');
    await deliver();
    expect(await shop.inspect(String(trans_id))).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The payer cancelled the payment.',
    });
  });
});

test('Adyen’s page: a refusal leaves the payment open, the next attempt pays it', async () => {
  const hosted = await connectAdyen({ mode: 'hosted' });
  const { trans_id, redirect_url } = await sale({}, await merchantOf(hosted));
  const opened = adyen.calls.at(-1);
  expect(opened).toMatchObject({ path: '/sessions', body: { allowedPaymentMethods: ['ideal'] } });
  adyen.decide(String(redirect_url), 'refuse');
  await deliver(hosted);
  expect((await shop.inspect(String(trans_id))).status).toBe('REDIRECT');
  const returned = new URLSearchParams(adyen.decide(String(redirect_url)));
  await fetch(`${String(opened?.body.returnUrl)}?${returned}`, { redirect: 'manual' });
  expect((await shop.inspect(String(trans_id))).status).toBe('SETTLED');
  await deliver(hosted);
  expect(await shop.inspect(String(trans_id))).toMatchObject({ status: 'SETTLED', attention: null });
});

test('Adyen’s page: a payment that stays pending, without a reference of Adyen, is voided by our reference', async () => {
  const hosted = await connectAdyen({ mode: 'hosted' });
  const { trans_id, redirect_url } = await sale({}, await merchantOf(hosted));
  const id = String(trans_id);
  const { returnUrl } = adyen.calls.at(-1)?.body ?? {};
  const returned = new URLSearchParams(adyen.decide(String(redirect_url), 'pend'));
  await fetch(`${String(returnUrl)}?${returned}`, { redirect: 'manual' });
  expect((await shop.inspect(id)).status).toBe('PENDING');
  await shop.admin('POST', `/payments/${id}/void`);
  expect(await shop.inspect(id)).toMatchObject({ operations: [{ state: 'sent' }] });
  expect(adyen.calls.at(-1)).toMatchObject({ path: '/cancels', body: { paymentReference: id } });
  await deliver(hosted);
  expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', operations: [{ state: 'done' }], attention: null });
});

describe('what comes later', () => {
  const about = (id: string) => ({ reference: id, amount: { currency: 'USD', value: 1000 } });
  const psp = (id: string): string => String(adyen.payment(id)?.pspReference);

  test('a chargeback', async () => {
    const id = await byCard();
    adyen.report('CHARGEBACK', true, about(id), { psp: `C${psp(id)}`, original: psp(id) });
    await deliver();
    expect((await shop.inspect(id)).status).toBe('CHARGEBACK');
  });

  test('a chargeback with the deadline of Adyen, which is reversed, and taken once more', async () => {
    const id = await byCard();
    const part = { ...about(id), amount: { currency: 'USD', value: 300 } };
    const data = { defensePeriodEndsAt: '2030-01-31T12:00:00Z' };
    adyen.report('CHARGEBACK', true, part, { psp: `C${psp(id)}`, original: psp(id), reason: 'Fraud', data });
    await deliver();
    const row = async () => (await shop.admin('GET', `/chargebacks?mid=${merchant.mid}&limit=1`)).body.items[0];
    expect(await row()).toMatchObject({
      payment_id: id,
      stage: 'chargeback',
      amount: '3.00',
      reason: 'Fraud',
      respond_by: '2030-01-31 12:00:00',
    });
    adyen.report('CHARGEBACK_REVERSED', true, part, { psp: `C${psp(id)}`, original: psp(id) });
    await deliver();
    expect([(await shop.inspect(id)).status, (await row()).state]).toEqual(['SETTLED', 'won']);
    adyen.report('SECOND_CHARGEBACK', true, part, { psp: `S${psp(id)}`, original: psp(id) });
    await deliver();
    expect([(await shop.inspect(id)).status, (await row()).stage]).toEqual(['CHARGEBACK', 'second_chargeback']);
  });

  test.each(['REFUNDED_REVERSED', 'EXPIRE', 'A_CODE_OF_THE_FUTURE'])(
    '%s: the operator has to look at it',
    async (code) => {
      const id = await byCard();
      adyen.report(code as 'REFUND', true, about(id), { psp: `X${psp(id)}`, original: psp(id) });
      await deliver();
      expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: 'unresolved' });
    },
  );

  test('a capture, a void and refunds that were made in the Customer Area are booked, each once', async () => {
    const held = async (): Promise<string> => {
      const id = await byCard({ auth: 'Y' });
      await deliver();
      return id;
    };
    const part = (id: string, value: number) => ({ amount: { currency: 'USD', value }, reference: id });
    const captured = await held();
    adyen.report('CAPTURE', true, part(captured, 400), { psp: `C${psp(captured)}`, original: psp(captured) });
    await deliver();
    expect(await shop.inspect(captured)).toMatchObject({ status: 'SETTLED', captured: '4.00', attention: null });
    for (const each of ['1', '2']) {
      const psps = { psp: `R${each}${psp(captured)}`, original: psp(captured) };
      adyen.report('REFUND', true, part(captured, 150), psps);
    }
    await deliver();
    expect(await shop.inspect(captured)).toMatchObject({ status: 'SETTLED', refunded: '3.00', attention: null });
    // More than is left: the operator has to look at it.
    adyen.report('REFUND', true, part(captured, 150), { psp: `R3${psp(captured)}`, original: psp(captured) });
    await deliver();
    expect(await shop.inspect(captured)).toMatchObject({ refunded: '3.00', attention: 'unresolved' });
    const twice = await held();
    for (const each of ['1', '2']) {
      adyen.report('CAPTURE', true, part(twice, 400), { psp: `C${each}${psp(twice)}`, original: psp(twice) });
      await deliver();
    }
    expect(await shop.inspect(twice)).toMatchObject({ captured: '4.00', attention: 'unresolved' });
    const over = await held();
    adyen.report('CAPTURE', true, part(over, 1001), { psp: `C${psp(over)}`, original: psp(over) });
    await deliver();
    expect(await shop.inspect(over)).toMatchObject({ status: 'PENDING', captured: '0.00', attention: 'wrong_amount' });
    const late = await held();
    adyen.report('EXPIRE', true, about(late), { psp: psp(late), original: psp(late) });
    await deliver();
    adyen.report('CAPTURE', true, part(late, 400), { psp: `C${psp(late)}`, original: psp(late) });
    await deliver();
    expect(await shop.inspect(late)).toMatchObject({ status: 'EXPIRED', attention: 'late_success' });
    const accepted = await shop.admin('POST', `/payments/${late}/attention`, { resolve: 'accept' });
    expect(accepted.body).toMatchObject({ status: 'SETTLED', captured: '4.00' });
    const voided = await held();
    adyen.report('CANCELLATION', true, part(voided, 1000), { psp: `V${psp(voided)}`, original: psp(voided) });
    await deliver();
    expect(await shop.inspect(voided)).toMatchObject({ status: 'VOID', attention: null });
  });

  test.each([
    ['in another currency', { currency: 'EUR', value: 400 }, '4.00 EUR'],
    ['of more than there is', { currency: 'USD', value: 1001 }, '10.01 USD'],
    ['of nothing', { currency: 'USD', value: 0 }, '0.00 USD'],
    ['of what is no amount', { currency: 'USD', value: 4.5 }, null],
  ])('a capture and a refund %s in the Customer Area are cases for the operator', async (_, amount, reported) => {
    const held = await byCard({ auth: 'Y' });
    const settled = await byCard();
    await deliver();
    adyen.report('CAPTURE', true, { amount, reference: held }, { psp: `C${psp(held)}`, original: psp(held) });
    adyen.report('REFUND', true, { amount, reference: settled }, { psp: `R${psp(settled)}`, original: psp(settled) });
    await deliver();
    const [capture, refunded] = [await shop.inspect(held), await shop.inspect(settled)];
    expect(capture).toMatchObject({ status: 'PENDING', captured: '0.00', attention: 'wrong_amount' });
    expect(refunded).toMatchObject({ status: 'SETTLED', refunded: '0.00', attention: 'unresolved' });
    expect([capture.provider_calls.at(-1).reported, refunded.provider_calls.at(-1).reported]).toEqual([
      reported,
      reported,
    ]);
  });

  test('a second, separate chargeback of a part is a case for the operator; a repeated one is not', async () => {
    const id = await byCard();
    await deliver();
    const take = async (psps: string, value: number) => {
      const part = { amount: { currency: 'USD', value }, reference: id };
      adyen.report('CHARGEBACK', true, part, { psp: psps, original: psp(id) });
      await deliver();
      return shop.inspect(id);
    };
    expect(await take(`C1${psp(id)}`, 300)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect(await take(`C1${psp(id)}`, 300)).toMatchObject({ attention: null });
    expect(await take(`C2${psp(id)}`, 200)).toMatchObject({
      status: 'CHARGEBACK',
      attention: 'unexpected_chargeback',
    });
  });

  test('an authorisation ends at Adyen', async () => {
    const id = await byCard({ auth: 'Y' });
    adyen.report('EXPIRE', true, about(id), { psp: `X${psp(id)}`, original: psp(id) });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'EXPIRED', attention: null });
  });

  test('a payer who pays twice: the second payment is a case for the operator', async () => {
    const id = await byCard();
    await deliver();
    adyen.report('AUTHORISATION', true, about(id), { psp: 'SECOND' });
    await deliver();
    const payment = await shop.inspect(id);
    expect(payment).toMatchObject({ status: 'SETTLED', attention: 'late_success', provider_reference: psp(id) });
    expect(JSON.stringify(payment.provider_calls)).toContain('SECOND');
  });

  test('a refund that was done fails: the operator has to look at it, once', async () => {
    const id = await byCard();
    await refund(id, '4.00');
    await deliver();
    const [{ operation_id }] = (await shop.inspect(id)).operations;
    adyen.report(
      'REFUND_FAILED',
      true,
      { ...about(id), reference: operation_id },
      { psp: `R${psp(id)}`, original: psp(id) },
    );
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ refunded: '4.00', attention: 'unresolved' });
    expect((await shop.events(id)).filter((event) => event === 'doubted')).toHaveLength(1);
  });

  test('the capture of a sale fails: the operator has to look at it', async () => {
    const id = await byCard();
    adyen.report('CAPTURE_FAILED', true, about(id), { psp: `F${psp(id)}`, original: psp(id) });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: 'unresolved' });
  });

  test.each(['CAPTURE_FAILED', 'REFUNDED_REVERSED'])('%s while a refund is pending: marked at once', async (code) => {
    const id = await byCard();
    await refund(id, '4.00');
    const pending = adyen.webhooks();
    adyen.report(code as 'REFUND', true, about(id), { psp: `F${psp(id)}`, original: psp(id) });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ operations: [{ state: 'sent' }], attention: 'unresolved' });
    // The refund is queried meanwhile, which says nothing about the failure.
    await shop.advanceClock(3600, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({ operations: [{ state: 'sent' }], attention: 'unresolved' });
    for (const { body } of pending) expect(await send(body)).toEqual([200, '[accepted]']);
    expect(await shop.inspect(id)).toMatchObject({ refunded: '4.00', attention: 'unresolved' });
  });
});
