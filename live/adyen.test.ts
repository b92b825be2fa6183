/** The connector `adyen` against Adyen's test environment, through a proxy that loses calls and answers. */
import { expect, test } from 'vitest';
import { adyen } from '../src/connectors/adyen/index.ts';
import type { Outcome, Submission } from '../src/connectors/connector.ts';
import { Deadline } from '../src/lib/deadline.ts';
import { Secret } from '../src/lib/secret.ts';
import { conforms, type ProviderDouble } from '../test/conformance/conforms.ts';
import { testOperation, testSubmission } from '../test/support/submissions.ts';
import { startFaultyProxy } from './faulty-proxy.ts';

const CREDENTIALS: Readonly<Record<string, string>> = {
  api_key: process.env.ADYEN_TEST_KEY ?? '',
  merchant_account: process.env.ADYEN_TEST_MERCHANT_ACCOUNT ?? '',
};
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
    webhooks: () => Promise.resolve([]),
    async close() {
      await connector.close?.();
      await proxy.close();
    },
  };
}

// The outcomes of operations arrive by webhooks, which this program cannot receive.
conforms('adyen (test environment)', liveAdyen, ['authorise', 'partialCapture', 'redirect', 'refund']);

test.each([
  ['capture', true],
  ['void', true],
  ['refund', false],
] as const)('Adyen accepts the request of a %s', async (verb, authoriseOnly) => {
  const connector = open(ORIGIN);
  const submission = testSubmission({ ...byCard('Asha Rao'), authoriseOnly });
  const outcome = await connector.submit(submission, new Deadline(10_000));
  const { providerReference } = outcome as Exclude<Outcome, { kind: 'notFound' }>;
  expect(outcome.kind).toBe(authoriseOnly ? 'authorised' : 'settled');
  const operation = testOperation({ verb, amount: 400n, reference: submission.reference, providerReference });
  expect(await connector.operate(operation, new Deadline(10_000))).toMatchObject({ kind: 'accepted' });
  await connector.close?.();
});

test.each([{}, { mode: 'hosted' }])('Adyen returns an address for the payer: settings %j', async (settings) => {
  const connector = open(ORIGIN, settings);
  const byBank = testSubmission({ brand: 'bank-a', method: 'ideal' });
  expect(await connector.submit(byBank, new Deadline(10_000))).toMatchObject({ kind: 'redirected' });
  await connector.close?.();
});
