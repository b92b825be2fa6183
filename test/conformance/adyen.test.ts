/** The Adyen connector against a double of Adyen. */
import { afterAll, expect } from 'vitest';
import { adyen } from '../../src/connectors/adyen/index.ts';
import { Secret } from '../../src/lib/secret.ts';
import { type AdyenDouble, startAdyen } from '../doubles/adyen.ts';
import { conforms, type ProviderDouble } from './conforms.ts';

const started: AdyenDouble[] = [];

const cardNamed = (holder: string) => ({
  number: new Secret('4111111111111111'),
  month: '03',
  year: '2030',
  holder,
  cvv: new Secret('737'),
});

const doubleOf = (settings: Record<string, unknown>) => async (): Promise<ProviderDouble> => {
  const double = await startAdyen();
  started.push(double);
  const { credentials } = double;
  const connector = adyen.create({
    credential: (name) => credentials[name as keyof typeof credentials],
    settings,
    apiBase: double.url,
    environment: 'sandbox',
  });
  return {
    connector,
    isSigned: true,
    isSignedInBody: true,
    submission: (outcome) => {
      if (outcome === 'redirect') return { brand: 'bank-a', method: 'ideal' };
      return { brand: 'vcard', method: 'scheme', card: cardNamed(outcome === 'decline' ? 'DECLINED' : 'Asha Rao') };
    },
    fault: double.fault,
    delayOperation: () => {},
    pay: async ({ url }) => double.decide(url),
    balance: ({ reference }) => double.balance(reference),
    webhooks: async () => double.webhooks(),
    combine: double.combine,
    async close() {
      await connector.close?.();
      await double.close();
    },
  };
};

afterAll(() => {
  expect(started.flatMap(({ violations }) => violations)).toEqual([]);
});

conforms('adyen', doubleOf({}));
