/** The PayPal connector against a double of PayPal; every request is validated against PayPal's limits. */
import { expect } from 'vitest';
import type { Submission } from '../../src/connectors/connector.ts';
import { paypal } from '../../src/connectors/paypal/index.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { amountText } from '../../src/lib/money/money.ts';
import { type PaypalDouble, startPaypal } from '../doubles/paypal.ts';
import { conforms, type ProviderDouble } from './conforms.ts';

const byWallet: Partial<Submission> = { brand: 'hosted-b', method: 'paypal' };

async function paypalDouble(
  submissionOf: (double: PaypalDouble, outcome: 'success' | 'decline') => Partial<Submission>,
): Promise<ProviderDouble> {
  const double = await startPaypal();
  const { credentials } = double;
  const connector = paypal.create({
    credential: (name) => credentials[name as keyof typeof credentials],
    settings: {},
    apiBase: double.url,
    environment: 'sandbox',
  });
  const moneyOf = (amount: bigint) => ({ currency_code: 'EUR', value: amountText(amount, 2) });
  let isDecline = false;
  let isDelayed = false;
  return {
    connector,
    isSigned: true,
    submission(outcome) {
      isDecline = outcome === 'decline';
      return outcome === 'redirect' ? byWallet : submissionOf(double, outcome);
    },
    fault: double.fault,
    delayOperation() {
      double.delayRefund();
      isDelayed = true;
    },
    pay: async ({ url }) => double.approve(url, isDecline ? 'INSTRUMENT_DECLINED' : undefined),
    balance: ({ reference }) => double.balance(reference),
    afterSale: {
      reverseRefund: ({ reference }) => double.failRefunds(reference),
      dispute: ({ reference }, amount) => double.dispute(reference, 'CREATED', { dispute_amount: moneyOf(amount) }),
      winDispute: ({ reference }) =>
        double.dispute(reference, 'RESOLVED', {
          dispute_amount: moneyOf(300n),
          dispute_outcome: { outcome_code: 'RESOLVED_SELLER_FAVOUR' },
        }),
      captureElsewhere: ({ reference }, amount) => double.atPaypal(reference, 'capture', amountText(amount, 2)),
      refundElsewhere: ({ reference }, amount) => double.atPaypal(reference, 'refund', amountText(amount, 2)),
    },
    // PayPal signs with its next certificate.
    signedDuringRotation: ({ body }) => double.webhookOf(JSON.parse(body.toString()), undefined, 'next'),
    async webhooks() {
      if (isDelayed) double.settleRefunds();
      isDelayed = false;
      return double.webhooks();
    },
    async close() {
      expect(double.violations).toEqual([]);
      await connector.close?.();
      await double.close();
    },
  };
}

conforms('paypal, on its page', async () => ({ ...(await paypalDouble(() => byWallet)), isHosted: true }));

// The outcome of a repetition is known at once.
conforms('paypal, repetitions', () =>
  paypalDouble((double, outcome) => {
    const token = double.newToken(outcome === 'decline' ? 'PAYER_CANNOT_PAY' : undefined);
    const first = { state: {}, secretState: {}, paymentMethod: new Secret(token) };
    return { ...byWallet, recurringOf: 'the first payment', first };
  }),
);
