/** News arrive: signed, in order, again until taken, and also when the world ends in between. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSimulator, type TestSimulator, until } from './test-simulator.ts';

let simulator: TestSimulator;
let folder: string;
beforeAll(async () => {
  simulator = await startTestSimulator();
  folder = await mkdtemp(join(tmpdir(), 'turnpike-world-'));
});
afterAll(async () => {
  await simulator.close();
  await rm(folder, { recursive: true, force: true });
});

const waiting = async (): Promise<string> => (await simulator.submit({ brand: 'upi-a' })).body.reference;

test.each([[301], [404], [429], [500], ['silence' as const]])(
  'an answer of %s is no receipt: they come again under the same id, signed anew',
  async (answer) => {
    const reference = await waiting();
    simulator.ear.answers.push(answer, answer, answer);
    await simulator.control(reference, { provider_status: 'executed' });
    await until(() => simulator.ear.of(reference).length === 4);
    const heard = simulator.ear.of(reference);
    expect(new Set(heard.map(({ id }) => id)).size).toBe(1);
    expect(heard.every(({ isSigned }) => isSigned)).toBe(true);
    await until(async () => (await simulator.whole(reference)).notifications[0].delivered);
    expect((await simulator.whole(reference)).notifications).toMatchObject([
      { status: 'settled', tries: 4, delivered: true },
    ]);
  },
);

test.each([[200], [201], [204]])('%s is a receipt', async (answer) => {
  const reference = await waiting();
  simulator.ear.answers.push(answer);
  const { body } = await simulator.control(reference, { provider_status: 'executed' });
  expect(body.notifications).toMatchObject([{ tries: 1, delivered: true }]);
});

test('news of one payment never overtake each other, those of another do not wait for them', async () => {
  const [stuck, free] = [await waiting(), await waiting()];
  simulator.ear.answers.push(500);
  await simulator.control(stuck, { provider_status: 'rejected' });
  simulator.ear.answers.push(500, 500);
  await Promise.all([
    simulator.control(stuck, { provider_status: 'executed' }),
    simulator.control(stuck, { chargeback: true }).then(() => simulator.control(free, { provider_status: 'executed' })),
  ]);
  await until(() => simulator.ear.of(stuck).filter(({ answered }) => answered === 200).length === 3);
  await until(() => simulator.ear.of(free).some(({ answered }) => answered === 200));
  const taken = simulator.ear.of(stuck).filter(({ answered }) => answered === 200);
  expect(taken.map(({ body }) => body.status ?? body.type)).toEqual(['declined', 'settled', 'chargeback']);
});

test('a control call answers after the first try, however it ended', async () => {
  const reference = await waiting();
  simulator.ear.answers.push(500);
  const { status, body } = await simulator.control(reference, { provider_status: 'executed' });
  expect(status).toBe(200);
  expect(body.notifications).toMatchObject([{ tries: 1, delivered: false }]);
  expect(simulator.ear.of(reference)).toHaveLength(1);
});

test('without an address nobody is told', async () => {
  const { reference } = (await simulator.submit({ brand: 'upi-a', notify_url: undefined })).body;
  expect((await simulator.control(reference, { provider_status: 'executed' })).body).toMatchObject({
    status: 'settled',
    notifications: [],
  });
});

test('the world is closed and opened again: payments, faults, unfinished business and news are still there', async () => {
  const file = join(folder, 'books', 'world.sqlite');
  const before = await startTestSimulator({ file, notificationRetryMs: [300] });
  const notify_url = simulator.ear.url;
  const settled = (await before.submit({ notify_url })).body;
  const payout = (await before.submit({ notify_url, direction: 'out' })).body.reference;
  const coins = (await before.submit({ notify_url, brand: 'crypto-a' })).body;
  await before.decide(coins.redirect.url, { decision: 'approve' });
  const deaf = (await before.submit({ brand: 'upi-a', notify_url })).body.reference;
  await until(() => simulator.ear.of(coins.reference).length === 1);
  simulator.ear.answers.push(500);
  await before.control(deaf, { provider_status: 'executed' });
  await before.fault('error_500', { mid: 'mid-9' });
  await before.close();
  const notifications = simulator.ear.heard.length;

  const after = await startTestSimulator({ file });
  expect((await after.ask(settled.reference)).body).toEqual(settled);
  expect((await after.submit({ reference: settled.reference })).body).toEqual(settled);
  expect(await after.moved(settled.reference)).toEqual(['sale in 1000 EUR']);
  expect((await after.call('GET', '/control/faults')).body.faults).toMatchObject([{ mid: 'mid-9' }]);
  await until(() => simulator.ear.of(deaf).length === 2 && simulator.ear.of(payout).length === 1);
  await until(() => simulator.ear.of(coins.reference).length === 4);
  expect(simulator.ear.of(deaf)[1]?.id).toBe(simulator.ear.of(deaf)[0]?.id);
  expect(simulator.ear.heard.slice(notifications).every(({ isSigned }) => isSigned)).toBe(true);
  expect(await after.moved(payout)).toEqual(['payout out 1000 EUR']);
  expect(await after.moved(coins.reference)).toEqual(['sale in 1000 EUR']);
  await after.close();
});
