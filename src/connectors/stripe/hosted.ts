/** The connector `stripe-hosted`: the payer pays on the page of Stripe (Checkout Session), where cards are entered. */
import type Stripe from 'stripe';
import type { Deadline } from '../../lib/time/deadline.ts';
import { REASONS } from '../../rules/reasons.ts';
import {
  type ConnectionAccess,
  type Connector,
  type ConnectorDefinition,
  declineOf,
  idempotencyKey,
  type Outcome,
  type ProviderMemory,
  pageNotOpened,
  type Submission,
} from '../connector.ts';
import { cleanPayer, sendOrBare } from '../payer.ts';
import { toStripe } from './amounts.ts';
import { CAPABILITIES, createBase } from './cards.ts';
import { isAboutPayer, KeyReused, Refused } from './client.ts';
import { configurationOf, connectOf } from './connect.ts';
import { declinedBy } from './declines.ts';
import { UNHANDLED } from './events.ts';
import { ALL_METHODS, descriptionOf, intentOf, outcomeOf, SESSION_FIELDS, statementOf, threeDsOf } from './intents.ts';
import { metadataOf } from './metadata.ts';
import { withRefunds } from './refunds.ts';

const NAME = 'stripe-hosted';

/** Tells a payer who pressed "back" from one who paid. */
const CANCELLED = 'stripe_cancelled';

const STEP = 20 * 60;
/** Stripe takes 30 minutes to a day; a minute less, because its clock is another one. */
const LEAST = 31 * 60;
const MOST = 24 * 60 * 60 - 60;

/**
 * The page ends with the payer's time, if Stripe takes it, or else 40 to 60 minutes from now: the gateway then closes it
 * itself. Rounded, so that a repeated call has the same fields, which its idempotency key requires.
 */
function expiry({ payerUntil = 0 }: Submission): number {
  const now = Date.now() / 1000;
  const end = Math.floor(payerUntil / 1000);
  return end > now + LEAST && end < now + MOST ? end : (Math.floor(now / STEP) + 3) * STEP;
}

function cancelUrl(returnUrl: string): string {
  const url = new URL(returnUrl);
  url.searchParams.set(CANCELLED, '1');
  return url.href;
}

function sessionOf(
  submission: Submission,
  settings: ConnectionAccess['settings'],
): Stripe.Checkout.SessionCreateParams {
  const { reference, amount, currency, authoriseOnly, isFirstOfSeries } = submission;
  const { email } = cleanPayer(submission);
  const { method = ALL_METHODS } = submission;
  const returnUrl = submission.returnUrl();
  const metadata = metadataOf(submission, NAME);
  return {
    mode: 'payment',
    client_reference_id: reference,
    success_url: returnUrl,
    cancel_url: cancelUrl(returnUrl),
    expires_at: expiry(submission),
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: currency.toLowerCase(),
          unit_amount: toStripe(amount, currency) as number,
          product_data: { name: descriptionOf(submission).description ?? reference },
        },
      },
    ],
    ...(method === ALL_METHODS
      ? configurationOf(settings)
      : { allowed_payment_method_types: [method as Stripe.Checkout.SessionCreateParams.AllowedPaymentMethodType] }),
    ...((method === ALL_METHODS || method === 'card') && threeDsOf(submission)),
    // The payer is charged the amount and currency of the order.
    adaptive_pricing: { enabled: false },
    ...(email && { customer_email: email }),
    ...(isFirstOfSeries && { customer_creation: 'always' }),
    metadata,
    payment_intent_data: {
      capture_method: authoriseOnly ? 'manual' : 'automatic',
      ...descriptionOf(submission),
      ...statementOf(submission),
      ...connectOf(settings, submission),
      ...(isFirstOfSeries && { setup_future_usage: 'off_session' }),
      metadata,
    },
  };
}

function sessionOutcome(session: Stripe.Checkout.Session, memory: ProviderMemory): Outcome {
  const state = { ...memory.state, session: session.id };
  const intent = typeof session.payment_intent === 'object' ? session.payment_intent : null;
  if (session.status === 'expired') return { ...declineOf('outOfTime'), providerReference: intent?.id ?? session.id };
  // While the page is open, the payer may try again after a decline.
  if (session.status === 'open') {
    return session.url
      ? { kind: 'redirected', url: session.url, method: 'GET', params: {}, providerReference: session.id, state }
      : { kind: 'unknown', state };
  }
  const outcome = intent ? outcomeOf(intent, { ...memory, state }) : ({ kind: 'notFound' } as const);
  switch (outcome.kind) {
    case 'notFound':
      return { kind: 'unknown', state };
    // The payer has finished, and pays a voucher or a bank transfer later.
    case 'unknown':
    case 'redirected':
      return { kind: 'accepted', providerReference: outcome.providerReference, state };
    default:
      return { ...outcome, state: outcome.state ?? state };
  }
}

/** The session of a payment, once it is known. */
const sessionIdOf = ({ state }: ProviderMemory): string | undefined =>
  typeof state.session === 'string' ? state.session : undefined;

function createHosted(base: ReturnType<typeof createBase>, settings: ConnectionAccess['settings']): Connector {
  const { client } = base;
  /** The payer's e-mail address is optional: the page asks for it. */
  const open = (submission: Submission, deadline: Deadline): Promise<Stripe.Checkout.Session> =>
    sendOrBare(submission, isAboutPayer, (sent, isBare) =>
      client.call(deadline, ({ checkout }) =>
        checkout.sessions.create(sessionOf(sent, settings), {
          idempotencyKey: idempotencyKey(submission.reference, isBare ? 2 : 1),
        }),
      ),
    );
  const retrieve = (id: string, deadline: Deadline): Promise<Stripe.Checkout.Session> =>
    client.call(deadline, ({ checkout }) => checkout.sessions.retrieve(id, { expand: [...SESSION_FIELDS] }));

  /** Closes the page; false if the payer has finished, or the page has expired. */
  const expire = async (id: string, deadline: Deadline): Promise<boolean> => {
    try {
      await client.call(deadline, ({ checkout }) => checkout.sessions.expire(id));
      return true;
    } catch (error) {
      if (error instanceof Refused) return false;
      throw error;
    }
  };

  const query: Connector['query'] = async (submission, deadline) => {
    if (submission.recurringOf !== undefined) return base.query(submission, deadline);
    const id = sessionIdOf(submission);
    if (id !== undefined) {
      const session = await retrieve(id, deadline);
      const outcome = sessionOutcome(session, submission);
      const { payment_intent: intent } = session;
      return typeof intent === 'object' && intent !== null
        ? withRefunds(client, outcome, intent, submission, deadline)
        : outcome;
    }
    // The answer with the address was lost, so no payer has it. The call is repeated under the same key, which works for
    // some minutes; later, the page is as good as never created.
    try {
      return sessionOutcome(await open(submission, deadline), submission);
    } catch (error) {
      if (error instanceof Refused || error instanceof KeyReused) return { kind: 'notFound' };
      throw error;
    }
  };

  return {
    ...base,
    query,
    async submit(submission, deadline) {
      const { recurringOf, isPayout, card, amount, currency } = submission;
      if (recurringOf !== undefined) return base.submit(submission, deadline);
      // A card that was entered at the gateway cannot be passed on to the page.
      if (isPayout || card || toStripe(amount, currency) === undefined) return declineOf('methodUnavailable');
      try {
        return sessionOutcome(await open(submission, deadline), submission);
      } catch (error) {
        if (error instanceof Refused) return declinedBy(error);
        throw pageNotOpened(error);
      }
    },
    async withdraw(submission, cause, deadline) {
      const id = sessionIdOf(submission);
      return id !== undefined && (await expire(id, deadline)) ? declineOf(cause) : query(submission, deadline);
    },
    async resume(submission, returned, deadline) {
      const id = sessionIdOf(submission);
      const isCancelled = returned[CANCELLED] !== undefined && id !== undefined && (await expire(id, deadline));
      return isCancelled ? declineOf('cancelledByPayer') : query(submission, deadline);
    },
    async operate(operation, deadline) {
      const id = sessionIdOf(operation);
      const isAtStripe = operation.verb === 'void' && intentOf(operation) === undefined && id !== undefined;
      if (!isAtStripe) return base.operate(operation, deadline);
      return (await expire(id, deadline)) ? { kind: 'done' } : { kind: 'declined', reason: REASONS.providerSaidNo };
    },
    async queryOperation(operation, deadline) {
      const id = sessionIdOf(operation);
      if (intentOf(operation) !== undefined || id === undefined) return base.queryOperation(operation, deadline);
      const { status } = await retrieve(id, deadline);
      if (status === 'open') return { kind: 'notFound' };
      return status === 'expired' ? { kind: 'done' } : { kind: 'declined', reason: REASONS.providerSaidNo };
    },
  };
}

export const stripeHosted: ConnectorDefinition = {
  capabilities: CAPABILITIES,
  unhandled: UNHANDLED,
  create: (access) => createHosted(createBase(access, NAME), access.settings),
};
