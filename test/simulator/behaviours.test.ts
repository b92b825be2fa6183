/** Each behaviour of a simulated provider as one conversation, from the first call to the money. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BRANDS } from '../../simulator/brands.ts';
import { BRANDS as BRANDS_OF_THE_GATEWAY } from '../../src/rules/brands.ts';
import { newReference, startTestSimulator, type TestSimulator, until } from './test-simulator.ts';

let simulator: TestSimulator;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.close());

/** The behaviour of every brand, written a second time by hand. */
const FIRST_WORDS: Record<string, string> = {
  settled: 'pin-a wallet-a wallet-b',
  redirect:
    'hosted-a hosted-b trading-a bnpl-a bnpl-b open-banking-a local-a local-b doc-a doc-b bank-a ' +
    'agg-a agg-b agg-c agg-d agg-e agg-f agg-g agg-h agg-i agg-j crypto-a crypto-b',
  pending:
    'upi-a upi-b upi-c mobile-money-a telecom-a ips transfer-a transfer-b ' +
    'payout-a crypto-a-payout trading-b p2p-a p2p-b brand-that-nobody-knows constructor',
};
const rows = Object.entries(FIRST_WORDS).flatMap(([word, brands]) => brands.split(' ').map((brand) => [brand, word]));

describe('the first answer', () => {
  test.each(rows)('%s answers %s', async (brand, word) => {
    const order = simulator.order({ brand });
    const { status, body } = await simulator.call('POST', '/v1/payments', order);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^prv_[0-9a-f]{24}$/),
      reference: order.reference,
      status: word,
      amount: '1000',
      currency: 'EUR',
    });
    expect(body.redirect).toEqual(
      word === 'redirect'
        ? { url: expect.stringMatching(/\/pay\/[0-9a-f]{32}$/), method: 'GET', params: {} }
        : undefined,
    );
    expect((await simulator.ask(order.reference)).body).toEqual(body);
  });

  test('every brand of the table is in the table of this test', () => {
    expect(rows.map(([brand]) => brand)).toEqual(expect.arrayContaining(Object.keys(BRANDS)));
  });

  test('every brand that the gateway sends over HTTP has a row', () => {
    const upstream = Object.entries(BRANDS_OF_THE_GATEWAY).filter(([, { connector }]) => connector === 'upstream');
    expect(Object.keys(BRANDS)).toEqual(expect.arrayContaining(upstream.map(([brand]) => brand)));
  });

  test.each(Object.keys(BRANDS))('%s declines the payer who is to be declined, by either name', async (brand) => {
    const word = brand === 'ips' ? 'rejected' : 'declined';
    for (const who of [{ identifier: 'decline@example.com' }, { payer: { email: 'decline@example.com' } }]) {
      const { body } = await simulator.submit({ brand, ...who });
      expect(body).toMatchObject({ status: word, reason: 'Declined by the simulated provider.' });
      expect(await simulator.moved(body.reference)).toEqual([]);
    }
  });

  test.each([
    ['pin-a', { pin: '1234123412340000' }, 'declined'],
    ['pin-a', { pin: '1234123400001234' }, 'settled'],
    ['wallet-a', { pin: '1234123412340000' }, 'settled'],
    ['upi-a', { personal_id: 'fail@upi' }, 'declined'],
    ['upi-b', { upi_id: 'fail.asha@upi' }, 'declined'],
    ['upi-c', { upiAddress: 'fail@upi' }, 'declined'],
    ['upi-a', { personal_id: 'failure@upi' }, 'pending'],
    ['upi-a', { personal_id: { nested: 'fail@upi' } }, 'pending'],
  ])('%s with %j is %s', async (brand, parameters, word) => {
    expect((await simulator.submit({ brand, parameters })).body.status).toBe(word);
  });
});

describe('the money', () => {
  test('an instant payment moves it at once, and has no news', async () => {
    const { body } = await simulator.submit();
    expect(await simulator.moved(body.reference)).toEqual(['sale in 1000 EUR']);
    expect(simulator.ear.of(body.reference)).toEqual([]);
  });

  test('without capture it is only reserved', async () => {
    const { body } = await simulator.submit({ capture: false });
    expect(body.status).toBe('authorised');
    expect(await simulator.moved(body.reference)).toEqual([]);
  });

  test.each([
    ['redirect', 'bank-a', true, 'settled', ['sale in 1000 EUR']],
    ['redirect, reserved only', 'bank-a', false, 'authorised', []],
    ['approval', 'upi-a', true, 'settled', ['sale in 1000 EUR']],
    ['transfer', 'transfer-a', true, 'settled', ['sale in 1000 EUR']],
  ])('%s: the payer approves, and the news say %s', async (_name, brand, capture, word, moved) => {
    const { reference } = (await simulator.submit({ brand, capture })).body;
    const { payer_page } = await simulator.whole(reference);
    const { status, location } = await simulator.decide(payer_page, { decision: 'approve' });
    expect([status, location]).toEqual([303, 'https://shop.example/return']);
    await until(() => simulator.ear.of(reference).length === 1);
    const [notifications] = simulator.ear.of(reference);
    expect(notifications).toMatchObject({ isSigned: true, id: expect.stringMatching(/^evt_/) });
    expect(notifications?.body).toEqual({ reference, type: 'payment', status: word, amount: '1000', currency: 'EUR' });
    expect((await simulator.ask(reference)).body.status).toBe(word);
    expect(await simulator.moved(reference)).toEqual(moved);
  });

  test('the payer declines: the news say why, and nothing moves', async () => {
    const { reference, redirect } = (await simulator.submit({ brand: 'bnpl-a' })).body;
    await simulator.decide(redirect.url, { decision: 'decline' });
    await until(() => simulator.ear.of(reference).length === 1);
    const reason = 'The payer declined the payment.';
    expect(simulator.ear.of(reference)[0]?.body).toMatchObject({ type: 'payment', status: 'declined', reason });
    expect((await simulator.ask(reference)).body).toMatchObject({ status: 'declined', reason });
    expect(await simulator.moved(reference)).toEqual([]);
  });

  test.concurrent('coins are sent, confirmed three times, and settle', async () => {
    const { reference, redirect } = (await simulator.submit({ brand: 'crypto-a' })).body;
    await simulator.decide(redirect.url, { decision: 'approve' });
    const { body } = await simulator.ask(reference);
    expect(body.status).toBe('pending');
    expect(body).not.toHaveProperty('redirect');
    await simulator.decide(redirect.url, { decision: 'approve' });
    await until(() => simulator.ear.of(reference).length === 4);
    expect(simulator.ear.of(reference).map(({ body: { status, confirmations } }) => [status, confirmations])).toEqual([
      ['pending', 0],
      ['pending', 1],
      ['pending', 2],
      ['settled', undefined],
    ]);
    expect(await simulator.moved(reference)).toEqual(['sale in 1000 EUR']);
  });

  test.concurrent('a payout goes out half a second later, whatever its brand', async () => {
    const payOut = async (brand: string): Promise<void> => {
      const { body } = await simulator.submit({ brand, direction: 'out', capture: false });
      expect(body.status).toBe('pending');
      expect(await simulator.moved(body.reference)).toEqual([]);
      await until(() => simulator.ear.of(body.reference).length === 1);
      expect(simulator.ear.of(body.reference)[0]?.body).toMatchObject({ status: 'settled', amount: '1000' });
      expect(await simulator.moved(body.reference)).toEqual(['payout out 1000 EUR']);
    };
    await Promise.all(['payout-a', 'crypto-a-payout', 'trading-b', 'p2p-a', 'p2p-b', 'bank-a'].map(payOut));
  });

  test('ips answers a code, speaks its own words, and its only news are those of the bank', async () => {
    const { body } = await simulator.submit({ brand: 'ips', currency: 'RSD' });
    expect(body.qr).toMatch(
      /^K:EK\|V:01\|C:1\|R:\d{18}\|N:Demo Shop\|I:RSD10,00\|SF:221\|S:Two teapots\|M:\d{4}\|RP:\d{19}$/,
    );
    await simulator.control(body.reference, { provider_status: 'executed' });
    const { body: after } = await simulator.ask(body.reference);
    expect(after.status).toBe('executed');
    expect(after).not.toHaveProperty('qr');
    expect(simulator.ear.of(body.reference)).toEqual([]);
    expect(await simulator.moved(body.reference)).toEqual(['sale in 1000 RSD']);
  });

  test('who pays an ips code on the page makes the bank speak', async () => {
    const { reference } = (await simulator.submit({ brand: 'ips', currency: 'RSD' })).body;
    const { payer_page } = await simulator.whole(reference);
    await simulator.decide(payer_page, { decision: 'approve' });
    await until(() => simulator.ear.of(reference).length === 1);
    expect(simulator.ear.of(reference)[0]?.body).toEqual({
      reference,
      type: 'bank_status',
      code: 'ACSC',
      amount: '1000',
      currency: 'RSD',
    });
  });

  test.each([
    ['transfer-a', 'ARS', /^\d{22}$/],
    ['transfer-b', 'MXN', /^\d{18}$/],
  ])('%s tells where to send the money, the same each time', async (brand, currency, account_number) => {
    const { body } = await simulator.submit({ brand, currency });
    expect(body.instructions).toEqual({
      account_number: expect.stringMatching(account_number),
      account_holder: 'Demo Shop',
      reference: expect.stringMatching(/^\d{7}$/),
    });
    expect((await simulator.ask(body.reference)).body.instructions).toEqual(body.instructions);
  });
});

describe('the same reference', () => {
  test('is the same payment, whatever else the repeat says', async () => {
    const { body } = await simulator.submit();
    const again = await simulator.submit({ reference: body.reference, amount: '999', currency: 'USD', brand: 'upi-a' });
    expect(again.body).toEqual(body);
    expect(await simulator.moved(body.reference)).toEqual(['sale in 1000 EUR']);
  });

  test('a hundred times at once moves money once', async () => {
    const order = simulator.order();
    const answers = await Promise.all(Array.from({ length: 100 }, () => simulator.call('POST', '/v1/payments', order)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id} ${body.status}`)).size).toBe(1);
    expect(await simulator.moved(order.reference)).toEqual(['sale in 1000 EUR']);
  });

  test('a reference that never came is 404', async () => {
    expect((await simulator.ask(newReference())).status).toBe(404);
  });
});

describe('the door', () => {
  test.each([
    ['GET', '/v1/about'],
    ['POST', '/v1/payments'],
    ['GET', '/v1/payments/a'],
    ['POST', '/control/faults'],
    ['GET', '/control/ledger'],
  ])('%s %s is closed to a wrong key', async (method, path) => {
    expect((await simulator.call(method, path, undefined, 'another')).status).toBe(401);
    expect((await fetch(simulator.url + path, { method })).status).toBe(401);
  });

  test('it says who it is', async () => {
    expect((await simulator.call('GET', '/v1/about')).body).toEqual({ name: 'Turnpike sandbox', simulator: true });
  });

  test.each([
    ['reference', ''],
    ['reference', 'a/b'],
    ['brand', null],
    ['direction', 'sideways'],
    ['merchant', 'Demo Shop'],
    ['amount', 1000],
    ['amount', '0'],
    ['amount', '10.00'],
    ['currency', 'euro'],
    ['notify_url', 'javascript:alert(1)'],
    ['return_url', 'here'],
    ['methods', 'S1'],
  ])('a payment whose %s is %j is refused and not kept', async (field, value) => {
    const order = simulator.order({ [field]: value });
    const { status, body } = await simulator.call('POST', '/v1/payments', order);
    expect([status, body.error]).toEqual([400, expect.stringMatching(`^${field}.* is not valid.$`)]);
    if (field !== 'reference') expect((await simulator.ask(order.reference)).status).toBe(404);
  });
});
