/** The connector for providers that implement the HTTP protocol of `docs/provider-api.md`, such as the simulator. */
import { DecoratorHandler, type Dispatcher, Pool } from 'undici';
import type { Deadline } from '../lib/deadline.ts';
import { isUtcMoment } from '../lib/identifiers.ts';
import { isKeepable, isObject, isText } from '../lib/json.ts';
import { signedId } from '../lib/signature.ts';
import { withJsonBytes } from '../lib/wipe.ts';
import { LIMITS } from '../rules/limits.ts';
import { REASONS } from '../rules/reasons.ts';
import {
  type Authentication,
  type CardData,
  type Connector,
  type NotificationMeaning,
  NotSent,
  type OperationOutcome,
  type Outcome,
  type ReportedAmount,
  type Submission,
  type SubmittedWallet,
} from './connector.ts';

export interface ProviderAccess {
  url: string;
  /** The bearer token of our calls. */
  key: string;
  /** Signs the provider's notifications. */
  notificationSecret: string;
}

type Json = Record<string, unknown>;

/** The values of `status` in an answer; any other value leaves the outcome unknown. */
const STATUSES: Readonly<Record<string, 'settled' | 'authorised' | 'accepted' | 'redirected' | 'declined'>> = {
  settled: 'settled',
  executed: 'settled',
  authorised: 'authorised',
  pending: 'accepted',
  redirect: 'redirected',
  declined: 'declined',
  rejected: 'declined',
  voided: 'declined',
};

/** The final status codes of a bank (ISO 20022); any other code leaves the payment open. */
const BANK_CODES: Readonly<Record<string, 'settled' | 'declined'>> = {
  ACSC: 'settled',
  ACCC: 'settled',
  RJCT: 'declined',
};

const REASON_LENGTH = 255;

const textOf = (value: unknown): string => (isText(value, 2048) ? value : '');
const reasonOf = ({ reason }: Json): string => textOf(reason).slice(0, REASON_LENGTH) || REASONS.providerSaidNo;

function readAmount({ amount, currency }: Json): ReportedAmount | undefined {
  if (amount === undefined && currency === undefined) return undefined;
  const isAmount = typeof amount === 'string' && /^\d{1,18}$/.test(amount);
  return isAmount && typeof currency === 'string' ? { amount: BigInt(amount), currency } : 'invalid';
}

/** The answer to an operation may omit the currency: it is that of the payment. */
function readOperationAmount({ amount, currency }: Json): ReportedAmount | undefined {
  const reported = readAmount({ amount, currency: currency ?? (amount === undefined ? undefined : '') });
  return typeof reported === 'object' && currency === undefined ? { amount: reported.amount } : reported;
}

/** Looks up a value that came from a provider, which may be of any type. */
const entry = <Value>(table: Readonly<Record<string, Value>>, key: unknown): Value | undefined =>
  typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined;

const textsOf = (value: unknown): Record<string, string> | undefined =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, textOf(text)])) : undefined;

function outcomeOf(answer: Json): Outcome {
  const kind = entry(STATUSES, answer.status);
  const answered = { providerReference: textOf(answer.id) || undefined, reportedAmount: readAmount(answer) };
  switch (kind) {
    case undefined:
      return { kind: 'unknown' };
    case 'declined':
      return { kind, reason: reasonOf(answer), ...answered };
    case 'accepted':
      return { kind, code: textOf(answer.qr) || undefined, instructions: textsOf(answer.instructions), ...answered };
    case 'redirected': {
      const { url, method, params } = isObject(answer.redirect) ? answer.redirect : {};
      if (!isText(url, 2048) || !/^https?:\/\//.test(url)) return { kind: 'unknown' };
      return { kind, url, method: method === 'POST' ? 'POST' : 'GET', params: textsOf(params) ?? {}, ...answered };
    }
    default:
      return { kind, ...answered };
  }
}

function operationOutcomeOf(answer: Json): OperationOutcome {
  if (answer.status === 'done') return { kind: 'done', reportedAmount: readOperationAmount(answer) };
  if (answer.status === 'pending') return { kind: 'accepted', reportedAmount: readOperationAmount(answer) };
  if (answer.status === 'declined') return { kind: 'declined', reason: reasonOf(answer) };
  return { kind: 'unknown' };
}

/** A date and time in UTC; any other value is ignored. */
const momentOf = (value: unknown): number | undefined =>
  typeof value === 'string' && isUtcMoment(value) ? Date.parse(value) : undefined;

/** Reads the notifications of each type. */
const MEANINGS: Readonly<Record<string, (body: Json) => NotificationMeaning>> = {
  payment: outcomeOf,
  bank_status: (body) => {
    const kind = entry(BANK_CODES, body.code) ?? 'accepted';
    const reportedAmount = readAmount(body);
    if (kind !== 'declined') return { kind, reportedAmount };
    return { kind, reason: reasonOf({ reason: body.reason ?? REASONS.bankSaidNo }), reportedAmount };
  },
  chargeback: (body) => ({ kind: 'chargedBack', chargedBack: readAmount(body), respondBy: momentOf(body.respond_by) }),
};

export const interpretNotification = (body: Json): NotificationMeaning => entry(MEANINGS, body.type)?.(body);

const EVENT_ID_LENGTH = 255;

/** Reads notifications signed with the secret; `referenceName` is the member of the body that holds our reference. */
export const notificationReader =
  (secret: string, referenceName = 'reference'): Connector['readNotification'] =>
  (headers, bytes, now) => {
    const eventId = signedId(headers, bytes, [secret], now, LIMITS.signatureToleranceMs);
    if (eventId === undefined || eventId.length > EVENT_ID_LENGTH) return undefined;
    try {
      const body: unknown = JSON.parse(bytes.toString('utf8'));
      const isNotification = isObject(body) && isText(body[referenceName], 255) && isKeepable(body);
      return isNotification ? { eventId, reference: body[referenceName] as string, body } : undefined;
    } catch {
      return undefined;
    }
  };

/** The option of a request that carries its deadline to the fence. */
interface FencedRequest {
  deadline?: Deadline;
}

/** Checks the deadline when the connection is about to write the request, after all waiting, and aborts a late one. */
class Fence extends DecoratorHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #deadline: Deadline | undefined;

  constructor(handler: Dispatcher.DispatchHandler, deadline: Deadline | undefined) {
    super(handler);
    this.#handler = handler;
    this.#deadline = deadline;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
    if (this.#deadline?.begin() === false)
      controller.abort(new NotSent('The deadline for sending the request has passed.'));
  }
}

const fenced: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, new Fence(handler, (options as FencedRequest).deadline));

export interface Upstream extends Connector {
  close(): Promise<void>;
}

export function createUpstream({ url, key, notificationSecret }: ProviderAccess): Upstream {
  const base = new URL(url);
  const prefix = base.pathname.replace(/\/$/, '');
  // Unlimited connections: the limiter of the connector bounds the calls, and the pool must not queue them again.
  const pool = new Pool(base.origin, {
    connections: null,
    connect: { timeout: LIMITS.providerConnectTimeoutMs },
    headersTimeout: LIMITS.providerTimeoutMs,
    bodyTimeout: LIMITS.providerTimeoutMs,
    maxResponseSize: LIMITS.providerBytes,
  });
  const dispatcher = pool.compose(fenced);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

  /** Returns the body of a 200, and undefined for a 404; anything else counts as no answer. */
  const call = async (
    method: 'GET' | 'POST',
    path: string,
    deadline: Deadline,
    body?: Json,
  ): Promise<Json | undefined> => {
    const request = (bytes?: Buffer): Promise<Dispatcher.ResponseData> => {
      const { signal } = deadline;
      const options: Dispatcher.RequestOptions & FencedRequest = {
        method,
        path: prefix + path,
        headers,
        signal,
        deadline,
      };
      return dispatcher.request(bytes ? { ...options, body: bytes } : options);
    };
    const { statusCode, body: answer } = await (body ? withJsonBytes(body, request) : request()).catch((error) => {
      throw deadline.hasBegun ? error : new NotSent(`The provider could not be reached (${error.message}).`);
    });
    if (statusCode !== 200) {
      await answer.dump();
      if (statusCode === 404) return undefined;
      throw new Error(`The provider answered ${statusCode}.`);
    }
    const json = await answer.json();
    if (!isObject(json)) throw new Error('The provider’s answer is not an object.');
    return json;
  };
  const readIfFound = <Result>(
    answer: Json | undefined,
    read: (answer: Json) => Result,
  ): Result | { kind: 'notFound' } => (answer === undefined ? { kind: 'notFound' } : read(answer));
  const path = ({ reference }: { reference: string }): string => `/v1/payments/${encodeURIComponent(reference)}`;

  return {
    capabilities: {
      isIdempotent: true,
      supportsQueries: true,
      notFoundIsFinal: true,
      refunds: 'api',
      concurrency: LIMITS.providerConcurrency,
    },
    submit: async (submission, deadline) =>
      readIfFound(await call('POST', '/v1/payments', deadline, bodyOf(submission)), outcomeOf),
    query: async (submission, deadline) => readIfFound(await call('GET', path(submission), deadline), outcomeOf),
    operate: async ({ verb, operation, amount, ...payment }, deadline) => {
      const body = { operation, amount: String(amount) };
      return readIfFound(await call('POST', `${path(payment)}/${verb}`, deadline, body), operationOutcomeOf);
    },
    queryOperation: async ({ operation, ...payment }, deadline) =>
      readIfFound(
        await call('GET', `${path(payment)}/operations/${encodeURIComponent(operation)}`, deadline),
        operationOutcomeOf,
      ),
    readNotification: notificationReader(notificationSecret),
    interpretNotification,
    // At shutdown all requests have ended, so no request waits for a call that is still in flight.
    close: () => pool.destroy(),
  };
}

const cardOf = ({ number, month, year, holder, cvv }: CardData): Json => ({
  number: number.reveal(),
  month,
  year,
  holder,
  ...(cvv && { cvv: cvv.reveal() }),
});

const authenticationFields = ({ transStatus, eci, proof, dsTransId, protocolVersion }: Authentication): Json => ({
  transStatus,
  ...(eci !== undefined && { eci }),
  ...(proof !== undefined && { authenticationValue: proof }),
  ...(dsTransId !== undefined && { dsTransID: dsTransId }),
  protocolVersion,
});

const walletOf = ({ type, network, cryptogram, eci }: SubmittedWallet): Json => ({
  type,
  network,
  ...(cryptogram && { cryptogram: cryptogram.reveal() }),
  ...(eci !== undefined && { eci }),
});

function bodyOf(submission: Submission): Json {
  return {
    reference: submission.reference,
    brand: submission.brand,
    direction: submission.isPayout ? 'out' : 'in',
    merchant: { mid: submission.mid, name: submission.merchantName },
    amount: String(submission.amount),
    currency: submission.currency,
    capture: !submission.authoriseOnly,
    description: submission.description,
    identifier: submission.identifier,
    payer: submission.payer,
    parameters: submission.parameters(),
    ...(submission.methods.length > 0 && { methods: submission.methods }),
    ...(submission.card && { card: cardOf(submission.card) }),
    ...(submission.authentication && { authentication: authenticationFields(submission.authentication) }),
    ...(submission.wallet && { wallet: walletOf(submission.wallet) }),
    ...(submission.recurringOf !== undefined && { recurring: true, first_reference: submission.recurringOf }),
    return_url: submission.returnUrl,
    notify_url: submission.notifyUrl,
  };
}
