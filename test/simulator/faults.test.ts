/** The faults: what the gateway observes, and what the simulator actually did. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { LATE_MS } from '../../simulator/payments.ts';
import { startTestSimulator, type TestSimulator, waitUntil } from './test-simulator.ts';

let simulator: TestSimulator;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.close());
beforeEach(async () => {
  await simulator.setFault('none');
});

const faults = async () => (await simulator.call('GET', '/control/faults')).body.faults;

const NO_CODES = { code: null, advice: null };

describe('calls', () => {
  test('timeout_before: the connection drops and nothing is accepted', async () => {
    await simulator.setFault('timeout_before');
    const request = simulator.paymentRequest();
    const start = performance.now();
    await expect(simulator.call('POST', '/v1/payments', request)).rejects.toThrow();
    expect(performance.now() - start).toBeGreaterThan(140);
    expect((await simulator.query(request.reference)).status).toBe(404);
    expect((await simulator.call('POST', '/v1/payments', request)).body.status).toBe('settled');
  });

  test('timeout_after: the connection drops after the money moved', async () => {
    await simulator.setFault('timeout_after');
    const request = simulator.paymentRequest();
    await expect(simulator.call('POST', '/v1/payments', request)).rejects.toThrow();
    expect((await simulator.query(request.reference)).body.status).toBe('settled');
    expect(await simulator.movements(request.reference)).toEqual(['sale in 1000 EUR']);
  });

  test('timeout_after of a refund: the refund is done and can be queried', async () => {
    const { reference } = (await simulator.submit()).body;
    await simulator.setFault('timeout_after');
    await expect(simulator.operate(reference, 'refund', 'op', '400')).rejects.toThrow();
    const { body } = await simulator.call('GET', `/v1/payments/${reference}/operations/op`);
    expect(body).toEqual({ operation: 'op', status: 'done', amount: '400' });
  });

  test('error_500: an error, and nothing is done', async () => {
    await simulator.setFault('error_500', { count: 2 });
    const request = simulator.paymentRequest();
    expect((await simulator.call('POST', '/v1/payments', request)).status).toBe(500);
    expect((await simulator.query(request.reference)).status).toBe(500);
    expect((await simulator.query(request.reference)).status).toBe(404);
  });

  test('wrong_amount: the response has one minor unit too much, the ledger is correct', async () => {
    await simulator.setFault('wrong_amount', { count: 3 });
    const { body } = await simulator.submit();
    expect(body).toMatchObject({ status: 'settled', amount: '1001' });
    expect((await simulator.query(body.reference)).body.amount).toBe('1001');
    expect((await simulator.operate(body.reference, 'refund', 'op', '5')).body.amount).toBe('6');
    expect((await simulator.query(body.reference)).body.amount).toBe('1000');
    expect(await simulator.movements(body.reference)).toEqual(['sale in 1000 EUR', 'refund out 5 EUR']);
  });

  test('late_success: declined first, settled later', async () => {
    // A simulator in which nothing comes by itself.
    const still = await startTestSimulator({ delayMs: 3_600_000 });
    onTestFinished(() => still.close());
    const runScenario = async (brand: string, status: string, notification: object): Promise<void> => {
      const declined = { status, reason: 'Declined by the simulated provider.' };
      await still.setFault('late_success', { brand });
      const first = (await still.submit({ brand })).body;
      expect(first).toMatchObject(declined);
      expect(await still.movements(first.reference)).toEqual([]);
      await simulator.setFault('late_success', { brand });
      const { body } = await simulator.submit({ brand });
      expect(body).toMatchObject(declined);
      await waitUntil(() => simulator.receiver.forPayment(body.reference).length === 1);
      expect(simulator.receiver.forPayment(body.reference)[0]?.body).toMatchObject({ ...notification, amount: '1000' });
      expect(await simulator.movements(body.reference)).toEqual(['sale in 1000 EUR']);
    };
    await Promise.all([
      runScenario('pin-a', 'declined', { type: 'payment', status: 'settled' }),
      runScenario('bank-a', 'declined', { type: 'payment', status: 'settled' }),
      runScenario('ips', 'rejected', { type: 'bank_status', code: 'ACSC' }),
    ]);
  });

  test('late_success applies only to a new payment', async () => {
    const request = simulator.paymentRequest();
    await simulator.call('POST', '/v1/payments', request);
    await simulator.setFault('late_success');
    expect((await simulator.call('POST', '/v1/payments', request)).body.status).toBe('settled');
    expect(await faults()).toHaveLength(1);
  });
});

describe('notifications', () => {
  test('duplicate_news: the same event twice', async () => {
    const { reference } = (await simulator.submit({ brand: 'upi-a' })).body;
    await simulator.setFault('duplicate_news');
    await simulator.control(reference, { provider_status: 'executed' });
    const [first, second, ...more] = simulator.receiver.forPayment(reference);
    expect(second).toEqual(first);
    expect(more).toEqual([]);
    expect(await faults()).toEqual([]);
  });

  test('wrong_amount: the notification has one minor unit too much', async () => {
    const { reference } = (await simulator.submit({ brand: 'upi-a' })).body;
    await simulator.setFault('wrong_amount', { brand: 'upi-a' });
    await simulator.control(reference, { provider_status: 'executed' });
    expect(simulator.receiver.forPayment(reference)[0]?.body).toMatchObject({ status: 'settled', amount: '1001' });
    expect(await simulator.movements(reference)).toEqual(['sale in 1000 EUR']);
  });
});

describe('scope of a fault', () => {
  test.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ mid: 'mid-1' }, true],
    [{ brand: 'pin-a' }, true],
    [{ mid: 'mid-1', brand: 'pin-a' }, true],
    [{ mid: 'mid-2' }, false],
    [{ brand: 'upi-a' }, false],
    [{ mid: 'mid-1', brand: 'upi-a' }, false],
  ])('a fault for %j applies to a pin-a payment of mid-1: %s', async (scope, applies) => {
    await simulator.setFault('error_500', scope);
    expect((await simulator.submit()).status).toBe(applies ? 500 : 200);
    expect(await faults()).toHaveLength(applies ? 0 : 1);
  });

  test('the oldest fault applies first, each as often as its count', async () => {
    await simulator.setFault('wrong_amount', { count: 2 });
    await simulator.setFault('error_500', { mid: 'mid-1' });
    const seen: unknown[] = [];
    for (let times = 0; times < 4; times++) seen.push((await simulator.submit()).body.amount);
    expect(seen).toEqual(['1001', '1001', undefined, '1000']);
  });

  test('fifty concurrent calls consume exactly the count', async () => {
    await simulator.setFault('error_500', { count: 20 });
    const answers = await Promise.all(Array.from({ length: 50 }, () => simulator.submit()));
    expect(answers.filter(({ status }) => status === 500)).toHaveLength(20);
  });

  test('none deletes the matching faults', async () => {
    await simulator.setFault('error_500', { mid: 'mid-1', brand: 'pin-a' });
    await simulator.setFault('error_500', { mid: 'mid-2' });
    await simulator.setFault('timeout_after');
    const { body } = await simulator.setFault('none', { mid: 'mid-1' });
    expect(body.faults).toEqual([
      { id: expect.any(Number), mid: 'mid-2', brand: null, mode: 'error_500', left: 1, ...NO_CODES },
      { id: expect.any(Number), mid: null, brand: null, mode: 'timeout_after', left: 1, ...NO_CODES },
    ]);
    expect((await simulator.setFault('none')).body.faults).toEqual([]);
  });

  test.each([
    [{ mode: 'explode' }, 'mode is not valid.'],
    [{ mode: 'error_500', count: 0 }, 'count is not valid.'],
    [{ mode: 'error_500', count: '2' }, 'count is not valid.'],
    [{ mode: 'error_500', mid: 7 }, 'mid is not valid.'],
    [{}, 'mode is not valid.'],
  ])('%j is refused: %s', async (body, error) => {
    expect(await simulator.call('POST', '/control/faults', body)).toEqual({ status: 400, body: { error } });
  });
});

describe('faults of a connector without a provider', () => {
  const subject = (reference: string) => ({
    mid: 'mid-1',
    brand: 'vcard',
    reference,
    amount: '1000',
    currency: 'EUR',
    notify_url: simulator.receiver.url,
  });

  test('are taken one at a time, with the number of faults left for all accounts', async () => {
    await simulator.setFault('timeout_after', { brand: 'vcard', count: 2 });
    await simulator.setFault('duplicate_news', { brand: 'vcard' });
    await simulator.setFault('error_500', { mid: 'mid-1' });
    const taken: unknown[] = [];
    for (let times = 0; times < 4; times++) {
      taken.push((await simulator.call('POST', '/control/faults/take', subject('vcard-1'))).body);
    }
    expect(taken).toEqual([
      { mode: 'timeout_after', left: 2 },
      { mode: 'timeout_after', left: 1 },
      { mode: 'error_500', left: 0 },
      { mode: null, left: 0 },
    ]);
  });

  test('a late success sends a notification', async () => {
    await simulator.setFault('late_success', { mid: 'mid-1' });
    const started = Date.now();
    const { body } = await simulator.call('POST', '/control/faults/take', subject('vcard-2'));
    expect(body).toEqual({ mode: 'late_success', left: 0 });
    await waitUntil(() => simulator.receiver.forPayment('vcard-2').length === 1);
    expect(Date.now() - started).toBeGreaterThanOrEqual(LATE_MS);
    expect(simulator.receiver.forPayment('vcard-2')[0]?.body).toEqual({
      reference: 'vcard-2',
      type: 'payment',
      status: 'settled',
      amount: '1000',
      currency: 'EUR',
    });
  });
});
