/** The connector `checkout` against the sandbox of Checkout.com, through a proxy that loses calls and answers. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkoutCom } from '../src/connectors/checkout-com/index.ts';
import type { Payment } from '../src/connectors/checkout-com/types.ts';
import type { Connector, Outcome, Submission } from '../src/connectors/connector.ts';
import { Deadline } from '../src/lib/time/deadline.ts';
import { conforms, type ProviderDouble } from '../test/conformance/conforms.ts';
import { testCard, testSubmission } from '../test/support/submissions.ts';
import { startFaultyProxy } from './faulty-proxy.ts';
import { acceptsOperations, awaitingOutcomes } from './operations.ts';
import { untilPaid } from './payer.ts';
import { startWebhookReceiver } from './webhooks.ts';

const CREDENTIALS: Readonly<Record<string, string>> = {
  secret_key: process.env.CHECKOUT_TEST_KEY ?? '',
  processing_channel_id: process.env.CHECKOUT_TEST_CHANNEL ?? '',
  webhook_secret: process.env.CHECKOUT_WEBHOOK_SECRET ?? '',
};
const isWithPayer = process.env.LIVE_PAYER !== undefined;
const isWithWebhooks = process.env.LIVE_WEBHOOK_PORT !== undefined && CREDENTIALS.webhook_secret !== '';
const PREFIX = process.env.CHECKOUT_API_PREFIX;
const ORIGIN = process.env.CHECKOUT_LIVE_ORIGIN ?? `https://${PREFIX ? `${PREFIX}.` : ''}api.sandbox.checkout.com`;

/** Test cards (https://www.checkout.com/docs/developer-resources/testing/test-cards); the second has insufficient funds. */
const CARDS = {
  success: '4242424242424242',
  decline: '4544249167673670',
  redirect: '4543474002249996',
} as const;

const PATIENCE_MS = 60_000;
const STEP_MS = 1000;
const soon = (): Deadline => new Deadline(20_000);

const open = (apiBase: string): Connector =>
  checkoutCom.create({ credential: (name) => CREDENTIALS[name] ?? '', settings: {}, apiBase, environment: 'sandbox' });

/** The sandbox authenticates the payer of every card, so that only the payments with a payer ask for it. */
const byCard = (outcome: keyof typeof CARDS): Partial<Submission> => ({
  brand: 'card',
  method: 'card',
  card: testCard(CARDS[outcome]),
  ...(outcome !== 'redirect' && { threeDs: { requested: 'none', reason: 'skip_3ds' } }),
});

type Booked = Payment & { balances?: { total_captured?: number; total_refunded?: number } };

const failure = (status: number) => ({ status, body: '{}' });

async function liveCheckout(): Promise<ProviderDouble> {
  const receiver = await startWebhookReceiver();
  /** What Checkout.com last said about each payment, by its id. */
  const payments = new Map<string, Booked>();
  const proxy = await startFaultyProxy(
    ORIGIN,
    (method) => method === 'POST',
    { error_500: failure(500), rate_limited: failure(429) },
    (body) => {
      const answer = body.startsWith('{') ? (JSON.parse(body) as Booked) : undefined;
      if (answer?.id?.startsWith('pay_')) payments.set(answer.id, { ...payments.get(answer.id), ...answer });
    },
  );
  const proxied = open(proxy.url);
  /** The payments of a reference as they are now; a sale is captured a moment after its answer. */
  const booked = async (reference: string, isSale: boolean): Promise<Booked[]> => {
    const ids = [...payments.values()].filter((each) => each.reference === reference).map(({ id }) => id);
    const read = async (id: string): Promise<Booked> => {
      await proxied.query(testSubmission({ reference, providerReference: id }), soon());
      return payments.get(id) as Booked;
    };
    return Promise.all(
      ids.map(async (id) => {
        let found = await read(id);
        for (let waited = 0; isSale && found.status === 'Authorized' && waited < PATIENCE_MS; waited += STEP_MS) {
          await setTimeout(STEP_MS);
          found = await read(id);
        }
        return found;
      }),
    );
  };
  const awaiting = awaitingOutcomes(proxied);
  let paidOnPage = '';
  return {
    connector: {
      ...awaiting,
      async operate(operation, deadline) {
        // What is not captured yet cannot be refunded.
        if (operation.verb === 'refund') await booked(operation.reference, true);
        return awaiting.operate(operation, deadline);
      },
    },
    isSigned: true,
    submission: byCard,
    fault: proxy.fault,
    pay({ url, providerReference: id = '' }) {
      paidOnPage = id;
      return untilPaid(url, 'complete the authentication (password Checkout1!)', async () => {
        const { kind } = await proxied.query(testSubmission({ providerReference: id }), soon());
        return kind !== 'redirected';
      });
    },
    async balance({ reference, authoriseOnly }) {
      const found = await booked(reference, !authoriseOnly);
      const held = ({ balances }: Booked) => (balances?.total_captured ?? 0) - (balances?.total_refunded ?? 0);
      return found.reduce((sum, payment) => sum + BigInt(held(payment)), 0n);
    },
    webhooks: () => receiver?.take(paidOnPage) ?? Promise.resolve([]),
    async close() {
      await receiver?.close();
      await proxied.close?.();
      await proxy.close();
    },
  };
}

conforms('checkout (sandbox)', liveCheckout, isWithPayer && isWithWebhooks ? [] : ['redirect']);

acceptsOperations(
  'Checkout.com',
  () => open(ORIGIN),
  () => byCard('success'),
  isWithWebhooks,
);

let live: ProviderDouble;
beforeAll(async () => {
  live = await liveCheckout();
});
afterAll(() => live.close());

test('Checkout.com returns an address for a payer who has to authenticate', async () => {
  const outcome = await live.connector.submit(testSubmission(byCard('redirect')), soon());
  expect(outcome).toMatchObject({ kind: 'redirected', url: expect.stringMatching(/^https?:/) });
});

test.skipIf(!isWithPayer)('a payer who has authenticated has paid', async () => {
  const submission = testSubmission(byCard('redirect'));
  const outcome = (await live.connector.submit(submission, soon())) as Extract<Outcome, { kind: 'redirected' }>;
  await live.pay(outcome);
  const { providerReference } = outcome;
  expect(await live.connector.query({ ...submission, providerReference }, soon())).toMatchObject({ kind: 'settled' });
  expect(await live.balance(submission)).toBe(submission.amount);
});

test('a card with insufficient funds is declined by its code', async () => {
  const outcome = await live.connector.submit(testSubmission(byCard('decline')), soon());
  expect(outcome).toMatchObject({ kind: 'declined', decline: { code: expect.stringMatching(/^(200)?51$/) } });
});

test('a first payment leaves a token, and its repetition is made once', async () => {
  const submission = testSubmission({ ...byCard('success'), isFirstOfSeries: true });
  const outcome = (await live.connector.submit(submission, soon())) as Extract<Outcome, { kind: 'settled' }>;
  expect(outcome.kind).toBe('settled');
  const { providerReference, paymentMethod } = outcome;
  const first = { state: {}, secretState: {}, providerReference, paymentMethod };
  const repetition = testSubmission({ brand: 'card', method: 'card', recurringOf: submission.reference, first });
  await live.fault('lost_after');
  expect(await live.connector.submit(repetition, soon())).toMatchObject({ kind: 'settled' });
  expect(await live.balance(repetition)).toBe(repetition.amount);
});
