/** The Mollie connector: what it sends, what it makes of each answer, and how it finds what was lost. */
import { type CardFailureReason, Locale, PaymentStatus, RefundStatus } from '@mollie/api-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Connector,
  NotSent,
  type Outcome,
  RateLimited,
  type Submission,
} from '../../../src/connectors/connector.ts';
import { mollie } from '../../../src/connectors/mollie/index.ts';
import { parametersOf } from '../../../src/connectors/mollie/requests.ts';
import { Secret } from '../../../src/lib/crypto/secret.ts';
import { Deadline } from '../../../src/lib/time/deadline.ts';
import { CONNECTORS } from '../../../src/rules/connectors.ts';
import { DECLINE_CAUSES, type DeclineCause } from '../../../src/rules/reasons.ts';
import { API_KEY, type MollieDouble, startMollie } from '../../doubles/mollie.ts';
import * as objects from '../../doubles/mollie-objects.ts';
import { ACCESS_TOKEN, PROFILE } from '../../doubles/mollie-tokens.ts';
import { requestValidator } from '../../support/request-schemas.ts';
import { REFUSED_EMAIL, testOperation, testSubmission } from '../../support/submissions.ts';

let double: MollieDouble;
let connector: Connector;
const open = (key = API_KEY, apiBase = double.url, settings: Record<string, unknown> = {}): Connector =>
  mollie.create({ credential: () => key, settings, apiBase, environment: 'sandbox' });
beforeAll(async () => {
  double = await startMollie();
  connector = open();
});
beforeEach(() => {
  double.calls.length = 0;
});
afterAll(async () => {
  await connector.close?.();
  await double.close();
});

const soon = (): Deadline => new Deadline(30_000);
/** The payments have no webhook: the double does not notify anything. */
const hosted = (changes: Partial<Submission> = {}): Submission =>
  testSubmission({ brand: 'bank-a', method: 'ideal', notifyUrl: 'http://127.0.0.1:9/', ...changes });
const declined = (cause: DeclineCause) => ({ kind: 'declined', ...DECLINE_CAUSES[cause], decline: { class: 'other' } });

type Redirected = Extract<Outcome, { kind: 'redirected' }>;
/** Submits a payment that the payer then finishes. */
async function submitted(changes: Partial<Submission> = {}): Promise<Submission & { providerReference: string }> {
  const submission = hosted(changes);
  const { providerReference = '', state = {} } = (await connector.submit(submission, soon())) as Redirected;
  return { ...submission, providerReference, state };
}
const finish = (id: string, status: PaymentStatus, failure?: CardFailureReason): void =>
  double.finish(id, status, failure);
const query = async (submission: Submission): Promise<Outcome> => connector.query(submission, soon());

describe('the settings of the connection', () => {
  const DUE = { locale: 'nl_BE', due_days: 1 };
  const sentWith = async (settings: Record<string, unknown>, changes: Partial<Submission>) => {
    const set = open(API_KEY, double.url, settings);
    await set.submit(hosted(changes), soon());
    await set.close?.();
    return double.calls.at(-1)?.body;
  };

  test('the locale is that of the page', async () => {
    expect(await sentWith({ locale: 'nl_BE' }, {})).toMatchObject({ locale: 'nl_BE' });
    expect(await sentWith({ locale: '' }, {})).not.toHaveProperty('locale');
  });

  test('a bank transfer is due some days after its day in Amsterdam, and other methods are not', async () => {
    const method = 'banktransfer';
    const sent = (time: string) => sentWith(DUE, { method, openedAt: Date.parse(time) });
    expect(await sent('2026-01-31T22:59:00Z')).toMatchObject({ dueDate: '2026-02-01', locale: 'nl_BE' });
    expect(await sent('2026-01-31T23:00:00Z')).toMatchObject({ dueDate: '2026-02-02' });
    expect(await sentWith(DUE, { method: 'ideal' })).not.toHaveProperty('dueDate');
    expect(await sentWith({}, { method })).not.toHaveProperty('dueDate');
  });

  test('a repetition has no page, so no locale', async () => {
    const { customer } = double.newCustomer();
    const first = { state: { customer }, secretState: {} };
    const body = await sentWith(DUE, { recurringOf: 'first', first, method: 'creditcard' });
    expect(body).toMatchObject({ sequenceType: 'recurring' });
    expect(body).not.toHaveProperty('locale');
  });

  test('the locales are those of the SDK', () => {
    expect(CONNECTORS.mollie.choices.locale.toSorted()).toEqual(['', ...Object.values(Locale)].toSorted());
  });
});

describe('an access token of an organisation', () => {
  const openByToken = (settings: Record<string, unknown> = { profile_id: PROFILE }) =>
    open(ACCESS_TOKEN, double.url, settings);

  test('each call names the profile and the test mode, where Mollie wants them', async () => {
    const byToken = openByToken();
    const act = async (submission: Submission, verb: 'capture' | 'void' | 'refund', changes = {}) => {
      const { providerReference, reference } = submission;
      const operation = testOperation({ verb, reference, providerReference, brand: 'card', ...changes });
      expect(await byToken.operate(operation, soon())).toMatchObject({ kind: 'done' });
      return byToken.queryOperation(operation, soon());
    };
    const paid = async (changes: Partial<Submission> = {}) => {
      const submission = hosted(changes);
      const { providerReference = '' } = (await byToken.submit(submission, soon())) as Redirected;
      double.pay(providerReference);
      return { ...submission, providerReference };
    };
    expect(await byToken.check?.(soon())).toMatchObject({ ok: true });
    const sale = await paid();
    expect(await byToken.query(sale, soon())).toMatchObject({ kind: 'settled' });
    await act(sale, 'refund');
    const held = { authoriseOnly: true, method: 'creditcard' };
    await act(await paid(held), 'capture', { amount: 400n, paymentAmount: 1000n });
    await act(await paid(held), 'void');
    const open = hosted();
    const { providerReference } = (await byToken.submit(open, soon())) as Redirected;
    await byToken.withdraw?.({ ...open, providerReference }, 'cancelledByPayer', soon());
    await paid({ isFirstOfSeries: true });
    const first = { state: { customer: double.newCustomer().customer }, secretState: {} };
    const repetition = hosted({ recurringOf: 'first', first, method: 'creditcard' });
    expect(await byToken.submit(repetition, soon())).toMatchObject({ kind: 'settled' });
    expect(await byToken.query(repetition, soon())).toMatchObject({ kind: 'settled' });
    expect(await byToken.query(hosted({ brand: 'wallet-a', method: 'applepay' }), soon())).toEqual({
      kind: 'notFound',
    });
    double.domains.push('pay.example.com');
    await byToken.openMerchantSession?.(
      'https://apple-pay-gateway.apple.com/paymentservices/startSession',
      'pay.example.com',
      soon(),
    );
    expect(double.violations).toEqual([]);
    expect(new Set(double.calls.map(({ name }) => name))).toEqual(
      new Set([
        ...['MethodList', 'PaymentCreate', 'PaymentGet', 'PaymentList', 'PaymentCancel', 'PaymentRelease'],
        ...['RefundCreate', 'RefundList', 'CaptureCreate', 'CaptureList', 'CustomerCreate', 'CustomerPayments'],
        'SessionCreate',
      ]),
    );
    await byToken.close?.();
  });

  test('a gateway in production uses the live mode', async () => {
    const live = mollie.create({
      credential: () => ACCESS_TOKEN,
      settings: { profile_id: PROFILE },
      apiBase: double.url,
      environment: 'production',
    });
    await live.submit(hosted(), soon());
    expect(double.calls[0]?.body).toMatchObject({ profileId: PROFILE });
    expect(double.calls[0]?.body).not.toHaveProperty('testmode');
    await live.close?.();
    // The double has the test mode only.
    expect(double.violations.splice(0)).toHaveLength(1);
  });

  test.each([{}, { profile_id: '' }])('without a profile the check says so: %j', async (settings) => {
    const byToken = openByToken(settings);
    expect(await byToken.check?.(soon())).toEqual({
      ok: false,
      detail: 'An access token of an organisation needs the setting profile_id.',
    });
    expect(double.calls).toEqual([]);
    await byToken.close?.();
  });

  test('an API key names neither, whatever the setting is', async () => {
    const byKey = open(API_KEY, double.url, { profile_id: PROFILE });
    await byKey.submit(hosted(), soon());
    expect(double.calls[0]?.body).not.toHaveProperty('profileId');
    expect(double.calls[0]?.body).not.toHaveProperty('testmode');
    await byKey.close?.();
  });
});

describe('a payment on the page of Mollie', () => {
  test('is created with what Mollie needs, and the payer is sent to its page', async () => {
    const payer = { first_name: 'Asha', last_name: 'Rao', email: 'asha@example.com', country: 'DE' };
    const address = { address: 'Hauptstr. 1', city: 'Berlin', zip: '10115' };
    const submission = hosted({ payer: { ...payer, ...address } });
    const outcome = await connector.submit(submission, soon());
    const id = double.find(submission.reference)?.payment.id;
    expect(outcome).toEqual({
      kind: 'redirected',
      url: `${double.url}/checkout/${id}`,
      method: 'GET',
      params: {},
      providerReference: id,
      reportedAmount: { amount: 1000n, currency: 'EUR' },
    });
    expect(double.calls).toEqual([
      {
        name: 'PaymentCreate',
        idempotencyKey: `${submission.reference}-call-2`,
        body: {
          amount: { currency: 'EUR', value: '10.00' },
          description: 'Two teapots',
          metadata: { reference: submission.reference },
          redirectUrl: submission.returnUrl(),
          webhookUrl: submission.notifyUrl,
          method: 'ideal',
          billingAddress: {
            givenName: 'Asha',
            familyName: 'Rao',
            email: 'asha@example.com',
            streetAndNumber: 'Hauptstr. 1',
            postalCode: '10115',
            city: 'Berlin',
            country: 'DE',
          },
        },
      },
    ]);
  });

  test('has the text for the statement in front, the country in capitals, and no name of one letter', async () => {
    const payer = { first_name: 'A', last_name: 'Rao', email: 'n/a', country: 'de', house_number: '1' };
    const address = { address: 'Hauptstr.', city: 'Berlin', zip: '10115' };
    await connector.submit(hosted({ payer: { ...payer, ...address }, descriptor: 'Tea Shop' }), soon());
    expect(double.calls[0]?.body).toMatchObject({
      description: 'Tea Shop: Two teapots',
      billingAddress: {
        familyName: 'Rao',
        streetAndNumber: 'Hauptstr. 1',
        postalCode: '10115',
        city: 'Berlin',
        country: 'DE',
      },
    });
  });

  test.each([
    ['JPY', 1000n, '1000'],
    ['EUR', 5n, '0.05'],
    ['KWD', 1234n, '1.234'],
  ])('%s has its decimals', async (currency, amount, value) => {
    const outcome = await connector.submit(hosted({ currency, amount }), soon());
    expect(double.calls[0]?.body.amount).toEqual({ currency, value });
    expect(outcome).toMatchObject({ kind: 'redirected', reportedAmount: { amount, currency } });
  });

  test.each(['automatic', undefined])('with the method %s, the payer chooses on the page of Mollie', async (method) => {
    await submitted({ method, description: '' });
    expect(double.calls[0]?.body).not.toHaveProperty('method');
    expect(double.calls[0]?.body.description).toMatch(/^[\da-f-]{36}$/);
  });

  test('never gets the number of a card', async () => {
    const card = { number: new Secret('4242424242424242'), month: '12', year: '2030', holder: 'Asha Rao' };
    await submitted({ brand: 'card', method: 'creditcard', card });
    expect(JSON.stringify(double.calls)).not.toContain('4242');
  });

  test('has a webhook only if Mollie can reach the gateway', () => {
    const address = (notifyUrl: string): unknown => parametersOf(hosted({ notifyUrl }), undefined, false).webhookUrl;
    for (const host of [
      'localhost:8080',
      'shop.localhost',
      '127.0.0.1',
      '[::1]:8080',
      '10.0.0.5',
      '192.168.1.4:8080',
      '[fd00::1]',
    ])
      expect(address(`http://${host}/inbound/mollie/1`)).toBeUndefined();
    for (const notifyUrl of [
      'https://pay.example.com/inbound/mollie/1',
      'https://localhost.example.com/',
      'https://8.8.8.8/',
    ])
      expect(address(notifyUrl)).toBe(notifyUrl);
  });

  test.each<[PaymentStatus, object]>([
    [PaymentStatus.paid, { kind: 'settled', reportedAmount: { amount: 1000n, currency: 'EUR' } }],
    [PaymentStatus.pending, { kind: 'accepted' }],
    [PaymentStatus.authorized, { kind: 'authorised' }],
    [PaymentStatus.canceled, declined('cancelledByPayer')],
    [PaymentStatus.expired, declined('outOfTime')],
    [PaymentStatus.failed, declined('refusedByBank')],
  ])('%s', async (status, expected) => {
    const submission = await submitted();
    finish(submission.providerReference, status);
    expect(await query(submission)).toMatchObject({ providerReference: submission.providerReference, ...expected });
  });

  test('a status that Mollie may add leaves the outcome unknown', async () => {
    const submission = await submitted();
    finish(submission.providerReference, 'on_hold' as PaymentStatus);
    expect(await query(submission)).toMatchObject({ kind: 'unknown' });
  });

  test.each<[CardFailureReason, DeclineCause]>([
    ['insufficient_funds', 'insufficientFunds'],
    ['invalid_cvv', 'wrongSecurityCode'],
    ['card_expired', 'expiredCard'],
    ['possible_fraud', 'suspectedFraud'],
    ['authentication_failed', 'notAuthenticated'],
    ['refused_by_issuer', 'refusedByBank'],
    ['authentication_unavailable_acs', 'bankUnavailable'],
  ])('a card that fails for %s', async (reason, cause) => {
    const submission = await submitted({ method: 'creditcard' });
    finish(submission.providerReference, PaymentStatus.failed, reason);
    expect(await query(submission)).toMatchObject({ kind: 'declined', ...DECLINE_CAUSES[cause] });
  });

  test('a card that fails for an unknown reason may be one that must rest: no other provider is asked', async () => {
    const submission = await submitted({ method: 'creditcard' });
    finish(submission.providerReference, PaymentStatus.failed, 'of_the_future' as CardFailureReason);
    expect(await query(submission)).toMatchObject({
      kind: 'declined',
      reason: DECLINE_CAUSES.refusedByBank.reason,
      isSoft: false,
      decline: { class: 'other', code: 'of_the_future' },
    });
  });

  test('chargebacks are found with the settlement, each by its own id and whether it is reversed', async () => {
    const submission = await submitted();
    finish(submission.providerReference, PaymentStatus.paid);
    const chargeback = double.newChargeback(submission.providerReference);
    const other = double.newChargeback(submission.providerReference);
    chargeback.reversedAt = '2026-11-16T08:00:00+00:00';
    expect(await query(submission)).toMatchObject({
      kind: 'settled',
      chargebacks: [
        { chargebackReference: chargeback.id, isReversed: true },
        { chargebackReference: other.id, isReversed: false, respondBy: null },
      ],
    });
  });

  test('the fee of PayPal is reported', async () => {
    const submission = await submitted({ method: 'paypal' });
    finish(submission.providerReference, PaymentStatus.paid);
    const details = { paypalFee: { currency: 'EUR', value: '0.45' } };
    Object.assign(double.find(submission.reference)?.payment as object, { details });
    expect(await query(submission)).toMatchObject({ fee: { amount: 45n, currency: 'EUR' } });
  });

  test('whose answer was lost is repeated at once: the same payment, and the same page', async () => {
    const submission = hosted();
    double.fault('lost_after');
    const answer = await connector.submit(submission, soon());
    const created = double.find(submission.reference)?.payment;
    expect(answer).toMatchObject({ kind: 'redirected', providerReference: created?.id });
    expect(await query(submission)).toMatchObject({ kind: 'redirected', providerReference: created?.id });
  });
});

describe('what Mollie does not take', () => {
  test.each<[string, Partial<Submission>]>([
    ['a payout', { isPayout: true }],
    ['an authorisation by a method that settles at once', { authoriseOnly: true }],
    ['an authorisation by the method that the payer chooses', { authoriseOnly: true, method: 'automatic' }],
    ['a repetition of a payment of another connection', { recurringOf: 'the first payment' }],
  ])('%s is declined softly, without a call', async (_, changes) => {
    expect(await connector.submit(hosted(changes), soon())).toEqual(declined('methodUnavailable'));
    expect(await query(hosted({ ...changes, method: 'ideal' }))).toEqual({ kind: 'notFound' });
    expect(double.calls).toEqual([]);
  });

  test('a method that is not active, and any other refusal, are soft declines', async () => {
    expect(await connector.submit(hosted({ method: 'alma' }), soon())).toEqual(declined('methodUnavailable'));
    expect(await connector.submit(hosted({ returnUrl: () => '' }), soon())).toEqual(declined('providerRefused'));
  });

  test('a wrong key means that nothing was processed, and appears in no error', async () => {
    const wrong = open('test_wrongwrongwrong');
    const error = await Promise.resolve(wrong.submit(hosted(), soon())).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(NotSent);
    expect(String(error.stack)).not.toContain('wrongwrong');
    expect(await wrong.check?.(soon())).toEqual({
      ok: false,
      detail: 'Mollie does not accept the API key for this call (401).',
    });
    await wrong.close?.();
  });

  test('a key of another profile declines no payment that Mollie has confirmed', async () => {
    expect(await query(hosted({ providerReference: 'tr_elsewhere' }))).toEqual({ kind: 'unknown' });
    const first = { state: { customer: 'cst_elsewhere' }, secretState: {} };
    expect(await query(hosted({ recurringOf: 'the first payment', first }))).toEqual({ kind: 'unknown' });
  });

  test('a host that does not answer gets nothing', async () => {
    const dead = open(API_KEY, 'http://127.0.0.1:9');
    await expect(async () => dead.submit(hosted(), soon())).rejects.toBeInstanceOf(NotSent);
    expect(await dead.check?.(soon())).toMatchObject({ ok: false });
    await dead.close?.();
  });
});

test('the check lists the active methods', async () => {
  expect(await connector.check?.(soon())).toEqual({
    ok: true,
    detail: `Mollie accepts the API key. Active methods: ${double.activeMethods.join(', ')}.`,
    activeMethods: double.activeMethods,
  });
});

describe('a series', () => {
  const firstOf = async (): Promise<Submission> => {
    const submission = await submitted({ method: 'creditcard', isFirstOfSeries: true });
    finish(submission.providerReference, PaymentStatus.paid);
    return submission;
  };

  test('starts with a customer and a first payment, and is repeated with its mandate', async () => {
    const first = await firstOf();
    const [customerCall, paymentCall] = double.calls;
    expect(customerCall).toEqual({
      name: 'CustomerCreate',
      idempotencyKey: `${first.reference}-call-1`,
      body: { name: 'Asha Rao', email: 'asha@example.com', metadata: { reference: first.reference } },
    });
    const { customer } = first.state;
    expect(paymentCall?.body).toMatchObject({ customerId: customer, sequenceType: 'first', method: 'creditcard' });
    const { state, paymentMethod } = (await query(first)) as Exclude<Outcome, { kind: 'notFound' }>;
    expect(state).toEqual({ customer });
    const repetition = testSubmission({
      recurringOf: first.reference,
      first: { state: state ?? {}, secretState: {}, paymentMethod },
    });
    expect(await connector.submit(repetition, soon())).toMatchObject({ kind: 'settled' });
    expect(double.calls.at(-1)?.body).toEqual({
      amount: { currency: 'EUR', value: '10.00' },
      description: 'Two teapots',
      metadata: { reference: repetition.reference },
      webhookUrl: repetition.notifyUrl,
      customerId: customer,
      mandateId: paymentMethod?.reveal(),
      sequenceType: 'recurring',
    });
  });

  test('starts although Mollie refuses the e-mail address of the customer', async () => {
    const first = hosted({ isFirstOfSeries: true, payer: { email: REFUSED_EMAIL } });
    expect(await connector.submit(first, soon())).toMatchObject({ kind: 'redirected' });
  });

  test('a first payment whose answer was lost keeps its customer', async () => {
    const submission = hosted({ method: 'creditcard', isFirstOfSeries: true });
    double.fault('lost_after');
    const answer = await connector.submit(submission, soon());
    const created = double.find(submission.reference)?.payment;
    expect(answer).toMatchObject({
      kind: 'redirected',
      providerReference: created?.id,
      state: { customer: created?.customerId },
    });
  });

  test('a repetition is found among the payments of its customer, and is not made again', async () => {
    const { customer, mandate } = double.newCustomer();
    const first = { state: { customer }, secretState: {}, paymentMethod: new Secret(mandate) };
    const repetition = testSubmission({ recurringOf: 'the first payment', first });
    double.fault('lost_after');
    expect(await connector.submit(repetition, soon())).toMatchObject({ kind: 'settled' });
    // On the second page of the list by now.
    for (let each = 0; each < 250; each++) double.copy(repetition.reference);
    double.forgetKeys();
    double.calls.length = 0;
    expect(await query(repetition)).toMatchObject({ kind: 'settled' });
    expect(double.calls.map(({ name }) => name)).toEqual(['CustomerPayments', 'CustomerPayments']);
    expect(await query({ ...repetition, reference: 'never submitted' })).toEqual({ kind: 'notFound' });
  });

  test('a repetition without a mandate is declined', async () => {
    const first = await submitted({ method: 'creditcard', isFirstOfSeries: true });
    const repetition = testSubmission({ recurringOf: first.reference, first });
    expect(await connector.submit(repetition, soon())).toEqual(declined('providerRefused'));
  });
});

describe('an operation', () => {
  const about = ({ reference, providerReference, state }: Submission) => ({ reference, providerReference, state });
  const paid = async (): Promise<Submission> => {
    const submission = await submitted();
    finish(submission.providerReference as string, PaymentStatus.paid);
    return submission;
  };
  const held = async (): Promise<Submission> => {
    const submission = await submitted({ method: 'creditcard', authoriseOnly: true });
    expect(double.calls.at(-1)?.body.captureMode).toBe('manual');
    finish(submission.providerReference as string, PaymentStatus.authorized);
    return submission;
  };

  test.each<[RefundStatus, string]>([
    [RefundStatus.queued, 'accepted'],
    [RefundStatus.pending, 'accepted'],
    [RefundStatus.processing, 'accepted'],
    [RefundStatus.refunded, 'done'],
    [RefundStatus.failed, 'declined'],
    [RefundStatus.canceled, 'declined'],
    ['a status of the future' as RefundStatus, 'unknown'],
  ])('a refund that is %s is %s', async (status, kind) => {
    const refund = testOperation({ ...about(await paid()), amount: 300n });
    double.delayRefund();
    const answer = await connector.operate(refund, soon());
    expect(answer).toMatchObject({ kind: 'accepted', reportedAmount: { amount: 300n, currency: 'EUR' } });
    const made = double.find(refund.reference)?.refunds[0];
    expect(made).toMatchObject({
      amount: { currency: 'EUR', value: '3.00' },
      metadata: { operation: refund.operation },
    });
    if (made) made.status = status;
    const { operationReference } = answer as { operationReference: string };
    expect(operationReference).toBe(made?.id);
    expect(await connector.queryOperation({ ...refund, operationReference }, soon())).toMatchObject({ kind });
  });

  test('a refund like one a moment ago was not processed: it is repeated later', async () => {
    const refund = testOperation({ ...about(await paid()), amount: 300n });
    double.conflictRefund();
    await expect(async () => connector.operate(refund, soon())).rejects.toBeInstanceOf(RateLimited);
    double.forgetKeys();
    expect(await connector.operate(refund, soon())).toMatchObject({ kind: 'done' });
    expect(double.find(refund.reference)?.refunds).toHaveLength(1);
  });

  test('a refund that Mollie refuses has its reason', async () => {
    const refund = testOperation({ ...about(await paid()), amount: 1001n });
    expect(await connector.operate(refund, soon())).toEqual({
      kind: 'declined',
      reason: 'The amount is higher than the maximum.',
    });
  });

  test('a refund is found in the list after its idempotency key was forgotten', async () => {
    const refund = testOperation({ ...about(await paid()), amount: 300n });
    expect(await connector.queryOperation(refund, soon())).toEqual({ kind: 'notFound' });
    double.fault('lost_after');
    await expect(async () => connector.operate(refund, soon())).rejects.toThrow();
    double.forgetKeys();
    // On the second page of the list by now.
    const refunds = double.find(refund.reference)?.refunds ?? [];
    for (let each = 0; each < 250; each++)
      refunds.unshift(objects.refund({ amount: { currency: 'EUR', value: '0.01' }, paymentId: 'tr_1' }));
    expect(await connector.queryOperation(refund, soon())).toMatchObject({ kind: 'done' });
  });

  test('an authorisation ends when Mollie says so', async () => {
    const submission = await held();
    const found = double.find(submission.reference)?.payment;
    Object.assign(found ?? {}, { captureBefore: '2026-11-20T10:00:00+00:00' });
    expect(await query(submission)).toMatchObject({
      kind: 'authorised',
      captureBefore: Date.parse('2026-11-20T10:00:00Z'),
    });
  });

  test('the rest of an authorisation is released after the capture of a part', async () => {
    const submission = await held();
    const capture = testOperation({ ...about(submission), verb: 'capture', amount: 400n });
    expect(await connector.operate(capture, soon())).toMatchObject({ kind: 'done' });
    expect(double.calls.slice(-2)).toMatchObject([
      { name: 'CaptureList' },
      { name: 'PaymentRelease', idempotencyKey: `${capture.operation}-release`, body: {} },
    ]);
    expect(await query(submission)).toMatchObject({ kind: 'settled' });
    expect(double.balance(submission.reference)).toBe(400n);
    expect(await connector.queryOperation(capture, soon())).toMatchObject({ kind: 'done' });
  });

  test('a capture whose answer was lost is found again', async () => {
    const capture = testOperation({ ...about(await held()), verb: 'capture' });
    expect(await connector.queryOperation(capture, soon())).toEqual({ kind: 'notFound' });
    double.fault('lost_after');
    await expect(async () => connector.operate(capture, soon())).rejects.toThrow();
    expect(await connector.queryOperation(capture, soon())).toMatchObject({ kind: 'done' });
  });

  test('a void that the bank has not carried out yet is accepted, and done later', async () => {
    const submission = await held();
    const release = testOperation({ ...about(submission), verb: 'void' });
    expect(await connector.queryOperation(release, soon())).toEqual({ kind: 'notFound' });
    double.ignoreRelease();
    const answer = await connector.operate(release, soon());
    expect(answer).toEqual({ kind: 'accepted', operationState: { isRequested: true } });
    expect(double.calls.findLast(({ name }) => name === 'PaymentRelease')).toMatchObject({
      idempotencyKey: `${release.operation}-release`,
    });
    const later = { ...release, operationState: { isRequested: true } };
    expect(await connector.queryOperation(later, soon())).toMatchObject({ kind: 'accepted' });
    finish(submission.providerReference as string, PaymentStatus.canceled);
    expect(await connector.queryOperation(later, soon())).toEqual({ kind: 'done' });
  });

  test.each<[string, PaymentStatus, string]>([
    ['before the payer has paid cancels it', PaymentStatus.open, 'done'],
    ['of a payment that has ended is done', PaymentStatus.expired, 'done'],
    ['of a settled payment is declined', PaymentStatus.paid, 'declined'],
    ['of a payment that the bank is processing is declined', PaymentStatus.pending, 'declined'],
  ])('a void %s', async (_, status, kind) => {
    const submission = await submitted();
    finish(submission.providerReference, status);
    const release = testOperation({ ...about(submission), verb: 'void' });
    expect(await connector.operate(release, soon())).toMatchObject({ kind });
  });
});

describe('a webhook', () => {
  const read = (body: string, now = 1) => connector.readNotifications({}, Buffer.from(body), now);

  test('names a payment, which is queried; nothing else of it is believed', () => {
    expect(read('id=tr_5B8cwPMGnU&status=paid')).toEqual([
      { eventId: 'tr_5B8cwPMGnU', isUnsigned: true, providerReference: 'tr_5B8cwPMGnU', body: {} },
    ]);
    expect(connector.interpretNotification({ status: 'paid' }, { authoriseOnly: false })).toEqual({ kind: 'ask' });
  });

  test('has the same id whenever it arrives: one row per payment is stored', () => {
    expect(read('id=tr_5B8cwPMGnU', 2)).toEqual(read('id=tr_5B8cwPMGnU', 1));
  });

  test.each(['', 'id=', 'id=../refunds', 'id=ord_1', '{"id":"tr_1"}', `id=tr_${'x'.repeat(65)}`])(
    'without an id of a payment (%s) is ignored',
    (body) => {
      expect(read(body)).toEqual([]);
    },
  );
});

describe('the schemas of the requests, made of the types of the SDK', () => {
  const validate = requestValidator('mollie');
  const payment = { amount: { currency: 'EUR', value: '10.00' }, description: 'Two teapots', method: 'ideal' };

  test('accept what the connector sent in these tests', () => {
    expect(validate('PaymentCreate', payment)).toBeUndefined();
    expect(double.violations).toEqual([]);
  });

  test.each<[string, object]>([
    ['an unknown member', { ...payment, colour: 'red' }],
    ['an unknown member inside', { ...payment, amount: { ...payment.amount, minor: 1000 } }],
    ['an amount in minor units', { ...payment, amount: 1000 }],
    ['a number as a value', { ...payment, amount: { currency: 'EUR', value: 10 } }],
    ['a method that does not exist', { ...payment, method: 'idael' }],
    ['a sequence type that does not exist', { ...payment, sequenceType: 'second' }],
    ['a capture mode that does not exist', { ...payment, captureMode: 'later' }],
    ['no description', { amount: payment.amount }],
    ['an incomplete address', { ...payment, billingAddress: { city: 'Berlin' } }],
    ['the idempotency key in the body', { ...payment, idempotencyKey: '1' }],
  ])('refuse a payment with %s', (_, request) => {
    expect(validate('PaymentCreate', request)).toMatch(/^PaymentCreate: /);
  });

  test('refuse other wrong requests', () => {
    expect(validate('RefundCreate', { amount: '3.00' })).toBeDefined();
    expect(validate('CaptureCreate', { amount: payment.amount, final: true })).toBeDefined();
    expect(validate('PaymentGet', { embed: ['payments'] })).toBeDefined();
    expect(validate('RefundList', { limit: '250' })).toBeDefined();
    expect(validate('PaymentUnheardOf', {})).toBeDefined();
  });
});

describe('the lines of an order', () => {
  const address = { address: 'Hauptstr. 1', city: 'Berlin', zip: '10115', country: 'DE', email: 'asha@example.com' };
  const line = (type: string, description: string, quantity: number, unit: string, total: string) => ({
    type,
    description,
    quantity,
    unitPrice: { currency: 'EUR', value: unit },
    totalAmount: { currency: 'EUR', value: total },
  });

  test('are sent for methods that demand them, and add up', async () => {
    const lines = {
      items: [
        { name: 'Teapot', quantity: 2, unitAmount: '400', amount: '800' },
        { name: 'Cups', quantity: 3, amount: '100' },
      ],
      shipping: '150',
      discount: '50',
    };
    const submission = hosted({ method: 'klarna', payer: address, lines });
    expect(await connector.submit(submission, soon())).toMatchObject({ kind: 'redirected' });
    expect(double.calls.at(-1)?.body.lines).toEqual([
      line('physical', 'Teapot', 2, '4.00', '8.00'),
      line('physical', '3 × Cups', 1, '1.00', '1.00'),
      line('shipping_fee', 'Shipping', 1, '1.50', '1.50'),
      line('discount', 'Discount', 1, '-0.50', '-0.50'),
    ]);
  });

  test('are one for the whole order if the merchant sent none; other methods get none', async () => {
    const submission = hosted({ method: 'klarna', payer: address });
    expect(await connector.submit(submission, soon())).toMatchObject({ kind: 'redirected' });
    expect(double.calls.at(-1)?.body.lines).toEqual([line('physical', 'Two teapots', 1, '10.00', '10.00')]);
    await connector.submit(hosted(), soon());
    expect(double.calls.at(-1)?.body.lines).toBeUndefined();
  });

  test('riverty is only authorised', async () => {
    expect(await connector.submit(hosted({ method: 'riverty', payer: address }), soon())).toMatchObject({
      kind: 'declined',
      isSoft: true,
    });
    const held = hosted({ method: 'riverty', payer: address, authoriseOnly: true });
    expect(await connector.submit(held, soon())).toMatchObject({ kind: 'redirected' });
  });
});
