/** PaymentIntents of Stripe: creates and confirms them, finds them again, and reads their outcome. */
import type Stripe from 'stripe';
import { Secret } from '../../lib/crypto/secret.ts';
import { cut } from '../../lib/text/cut.ts';
import type { Deadline } from '../../lib/time/deadline.ts';
import { needsOf } from '../../rules/connectors.ts';
import {
  type ConnectionAccess,
  declineOf,
  idempotencyKey,
  NotSent,
  type Outcome,
  type ProviderMemory,
  type Submission,
  type WithdrawalCause,
} from '../connector.ts';
import { leftOpen } from '../events.ts';
import { cleanPayer, ibanOf, statementText } from '../payer.ts';
import { fromStripe, toStripe } from './amounts.ts';
import { isAboutPayer, KeyReused, Refused, type StripeClient } from './client.ts';
import { configurationOf, connectOf, transferStateOf } from './connect.ts';
import { declinedBy } from './declines.ts';
import { METADATA, metadataOf } from './metadata.ts';
import { nextStepOf, UNSHOWN_METHODS } from './next-action.ts';
import { withRefunds } from './refunds.ts';

/** The calls of a submission, for their idempotency keys. */
const CALLS = {
  customer: 1,
  paymentMethod: 2,
  create: 3,
  confirm: 4,
  bareMethod: 5,
  bareCustomer: 6,
  bareConfirm: 7,
} as const;

/** Stripe keeps idempotency keys for a day at least. */
const KEYS_KEPT_MS = 23 * 60 * 60 * 1000;

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

const DESCRIPTION_LENGTH = 1000;

export const descriptionOf = ({ description }: Submission): { description?: string } =>
  description === '' ? {} : { description: cut(description, DESCRIPTION_LENGTH) };

/** The value of `settings.methods` with which Stripe offers all methods that are active in its dashboard. */
export const ALL_METHODS = 'automatic';

const STATEMENT_LENGTH = 22;
/** Of a text that is not only a suffix. */
const LEAST_STATEMENT_LENGTH = 5;

/** What Stripe stored is charged by any method. */
const mayBeCard = ({ method = 'card', first }: Submission): boolean =>
  method === 'card' || method === ALL_METHODS || first?.paymentMethod !== undefined;

/**
 * Behind the prefix of the account for cards, in its place for other methods. Stripe refuses a payment that could be made by card
 * with a text in that place; other methods ignore a suffix.
 */
export function statementOf(
  submission: Submission,
): Pick<Stripe.PaymentIntentCreateParams, 'statement_descriptor' | 'statement_descriptor_suffix'> {
  const text = statementText(submission, /[<>\\'"*]/g, STATEMENT_LENGTH);
  if (text === undefined) return {};
  if (mayBeCard(submission)) return { statement_descriptor_suffix: text };
  return text.length < LEAST_STATEMENT_LENGTH ? {} : { statement_descriptor: text };
}

/** What a PaymentIntent brings to be stored, whatever its status. */
function answerOf(intent: Stripe.PaymentIntent, { state }: ProviderMemory) {
  const charge = objectOf(intent.latest_charge);
  const { card, ideal, bancontact } = charge?.payment_method_details ?? {};
  const balance = objectOf(charge?.balance_transaction);
  const customer = idOf(intent.customer);
  // They are used once: Stripe stores a direct debit from the same account.
  const debit = idOf((ideal ?? bancontact)?.generated_sepa_debit);
  const method = debit ?? idOf(intent.payment_method);
  const isStored = intent.setup_future_usage === 'off_session' && customer !== undefined && method !== undefined;
  const transfer = transferStateOf(intent);
  return {
    providerReference: intent.id,
    reportedAmount: fromStripe(intent.amount, intent.currency) ?? 'invalid',
    ...(isStored && { paymentMethod: new Secret(method) }),
    ...((isStored || transfer) && { state: { ...state, ...(isStored && { customer }), ...transfer } }),
    networkTransactionId: card?.network_transaction_id ?? undefined,
    ...(card?.capture_before !== undefined && { captureBefore: card.capture_before * 1000 }),
    fee: balance && fromStripe(balance.fee, balance.currency),
  } as const;
}

/** The methods that the payer approves in an app, which Stripe calls. */
const isInApp = (type: string): boolean => type === 'blik' || type === 'mb_way';

/** The outcome of a PaymentIntent; `notFound` if it was never confirmed, so that no money can have moved. */
export function outcomeOf(intent: Stripe.PaymentIntent, memory: ProviderMemory): Outcome {
  const answer = answerOf(intent, memory);
  switch (intent.status) {
    case 'succeeded':
      return {
        kind: 'settled',
        captured: fromStripe(intent.amount_received, intent.currency) ?? 'invalid',
        ...answer,
      };
    case 'requires_capture':
      return { kind: 'authorised', ...answer };
    case 'processing':
      return { kind: 'accepted', ...answer };
    case 'requires_action': {
      const inApp = intent.payment_method_types.some(isInApp) ? 'accepted' : 'unknown';
      return { ...(nextStepOf(intent.next_action) ?? { kind: inApp }), ...answer };
    }
    case 'requires_confirmation':
      return { kind: 'notFound' };
    case 'requires_payment_method': {
      const error = intent.last_payment_error;
      return error ? { ...declinedBy(error), ...answer } : { kind: 'notFound' };
    }
    case 'canceled':
      return { ...declinedBy({ code: intent.cancellation_reason }), ...answer };
    default:
      return { ...leftOpen(intent.status), ...answer };
  }
}

function billingOf(submission: Submission): Stripe.PaymentMethodCreateParams.BillingDetails {
  const { firstName = '', lastName = '', email, phone, address, city, state, zip, country } = cleanPayer(submission);
  const name = submission.card?.holder || `${firstName} ${lastName}`.trim();
  const place = { line1: address, city, state, postal_code: zip, country };
  const known = Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined));
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
  if (isPayout || toStripe(amount, currency) === undefined || UNSHOWN_METHODS.includes(method)) return false;
  if (first?.paymentMethod !== undefined) return true;
  // The number of a device is of no use without its cryptogram, which the published API of Stripe does not take.
  if (wallet?.type === 'CRYPTOGRAM_3DS') return false;
  return card !== undefined || (method !== 'card' && recurringOf === undefined);
}

export interface Intents {
  submit(submission: Submission, deadline: Deadline): Promise<Outcome>;
  query(submission: Submission, deadline: Deadline): Promise<Outcome>;
  withdraw(submission: Submission, cause: WithdrawalCause, deadline: Deadline): Promise<Outcome>;
}

/** The payer agreed to the debit on the payment page, or on a page of the merchant, of which no browser is known. */
const acceptanceOf = ({
  payer,
  browser,
}: Submission): Stripe.PaymentIntentConfirmParams.MandateData.CustomerAcceptance => {
  const ip = browser?.ip ?? payer.ip;
  return ip && browser?.userAgent
    ? { type: 'online', online: { ip_address: ip, user_agent: browser.userAgent } }
    : { type: 'offline', offline: {} };
};

/** Stripe's words for why a payment is canceled; `declinedBy` reads them. */
const CANCELLATIONS: Readonly<Record<WithdrawalCause, Stripe.PaymentIntentCancelParams.CancellationReason>> = {
  cancelledByPayer: 'requested_by_customer',
  outOfTime: 'abandoned',
};

/** The payer has not paid; canceling any other PaymentIntent would take back what the payer has done. */
const WAITING: readonly string[] = ['requires_action', 'requires_confirmation', 'requires_payment_method'];

/** A challenge in Stripe's words. It asks for exemptions by itself: the nearest to one is to leave the choice to it. */
export const threeDsOf = ({ threeDs }: Submission) =>
  threeDs?.requested
    ? {
        payment_method_options: {
          card: {
            request_three_d_secure: threeDs.requested === 'challenge' ? ('challenge' as const) : ('automatic' as const),
          },
        },
      }
    : {};

/** What Stripe is told about the card: that it was read out on the phone, or whether the payer is to be authenticated. */
const cardOptionsOf = (submission: Submission) =>
  submission.isTelephoneOrder ? { payment_method_options: { card: { moto: true } } } : threeDsOf(submission);

/** The payer's data is optional: if Stripe refuses it, the call is made again without it. */
const ifAboutPayer =
  <Answer>(performBare: () => Promise<Answer>) =>
  (error: unknown): Promise<Answer> => {
    if (!isAboutPayer(error)) throw error;
    return performBare();
  };

export function createIntents(
  client: StripeClient,
  connector: string,
  settings: ConnectionAccess['settings'],
): Intents {
  const keyed = ({ reference }: Submission, call: keyof typeof CALLS): Stripe.RequestOptions => ({
    idempotencyKey: idempotencyKey(reference, CALLS[call]),
  });

  const retrieve = (id: string, deadline: Deadline): Promise<Stripe.PaymentIntent> =>
    client.call(deadline, ({ paymentIntents }) => paymentIntents.retrieve(id, { expand: [...INTENT_FIELDS] }));

  /** A payment method can be charged again only if it belongs to a customer. */
  const customerOf = async (submission: Submission, deadline: Deadline): Promise<string | undefined> => {
    const { first, isFirstOfSeries } = submission;
    if (!isFirstOfSeries) return first?.paymentMethod && (first.state.customer as string | undefined);
    const { name, email } = billingOf({ ...submission, card: undefined });
    const metadata = metadataOf(submission, connector);
    const createCustomer = (payer: Stripe.CustomerCreateParams, call: keyof typeof CALLS) =>
      client.call(deadline, ({ customers }) => customers.create({ ...payer, metadata }, keyed(submission, call)));
    const created = await createCustomer({ ...(name && { name }), ...(email && { email }) }, 'customer').catch(
      ifAboutPayer(() => createCustomer({}, 'bareCustomer')),
    );
    return created.id;
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
        ? { automatic_payment_methods: { enabled: true, allow_redirects: 'never' }, ...configurationOf(settings) }
        : { allowed_payment_method_types: [method] }),
      capture_method: authoriseOnly ? 'manual' : 'automatic',
      ...descriptionOf(submission),
      ...statementOf(submission),
      ...connectOf(settings, submission),
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
      };
      const withPayer = { ...sent, billing_details: billingOf(submission) };
      const created = await client
        .call(deadline, ({ paymentMethods }) => paymentMethods.create(withPayer, keyed(submission, 'paymentMethod')))
        .catch(
          ifAboutPayer(() =>
            client.call(deadline, ({ paymentMethods }) => paymentMethods.create(sent, keyed(submission, 'bareMethod'))),
          ),
        )
        .catch((error) => {
          // The card was checked before: what Stripe refuses are card numbers from this account.
          if (error instanceof Refused && error.type === 'invalid_request_error')
            throw new NotSent('Stripe refused the card data. Is the account allowed to send card numbers?');
          throw error;
        });
      return { ...fields, payment_method: created.id, ...cardOptionsOf(submission) };
    }
    const type = method as Stripe.PaymentIntentConfirmParams.PaymentMethodData.Type;
    const billing = billingOf(submission);
    if (type === 'sepa_debit')
      return {
        ...fields,
        payment_method_data: {
          type,
          sepa_debit: { iban: ibanOf(submission.parameters()) },
          billing_details: billing,
        },
        mandate_data: { customer_acceptance: acceptanceOf(submission) },
      };
    return {
      ...fields,
      payment_method_data: {
        type,
        billing_details: type === 'mb_way' ? { ...billing, phone: cleanPayer(submission).mobile ?? '' } : billing,
      },
      ...(type === 'blik' && {
        payment_method_options: { blik: { code: String(submission.parameters().code ?? '') } },
      }),
    };
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

  /** Cancels a PaymentIntent whose payer has not paid; any other one is left as it is. */
  const withdraw = async (
    submission: Submission,
    id: string,
    cause: WithdrawalCause,
    deadline: Deadline,
  ): Promise<Outcome> => {
    const intent = await retrieve(id, deadline);
    if (!WAITING.includes(intent.status)) return outcomeOf(intent, submission);
    const fields = { cancellation_reason: CANCELLATIONS[cause] };
    try {
      // Without a key: canceling is repeatable, and the answer of a key would hide what the payer did since.
      const canceled = await client.call(deadline, ({ paymentIntents }) => paymentIntents.cancel(id, fields));
      return outcomeOf(canceled, submission);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return outcomeOf(await retrieve(id, deadline), submission);
    }
  };

  const confirm = async (
    submission: Submission,
    id: string,
    fields: Stripe.PaymentIntentConfirmParams,
    deadline: Deadline,
  ): Promise<Outcome> => {
    const send = (sent: Stripe.PaymentIntentConfirmParams, call: keyof typeof CALLS) =>
      client.call(deadline, ({ paymentIntents }) => paymentIntents.confirm(id, sent, keyed(submission, call)));
    try {
      const confirmed = await send(fields, 'confirm').catch((error) => {
        const { payment_method_data: data } = fields;
        if (!data || needsOf('stripe', settings)[submission.brand]) throw error;
        const { billing_details: _, ...bare } = data;
        return ifAboutPayer(() => send({ ...fields, payment_method_data: bare }, 'bareConfirm'))(error);
      });
      const outcome = outcomeOf(confirmed, submission);
      if (outcome.kind === 'unknown' && confirmed.status === 'requires_action') {
        // The payer cannot go on here: another method or connection may take the payment, once this one is canceled.
        const ended = await withdraw(submission, id, 'cancelledByPayer', deadline);
        return ended.kind === 'declined' ? { ...ended, ...declineOf('methodUnavailable') } : ended;
      }
      return outcome.kind === 'notFound' ? { kind: 'unknown', providerReference: id } : outcome;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const declined = { ...declinedBy(error), providerReference: id };
      if (error.type === 'card_error') return declined;
      // It may be refused because it was confirmed before.
      const outcome = outcomeOf(await retrieve(id, deadline), submission);
      if (outcome.kind !== 'notFound') return outcome;
      if (error.isAboutTelephoneOrder)
        throw new NotSent('Stripe refused the telephone order. Is the account enabled for telephone orders (MOTO)?');
      return declined;
    }
  };

  /** Finds the PaymentIntent of a submission whose answer was lost; undefined if there is none. */
  const find = async (submission: Submission, deadline: Deadline): Promise<string | undefined> => {
    const isKeyKept = Date.now() - submission.openedAt < KEYS_KEPT_MS;
    const repeated = isKeyKept ? create(submission, deadline) : undefined;
    const created = await repeated?.catch((error) => {
      if (error instanceof Refused) return undefined;
      throw error;
    });
    if (created?.lastResponse.headers['idempotent-replayed'] === 'true') return created.id;
    // Stripe forgets keys after a day, and a repeated call would create another PaymentIntent: the search finds an older one.
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
        if (error instanceof Refused) return declinedBy(error);
        throw error;
      }
    },
    async query(submission, deadline) {
      const id = intentOf(submission) ?? (await find(submission, deadline));
      if (id === undefined) return { kind: 'notFound' };
      const intent = await retrieve(id, deadline);
      return withRefunds(client, outcomeOf(intent, submission), intent, submission, deadline);
    },
    async withdraw(submission, cause, deadline) {
      const id = intentOf(submission) ?? (await find(submission, deadline));
      return id === undefined ? { kind: 'notFound' } : withdraw(submission, id, cause, deadline);
    },
  };
}
