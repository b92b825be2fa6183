/** The connector `paypal` against the sandbox of PayPal, through a proxy that loses calls; a person pays on PayPal's pages. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Connector, Outcome, Submission } from '../src/connectors/connector.ts';
import { fromPaypal } from '../src/connectors/paypal/amounts.ts';
import { paypal } from '../src/connectors/paypal/index.ts';
import { refundsOf } from '../src/connectors/paypal/outcomes.ts';
import type { Capture, Order } from '../src/connectors/paypal/types.ts';
import { Deadline } from '../src/lib/time/deadline.ts';
import { conforms, type ProviderDouble } from '../test/conformance/conforms.ts';
import { testOperation, testSubmission } from '../test/support/submissions.ts';
import { startFaultyProxy } from './faulty-proxy.ts';
import { awaitingOutcomes } from './operations.ts';
import { untilPaid } from './payer.ts';
import { startWebhookReceiver } from './webhooks.ts';

const CREDENTIALS: Readonly<Record<string, string>> = {
  client_id: process.env.PAYPAL_TEST_CLIENT_ID ?? '',
  client_secret: process.env.PAYPAL_TEST_CLIENT_SECRET ?? '',
  webhook_id: process.env.PAYPAL_WEBHOOK_ID ?? '',
};
const isWithWebhooks = process.env.LIVE_WEBHOOK_PORT !== undefined;
const OTHER_ORIGIN = process.env.PAYPAL_LIVE_ORIGIN;
const byWallet: Partial<Submission> = { brand: 'paypal', method: 'paypal', returnUrl: () => 'https://example.org/' };
const soon = (): Deadline => new Deadline(20_000);

const open = (apiBase: string | undefined): Connector =>
  paypal.create({ credential: (name) => CREDENTIALS[name] ?? '', settings: {}, apiBase, environment: 'sandbox' });

/** The calls that PayPal is told to refuse (https://developer.paypal.com/tools/sandbox/negative-testing/request-headers/). */
const COMPLETION = /^\/v2\/checkout\/orders\/\w+\/(capture|authorize)$/;
const REFUND = /^\/v2\/payments\/captures\/\w+\/refund$/;
type Mock = { path: RegExp; issue: string };

interface LivePaypal extends ProviderDouble {
  /** Tells PayPal to refuse calls by this issue, until it is told otherwise. */
  mock(mock: Mock | undefined): void;
}

type Booked = Order & { purchase_units?: { custom_id?: string }[] };
const failure = (status: number, name: string) => ({ status, body: JSON.stringify({ name }) });
const units = (money: Capture['amount']): bigint => {
  const read = fromPaypal(money);
  return read === 'invalid' ? 0n : read.amount;
};
const sum = (entries: readonly Pick<Capture, 'amount' | 'status'>[], isCounted: (status: string) => boolean): bigint =>
  entries.filter(({ status }) => isCounted(status)).reduce((total, { amount }) => total + units(amount), 0n);

async function livePaypal(): Promise<LivePaypal> {
  const receiver = await startWebhookReceiver();
  /** What PayPal last said about each order, by its id. */
  const orders = new Map<string, Booked>();
  let mock: Mock | undefined;
  const proxy = await startFaultyProxy(
    OTHER_ORIGIN ?? 'https://api-m.sandbox.paypal.com',
    (method, path) => method === 'POST' && path !== '/v1/oauth2/token',
    { error_500: failure(500, 'INTERNAL_SERVER_ERROR'), rate_limited: failure(429, 'RATE_LIMIT_REACHED') },
    (body) => {
      const answer = body.startsWith('{') ? (JSON.parse(body) as Booked) : undefined;
      if (answer?.purchase_units) orders.set(answer.id, answer);
    },
    (_, path): Record<string, string> =>
      mock?.path.test(path) ? { 'paypal-mock-response': JSON.stringify({ mock_application_codes: mock.issue }) } : {},
  );
  const proxied = open(proxy.url);
  // The certificates of webhooks come from PayPal's own hosts.
  const direct = open(OTHER_ORIGIN);
  const query = async (order: string): Promise<Outcome> =>
    proxied.query(testSubmission({ ...byWallet, state: { order } }), soon());
  let paidOnPage = '';
  return {
    connector: { ...awaitingOutcomes(proxied), readNotifications: direct.readNotifications },
    isSigned: true,
    isHosted: true,
    submission(outcome) {
      mock = outcome === 'decline' ? { path: COMPLETION, issue: 'INSTRUMENT_DECLINED' } : undefined;
      return byWallet;
    },
    mock: (next) => {
      mock = next;
    },
    fault: proxy.fault,
    pay({ url, providerReference: id = '' }) {
      paidOnPage = id;
      return untilPaid(url, 'pay with a personal sandbox account', async () => (await query(id)).kind !== 'redirected');
    },
    async balance({ reference }) {
      let balance = 0n;
      for (const { id, purchase_units: [unit] = [] } of [...orders.values()]) {
        if (unit?.custom_id !== reference) continue;
        await query(id);
        const order = orders.get(id) as Booked;
        const captured = sum(order.purchase_units?.[0]?.payments?.captures ?? [], (status) =>
          ['COMPLETED', 'PARTIALLY_REFUNDED', 'REFUNDED'].includes(status),
        );
        balance += captured - sum(refundsOf(order), (status) => status === 'COMPLETED');
      }
      return balance;
    },
    webhooks: () => receiver?.take(paidOnPage) ?? Promise.resolve([]),
    async close() {
      await receiver?.close();
      await direct.close?.();
      await proxied.close?.();
      await proxy.close();
    },
  };
}

conforms('paypal (sandbox)', livePaypal, isWithWebhooks ? [] : ['redirect']);

let live: LivePaypal;
beforeAll(async () => {
  live = await livePaypal();
});
afterAll(() => live.close());

/** A payment that its payer has approved on PayPal's page. */
async function approved(changes: Partial<Submission> = {}): Promise<Submission> {
  const submission = testSubmission({ ...live.submission('success'), ...changes });
  const outcome = await live.connector.submit(submission, soon());
  expect(outcome.kind).toBe('redirected');
  await live.pay(outcome as Extract<Outcome, { kind: 'redirected' }>);
  return { ...submission, state: (outcome as Extract<Outcome, { kind: 'redirected' }>).state ?? {} };
}
const capture = async (submission: Submission): Promise<Extract<Outcome, { kind: 'settled' }>> =>
  (await live.connector.resume?.(submission, {}, soon())) as Extract<Outcome, { kind: 'settled' }>;

test('refusals that PayPal is told to give move no money, and the same calls succeed after them', async () => {
  const submission = await approved();
  live.mock({ path: COMPLETION, issue: 'DUPLICATE_INVOICE_ID' });
  expect(await capture(submission)).toMatchObject({ kind: 'unknown' });
  live.mock(undefined);
  const { kind, state = {}, providerReference } = await capture(submission);
  expect(kind).toBe('settled');
  const refund = testOperation({ reference: submission.reference, providerReference, state, amount: 300n });
  live.mock({ path: REFUND, issue: 'REFUND_FAILED_INSUFFICIENT_FUNDS' });
  expect(await live.connector.operate(refund, soon())).toMatchObject({ kind: 'declined' });
  live.mock({ path: REFUND, issue: 'INTERNAL_SERVER_ERROR' });
  await expect(async () => live.connector.operate(refund, soon())).rejects.toThrow();
  expect(await live.balance(submission)).toBe(submission.amount);
  live.mock(undefined);
  expect(await live.connector.operate(refund, soon())).toMatchObject({ kind: 'done' });
  expect(await live.balance(submission)).toBe(700n);
});

test('a first payment leaves a token, and its repetition is made once', async () => {
  const submission = await approved({ isFirstOfSeries: true });
  const { kind, state = {}, paymentMethod } = await capture(submission);
  expect(kind).toBe('settled');
  const first = { state, secretState: {}, paymentMethod };
  const repetition = testSubmission({ ...byWallet, recurringOf: submission.reference, first });
  await live.fault('lost_after');
  expect(await live.connector.submit(repetition, soon())).toMatchObject({ kind: 'settled' });
  expect(await live.balance(repetition)).toBe(repetition.amount);
});
