/** The Adyen connector against a double of Adyen; every request is validated against the schemas of Adyen's SDK. */
import { expect } from 'vitest';
import { adyen } from '../../src/connectors/adyen/index.ts';
import type { Submission } from '../../src/connectors/connector.ts';
import { startAdyen } from '../doubles/adyen.ts';
import { testCard } from '../support/submissions.ts';
import { conforms, type ProviderDouble } from './conforms.ts';

type Wanted = Parameters<ProviderDouble['submission']>[0];

async function adyenDouble(
  settings: Record<string, unknown>,
  submission: (outcome: Wanted) => Partial<Submission>,
): Promise<ProviderDouble> {
  const double = await startAdyen();
  const { credentials } = double;
  const connector = adyen.create({
    credential: (name) => credentials[name as keyof typeof credentials],
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
    webhooks: async () => double.webhooks(),
    combine: double.combine,
    async close() {
      expect(double.violations).toEqual([]);
      await connector.close?.();
      await double.close();
    },
  };
}

const byBank: Partial<Submission> = { brand: 'bank-a', method: 'ideal' };

conforms('adyen', () =>
  adyenDouble({}, (outcome) => {
    if (outcome === 'redirect') return byBank;
    const holder = outcome === 'decline' ? 'DECLINED' : 'Asha Rao';
    return { brand: 'card', method: 'scheme', card: { ...testCard('4111111111111111'), holder } };
  }),
);

conforms('adyen, hosted', async () => ({
  ...(await adyenDouble({ mode: 'hosted' }, () => byBank)),
  isHosted: true,
}));
