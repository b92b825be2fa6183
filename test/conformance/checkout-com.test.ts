/** The Checkout.com connector against a double of Checkout.com; every request is validated against its limits. */
import { expect } from 'vitest';
import { checkoutCom } from '../../src/connectors/checkout-com/index.ts';
import type { Submission } from '../../src/connectors/connector.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { CHECKOUT_CARDS, type CheckoutDouble, startCheckout } from '../doubles/checkout-com.ts';
import { testCard } from '../support/submissions.ts';
import { conforms, type ProviderDouble } from './conforms.ts';

async function checkoutDouble(
  submissionOf: (double: CheckoutDouble, outcome: 'success' | 'decline') => Partial<Submission>,
): Promise<ProviderDouble> {
  const double = await startCheckout();
  const { credentials } = double;
  const connector = checkoutCom.create({
    credential: (name) => credentials[name as keyof typeof credentials],
    settings: {},
    apiBase: double.url,
    environment: 'sandbox',
  });
  return {
    connector,
    isSigned: true,
    submission: (outcome) =>
      outcome === 'redirect'
        ? { brand: 'card', method: 'card', card: testCard(CHECKOUT_CARDS.challenge) }
        : submissionOf(double, outcome),
    fault: double.fault,
    // All operations are answered as received.
    delayOperation: () => {},
    pay: async ({ url }) => double.finish(url),
    balance: ({ reference }) => double.balance(reference),
    webhooks: async () => double.webhooks(),
    async close() {
      expect(double.violations).toEqual([]);
      await connector.close?.();
      await double.close();
    },
  };
}

conforms('checkout', () =>
  checkoutDouble((_, outcome) => ({
    brand: 'card',
    method: 'card',
    card: { ...testCard(CHECKOUT_CARDS.success), ...(outcome === 'decline' && { holder: 'DECLINED 20051' }) },
  })),
);

conforms('checkout, repetitions', () =>
  checkoutDouble((double, outcome) => {
    const token = double.newToken(outcome === 'decline' ? '20051' : undefined);
    const first = { state: {}, secretState: {}, paymentMethod: new Secret(token) };
    return { brand: 'card', method: 'card', recurringOf: 'the first payment', first };
  }),
);
