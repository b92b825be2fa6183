/** The tables of events and statuses: whatever the vendors' SDKs name is handled, or listed with the reason. */
import { createRequire } from 'node:module';
import type Checkout from '@adyen/api-library/lib/src/typings/checkout/models.js';
import type Notifications from '@adyen/api-library/lib/src/typings/notification/models.js';
import { type Payment, PaymentStatus } from '@mollie/api-client';
import type Stripe from 'stripe';
import { expect, test } from 'vitest';
import { eventOf } from '../../src/connectors/adyen/events.ts';
import { outcomeOf as adyenOutcome, sessionOutcome } from '../../src/connectors/adyen/outcomes.ts';
import { outcomeOf as checkoutOutcome } from '../../src/connectors/checkout-com/outcomes.ts';
import type { Outcome } from '../../src/connectors/connector.ts';
import { DEFINITIONS } from '../../src/connectors/index.ts';
import { outcomeOf as mollieOutcome } from '../../src/connectors/mollie/outcomes.ts';
import { outcomeOf as paypalOutcome } from '../../src/connectors/paypal/outcomes.ts';
import { outcomeOf as stripeOutcome } from '../../src/connectors/stripe/intents.ts';
import { testSubmission } from '../support/submissions.ts';

const require = createRequire(import.meta.url);
const { NotificationRequestItem } =
  require('@adyen/api-library/lib/src/typings/notification/models.js') as typeof Notifications;
const { PaymentResponse, SessionResultResponse } =
  require('@adyen/api-library/lib/src/typings/checkout/models.js') as typeof Checkout;

const listed = (name: keyof typeof DEFINITIONS): string[] =>
  (DEFINITIONS[name]?.unhandled ?? []).map((entry) => entry.name);
const submission = testSubmission({});

test.each(Object.keys(DEFINITIONS) as (keyof typeof DEFINITIONS)[])(
  '%s names nothing twice, and a reason for everything',
  (name) => {
    const names = listed(name);
    expect(new Set(names).size).toBe(names.length);
    for (const { because } of DEFINITIONS[name]?.unhandled ?? []) expect(because).toMatch(/^[A-Z].{15,}\.$/);
  },
);

test.each(Object.values(NotificationRequestItem.EventCodeEnum))('the event %s of Adyen has an entry', (code) => {
  const isHandled = !['attention', 'nothing'].includes(eventOf(code).about);
  expect(isHandled || listed('adyen').includes(code)).toBe(true);
});

test.each<[string, Outcome]>([
  ...Object.values(PaymentResponse.ResultCodeEnum).map((code): [string, Outcome] => [
    code,
    adyenOutcome({ resultCode: code }, submission),
  ]),
  ...Object.values(SessionResultResponse.StatusEnum).map((status): [string, Outcome] => [
    status,
    sessionOutcome({ status }, submission),
  ]),
])('the status %s of Adyen is handled, or listed', (status, outcome) => {
  expect(listed('adyen').includes(status)).toBe(outcome.kind === 'unknown');
  expect(outcome).not.toHaveProperty('newStatus');
});

const molliePayment = (status: string) =>
  ({ id: 'tr_1', status, amount: { currency: 'EUR', value: '10.00' }, _links: {} }) as unknown as Payment;
const stripeIntent = (status: string) =>
  ({ id: 'pi_1', status, amount: 1000, currency: 'eur' }) as unknown as Stripe.PaymentIntent;
const checkoutPayment = (status: string) => ({ id: 'pay_1', status, amount: 1000, currency: 'EUR' });
const paypalOrder = (status: string) => ({ id: 'O1', status });
const money = { currency_code: 'EUR', value: '10.00' };
const paypalCapture = (status: string) => ({
  id: 'O1',
  status: 'COMPLETED',
  purchase_units: [{ payments: { captures: [{ id: 'C1', status, amount: money }] } }],
});

test.each(Object.values(PaymentStatus))('the status %s of Mollie is handled', (status) => {
  expect(mollieOutcome(molliePayment(status)).kind).not.toBe('unknown');
});

test.each([
  ['stripe', stripeOutcome(stripeIntent('frozen'), submission)],
  ['adyen', adyenOutcome({ resultCode: 'frozen' as Checkout.PaymentResponse.ResultCodeEnum }, submission)],
  ['adyen', sessionOutcome({ status: 'frozen' as Checkout.SessionResultResponse.StatusEnum }, submission)],
  ['mollie', mollieOutcome(molliePayment('frozen'))],
  ['paypal', paypalOutcome(paypalOrder('frozen'))],
  ['paypal', paypalOutcome(paypalCapture('frozen'))],
  ['checkout', checkoutOutcome(checkoutPayment('frozen'), submission)],
] as const)('a new status of %s leaves the outcome open, and is named', (_, outcome) => {
  expect(outcome).toMatchObject({ kind: 'unknown', newStatus: 'frozen' });
});

test.each([
  ['checkout', 'Card Verified', checkoutOutcome(checkoutPayment('Card Verified'), submission)],
  ['paypal', 'APPROVED', paypalOutcome(paypalOrder('APPROVED'))],
] as const)('a listed status of %s (%s) leaves the outcome open', (name, status, outcome) => {
  expect(listed(name)).toContain(status);
  expect(outcome.kind).toBe('unknown');
  expect(outcome).not.toHaveProperty('newStatus');
});
