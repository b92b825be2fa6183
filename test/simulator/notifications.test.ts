/** Notifications are signed, sent in order, and retried until accepted, also after a restart of the simulator. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSimulator, type TestSimulator, waitUntil } from './test-simulator.ts';

let simulator: TestSimulator;
let folder: string;
beforeAll(async () => {
  simulator = await startTestSimulator();
  folder = await mkdtemp(join(tmpdir(), 'turnpike-simulator-'));
});
afterAll(async () => {
  await simulator.close();
  await rm(folder, { recursive: true, force: true });
});

const waiting = async (): Promise<string> => (await simulator.submit({ brand: 'upi-a' })).body.reference;

test.each([[301], [404], [429], [500], ['silence' as const]])(
  'retries after %s with the same id and a new signature',
  async (answer) => {
    const reference = await waiting();
    simulator.receiver.answers.push(answer, answer, answer);
    await simulator.control(reference, { provider_status: 'executed' });
    await waitUntil(() => simulator.receiver.forPayment(reference).length === 4);
    const received = simulator.receiver.forPayment(reference);
    expect(new Set(received.map(({ id }) => id)).size).toBe(1);
    expect(received.every(({ isSigned }) => isSigned)).toBe(true);
    await waitUntil(async () => (await simulator.details(reference)).notifications[0].delivered);
    expect((await simulator.details(reference)).notifications).toMatchObject([
      { status: 'settled', tries: 4, delivered: true },
    ]);
  },
);

test.each([[200], [201], [204]])('%s means accepted', async (answer) => {
  const reference = await waiting();
  simulator.receiver.answers.push(answer);
  const { body } = await simulator.control(reference, { provider_status: 'executed' });
  expect(body.notifications).toMatchObject([{ tries: 1, delivered: true }]);
});

test('notifications of a payment stay in order, and do not delay those of another payment', async () => {
  const [stuck, free] = [await waiting(), await waiting()];
  simulator.receiver.answers.push(500);
  await simulator.control(stuck, { provider_status: 'rejected' });
  simulator.receiver.answers.push(500, 500);
  await Promise.all([
    simulator.control(stuck, { provider_status: 'executed' }),
    simulator.control(stuck, { chargeback: true }).then(() => simulator.control(free, { provider_status: 'executed' })),
  ]);
  await waitUntil(() => simulator.receiver.forPayment(stuck).filter(({ answered }) => answered === 200).length === 3);
  await waitUntil(() => simulator.receiver.forPayment(free).some(({ answered }) => answered === 200));
  const taken = simulator.receiver.forPayment(stuck).filter(({ answered }) => answered === 200);
  expect(taken.map(({ body }) => body.status ?? body.type)).toEqual(['declined', 'settled', 'chargeback']);
});

test('a control call responds after the first attempt, whatever its result', async () => {
  const patient = await startTestSimulator({ notificationRetryMs: [60_000] });
  const { reference } = (await patient.submit({ brand: 'upi-a' })).body;
  patient.receiver.answers.push(500);
  const { status, body } = await patient.control(reference, { provider_status: 'executed' });
  expect(status).toBe(200);
  expect(body.notifications).toMatchObject([{ tries: 1, delivered: false }]);
  expect(patient.receiver.forPayment(reference)).toHaveLength(1);
  await patient.close();
});

test('sends nothing without an address', async () => {
  const { reference } = (await simulator.submit({ brand: 'upi-a', notify_url: undefined })).body;
  expect((await simulator.control(reference, { provider_status: 'executed' })).body).toMatchObject({
    status: 'settled',
    notifications: [],
  });
});

test('payments, faults, pending steps and notifications survive a restart', async () => {
  const file = join(folder, 'nested', 'simulator.sqlite');
  // Nothing comes by itself before the restart.
  const before = await startTestSimulator({ file, delayMs: 3_600_000 });
  const notify_url = simulator.receiver.url;
  const settled = (await before.submit({ notify_url })).body;
  const payout = (await before.submit({ notify_url, direction: 'out' })).body.reference;
  const coins = (await before.submit({ notify_url, brand: 'crypto-a' })).body;
  await before.decide(coins.redirect.url, { decision: 'approve' });
  const unaccepted = (await before.submit({ brand: 'upi-a', notify_url })).body.reference;
  await waitUntil(async () => (await before.details(coins.reference)).notifications[0].delivered);
  simulator.receiver.answers.push(500);
  await before.control(unaccepted, { provider_status: 'executed' });
  await before.setFault('error_500', { mid: 'mid-9' });
  await before.close();
  const notifications = simulator.receiver.received.length;

  const after = await startTestSimulator({ file });
  expect((await after.query(settled.reference)).body).toEqual(settled);
  expect((await after.submit({ reference: settled.reference })).body).toEqual(settled);
  expect(await after.movements(settled.reference)).toEqual(['sale in 1000 EUR']);
  expect((await after.call('GET', '/control/faults')).body.faults).toMatchObject([{ mid: 'mid-9' }]);
  await waitUntil(
    () => simulator.receiver.forPayment(unaccepted).length === 2 && simulator.receiver.forPayment(payout).length === 1,
  );
  await waitUntil(() => simulator.receiver.forPayment(coins.reference).length === 4);
  expect(simulator.receiver.forPayment(unaccepted)[1]?.id).toBe(simulator.receiver.forPayment(unaccepted)[0]?.id);
  expect(simulator.receiver.received.slice(notifications).every(({ isSigned }) => isSigned)).toBe(true);
  expect(await after.movements(payout)).toEqual(['payout out 1000 EUR']);
  expect(await after.movements(coins.reference)).toEqual(['sale in 1000 EUR']);
  await after.close();
});
