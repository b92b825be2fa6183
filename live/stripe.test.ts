/** The connector `stripe` against the test mode of Stripe, through a proxy that loses calls and answers. */
import Stripe from 'stripe';
import type { ConnectorDefinition, Submission } from '../src/connectors/connector.ts';
import { stripe } from '../src/connectors/stripe/cards.ts';
import { stripeHosted } from '../src/connectors/stripe/hosted.ts';
import { Secret } from '../src/lib/crypto/secret.ts';
import { conforms, type ProviderDouble } from '../test/conformance/conforms.ts';
import { startFaultyProxy } from './faulty-proxy.ts';
import { untilPaid } from './payer.ts';
import { startWebhookReceiver } from './webhooks.ts';

const KEY = process.env.STRIPE_TEST_KEY ?? '';
const SECRET = process.env.STRIPE_WEBHOOK_SECRET ?? '';
const isWithPayer = process.env.LIVE_PAYER !== undefined;
const isWithWebhooks = process.env.LIVE_WEBHOOK_PORT !== undefined && SECRET !== '';

/** Stored methods that every test account has, so that the account need not be allowed to send card numbers. */
const METHODS = {
  success: 'pm_card_visa',
  decline: 'pm_card_chargeDeclinedInsufficientFunds',
  redirect: 'pm_card_authenticationRequired',
} as const;

const failure = (status: number, type: string) => ({ status, body: JSON.stringify({ error: { type } }) });

async function liveStripe(definition: ConnectorDefinition): Promise<ProviderDouble> {
  const receiver = await startWebhookReceiver();
  /** The PaymentIntents that Stripe created, by our references. */
  const intents = new Map<string, string>();
  const proxy = await startFaultyProxy(
    'https://api.stripe.com',
    (method, path) => method === 'POST' && /\/(confirm|capture|cancel|refunds|sessions)$/.test(path),
    { error_500: failure(500, 'api_error'), rate_limited: failure(429, 'invalid_request_error') },
    (body) => {
      const answer = JSON.parse(body) as Stripe.PaymentIntent | Stripe.Checkout.Session;
      const intent = answer.object === 'payment_intent' ? answer.id : answer.payment_intent;
      const id = typeof intent === 'object' ? intent?.id : intent;
      if (id) intents.set(answer.metadata?.turnpike_reference ?? '', id);
    },
  );
  const connector = definition.create({
    credential: (name) => (name === 'webhook_secret' ? SECRET : KEY),
    settings: {},
    apiBase: proxy.url,
    environment: 'sandbox',
  });
  const client = new Stripe(KEY, { telemetry: false });
  let wanted = 'success';
  return {
    connector,
    isSigned: true,
    submission(outcome): Partial<Submission> {
      wanted = outcome;
      if (definition === stripeHosted) return { brand: 'hosted-a', method: 'card' };
      const first = { state: {}, secretState: {}, paymentMethod: new Secret(METHODS[outcome]) };
      return {
        brand: 'card',
        method: 'card',
        first,
        ...(outcome !== 'redirect' && { recurringOf: 'a first payment' }),
      };
    },
    fault: proxy.fault,
    pay: (outcome) =>
      untilPaid(
        outcome.url,
        wanted === 'decline'
          ? 'go back without paying'
          : 'pay with 4242 4242 4242 4242, or complete the authentication',
        async () => {
          const { providerReference: id = '', state } = outcome;
          const { status } = id.startsWith('cs_')
            ? await client.checkout.sessions.retrieve(String(state?.session ?? id))
            : await client.paymentIntents.retrieve(id);
          return status !== 'open' && status !== 'requires_action';
        },
      ),
    async balance({ reference }) {
      const id = intents.get(reference);
      if (id === undefined) return 0n;
      const { amount_received, latest_charge } = await client.paymentIntents.retrieve(id, {
        expand: ['latest_charge'],
      });
      const refunded = typeof latest_charge === 'object' ? (latest_charge?.amount_refunded ?? 0) : 0;
      return BigInt(amount_received - refunded);
    },
    webhooks: () => receiver?.take() ?? Promise.resolve([]),
    async close() {
      await receiver?.close();
      await connector.close?.();
      await proxy.close();
    },
  };
}

conforms('stripe (test mode)', () => liveStripe(stripe), isWithPayer && isWithWebhooks ? [] : ['redirect']);

if (isWithPayer)
  conforms(
    'stripe-hosted (test mode)',
    async () => ({ ...(await liveStripe(stripeHosted)), isHosted: true }),
    isWithWebhooks ? [] : ['redirect'],
  );
