/** The settings of connections to Stripe: connected accounts, and the payment method configuration. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Connector, Outcome, Submission } from '../../../src/connectors/connector.ts';
import { shareForStripe } from '../../../src/connectors/stripe/amounts.ts';
import { stripe } from '../../../src/connectors/stripe/cards.ts';
import { stripeHosted } from '../../../src/connectors/stripe/hosted.ts';
import { Deadline } from '../../../src/lib/time/deadline.ts';
import { STRIPE_CARDS, STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../../doubles/stripe.ts';
import { testCard, testOperation, testSubmission } from '../../support/submissions.ts';

const ACCOUNT = 'acct_1032D82eZvKYlo2C';
const SELLER = 'acct_1O2pKEIZ2pbVjjWS';
const CONFIGURATION = 'pmc_1O2pKEIZ2pbVjjWS';

let double: StripeDouble;
const opened: Connector[] = [];
const open = (definition: typeof stripe, settings: Record<string, unknown>): Connector => {
  const connector = definition.create({
    credential: (name) => STRIPE_CREDENTIALS[name as keyof typeof STRIPE_CREDENTIALS],
    settings,
    apiBase: double.url,
    environment: 'sandbox',
  });
  opened.push(connector);
  return connector;
};
beforeAll(async () => {
  double = await startStripe();
});
beforeEach(() => {
  double.requests.splice(0);
});
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close?.()));
  await double.close();
});

const soon = (): Deadline => new Deadline(30_000);
const sale = (changes: Partial<Submission> = {}): Submission =>
  testSubmission({ brand: 'card', method: 'card', card: testCard(STRIPE_CARDS.success), ...changes });
const onPage = (changes: Partial<Submission> = {}): Submission =>
  testSubmission({ brand: 'hosted-a', method: 'card', ...changes });
const fieldsOf = (kind: string) => double.requests.findLast((request) => request.kind === kind)?.fields;
type Answer = Extract<Outcome, { kind: 'settled' | 'authorised' | 'redirected' }>;

describe('connected accounts', () => {
  const CONNECTED = { on_behalf_of: ACCOUNT, transfer_destination: SELLER, application_fee_percent: '2.5' };
  const SENT = { on_behalf_of: ACCOUNT, transfer_data: { destination: SELLER }, application_fee_amount: 25 };

  test('a payment names whom it is for, who gets the money, and what the platform keeps', async () => {
    await open(stripe, CONNECTED).submit(sale(), soon());
    expect(fieldsOf('PaymentIntentCreate')).toMatchObject(SENT);
    await open(stripeHosted, CONNECTED).submit(onPage(), soon());
    expect(fieldsOf('SessionCreate')?.payment_intent_data).toMatchObject(SENT);
  });

  test.each([
    [{ on_behalf_of: ACCOUNT }, { on_behalf_of: ACCOUNT }],
    [{ transfer_destination: SELLER }, { transfer_data: { destination: SELLER } }],
    [{ transfer_destination: SELLER, application_fee_percent: '0.01' }, { transfer_data: { destination: SELLER } }],
    [{ application_fee_percent: '2.5' }, {}],
    [{}, {}],
  ])('each setting counts by itself, and a fee needs a receiver: %j', async (settings, expected) => {
    await open(stripe, settings).submit(sale(), soon());
    const { on_behalf_of, transfer_data, application_fee_amount } = fieldsOf('PaymentIntentCreate') ?? {};
    expect({ on_behalf_of, transfer_data, application_fee_amount }).toEqual(expected);
  });

  test('a refund takes the money back from the receiver, whatever the settings are by then', async () => {
    const paid = (await open(stripe, CONNECTED).submit(sale(), soon())) as Answer;
    const { providerReference, state = {} } = paid;
    const later = open(stripe, {});
    const refund = testOperation({ verb: 'refund', amount: 400n, providerReference, state });
    expect(await later.operate(refund, soon())).toMatchObject({ kind: 'done' });
    expect(fieldsOf('RefundCreate')).toMatchObject({ reverse_transfer: true, refund_application_fee: true });
  });

  test('a refund of a payment without a fee, or of one without a receiver, asks for no more than there is', async () => {
    for (const [settings, expected] of [
      [{ transfer_destination: SELLER }, { reverse_transfer: true }],
      [{}, {}],
    ] as const) {
      const { providerReference, state = {} } = (await open(stripe, settings).submit(sale(), soon())) as Answer;
      const refund = testOperation({ verb: 'refund', providerReference, state });
      expect(await open(stripe, CONNECTED).operate(refund, soon())).toMatchObject({ kind: 'done' });
      const { reverse_transfer, refund_application_fee } = fieldsOf('RefundCreate') ?? {};
      expect({ reverse_transfer, refund_application_fee }).toEqual(expected);
    }
  });

  test('a capture of a part has the same part of the fee, and one of the whole leaves it', async () => {
    const connector = open(stripe, CONNECTED);
    const captured = async (amount: bigint) => {
      const held = (await connector.submit(sale({ authoriseOnly: true }), soon())) as Answer;
      const { providerReference, state = {} } = held;
      const capture = testOperation({ verb: 'capture', amount, paymentAmount: 1000n, providerReference, state });
      expect(await connector.operate(capture, soon())).toMatchObject({ kind: 'done' });
      return fieldsOf('PaymentIntentCapture');
    };
    expect(await captured(500n)).toMatchObject({ amount_to_capture: 500, application_fee_amount: 12 });
    expect(await captured(1000n)).not.toHaveProperty('application_fee_amount');
  });

  test('a payment on the page keeps its session, and is refunded in the same way', async () => {
    const connector = open(stripeHosted, CONNECTED);
    const submission = onPage();
    const { url, state = {} } = (await connector.submit(submission, soon())) as Extract<
      Outcome,
      { kind: 'redirected' }
    >;
    await double.pay(url);
    const paid = (await connector.query({ ...submission, state }, soon())) as Answer;
    expect(paid).toMatchObject({ kind: 'settled', state: { ...state, hasTransfer: true, applicationFee: 25 } });
    const { providerReference, state: stored = {} } = paid;
    await connector.operate(testOperation({ verb: 'refund', providerReference, state: stored }), soon());
    expect(fieldsOf('RefundCreate')).toMatchObject({ reverse_transfer: true, refund_application_fee: true });
  });

  test.each([
    ['EUR', 999n, 24],
    ['JPY', 999n, 24],
    // Stripe takes three decimals only if the last is zero, and no decimals of MGA.
    ['KWD', 9990n, 240],
    ['MGA', 99900n, 24],
    // It counts two decimals of ISK.
    ['ISK', 999n, 2400],
    ['EUR', 10n, 0],
  ])('a share is rounded down to what Stripe can charge: %s %s', (currency, amount, expected) => {
    expect(shareForStripe(amount, currency, 250n, 10_000n)).toBe(expected);
  });
});

test('the page ends with the payer’s time, or within the hour if Stripe would not take it', async () => {
  const connector = open(stripeHosted, {});
  const endOf = async (payerUntil?: number): Promise<number> => {
    await connector.submit(onPage({ payerUntil }), soon());
    return Number(fieldsOf('SessionCreate')?.expires_at);
  };
  const now = Date.now();
  expect(await endOf(now + 120 * 60_000)).toBe(Math.floor((now + 120 * 60_000) / 1000));
  for (const payerUntil of [undefined, now + 15 * 60_000, now + 25 * 3_600_000]) {
    const before = Date.now() / 1000;
    const end = await endOf(payerUntil);
    expect(end).toBeGreaterThan(before + 30 * 60);
    expect(end).toBeLessThanOrEqual(Date.now() / 1000 + 60 * 60);
  }
});

describe('the payment method configuration', () => {
  const SETTINGS = { payment_method_configuration: CONFIGURATION };

  test('decides on the page what payers may choose from, and nothing if the method is given', async () => {
    const connector = open(stripeHosted, SETTINGS);
    await connector.submit(onPage({ method: 'automatic' }), soon());
    expect(fieldsOf('SessionCreate')).toMatchObject(SETTINGS);
    await connector.submit(onPage(), soon());
    expect(fieldsOf('SessionCreate')).not.toHaveProperty('payment_method_configuration');
  });

  test('decides which methods the check finds active', async () => {
    double.configurations = { [CONFIGURATION]: ['ideal'] };
    for (const definition of [stripe, stripeHosted]) {
      expect(await open(definition, SETTINGS).check?.(soon())).toMatchObject({ ok: true, activeMethods: ['ideal'] });
      const byDefault = await open(definition, {}).check?.(soon());
      expect(byDefault?.activeMethods).toEqual(expect.arrayContaining(['card', 'ideal']));
    }
  });

  test('that the account does not have fails the check', async () => {
    double.configurations = {};
    expect(await open(stripe, SETTINGS).check?.(soon())).toEqual({
      ok: false,
      detail: `The account has no active payment method configuration ${CONFIGURATION}.`,
    });
  });
});
