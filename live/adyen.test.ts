/** The connector `adyen` against Adyen's test environment, through a proxy that loses calls and answers. */
import { expect, test } from 'vitest';
import { adyen } from '../src/connectors/adyen/index.ts';
import type { Submission } from '../src/connectors/connector.ts';
import { Secret } from '../src/lib/crypto/secret.ts';
import { Deadline } from '../src/lib/time/deadline.ts';
import { conforms, type ProviderDouble } from '../test/conformance/conforms.ts';
import { testSubmission } from '../test/support/submissions.ts';
import { startFaultyProxy } from './faulty-proxy.ts';
import { acceptsOperations } from './operations.ts';
import { startWebhookReceiver } from './webhooks.ts';

const CREDENTIALS: Readonly<Record<string, string>> = {
  api_key: process.env.ADYEN_TEST_KEY ?? '',
  merchant_account: process.env.ADYEN_TEST_MERCHANT_ACCOUNT ?? '',
  hmac_key: process.env.ADYEN_HMAC_KEY ?? '',
};
const isWithWebhooks = process.env.LIVE_WEBHOOK_PORT !== undefined && CREDENTIALS.hmac_key !== '';
const ORIGIN = process.env.ADYEN_LIVE_ORIGIN ?? 'https://checkout-test.adyen.com';

const open = (apiBase: string, settings: Record<string, unknown> = {}) =>
  adyen.create({ credential: (name) => CREDENTIALS[name] ?? '', settings, apiBase, environment: 'sandbox' });

/** Adyen's test environment refuses the card of this holder. */
const byCard = (holder: string): Partial<Submission> => ({
  brand: 'card',
  method: 'scheme',
  card: { number: new Secret('4111111111111111'), month: '03', year: '2030', holder, cvv: new Secret('737') },
});

const failure = (status: number) => ({ status, body: JSON.stringify({ status, errorCode: '000' }) });

async function liveAdyen(): Promise<ProviderDouble> {
  const receiver = await startWebhookReceiver();
  /** The amounts that Adyen authorised, by its own references, and our reference of each. */
  const authorised = new Map<string, { reference: string; amount: bigint }>();
  const proxy = await startFaultyProxy(
    ORIGIN,
    (method, path) => method === 'POST' && path.endsWith('/payments'),
    { error_500: failure(500), rate_limited: failure(429) },
    (body) => {
      const { resultCode, pspReference, merchantReference, amount } = JSON.parse(body);
      if (resultCode === 'Authorised')
        authorised.set(pspReference, { reference: merchantReference, amount: BigInt(amount?.value ?? 0) });
    },
  );
  const connector = open(proxy.url);
  return {
    connector,
    isSigned: true,
    submission: (outcome) => byCard(outcome === 'decline' ? 'DECLINED' : 'Asha Rao'),
    fault: proxy.fault,
    pay: () => Promise.reject(new Error('A payer is needed.')),
    balance: ({ reference }) =>
      [...authorised.values()]
        .filter((each) => each.reference === reference)
        .reduce((sum, { amount }) => sum + amount, 0n),
    webhooks: () => receiver?.take() ?? Promise.resolve([]),
    async close() {
      await receiver?.close();
      await connector.close?.();
      await proxy.close();
    },
  };
}

// The books of Adyen cannot be read, so that the kit cannot compare the money of operations; the tests below make them.
conforms('adyen (test environment)', liveAdyen, ['authorise', 'partialCapture', 'redirect', 'refund']);

acceptsOperations(
  'Adyen',
  () => open(ORIGIN),
  () => byCard('Asha Rao'),
  isWithWebhooks,
);

test.each([{}, { mode: 'hosted' }])('Adyen returns an address for the payer: settings %j', async (settings) => {
  const connector = open(ORIGIN, settings);
  const byBank = testSubmission({ brand: 'bank-a', method: 'ideal' });
  expect(await connector.submit(byBank, new Deadline(10_000))).toMatchObject({ kind: 'redirected' });
  await connector.close?.();
});
