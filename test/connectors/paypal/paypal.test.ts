/** The PayPal connector: what it sends, what it makes of each answer, which webhooks it believes, and how it finds what was lost. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Connector,
  NotSent,
  type Outcome,
  type ProviderNotification,
  RateLimited,
  type Submission,
} from '../../../src/connectors/connector.ts';
import { toPaypal } from '../../../src/connectors/paypal/amounts.ts';
import { declinedBy } from '../../../src/connectors/paypal/declines.ts';
import { eventOf } from '../../../src/connectors/paypal/events.ts';
import { paypal } from '../../../src/connectors/paypal/index.ts';
import { outcomeOf } from '../../../src/connectors/paypal/outcomes.ts';
import { Secret } from '../../../src/lib/crypto/secret.ts';
import { Deadline } from '../../../src/lib/time/deadline.ts';
import { type PaypalDouble, startPaypal } from '../../doubles/paypal.ts';
import { testOperation, testSubmission } from '../../support/submissions.ts';

let double: PaypalDouble;
let connector: Connector;
const open = (changes: Record<string, string> = {}): Connector =>
  paypal.create({
    credential: (name) => ({ ...double.credentials, ...changes })[name] ?? '',
    settings: {},
    apiBase: double.url,
    environment: 'sandbox',
  });
beforeAll(async () => {
  double = await startPaypal();
  connector = open();
});
beforeEach(() => {
  double.calls.length = 0;
  double.webhooks();
});
afterAll(async () => {
  expect(double.violations).toEqual([]);
  await connector.close?.();
  await double.close();
});

const soon = (): Deadline => new Deadline(30_000);
const byWallet = (changes: Partial<Submission> = {}): Submission =>
  testSubmission({ brand: 'hosted-b', method: 'paypal', ...changes });
type Redirected = Extract<Outcome, { kind: 'redirected' }>;
const waiting = async (changes: Partial<Submission> = {}): Promise<[Submission, Redirected]> => {
  const submission = byWallet(changes);
  const outcome = (await connector.submit(submission, soon())) as Redirected;
  return [{ ...submission, providerReference: outcome.providerReference, state: outcome.state ?? {} }, outcome];
};
const resume = async (submission: Submission, returned: Record<string, string> = {}): Promise<Outcome> =>
  (await connector.resume?.(submission, returned, soon())) as Outcome;
type Settled = Extract<Outcome, { kind: 'settled' | 'authorised' }>;
const paid = async (changes: Partial<Submission> = {}): Promise<[Submission, Settled]> => {
  const [submission, { url }] = await waiting(changes);
  double.approve(url);
  const outcome = (await resume(submission)) as Settled;
  return [{ ...submission, providerReference: outcome.providerReference, state: outcome.state ?? {} }, outcome];
};

describe('an order', () => {
  test('is created with what PayPal needs, and the payer is sent to its page', async () => {
    const [{ reference, state }, outcome] = await waiting({ descriptor: 'Café Müller_1' });
    const id = double.order(reference)?.id;
    expect(outcome).toMatchObject({ kind: 'redirected', url: `${double.url}/checkoutnow?token=${id}` });
    expect(state).toEqual({ order: id });
    expect(double.calls).toEqual([
      {
        method: 'POST',
        path: '/v2/checkout/orders',
        key: `${reference}-call-1`,
        body: {
          intent: 'CAPTURE',
          purchase_units: [
            {
              custom_id: reference,
              invoice_id: reference,
              description: 'Two teapots',
              soft_descriptor: 'Cafe Muller 1',
              amount: { currency_code: 'EUR', value: '10.00' },
            },
          ],
          payment_source: {
            paypal: {
              email_address: 'asha@example.com',
              experience_context: {
                brand_name: 'Demo Shop',
                shipping_preference: 'NO_SHIPPING',
                user_action: 'PAY_NOW',
                payment_method_preference: 'IMMEDIATE_PAYMENT_REQUIRED',
                return_url: 'https://pay.example.com/return/1',
                cancel_url: 'https://pay.example.com/return/1?paypal_cancelled=1',
              },
            },
          },
        },
      },
    ]);
  });

  test.each([
    ['a card of ours', { card: { number: new Secret('4111111111111111'), month: '12', year: '38', holder: '' } }],
    ['a payout', { isPayout: true }],
    ['another method', { method: 'ideal' }],
    ['a currency that PayPal does not have', { currency: 'INR' }],
    ['decimals of a currency that has none at PayPal', { currency: 'HUF', amount: 1050n }],
    ['a repetition without a token', { recurringOf: 'the first payment' }],
  ] satisfies [string, Partial<Submission>][])('is not made of %s', async (_, changes) => {
    expect(await connector.submit(byWallet(changes), soon())).toMatchObject({ kind: 'declined', isSoft: true });
    expect(double.calls).toEqual([]);
  });

  test('is captured when the payer comes back, once', async () => {
    const [submission, { url }] = await waiting();
    double.approve(url);
    const outcomes = await Promise.all([resume(submission), resume(submission)]);
    const capture = double.order(submission.reference)?.captures[0]?.id;
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({
        kind: 'settled',
        providerReference: capture,
        reportedAmount: { amount: 1000n, currency: 'EUR' },
        fee: { amount: 30n, currency: 'EUR' },
      });
    expect(double.balance(submission.reference)).toBe(1000n);
  });

  test('a payer who comes back without a decision, or cancels, pays nothing', async () => {
    const [submission, { url }] = await waiting();
    expect(await resume(submission)).toMatchObject({ kind: 'redirected' });
    expect(await resume(submission, { paypal_cancelled: '1' })).toMatchObject({
      kind: 'declined',
      reason: 'The payer cancelled the payment.',
    });
    // Approved in another window: then the approval counts.
    double.approve(url);
    expect(await resume(submission, { paypal_cancelled: '1' })).toMatchObject({ kind: 'settled' });
  });

  test('a query captures nothing', async () => {
    const [submission, { url }] = await waiting();
    double.approve(url);
    expect(await connector.query(submission, soon())).toMatchObject({ kind: 'unknown' });
    expect(double.balance(submission.reference)).toBe(0n);
  });

  test('a capture whose answer is lost is sent again under its key', async () => {
    for (const fault of ['lost_before', 'lost_after'] as const) {
      const [submission, { url }] = await waiting();
      double.approve(url);
      double.fault(fault);
      expect(await resume(submission)).toMatchObject({ kind: 'settled' });
      expect(double.balance(submission.reference)).toBe(1000n);
    }
  });

  test('an order that was declined is not captured again', async () => {
    const [submission, { url }] = await waiting();
    double.approve(url, 'INSTRUMENT_DECLINED');
    const outcome = (await resume(submission)) as Extract<Outcome, { kind: 'declined' }>;
    expect(outcome).toMatchObject({ kind: 'declined', decline: { code: 'INSTRUMENT_DECLINED' } });
    double.calls.length = 0;
    const later = { ...submission, state: outcome.state ?? {} };
    expect(await resume(later)).toMatchObject({ kind: 'declined' });
    expect(double.calls).toEqual([]);
  });

  test('that PayPal has captured under another order is left to the operator', async () => {
    const [{ reference }] = await paid();
    const [again, { url }] = await waiting();
    const order = double.order(again.reference);
    if (order) order.request.purchase_units[0].invoice_id = reference;
    double.approve(url);
    expect(await resume(again)).toMatchObject({ kind: 'unknown' });
  });
});

describe('the access token', () => {
  test('is requested once for all calls, and again when PayPal no longer takes it', async () => {
    const before = double.tokenCalls();
    await Promise.all([waiting(), waiting(), waiting()]);
    expect(double.tokenCalls() - before).toBeLessThanOrEqual(1);
    double.revokeTokens();
    expect((await waiting())[1].kind).toBe('redirected');
    expect(double.tokenCalls() - before).toBeLessThanOrEqual(2);
  });

  test('credentials that PayPal does not accept mean that nothing was sent; the check says so', async () => {
    const wrong = open({ client_secret: 'wrong' });
    await expect(async () => wrong.submit(byWallet(), soon())).rejects.toBeInstanceOf(NotSent);
    expect(await wrong.check?.(soon())).toEqual({
      ok: false,
      detail: 'PayPal does not accept the keys of the app (client id and secret).',
    });
    await wrong.close?.();
  });

  test('requested too often, was not sent, and may be after a pause', async () => {
    double.revokeTokens();
    const other = open();
    double.limitTokens();
    await expect(async () => other.submit(byWallet(), soon())).rejects.toMatchObject({
      constructor: RateLimited,
      retryAfterMs: 0,
    });
    expect(await other.submit(byWallet(), soon())).toMatchObject({ kind: 'redirected' });
    await other.close?.();
  });

  test('the check names a webhook that does not exist, and events that are missing', async () => {
    const other = open({ webhook_id: '1AB' });
    expect(await other.check?.(soon())).toMatchObject({
      ok: false,
      detail: expect.stringContaining('no such webhook'),
    });
    await other.close?.();
    double.events.types = ['CHECKOUT.ORDER.APPROVED'];
    const { ok, detail } = (await connector.check?.(soon())) ?? {};
    expect([ok, detail]).toEqual([false, expect.stringContaining('PAYMENT.CAPTURE.COMPLETED')]);
    expect(detail).not.toContain('CHECKOUT.ORDER.APPROVED');
    double.events.types = ['*'];
  });
});

describe('a series', () => {
  const repeat = async (first: NonNullable<Submission['first']>): Promise<Outcome> =>
    connector.submit(byWallet({ recurringOf: 'the first payment', first }), soon());

  test('stores the wallet, and repeats with its token', async () => {
    const [submission, outcome] = await paid({ isFirstOfSeries: true });
    const { paymentMethod } = outcome;
    expect(paymentMethod).toBeInstanceOf(Secret);
    expect(await repeat({ ...submission, paymentMethod })).toMatchObject({ kind: 'settled' });
    expect(double.calls.at(-1)?.body).toEqual({ payment_source: { paypal: { vault_id: paymentMethod?.reveal() } } });
    expect(double.calls.at(-2)?.body).not.toHaveProperty('payment_source');
  });

  test('a token that PayPal stores later is read from the first order', async () => {
    double.delayTokens();
    const [submission, outcome] = await paid({ isFirstOfSeries: true });
    expect(outcome.paymentMethod).toBeUndefined();
    expect(await repeat(submission)).toMatchObject({ kind: 'declined' });
    double.storeTokens();
    expect(await repeat(submission)).toMatchObject({ kind: 'settled' });
  });

  test('a wallet whose owner has deleted the token must not be charged again', async () => {
    const first = { state: {}, secretState: {}, paymentMethod: new Secret('unknown-token') };
    expect(await repeat(first)).toMatchObject({ kind: 'declined', isSoft: false, decline: { class: 'never' } });
  });

  test('a repetition whose answers are lost is found by its key, and charged once', async () => {
    const first = { state: {}, secretState: {}, paymentMethod: new Secret(double.newToken()) };
    const submission = byWallet({ recurringOf: 'the first payment', first });
    double.fault('lost_before', 'lost_after', 'lost_after', 'lost_after');
    await Promise.resolve(connector.submit(submission, soon())).catch(() => undefined);
    for (const _ of [1, 2]) await Promise.resolve(connector.query(submission, soon())).catch(() => undefined);
    expect(await connector.submit(submission, soon())).toMatchObject({ kind: 'settled' });
    expect(await connector.query(submission, soon())).toMatchObject({ kind: 'settled' });
    expect(double.balance(submission.reference)).toBe(1000n);
  });
});

describe('statuses', () => {
  const money = { currency_code: 'EUR', value: '10.00' };
  const orderWith = (payments: object) => ({ id: 'O1', status: 'COMPLETED', purchase_units: [{ payments }] });

  test.each([
    ['COMPLETED', 'settled'],
    ['PARTIALLY_REFUNDED', 'settled'],
    ['REFUNDED', 'settled'],
    ['PENDING', 'accepted'],
    ['DECLINED', 'declined'],
    ['FAILED', 'declined'],
    ['NEW_STATUS', 'unknown'],
  ])('a capture %s is %s', (status, kind) => {
    expect(outcomeOf(orderWith({ captures: [{ id: 'C1', status, amount: money }] }))).toMatchObject({
      kind,
      providerReference: 'C1',
    });
  });

  test.each([
    ['CREATED', 'authorised'],
    ['PENDING', 'accepted'],
    ['CAPTURED', 'settled'],
    ['PARTIALLY_CAPTURED', 'settled'],
    ['DENIED', 'declined'],
    ['VOIDED', 'declined'],
    ['NEW_STATUS', 'unknown'],
  ])('an authorisation %s is %s', (status, kind) => {
    const captures = kind === 'settled' ? [{ id: 'C1', status: 'COMPLETED', amount: { ...money, value: '4.00' } }] : [];
    const outcome = outcomeOf(orderWith({ authorizations: [{ id: 'A1', status, amount: money }], captures }));
    expect(outcome).toMatchObject({ kind, providerReference: 'A1' });
    // The amount that was captured elsewhere, perhaps a part.
    if (kind === 'settled')
      expect(outcome).toMatchObject({ captured: { amount: 400n }, reportedAmount: { amount: 1000n } });
  });

  test.each([
    ['CREATED', 'notFound'],
    ['SAVED', 'unknown'],
    ['APPROVED', 'unknown'],
    ['VOIDED', 'declined'],
    ['COMPLETED', 'unknown'],
    ['NEW_STATUS', 'unknown'],
  ])('an order %s without a payment is %s', (status, kind) => {
    expect(outcomeOf({ id: 'O1', status }).kind).toBe(kind);
  });

  test('amounts have the decimals that PayPal takes', () => {
    expect([toPaypal(1050n, 'EUR'), toPaypal(1000n, 'JPY'), toPaypal(100_000n, 'HUF')]).toEqual([
      { currency_code: 'EUR', value: '10.50' },
      { currency_code: 'JPY', value: '1000' },
      { currency_code: 'HUF', value: '1000' },
    ]);
    expect([toPaypal(100_050n, 'TWD'), toPaypal(1000n, 'KWD')]).toEqual([undefined, undefined]);
  });

  test.each([
    ['PAYER_ACCOUNT_LOCKED_OR_CLOSED', 'never', false],
    ['PAYER_ACTION_REQUIRED', 'authenticate', false],
    ['TRANSACTION_LIMIT_EXCEEDED', 'funds', false],
    ['INSTRUMENT_DECLINED', 'other', true],
    ['SOME_NEW_ISSUE', 'other', true],
  ])('the issue %s has the class %s', (issue, declineClass, isSoft) => {
    expect(declinedBy(issue)).toMatchObject({ isSoft, decline: { class: declineClass, code: issue } });
  });
});

describe('operations', () => {
  test('a void of a payment that its payer has not approved, and a second one, are done', async () => {
    const [{ reference, state }] = await waiting();
    const wanted = testOperation({ verb: 'void', reference, state });
    expect(await connector.operate(wanted, soon())).toEqual({ kind: 'done' });
    const [authorised] = await paid({ authoriseOnly: true });
    for (const _ of [1, 2]) {
      const operation = testOperation({ verb: 'void', reference: authorised.reference, state: authorised.state });
      expect(await connector.operate(operation, soon())).toEqual({ kind: 'done' });
      expect(await connector.queryOperation(operation, soon())).toEqual({ kind: 'done' });
    }
  });

  test('the capture of an authorisation is found for its refund, and by a query', async () => {
    const [{ reference, state }] = await paid({ authoriseOnly: true });
    const capture = testOperation({ verb: 'capture', reference, state, amount: 600n });
    expect(await connector.queryOperation(capture, soon())).toEqual({ kind: 'notFound' });
    expect(await connector.operate(capture, soon())).toMatchObject({ kind: 'done', reportedAmount: { amount: 600n } });
    expect(await connector.queryOperation(capture, soon())).toMatchObject({ kind: 'done' });
    const refund = testOperation({ verb: 'refund', reference, state, amount: 200n });
    expect(await connector.operate(refund, soon())).toMatchObject({ kind: 'done', reportedAmount: { amount: 200n } });
    // The id of the refund was lost with the answer.
    expect(await connector.queryOperation(refund, soon())).toMatchObject({ kind: 'done' });
    expect(double.balance(reference)).toBe(400n);
  });
});

describe('webhooks', () => {
  const readAll = async (): Promise<ProviderNotification[]> => {
    const read = await Promise.all(
      double.webhooks().map(({ headers, body }) => connector.readNotifications(headers, body, Date.now())),
    );
    return read.flatMap((events) => events ?? []);
  };
  const meaning = ({ body }: ProviderNotification) => connector.interpretNotification(body, { authoriseOnly: false });

  test('are refused with another webhook id, algorithm, host of the certificate, or a certificate of nobody', async () => {
    const event = { id: 'WH-1', event_type: 'CHECKOUT.ORDER.APPROVED', resource: {} };
    const { headers, body } = double.webhookOf(event);
    const read = (changes: Record<string, string>) =>
      connector.readNotifications({ ...headers, ...changes }, body, Date.now());
    expect(await read({})).toEqual([]);
    const url = String(headers['paypal-cert-url']);
    expect(await read({ 'paypal-auth-algo': 'SHA1withRSA' })).toBeUndefined();
    expect(await read({ 'paypal-transmission-time': '2026-11-16T10:00:01Z' })).toBeUndefined();
    expect(await read({ 'paypal-cert-url': url.replace(/\/\/.*?\//, '//paypal.example.com/') })).toBeUndefined();
    expect(await read({ 'paypal-cert-url': url.replace('/certs/', '/others/') })).toBeUndefined();
    expect(await read({ 'paypal-cert-url': `${url}0` })).toBeUndefined();
    const other = double.webhookOf(event, 'ANOTHERWEBHOOK');
    expect(await connector.readNotifications(other.headers, other.body, Date.now())).toBeUndefined();
    // Long after the certificate has expired.
    expect(await connector.readNotifications(headers, body, Date.now() + 10 * 365 * 86_400_000)).toBeUndefined();
  });

  test('of payments are a reason to ask PayPal; operations have their verb', async () => {
    const [{ reference, state }] = await paid({ authoriseOnly: true });
    for (const verb of ['capture', 'refund'] as const)
      await connector.operate(testOperation({ verb, reference, state }), soon());
    const events = await readAll();
    expect(events.map((event) => [event.body.type, meaning(event)?.kind])).toEqual([
      ['CHECKOUT.ORDER.APPROVED', 'returned'],
      ['PAYMENT.AUTHORIZATION.CREATED', 'ask'],
      ['PAYMENT.CAPTURE.COMPLETED', 'operation'],
      ['PAYMENT.CAPTURE.REFUNDED', 'operation'],
    ]);
    expect(events.slice(2).map(meaning)).toMatchObject([
      { verb: 'capture', outcome: { kind: 'done', reportedAmount: { amount: 1000n } } },
      { verb: 'refund', outcome: { kind: 'done', reportedAmount: { amount: 1000n } } },
    ]);
    expect(new Set(events.map((event) => event.reference))).toEqual(new Set([reference]));
    expect(events.map(({ operationReference }) => operationReference !== undefined)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  test('a refund that fails later is reported', async () => {
    const [{ reference, state }] = await paid();
    double.delayRefund();
    const operation = testOperation({ verb: 'refund', reference, state });
    expect(await connector.operate(operation, soon())).toMatchObject({ kind: 'accepted' });
    await readAll();
    double.settleRefunds('FAILED');
    const [event] = await readAll();
    expect(event).toMatchObject({ reference, operation: operation.operation });
    expect(event && meaning(event)).toMatchObject({ kind: 'operation', outcome: { kind: 'declined' } });
  });

  test.each([
    ['CREATED', {}, 'chargedBack', undefined],
    ['CREATED', { dispute_life_cycle_stage: 'INQUIRY' }, { stage: 'inquiry' }, undefined],
    ['UPDATED', { status: 'UNDER_REVIEW' }, 'chargedBack', { state: 'answered' }],
    [
      'UPDATED',
      { dispute_life_cycle_stage: 'PRE_ARBITRATION', status: 'UNDER_REVIEW' },
      'chargedBack',
      { state: 'answered' },
    ],
    ['RESOLVED', { dispute_outcome: { outcome_code: 'RESOLVED_SELLER_FAVOUR' } }, 'chargedBack', 'chargebackReversed'],
    ['RESOLVED', { dispute_outcome: { outcome_code: 'CANCELED_BY_BUYER' } }, 'chargedBack', 'chargebackReversed'],
    ['RESOLVED', { dispute_outcome: { outcome_code: 'RESOLVED_BUYER_FAVOUR' } }, 'chargedBack', { state: 'lost' }],
    ['RESOLVED', { dispute_outcome: { outcome_code: 'RESOLVED_WITH_PAYOUT' } }, 'chargedBack', 'unhandled'],
    ['RESOLVED', { dispute_life_cycle_stage: 'INQUIRY' }, { stage: 'inquiry' }, { state: 'closed' }],
  ] as const)('a dispute %s with %j', async (type, fields, money, state) => {
    const [{ reference }] = await paid();
    await readAll();
    double.dispute(reference, type, fields);
    const events = await readAll();
    expect(events.map((event) => event.reference)).toEqual([reference, reference]);
    const [first, second] = events.map(meaning);
    const expected = (wanted: typeof money | typeof state) =>
      typeof wanted === 'object' ? { kind: 'chargebackReport', ...wanted } : { kind: wanted };
    expect(first).toMatchObject({
      ...expected(money),
      chargedBack: { amount: 1000n, currency: 'EUR' },
      respondBy: Date.parse('2026-12-01T00:00:00Z'),
      cause: 'merchandise or service not received',
      chargebackReference: `PP-D-${double.order(reference)?.id}`,
    });
    if (state === undefined) expect(second).toBeUndefined();
    else expect(second).toMatchObject(expected(state));
  });

  test('an unknown event of a payment is shown to the operator; others are ignored', async () => {
    const [{ reference }] = await paid();
    await readAll();
    double.report('PAYMENT.CAPTURE.FROZEN', { custom_id: reference });
    double.report('PAYMENT.CAPTURE.FROZEN', { custom_id: 'an order of another program' });
    double.report('INVOICING.INVOICE.PAID', { custom_id: reference });
    double.report('PAYMENT.CAPTURE.REFUNDED', { id: 'R1', status: 'FROZEN', custom_id: reference }, 'refund');
    double.report('PAYMENT.CAPTURE.REVERSED', {
      custom_id: reference,
      amount: { currency_code: 'EUR', value: '10.00' },
    });
    const events = await readAll();
    expect(events.map(meaning)).toEqual([
      { kind: 'unhandled', event: 'PAYMENT.CAPTURE.FROZEN' },
      { kind: 'unhandled', event: 'PAYMENT.CAPTURE.REFUNDED FROZEN' },
      { kind: 'unhandled', event: 'PAYMENT.CAPTURE.REVERSED' },
    ]);
    expect(eventOf('VAULT.PAYMENT-TOKEN.DELETED').about).toBe('nothing');
  });
});
