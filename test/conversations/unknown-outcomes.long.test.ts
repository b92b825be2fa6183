/** Unknown outcomes: the response to the merchant, the outcome found later, and the money that moved. */
import { describe, expect, test } from 'vitest';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { type Answer, type Fields, type Merchant, openShop, PROVIDER_POLL, saleFields } from '../support/gateway.ts';

const shop = openShop({ simulator: true });

const ACCOUNT_UUID = '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41';
const newMerchant = (): Promise<Merchant> => shop.newMerchant({ account_uuid: ACCOUNT_UUID });
const fault = async (mode: string, more: Record<string, unknown>): Promise<void> => {
  expect((await shop.sandbox('POST', '/faults', { mode, ...more })).status).toBe(200);
};
const saleOf = (brand: string, merchant: Merchant, fields: Fields = {}): Fields =>
  saleFields(merchant, { brand, identifier: '', ...BRAND_EXPECTATIONS[brand]?.complete, ...fields });

const atProvider = async (id: string): Promise<{ status: number; body: Answer['body'] }> => {
  const { url = '', key = '' } = shop.provider ?? {};
  const response = await fetch(`${url}/control/payments/${id}`, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: await response.json() };
};
const movementCount = async (id: string): Promise<number> => (await atProvider(id)).body.movements?.length ?? 0;

const UNDEFINED = { result: 'UNDEFINED', status: 'PENDING' };
const SETTLED = { result: 'SUCCESS', status: 'SETTLED' };
const PENDING = { result: 'SUCCESS', status: 'PENDING' };
const REDIRECT = { result: 'REDIRECT', status: 'REDIRECT' };
const DECLINED = { result: 'DECLINED', status: 'DECLINED' };

interface Row {
  brand: string;
  mode: string;
  /** The response to the sale. */
  answers: Record<string, string>;
  /** Whether the payer approves afterwards; a payer without the address of the provider’s page cannot. */
  payer?: 'approves';
  /** The final state, found without guessing. */
  ends: 'SETTLED' | 'DECLINED';
  attention?: 'late_success';
  /** How often money moved at the provider. */
  moves: number;
}

const ROWS: Row[] = [
  { brand: 'pin-a', mode: 'timeout_before', answers: UNDEFINED, ends: 'DECLINED', moves: 0 },
  { brand: 'pin-a', mode: 'timeout_after', answers: UNDEFINED, ends: 'SETTLED', moves: 1 },
  { brand: 'pin-a', mode: 'error_500', answers: UNDEFINED, ends: 'DECLINED', moves: 0 },
  { brand: 'pin-a', mode: 'duplicate_news', answers: SETTLED, ends: 'SETTLED', moves: 1 },
  { brand: 'pin-a', mode: 'late_success', answers: DECLINED, ends: 'DECLINED', attention: 'late_success', moves: 1 },
  { brand: 'pin-a', mode: 'wrong_amount', answers: UNDEFINED, ends: 'SETTLED', moves: 1 },

  { brand: 'hosted-b', mode: 'timeout_before', answers: UNDEFINED, ends: 'DECLINED', moves: 0 },
  { brand: 'hosted-b', mode: 'timeout_after', answers: UNDEFINED, ends: 'DECLINED', moves: 0 },
  { brand: 'hosted-b', mode: 'error_500', answers: UNDEFINED, ends: 'DECLINED', moves: 0 },
  { brand: 'hosted-b', mode: 'duplicate_news', answers: REDIRECT, payer: 'approves', ends: 'SETTLED', moves: 1 },
  { brand: 'hosted-b', mode: 'late_success', answers: DECLINED, ends: 'DECLINED', attention: 'late_success', moves: 1 },
  { brand: 'hosted-b', mode: 'wrong_amount', answers: UNDEFINED, ends: 'DECLINED', moves: 0 },

  { brand: 'upi-b', mode: 'timeout_before', answers: UNDEFINED, ends: 'DECLINED', moves: 0 },
  { brand: 'upi-b', mode: 'timeout_after', answers: UNDEFINED, payer: 'approves', ends: 'SETTLED', moves: 1 },
  { brand: 'upi-b', mode: 'error_500', answers: UNDEFINED, ends: 'DECLINED', moves: 0 },
  { brand: 'upi-b', mode: 'duplicate_news', answers: PENDING, payer: 'approves', ends: 'SETTLED', moves: 1 },
  { brand: 'upi-b', mode: 'late_success', answers: DECLINED, ends: 'DECLINED', attention: 'late_success', moves: 1 },
  { brand: 'upi-b', mode: 'wrong_amount', answers: UNDEFINED, payer: 'approves', ends: 'SETTLED', moves: 1 },

  { brand: 'payout-a', mode: 'timeout_before', answers: UNDEFINED, ends: 'DECLINED', moves: 0 },
  { brand: 'payout-a', mode: 'timeout_after', answers: UNDEFINED, ends: 'SETTLED', moves: 1 },
  { brand: 'payout-a', mode: 'error_500', answers: UNDEFINED, ends: 'DECLINED', moves: 0 },
  { brand: 'payout-a', mode: 'duplicate_news', answers: PENDING, ends: 'SETTLED', moves: 1 },
  { brand: 'payout-a', mode: 'late_success', answers: DECLINED, ends: 'DECLINED', attention: 'late_success', moves: 1 },
  { brand: 'payout-a', mode: 'wrong_amount', answers: UNDEFINED, ends: 'SETTLED', moves: 1 },

  // The test brand has no provider, so no money moves.
  { brand: 'vcard', mode: 'timeout_before', answers: UNDEFINED, ends: 'SETTLED', moves: 0 },
  { brand: 'vcard', mode: 'timeout_after', answers: UNDEFINED, ends: 'SETTLED', moves: 0 },
  { brand: 'vcard', mode: 'error_500', answers: UNDEFINED, ends: 'SETTLED', moves: 0 },
  { brand: 'vcard', mode: 'duplicate_news', answers: SETTLED, ends: 'SETTLED', moves: 0 },
  { brand: 'vcard', mode: 'late_success', answers: DECLINED, ends: 'DECLINED', attention: 'late_success', moves: 0 },
  { brand: 'vcard', mode: 'wrong_amount', answers: UNDEFINED, ends: 'SETTLED', moves: 0 },
];

test.each(ROWS)('$brand, $mode: $answers.result $answers.status, and in the end $ends', async (row) => {
  const merchant = await newMerchant();
  const pass = (seconds: number): Promise<void> => shop.advanceClock(seconds, merchant.mid);
  await fault(row.mode, { mid: merchant.mid, brand: row.brand });

  const { status, body } = await shop.post(saleOf(row.brand, merchant));
  expect(status).toBe(200);
  expect(body).toMatchObject(row.answers);
  const id: string = body.trans_id;
  if (row.answers === UNDEFINED) {
    expect(body).not.toHaveProperty('decline_reason');
    // The provider tells of a payout that it has by itself, half a second later.
    if (row.brand !== 'payout-a' || row.moves === 0) {
      expect(await shop.inspect(id)).toMatchObject({ in_doubt: true, captured: '0.00' });
      expect((await shop.status(id, merchant)).body).toMatchObject({ result: 'SUCCESS', status: 'PENDING' });
    }
  }

  if (row.payer) await shop.sandbox('POST', `/payments/${id}`, { provider_status: 'executed' });
  if (row.attention)
    await expect.poll(async () => (await shop.inspect(id)).attention, PROVIDER_POLL).toBe(row.attention);
  for (const seconds of [5, 5, 15, 30, 60, 300, 900, 3600, 21_600]) await pass(seconds);
  await expect.poll(async () => (await shop.inspect(id)).status, PROVIDER_POLL).toBe(row.ends);
  await pass(0);

  expect((await shop.status(id, merchant)).body).toMatchObject({ status: row.ends });
  expect(await shop.inspect(id)).toMatchObject({
    in_doubt: false,
    attention: row.attention ?? null,
    captured: row.ends === 'SETTLED' ? '10.00' : '0.00',
  });
  expect(await movementCount(id)).toBe(row.moves);
  expect(
    (await shop.events(id)).filter((event) => event === 'settled' || event === 'declined').length,
  ).toBeLessThanOrEqual(1);
  await fault('none', { mid: merchant.mid });
});

describe('a provider that is down', () => {
  const PAUSES = [5, 5, 15, 30, 60, 300, 900, 3600, 21_600, 86_400];
  /** The seconds from the last event of a payment to its next query. */
  const pauseAfter = async (id: string): Promise<number> =>
    Number(
      (
        await shop.rows(`select round(extract(epoch from p.due_at - h.at)) as seconds
          from payments p join history h using (mid, payment_id)
          where payment_id = '${id}' order by h.seq desc limit 1`)
      )[0]?.seconds,
    );

  test.each(['pin-a', 'hosted-b', 'upi-b', 'vcard'])(
    '%s: queried with growing intervals, never declined by a guess, and finally listed for an operator',
    async (brand) => {
      const merchant = await newMerchant();
      await fault('timeout_after', { mid: merchant.mid, brand });
      await fault('error_500', { mid: merchant.mid, brand, count: 1000 });
      const { body } = await shop.post(saleOf(brand, merchant));
      expect(body).toMatchObject(UNDEFINED);
      const id: string = body.trans_id;
      for (const [queries, seconds] of PAUSES.entries()) {
        expect(await pauseAfter(id)).toBe(seconds);
        // A short pause may pass by itself on a slow machine.
        const early = seconds < 60 ? 0 : seconds / 2;
        if (early > 0) await shop.advanceClock(early, merchant.mid);
        expect(await shop.events(id)).toEqual(['opened', 'unanswered', ...Array(queries).fill('queried')]);
        expect((await shop.inspect(id)).attention).toBe(null);
        await shop.advanceClock(seconds - early, merchant.mid);
        expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true, decline_reason: null });
      }
      expect((await shop.inspect(id)).attention).toBe('unresolved');
      const { items } = (await shop.admin('GET', '/payments?attention=unresolved&limit=500')).body;
      expect(items.map((item: { payment_id: string }) => item.payment_id)).toContain(id);

      for (let days = 0; days < 7; days++) await shop.advanceClock(86_400, merchant.mid);
      expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true, attention: 'unresolved' });
      expect(await shop.events(id)).toHaveLength(2 + PAUSES.length + 7);
      expect((await shop.status(id, merchant)).body).toMatchObject({ status: 'PENDING' });

      await fault('none', { mid: merchant.mid });
      // A payment whose payer could not be redirected has expired by now; the others have the provider’s state.
      if (brand === 'upi-b') await shop.sandbox('POST', `/payments/${id}`, { provider_status: 'executed' });
      await shop.advanceClock(86_400, merchant.mid);
      expect(await shop.inspect(id)).toMatchObject({
        status: brand === 'hosted-b' ? 'DECLINED' : 'SETTLED',
        in_doubt: false,
        attention: null,
      });
    },
  );

  test('payout-a: notifications arrive on another connection, and count although no query is answered', async () => {
    const merchant = await newMerchant();
    await fault('timeout_after', { mid: merchant.mid });
    await fault('error_500', { mid: merchant.mid, count: 1000 });
    const { body } = await shop.post(saleOf('payout-a', merchant));
    expect(body).toMatchObject(UNDEFINED);
    await shop.advanceClock(5, merchant.mid);
    await expect.poll(async () => (await shop.inspect(body.trans_id)).status, PROVIDER_POLL).toBe('SETTLED');
    expect(await shop.inspect(body.trans_id)).toMatchObject({ in_doubt: false, captured: '10.00' });
    expect(await movementCount(body.trans_id)).toBe(1);
    await fault('none', { mid: merchant.mid });
  });

  test('queries continue after an operator attended to the payment', async () => {
    const merchant = await newMerchant();
    await fault('timeout_after', { mid: merchant.mid });
    await fault('error_500', { mid: merchant.mid, count: 1000 });
    const { body } = await shop.post(saleOf('pin-a', merchant));
    for (const seconds of PAUSES) await shop.advanceClock(seconds, merchant.mid);
    expect((await shop.admin('POST', `/payments/${body.trans_id}/attended`)).body).toMatchObject({
      status: 'PENDING',
      attention: null,
    });
    await fault('none', { mid: merchant.mid });
    await shop.advanceClock(86_400, merchant.mid);
    expect((await shop.inspect(body.trans_id)).status).toBe('SETTLED');
  });
});

describe('a provider that never received it', () => {
  /** A payment whose submission was lost on the way to the provider. */
  async function lostSubmission(brand = 'pin-a') {
    const merchant = await newMerchant();
    await fault('timeout_before', { mid: merchant.mid, brand });
    const { body } = await shop.post(saleOf(brand, merchant));
    expect(body).toMatchObject(UNDEFINED);
    expect((await atProvider(body.trans_id)).status).toBe(404);
    return {
      id: body.trans_id as string,
      merchant,
      pass: (seconds: number) => shop.advanceClock(seconds, merchant.mid),
    };
  }
  /** The submission was only slow: it arrives between two queries, and its response and notification are lost. */
  async function submitLate(id: string, merchant: Merchant): Promise<void> {
    const { url = '', key = '' } = shop.provider ?? {};
    await fetch(`${url}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        reference: id,
        brand: 'pin-a',
        direction: 'in',
        merchant: { mid: merchant.mid, name: 'Test Shop' },
        amount: '1000',
        currency: 'USD',
        notify_url: `${shop.url}/inbound/upstream`,
      }),
    });
  }
  /**
   * The simulator cannot tell a query about an unknown payment from any other, so these faults apply to the next
   * caller.
   */
  const faultNextCall = (mode: string, count = 1): Promise<void> => fault(mode, { count });

  test('answers not found until no call can be in flight: DECLINED, and the order is free again', async () => {
    const { id, merchant, pass } = await lostSubmission();
    for (const seconds of [5, 5, 15, 30, 60]) {
      await pass(seconds);
      expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true });
    }
    await pass(30);
    expect(await shop.inspect(id)).toMatchObject({
      status: 'DECLINED',
      in_doubt: false,
      decline_reason: 'The provider never received the payment.',
    });
    expect(await shop.events(id)).toEqual(['opened', 'unanswered', ...Array(5).fill('queried'), 'declined']);
    const { order_id } = await shop.inspect(id);
    await pass(15);
    expect((await shop.post(saleOf('pin-a', merchant, { order_id }))).body).toMatchObject(SETTLED);
  });

  test('first does not answer, then answers not found once: not enough', async () => {
    const { id, pass } = await lostSubmission();
    await faultNextCall('error_500', 4);
    for (const seconds of [5, 5, 15, 30, 60]) await pass(seconds);
    expect(await shop.events(id)).toEqual(['opened', 'unanswered', ...Array(5).fill('queried')]);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true });
    await pass(30);
    expect((await shop.inspect(id)).status).toBe('DECLINED');
  });

  test('answers not found while the call is in flight, and misses the payment once afterwards: it counts', async () => {
    const { id, merchant, pass } = await lostSubmission();
    for (const seconds of [5, 5, 15, 30, 60]) await pass(seconds);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true });
    await submitLate(id, merchant);
    await pass(30);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', in_doubt: false });
  });

  test('is queried afterwards: if it received the payment after all, the late success is on the operator’s list', async () => {
    const { id, merchant, pass } = await lostSubmission();
    for (const seconds of [5, 5, 15, 30, 60, 30]) await pass(seconds);
    expect((await shop.inspect(id)).status).toBe('DECLINED');
    await submitLate(id, merchant);
    await pass(60);
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', attention: 'late_success' });
  });

  test('was down for days and answers not found once: not enough', async () => {
    const { id, pass } = await lostSubmission();
    await faultNextCall('error_500', 10);
    for (const seconds of [5, 5, 15, 30, 60, 300, 900, 3600, 21_600, 86_400]) await pass(seconds);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: 'unresolved' });
    await pass(86_400);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING' });
    await pass(86_400);
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', attention: null });
  });

  test('answers not found once and has it after all: that counts', async () => {
    const { id, merchant, pass } = await lostSubmission();
    await pass(5);
    await submitLate(id, merchant);
    await pass(5);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', in_doubt: false });
  });
});

describe('the response was lost, and the provider has the payment', () => {
  test('ips: after a query, a repeat of the sale returns the code that was lost', async () => {
    const merchant = await newMerchant();
    await fault('timeout_after', { mid: merchant.mid });
    const fields = saleFields(merchant, { brand: 'ips', identifier: '', order_currency: 'RSD' });
    const { body: first } = await shop.post(fields);
    expect(first).toMatchObject(UNDEFINED);
    expect(first).not.toHaveProperty('redirect_params');
    await shop.advanceClock(5, merchant.mid);
    expect((await shop.post(fields)).body).toMatchObject({
      result: 'SUCCESS',
      status: 'PENDING',
      trans_id: first.trans_id,
      redirect_params: { qr_code: expect.stringMatching(/^\S+$/) },
    });
  });

  test('upi-b: the provider answers that it waits, which ends the doubt', async () => {
    const merchant = await newMerchant();
    await fault('timeout_after', { mid: merchant.mid });
    const { body } = await shop.post(saleOf('upi-b', merchant));
    await shop.advanceClock(5, merchant.mid);
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'PENDING', in_doubt: false, attention: null });
  });

  test('hosted-b: the payer was never redirected, and after an hour it is over', async () => {
    const merchant = await newMerchant();
    await fault('timeout_after', { mid: merchant.mid });
    const { body } = await shop.post(saleOf('hosted-b', merchant));
    for (const seconds of [5, 5, 15, 30, 60, 300, 900]) await shop.advanceClock(seconds, merchant.mid);
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'PENDING' });
    await shop.advanceClock(3600, merchant.mid);
    expect(await shop.inspect(body.trans_id)).toMatchObject({
      status: 'DECLINED',
      in_doubt: false,
      decline_reason: 'The payer did not finish in time.',
    });
  });

  test('hosted-b: a payer who found the page anyway has paid', async () => {
    const merchant = await newMerchant();
    await fault('timeout_after', { mid: merchant.mid });
    const { body } = await shop.post(saleOf('hosted-b', merchant));
    const { payer_page } = (await atProvider(body.trans_id)).body;
    await fetch(payer_page, { method: 'POST', body: new URLSearchParams({ decision: 'approve' }), redirect: 'manual' });
    await expect.poll(async () => (await shop.inspect(body.trans_id)).status, PROVIDER_POLL).toBe('SETTLED');
  });

  test('transfer-a: ends five minutes after the sale, in doubt or not, and a later outcome is late', async () => {
    const merchant = await newMerchant();
    await fault('timeout_after', { mid: merchant.mid });
    const { body } = await shop.post(saleOf('transfer-a', merchant));
    expect(body).toMatchObject(UNDEFINED);
    await shop.advanceClock(300, merchant.mid);
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'DECLINED', in_doubt: false });
    await shop.sandbox('POST', `/payments/${body.trans_id}`, { provider_status: 'executed' });
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'DECLINED', attention: 'late_success' });
  });
});

test('every invariant holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
