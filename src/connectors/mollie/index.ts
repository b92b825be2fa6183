/** The connector for Mollie: payers pay on its pages, webhooks name a payment that is then queried. */
import type { Payment, PaymentEmbed, MollieClient as Sdk } from '@mollie/api-client';
import type { Deadline } from '../../lib/deadline.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  type Capabilities,
  type CheckResult,
  type ConnectionAccess,
  type Connector,
  type ConnectorDefinition,
  declineOf,
  idempotencyKey,
  NotSent,
  type Outcome,
  type Submission,
} from '../connector.ts';
import { createMollieClient, findByMetadata, type MollieClient, Refused } from './client.ts';
import { OPERATIONS } from './operations.ts';
import { customerOf, outcomeOf, queriedOutcomeOf } from './outcomes.ts';
import { ANY_METHOD, parametersOf } from './requests.ts';

const CAPABILITIES: Capabilities = {
  isIdempotent: true,
  supportsQueries: true,
  notFoundIsFinal: true,
  refunds: 'api',
  authentication: 'provider',
  concurrency: LIMITS.providerConcurrency,
};

/** The methods that can be authorised first and captured later, by the documentation of Mollie. */
const HELD_METHODS: readonly string[] = ['creditcard', 'klarna', 'billie', 'riverty', 'vipps', 'mobilepay'];
const EMBEDDED = ['chargebacks'] as PaymentEmbed[];

export const mollie: ConnectorDefinition = { capabilities: CAPABILITIES, create: createMollie };

function createMollie(access: ConnectionAccess): Connector {
  const client = createMollieClient(access);
  const canReachLoopback = access.apiBase !== undefined;

  /** Creates the payment, or returns that of an earlier call with the same reference, which Mollie keeps for an hour. */
  const create = async (submission: Submission, deadline: Deadline): Promise<Outcome> => {
    try {
      const customer = await customerFor(client, submission, deadline);
      const parameters = parametersOf(submission, customer, canReachLoopback);
      const perform = ({ payments }: Sdk) => payments.create(parameters);
      return outcomeOf(await client.call(deadline, perform, { isRepeatable: true }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
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
      // Without the address in the answer no payer can have paid, so another payment would move no money either.
      if (recurringOf === undefined)
        return isSupported(submission) ? create(submission, deadline) : { kind: 'notFound' };
      const customer = customerOf(first?.state);
      return customer === undefined
        ? { kind: 'notFound' }
        : findRepetition(client, customer, submission.reference, deadline).catch(unknownIfRefused);
    },
    operate: (operation, deadline) => OPERATIONS[operation.verb].perform(client, operation, deadline),
    queryOperation: (operation, deadline) => OPERATIONS[operation.verb].query(client, operation, deadline),
    readNotifications: (_headers, body) => {
      // Nothing else of the webhook is read, and it has no id of its own.
      const id = new URLSearchParams(body.toString('utf8')).get('id') ?? '';
      return PAYMENT_ID.test(id) ? [{ eventId: id, providerReference: id, isUnsigned: true, body: {} }] : [];
    },
    interpretNotification: () => ({ kind: 'ask' }),
    check: (deadline) => check(client, deadline),
    close: client.close,
  };
}

const PAYMENT_ID = /^tr_\w{1,64}$/;

function unknownIfRefused(error: unknown): Outcome {
  if (error instanceof Refused) return { kind: 'unknown' };
  throw error;
}

/** Whether Mollie can take the payment at all. */
function isSupported({ isPayout, recurringOf, first, authoriseOnly, method = ANY_METHOD }: Submission): boolean {
  if (isPayout) return false;
  if (recurringOf !== undefined) return customerOf(first?.state) !== undefined;
  return !authoriseOnly || HELD_METHODS.includes(method);
}

/** The customer of a series: that of its first payment, which creates one; other payments have none. */
async function customerFor(
  client: MollieClient,
  { first, recurringOf, isFirstOfSeries, reference, payer }: Submission,
  deadline: Deadline,
): Promise<string | undefined> {
  if (recurringOf !== undefined) return customerOf(first?.state);
  if (!isFirstOfSeries) return undefined;
  const name = [payer.first_name, payer.last_name].filter(Boolean).join(' ');
  const parameters = {
    ...(name !== '' && { name }),
    ...(payer.email && { email: payer.email }),
    metadata: { reference },
    idempotencyKey: idempotencyKey(reference, 1),
  };
  try {
    const perform = ({ customers }: Sdk) => customers.create(parameters);
    return (await client.call(deadline, perform, { isRepeatable: true })).id;
  } catch (error) {
    // Without a customer there is no payment, so nothing was sent that could move money.
    throw error instanceof Refused
      ? error
      : new NotSent(error instanceof Error ? error.message : 'There was no answer.');
  }
}

/** Looks for a repetition among the payments of its customer, so that it is never made twice. */
async function findRepetition(
  client: MollieClient,
  customerId: string,
  reference: string,
  deadline: Deadline,
): Promise<Outcome> {
  const found = await findByMetadata(
    (page) => client.call(deadline, ({ customerPayments }) => customerPayments.page({ customerId, ...page })),
    'reference',
    reference,
  );
  return found ? outcomeOf(found) : { kind: 'notFound' };
}

/** Lists the methods of the profile. */
async function check(client: MollieClient, deadline: Deadline): Promise<CheckResult> {
  try {
    const methods = await client.call(deadline, (sdk) => sdk.methods.list());
    const names = methods.map(({ id }) => id).join(', ');
    return names === ''
      ? { ok: false, detail: 'Mollie accepts the API key, but its profile has no active payment method.' }
      : { ok: true, detail: `Mollie accepts the API key. Active methods: ${names}.` };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : 'Mollie did not answer.' };
  }
}
