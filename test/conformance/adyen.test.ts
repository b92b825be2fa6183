/** The Adyen connector against a double of Adyen; every request is validated against the schemas of Adyen's SDK. */
import { expect } from 'vitest';
import { adyen } from '../../src/connectors/adyen/index.ts';
import type { Submission } from '../../src/connectors/connector.ts';
import { startAdyen } from '../doubles/adyen.ts';
import { testCard } from '../support/submissions.ts';
import { conforms, type ProviderDouble } from './conforms.ts';

const FORMER_KEY = 'AB'.repeat(32);
const byBank: Partial<Submission> = { brand: 'bank-a', method: 'ideal' };

type Wanted = Parameters<ProviderDouble['submission']>[0];

async function adyenDouble(
  settings: Record<string, unknown>,
  submission: (outcome: Wanted) => Partial<Submission>,
): Promise<ProviderDouble> {
  const double = await startAdyen();
  const { credentials } = double;
  let reported = 0;
  const report = (code: string, { reference, providerReference }: Submission, amount: bigint, about = reference) =>
    double.report(
      code as 'REFUND',
      true,
      { amount: { currency: 'EUR', value: Number(amount) }, reference: about },
      { psp: `E${++reported}`, ...(providerReference !== undefined && { original: providerReference }) },
    );
  const connector = adyen.create({
    credential: (name) => (({ ...credentials, former_hmac_key: FORMER_KEY }) as Record<string, string>)[name] ?? '',
    settings,
    apiBase: double.url,
    environment: 'sandbox',
  });
  let isDecline = false;
  return {
    connector,
    isSigned: true,
    isSignedInBody: true,
    submission(outcome) {
      isDecline = outcome === 'decline';
      return submission(outcome);
    },
    fault: double.fault,
    // All operations are answered as received.
    delayOperation: () => {},
    pay: async ({ url }) => double.decide(url, isDecline ? 'refuse' : 'authorise'),
    balance: ({ reference }) => double.balance(reference),
    unheld: { ...byBank, card: undefined },
    afterSale: {
      reverseRefund: (submission, refund) => report('REFUNDED_REVERSED', submission, refund.amount, refund.operation),
      dispute: (submission, amount) => report('CHARGEBACK', submission, amount),
      winDispute: (submission) => report('CHARGEBACK_REVERSED', submission, 300n),
      captureElsewhere: (submission, amount) => report('CAPTURE', submission, amount),
      refundElsewhere: (submission, amount) => report('REFUND', submission, amount),
    },
    signedDuringRotation({ body }) {
      const [{ NotificationRequestItem: item }] = JSON.parse(body.toString()).notificationItems;
      const { hmacSignature: _, ...additionalData } = item.additionalData;
      return double.webhookOf([double.sign({ ...item, additionalData }, FORMER_KEY)]);
    },
    webhooks: async () => double.webhooks(),
    combine: double.combine,
    async close() {
      expect(double.violations).toEqual([]);
      await connector.close?.();
      await double.close();
    },
  };
}

conforms('adyen', () =>
  adyenDouble({}, (outcome) => {
    if (outcome === 'redirect') return byBank;
    const holder = outcome === 'decline' ? 'DECLINED' : 'Asha Rao';
    return { brand: 'card', method: 'scheme', card: { ...testCard('4111111111111111'), holder } };
  }),
);

conforms('adyen, hosted', async () => ({
  ...(await adyenDouble({ mode: 'hosted' }, () => ({ ...byBank, method: 'scheme' }))),
  isHosted: true,
}));
