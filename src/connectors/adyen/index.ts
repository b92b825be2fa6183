/** Adyen: cards and redirect methods through the Checkout API, or Adyen's own page (Hosted Checkout). */
import { createHash } from 'node:crypto';
import type {
  CreateCheckoutSessionRequest,
  PaymentRequest,
} from '@adyen/api-library/lib/src/typings/checkout/models.js';
import type { Deadline } from '../../lib/time/deadline.ts';
import { needsOf, settingText } from '../../rules/connectors.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  type Capabilities,
  type ConnectionAccess,
  type Connector,
  type ConnectorDefinition,
  declineOf,
  idempotencyKey,
  type OperationOutcome,
  type Outcome,
  type ProviderOperation,
  pageNotOpened,
  type Submission,
} from '../connector.ts';
import { unhandledStatuses } from '../events.ts';
import { sendOrBare } from '../payer.ts';
import { warnOfUnshown } from '../payer-steps.ts';
import { type AdyenApi, createAdyenClient, NotAllowed, Refused } from './client.ts';
import { causeOfError } from './declines.ts';
import { UNHANDLED_EVENTS } from './events.ts';
import { cancelReference, interpretItem, readItems } from './notifications.ts';
import { OPEN_STATUSES, outcomeOf, sessionOutcome } from './outcomes.ts';
import { modificationRequest, paymentRequest, repetitionRequest, sessionRequest, UNSHOWN_METHODS } from './requests.ts';
import { isTokenWebhook, readTokenEvent } from './token-webhooks.ts';

const CAPABILITIES: Capabilities = {
  isIdempotent: true,
  // The API has no query by reference. A lost answer is repeated under its idempotency key; else the webhook brings it.
  supportsQueries: false,
  notFoundIsFinal: false,
  refunds: 'api',
  authentication: 'provider',
  threeDsRequests: { require_3ds: 'exact', skip_3ds: 'exact', low_value: 'exact', transaction_risk: 'exact' },
  supportsTelephoneOrders: true,
  authorisesZero: true,
  concurrency: LIMITS.providerConcurrency,
};

/** A call is not repeated later than this, well within the time that Adyen keeps idempotency keys. */
const REPEATABLE_MS = 6 * LIMITS.dayMs;

/** The key of a call that depends on what the payer brought back; Adyen takes keys of 64 characters. */
const returnKey = (reference: string, returned: string): string =>
  `${idempotencyKey(reference, 2)}-${createHash('sha256').update(returned).digest('hex').slice(0, 16)}`;

const METHOD_UNAVAILABLE = declineOf('methodUnavailable');
const NO_REFERENCE = 'The provider’s reference of the payment is not known.';

/** A connection to Adyen. */
export const adyen: ConnectorDefinition = {
  capabilities: CAPABILITIES,
  unhandled: [...UNHANDLED_EVENTS, ...unhandledStatuses(OPEN_STATUSES)],
  create: createAdyen,
};

function createAdyen(access: ConnectionAccess): Connector {
  const client = createAdyenClient(access);
  const merchantAccount = access.credential('merchant_account');
  const store = settingText(access.settings, 'store');
  const themeId = settingText(access.settings, 'theme_id');
  const recipient = { merchantAccount, ...(store !== undefined && { store }) };
  const isHosted = access.settings.mode === 'hosted';
  const needs = needsOf('adyen', access.settings);
  const keys = (...names: string[]): string[] => names.map((name) => access.credential(name));

  const charge = async (
    submission: Submission,
    request: ReturnType<typeof paymentRequest>,
    deadline: Deadline,
    call: number,
  ): Promise<Outcome> => {
    if (!request) return METHOD_UNAVAILABLE;
    const options = { idempotencyKey: idempotencyKey(submission.reference, call) };
    const perform = ({ payments }: AdyenApi) => payments.payments(request as unknown as PaymentRequest, options);
    return outcomeOf(await client.call(deadline, perform, { isRepeatable: true }), submission);
  };

  const openSession = async (submission: Submission, deadline: Deadline, call: number): Promise<Outcome> => {
    const request = sessionRequest(submission, recipient, themeId);
    if (!request) return METHOD_UNAVAILABLE;
    const options = { idempotencyKey: idempotencyKey(submission.reference, call) };
    const { id, url } = await client
      .call(
        deadline,
        ({ payments }) => payments.sessions(request as unknown as CreateCheckoutSessionRequest, options),
        { isRepeatable: true },
      )
      .catch((error) => {
        throw error instanceof Refused ? error : pageNotOpened(error);
      });
    if (!url) throw pageNotOpened(new Error('Adyen’s answer has no address of a page.'));
    return { kind: 'redirected', url, method: 'GET', params: {}, state: { session: id } };
  };

  const send = (submission: Submission, deadline: Deadline, call: number): Promise<Outcome> => {
    if (submission.recurringOf !== undefined)
      return charge(submission, repetitionRequest(submission, recipient), deadline, call);
    if (isHosted) return openSession(submission, deadline, call);
    return charge(submission, paymentRequest(submission, recipient), deadline, call);
  };

  const submit = async (submission: Submission, deadline: Deadline): Promise<Outcome> => {
    if (submission.isPayout) return METHOD_UNAVAILABLE;
    // Adyen's codes do not say what it refuses: if it is not the card, it may be data of the payer that it does not need.
    const mayBePayer = (error: unknown): boolean =>
      error instanceof Refused && causeOfError(error.errorCode) === 'providerRefused' && !needs[submission.brand];
    try {
      return await sendOrBare(submission, mayBePayer, (sent, isBare) => send(sent, deadline, isBare ? 2 : 1));
    } catch (error) {
      if (error instanceof Refused) return declineOf(causeOfError(error.errorCode));
      throw error;
    }
  };

  /** The payer may bring back anything, also what belongs to another payment. */
  const resume = async (
    submission: Submission,
    { sessionResult = '', redirectResult = '' }: Readonly<Record<string, string>>,
    deadline: Deadline,
  ): Promise<Outcome> => {
    const { reference, state } = submission;
    try {
      if (typeof state.session === 'string') {
        if (sessionResult === '') return { kind: 'unknown' };
        const session = state.session;
        const perform = ({ payments }: AdyenApi) => payments.getResultOfPaymentSession(session, sessionResult);
        const answer = await client.call(deadline, perform);
        const isOurs = answer.id === session && (answer.reference ?? reference) === reference;
        return isOurs ? sessionOutcome(answer, submission) : { kind: 'unknown' };
      }
      if (redirectResult === '') return { kind: 'unknown' };
      const options = { idempotencyKey: returnKey(reference, redirectResult) };
      const perform = ({ payments }: AdyenApi) => payments.paymentsDetails({ details: { redirectResult } }, options);
      const answer = await client.call(deadline, perform, { isRepeatable: true });
      return answer.merchantReference === reference ? outcomeOf(answer, submission) : { kind: 'unknown' };
    } catch (error) {
      if (error instanceof Refused) return { kind: 'unknown' };
      throw error;
    }
  };

  const modify = (
    operation: ProviderOperation,
  ): ((api: AdyenApi) => Promise<{ pspReference: string }>) | { kind: 'declined'; reason: string } => {
    const { verb, providerReference, reference } = operation;
    const options = { idempotencyKey: operation.operation };
    if (verb === 'void') {
      const request = { merchantAccount, reference: operation.operation };
      return ({ modifications }) =>
        providerReference === undefined
          ? modifications.cancelAuthorisedPayment(
              {
                merchantAccount,
                reference: cancelReference(reference, operation.operation),
                paymentReference: reference,
              },
              options,
            )
          : modifications.cancelAuthorisedPaymentByPspReference(providerReference, request, options);
    }
    if (providerReference === undefined) return { kind: 'declined', reason: NO_REFERENCE };
    const request = modificationRequest(operation, merchantAccount);
    if (!request) return METHOD_UNAVAILABLE;
    return ({ modifications }) =>
      verb === 'capture'
        ? modifications.captureAuthorisedPayment(providerReference, request, options)
        : modifications.refundCapturedPayment(providerReference, request, options);
  };

  return {
    capabilities: CAPABILITIES,
    submit,
    resume,
    query: () => ({ kind: 'unknown' }),
    async operate(operation, deadline): Promise<OperationOutcome> {
      const perform = modify(operation);
      if (typeof perform !== 'function') return perform;
      try {
        // Adyen has received the request; a webhook brings its outcome.
        return { kind: 'accepted', operationReference: (await client.call(deadline, perform)).pspReference };
      } catch (error) {
        if (error instanceof Refused) return declineOf(causeOfError(error.errorCode));
        throw error;
      }
    },
    /** Adyen cannot be asked. Without its reference the answer got lost: `notFound` lets the gateway repeat the call. */
    queryOperation({ operationReference, requestedAt }) {
      if (operationReference !== undefined) return { kind: 'accepted' };
      return { kind: Date.now() - requestedAt < REPEATABLE_MS ? 'notFound' : 'unknown' };
    },
    readNotifications: (headers, body) =>
      isTokenWebhook(headers)
        ? readTokenEvent(headers, body, keys('token_hmac_key', 'former_token_hmac_key'), merchantAccount)
        : readItems(body, keys('hmac_key', 'former_hmac_key'), merchantAccount),
    notificationAnswer: '[accepted]',
    interpretNotification: (body, payment) => interpretItem(body, payment, isHosted),
    async check(deadline) {
      try {
        const { paymentMethods = [] } = await client.call(deadline, ({ payments }) =>
          payments.paymentMethods(recipient),
        );
        const ok = {
          ok: true,
          detail: `The merchant account offers ${paymentMethods.length} payment methods.`,
          activeMethods: paymentMethods.flatMap(({ type }) => type ?? []),
        };
        return isHosted ? ok : warnOfUnshown(ok, access.settings, UNSHOWN_METHODS);
      } catch (error) {
        if (error instanceof NotAllowed)
          return {
            ok: false,
            detail:
              error.status === 401
                ? 'Adyen does not accept the API key.'
                : 'The API key may not use the merchant account.',
          };
        if (error instanceof Refused) return { ok: false, detail: 'Adyen does not accept the merchant account.' };
        throw error;
      }
    },
    close: client.close,
  };
}
