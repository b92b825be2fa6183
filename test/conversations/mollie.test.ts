/** Payments through Mollie, from the merchant's request to the webhook, against a double of Mollie. */
import { PaymentStatus, RefundStatus } from '@mollie/api-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, type MollieDouble, startMollie } from '../doubles/mollie.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { cardForm, checkoutOf, fill, newOrder } from '../support/checkout.ts';
import { type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { connect, route } from '../support/providers.ts';

const shop = openShop();
const checkout = checkoutOf(shop);
let mollie: MollieDouble;
let connection: string;
let merchant: Merchant;

beforeAll(async () => {
  mollie = await startMollie();
  const methods = { 'bank-a': 'ideal', 'doc-a': 'creditcard', card: 'creditcard' };
  connection = await connect(
    shop,
    { credentials: { api_key: API_KEY } },
    { connector: 'mollie', settings: { api_base: mollie.url, methods } },
  );
  merchant = await shop.newMerchant();
  await route(shop, merchant.mid, [{ connection_id: connection }]);
});
afterAll(async () => {
  expect(mollie.violations).toEqual([]);
  await mollie.close();
});

/** A sale whose payer was sent to the page of Mollie: our id, and that of Mollie. */
async function sale(fields: Fields = {}, brand = 'bank-a'): Promise<{ id: string; at: string }> {
  const complete = BRAND_EXPECTATIONS[brand]?.complete;
  const { body } = await shop.sale({ brand, identifier: '', ...complete, ...fields }, merchant);
  expect(body, JSON.stringify(body)).toMatchObject({ status: 'REDIRECT', redirect_url: expect.any(String) });
  return { id: body.trans_id, at: mollie.find(body.trans_id)?.payment.id as string };
}
const statusOf = async (id: string): Promise<string> => (await shop.inspect(id)).status;
const paid = async (): Promise<{ id: string; at: string }> => {
  const payment = await sale();
  mollie.pay(payment.at);
  await mollie.notify(payment.at);
  expect(await statusOf(payment.id)).toBe('SETTLED');
  return payment;
};

test('a request of a risk rule that Mollie has no words for is recorded as lost', async () => {
  const { body: rule } = await shop.admin('POST', '/risk/rules', {
    mid: merchant.mid,
    name: 'Always a challenge',
    condition: { field: 'brand', op: '=', value: 'card' },
    action: { kind: 'require_3ds' },
    state: 'on',
  });
  const session = await checkout.open({ methods: ['card'] }, merchant);
  expect((await fill(session.url, { method: 'card' })).status).toBe(303);
  expect((await shop.inspect(session.id)).risk.three_ds).toEqual({
    requested: 'challenge',
    reason: 'require_3ds',
    sent_as: 'nothing',
  });
  expect((await shop.admin('DELETE', `/risk/rules/${rule.rule_id}`)).status).toBe(200);
});

describe('a payment', () => {
  test('is paid on the page of Mollie and settled by the webhook, which may come twice', async () => {
    const { id, at } = await sale();
    expect(await shop.inspect(id)).toMatchObject({
      status: 'REDIRECT',
      connector: 'mollie',
      connection_id: connection,
      provider_reference: at,
    });
    // The payer has not paid: a webhook, forged or early, changes nothing.
    await mollie.notify(at);
    expect(await statusOf(id)).toBe('REDIRECT');
    mollie.pay(at);
    await mollie.notify(at);
    await mollie.notify(at);
    const payment = await shop.inspect(id);
    expect(payment.status).toBe('SETTLED');
    expect(payment.notifications).toHaveLength(1);
  });

  test('is settled when the payer comes back before the webhook', async () => {
    const { id, at } = await sale();
    mollie.pay(at);
    await fetch(mollie.find(id)?.payment.redirectUrl as string, { redirect: 'manual' });
    expect(await statusOf(id)).toBe('SETTLED');
  });

  test('is on the attention list once Mollie has an unknown status for it', async () => {
    const { id, at } = await paid();
    mollie.finish(at, 'frozen' as PaymentStatus);
    await mollie.notify(at);
    const payment = await shop.inspect(id);
    expect(payment).toMatchObject({ status: 'SETTLED', attention: 'unresolved' });
    expect(payment.provider_calls.at(-1)).toMatchObject({ verb: 'query', outcome: 'frozen' });
    const marked = (await shop.admin('GET', `/payments?attention=unresolved&mid=${merchant.mid}`)).body.items;
    expect(marked.map(({ payment_id }: { payment_id: string }) => payment_id)).toEqual([id]);
    // The mark is not written again.
    await mollie.notify(at);
    expect((await shop.inspect(id)).history).toHaveLength(payment.history.length);
  });

  test('is declined with the reason of Mollie', async () => {
    const { id, at } = await sale({}, 'doc-a');
    mollie.finish(at, PaymentStatus.failed, 'card_expired');
    await mollie.notify(at);
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', decline_reason: 'The card has expired.' });
  });

  test('is charged back', async () => {
    const { id, at } = await paid();
    const chargeback = mollie.newChargeback(at);
    chargeback.amount = { ...chargeback.amount, value: '3.00' };
    await mollie.notify(at);
    expect(await statusOf(id)).toBe('CHARGEBACK');
    const find = async () =>
      (await shop.admin('GET', '/chargebacks')).body.items.find(
        ({ payment_id }: { payment_id: string }) => payment_id === id,
      );
    expect(await find()).toMatchObject({ amount: '3.00', state: 'open', respond_by: null });
    chargeback.reversedAt = '2026-11-16T08:00:00+00:00';
    await mollie.notify(at);
    expect(await statusOf(id)).toBe('SETTLED');
    expect(await find()).toMatchObject({ state: 'won' });
  });

  test('is charged back twice: each chargeback counts for itself', async () => {
    const { id, at } = await paid();
    const newChargeback = (value: string) => {
      const chargeback = mollie.newChargeback(at);
      chargeback.amount = { ...chargeback.amount, value };
      return chargeback;
    };
    const seen = async (): Promise<unknown[]> => {
      await mollie.notify(at);
      const { status, attention, history } = await shop.inspect(id);
      const { event, amount } = history.at(-1);
      return [status, attention, history.length, event, amount];
    };
    const first = newChargeback('3.00');
    const [, , length] = await seen();
    expect(await seen()).toEqual(['CHARGEBACK', null, length, 'chargedBack', '3.00']);
    const second = newChargeback('2.00');
    const marked = ['CHARGEBACK', 'unexpected_chargeback', Number(length) + 1, 'noted chargedBack', null];
    expect(await seen()).toEqual(marked);
    expect(await seen()).toEqual(marked);
    first.reversedAt = '2026-11-16T08:00:00+00:00';
    expect((await seen()).slice(0, 2)).toEqual(['SETTLED', 'unexpected_chargeback']);
    expect((await seen()).slice(3)).toEqual(['chargebackReversed', '3.00']);
    second.reversedAt = '2026-11-17T08:00:00+00:00';
    expect((await seen()).slice(0, 2)).toEqual(['SETTLED', null]);
    newChargeback('4.00');
    expect((await seen()).slice(3)).toEqual(['chargedBack', '4.00']);
  });

  test('that was charged back before its webhook arrived is settled first', async () => {
    const { id, at } = await sale();
    mollie.pay(at);
    mollie.newChargeback(at);
    await mollie.notify(at);
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', captured: '10.00', attention: null });
  });

  test('is refunded in parts; a refund that Mollie cannot carry out fails later', async () => {
    const { id, at } = await paid();
    const refund = (amount: string) => shop.admin('POST', `/payments/${id}/refund`, { amount });
    expect((await refund('1.00')).body.refunded).toBe('1.00');
    mollie.delayRefund();
    await refund('2.00');
    expect((await shop.inspect(id)).refunded).toBe('1.00');
    await mollie.settleRefunds();
    expect((await shop.inspect(id)).refunded).toBe('3.00');
    mollie.delayRefund();
    await refund('4.00');
    await mollie.settleRefunds(RefundStatus.failed);
    expect(await shop.inspect(id)).toMatchObject({
      status: 'SETTLED',
      refunded: '3.00',
      operations: [{ state: 'done' }, { state: 'done' }, { state: 'declined' }],
    });
    expect(mollie.find(id)?.payment.id).toBe(at);
  });

  test('is authorised, and captured in part or voided', async () => {
    const held = async (): Promise<string> => {
      const { id, at } = await sale({ auth: 'Y' }, 'doc-a');
      mollie.pay(at);
      await mollie.notify(at);
      expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', authorised: expect.stringMatching(/[1-9]/) });
      return id;
    };
    const captured = await held();
    await shop.admin('POST', `/payments/${captured}/capture`, { amount: '4.00' });
    expect(await shop.inspect(captured)).toMatchObject({ status: 'SETTLED', captured: '4.00' });
    expect(mollie.balance(captured)).toBe(400n);
    const voided = await held();
    await shop.admin('POST', `/payments/${voided}/void`);
    expect(await statusOf(voided)).toBe('VOID');
    expect(mollie.find(voided)?.payment.status).toBe('canceled');
  });
});

describe('what is done in the web app of Mollie', () => {
  test('a partial capture is booked with its amount', async () => {
    const { id, at } = await sale({ auth: 'Y' }, 'doc-a');
    mollie.pay(at);
    await mollie.notify(at);
    mollie.captureElsewhere(at, '4.00');
    await mollie.notify(at);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '4.00', attention: null });
  });

  test('a capture whose amount differs from what was booked is marked, once', async () => {
    const { id, at } = await sale({ auth: 'Y' }, 'doc-a');
    mollie.pay(at);
    await mollie.notify(at);
    mollie.captureElsewhere(at, '4.00');
    await mollie.notify(at);
    const { payment } = mollie.find(id) as NonNullable<ReturnType<MollieDouble['find']>>;
    payment.amountCaptured = { ...payment.amount, value: '3.00' };
    await mollie.notify(at);
    const marked = await shop.inspect(id);
    expect(marked).toMatchObject({ status: 'SETTLED', captured: '4.00', attention: 'wrong_amount' });
    expect(marked.provider_calls.at(-1)).toMatchObject({ outcome: 'settled, wrong amount', reported: '3.00 USD' });
    await mollie.notify(at);
    expect((await shop.inspect(id)).history).toHaveLength(marked.history.length);
  });

  test('refunds are booked, each once, besides those of the gateway; a failed one is marked', async () => {
    const { id, at } = await paid();
    await shop.admin('POST', `/payments/${id}/refund`, { amount: '1.00' });
    const refund = mollie.refundElsewhere(at, '2.00');
    await mollie.notify(at);
    await mollie.notify(at);
    expect(await shop.inspect(id)).toMatchObject({ refunded: '3.00', attention: null });
    refund.status = RefundStatus.failed;
    await mollie.notify(at);
    expect(await shop.inspect(id)).toMatchObject({ refunded: '3.00', attention: 'unresolved' });
    expect((await shop.events(id)).filter((event) => event === 'partlyRefunded')).toHaveLength(2);
  });
});

test.each([RefundStatus.failed, RefundStatus.canceled])(
  'a refund of the gateway that was done is %s later: the operator sees its amount, and is told once',
  async (status) => {
    const { id, at } = await paid();
    await shop.admin('POST', `/payments/${id}/refund`, { amount: '3.00' });
    const [refund] = mollie.find(id)?.refunds ?? [];
    Object.assign(refund as object, { status });
    await mollie.notify(at);
    const payment = await shop.inspect(id);
    expect(payment).toMatchObject({ status: 'SETTLED', refunded: '3.00', attention: 'unresolved' });
    expect(payment.provider_calls.at(-1)).toMatchObject({
      outcome: 'refund failed',
      reported: expect.stringContaining('3.00'),
    });
    await shop.admin('POST', `/payments/${id}/attention`, { resolve: 'dismiss', note: 'Sent again.' });
    await mollie.notify(at);
    expect(await shop.inspect(id)).toMatchObject({ attention: null, operations: [{ state: 'done' }] });
  },
);

describe('a payment that waits for its payer', () => {
  const HOUR = 3600;

  test('can no longer be paid when the payer’s time is over, unless it was paid before', async () => {
    const [left, settled] = [await sale(), await sale()];
    mollie.pay(settled.at);
    await shop.advanceClock(HOUR, merchant.mid);
    expect(await shop.inspect(left.id)).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The payer did not finish in time.',
    });
    expect(mollie.find(left.id)?.payment.status).toBe('canceled');
    expect([await statusOf(settled.id), mollie.balance(settled.id)]).toEqual(['SETTLED', 1000n]);
  });

  test('is left for another method; one that Mollie cannot cancel stays open', async () => {
    const choose = async () => {
      const session = await checkout.open({ methods: ['card'], order: { currency: 'EUR' } }, merchant);
      await fill(session.url, cardForm());
      return session;
    };
    const left = await choose();
    await fill(`${left.url}/leave`, {});
    expect(await shop.inspect(left.id)).toMatchObject({ decline_reason: 'The payer cancelled the payment.' });
    expect(mollie.find(left.id)?.payment.status).toBe('canceled');
    const kept = await choose();
    Object.assign(mollie.find(kept.id)?.payment ?? {}, { isCancelable: false });
    expect((await fill(`${kept.url}/leave`, {})).location).toContain('returned=open');
    expect(await statusOf(kept.id)).toBe('REDIRECT');
  });
});

test('a series starts on the page of Mollie, and is repeated without the payer', async () => {
  const order = { amount: '10.00', currency: 'EUR', description: 'A subscription', number: `series-${Date.now()}` };
  const session = await checkout.open({ methods: ['card'], recurring_init: true, order }, merchant);
  const page = await fill(session.url, cardForm());
  expect(page.location).toMatch(mollie.url);
  const first = mollie.find(session.id)?.payment;
  mollie.pay(first?.id as string);
  await mollie.notify(first?.id as string);
  const { body: status } = await checkout.send('payment/status', { payment_id: session.id }, merchant);
  expect(status).toMatchObject({ status: 'settled', recurring_token: expect.any(String) });
  const repetition = { recurring_init_trans_id: session.id, recurring_token: status.recurring_token };
  const { body } = await checkout.send('payment/recurring', { ...repetition, order: newOrder() }, merchant);
  expect(body).toMatchObject({ status: 'settled' });
  const repeated = mollie.find(body.payment_id)?.payment;
  expect(repeated).toMatchObject({ sequenceType: 'recurring', customerId: first?.customerId });
  expect(repeated?.mandateId).toBe(first?.mandateId);
  expect(JSON.stringify(mollie.calls)).not.toContain(cardForm().card_number);
});

describe('a webhook that names no payment of ours', () => {
  const send = async (body: string): Promise<[number, string]> => {
    const response = await fetch(`${shop.url}/inbound/mollie/${connection}`, { method: 'POST', body });
    return [response.status, await response.text()];
  };

  test('gets the same answer as any other, and calls nothing at Mollie', async () => {
    const { at } = await sale();
    const answer = await send(`id=${at}`);
    const calls = mollie.calls.length;
    for (const body of ['id=tr_unknown', 'id=', '', '{}', 'id=../methods']) expect(await send(body)).toEqual(answer);
    expect(mollie.calls).toHaveLength(calls);
  });
});

test('the check of a connection, and its mode', async () => {
  expect((await shop.admin('POST', `/connections/${connection}/check`)).body).toEqual({
    ok: true,
    detail: `Mollie accepts the API key. Active methods: ${mollie.activeMethods.join(', ')}.`,
  });
  expect((await shop.admin('GET', `/connections/${connection}`)).body).toMatchObject({ mode: 'test' });
  const live = { connector: 'mollie', name: 'Live', credentials: { api_key: 'live_dHar4XY7LxsDOtmnkVtjNVWXLSlXsM' } };
  expect((await shop.admin('POST', '/connections', live)).status).toBe(400);
  expect(shop.logs.join('')).not.toContain(API_KEY);
});

describe('a create whose answer is lost', () => {
  const open = async (): Promise<{ id: string; status: string; keys: (string | undefined)[] }> => {
    const before = mollie.calls.length;
    const complete = BRAND_EXPECTATIONS['bank-a']?.complete;
    const { body } = await shop.sale({ brand: 'bank-a', identifier: '', ...complete }, merchant);
    const calls = mollie.calls.slice(before).filter(({ name }) => name === 'PaymentCreate');
    return { id: body.trans_id, status: body.status, keys: calls.map(({ idempotencyKey }) => idempotencyKey) };
  };

  test.each(['lost_before', 'lost_after'] as const)(
    '(%s) is repeated under its key: the payer gets the page of the one payment',
    async (fault) => {
      mollie.fault(fault);
      const { id, status, keys } = await open();
      expect([status, keys]).toEqual(['REDIRECT', [`${id}-call-2`, `${id}-call-2`]]);
      const { at, payments } = { at: mollie.find(id)?.payment.id as string, payments: mollie.findAll(id) };
      expect(payments).toHaveLength(1);
      expect((await shop.inspect(id)).provider_reference).toBe(at);
      mollie.pay(at);
      await mollie.notify(at);
      expect([await statusOf(id), mollie.balance(id)]).toEqual(['SETTLED', 1000n]);
    },
  );

  test.each([
    ['lost twice', ['lost_after', 'lost_after']],
    ['a server error', ['error_500']],
    ['the supplier of the method is down', ['error_503']],
  ] as const)('(%s) ends at once: no payer has the address, so nothing can be paid', async (_, faults) => {
    mollie.fault(...faults);
    const { id, status } = await open();
    expect(status).toBe('DECLINED');
    await shop.advanceClock(2 * 3600, merchant.mid);
    expect([await statusOf(id), mollie.balance(id)]).toEqual(['DECLINED', 0n]);
  });

  test.each(['error_500', 'error_503'] as const)('(%s) goes to the next route at once', async (fault) => {
    const methods = { 'bank-a': 'ideal' };
    const other = await connect(
      shop,
      { credentials: { api_key: API_KEY } },
      { connector: 'mollie', settings: { api_base: mollie.url, methods } },
    );
    const both = await shop.newMerchant();
    await route(shop, both.mid, [{ connection_id: connection }, { connection_id: other }]);
    mollie.fault(fault);
    const complete = BRAND_EXPECTATIONS['bank-a']?.complete;
    const { body } = await shop.sale({ brand: 'bank-a', identifier: '', ...complete }, both);
    expect(body).toMatchObject({ status: 'REDIRECT', redirect_url: expect.any(String) });
    expect(await shop.inspect(body.trans_id)).toMatchObject({ connection_id: other });
  });
});

describe('what stays pending for days', () => {
  const DAY = 24 * 3600;

  test('a bank transfer: the payer has the account to transfer to, and 12 days', async () => {
    const transfer = async () => {
      const payment = await sale();
      const details = {
        bankName: 'Bank',
        bankAccount: 'NL00BANK0123456789',
        bankBic: 'BANKNL2A',
        transferReference: 'RF1',
      };
      Object.assign(mollie.find(payment.id)?.payment ?? {}, { method: 'banktransfer', details });
      return payment;
    };
    const [paid, expired] = [await transfer(), await transfer()];
    await shop.advanceClock(11 * DAY, merchant.mid);
    for (const { id } of [paid, expired])
      expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: null });
    mollie.finish(paid.at, PaymentStatus.paid);
    mollie.finish(expired.at, PaymentStatus.expired);
    // The webhooks got lost.
    await shop.advanceClock(DAY, merchant.mid);
    expect([await statusOf(paid.id), await statusOf(expired.id)]).toEqual(['SETTLED', 'DECLINED']);
  });

  test('a refund is asked about until it has an outcome, and marked only after the days of the connector', async () => {
    const [done, stuck] = [await paid(), await paid()];
    for (const { id } of [done, stuck]) {
      mollie.delayRefund();
      await shop.admin('POST', `/payments/${id}/refund`, { amount: '2.00' });
    }
    await shop.advanceClock(20 * DAY, merchant.mid);
    for (const { id } of [done, stuck])
      expect(await shop.inspect(id)).toMatchObject({
        refunded: '0.00',
        attention: null,
        operations: [{ state: 'sent' }],
      });
    for (const refund of mollie.find(done.id)?.refunds ?? []) refund.status = RefundStatus.refunded;
    await shop.advanceClock(DAY, merchant.mid);
    expect(await shop.inspect(done.id)).toMatchObject({ refunded: '2.00', attention: null });
    await shop.advanceClock(45 * DAY, merchant.mid);
    expect((await shop.inspect(stuck.id)).attention).toBe('unresolved');
    for (const refund of mollie.find(stuck.id)?.refunds ?? []) refund.status = RefundStatus.refunded;
    await shop.advanceClock(DAY, merchant.mid);
    expect(await shop.inspect(stuck.id)).toMatchObject({ refunded: '2.00', attention: null });
  });

  test('a refund that Mollie does not know, or cannot be asked about, is marked after some 31 hours', async () => {
    const { id } = await paid();
    mollie.fault('lost_before', ...Array(20).fill('lost_before'));
    await shop.admin('POST', `/payments/${id}/refund`, { amount: '2.00' });
    await shop.advanceClock(3 * DAY, merchant.mid);
    expect((await shop.inspect(id)).attention).toBe('unresolved');
  });
});
