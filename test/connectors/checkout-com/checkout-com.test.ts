/** The Checkout.com connector: what it sends, what it makes of each answer and webhook, and how it finds what was lost. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fromCheckout, toCheckout } from '../../../src/connectors/checkout-com/amounts.ts';
import { declinedBy, refusedBy } from '../../../src/connectors/checkout-com/declines.ts';
import { checkoutCom } from '../../../src/connectors/checkout-com/index.ts';
import { outcomeOf } from '../../../src/connectors/checkout-com/outcomes.ts';
import {
  type ConnectionAccess,
  type Connector,
  NotSent,
  type Outcome,
  type ProviderNotification,
  type Submission,
} from '../../../src/connectors/connector.ts';
import { Secret } from '../../../src/lib/crypto/secret.ts';
import { Deadline } from '../../../src/lib/time/deadline.ts';
import { CHECKOUT_CARDS, type CheckoutDouble, startCheckout } from '../../doubles/checkout-com.ts';
import { testCard, testOperation, testSubmission } from '../../support/submissions.ts';

let double: CheckoutDouble;
let connector: Connector;
const open = (changes: Partial<ConnectionAccess> = {}): Connector =>
  checkoutCom.create({
    credential: (name) => double.credentials[name as keyof typeof double.credentials] ?? '',
    settings: {},
    apiBase: double.url,
    environment: 'sandbox',
    ...changes,
  });
beforeAll(async () => {
  double = await startCheckout();
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
const byCard = (changes: Partial<Submission> = {}): Submission =>
  testSubmission({ brand: 'card', method: 'card', card: testCard(CHECKOUT_CARDS.success), ...changes });
type Settled = Extract<Outcome, { kind: 'settled' | 'authorised' }>;
const submit = async (submission: Submission, to = connector): Promise<Settled> =>
  (await to.submit(submission, soon())) as Settled;
const sent = (): Record<string, unknown> => double.calls.at(-1)?.body ?? {};
const paid = async (changes: Partial<Submission> = {}): Promise<Submission> => {
  const submission = byCard(changes);
  return { ...submission, providerReference: (await submit(submission)).providerReference };
};

describe('a card', () => {
  test('is sent with what Checkout.com needs', async () => {
    const address = { address: 'Hauptstr.', house_number: '1', city: 'Berlin', zip: '10115', country: 'de' };
    const payer = { first_name: 'Asha', last_name: 'Rao', email: 'asha@example.com', ...address };
    const submission = byCard({ payer, descriptor: 'Café Müller_1' });
    const outcome = await submit(submission, open({ settings: { descriptor_city: 'Berlin' } }));
    const payment = double.payment(submission.reference);
    expect(outcome).toMatchObject({
      kind: 'settled',
      providerReference: payment?.id,
      reportedAmount: { amount: 1000n, currency: 'EUR' },
      networkTransactionId: payment?.id.slice(4, 19),
    });
    expect(outcome.paymentMethod?.reveal()).toBe(payment?.sourceId);
    expect(double.calls).toEqual([
      {
        path: '/payments',
        key: `${submission.reference}-call-1`,
        body: {
          source: {
            type: 'card',
            number: CHECKOUT_CARDS.success,
            expiry_month: 12,
            expiry_year: 2038,
            name: 'Asha Rao',
            cvv: '123',
            billing_address: { country: 'DE', address_line1: 'Hauptstr. 1', city: 'Berlin', zip: '10115' },
          },
          amount: 1000,
          currency: 'EUR',
          payment_type: 'Regular',
          '3ds': { enabled: true, attempt_n3d: true },
          success_url: 'https://pay.example.com/return/1',
          failure_url: 'https://pay.example.com/return/1',
          reference: submission.reference,
          description: 'Two teapots',
          capture: true,
          customer: { email: 'asha@example.com', name: 'Asha Rao' },
          billing_descriptor: { name: 'Cafe Muller 1', city: 'Berlin' },
          processing_channel_id: double.credentials.processing_channel_id,
        },
      },
    ]);
  });

  test.each([
    [
      'challenge',
      'require_3ds',
      { enabled: true, attempt_n3d: true, challenge_indicator: 'challenge_requested_mandate' },
    ],
    ['none', 'skip_3ds', { enabled: false }],
    ['none', 'low_value', { enabled: true, attempt_n3d: true, exemption: 'low_value' }],
    ['none', 'transaction_risk', { enabled: true, attempt_n3d: true, exemption: 'transaction_risk_assessment' }],
    [null, null, { enabled: true, attempt_n3d: true }],
  ] as const)('the wish for %s (%s) reaches the issuer', async (requested, reason, fields) => {
    await submit(byCard({ threeDs: { requested, reason } }));
    expect(sent()['3ds']).toEqual(fields);
  });

  test('of a caller is flagged, and not authenticated', async () => {
    await submit(byCard({ isTelephoneOrder: true }));
    expect(sent()).toMatchObject({ payment_type: 'MOTO' });
    expect(sent()).not.toHaveProperty('3ds');
  });

  test('of a device is sent with its proof; without one, or of an unknown wallet, it is not sent', async () => {
    const wallet = {
      type: 'CRYPTOGRAM_3DS',
      network: 'Visa',
      cryptogram: new Secret('AgAAAAAAAIR8CQ=='),
      eci: '05',
    } as const;
    await submit(byCard({ wallet, method: 'applepay' }));
    expect(sent()).toMatchObject({
      source: { type: 'network_token', token_type: 'applepay', cryptogram: 'AgAAAAAAAIR8CQ==', eci: '05' },
    });
    expect(sent()).not.toHaveProperty('3ds');
    double.calls.length = 0;
    for (const changes of [
      { wallet: { ...wallet, cryptogram: undefined }, method: 'applepay' },
      { wallet, method: 'card' },
    ])
      expect(await submit(byCard(changes))).toMatchObject({ kind: 'declined', isSoft: true });
    expect(double.calls).toEqual([]);
    await submit(byCard({ wallet: { type: 'PAN_ONLY', network: 'Visa' }, method: 'googlepay' }));
    expect(sent()).toMatchObject({ source: { type: 'card' }, '3ds': { enabled: true } });
  });

  test.each([
    ['a payout', { isPayout: true }],
    ['no card', { card: undefined }],
    ['an amount above nine digits', { amount: 1_000_000_000n }],
    ['an unknown currency', { currency: 'XXQ' }],
    ['three digits that do not end with 0', { currency: 'KWD', amount: 1001n }],
  ] satisfies [string, Partial<Submission>][])('%s is not sent', async (_, changes) => {
    expect(await submit(byCard(changes))).toMatchObject({ kind: 'declined', isSoft: true });
    expect(double.calls).toEqual([]);
  });

  test('that Checkout.com does not accept is declined with its cause', async () => {
    const card = { ...testCard('42') };
    expect(await submit(byCard({ card }))).toMatchObject({
      kind: 'declined',
      reason: 'The card number is not valid.',
      decline: { class: 'new_card', code: 'card_number_invalid' },
    });
  });

  test('a challenge that fails declines the payment', async () => {
    const submission = byCard({ card: testCard(CHECKOUT_CARDS.challenge) });
    const outcome = (await connector.submit(submission, soon())) as Extract<Outcome, { kind: 'redirected' }>;
    const waiting = { ...submission, providerReference: outcome.providerReference };
    expect(await connector.query(waiting, soon())).toMatchObject({ kind: 'redirected', url: outcome.url });
    double.finish(outcome.url, '20151');
    expect(await connector.query(waiting, soon())).toMatchObject({
      kind: 'declined',
      decline: { class: 'authenticate', code: '20151' },
    });
  });
});

describe('a series', () => {
  test('stores the card, and repeats with its token and the first payment', async () => {
    const first = byCard({ isFirstOfSeries: true });
    const { paymentMethod, providerReference } = await submit(first);
    expect(sent()).toMatchObject({
      payment_type: 'Unscheduled',
      merchant_initiated: false,
      source: { store_for_future_use: true },
    });
    const repeated = byCard({
      card: undefined,
      recurringOf: first.reference,
      first: { state: {}, secretState: {}, paymentMethod, providerReference },
    });
    expect(await submit(repeated)).toMatchObject({ kind: 'settled' });
    expect(sent()).toMatchObject({
      source: { type: 'id', id: paymentMethod?.reveal() },
      payment_type: 'Unscheduled',
      merchant_initiated: true,
      previous_payment_id: providerReference,
    });
    for (const name of ['3ds', 'success_url', 'customer']) expect(sent()).not.toHaveProperty(name);
  });

  test('without a token it repeats with the card, and without both not at all', async () => {
    const first = { state: {}, secretState: {} };
    expect(await submit(byCard({ recurringOf: 'x', first }))).toMatchObject({ kind: 'settled' });
    expect(sent()).toMatchObject({ source: { type: 'card', stored: true }, merchant_initiated: true });
    expect(await submit(byCard({ card: undefined, recurringOf: 'x', first }))).toMatchObject({ kind: 'declined' });
  });
});

describe('statuses and codes', () => {
  test.each([
    ['Authorized', 'settled', 'authorised'],
    ['Captured', 'settled', 'settled'],
    ['Partially Captured', 'settled', 'settled'],
    ['Paid', 'settled', 'settled'],
    ['Partially Refunded', 'settled', 'settled'],
    ['Refunded', 'settled', 'settled'],
    ['Pending', 'unknown', 'unknown'],
    ['Active', 'unknown', 'unknown'],
    ['Requested', 'unknown', 'unknown'],
    ['Authentication Requested', 'unknown', 'unknown'],
    ['Retry Scheduled', 'unknown', 'unknown'],
    ['Card Verified', 'unknown', 'unknown'],
    ['Declined', 'declined', 'declined'],
    ['Canceled', 'declined', 'declined'],
    ['Expired', 'declined', 'declined'],
    ['Voided', 'declined', 'declined'],
    ['New Status', 'unknown', 'unknown'],
  ])('%s is %s for a sale and %s for an authorisation', (status, sale, authorisation) => {
    const payment = { id: 'pay_1', status, amount: 1000, currency: 'EUR', balances: { total_captured: 400 } };
    expect(outcomeOf(payment, { authoriseOnly: false }).kind).toBe(sale);
    const outcome = outcomeOf(payment, { authoriseOnly: true });
    expect(outcome.kind).toBe(authorisation);
    // The amount that was captured, perhaps in the dashboard.
    if (outcome.kind === 'settled')
      expect(outcome).toMatchObject({ captured: { amount: 400n }, reportedAmount: { amount: 1000n, currency: 'EUR' } });
  });

  test.each([
    ['20051', {}, 'funds', '51', false],
    ['20005', { partner_response_code: '05', partner_merchant_advice_code: '03' }, 'never', '05', false],
    ['20005', {}, 'other', '05', true],
    ['30041', {}, 'never', '41', false],
    ['30099', {}, 'other', '99', false],
    ['20154', {}, 'authenticate', '20154', false],
    ['20182', { partner_response_code: '82' }, 'other', '20182', false],
    ['20087', {}, 'new_card', '20087', false],
    ['40101', {}, 'other', '40101', false],
    ['20999', {}, 'other', '20999', true],
    ['70999', {}, 'other', '70999', false],
    ['70999', { partner_response_code: '91' }, 'technical', '91', true],
    [undefined, {}, 'other', undefined, true],
  ] as const)('the code %s with %j has the class %s', (code, processing, declineClass, stored, isSoft) => {
    const { decline, isSoft: soft } = declinedBy(code, processing);
    expect([decline?.class, decline?.code, soft]).toEqual([declineClass, stored, isSoft]);
  });

  test.each([
    ['card_number_invalid', 'The card number is not valid.'],
    ['card_expired', 'The card has expired.'],
    ['cvv_invalid', 'The security code of the card is wrong.'],
    ['processing_channel_id_invalid', 'The provider does not offer this method for this payment.'],
    ['some_new_error', 'Declined by the provider.'],
  ])('the error %s', (code, reason) => {
    expect(refusedBy(code)).toMatchObject({ reason });
  });

  test('amounts have the digits of Checkout.com', () => {
    expect([
      toCheckout(1050n, 'EUR'),
      toCheckout(1000n, 'JPY'),
      toCheckout(1000n, 'CLP'),
      toCheckout(1230n, 'KWD'),
    ]).toEqual([1050, 1000, 100_000, 1230]);
    expect(fromCheckout(100_000, 'CLP')).toEqual({ amount: 1000n, currency: 'CLP' });
    expect([fromCheckout(100_050, 'CLP'), fromCheckout(1.5, 'EUR'), fromCheckout(1, 'XXQ')]).toEqual(
      Array(3).fill('invalid'),
    );
  });
});

describe('the address', () => {
  test('with a prefix that is none sends nothing', async () => {
    const wrong = open({
      apiBase: undefined,
      settings: { api_prefix: 'evil.example.com/' },
      environment: 'production',
    });
    await expect(async () => wrong.submit(byCard(), soon())).rejects.toBeInstanceOf(NotSent);
    await wrong.close?.();
  });
});

describe('operations', () => {
  test('are refused for a payment that does not allow them', async () => {
    const { reference, providerReference } = await paid();
    const wanted = testOperation({ verb: 'void', reference, providerReference });
    expect(await connector.operate(wanted, soon())).toMatchObject({ kind: 'declined' });
    expect(await connector.queryOperation(wanted, soon())).toEqual({ kind: 'notFound' });
    const unknown = testOperation({ verb: 'refund', reference });
    expect(await connector.operate(unknown, soon())).toMatchObject({ kind: 'declined' });
  });

  test('are found by their reference, and are pending until they are processed', async () => {
    const { reference, providerReference } = await paid();
    const wanted = testOperation({ verb: 'refund', reference, providerReference, amount: 300n });
    expect(await connector.operate(wanted, soon())).toMatchObject({ kind: 'accepted' });
    expect(await connector.queryOperation(wanted, soon())).toMatchObject({
      kind: 'done',
      reportedAmount: { amount: 300n, currency: 'EUR' },
    });
    const later = { ...wanted, operationReference: 'act_unknown' };
    expect(await connector.queryOperation(later, soon())).toEqual({ kind: 'accepted' });
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

  test('are refused with another key, and ignored if they are of another channel', async () => {
    const { reference } = await paid();
    const event = { id: 'evt_1', type: 'payment_approved', data: { id: 'pay_1', reference } };
    const forged = double.webhookOf(event, 'another key');
    expect(await connector.readNotifications(forged.headers, forged.body, Date.now())).toBeUndefined();
    const other = double.webhookOf({ ...event, data: { ...event.data, processing_channel_id: 'pc_other' } });
    expect(await connector.readNotifications(other.headers, other.body, Date.now())).toEqual([]);
    const keyless = open({ credential: () => '' });
    const empty = double.webhookOf(event, '');
    expect(await keyless.readNotifications(empty.headers, empty.body, Date.now())).toBeUndefined();
    await keyless.close?.();
  });

  test('operations are reported with their verb, also those that the gateway did not make', async () => {
    const { reference, providerReference } = await paid();
    const events = await readAll();
    expect(events.map((event) => [event.body.type, event.operationReference !== undefined])).toEqual([
      ['payment_approved', false],
      ['payment_captured', true],
    ]);
    expect(events.map(meaning)).toEqual([
      { kind: 'ask' },
      {
        kind: 'operation',
        verb: 'capture',
        outcome: { kind: 'done', reportedAmount: { amount: 1000n, currency: 'EUR' } },
      },
    ]);
    double.report('payment_capture_declined', { id: providerReference, action_id: 'act_1', reference });
    const [failed] = await readAll();
    expect(failed).toMatchObject({ reference, operationReference: 'act_1' });
    expect(failed && meaning(failed)).toMatchObject({ kind: 'operation', outcome: { kind: 'declined' } });
  });

  test.each([
    ['received', { kind: 'chargebackReport', stage: 'warning', respondBy: null }],
    ['evidence_required', { kind: 'chargedBack', respondBy: Date.parse('2026-12-01T18:00:00Z') }],
    ['evidence_submitted', { kind: 'chargebackReport', state: 'answered' }],
    ['arbitration_sent_to_scheme', { kind: 'chargebackReport', state: 'answered' }],
    ['accepted', { kind: 'chargebackReport', state: 'lost' }],
    ['expired', { kind: 'chargebackReport', state: 'lost' }],
    ['lost', { kind: 'chargebackReport', state: 'lost' }],
    ['arbitration_lost', { kind: 'chargebackReport', state: 'lost' }],
    ['resolved', { kind: 'chargebackReport', state: 'closed' }],
    ['won', { kind: 'chargebackReversed' }],
    ['arbitration_won', { kind: 'chargebackReversed' }],
    ['canceled', { kind: 'chargebackReversed' }],
    ['something_new', { kind: 'unhandled', event: 'dispute_something_new' }],
  ])('dispute_%s', async (type, expected) => {
    const { reference, providerReference } = await paid();
    await readAll();
    double.dispute(reference, type, { amount: 400 });
    const [event] = await readAll();
    expect(event).toMatchObject({ reference, providerReference });
    expect(event && meaning(event)).toMatchObject(
      expected.kind === 'unhandled'
        ? expected
        : {
            ...expected,
            chargedBack: { amount: 400n, currency: 'EUR' },
            cause: 'fraudulent, 10.4',
            chargebackReference: `dsp_${providerReference?.slice(4, 24)}`,
          },
    );
  });

  test('an unknown event of a payment is shown to the operator; others are ignored', async () => {
    const { reference, providerReference } = await paid();
    await readAll();
    for (const type of ['payment_frozen', 'payment_returned', 'payment_pending', 'issuing_card_created'])
      double.report(type, { id: providerReference, reference });
    expect((await readAll()).map(meaning)).toEqual([
      { kind: 'unhandled', event: 'payment_frozen' },
      { kind: 'unhandled', event: 'payment_returned' },
    ]);
  });
});
