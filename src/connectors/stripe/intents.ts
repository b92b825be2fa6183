/** PaymentIntents of Stripe: creates and confirms them, finds them again, and reads their outcome. */
import type Stripe from 'stripe';
import type { Deadline } from '../../lib/deadline.ts';
import { Secret } from '../../lib/secret.ts';
import {
  declineOf,
  idempotencyKey,
  NotSent,
  type Outcome,
  type ProviderMemory,
  type Submission,
} from '../connector.ts';
import { fromStripe, toStripe } from './amounts.ts';
import { KeyReused, Refused, type StripeClient } from './client.ts';
import { declinedBy } from './declines.ts';

/** The keys of `metadata`, by which objects at Stripe are recognised as ours. */
export const METADATA = {
  reference: 'turnpike_reference',
  connector: 'turnpike_connector',
  operation: 'turnpike_operation',
} as const;

/** The calls of a submission, for their idempotency keys. */
const CALLS = { customer: 1, paymentMethod: 2, create: 3, confirm: 4 } as const;

const CHARGE_FIELDS = 'latest_charge.balance_transaction';
export const INTENT_FIELDS: readonly string[] = [CHARGE_FIELDS];
export const SESSION_FIELDS: readonly string[] = [`payment_intent.${CHARGE_FIELDS}`];

type Objects = string | { id: string } | null | undefined;
const idOf = (value: Objects): string | undefined => (typeof value === 'string' ? value : value?.id);
const objectOf = <Value extends { id: string }>(value: string | Value | null | undefined): Value | undefined =>
  typeof value === 'object' && value !== null ? value : undefined;

/** The PaymentIntent of a payment, once it is known; before, the reference may be a Checkout Session. */
export const intentOf = ({ providerReference }: ProviderMemory): string | undefined =>
  providerReference?.startsWith('pi_') ? providerReference : undefined;

export const metadataOf = (
  { reference }: Pick<Submission, 'reference'>,
  connector: string,
): Record<string, string> => ({
  [METADATA.reference]: reference,
  [METADATA.connector]: connector,
});

const DESCRIPTION_LENGTH = 1000;

export const descriptionOf = ({ description }: Submission): { description?: string } =>
  description === '' ? {} : { description: description.slice(0, DESCRIPTION_LENGTH) };

/** What a PaymentIntent brings to be stored, whatever its status. */
function answerOf(intent: Stripe.PaymentIntent, { state }: ProviderMemory) {
  const charge = objectOf(intent.latest_charge);
  const balance = objectOf(charge?.balance_transaction);
  const customer = idOf(intent.customer);
  const method = idOf(intent.payment_method);
  const isStored = intent.setup_future_usage === 'off_session' && customer !== undefined && method !== undefined;
  return {
    providerReference: intent.id,
    reportedAmount: fromStripe(intent.amount, intent.currency) ?? 'invalid',
    ...(isStored && { paymentMethod: new Secret(method), state: { ...state, customer } }),
    networkTransactionId: charge?.payment_method_details?.card?.network_transaction_id ?? undefined,
    fee: balance && fromStripe(balance.fee, balance.currency),
  } as const;
}

/** The outcome of a PaymentIntent; `notFound` if it was never confirmed, so that no money can have moved. */
export function outcomeOf(intent: Stripe.PaymentIntent, memory: ProviderMemory): Outcome {
  const answer = answerOf(intent, memory);
  switch (intent.status) {
    case 'succeeded':
      return { kind: 'settled', ...answer };
    case 'requires_capture':
      return { kind: 'authorised', ...answer };
    case 'processing':
      return { kind: 'accepted', ...answer };
    case 'requires_action': {
      const url = intent.next_action?.redirect_to_url?.url;
      return url ? { kind: 'redirected', url, method: 'GET', params: {}, ...answer } : { kind: 'unknown', ...answer };
    }
    case 'requires_confirmation':
      return { kind: 'notFound' };
    case 'requires_payment_method': {
      const error = intent.last_payment_error;
      return error ? { ...declinedBy(error.decline_code, error.code), ...answer } : { kind: 'notFound' };
    }
    case 'canceled':
      return { ...declinedBy(intent.cancellation_reason), ...answer };
    default:
      return { kind: 'unknown', ...answer };
  }
}

function billingOf({ payer, card }: Submission): Stripe.PaymentMethodCreateParams.BillingDetails {
  const { first_name = '', last_name = '', email, phone, address, city, state, zip, country } = payer;
  const name = card?.holder || `${first_name} ${last_name}`.trim();
  const place = { line1: address, city, state, postal_code: zip, country };
  const known = Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined && value !== ''));
  return {
    ...(name !== '' && { name }),
    ...(email && { email }),
    ...(phone && { phone }),
    ...(Object.keys(known).length > 0 && { address: known }),
  };
}

/** Whether Stripe can charge this amount, and there is something to charge: a stored method, a card, or another method. */
function isPossible(submission: Submission): boolean {
  const { amount, currency, isPayout, first, card, method = 'card', recurringOf, wallet } = submission;
  if (isPayout || toStripe(amount, currency) === undefined) return false;
  if (first?.paymentMethod !== undefined) return true;
  // The number of a device is of no use without its cryptogram, which this connector does not send.
  if (wallet?.type === 'CRYPTOGRAM_3DS') return false;
  return card !== undefined || (method !== 'card' && recurringOf === undefined);
}

export interface Intents {
  submit(submission: Submission, deadline: Deadline): Promise<Outcome>;
  query(submission: Submission, deadline: Deadline): Promise<Outcome>;
}

export function createIntents(client: StripeClient, connector: string): Intents {
  const keyed = ({ reference }: Submission, call: keyof typeof CALLS): Stripe.RequestOptions => ({
    idempotencyKey: idempotencyKey(reference, CALLS[call]),
  });

  const retrieve = (id: string, deadline: Deadline): Promise<Stripe.PaymentIntent> =>
    client.call(deadline, ({ paymentIntents }) => paymentIntents.retrieve(id, { expand: [...INTENT_FIELDS] }));

  /** A payment method can be charged again only if it belongs to a customer. */
  const customerOf = async (submission: Submission, deadline: Deadline): Promise<string | undefined> => {
    const { first, isFirstOfSeries, payer } = submission;
    if (!isFirstOfSeries) return first?.paymentMethod && (first.state.customer as string | undefined);
    const { name } = billingOf({ ...submission, card: undefined });
    const fields: Stripe.CustomerCreateParams = {
      ...(name && { name }),
      ...(payer.email && { email: payer.email }),
      metadata: metadataOf(submission, connector),
    };
    return (await client.call(deadline, ({ customers }) => customers.create(fields, keyed(submission, 'customer')))).id;
  };

  /** Without the payment method, so that a query can repeat it: the same key returns the same PaymentIntent. */
  const create = async (submission: Submission, deadline: Deadline): Promise<Stripe.Response<Stripe.PaymentIntent>> => {
    const { amount, currency, authoriseOnly, isFirstOfSeries, first, method = 'card' } = submission;
    const customer = await customerOf(submission, deadline);
    // What Stripe stored may be of another type than what the payer chose, such as a direct debit after iDEAL.
    const isAnyStored = first?.paymentMethod !== undefined && method !== 'card';
    const fields: Stripe.PaymentIntentCreateParams = {
      amount: toStripe(amount, currency) as number,
      currency: currency.toLowerCase(),
      ...(isAnyStored
        ? { automatic_payment_methods: { enabled: true, allow_redirects: 'never' } }
        : { allowed_payment_method_types: [method] }),
      capture_method: authoriseOnly ? 'manual' : 'automatic',
      ...descriptionOf(submission),
      ...(customer !== undefined && { customer }),
      ...(isFirstOfSeries && { setup_future_usage: 'off_session' }),
      metadata: metadataOf(submission, connector),
    };
    return client.call(deadline, ({ paymentIntents }) => paymentIntents.create(fields, keyed(submission, 'create')));
  };

  /** What the payment is confirmed with. */
  const confirmation = async (
    submission: Submission,
    deadline: Deadline,
  ): Promise<Stripe.PaymentIntentConfirmParams> => {
    const { first, card, method = 'card', recurringOf } = submission;
    const session = recurringOf === undefined ? { return_url: submission.returnUrl() } : { off_session: true };
    const fields = { ...session, expand: [...INTENT_FIELDS] };
    if (first?.paymentMethod) return { ...fields, payment_method: first.paymentMethod.reveal() };
    if (card) {
      const sent: Stripe.PaymentMethodCreateParams = {
        type: 'card',
        card: {
          number: card.number.reveal(),
          exp_month: Number(card.month),
          exp_year: Number(card.year),
          ...(card.cvv && { cvc: card.cvv.reveal() }),
        },
        billing_details: billingOf(submission),
      };
      const created = await client
        .call(deadline, ({ paymentMethods }) => paymentMethods.create(sent, keyed(submission, 'paymentMethod')))
        .catch((error) => {
          // The card was checked before: what Stripe refuses are card numbers from this account.
          if (error instanceof Refused && error.type === 'invalid_request_error')
            throw new NotSent('Stripe refused the card data. Is the account allowed to send card numbers?');
          throw error;
        });
      return { ...fields, payment_method: created.id };
    }
    const type = method as Stripe.PaymentIntentConfirmParams.PaymentMethodData.Type;
    return { ...fields, payment_method_data: { type, billing_details: billingOf(submission) } };
  };

  /** No money moves before the confirmation, so any failure here means that the payment was not sent. */
  const prepare = async (submission: Submission, deadline: Deadline) => {
    try {
      return await Promise.all([confirmation(submission, deadline), create(submission, deadline)]);
    } catch (error) {
      if (error instanceof Refused || error instanceof NotSent || error instanceof KeyReused) throw error;
      throw new NotSent(error instanceof Error ? error.message : 'There was no answer.');
    }
  };

  const confirm = async (
    submission: Submission,
    id: string,
    fields: Stripe.PaymentIntentConfirmParams,
    deadline: Deadline,
  ): Promise<Outcome> => {
    try {
      const confirmed = await client.call(deadline, ({ paymentIntents }) =>
        paymentIntents.confirm(id, fields, keyed(submission, 'confirm')),
      );
      const outcome = outcomeOf(confirmed, submission);
      return outcome.kind === 'notFound' ? { kind: 'unknown', providerReference: id } : outcome;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const declined = { ...declinedBy(error.declineCode, error.code), providerReference: id };
      if (error.type === 'card_error') return declined;
      // It may be refused because it was confirmed before.
      const outcome = outcomeOf(await retrieve(id, deadline), submission);
      return outcome.kind === 'notFound' ? declined : outcome;
    }
  };

  /** Finds the PaymentIntent of a submission whose answer was lost; undefined if there is none. */
  const find = async (submission: Submission, deadline: Deadline): Promise<string | undefined> => {
    const created = await create(submission, deadline).catch((error) => {
      if (error instanceof Refused) return undefined;
      throw error;
    });
    if (created?.lastResponse.headers['idempotent-replayed'] === 'true') return created.id;
    // Stripe forgets keys after a day: then there may be an older one, which the search finds.
    const query = `metadata["${METADATA.reference}"]:"${submission.reference}"`;
    const { data } = await client.call(deadline, ({ paymentIntents }) => paymentIntents.search({ query }));
    return data.toSorted((one, other) => one.created - other.created).find(({ id }) => id !== created?.id)?.id;
  };

  return {
    async submit(submission, deadline) {
      if (!isPossible(submission)) return declineOf('methodUnavailable');
      try {
        const [fields, intent] = await prepare(submission, deadline);
        return await confirm(submission, intent.id, fields, deadline);
      } catch (error) {
        if (error instanceof Refused) return declinedBy(error.declineCode, error.code);
        throw error;
      }
    },
    async query(submission, deadline) {
      const id = intentOf(submission) ?? (await find(submission, deadline));
      return id === undefined ? { kind: 'notFound' } : outcomeOf(await retrieve(id, deadline), submission);
    },
  };
}
