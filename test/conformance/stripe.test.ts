/** The connectors of Stripe against its double; every request is validated against the schemas of Stripe's SDK. */
import Stripe from 'stripe';
import { expect } from 'vitest';
import type { ConnectorDefinition, Submission } from '../../src/connectors/connector.ts';
import { stripe } from '../../src/connectors/stripe/cards.ts';
import { stripeHosted } from '../../src/connectors/stripe/hosted.ts';
import { STRIPE_CARDS, STRIPE_CREDENTIALS, startStripe } from '../doubles/stripe.ts';
import * as objects from '../doubles/stripe-objects.ts';
import { testCard } from '../support/submissions.ts';
import { conforms, type ProviderDouble } from './conforms.ts';

const CARDS = {
  success: STRIPE_CARDS.success,
  decline: STRIPE_CARDS.insufficientFunds,
  redirect: STRIPE_CARDS.challenge,
} as const;

async function stripeDouble(
  definition: ConnectorDefinition,
  submission: (outcome: keyof typeof CARDS) => Partial<Submission>,
): Promise<ProviderDouble> {
  const stripeServer = await startStripe();
  const connector = definition.create({
    credential: (name) => STRIPE_CREDENTIALS[name as keyof typeof STRIPE_CREDENTIALS],
    settings: {},
    apiBase: stripeServer.url,
    environment: 'sandbox',
  });
  let isDecline = false;
  const disputes = new Map<string, Stripe.Dispute>();
  const intentOf = (reference: string) => stripeServer.intentOf(reference) as Stripe.PaymentIntent;
  return {
    connector,
    isSigned: true,
    submission(outcome) {
      isDecline = outcome === 'decline';
      return submission(outcome);
    },
    fault: (fault) => stripeServer.fault(fault),
    delayOperation: () => {
      stripeServer.received.splice(0);
      stripeServer.delayRefund();
    },
    async pay({ url }) {
      stripeServer.received.splice(0);
      return Object.fromEntries((await stripeServer.pay(url, isDecline ? 'expire' : 'approve')).searchParams);
    },
    balance: ({ reference }) => stripeServer.balance(reference),
    afterSale: {
      reverseRefund: (_, { operation }) => stripeServer.failRefund(stripeServer.refundOf(operation)),
      dispute({ reference }, amount) {
        const disputed = objects.dispute(intentOf(reference), 'needs_response', { amount: Number(amount) });
        disputes.set(reference, disputed);
        stripeServer.send('charge.dispute.created', disputed);
      },
      winDispute({ reference }) {
        const disputed = disputes.get(reference) as Stripe.Dispute;
        stripeServer.send('charge.dispute.closed', { ...disputed, status: 'won' });
      },
      captureElsewhere: ({ reference }, amount) => stripeServer.captureElsewhere(reference, Number(amount)),
      refundElsewhere: ({ reference }, amount) => void stripeServer.refundElsewhere(reference, Number(amount)),
    },
    // Stripe signs with both secrets.
    signedDuringRotation({ headers, body }) {
      const payload = body.toString();
      const other = Stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_of_the_past' });
      const [, past = ''] = /v1=(\w+)/.exec(other) ?? [];
      const signature = `${headers['stripe-signature']}`.replace('v1=', `v1=${past},v1=`);
      return { headers: { ...headers, 'stripe-signature': signature }, body };
    },
    webhooks: async () => stripeServer.received.splice(0),
    async close() {
      expect(stripeServer.problems).toEqual([]);
      await connector.close?.();
      await stripeServer.close();
    },
  };
}

conforms('stripe', () =>
  stripeDouble(stripe, (outcome) => ({ brand: 'card', method: 'card', card: testCard(CARDS[outcome]) })),
);

conforms('stripe-hosted', async () => ({
  ...(await stripeDouble(stripeHosted, () => ({ brand: 'hosted-a', method: 'card' }))),
  isHosted: true,
}));
