/** The connectors of Stripe against its double; every request is validated against the schemas of Stripe's SDK. */
import { expect } from 'vitest';
import type { ConnectorDefinition, Submission } from '../../src/connectors/connector.ts';
import { stripe } from '../../src/connectors/stripe/cards.ts';
import { stripeHosted } from '../../src/connectors/stripe/hosted.ts';
import { STRIPE_CARDS, STRIPE_CREDENTIALS, startStripe } from '../doubles/stripe.ts';
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
