/** Every fault that can be ordered: what the gateway sees, and what happened in truth. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestSimulator, type TestSimulator, until } from './test-simulator.ts';

let simulator: TestSimulator;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.close());
beforeEach(async () => {
  await simulator.fault('none');
});

const faults = async () => (await simulator.call('GET', '/control/faults')).body.faults;

describe('calls', () => {
  test('timeout_before: the line goes dead, and nothing was accepted', async () => {
    await simulator.fault('timeout_before');
    const order = simulator.order();
    const start = performance.now();
    await expect(simulator.call('POST', '/v1/payments', order)).rejects.toThrow();
    expect(performance.now() - start).toBeGreaterThan(140);
    expect((await simulator.ask(order.reference)).status).toBe(404);
    expect((await simulator.call('POST', '/v1/payments', order)).body.status).toBe('settled');
  });

  test('timeout_after: the line goes dead, but the money moved', async () => {
    await simulator.fault('timeout_after');
    const order = simulator.order();
    await expect(simulator.call('POST', '/v1/payments', order)).rejects.toThrow();
    expect((await simulator.ask(order.reference)).body.status).toBe('settled');
    expect(await simulator.moved(order.reference)).toEqual(['sale in 1000 EUR']);
  });

  test('timeout_after of a refund: it is done, and can be asked about', async () => {
    const { reference } = (await simulator.submit()).body;
    await simulator.fault('timeout_after');
    await expect(simulator.operate(reference, 'refund', 'op', '400')).rejects.toThrow();
    const { body } = await simulator.call('GET', `/v1/payments/${reference}/operations/op`);
    expect(body).toEqual({ operation: 'op', status: 'done', amount: '400' });
  });

  test('error_500: an error, and nothing was carried out', async () => {
    await simulator.fault('error_500', { count: 2 });
    const order = simulator.order();
    expect((await simulator.call('POST', '/v1/payments', order)).status).toBe(500);
    expect((await simulator.ask(order.reference)).status).toBe(500);
    expect((await simulator.ask(order.reference)).status).toBe(404);
  });

  test('wrong_amount: the answer tells one minor unit too much, the truth stays', async () => {
    await simulator.fault('wrong_amount', { count: 3 });
    const { body } = await simulator.submit();
    expect(body).toMatchObject({ status: 'settled', amount: '1001' });
    expect((await simulator.ask(body.reference)).body.amount).toBe('1001');
    expect((await simulator.operate(body.reference, 'refund', 'op', '5')).body.amount).toBe('6');
    expect((await simulator.ask(body.reference)).body.amount).toBe('1000');
    expect(await simulator.moved(body.reference)).toEqual(['sale in 1000 EUR', 'refund out 5 EUR']);
  });

  test('late_success: declined first, and settled after all', async () => {
    const runScenario = async (brand: string, word: string, notifications: object): Promise<void> => {
      await simulator.fault('late_success', { brand });
      const { body } = await simulator.submit({ brand });
      expect(body).toMatchObject({ status: word, reason: 'Declined by the simulated provider.' });
      expect(await simulator.moved(body.reference)).toEqual([]);
      await until(() => simulator.ear.of(body.reference).length === 1);
      expect(simulator.ear.of(body.reference)[0]?.body).toMatchObject({ ...notifications, amount: '1000' });
      expect(await simulator.moved(body.reference)).toEqual(['sale in 1000 EUR']);
    };
    await Promise.all([
      runScenario('pin-a', 'declined', { type: 'payment', status: 'settled' }),
      runScenario('bank-a', 'declined', { type: 'payment', status: 'settled' }),
      runScenario('ips', 'rejected', { type: 'bank_status', code: 'ACSC' }),
    ]);
  });

  test('late_success waits for a payment that is new', async () => {
    const order = simulator.order();
    await simulator.call('POST', '/v1/payments', order);
    await simulator.fault('late_success');
    expect((await simulator.call('POST', '/v1/payments', order)).body.status).toBe('settled');
    expect(await faults()).toHaveLength(1);
  });
});

describe('notification', () => {
  test('duplicate_news: the same event twice', async () => {
    const { reference } = (await simulator.submit({ brand: 'upi-a' })).body;
    await simulator.fault('duplicate_news');
    await simulator.control(reference, { provider_status: 'executed' });
    const [first, second, ...more] = simulator.ear.of(reference);
    expect(second).toEqual(first);
    expect(more).toEqual([]);
    expect(await faults()).toEqual([]);
  });

  test('wrong_amount: the news tell one minor unit too much', async () => {
    const { reference } = (await simulator.submit({ brand: 'upi-a' })).body;
    await simulator.fault('wrong_amount', { brand: 'upi-a' });
    await simulator.control(reference, { provider_status: 'executed' });
    expect(simulator.ear.of(reference)[0]?.body).toMatchObject({ status: 'settled', amount: '1001' });
    expect(await simulator.moved(reference)).toEqual(['sale in 1000 EUR']);
  });
});

describe('who is meant', () => {
  test.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ mid: 'mid-1' }, true],
    [{ brand: 'pin-a' }, true],
    [{ mid: 'mid-1', brand: 'pin-a' }, true],
    [{ mid: 'mid-2' }, false],
    [{ brand: 'upi-a' }, false],
    [{ mid: 'mid-1', brand: 'upi-a' }, false],
  ])('a fault for %j befalls a pin-a payment of mid-1: %s', async (whom, isMeant) => {
    await simulator.fault('error_500', whom);
    expect((await simulator.submit()).status).toBe(isMeant ? 500 : 200);
    expect(await faults()).toHaveLength(isMeant ? 0 : 1);
  });

  test('the oldest comes first, and each as often as it was ordered', async () => {
    await simulator.fault('wrong_amount', { count: 2 });
    await simulator.fault('error_500', { mid: 'mid-1' });
    const seen: unknown[] = [];
    for (let times = 0; times < 4; times++) seen.push((await simulator.submit()).body.amount);
    expect(seen).toEqual(['1001', '1001', undefined, '1000']);
  });

  test('fifty calls at once use up exactly what was ordered', async () => {
    await simulator.fault('error_500', { count: 20 });
    const answers = await Promise.all(Array.from({ length: 50 }, () => simulator.submit()));
    expect(answers.filter(({ status }) => status === 500)).toHaveLength(20);
  });

  test('none deletes those that match', async () => {
    await simulator.fault('error_500', { mid: 'mid-1', brand: 'pin-a' });
    await simulator.fault('error_500', { mid: 'mid-2' });
    await simulator.fault('timeout_after');
    const { body } = await simulator.fault('none', { mid: 'mid-1' });
    expect(body.faults).toEqual([
      { id: expect.any(Number), mid: 'mid-2', brand: null, mode: 'error_500', left: 1 },
      { id: expect.any(Number), mid: null, brand: null, mode: 'timeout_after', left: 1 },
    ]);
    expect((await simulator.fault('none')).body.faults).toEqual([]);
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

describe('taken by a connector without a provider', () => {
  const subject = (reference: string) => ({
    mid: 'mid-1',
    brand: 'vcard',
    reference,
    amount: '1000',
    currency: 'EUR',
    notify_url: simulator.ear.url,
  });

  test('one at a time, with how many are left for anybody, and nothing when there is none', async () => {
    await simulator.fault('timeout_after', { brand: 'vcard', count: 2 });
    await simulator.fault('duplicate_news', { brand: 'vcard' });
    await simulator.fault('error_500', { mid: 'mid-1' });
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

  test('a late success brings its news', async () => {
    await simulator.fault('late_success', { mid: 'mid-1' });
    const { body } = await simulator.call('POST', '/control/faults/take', subject('vcard-2'));
    expect(body).toEqual({ mode: 'late_success', left: 0 });
    await pause(200);
    expect(simulator.ear.of('vcard-2')).toEqual([]);
    await until(() => simulator.ear.of('vcard-2').length === 1);
    expect(simulator.ear.of('vcard-2')[0]?.body).toEqual({
      reference: 'vcard-2',
      type: 'payment',
      status: 'settled',
      amount: '1000',
      currency: 'EUR',
    });
  });
});
