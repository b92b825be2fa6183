/** Captures, voids and refunds, and their limits. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newReference, startTestSimulator, type TestSimulator, waitUntil } from './test-simulator.ts';

let simulator: TestSimulator;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.close());

const submitted = async (fields: Record<string, unknown> = {}): Promise<string> =>
  (await simulator.submit(fields)).body.reference;
const authorised = (): Promise<string> => submitted({ capture: false });

test('captures a part of the authorised amount, once', async () => {
  const reference = await authorised();
  const { body } = await simulator.operate(reference, 'capture', 'capture-1', '600');
  expect(body).toEqual({ operation: 'capture-1', status: 'done', amount: '600' });
  expect((await simulator.query(reference)).body).toMatchObject({ status: 'settled', amount: '1000' });
  expect((await simulator.operate(reference, 'capture', 'capture-2', '100')).body).toMatchObject({
    status: 'declined',
  });
  expect(await simulator.movements(reference)).toEqual(['capture in 600 EUR']);
});

test('a repeated operation id is the same operation, even with other data', async () => {
  const reference = await authorised();
  const { body } = await simulator.operate(reference, 'capture', 'one', '600');
  expect((await simulator.operate(reference, 'capture', 'one', '600')).body).toEqual(body);
  expect((await simulator.operate(reference, 'refund', 'one', '100')).body).toEqual(body);
  expect((await simulator.call('GET', `/v1/payments/${reference}/operations/one`)).body).toEqual(body);
  expect(await simulator.movements(reference)).toEqual(['capture in 600 EUR']);
});

test('a hundred concurrent repeats are one operation, and refunds never exceed the captured amount', async () => {
  const reference = await submitted();
  const repeats = Array.from({ length: 100 }, () => simulator.operate(reference, 'refund', 'same', '300'));
  const others = Array.from({ length: 10 }, (_, index) =>
    simulator.operate(reference, 'refund', `other-${index}`, '300'),
  );
  const answers = await Promise.all([...repeats, ...others]);
  const done = new Set(answers.filter(({ body }) => body.status === 'done').map(({ body }) => body.operation));
  expect(done.size).toBe(3);
  const rest = await simulator.operate(reference, 'refund', 'too much', '101');
  expect(rest.status).toBe(400);
  expect((await simulator.operate(reference, 'refund', 'too-much', '101')).body).toEqual({
    operation: 'too-much',
    status: 'declined',
    amount: '101',
    reason: 'The amount is more than what is left of the payment.',
  });
  expect((await simulator.operate(reference, 'refund', 'the-rest', '100')).body.status).toBe('done');
  expect((await simulator.movements(reference)).sort()).toEqual([
    'refund out 100 EUR',
    'refund out 300 EUR',
    'refund out 300 EUR',
    'refund out 300 EUR',
    'sale in 1000 EUR',
  ]);
});

test('refunds are limited by the captured amount, not by the authorised amount', async () => {
  const reference = await authorised();
  await simulator.operate(reference, 'capture', 'capture', '600');
  expect((await simulator.operate(reference, 'refund', 'refund-1', '601')).body.status).toBe('declined');
  expect((await simulator.operate(reference, 'refund', 'refund-2', '600')).body.status).toBe('done');
});

/** The operations that each state of a payment allows. */
const TABLE: [name: string, fields: Record<string, unknown>, can: string[]][] = [
  ['an authorised payment', { capture: false }, ['capture', 'void']],
  ['a settled payment', {}, ['refund']],
  ['a payment that waits for its payer', { brand: 'upi-a' }, ['void']],
  ['a payment on the provider’s page', { brand: 'bank-a' }, ['void']],
  ['a payout that is not sent yet', { direction: 'out' }, ['void']],
  ['a declined payment', { identifier: 'decline@example.com' }, []],
];
test.each(
  TABLE.flatMap(([name, fields, can]) =>
    ['capture', 'void', 'refund'].map((kind) => ({ name, fields, kind, can: can.includes(kind) })),
  ),
)('$kind of $name: $can', async ({ fields, kind, can }) => {
  const reference = await submitted(fields);
  const { body } = await simulator.operate(reference, kind, 'op', '1000');
  expect(body).toMatchObject(can ? { status: 'done' } : { status: 'declined', reason: expect.stringMatching(/\.$/) });
});

test('refuses to capture more than the authorised amount', async () => {
  const reference = await authorised();
  const reason = 'The amount is more than was authorised.';
  expect((await simulator.operate(reference, 'capture', 'op', '1001')).body).toMatchObject({
    status: 'declined',
    reason,
  });
  expect((await simulator.query(reference)).body.status).toBe('authorised');
});

test('a voided payment cannot be approved, executed or captured', async () => {
  const reference = await submitted({ brand: 'upi-a' });
  expect((await simulator.operate(reference, 'void', 'op')).body).toEqual({
    operation: 'op',
    status: 'done',
    amount: '1000',
  });
  const { payer_page } = await simulator.details(reference);
  await simulator.decide(payer_page, { decision: 'approve' });
  expect((await simulator.control(reference, { provider_status: 'executed' })).status).toBe(409);
  expect((await simulator.operate(reference, 'capture', 'capture', '1000')).body.status).toBe('declined');
  expect((await simulator.query(reference)).body.status).toBe('voided');
  expect(await simulator.movements(reference)).toEqual([]);
});

test('a voided payout is not sent, and a sent payout cannot be refunded', async () => {
  const slow = await startTestSimulator({ delayMs: 5000 });
  onTestFinished(() => slow.close());
  const voided = (await slow.submit({ direction: 'out' })).body.reference;
  expect((await slow.operate(voided, 'void', 'op')).body.status).toBe('done');
  const sent = (await slow.submit({ direction: 'out' })).body.reference;
  await waitUntil(async () => (await slow.query(sent)).body.status === 'settled');
  expect((await slow.operate(sent, 'refund', 'op', '1')).body.status).toBe('declined');
  expect(await slow.movements(voided)).toEqual([]);
});

test('a chargeback takes only what was not refunded, and leaves nothing to refund', async () => {
  const reference = await submitted();
  await simulator.operate(reference, 'refund', 'refund', '300');
  await simulator.control(reference, { chargeback: true });
  expect((await simulator.operate(reference, 'refund', 'another', '1')).body.status).toBe('declined');
  expect(await simulator.movements(reference)).toEqual([
    'sale in 1000 EUR',
    'refund out 300 EUR',
    'chargeback out 700 EUR',
  ]);
});

test('an unknown payment or operation is 404, a malformed one is 400', async () => {
  const reference = await submitted();
  expect((await simulator.operate(newReference(), 'refund', 'op', '1')).status).toBe(404);
  expect((await simulator.call('GET', `/v1/payments/${reference}/operations/none`)).status).toBe(404);
  expect((await simulator.operate(reference, 'reverse', 'op', '1')).status).toBe(404);
  expect((await simulator.operate(reference, 'refund', 'op')).status).toBe(400);
  expect((await simulator.operate(reference, 'refund', 'op', '-1')).status).toBe(400);
});
