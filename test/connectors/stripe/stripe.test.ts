/** What the connectors of Stripe send, and how they read what Stripe answers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import type Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Connector, NotSent, type Outcome, type Submission } from '../../../src/connectors/connector.ts';
import { stripe } from '../../../src/connectors/stripe/cards.ts';
import { declinedBy } from '../../../src/connectors/stripe/declines.ts';
import { stripeHosted } from '../../../src/connectors/stripe/hosted.ts';
import { newId } from '../../../src/lib/crypto/id.ts';
import { Deadline } from '../../../src/lib/time/deadline.ts';
import { DECLINE_CAUSES } from '../../../src/rules/reasons.ts';
import { STRIPE_CARDS, STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../../doubles/stripe.ts';
import * as objects from '../../doubles/stripe-objects.ts';
import { checkRequest, readForm } from '../../doubles/stripe-requests.ts';
import { REFUSED_EMAIL, testCard, testOperation, testSubmission } from '../../support/submissions.ts';

let double: StripeDouble;
let cards: Connector;
let hosted: Connector;
const access = (key = STRIPE_CREDENTIALS.secret_key) => ({
  credential: (name: string) => (name === 'secret_key' ? key : STRIPE_CREDENTIALS.webhook_secret),
  settings: {},
  apiBase: double.url,
  environment: 'sandbox' as const,
});
beforeAll(async () => {
  double = await startStripe();
  cards = stripe.create(access());
  hosted = stripeHosted.create(access());
});
beforeEach(() => {
  double.requests.splice(0);
  double.received.splice(0);
});
afterAll(async () => {
  await cards.close?.();
  await hosted.close?.();
  await double.close();
});

type Answer = Exclude<Outcome, { kind: 'notFound' }>;
const soon = (): Deadline => new Deadline(30_000);
const cardSale = (number: string, changes: Partial<Submission> = {}): Submission =>
  testSubmission({ brand: 'card', method: 'card', card: testCard(number), ...changes });
const hostedSale = (changes: Partial<Submission> = {}): Submission =>
  testSubmission({ brand: 'hosted-a', method: 'card', ...changes });
/** The submission as a later call gets it: with what the gateway stored, without the card. */
const later = (submission: Submission, outcome: Outcome): Submission => {
  const { providerReference, state = {} } = outcome as Answer;
  return { ...submission, card: undefined, providerReference, state };
};
const kinds = (): string[] => double.requests.map(({ kind }) => kind);
const fieldsOf = (kind: string) => double.requests.find((request) => request.kind === kind)?.fields;
const thrownBy = async (call: () => unknown): Promise<unknown> => {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

describe('the schemas of the SDK', () => {
  const PAYMENT = 'amount=1000&currency=eur&allowed_payment_method_types[0]=card&capture_method=manual';
  const check = (form: string, path = '/v1/payment_intents') => checkRequest('POST', path, form).problems;

  test('accept what Stripe documents', () => {
    expect(check(PAYMENT)).toEqual([]);
    expect(check('line_items[0][quantity]=1&line_items[0][price_data][currency]=eur', '/v1/checkout/sessions')).toEqual(
      [],
    );
  });

  test.each([
    ['an unknown field', `${PAYMENT}&colour=red`],
    ['a field that the pinned version removed', `${PAYMENT}&payment_method_types[0]=card`],
    ['an unknown nested field', `${PAYMENT}&transfer_data[colour]=red&transfer_data[destination]=acct_1`],
    ['a value that is not in the list', PAYMENT.replace('manual', 'later')],
    ['a wrong type', PAYMENT.replace('1000', '10.00 EUR')],
    ['a missing field', PAYMENT.replace('amount=1000&', '')],
    ['a text in place of a list', `${PAYMENT}&expand=latest_charge`],
  ])('refuse %s', (_, form) => {
    expect(check(form)).not.toEqual([]);
  });

  test('refuse calls that the API does not have', () => {
    expect(check(PAYMENT, '/v1/payments')).not.toEqual([]);
    expect(readForm('a[0][b]=1&a[1][b]=2')).toEqual({ a: [{ b: '1' }, { b: '2' }] });
  });
});

describe('a card payment', () => {
  test('is created without the card, and confirmed with it', async () => {
    const submission = cardSale(STRIPE_CARDS.success);
    const outcome = await cards.submit(submission, soon());
    expect(outcome).toMatchObject({
      kind: 'settled',
      providerReference: expect.stringMatching(/^pi_/),
      reportedAmount: { amount: 1000n, currency: 'EUR' },
      fee: { amount: 40n, currency: 'EUR' },
      networkTransactionId: '761089710106120',
    });
    expect(outcome).not.toHaveProperty('paymentMethod');
    expect(kinds().toSorted()).toEqual(['PaymentIntentConfirm', 'PaymentIntentCreate', 'PaymentMethodCreate']);
    expect(fieldsOf('PaymentIntentCreate')).toEqual({
      amount: 1000,
      currency: 'eur',
      allowed_payment_method_types: ['card'],
      capture_method: 'automatic',
      description: 'Two teapots',
      metadata: { turnpike_reference: submission.reference, turnpike_connector: 'stripe' },
    });
    expect(fieldsOf('PaymentMethodCreate')).toEqual({
      type: 'card',
      card: { number: STRIPE_CARDS.success, exp_month: 12, exp_year: 2038, cvc: '123' },
      billing_details: { name: 'Asha Rao', email: 'asha@example.com', address: { country: 'DE' } },
    });
    for (const { headers } of double.requests) {
      expect(headers['stripe-version']).toBe('2026-10-28.endive');
      expect(headers['x-stripe-client-telemetry']).toBeUndefined();
      expect(headers['idempotency-key']).toMatch(new RegExp(`^${submission.reference}-call-\\d$`));
    }
  });

  test.each([
    [{ requested: 'challenge', reason: 'require_3ds' }, 'challenge'],
    [{ requested: 'none', reason: 'low_value' }, 'automatic'],
  ] as const)('has what a risk rule asks for, on the page of Stripe as well: %j', async (threeDs, wanted) => {
    const payment_method_options = { card: { request_three_d_secure: wanted } };
    await cards.submit({ ...cardSale(STRIPE_CARDS.success), threeDs }, soon());
    expect(fieldsOf('PaymentIntentConfirm')).toMatchObject({ payment_method_options });
    await hosted.submit(hostedSale({ threeDs, method: 'card' }), soon());
    expect(fieldsOf('SessionCreate')).toMatchObject({ payment_method_options });
    double.requests.length = 0;
    await hosted.submit(hostedSale({ threeDs, method: 'ideal' }), soon());
    expect(fieldsOf('SessionCreate')).not.toHaveProperty('payment_method_options');
  });

  test('of a telephone order is flagged, and without 3DS', async () => {
    const byPhone = { ...cardSale(STRIPE_CARDS.challenge), isTelephoneOrder: true } as const;
    const threeDs = { requested: 'challenge', reason: 'require_3ds' } as const;
    expect(await cards.submit({ ...byPhone, threeDs }, soon())).toMatchObject({ kind: 'settled' });
    expect(fieldsOf('PaymentIntentConfirm')).toMatchObject({ payment_method_options: { card: { moto: true } } });
    expect(fieldsOf('PaymentIntentConfirm')).not.toHaveProperty('payment_method_options.card.request_three_d_secure');
  });

  test('of a telephone order is not sent by an account that may not flag it', async () => {
    const byPhone = { ...cardSale(STRIPE_CARDS.success), isTelephoneOrder: true } as const;
    double.refusesTelephoneOrders = true;
    const error = await thrownBy(() => cards.submit(byPhone, soon()));
    double.refusesTelephoneOrders = false;
    expect(error).toBeInstanceOf(NotSent);
    expect(String(error)).toContain('enabled for telephone orders');
    expect(await cards.query(byPhone, soon())).toEqual({ kind: 'notFound' });
  });

  test('has the text for the statement, in the characters that Stripe takes', async () => {
    await cards.submit({ ...cardSale(STRIPE_CARDS.success), descriptor: 'Čaj "Süd" 12' }, soon());
    expect(fieldsOf('PaymentIntentCreate')).toMatchObject({ statement_descriptor_suffix: 'Caj Sud 12' });
  });

  test.each([
    ['a card', 'card', 'AB1', { statement_descriptor_suffix: 'AB1' }],
    ['whatever the payer chooses', 'automatic', 'My Shop 123', { statement_descriptor_suffix: 'My Shop 123' }],
    ['another method', 'ideal', 'My Shop 123', { statement_descriptor: 'My Shop 123' }],
    ['another method, of five characters', 'ideal', 'Shop1', { statement_descriptor: 'Shop1' }],
    ['another method, too short', 'ideal', 'Shop', {}],
    ['another method, too short without what Stripe refuses', 'ideal', '"Sho*"', {}],
    ['another method, digits only', 'ideal', '1234567', {}],
  ])('%s has the text for the statement that Stripe takes: %s, %s', async (_, method, descriptor, sent) => {
    const submission = hostedSale({ method, descriptor });
    expect(await hosted.submit(submission, soon())).toMatchObject({ kind: 'redirected' });
    const { payment_intent_data: intent } = fieldsOf('SessionCreate') as Stripe.Checkout.SessionCreateParams;
    const { statement_descriptor, statement_descriptor_suffix } = intent ?? {};
    expect({ statement_descriptor, statement_descriptor_suffix }).toEqual(sent);
  });

  test.each([
    ['is no e-mail address', 'n/a', { name: 'Asha Rao', address: { country: 'DE' } }],
    ['Stripe refuses', REFUSED_EMAIL, undefined],
  ])('is made although the payer’s e-mail %s', async (_, email, sent) => {
    const outcome = await cards.submit(
      { ...cardSale(STRIPE_CARDS.success), payer: { email, country: 'de', state: '' } },
      soon(),
    );
    expect(outcome).toMatchObject({ kind: 'settled' });
    const created = double.requests.filter(({ kind }) => kind === 'PaymentMethodCreate').at(-1)?.fields;
    expect((created as { billing_details?: object } | undefined)?.billing_details).toEqual(sent);
  });

  test('begins a series, and another method is confirmed, although Stripe refuses the payer’s e-mail', async () => {
    const payer = { email: REFUSED_EMAIL, country: 'de' };
    const series = { ...cardSale(STRIPE_CARDS.success), payer, isFirstOfSeries: true };
    expect(await cards.submit(series, soon())).toMatchObject({ kind: 'settled' });
    const byBank = testSubmission({ brand: 'ideal', method: 'ideal', payer });
    expect(await cards.submit(byBank, soon())).toMatchObject({ kind: 'redirected' });
    const needed = testSubmission({ brand: 'przelewy24', method: 'p24', payer });
    expect(await cards.submit(needed, soon())).toMatchObject({ kind: 'declined' });
  });

  test.each<[keyof typeof STRIPE_CARDS, keyof typeof DECLINE_CAUSES]>([
    ['declined', 'refusedByBank'],
    ['insufficientFunds', 'insufficientFunds'],
    ['stolen', 'lostOrStolen'],
    ['expired', 'expiredCard'],
    ['wrongCvc', 'wrongSecurityCode'],
    ['processingError', 'bankUnavailable'],
  ])('with the card “%s” is declined: %s', async (card, cause) => {
    const submission = cardSale(STRIPE_CARDS[card]);
    const outcome = await cards.submit(submission, soon());
    expect(outcome).toMatchObject({ kind: 'declined', ...DECLINE_CAUSES[cause] });
    expect(await cards.query(later(submission, outcome), soon())).toMatchObject({
      kind: 'declined',
      ...DECLINE_CAUSES[cause],
    });
  });

  test('whose 3DS fails is declined', async () => {
    const submission = cardSale(STRIPE_CARDS.challenge);
    const outcome = await cards.submit(submission, soon());
    expect(outcome).toMatchObject({ kind: 'redirected', method: 'GET' });
    expect(fieldsOf('PaymentIntentConfirm')).toMatchObject({ return_url: submission.returnUrl() });
    await double.pay((outcome as Extract<Outcome, { kind: 'redirected' }>).url, 'fail');
    expect(await cards.query(later(submission, outcome), soon())).toMatchObject({
      kind: 'declined',
      ...DECLINE_CAUSES.notAuthenticated,
    });
  });

  test('of another method goes to its page', async () => {
    const submission = testSubmission({ brand: 'bank-a', method: 'ideal' });
    expect(await cards.submit(submission, soon())).toMatchObject({ kind: 'redirected' });
    expect(fieldsOf('PaymentIntentConfirm')).toMatchObject({ payment_method_data: { type: 'ideal' } });
  });

  const PAYER = { first_name: 'Ana', last_name: 'Petrović', email: 'ana@example.com', country: 'at' };

  test.each(['bancontact', 'eps', 'klarna', 'mobilepay', 'p24', 'paypal', 'swish', 'twint'])(
    'of %s goes to its page with the data of the payer that it needs',
    async (method) => {
      const submission = testSubmission({ brand: method, method, payer: PAYER });
      expect(await cards.submit(submission, soon())).toMatchObject({ kind: 'redirected', method: 'GET' });
      expect(fieldsOf('PaymentIntentConfirm')).toMatchObject({
        payment_method_data: { type: method, billing_details: { name: 'Ana Petrović', email: 'ana@example.com' } },
      });
    },
  );

  test.each<[string, Partial<Submission>, object]>([
    ['blik', { parameters: () => ({ code: '777123' }) }, { payment_method_options: { blik: { code: '777123' } } }],
    [
      'mb_way',
      { payer: { phone: '+351 912 345 678' } },
      { payment_method_data: { billing_details: { phone: '+351912345678' } } },
    ],
  ])('of %s waits for the app of the payer', async (method, changes, sent) => {
    const submission = testSubmission({ brand: method, method, ...changes });
    expect(await cards.submit(submission, soon())).toMatchObject({ kind: 'accepted' });
    expect(fieldsOf('PaymentIntentConfirm')).toMatchObject(sent);
  });

  test('of a SEPA direct debit names the account, and that the payer agreed', async () => {
    const parameters = () => ({ iban: 'nl91 abna 0417 1643 00' });
    const submission = testSubmission({ brand: 'sepa-debit', method: 'sepa_debit', payer: PAYER, parameters });
    expect(await cards.submit(submission, soon())).toMatchObject({ kind: 'accepted' });
    expect(fieldsOf('PaymentIntentConfirm')).toMatchObject({
      payment_method_data: { type: 'sepa_debit', sepa_debit: { iban: 'NL91ABNA0417164300' } },
      mandate_data: { customer_acceptance: { type: 'offline' } },
    });
  });

  test.each<[string, Partial<Submission>]>([
    ['a payout', { isPayout: true }],
    ['a card payment without a card', { card: undefined }],
    ['an amount that Stripe cannot charge', { amount: 5125n, currency: 'KWD' }],
  ])('does not take %s', async (_, changes) => {
    expect(await cards.submit(cardSale(STRIPE_CARDS.success, changes), soon())).toMatchObject({
      kind: 'declined',
      ...DECLINE_CAUSES.methodUnavailable,
    });
    expect(double.requests).toEqual([]);
  });
});

describe('without an answer', () => {
  test('a lost connection is not retried by the SDK, and the payment is found by repeating the call', async () => {
    const submission = cardSale(STRIPE_CARDS.success);
    double.fault('lost_after');
    expect(await thrownBy(() => cards.submit(submission, soon()))).not.toBeInstanceOf(NotSent);
    expect(kinds().filter((kind) => kind === 'PaymentIntentConfirm')).toHaveLength(1);
    expect(await cards.query({ ...submission, card: undefined }, soon())).toMatchObject({ kind: 'settled' });
    expect(double.balance(submission.reference)).toBe(1000n);
  });

  test('a payment is also found when Stripe has forgotten the key', async () => {
    const submission = cardSale(STRIPE_CARDS.success);
    double.fault('lost_after');
    await thrownBy(() => cards.submit(submission, soon()));
    double.forgetKeys();
    expect(await cards.query({ ...submission, card: undefined }, soon())).toMatchObject({ kind: 'settled' });
    expect(kinds()).toContain('PaymentIntentSearch');
  });

  test('a submission under a reference that had another card is neither sent nor declined', async () => {
    const submission = cardSale(STRIPE_CARDS.success);
    await cards.submit(submission, soon());
    const repeated = { ...submission, card: testCard(STRIPE_CARDS.insufficientFunds) };
    expect(await thrownBy(() => cards.submit(repeated, soon()))).not.toBeInstanceOf(NotSent);
    expect(double.balance(submission.reference)).toBe(1000n);
  });

  test('a refund whose answer was lost is found behind a hundred others', async () => {
    const submission = cardSale(STRIPE_CARDS.success);
    const { providerReference } = (await cards.submit(submission, soon())) as { providerReference: string };
    const operation = testOperation({ verb: 'refund', reference: submission.reference, providerReference, amount: 5n });
    double.fault('lost_after');
    await thrownBy(() => cards.operate(operation, soon()));
    for (let made = 0; made < 101; made++) double.refundElsewhere(submission.reference, 1);
    expect(await cards.queryOperation(operation, soon())).toMatchObject({ kind: 'done' });
    expect(kinds().filter((kind) => kind === 'RefundList')).toHaveLength(2);
  });

  test('a payment that was not confirmed is not found', async () => {
    const submission = cardSale(STRIPE_CARDS.success);
    double.fault('lost_before');
    await thrownBy(() => cards.submit(submission, soon()));
    for (const _ of [1, 2])
      expect(await cards.query({ ...submission, card: undefined }, soon())).toEqual({ kind: 'notFound' });
  });

  test.each(['PaymentMethodCreate', 'PaymentIntentCreate'])(
    'to %s, before money can move, the payment counts as not sent',
    async (kind) => {
      for (const fault of ['lost_before', 'lost_after', 'error_500'] as const) {
        double.fault(fault, kind);
        expect(await thrownBy(() => cards.submit(cardSale(STRIPE_CARDS.success), soon()))).toBeInstanceOf(NotSent);
      }
      expect(kinds()).not.toContain('PaymentIntentConfirm');
    },
  );

  test('a refund that Stripe answered with a 500, and does not have, is made under another key, once', async () => {
    const submission = cardSale(STRIPE_CARDS.success);
    const { providerReference } = later(submission, await cards.submit(submission, soon()));
    const refund = testOperation({ verb: 'refund', amount: 400n, providerReference });
    double.fault('error_500', 'RefundCreate');
    await thrownBy(() => cards.operate(refund, soon()));
    expect(await cards.queryOperation(refund, soon())).toEqual({ kind: 'notFound' });
    expect(await cards.operate(refund, soon())).toMatchObject({ kind: 'done' });
    expect(await cards.operate(refund, soon())).toMatchObject({ kind: 'done' });
    expect(double.balance(submission.reference)).toBe(600n);
  });

  test('a capture whose key Stripe has forgotten is not done twice', async () => {
    const submission = cardSale(STRIPE_CARDS.success, { authoriseOnly: true });
    const { providerReference } = later(submission, await cards.submit(submission, soon()));
    const capture = testOperation({ verb: 'capture', amount: 400n, providerReference });
    double.fault('lost_after');
    await thrownBy(() => cards.operate(capture, soon()));
    double.forgetKeys();
    const done = { kind: 'done', reportedAmount: { amount: 400n, currency: 'EUR' } };
    expect(await cards.operate(capture, soon())).toMatchObject(done);
    expect(await cards.queryOperation(capture, soon())).toMatchObject(done);
    expect(await cards.operate({ ...capture, operation: newId(), verb: 'void' }, soon())).toMatchObject({
      kind: 'declined',
    });
  });
});

test('JSON of a failing proxy is no answer: it confirms no key, payment or operation', async () => {
  const proxy = createServer((_, response) => void response.writeHead(502).end('{}'));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const apiBase = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const [behind, page] = [stripe, stripeHosted].map(({ create }) => create({ ...access(), apiBase })) as [
    Connector,
    Connector,
  ];
  const sent = { ...cardSale(STRIPE_CARDS.success), providerReference: 'pi_1', card: undefined };
  const errors = [
    await thrownBy(() => behind.check?.(soon())),
    await thrownBy(() => behind.query(sent, soon())),
    await thrownBy(() => behind.operate(testOperation({ providerReference: 'pi_1' }), soon())),
    await thrownBy(() => page.operate(testOperation({ verb: 'void', state: { session: 'cs_1' } }), soon())),
  ];
  expect(errors.map(String)).toEqual(Array(4).fill('Error: Stripe answered 502.'));
  for (const connector of [behind, page]) await connector.close?.();
  proxy.close();
});

describe('an account', () => {
  test('that may not send card numbers gets no decline: the payment was not sent', async () => {
    double.refusesCards = true;
    const error = await thrownBy(() => cards.submit(cardSale(STRIPE_CARDS.success), soon()));
    double.refusesCards = false;
    expect(error).toBeInstanceOf(NotSent);
    expect(String(error)).toContain('allowed to send card numbers');
  });

  test('with a wrong key fails the check, and no error contains a secret', async () => {
    const wrong = stripe.create(access('sk_test_wrong'));
    expect(await wrong.check?.(soon())).toMatchObject({ ok: false, detail: expect.stringContaining('key') });
    const error = await thrownBy(() => wrong.submit(cardSale(STRIPE_CARDS.success), soon()));
    expect(error).toBeInstanceOf(NotSent);
    for (const secret of [STRIPE_CARDS.success, 'sk_test_wrong', '123'])
      expect(inspect(error, { depth: 9, showHidden: true }).replaceAll(/:\d+/g, '')).not.toContain(secret);
    await wrong.close?.();
  });
});

describe('a series', () => {
  test('charges the stored card off session', async () => {
    const first = cardSale(STRIPE_CARDS.success, { isFirstOfSeries: true });
    const outcome = await cards.submit(first, soon());
    const { state, paymentMethod } = outcome as Answer;
    expect(paymentMethod?.reveal()).toMatch(/^pm_/);
    expect(fieldsOf('PaymentIntentCreate')).toMatchObject({
      setup_future_usage: 'off_session',
      customer: state?.customer,
    });
    const memory = { state: state ?? {}, secretState: {}, paymentMethod };
    const repeated = cardSale('', { card: undefined, recurringOf: first.reference, first: memory });
    double.requests.splice(0);
    expect(await cards.submit(repeated, soon())).toMatchObject({ kind: 'settled' });
    expect(fieldsOf('PaymentIntentConfirm')).toMatchObject({
      payment_method: paymentMethod?.reveal(),
      off_session: true,
    });
    expect(fieldsOf('PaymentIntentCreate')).toMatchObject({ customer: state?.customer });
    expect(kinds()).not.toContain('PaymentMethodCreate');
  });

  test('whose card needs the payer is declined off session', async () => {
    const card = cardSale(STRIPE_CARDS.challenge, { recurringOf: newId() });
    expect(await cards.submit(card, soon())).toMatchObject({ kind: 'declined', ...DECLINE_CAUSES.notAuthenticated });
  });

  test('that began on the page of Stripe is repeated without it', async () => {
    const first = hostedSale({ isFirstOfSeries: true, method: 'automatic' });
    const opened = await hosted.submit(first, soon());
    await double.pay((opened as Extract<Outcome, { kind: 'redirected' }>).url);
    const outcome = await hosted.query(later(first, opened), soon());
    const { state, paymentMethod } = outcome as Answer;
    expect(state).toMatchObject({ session: expect.stringMatching(/^cs_/), customer: expect.stringMatching(/^cus_/) });
    const memory = { state: state ?? {}, secretState: {}, paymentMethod };
    const repeated = hostedSale({
      recurringOf: first.reference,
      first: memory,
      method: 'automatic',
      descriptor: 'My Shop',
    });
    const settled = await hosted.submit(repeated, soon());
    expect(settled).toMatchObject({ kind: 'settled' });
    expect(fieldsOf('PaymentIntentCreate')).toMatchObject({
      statement_descriptor_suffix: 'My Shop',
      customer: state?.customer,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    });
    expect(await hosted.query(later(repeated, settled), soon())).toMatchObject({ kind: 'settled' });
  });
});

describe('the page of Stripe', () => {
  const open = async (changes: Partial<Submission> = {}) => {
    const submission = hostedSale(changes);
    const outcome = (await hosted.submit(submission, soon())) as Extract<Outcome, { kind: 'redirected' }>;
    expect(outcome.kind).toBe('redirected');
    return { submission: later(submission, outcome), url: outcome.url };
  };

  test('opens although Stripe refuses the payer’s e-mail, also if the answer is lost', async () => {
    const payer = { email: REFUSED_EMAIL };
    const { submission } = await open({ payer });
    const created = double.requests.map(({ fields }) => fields as Stripe.Checkout.SessionCreateParams);
    expect(created.map((fields) => fields.customer_email)).toEqual([REFUSED_EMAIL, undefined]);
    const lost = { ...submission, providerReference: undefined, state: {} };
    expect(await hosted.query(lost, soon())).toMatchObject({ kind: 'redirected', state: submission.state });
  });

  test('gets the order, and shows all methods if the connection says so', async () => {
    const { submission } = await open({ authoriseOnly: true, isFirstOfSeries: true });
    const { expires_at, ...fields } = fieldsOf('SessionCreate') as { expires_at: number };
    const metadata = { turnpike_reference: submission.reference, turnpike_connector: 'stripe-hosted' };
    expect(fields).toEqual({
      mode: 'payment',
      client_reference_id: submission.reference,
      success_url: submission.returnUrl(),
      cancel_url: `${submission.returnUrl()}?stripe_cancelled=1`,
      line_items: [
        { quantity: 1, price_data: { currency: 'eur', unit_amount: 1000, product_data: { name: 'Two teapots' } } },
      ],
      allowed_payment_method_types: ['card'],
      adaptive_pricing: { enabled: false },
      customer_email: 'asha@example.com',
      customer_creation: 'always',
      metadata,
      payment_intent_data: {
        capture_method: 'manual',
        description: 'Two teapots',
        setup_future_usage: 'off_session',
        metadata,
      },
    });
    // Stripe allows 30 minutes to 24 hours.
    expect(expires_at - Date.now() / 1000).toBeGreaterThan(39 * 60);
    expect(expires_at - Date.now() / 1000).toBeLessThan(61 * 60);
    double.requests.splice(0);
    await open({ method: 'automatic' });
    expect(fieldsOf('SessionCreate')).not.toHaveProperty('allowed_payment_method_types');
  });

  test('is left with “back”: it is closed, and the payment is declined', async () => {
    const { submission, url } = await open();
    const back = await double.pay(url, 'back');
    expect(await hosted.resume?.(submission, Object.fromEntries(back.searchParams), soon())).toMatchObject({
      kind: 'declined',
      reason: DECLINE_CAUSES.cancelledByPayer.reason,
    });
    expect(double.sessions.get(submission.state.session as string)?.status).toBe('expired');
  });

  test('was paid before the payer went back: the payment is settled', async () => {
    const { submission, url } = await open();
    await double.pay(url);
    expect(await hosted.resume?.(submission, { stripe_cancelled: '1' }, soon())).toMatchObject({ kind: 'settled' });
  });

  test('stays open after a failed attempt, and its end is a decline', async () => {
    const { submission, url } = await open();
    expect(await hosted.query(submission, soon())).toMatchObject({ kind: 'redirected' });
    await double.pay(url, 'expire');
    expect(await hosted.query(submission, soon())).toMatchObject({ kind: 'declined', ...DECLINE_CAUSES.outOfTime });
  });

  test('is finished, but the payer pays a voucher later: the payment is accepted', async () => {
    const { submission } = await open();
    const session = double.sessions.get(submission.state.session as string);
    const payment_intent = objects.paymentIntent({ status: 'requires_action' });
    Object.assign(session ?? {}, { status: 'complete', url: null, payment_intent });
    expect(await hosted.query(submission, soon())).toMatchObject({
      kind: 'accepted',
      providerReference: payment_intent.id,
    });
    payment_intent.status = 'requires_payment_method';
    payment_intent.last_payment_error = { type: 'card_error', code: 'payment_intent_payment_attempt_expired' };
    expect(await hosted.query(submission, soon())).toMatchObject({ kind: 'declined', ...DECLINE_CAUSES.outOfTime });
  });

  test('is closed by a void before the payer pays', async () => {
    const { submission } = await open();
    const { providerReference, state } = submission;
    const wanted = testOperation({ verb: 'void', providerReference, state });
    expect(await hosted.queryOperation(wanted, soon())).toEqual({ kind: 'notFound' });
    expect(await hosted.operate(wanted, soon())).toEqual({ kind: 'done' });
    expect(await hosted.queryOperation(wanted, soon())).toEqual({ kind: 'done' });
  });

  test('does not take a card that was entered at the gateway', async () => {
    expect(await hosted.submit(cardSale(STRIPE_CARDS.success), soon())).toMatchObject({
      kind: 'declined',
      ...DECLINE_CAUSES.methodUnavailable,
    });
    expect(double.requests).toEqual([]);
  });
});

test('every request of these tests was valid', () => {
  expect(double.problems).toEqual([]);
});

describe('what the payer does next', () => {
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  const voucher = 'https://payments.stripe.com/instructions/x';

  test.each([
    ['alipay', { kind: 'redirected', url: 'https://hooks.stripe.com/a' }],
    ['upi', { kind: 'redirected', url: voucher }],
    ['pix', { kind: 'accepted', code: '00020126pix' }],
    ['promptpay', { kind: 'accepted', code: '00020101promptpay' }],
    ['paynow', { kind: 'accepted', code: '00020101paynow' }],
    [
      'multibanco',
      { kind: 'accepted', instructions: { entity: '12345', reference: '999123456', expires: day, voucher } },
    ],
    ['boleto', { kind: 'accepted', instructions: { reference: '01010101', expires: day, voucher } }],
    ['oxxo', { kind: 'accepted', instructions: { reference: '12345678901234567890', expires: day, voucher } }],
    ['konbini', { kind: 'accepted', instructions: { familymart: '11111 / 22222', expires: day, voucher } }],
  ])('%s', async (method, outcome) => {
    const submission = testSubmission({ brand: 'bank-a', method });
    expect(await cards.submit(submission, soon())).toMatchObject(outcome);
  });

  test('what cannot be shown is canceled, and another connection may take it', async () => {
    const submission = testSubmission({ brand: 'bank-a', method: 'nz_bank_account' });
    expect(await cards.submit(submission, soon())).toMatchObject({ kind: 'declined', isSoft: true });
    expect(double.intentOf(submission.reference)?.status).toBe('canceled');
  });

  test('a method that can never be shown is not sent', async () => {
    const before = double.requests.length;
    const submission = testSubmission({ brand: 'bank-a', method: 'wechat_pay' });
    expect(await cards.submit(submission, soon())).toMatchObject({ kind: 'declined', isSoft: true });
    expect(double.requests).toHaveLength(before);
  });
});

test('after a day a query searches, and creates nothing', async () => {
  const submission = testSubmission({ brand: 'card', method: 'card', openedAt: Date.now() - 25 * 60 * 60 * 1000 });
  for (const _ of [1, 2]) expect(await cards.query(submission, soon())).toEqual({ kind: 'notFound' });
  expect(double.intentOf(submission.reference)).toBeUndefined();
});

test('an amount of more than eight digits goes elsewhere', async () => {
  const submission = testSubmission({ brand: 'bank-a', method: 'ideal', amount: 100_000_000n });
  expect(await cards.submit(submission, soon())).toMatchObject({ kind: 'declined', isSoft: true });
});

describe('a decline', () => {
  test.each<[decline: Parameters<typeof declinedBy>[0], declineClass: string, isSoft: boolean]>([
    [{ code: 'card_declined', decline_code: 'duplicate_transaction' }, 'other', false],
    [{ code: 'card_declined', decline_code: 'do_not_honor' }, 'other', true],
    [{ code: 'card_declined', decline_code: 'do_not_honor', advice_code: 'do_not_try_again' }, 'never', false],
    [{ code: 'card_declined', decline_code: 'do_not_honor', network_advice_code: '03' }, 'never', false],
    [{ code: 'card_declined', decline_code: 'generic_decline', network_advice_code: '21' }, 'never', false],
    [{ code: 'card_declined', decline_code: 'insufficient_funds' }, 'funds', false],
  ])('%j has the class %s, and goes to another provider: %j', (decline, declineClass, isSoft) => {
    expect(declinedBy(decline)).toMatchObject({ kind: 'declined', isSoft, decline: { class: declineClass } });
  });
});
