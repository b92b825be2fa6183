/** The connector for Mollie: payers pay on its pages, webhooks name a payment that is then queried. */
import type { Payment, PaymentEmbed, MollieClient as Sdk } from '@mollie/api-client';
import { isObject } from '../../lib/text/json.ts';
import type { Deadline } from '../../lib/time/deadline.ts';
import { canHold } from '../../rules/connectors.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  type Capabilities,
  type CheckResult,
  type ConnectionAccess,
  type Connector,
  type ConnectorDefinition,
  declineOf,
  idempotencyKey as keyOf,
  NotSent,
  type Outcome,
  pageNotOpened,
  type Submission,
} from '../connector.ts';
import { unhandledStatuses } from '../events.ts';
import { cleanPayer, sendOrBare } from '../payer.ts';
import {
  createMollieClient,
  findByMetadata,
  isOrganisationToken,
  type MollieClient,
  profileOf,
  Refused,
} from './client.ts';
import { OPERATIONS } from './operations.ts';
import { customerOf, outcomeOf, queriedOutcomeOf } from './outcomes.ts';
import { ANY_METHOD, parametersOf } from './requests.ts';

const CAPABILITIES: Capabilities = {
  isIdempotent: true,
  supportsQueries: true,
  notFoundIsFinal: true,
  refunds: 'api',
  authentication: 'provider',
  // Its API has no request for a challenge or an exemption.
  threeDsRequests: {},
  supportsWithdrawals: true,
  staysPayable: true,
  concurrency: LIMITS.providerConcurrency,
};

/** The methods that have to be captured by a call of their own: a sale cannot use them. */
const HELD_ONLY_METHODS: readonly string[] = ['riverty'];
const EMBEDDED = ['chargebacks', 'refunds'] as PaymentEmbed[];

export const mollie: ConnectorDefinition = {
  capabilities: CAPABILITIES,
  // Its webhooks have no events, and all statuses are handled.
  unhandled: unhandledStatuses(),
  create: createMollie,
};

/** The calls that create something, by the number in their idempotency keys; those without the payer's data have others. */
const CALLS = { customer: 1, payment: 2 };
const BARE_CALLS = { customer: 3, payment: 4 };

/** Mollie does not accept a member of the billing address, or the e-mail address or name of the customer. */
const PAYER_FIELD = /^(billingAddress|email|name)\b/;

function createMollie(access: ConnectionAccess): Connector {
  const client = createMollieClient(access);
  const canReachPrivate = access.apiBase !== undefined;

  /** Creates the payment, or returns that of an earlier call with the same reference, which Mollie keeps for an hour. */
  const create = async (submission: Submission, deadline: Deadline): Promise<Outcome> => {
    const mayBePayer = (error: unknown): boolean => error instanceof Refused && PAYER_FIELD.test(error.field ?? '');
    try {
      return await sendOrBare(submission, mayBePayer, async (sent, isBare) => {
        const calls = isBare ? BARE_CALLS : CALLS;
        const customer = await customerFor(client, sent, deadline, calls.customer);
        const idempotencyKey = keyOf(sent.reference, calls.payment);
        const parameters = { ...parametersOf(sent, customer, canReachPrivate, access.settings), idempotencyKey };
        const perform = ({ payments }: Sdk) => payments.create(parameters);
        return outcomeOf(await client.call(deadline, perform, { isRepeatable: true }));
      });
    } catch (error) {
      // A repetition, and the token of a wallet, pay at once: they have no page, without which nobody can have paid.
      const opensPage = submission.recurringOf === undefined && !isWallet(submission);
      if (!(error instanceof Refused)) throw opensPage ? pageNotOpened(error) : error;
      return declineOf(error.field === 'method' || error.field === 'amount' ? 'methodUnavailable' : 'providerRefused');
    }
  };
  const read = (id: string, deadline: Deadline): Promise<Payment> =>
    client.call(deadline, ({ payments }) => payments.get(id, { embed: EMBEDDED }));

  return {
    capabilities: CAPABILITIES,
    submit: (submission, deadline) =>
      isSupported(submission) ? create(submission, deadline) : declineOf('methodUnavailable'),
    async query(submission, deadline) {
      const { providerReference, recurringOf, first } = submission;
      if (providerReference !== undefined) {
        // Mollie has confirmed this payment: if it is not found, the key is that of another profile.
        return read(providerReference, deadline).then(queriedOutcomeOf, unknownIfRefused);
      }
      if (isWallet(submission))
        return findListed(submission.reference, recentPayments(client, deadline)).catch(unknownIfRefused);
      // Without the address in the answer no payer can have paid, so another payment would move no money either.
      if (recurringOf === undefined)
        return isSupported(submission) ? create(submission, deadline) : { kind: 'notFound' };
      const customer = customerOf(first?.state);
      return customer === undefined
        ? { kind: 'notFound' }
        : findListed(submission.reference, (page) =>
            client.call(deadline, ({ customerPayments }) => customerPayments.page({ customerId: customer, ...page })),
          ).catch(unknownIfRefused);
    },
    async withdraw(submission, cause, deadline) {
      const { providerReference, reference } = submission;
      if (providerReference === undefined) return { kind: 'unknown' };
      const payment = await read(providerReference, deadline);
      const found = queriedOutcomeOf(payment);
      if (found.kind !== 'redirected' || !payment.isCancelable) return found;
      const options = { idempotencyKey: `${reference}-withdrawal` };
      try {
        await client.call(deadline, ({ payments }) => payments.cancel(providerReference, options));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
      const outcome = queriedOutcomeOf(await read(providerReference, deadline));
      return outcome.kind === 'declined' ? { ...outcome, ...declineOf(cause) } : outcome;
    },
    operate: (operation, deadline) => OPERATIONS[operation.verb].perform(client, operation, deadline),
    queryOperation: (operation, deadline) => OPERATIONS[operation.verb].query(client, operation, deadline),
    readNotifications: (_headers, body) => {
      // Nothing else of the webhook is read, and it has no id of its own.
      const id = new URLSearchParams(body.toString('utf8')).get('id') ?? '';
      return PAYMENT_ID.test(id) ? [{ eventId: id, providerReference: id, isUnsigned: true, body: {} }] : [];
    },
    interpretNotification: () => ({ kind: 'ask' }),
    async openMerchantSession(validationUrl, domain, deadline) {
      const perform = ({ applePay }: Sdk) => applePay.requestPaymentSession({ validationUrl, domain });
      const session: unknown = await client.call(deadline, perform);
      if (!isObject(session)) throw new Error('Mollie answered without a session.');
      return session;
    },
    check: (deadline) =>
      isOrganisationToken(access.credential('api_key')) && profileOf(access.settings) === undefined
        ? { ok: false, detail: 'An access token of an organisation needs the setting profile_id.' }
        : check(client, deadline),
    close: client.close,
  };
}

const PAYMENT_ID = /^tr_\w{1,64}$/;

function unknownIfRefused(error: unknown): Outcome {
  if (error instanceof Refused) return { kind: 'unknown' };
  throw error;
}

/** Whether the payment is made with the token of a wallet, without a page. */
const isWallet = ({ brand, recurringOf }: Submission): boolean => /^wallet-/.test(brand) && recurringOf === undefined;

/** Whether Mollie can take the payment at all. */
function isSupported(submission: Submission): boolean {
  const { isPayout, recurringOf, first, authoriseOnly, method = ANY_METHOD } = submission;
  if (isPayout || (isWallet(submission) && !submission.walletToken)) return false;
  if (recurringOf !== undefined) return customerOf(first?.state) !== undefined;
  return authoriseOnly ? canHold('mollie', method) : !HELD_ONLY_METHODS.includes(method);
}

/** The customer of a series: that of its first payment, which creates one; other payments have none. */
async function customerFor(
  client: MollieClient,
  { first, recurringOf, isFirstOfSeries, reference, payer }: Submission,
  deadline: Deadline,
  call: number,
): Promise<string | undefined> {
  if (recurringOf !== undefined) return customerOf(first?.state);
  if (!isFirstOfSeries) return undefined;
  const { firstName, lastName, email } = cleanPayer({ payer });
  const name = [firstName, lastName].filter(Boolean).join(' ');
  const parameters = {
    ...(name !== '' && { name }),
    ...(email && { email }),
    metadata: { reference },
    idempotencyKey: keyOf(reference, call),
  };
  try {
    const perform = ({ customers }: Sdk) => customers.create(parameters);
    return (await client.call(deadline, perform, { isRepeatable: true })).id;
  } catch (error) {
    // Without a customer there is no payment, so nothing was sent that could move money.
    throw error instanceof Refused || error instanceof NotSent
      ? error
      : new NotSent(error instanceof Error ? error.message : 'There was no answer.');
  }
}

type List = Parameters<typeof findByMetadata<Payment>>[0];

/** Looks for a payment that Mollie makes at once, such as a repetition among those of its customer: it is never made twice. */
async function findListed(reference: string, list: List): Promise<Outcome> {
  const found = await findByMetadata(list, 'reference', reference);
  return found ? outcomeOf(found) : { kind: 'notFound' };
}

const MOST_PAGES = 20;

/** The payments of the profile, newest first. What is not among the first ones is not known to be missing. */
function recentPayments(client: MollieClient, deadline: Deadline): List {
  let pages = 0;
  return (page) => {
    if (pages++ === MOST_PAGES) throw new Error('The payment is not among the newest ones at Mollie.');
    return client.call(deadline, ({ payments }) => payments.page(page));
  };
}

/** Lists the methods of the profile. */
async function check(client: MollieClient, deadline: Deadline): Promise<CheckResult> {
  try {
    const methods = await client.call(deadline, (sdk) => sdk.methods.list());
    const activeMethods = methods.map(({ id }) => id as string);
    return activeMethods.length === 0
      ? {
          ok: false,
          detail: 'Mollie accepts the API key, but its profile has no active payment method.',
          activeMethods,
        }
      : { ok: true, detail: `Mollie accepts the API key. Active methods: ${activeMethods.join(', ')}.`, activeMethods };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : 'Mollie did not answer.' };
  }
}
