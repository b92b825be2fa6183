/** The Checkout.com connector against a double of Checkout.com; every request is validated against its limits. */
import { expect } from 'vitest';
import { checkoutCom } from '../../src/connectors/checkout-com/index.ts';
import type { Submission } from '../../src/connectors/connector.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { CHECKOUT_CARDS, type CheckoutDouble, startCheckout } from '../doubles/checkout-com.ts';
import { testCard } from '../support/submissions.ts';
import { conforms, type ProviderDouble } from './conforms.ts';

const FORMER_SECRET = 'the former signature key of the webhook';

async function checkoutDouble(
  submissionOf: (double: CheckoutDouble, outcome: 'success' | 'decline') => Partial<Submission>,
): Promise<ProviderDouble> {
  const double = await startCheckout();
  const credentials: Readonly<Record<string, string>> = double.credentials;
  const connector = checkoutCom.create({
    credential: (name) => (name === 'former_webhook_secret' ? FORMER_SECRET : credentials[name]) ?? '',
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
    afterSale: {
      reverseRefund({ reference }, { amount, currency }) {
        const payment = double.payment(reference);
        const refund = payment?.actions.find(({ type }) => type === 'Refund');
        double.report('payment_refund_declined', {
          id: payment?.id,
          action_id: refund?.id,
          reference: refund?.reference,
          amount: Number(amount),
          currency,
        });
      },
      dispute: ({ reference }, amount) => double.dispute(reference, 'evidence_required', { amount: Number(amount) }),
      winDispute: ({ reference }) => double.dispute(reference, 'won', { amount: 300 }),
      captureElsewhere: ({ reference }, amount) => double.inDashboard(reference, 'captures', Number(amount)),
      refundElsewhere: ({ reference }, amount) => double.inDashboard(reference, 'refunds', Number(amount)),
    },
    signedDuringRotation: ({ body }) => double.webhookOf(JSON.parse(body.toString()), FORMER_SECRET),
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
