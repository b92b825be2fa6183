/** The connector `stripe` against the test mode of Stripe, through a proxy that loses calls and answers. */
import Stripe from 'stripe';
import type { Submission } from '../src/connectors/connector.ts';
import { stripe } from '../src/connectors/stripe/cards.ts';
import { Secret } from '../src/lib/secret.ts';
import { conforms, type ProviderDouble } from '../test/conformance/conforms.ts';
import { startFaultyProxy } from './faulty-proxy.ts';

const KEY = process.env.STRIPE_TEST_KEY ?? '';

/** Stored methods that every test account has, so that the account need not be allowed to send card numbers. */
const METHODS = { success: 'pm_card_visa', decline: 'pm_card_chargeDeclinedInsufficientFunds' } as const;

const failure = (status: number, type: string) => ({ status, body: JSON.stringify({ error: { type } }) });

async function liveStripe(): Promise<ProviderDouble> {
  /** The PaymentIntents that Stripe created, by our references. */
  const intents = new Map<string, string>();
  const proxy = await startFaultyProxy(
    'https://api.stripe.com',
    (method, path) => method === 'POST' && /\/(confirm|capture|cancel|refunds)$/.test(path),
    { error_500: failure(500, 'api_error'), rate_limited: failure(429, 'invalid_request_error') },
    (body) => {
      const { object, id, metadata } = JSON.parse(body) as Stripe.PaymentIntent;
      if (object === 'payment_intent') intents.set(metadata.turnpike_reference ?? '', id);
    },
  );
  const connector = stripe.create({
    credential: () => KEY,
    settings: {},
    apiBase: proxy.url,
    environment: 'sandbox',
  });
  const client = new Stripe(KEY, { telemetry: false });
  return {
    connector,
    isSigned: true,
    submission: (outcome): Partial<Submission> => ({
      brand: 'card',
      method: 'card',
      recurringOf: 'a first payment',
      first: {
        state: {},
        secretState: {},
        paymentMethod: new Secret(METHODS[outcome === 'decline' ? 'decline' : 'success']),
      },
    }),
    fault: proxy.fault,
    pay: () => Promise.reject(new Error('A payer is needed.')),
    async balance({ reference }) {
      const id = intents.get(reference);
      if (id === undefined) return 0n;
      const { amount_received, latest_charge } = await client.paymentIntents.retrieve(id, {
        expand: ['latest_charge'],
      });
      const refunded = typeof latest_charge === 'object' ? (latest_charge?.amount_refunded ?? 0) : 0;
      return BigInt(amount_received - refunded);
    },
    webhooks: () => Promise.resolve([]),
    async close() {
      await connector.close?.();
      await proxy.close();
    },
  };
}

// What a payer does on a page of Stripe, and the webhooks about it, are not part of this: see the docs of the provider.
conforms('stripe (test mode)', liveStripe, ['redirect']);
