/** Instant payments: the shop shows a QR code, the payer scans it, and the bank decides. */
import { createHmac } from 'node:crypto';
import encodeQR from 'qr';
import decodeQR from 'qr/decode.js';
import { describe, expect, test } from 'vitest';
import { saleAnswer } from '../../src/wire/s2s/answers.ts';
import { entryOf } from '../support/entries.ts';
import { type Fields, newOrderId, openShop, saleFields, sign } from '../support/gateway.ts';

const shop = openShop({ simulator: true });

const IPS = { brand: 'ips', identifier: '', order_currency: 'RSD', order_amount: '1234.56' };
const sale = async (fields: Fields = {}) => (await shop.sale({ ...IPS, ...fields })).body;
const status = async (id: string) => (await shop.status(id)).body;
const bank = (id: string, code: string) => shop.sandbox('POST', `/payments/${id}`, { bank_callback: code });
const provider = (id: string, word: string) => shop.sandbox('POST', `/payments/${id}`, { provider_status: word });
const statusByOrder = async (orderId: string) =>
  (
    await shop.post({
      action: 'GET_TRANS_STATUS_BY_ORDER',
      client_key: shop.merchant.client_key,
      order_id: orderId,
      hash: sign(shop.merchant.password, orderId),
    })
  ).body;

describe('the sale', () => {
  test.each(['EUR', 'RSD', 'BAM', 'MKD'])('in %s is pending and returns a code', async (currency) => {
    const { status: http, body } = await shop.sale({ ...IPS, order_currency: currency });
    expect(http).toBe(200);
    expect(body).toEqual({
      action: 'SALE',
      result: 'SUCCESS',
      status: 'PENDING',
      order_id: expect.any(String),
      trans_id: expect.any(String),
      trans_date: expect.any(String),
      descriptor: 'Test Shop',
      amount: '1234.56',
      currency,
      redirect_params: { qr_code: expect.stringMatching(/^[A-Za-z0-9+/]{40,}={0,2}$/) },
    });
  });

  test.each(['USD', 'HUF', 'JPY'])('in %s is refused', async (currency) => {
    const { status: http, body } = await shop.sale({ ...IPS, order_currency: currency, order_amount: '1234.00' });
    expect(http).toBe(400);
    expect(body.errors).toEqual([entryOf('order_currency: The value you selected is not a valid choice.')]);
  });

  test('a payer whom the provider rejects at once is declined without a code', async () => {
    const body = await sale({ identifier: 'decline@example.com' });
    expect(body).toMatchObject({ result: 'DECLINED', status: 'DECLINED', decline_reason: expect.any(String) });
    expect(body).not.toHaveProperty('redirect_params');
  });
});

/** Parses the text as a banking app does: tag, colon, value, separated by bars. */
function tagsOf(text: string): Record<string, string> {
  const pairs = text.split('|').map((part) => {
    const colon = part.indexOf(':');
    expect(colon, part).toBeGreaterThan(0);
    return [part.slice(0, colon), part.slice(colon + 1)] as const;
  });
  expect(new Set(pairs.map(([tag]) => tag)).size, 'each tag once').toBe(pairs.length);
  return Object.fromEntries(pairs);
}

/** Draws the code as the shop’s page would, and reads it from the picture as a phone would. */
function scanQrCode(text: string): string {
  const cells = encodeQR(text, 'raw', { ecc: 'medium', border: 4, scale: 3 });
  const size = cells.length;
  const data = new Uint8Array(size * size * 4).fill(255);
  for (const [y, row] of cells.entries()) {
    for (const [x, isDark] of row.entries()) if (isDark) data.fill(0, (y * size + x) * 4, (y * size + x) * 4 + 3);
  }
  return decodeQR({ width: size, height: size, data });
}

const textOf = (body: { redirect_params: { qr_code: string } }): string => {
  const bytes = Buffer.from(body.redirect_params.qr_code, 'base64');
  expect(bytes.toString('base64'), 'base64 in its one form').toBe(body.redirect_params.qr_code);
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
};

describe('the QR code', () => {
  test('is a payment in the national format, which a banking app can read', async () => {
    const body = await sale({ order_description: 'Dva čajnika' });
    const tags = tagsOf(textOf(body));
    expect(tags).toEqual({
      K: 'EK',
      V: '01',
      C: '1',
      R: expect.stringMatching(/^\d{18}$/),
      N: 'Test Shop',
      I: 'RSD1234,56',
      SF: '221',
      S: 'Dva čajnika',
      M: expect.stringMatching(/^\d{4}$/),
      RP: expect.stringMatching(/^\d{19}$/),
    });
    const account = tags.R as string;
    const [digits, control] = [account.slice(0, 16), account.slice(16)];
    expect(98 - Number((BigInt(digits) * 100n) % 97n)).toBe(Number(control));
  });

  test.each([
    ['0.05', 'RSD0,05'],
    ['1.00', 'RSD1,00'],
    ['999999999999.99', 'RSD999999999999,99'],
  ])('writes %s as %s', async (amount, written) => {
    expect(tagsOf(textOf(await sale({ order_amount: amount }))).I).toBe(written);
  });

  test('does not let a description add a field', async () => {
    const tags = tagsOf(textOf(await sale({ order_description: 'Tea|I:RSD0,01|R:840000000000000000' })));
    expect(tags.I).toBe('RSD1234,56');
    expect(tags.R).not.toBe('840000000000000000');
  });

  test('survives rendering and scanning', async () => {
    const text = textOf(await sale({ order_description: 'Čaj za dvoje, šećer, đumbir' }));
    expect(scanQrCode(text)).toBe(text);
  });

  test('differs between two payments of the same amount', async () => {
    expect(textOf(await sale())).not.toBe(textOf(await sale()));
  });

  test('is the same on a repeat of the sale', async () => {
    // An account without other payments, so that moving its clock takes no time.
    const merchant = await shop.newMerchant();
    const fields = saleFields(merchant, IPS);
    const { body: first } = await shop.post(fields);
    await shop.advanceClock(3, merchant.mid);
    expect((await shop.post(fields)).body).toEqual(first);
  });

  test('is not returned on a repeat after the payment has its outcome', async () => {
    const fields = saleFields(shop.merchant, IPS);
    const { body: first } = await shop.post(fields);
    await bank(first.trans_id, 'RJCT');
    const { body } = await shop.post(fields);
    expect(body).toMatchObject({ result: 'DECLINED', status: 'DECLINED', trans_id: first.trans_id });
    expect(body).not.toHaveProperty('redirect_params');
  });

  test('is not returned after a minute, and the payment stays pending', async () => {
    const merchant = await shop.newMerchant();
    const { body } = await shop.post(saleFields(merchant, IPS));
    const key = { mid: merchant.mid, paymentId: body.trans_id };
    const payment = await shop.gateway.payments.find(key);
    if (!payment) return expect.unreachable();
    const paramsAt = (seconds: number) => {
      const clock = { ...shop.gateway.clock, now: () => payment.createdAt + seconds * 1000 };
      return saleAnswer('SALE', payment, { ...shop.gateway, clock }).redirect_params;
    };
    expect(paramsAt(0)).toEqual(body.redirect_params);
    expect(paramsAt(59.999)).toEqual(body.redirect_params);
    expect(paramsAt(60)).toEqual({});
    await shop.advanceClock(61, merchant.mid);
    expect((await shop.status(body.trans_id, merchant)).body.status).toBe('PENDING');
    await shop.advanceClock(80_000, merchant.mid);
    expect((await shop.status(body.trans_id, merchant)).body.status).toBe('PENDING');
    await bank(body.trans_id, 'ACSC');
    expect((await shop.status(body.trans_id, merchant)).body.status).toBe('SETTLED');
  });
});

describe('a status query queries the provider', () => {
  test.each([
    ['executed', 'SETTLED'],
    ['rejected', 'DECLINED'],
    ['pending', 'PENDING'],
  ])('%s means %s, by the id and by the order', async (word, expected) => {
    const [one, other] = [await sale(), await sale()];
    for (const { trans_id } of [one, other]) expect((await provider(trans_id, word)).status).toBe(200);
    expect((await shop.inspect(one.trans_id)).status).toBe('PENDING');
    expect(await status(one.trans_id)).toMatchObject({ result: 'SUCCESS', status: expected, trans_id: one.trans_id });
    expect(await statusByOrder(other.order_id)).toMatchObject({
      action: 'GET_TRANS_STATUS_BY_ORDER',
      result: 'SUCCESS',
      status: expected,
      trans_id: other.trans_id,
    });
  });

  test('returns the reason of a rejection', async () => {
    const { trans_id } = await sale();
    await provider(trans_id, 'rejected');
    expect((await status(trans_id)).decline_reason).toBe('Declined by the simulated provider.');
  });

  test('changes and writes nothing when repeated', async () => {
    const { trans_id } = await sale();
    const before = await shop.events(trans_id);
    for (let times = 0; times < 3; times++) expect((await status(trans_id)).status).toBe('PENDING');
    await Promise.all(Array.from({ length: 5 }, () => status(trans_id)));
    expect(await shop.events(trans_id)).toEqual(before);
  });

  test('ten concurrent queries settle it once', async () => {
    const { trans_id } = await sale();
    await provider(trans_id, 'executed');
    const answers = await Promise.all(Array.from({ length: 10 }, () => status(trans_id)));
    expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill('SETTLED'));
    expect((await shop.events(trans_id)).filter((event) => event === 'settled')).toEqual(['settled']);
    expect(await shop.inspect(trans_id)).toMatchObject({ captured: '1234.56' });
  });

  test('leaves the payment unchanged when the provider does not answer', async () => {
    const merchant = await shop.newMerchant();
    const { body } = await shop.post(saleFields(merchant, IPS));
    await provider(body.trans_id, 'executed');
    for (const mode of ['error_500', 'timeout_before', 'timeout_after']) {
      await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode });
      expect((await shop.status(body.trans_id, merchant)).body, mode).toMatchObject({ status: 'PENDING' });
    }
    expect((await shop.status(body.trans_id, merchant)).body).toMatchObject({ status: 'SETTLED' });
  });

  test('ignores an answer with another amount', async () => {
    const merchant = await shop.newMerchant();
    const { body } = await shop.post(saleFields(merchant, IPS));
    await provider(body.trans_id, 'executed');
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'wrong_amount' });
    expect((await shop.status(body.trans_id, merchant)).body).toMatchObject({ status: 'PENDING' });
    expect(await shop.inspect(body.trans_id)).toMatchObject({ attention: 'wrong_amount', captured: '0.00' });
    expect((await shop.status(body.trans_id, merchant)).body).toMatchObject({ status: 'SETTLED' });
    expect(await shop.inspect(body.trans_id)).toMatchObject({ attention: null, captured: '1234.56' });
  });
});

describe('the bank’s notification', () => {
  test.each([
    ['ACSC', 'SETTLED'],
    ['ACCC', 'SETTLED'],
    ['RJCT', 'DECLINED'],
    ['PDNG', 'PENDING'],
    ['ACTC', 'PENDING'],
    ['ACCP', 'PENDING'],
    ['ACSP', 'PENDING'],
    ['ACWC', 'PENDING'],
    ['PART', 'PENDING'],
    ['QQQQ', 'PENDING'],
  ])('%s: %s, without a query', async (code, expected) => {
    const { trans_id } = await sale();
    expect((await bank(trans_id, code)).status).toBe(200);
    expect((await shop.inspect(trans_id)).status).toBe(expected);
    expect((await status(trans_id)).status).toBe(expected);
  });

  test('intermediate codes, then the final one', async () => {
    const { trans_id } = await sale();
    for (const code of ['PDNG', 'ACTC', 'ACSP', 'ACSC']) await bank(trans_id, code);
    expect(await status(trans_id)).toMatchObject({ status: 'SETTLED' });
    expect(await shop.inspect(trans_id)).toMatchObject({ captured: '1234.56', attention: null });
  });

  test('carries the reason of a rejection', async () => {
    const { trans_id } = await sale();
    await bank(trans_id, 'RJCT');
    expect((await status(trans_id)).decline_reason).toBe('Rejected by the bank.');
  });
});

/** Signs a notification by hand, because the simulated bank sends none that contradicts itself. */
async function sendBankNotification(id: string, code: string): Promise<number> {
  const body = JSON.stringify({ reference: id, type: 'bank_status', code, amount: '123456', currency: 'RSD' });
  const headers = { ...signatureHeaders(`evt-${newOrderId()}`, body), 'content-type': 'application/json' };
  return (await fetch(`${shop.url}/inbound/upstream`, { method: 'POST', body, headers })).status;
}

function signatureHeaders(eventId: string, body: string): Record<string, string> {
  const seconds = String(Math.floor(Date.now() / 1000));
  const secret = Buffer.from(shop.provider?.notificationSecret ?? '', 'base64');
  const mac = createHmac('sha256', secret).update(`${eventId}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': eventId, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${mac}` };
}

describe('states only move forward', () => {
  test('executed, then RJCT: stays SETTLED and records the contradiction in the history', async () => {
    const { trans_id } = await sale();
    await provider(trans_id, 'executed');
    expect((await status(trans_id)).status).toBe('SETTLED');
    expect(await sendBankNotification(trans_id, 'RJCT')).toBe(200);
    expect(await status(trans_id)).toMatchObject({ status: 'SETTLED' });
    expect((await shop.events(trans_id)).at(-1)).toBe('noted declined');
    expect(await shop.inspect(trans_id)).toMatchObject({ captured: '1234.56', decline_reason: null, attention: null });
  });

  test.each(['PDNG', 'ACSP', 'ACSC'])('settled, then %s: stays SETTLED', async (code) => {
    const { trans_id } = await sale();
    await bank(trans_id, 'ACSC');
    expect(await sendBankNotification(trans_id, code)).toBe(200);
    expect(await status(trans_id)).toMatchObject({ status: 'SETTLED' });
    expect(await shop.inspect(trans_id)).toMatchObject({ captured: '1234.56', attention: null });
  });

  test('rejected, then ACSC: stays DECLINED, and the operator sees the late success', async () => {
    const { trans_id } = await sale();
    await bank(trans_id, 'RJCT');
    expect((await bank(trans_id, 'ACSC')).status).toBe(200);
    expect(await status(trans_id)).toMatchObject({ status: 'DECLINED' });
    expect((await shop.events(trans_id)).at(-1)).toBe('noted settled');
    expect(await shop.inspect(trans_id)).toMatchObject({ captured: '0.00', attention: 'late_success' });
    const { items } = (await shop.admin('GET', '/payments?attention=late_success')).body;
    expect(items.map((item: { payment_id: string }) => item.payment_id)).toContain(trans_id);
  });

  test('rejected, then PDNG: stays DECLINED, and needs no operator', async () => {
    const { trans_id } = await sale();
    await bank(trans_id, 'RJCT');
    expect(await sendBankNotification(trans_id, 'PDNG')).toBe(200);
    expect(await shop.inspect(trans_id)).toMatchObject({ status: 'DECLINED', attention: null });
  });
});

test('queries the provider when a notification never arrives', async () => {
  const merchant = await shop.newMerchant();
  const { body } = await shop.post(saleFields(merchant, IPS));
  await provider(body.trans_id, 'executed');
  await shop.advanceClock(5, merchant.mid);
  expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'SETTLED' });
});

test('another account cannot see the payment, and its query changes nothing', async () => {
  const { trans_id, order_id } = await sale();
  const stranger = await shop.newMerchant();
  await provider(trans_id, 'executed');
  const { status: http, body } = await shop.status(trans_id, stranger);
  expect(http).toBe(400);
  expect(body).toMatchObject({ error_code: 101000, error_message: 'Transaction does not exist.' });
  const { body: byOrder } = await shop.post({
    action: 'GET_TRANS_STATUS_BY_ORDER',
    client_key: stranger.client_key,
    order_id,
    hash: sign(stranger.password, order_id),
  });
  expect(byOrder).toMatchObject({ error_code: 101000, error_message: 'Order does not exist.' });
  expect((await shop.inspect(trans_id)).status).toBe('PENDING');
});
