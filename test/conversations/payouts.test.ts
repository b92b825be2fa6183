/** Payouts: accepted first, sent later, and sent once whatever happens to the connection. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createUpstream } from '../../src/connectors/upstream.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { entryOf } from '../support/entries.ts';
import {
  type Answer,
  type Fields,
  type Merchant,
  PROVIDER_POLL,
  saleFields,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts';
import { sampled } from '../support/size.ts';

const ACCOUNT_UUID = '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41';
const PAYOUTS = ['payout-a', 'crypto-a-payout', 'trading-b', 'p2p-a', 'p2p-b'];

let shop: TestGateway;
let merchant: Merchant;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true });
  merchant = await shop.newMerchant({ account_uuid: ACCOUNT_UUID });
});
afterAll(() => shop.close());

const payoutFields = (brand: string, fields: Fields = {}, from: Merchant = merchant): Fields =>
  saleFields(from, { brand, identifier: '', ...BRAND_EXPECTATIONS[brand]?.complete, ...fields });
const settled = (id: string) => expect.poll(async () => (await shop.inspect(id)).status, PROVIDER_POLL).toBe('SETTLED');

/** All movements of a payment in the provider’s ledger. */
async function movements(id: string): Promise<string[]> {
  const found: string[] = [];
  for (let after = '0'; ; ) {
    const { body } = await shop.sandbox('GET', `/ledger?after=${after}`);
    for (const item of body.items) {
      if (item.reference === id) found.push(`${item.kind} ${item.direction} ${item.amount} ${item.currency}`);
    }
    if (body.next === null) return found;
    after = String(body.next);
  }
}

describe.each(sampled(PAYOUTS))('%s', (brand) => {
  test('is pending at once, settled by the provider’s notification, and the money is sent once', async () => {
    const { status, body } = await shop.post(payoutFields(brand));
    expect(status).toBe(200);
    expect(body).toEqual({
      action: 'SALE',
      result: 'SUCCESS',
      status: 'PENDING',
      order_id: expect.any(String),
      trans_id: expect.any(String),
      trans_date: expect.any(String),
      descriptor: 'Test Shop',
      amount: '10.00',
      currency: 'USD',
    });
    await settled(body.trans_id);
    expect((await shop.status(body.trans_id, merchant)).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
    expect(await movements(body.trans_id)).toEqual(['payout out 1000 USD']);
    const { provider_calls, captured } = await shop.inspect(body.trans_id);
    expect(provider_calls.map((call: { verb: string; outcome: string }) => `${call.verb} ${call.outcome}`)).toEqual([
      'submit accepted',
      'notification settled',
    ]);
    expect(captured).toBe('10.00');
  });

  test('declined by the provider: nothing is sent', async () => {
    const { body } = await shop.post(payoutFields(brand, { payer_email: 'decline@example.com' }));
    expect(body).toMatchObject({ result: 'DECLINED', status: 'DECLINED' });
    expect(await movements(body.trans_id)).toEqual([]);
  });

  test('three identical concurrent requests are one payout', async () => {
    const fields = payoutFields(brand);
    const answers = await Promise.all([1, 2, 3].map(() => shop.post(fields)));
    const ids = new Set(answers.map(({ body }) => body.trans_id));
    expect(ids.size).toBe(1);
    const [id = ''] = ids;
    await settled(id);
    expect(await movements(id)).toEqual(['payout out 1000 USD']);
  });

  test('a connection that breaks after the provider received it: resolved by a query, and sent once', async () => {
    const own = await shop.newMerchant({ account_uuid: ACCOUNT_UUID });
    await shop.sandbox('POST', '/faults', { mid: own.mid, mode: 'timeout_after' });
    const { body } = await shop.post(payoutFields(brand, {}, own));
    expect(body).toMatchObject({ result: 'UNDEFINED', status: 'PENDING' });
    await shop.advanceClock(6, own.mid);
    await settled(body.trans_id);
    expect(await movements(body.trans_id)).toEqual(['payout out 1000 USD']);
  });

  test('a connection that breaks before: nothing was sent, and it is declined after two consecutive not-found answers', async () => {
    const own = await shop.newMerchant({ account_uuid: ACCOUNT_UUID });
    await shop.sandbox('POST', '/faults', { mid: own.mid, mode: 'timeout_before' });
    const { body } = await shop.post(payoutFields(brand, {}, own));
    expect(body).toMatchObject({ result: 'UNDEFINED', status: 'PENDING' });
    for (const seconds of [60, 60]) {
      await shop.advanceClock(seconds, own.mid);
      expect((await shop.inspect(body.trans_id)).status).toBe('PENDING');
    }
    await shop.advanceClock(30, own.mid);
    expect((await shop.inspect(body.trans_id)).status).toBe('DECLINED');
    expect(await movements(body.trans_id)).toEqual([]);
  });
});

test('a payout waits for no payer: it has no time limit and is not declined by the clock', async () => {
  const own = await shop.newMerchant({ account_uuid: ACCOUNT_UUID });
  const { body } = await shop.post(payoutFields('p2p-a', {}, own));
  await shop.sandbox('POST', '/faults', { mid: own.mid, mode: 'error_500', count: 20 });
  await shop.advanceClock(7200, own.mid);
  expect((await shop.inspect(body.trans_id)).status).not.toBe('DECLINED');
  await settled(body.trans_id);
});

test('a payout cannot be charged back', async () => {
  const { body } = await shop.post(payoutFields('p2p-b'));
  await settled(body.trans_id);
  const { status } = await shop.sandbox('POST', `/payments/${body.trans_id}`, { chargeback: true });
  expect(status).toBe(400);
  expect((await shop.inspect(body.trans_id)).status).toBe('SETTLED');
});

describe('payout-a', () => {
  test('without account_uuid in the account is refused, whatever the request contains', async () => {
    const bare = await shop.newMerchant();
    const { status, body } = await shop.post(payoutFields('payout-a', { account_uuid: ACCOUNT_UUID }, bare));
    expect(status).toBe(400);
    expect(body.errors).toEqual([entryOf('account_uuid: This value should be set in the settings of the account.')]);
  });

  test('the answer to the security question is not readable anywhere', async () => {
    const answer = 'Rex the Unheard-of';
    const { body } = await shop.post(payoutFields('payout-a', { 'parameters[SecurityQuestionAnswer]': answer }));
    const seen = await shop.inspect(body.trans_id);
    expect(seen.details.parameters).toEqual({
      SecurityQuestion: 'Name of your first pet?',
      account_uuid: ACCOUNT_UUID,
      fee_calculation_method: 'account_level',
    });
    const rows = await shop.rows(`select details::text from payments where payment_id = '${body.trans_id}'`);
    expect(JSON.stringify([seen, rows, body])).not.toContain(answer);
    expect(shop.logs.join('')).not.toContain(answer);
  });
});

describe('the request to the provider', () => {
  const received: Answer['body'][] = [];
  const provider = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    if (parts.length > 0) received.push(JSON.parse(Buffer.concat(parts).toString()));
    response.end(JSON.stringify({ status: 'pending', amount: '1000', currency: 'USD' }));
  });
  let quiet: TestGateway;
  let close: () => Promise<void>;
  beforeAll(async () => {
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const upstream = createUpstream({ url, key: 'key', notificationSecret: 'c2VjcmV0' });
    close = () => upstream.close();
    quiet = await startTestGateway({ connectors: { upstream } });
  });
  afterAll(async () => {
    await close();
    await quiet.close();
    provider.closeAllConnections();
    await new Promise((resolve) => provider.close(resolve));
  });

  const arrived = async (brand: string, settings: Record<string, unknown>, fields: Fields = {}) => {
    received.length = 0;
    const from = await quiet.newMerchant(settings);
    const { body } = await quiet.post(payoutFields(brand, fields, from));
    expect(body).toMatchObject({ result: 'SUCCESS', status: 'PENDING' });
    expect(received).toHaveLength(1);
    return { submission: received[0], id: body.trans_id, mid: from.mid };
  };

  test.each([
    [{}, 'account_level'],
    [{ fee_calculation_method: 'account_level' }, 'account_level'],
    [{ fee_calculation_method: 'transaction_level' }, 'transaction_level'],
  ])('payout-a of an account with %j: %s', async (settings, method) => {
    const { submission, id, mid } = await arrived(
      'payout-a',
      { account_uuid: ACCOUNT_UUID, ...settings },
      { fee_calculation_method: 'whatever the request says', account_uuid: 'whatever' },
    );
    expect(submission).toEqual({
      reference: id,
      brand: 'payout-a',
      direction: 'out',
      merchant: { mid, name: 'Test Shop' },
      amount: '1000',
      currency: 'USD',
      capture: true,
      description: 'Winnings of May',
      descriptor: 'Test Shop',
      identifier: '',
      payer: { first_name: 'Ana', last_name: 'Petrović', email: 'ana@example.com', ip: '203.0.113.7' },
      parameters: {
        SecurityQuestion: 'Name of your first pet?',
        SecurityQuestionAnswer: 'Rex the Great',
        account_uuid: ACCOUNT_UUID,
        fee_calculation_method: method,
      },
      return_url: expect.stringMatching(new RegExp(`^${quiet.url}/return/${id}\\.[\\w-]{22}$`)),
      notify_url: `${quiet.url}/inbound/upstream`,
    });
  });

  test.each<[string, Fields, Record<string, string>]>([
    ['crypto-a-payout', {}, { address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', currency: 'BTC', network: 'BTC' }],
    [
      'trading-b',
      { withdrawCurrency: '', withdrawalCurrency: 'USDT' },
      { withdrawCurrency: 'USDT', address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', tradingAccountLogin: '1002003' },
    ],
    ['p2p-a', {}, { SecurityQuestion: 'Pet?', SecurityQuestionAnswer: 'Rex-the-Great' }],
    ['p2p-b', { 'parameters[SecurityQuestion]': '', 'parameters[SecurityQuestionAnswer]': '' }, {}],
  ])('%s with %j', async (brand, fields, parameters) => {
    const { submission } = await arrived(brand, {}, fields);
    expect(submission).toMatchObject({ brand, direction: 'out', amount: '1000' });
    expect(submission.parameters).toEqual(parameters);
  });
});
