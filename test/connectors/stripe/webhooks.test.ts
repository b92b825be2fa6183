/** Webhooks of Stripe and amounts as Stripe counts them. */
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connector } from '../../../src/connectors/connector.ts';
import { fromStripe, toStripe } from '../../../src/connectors/stripe/amounts.ts';
import { stripe } from '../../../src/connectors/stripe/cards.ts';
import { stripeHosted } from '../../../src/connectors/stripe/hosted.ts';
import { newId } from '../../../src/lib/crypto/id.ts';
import { STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../../doubles/stripe.ts';
import * as objects from '../../doubles/stripe-objects.ts';

let double: StripeDouble;
let cards: Connector;
let hosted: Connector;
beforeAll(async () => {
  double = await startStripe();
  const access = {
    credential: (name: string) => STRIPE_CREDENTIALS[name as keyof typeof STRIPE_CREDENTIALS],
    settings: {},
    apiBase: double.url,
    environment: 'sandbox',
  } as const;
  cards = stripe.create(access);
  hosted = stripeHosted.create(access);
});
afterAll(async () => {
  await cards.close?.();
  await hosted.close?.();
  await double.close();
});

describe('webhooks', () => {
  const ours = () => ({ turnpike_reference: newId(), turnpike_connector: 'stripe' });
  const read = (webhook: { headers: Record<string, string>; body: Buffer }, now = Date.now(), connector = cards) =>
    connector.readNotifications(webhook.headers, webhook.body, now);
  const meaning = async (webhook: { headers: Record<string, string>; body: Buffer }) => {
    const [event] = (await read(webhook)) ?? [];
    return event && cards.interpretNotification(event.body, { authoriseOnly: false });
  };

  test('are refused when they are too old by our clock, or signed with another secret', async () => {
    const webhook = double.send('payment_intent.succeeded', objects.paymentIntent({ metadata: ours() }));
    expect(await read(webhook)).toHaveLength(1);
    expect(await read(webhook, Date.now() + 299_000)).toHaveLength(1);
    expect(await read(webhook, Date.now() + 302_000)).toBeUndefined();
    const payload = webhook.body.toString();
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_other' });
    expect(await read({ headers: { 'stripe-signature': signature }, body: webhook.body })).toBeUndefined();
  });

  test('about a payment make the gateway query it', async () => {
    const metadata = ours();
    const intent = objects.paymentIntent({ metadata });
    const events = [
      double.send('payment_intent.succeeded', intent),
      double.send('payment_intent.payment_failed', intent),
      double.send('payment_intent.amount_capturable_updated', intent),
      double.send('payment_intent.canceled', intent),
      double.send('checkout.session.completed', objects.session({ metadata })),
      double.send('checkout.session.expired', objects.session({ metadata })),
      double.send('checkout.session.async_payment_succeeded', objects.session({ metadata })),
      double.send('checkout.session.async_payment_failed', objects.session({ metadata })),
      double.send('charge.refunded', objects.charge(intent, 1000)),
    ];
    for (const webhook of events) {
      expect(await read(webhook)).toMatchObject([{ reference: metadata.turnpike_reference }]);
      expect(await meaning(webhook)).toEqual({ kind: 'ask' });
    }
  });

  test.each([
    ['succeeded', 'done'],
    ['pending', 'accepted'],
    ['requires_action', 'accepted'],
    ['failed', 'declined'],
    ['canceled', 'declined'],
  ])('about a refund that is %s bring its outcome', async (status, kind) => {
    const metadata = { ...ours(), turnpike_operation: newId() };
    const webhook = double.send('refund.updated', objects.refund({ status, amount: 300, metadata }));
    expect(await read(webhook)).toMatchObject([
      { reference: metadata.turnpike_reference, operation: metadata.turnpike_operation },
    ]);
    expect(await meaning(webhook)).toMatchObject({ kind: 'operation', outcome: { kind } });
  });

  test('about a dispute are chargebacks, except inquiries', async () => {
    const intent = objects.paymentIntent({});
    const created = double.send('charge.dispute.created', objects.dispute(intent));
    expect(await read(created)).toMatchObject([{ providerReference: intent.id }]);
    expect(await meaning(created)).toMatchObject({
      kind: 'chargedBack',
      chargedBack: fromStripe(intent.amount, intent.currency),
      cause: 'fraudulent',
      chargebackReference: expect.stringMatching(/^du_/),
    });
  });

  test.each<[Stripe.Event.Type, Stripe.Dispute.Status, object | undefined]>([
    ['charge.dispute.created', 'warning_needs_response', { kind: 'chargebackReport', stage: 'inquiry' }],
    [
      'charge.dispute.updated',
      'warning_under_review',
      { kind: 'chargebackReport', stage: 'inquiry', state: 'answered' },
    ],
    ['charge.dispute.closed', 'warning_closed', { kind: 'chargebackReport', state: 'closed' }],
    ['charge.dispute.created', 'prevented', { kind: 'chargebackReport', stage: 'warning', state: 'closed' }],
    ['charge.dispute.funds_withdrawn', 'needs_response', { kind: 'chargedBack' }],
    ['charge.dispute.updated', 'under_review', { kind: 'chargebackReport', state: 'answered' }],
    ['charge.dispute.updated', 'needs_response', undefined],
    ['charge.dispute.closed', 'won', { kind: 'chargebackReversed' }],
    ['charge.dispute.funds_reinstated', 'won', { kind: 'chargebackReversed' }],
    ['charge.dispute.closed', 'lost', { kind: 'chargebackReport', state: 'lost' }],
    ['charge.dispute.updated', 'appeal_needs_response', { kind: 'unhandled' }],
    ['charge.dispute.updated', 'appeal_under_review', { kind: 'unhandled' }],
    ['charge.dispute.closed', 'frozen' as Stripe.Dispute.Status, { kind: 'unhandled' }],
  ])('%s with the status %s', async (type, status, expected) => {
    const webhook = double.send(type, objects.dispute(objects.paymentIntent({}), status));
    const found = await meaning(webhook);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });

  test('the deadline of a dispute is that of Stripe; 0 means that no answer is possible', async () => {
    const due = async (due_by: number) => {
      const { evidence_details } = objects.dispute(objects.paymentIntent({}));
      const dispute = objects.dispute(objects.paymentIntent({}), 'needs_response', {
        evidence_details: { ...evidence_details, due_by },
      });
      return meaning(double.send('charge.dispute.created', dispute));
    };
    expect(await due(1_900_000_000)).toMatchObject({ respondBy: 1_900_000_000_000 });
    expect(await due(0)).toMatchObject({ respondBy: null });
  });

  test('a new status of a refund goes to the operator', async () => {
    const metadata = { ...ours(), turnpike_operation: newId() };
    const refund = objects.refund({ metadata, status: 'frozen' });
    expect(await meaning(double.send('refund.updated', refund))).toEqual({
      kind: 'unhandled',
      event: 'refund.updated frozen',
    });
  });

  test('a new event about a payment goes to the operator', async () => {
    const type = 'payment_intent.of_the_future' as Stripe.Event.Type;
    const webhook = double.send(type, objects.paymentIntent({ metadata: ours() }));
    expect(await meaning(webhook)).toEqual({ kind: 'unhandled', event: type });
  });

  test('of other types, of other software and of the other connector are ignored', async () => {
    const mine = objects.paymentIntent({ metadata: ours() });
    expect(await read(double.send('payment_intent.created', mine))).toEqual([]);
    expect(await read(double.send('payment_intent.succeeded', objects.paymentIntent({})))).toEqual([]);
    expect(await read(double.send('refund.updated', objects.refund({})))).toEqual([]);
    expect(await read(double.send('payment_intent.succeeded', mine), Date.now(), hosted)).toEqual([]);
  });
});

test.each<[bigint, string, number | undefined]>([
  [1000n, 'EUR', 1000],
  [500n, 'JPY', 500],
  [5n, 'ISK', 500],
  [5n, 'UGX', 500],
  [500n, 'MGA', 5],
  [550n, 'MGA', undefined],
  [5120n, 'KWD', 5120],
  [5125n, 'KWD', undefined],
  [1n, 'XXX', undefined],
])('%s minor units of %s are %s at Stripe', (amount, currency, stripes) => {
  expect(toStripe(amount, currency)).toBe(stripes);
  if (stripes !== undefined) expect(fromStripe(stripes, currency.toLowerCase())).toEqual({ amount, currency });
});

test.each<[unknown, unknown]>([
  [10.5, 'eur'],
  [1050, 'isk'],
  ['1000', 'eur'],
  [1000, undefined],
])('an amount of Stripe that is not one (%s %s) is not read', (amount, currency) => {
  expect(fromStripe(amount, currency)).toBeUndefined();
});
