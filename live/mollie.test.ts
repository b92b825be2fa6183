/** The connector `mollie` against the test mode of Mollie, through a proxy that loses calls; a person pays on the test pages. */
import type { Payment } from '@mollie/api-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Connector, Outcome } from '../src/connectors/connector.ts';
import { mollie } from '../src/connectors/mollie/index.ts';
import { minorUnits } from '../src/lib/money/money.ts';
import { Deadline } from '../src/lib/time/deadline.ts';
import { conforms, type ProviderDouble, type Webhook } from '../test/conformance/conforms.ts';
import { testOperation, testSubmission } from '../test/support/submissions.ts';
import { startFaultyProxy } from './faulty-proxy.ts';
import { untilPaid } from './payer.ts';
import { startWebhookReceiver } from './webhooks.ts';

const KEY = process.env.MOLLIE_TEST_KEY ?? '';
const ORIGIN = process.env.MOLLIE_LIVE_ORIGIN ?? 'https://api.mollie.com';

/** Mollie wants an address that it can reach: that of the forwarder, or one that ignores its webhooks. */
const notifyUrl = process.env.LIVE_WEBHOOK_URL ?? 'https://example.org/webhook';
const hosted = { notifyUrl, returnUrl: () => 'https://example.org/', brand: 'card' };
const creditcard = { ...hosted, method: 'creditcard' };
const soon = (): Deadline => new Deadline(20_000);

const failure = (status: number) => ({ status, body: JSON.stringify({ status }) });

async function openLive(): Promise<ProviderDouble> {
  const receiver = process.env.LIVE_WEBHOOK_URL === undefined ? undefined : await startWebhookReceiver();
  /** Every payment that Mollie returned, by our reference. */
  const payments = new Map<string, Payment>();
  const proxy = await startFaultyProxy(
    ORIGIN,
    (method, path) => method === 'POST' && !path.includes('/customers'),
    { error_500: failure(500), rate_limited: failure(429) },
    (body) => {
      if (!body.startsWith('{')) return;
      const answer = JSON.parse(body) as Payment;
      if ((answer.resource as string) === 'payment')
        payments.set((answer.metadata as { reference: string }).reference, answer);
    },
  );
  const connector = mollie.create({
    credential: () => KEY,
    settings: {},
    apiBase: proxy.url,
    environment: 'sandbox',
  });
  const query = async (reference: string): Promise<Outcome> =>
    connector.query(
      testSubmission({ ...creditcard, reference, providerReference: payments.get(reference)?.id }),
      soon(),
    );
  const webhooks: Webhook[] = [];
  let wanted = 'Paid';
  return {
    connector,
    isSigned: false,
    isHosted: true,
    submission(outcome) {
      wanted = outcome === 'decline' ? 'Failed' : 'Paid (or Authorized, if Mollie offers it)';
      return creditcard;
    },
    fault: proxy.fault,
    async pay({ url, providerReference: id }) {
      const [reference] = [...payments].find(([, payment]) => payment.id === id) ?? [''];
      const returned = await untilPaid(
        url,
        `choose: ${wanted}`,
        async () => (await query(reference)).kind !== 'redirected',
      );
      // What Mollie documents, if its own webhook goes nowhere.
      if (!receiver) webhooks.push({ headers: {}, body: Buffer.from(`id=${id}`) });
      return returned;
    },
    async balance({ reference }) {
      if (!payments.has(reference)) return 0n;
      await query(reference);
      const { status, amount, amountCaptured, amountRefunded, captureMode } = payments.get(reference) as Payment;
      const units = (text = '0.00'): bigint => {
        const read = minorUnits(text, 2);
        return typeof read === 'bigint' ? read : 0n;
      };
      const isManual = (captureMode as string | undefined) === 'manual';
      if ((status as string) !== 'paid' && !isManual) return 0n;
      return units(isManual ? amountCaptured?.value : amount.value) - units(amountRefunded?.value);
    },
    webhooks: async () => (receiver ? receiver.take() : webhooks.splice(0)),
    async close() {
      await receiver?.close();
      await connector.close?.();
      await proxy.close();
    },
  };
}

// Refunds are carried out later by Mollie, so that the kit cannot wait for them; the tests below make one.
conforms('mollie (test mode)', openLive, ['refund']);

let live: ProviderDouble;
let connector: Connector;
beforeAll(async () => {
  live = await openLive();
  connector = live.connector;
});
afterAll(() => live.close());

test('a refund is accepted or done, found again, and never more than the payment', async () => {
  const submission = testSubmission({ ...creditcard, ...live.submission('success') });
  const outcome = await connector.submit(submission, soon());
  expect(outcome.kind).toBe('redirected');
  await live.pay(outcome as Extract<Outcome, { kind: 'redirected' }>);
  const { providerReference } = outcome as { providerReference: string };
  const refund = testOperation({ reference: submission.reference, providerReference, amount: 300n });
  await live.fault('lost_after');
  await expect(async () => connector.operate(refund, soon())).rejects.toThrow();
  const found = await connector.queryOperation(refund, soon());
  expect(['accepted', 'done']).toContain(found.kind);
  const tooMuch = { ...refund, operation: `${refund.operation}-2`, amount: 701n };
  expect(await connector.operate(tooMuch, soon())).toMatchObject({ kind: 'declined' });
});

test('a first payment leaves a mandate, and its repetition is accepted', async () => {
  const submission = testSubmission({ ...creditcard, ...live.submission('success'), isFirstOfSeries: true });
  const outcome = await connector.submit(submission, soon());
  await live.pay(outcome as Extract<Outcome, { kind: 'redirected' }>);
  const { providerReference } = outcome as { providerReference: string };
  const paid = await connector.query({ ...submission, providerReference }, soon());
  const { state = {}, paymentMethod } = paid as Exclude<Outcome, { kind: 'notFound' }>;
  const first = { state, secretState: {}, paymentMethod };
  const repetition = testSubmission({ ...hosted, recurringOf: submission.reference, first });
  await live.fault('lost_after');
  expect(['accepted', 'settled']).toContain((await connector.submit(repetition, soon())).kind);
  expect(['accepted', 'settled']).toContain((await connector.query(repetition, soon())).kind);
});
