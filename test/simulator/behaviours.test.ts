/** The behaviours of simulated providers, from the submission to the movement of money. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BRANDS } from '../../simulator/brands.ts';
import { BRANDS as BRANDS_OF_THE_GATEWAY } from '../../src/rules/brands.ts';
import { newReference, startTestSimulator, type TestSimulator, waitUntil } from './test-simulator.ts';

let simulator: TestSimulator;
/** A simulator in which nothing comes by itself. */
let still: TestSimulator;
beforeAll(async () => {
  simulator = await startTestSimulator();
  still = await startTestSimulator({ delayMs: 3_600_000 });
});
afterAll(async () => {
  await simulator.close();
  await still.close();
});

/** The expected initial status of every brand. */
const INITIAL_STATUSES: Record<string, string> = {
  settled: 'pin-a wallet-a wallet-b',
  redirect:
    'hosted-a hosted-b trading-a bnpl-a bnpl-b open-banking-a local-a local-b doc-a doc-b bank-a ' +
    'agg-a agg-b agg-c agg-d agg-e agg-f agg-g agg-h agg-i agg-j crypto-a crypto-b ' +
    'ideal bancontact eps przelewy24 paypal klarna twint swish mobilepay',
  pending:
    'upi-a upi-b upi-c mobile-money-a telecom-a ips transfer-a transfer-b blik mbway sepa-debit ' +
    'payout-a crypto-a-payout trading-b p2p-a p2p-b unknown-brand constructor',
};
const CARD = { number: '4895370012003478', month: '01', year: '2038', holder: '' };
const CRYPTOGRAM = 'AgAAAAAAAIR8CQrXcIhbQAAAAAA=';
const DEVICE = { type: 'CRYPTOGRAM_3DS', network: 'visa', cryptogram: CRYPTOGRAM, eci: '05' };
/** What a brand needs besides its parameters. */
const needsOf = (brand = '') => (brand.startsWith('wallet-') ? { card: CARD, wallet: DEVICE } : {});

const rows = Object.entries(INITIAL_STATUSES).flatMap(([expected, brands]) =>
  brands.split(' ').map((brand) => [brand, expected]),
);

describe('the response to a submission', () => {
  test.each(rows)('%s has the status %s', async (brand, expected) => {
    const request = still.paymentRequest({ brand, ...needsOf(brand) });
    const { status, body } = await still.call('POST', '/v1/payments', request);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^prv_[0-9a-f]{24}$/),
      reference: request.reference,
      status: expected,
      amount: '1000',
      currency: 'EUR',
    });
    expect(body.redirect).toEqual(
      expected === 'redirect'
        ? { url: expect.stringMatching(/\/pay\/[0-9a-f]{32}$/), method: 'GET', params: {} }
        : undefined,
    );
    expect((await still.query(request.reference)).body).toEqual(body);
  });

  test('this test has every brand of the simulator', () => {
    expect(rows.map(([brand]) => brand)).toEqual(expect.arrayContaining(Object.keys(BRANDS)));
  });

  test('the simulator has every brand of the HTTP connector', () => {
    const upstream = Object.entries(BRANDS_OF_THE_GATEWAY).filter(([, { connector }]) => connector === 'upstream');
    expect(Object.keys(BRANDS)).toEqual(expect.arrayContaining(upstream.map(([brand]) => brand)));
  });

  test.each(Object.keys(BRANDS))(
    '%s declines decline@example.com as identifier and as e-mail address',
    async (brand) => {
      const expected = brand === 'ips' ? 'rejected' : 'declined';
      for (const payer of [{ identifier: 'decline@example.com' }, { payer: { email: 'decline@example.com' } }]) {
        const { body } = await simulator.submit({ brand, ...needsOf(brand), ...payer });
        expect(body).toMatchObject({ status: expected, reason: 'Declined by the simulated provider.' });
        expect(await simulator.movements(body.reference)).toEqual([]);
      }
    },
  );

  test.each([
    ['pin-a', { pin: '1234123412340000' }, 'declined'],
    ['pin-a', { pin: '1234123400001234' }, 'settled'],
    ['upi-a', { personal_id: 'fail@upi' }, 'declined'],
    ['upi-b', { upi_id: 'fail.asha@upi' }, 'declined'],
    ['upi-c', { upiAddress: 'fail@upi' }, 'declined'],
    ['upi-a', { personal_id: 'failure@upi' }, 'pending'],
    ['blik', { code: '000000' }, 'declined'],
    ['blik', { code: '777123' }, 'pending'],
    ['sepa-debit', { iban: 'DE62 3704 0044 0532 0130 01' }, 'declined'],
    ['sepa-debit', { iban: 'DE89370400440532013000' }, 'pending'],
    ['upi-a', { personal_id: { nested: 'fail@upi' } }, 'pending'],
  ])('%s with %j is %s', async (brand, parameters, expected) => {
    expect((await simulator.submit({ brand, parameters })).body.status).toBe(expected);
  });
});

describe('device wallets', () => {
  const MISSING = 'The cryptogram is missing or not valid.';
  const UNEXPECTED = 'A cryptogram was sent with a card that has none.';
  const PAN_ONLY = { type: 'PAN_ONLY', network: 'visa' };
  test.each<[string, Record<string, unknown>, string | undefined]>([
    ['a cryptogram and an ECI', {}, undefined],
    ['no ECI', { wallet: { ...DEVICE, eci: undefined } }, undefined],
    ['no cryptogram', { wallet: { ...DEVICE, cryptogram: undefined } }, MISSING],
    ['a cryptogram that is not base64', { wallet: { ...DEVICE, cryptogram: 'not a cryptogram' } }, MISSING],
    ['an invalid ECI', { wallet: { ...DEVICE, eci: 'five' } }, 'The ECI is not valid.'],
    ['a stored card', { wallet: PAN_ONLY }, undefined],
    ['a stored card with a cryptogram', { wallet: { ...PAN_ONLY, cryptogram: CRYPTOGRAM } }, UNEXPECTED],
    ['a repetition', { wallet: { type: 'CRYPTOGRAM_3DS', network: 'visa' }, recurring: true }, undefined],
    ['a repetition with a cryptogram', { recurring: true }, UNEXPECTED],
    [
      'a stored card that its bank wants to authenticate',
      { wallet: PAN_ONLY, card: { ...CARD, month: '05' } },
      'The bank wants to authenticate the payer first.',
    ],
    ['a device that authenticated the payer', { card: { ...CARD, month: '05' } }, undefined],
  ])('%s', async (_, fields, reason) => {
    const { body } = await simulator.submit({ brand: 'wallet-b', ...needsOf('wallet-b'), ...fields });
    expect(body.reason).toBe(reason);
    expect(body.status).toBe(reason === undefined ? 'settled' : 'declined');
  });

  test.each([{ card: undefined }, { wallet: undefined }, { wallet: { type: 'OTHER' } }])(
    'refuses %j',
    async (fields) => {
      const answer = await simulator.submit({ brand: 'wallet-a', ...needsOf('wallet-a'), ...fields });
      expect(answer.status).toBe(400);
    },
  );
});

describe('movements', () => {
  test('an instant payment moves money at once, without a notification', async () => {
    const { body } = await simulator.submit();
    expect(await simulator.movements(body.reference)).toEqual(['sale in 1000 EUR']);
    expect(simulator.receiver.forPayment(body.reference)).toEqual([]);
  });

  test('without capture the amount is only authorised', async () => {
    const { body } = await simulator.submit({ capture: false });
    expect(body.status).toBe('authorised');
    expect(await simulator.movements(body.reference)).toEqual([]);
  });

  test.each([
    ['redirect', 'bank-a', true, 'settled', ['sale in 1000 EUR']],
    ['redirect, reserved only', 'bank-a', false, 'authorised', []],
    ['approval', 'upi-a', true, 'settled', ['sale in 1000 EUR']],
    ['transfer', 'transfer-a', true, 'settled', ['sale in 1000 EUR']],
  ])('%s: the payer approves, and the notification says %s', async (_name, brand, capture, expected, moved) => {
    const { reference } = (await simulator.submit({ brand, capture })).body;
    const { payer_page } = await simulator.details(reference);
    const { status, location } = await simulator.decide(payer_page, { decision: 'approve' });
    expect([status, location]).toEqual([303, 'https://shop.example/return']);
    await waitUntil(() => simulator.receiver.forPayment(reference).length === 1);
    const [notification] = simulator.receiver.forPayment(reference);
    expect(notification).toMatchObject({ isSigned: true, id: expect.stringMatching(/^evt_/) });
    expect(notification?.body).toEqual({
      reference,
      type: 'payment',
      status: expected,
      amount: '1000',
      currency: 'EUR',
    });
    expect((await simulator.query(reference)).body.status).toBe(expected);
    expect(await simulator.movements(reference)).toEqual(moved);
  });

  test('the payer declines: the notification has the reason, and no money moves', async () => {
    const { reference, redirect } = (await simulator.submit({ brand: 'bnpl-a' })).body;
    await simulator.decide(redirect.url, { decision: 'decline' });
    await waitUntil(() => simulator.receiver.forPayment(reference).length === 1);
    const reason = 'The payer declined the payment.';
    expect(simulator.receiver.forPayment(reference)[0]?.body).toMatchObject({
      type: 'payment',
      status: 'declined',
      reason,
    });
    expect((await simulator.query(reference)).body).toMatchObject({ status: 'declined', reason });
    expect(await simulator.movements(reference)).toEqual([]);
  });

  test('a crypto payment waits for confirmations', async () => {
    const { reference, redirect } = (await still.submit({ brand: 'crypto-a' })).body;
    await still.decide(redirect.url, { decision: 'approve' });
    const { body } = await still.query(reference);
    expect(body.status).toBe('pending');
    expect(body).not.toHaveProperty('redirect');
    expect(await still.movements(reference)).toEqual([]);
  });

  test.concurrent('a crypto payment settles after three confirmations', async () => {
    const { reference, redirect } = (await simulator.submit({ brand: 'crypto-a' })).body;
    await simulator.decide(redirect.url, { decision: 'approve' });
    await simulator.decide(redirect.url, { decision: 'approve' });
    await waitUntil(() => simulator.receiver.forPayment(reference).length === 4);
    expect(
      simulator.receiver.forPayment(reference).map(({ body: { status, confirmations } }) => [status, confirmations]),
    ).toEqual([
      ['pending', 0],
      ['pending', 1],
      ['pending', 2],
      ['settled', undefined],
    ]);
    expect(await simulator.movements(reference)).toEqual(['sale in 1000 EUR']);
  });

  test.concurrent('a payout is sent half a second later, whatever its brand', async () => {
    const payOut = async (brand: string): Promise<void> => {
      const waiting = (await still.submit({ brand, direction: 'out', capture: false })).body;
      expect([waiting.status, await still.movements(waiting.reference)]).toEqual(['pending', []]);
      const { body } = await simulator.submit({ brand, direction: 'out', capture: false });
      expect(body.status).toBe('pending');
      await waitUntil(() => simulator.receiver.forPayment(body.reference).length === 1);
      expect(simulator.receiver.forPayment(body.reference)[0]?.body).toMatchObject({
        status: 'settled',
        amount: '1000',
      });
      expect(await simulator.movements(body.reference)).toEqual(['payout out 1000 EUR']);
    };
    await Promise.all(['payout-a', 'crypto-a-payout', 'trading-b', 'p2p-a', 'p2p-b', 'bank-a'].map(payOut));
  });

  test('ips returns a QR code, has its own statuses, and sends only bank notifications', async () => {
    const { body } = await simulator.submit({ brand: 'ips', currency: 'RSD' });
    expect(body.qr).toMatch(
      /^K:EK\|V:01\|C:1\|R:\d{18}\|N:Demo Shop\|I:RSD10,00\|SF:221\|S:Two teapots\|M:\d{4}\|RP:\d{19}$/,
    );
    await simulator.control(body.reference, { provider_status: 'executed' });
    const { body: after } = await simulator.query(body.reference);
    expect(after.status).toBe('executed');
    expect(after).not.toHaveProperty('qr');
    expect(simulator.receiver.forPayment(body.reference)).toEqual([]);
    expect(await simulator.movements(body.reference)).toEqual(['sale in 1000 RSD']);
  });

  test('an ips payment that is approved on the page sends a bank notification', async () => {
    const { reference } = (await simulator.submit({ brand: 'ips', currency: 'RSD' })).body;
    const { payer_page } = await simulator.details(reference);
    await simulator.decide(payer_page, { decision: 'approve' });
    await waitUntil(() => simulator.receiver.forPayment(reference).length === 1);
    expect(simulator.receiver.forPayment(reference)[0]?.body).toEqual({
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
  ])('%s returns the same transfer instructions each time', async (brand, currency, account_number) => {
    const { body } = await simulator.submit({ brand, currency });
    expect(body.instructions).toEqual({
      account_number: expect.stringMatching(account_number),
      account_holder: 'Demo Shop',
      reference: expect.stringMatching(/^\d{7}$/),
    });
    expect((await simulator.query(body.reference)).body.instructions).toEqual(body.instructions);
  });
});

describe('a repeated reference', () => {
  test('returns the same payment, whatever else the repeat contains', async () => {
    const { body } = await simulator.submit();
    const again = await simulator.submit({ reference: body.reference, amount: '999', currency: 'USD', brand: 'upi-a' });
    expect(again.body).toEqual(body);
    expect(await simulator.movements(body.reference)).toEqual(['sale in 1000 EUR']);
  });

  test('moves money once when it is submitted a hundred times at once', async () => {
    const request = simulator.paymentRequest();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => simulator.call('POST', '/v1/payments', request)),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id} ${body.status}`)).size).toBe(1);
    expect(await simulator.movements(request.reference)).toEqual(['sale in 1000 EUR']);
  });

  test('an unknown reference is 404', async () => {
    expect((await simulator.query(newReference())).status).toBe(404);
  });
});

describe('authentication and validation', () => {
  test.each([
    ['GET', '/v1/about'],
    ['POST', '/v1/payments'],
    ['GET', '/v1/payments/a'],
    ['POST', '/control/faults'],
    ['GET', '/control/ledger'],
  ])('%s %s refuses a wrong key', async (method, path) => {
    expect((await simulator.call(method, path, undefined, 'another')).status).toBe(401);
    expect((await fetch(simulator.url + path, { method })).status).toBe(401);
  });

  test('identifies itself as a simulator', async () => {
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
  ])('a payment whose %s is %j is refused and not stored', async (field, value) => {
    const request = simulator.paymentRequest({ [field]: value });
    const { status, body } = await simulator.call('POST', '/v1/payments', request);
    expect([status, body.error]).toEqual([400, expect.stringMatching(`^${field}.* is not valid.$`)]);
    if (field !== 'reference') expect((await simulator.query(request.reference)).status).toBe(404);
  });
});
