/** A provider behind the HTTP protocol of `docs/provider-api.md`; the provider simulator speaks it too. */
import { DecoratorHandler, type Dispatcher, Pool } from 'undici';
import type { Deadline } from '../lib/deadline.ts';
import { isKeepable, isObject, isText } from '../lib/json.ts';
import { signedId } from '../lib/signature.ts';
import { withJsonBytes } from '../lib/wipe.ts';
import { LIMITS } from '../rules/limits.ts';
import { REASONS } from '../rules/reasons.ts';
import {
  type Authentication,
  type CardData,
  type Connector,
  type Meaning,
  NotSent,
  type OperationOutcome,
  type Outcome,
  type ReportedAmount,
  type Submission,
} from './connector.ts';

/** How a provider is reached: its address, the key of our calls, the secret that signs its news. */
export interface ProviderAccess {
  url: string;
  key: string;
  notificationSecret: string;
}

type Json = Record<string, unknown>;

/** The words of providers for the state of a payment; any other word says nothing. */
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

/** The final codes of a bank (ISO 20022); every other code leaves the payment open. */
const BANK_CODES: Readonly<Record<string, 'settled' | 'declined'>> = {
  ACSC: 'settled',
  ACCC: 'settled',
  RJCT: 'declined',
};

const REASON_LENGTH = 255;

const textOf = (value: unknown): string => (isText(value, 2048) ? value : '');
const reasonOf = ({ reason }: Json): string => textOf(reason).slice(0, REASON_LENGTH) || REASONS.providerSaidNo;

function reportedAmount({ amount, currency }: Json): ReportedAmount | undefined {
  if (amount === undefined && currency === undefined) return undefined;
  const isAmount = typeof amount === 'string' && /^\d{1,18}$/.test(amount);
  return isAmount && typeof currency === 'string' ? { amount: BigInt(amount), currency } : 'nonsense';
}

/** An operation is in the currency of its payment, so an answer to it need not name one. */
function toldByOperation({ amount, currency }: Json): ReportedAmount | undefined {
  const reported = reportedAmount({ amount, currency: currency ?? (amount === undefined ? undefined : '') });
  return typeof reported === 'object' && currency === undefined ? { amount: reported.amount } : reported;
}

/** The entry of a table under a word that a provider sent. */
const entry = <Value>(table: Readonly<Record<string, Value>>, word: unknown): Value | undefined =>
  typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined;

const textsOf = (value: unknown): Record<string, string> | undefined =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, textOf(text)])) : undefined;

function outcomeOf(answer: Json): Outcome {
  const kind = entry(STATUSES, answer.status);
  const answered = { providerReference: textOf(answer.id) || undefined, reported: reportedAmount(answer) };
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
  if (answer.status === 'done') return { kind: 'done', reported: toldByOperation(answer) };
  if (answer.status === 'pending') return { kind: 'accepted', reported: toldByOperation(answer) };
  if (answer.status === 'declined') return { kind: 'declined', reason: reasonOf(answer) };
  return { kind: 'unknown' };
}

/** What news of each type mean. */
const MEANINGS: Readonly<Record<string, (body: Json) => Meaning>> = {
  payment: outcomeOf,
  bank_status: (body) => {
    const kind = entry(BANK_CODES, body.code) ?? 'accepted';
    const reported = reportedAmount(body);
    if (kind === 'declined') return { kind, reason: reasonOf({ reason: body.reason ?? REASONS.bankSaidNo }), reported };
    return { kind, reported };
  },
  // After refunds less than the payment is left to be taken back, so the amount says nothing about whose it is.
  chargeback: () => ({ kind: 'chargedBack' }),
};

export const interpretNotification = (body: Json): Meaning => entry(MEANINGS, body.type)?.(body);

const EVENT_ID_LENGTH = 255;

/** Reads news that the secret signed; `about` is the member that names what they are about. */
export const notificationReader =
  (secret: string, about = 'reference'): Connector['readNotification'] =>
  (headers, bytes, now) => {
    const eventId = signedId(headers, bytes, [secret], now, LIMITS.signatureToleranceMs);
    if (eventId === undefined || eventId.length > EVENT_ID_LENGTH) return undefined;
    try {
      const body: unknown = JSON.parse(bytes.toString('utf8'));
      const isNotification = isObject(body) && isText(body[about], 255) && isKeepable(body);
      return isNotification ? { eventId, reference: body[about] as string, body } : undefined;
    } catch {
      return undefined;
    }
  };

/** A request whose last moment to leave is checked when the connection is about to write it, after all waiting. */
interface FencedRequest {
  deadline?: Deadline;
}

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
    if (this.#deadline?.begin() === false) controller.abort(new NotSent('The request would leave too late.'));
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
  // As many connections as there are calls: what waits, waits in the limiter of the connector, and not in here.
  const pool = new Pool(base.origin, {
    connections: null,
    connect: { timeout: LIMITS.providerConnectTimeoutMs },
    headersTimeout: LIMITS.providerTimeoutMs,
    bodyTimeout: LIMITS.providerTimeoutMs,
    maxResponseSize: LIMITS.providerBytes,
  });
  const dispatcher = pool.compose(fenced);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

  /** The answer of a call; nothing when the provider has no such thing. Anything else is a line that is dead. */
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
  const found = <Result>(answer: Json | undefined, read: (answer: Json) => Result): Result | { kind: 'notFound' } =>
    answer === undefined ? { kind: 'notFound' } : read(answer);
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
      found(await call('POST', '/v1/payments', deadline, bodyOf(submission)), outcomeOf),
    query: async (submission, deadline) => found(await call('GET', path(submission), deadline), outcomeOf),
    operate: async ({ verb, operation, amount, ...payment }, deadline) => {
      const body = { operation, amount: String(amount) };
      return found(await call('POST', `${path(payment)}/${verb}`, deadline, body), operationOutcomeOf);
    },
    queryOperation: async ({ operation, ...payment }, deadline) =>
      found(
        await call('GET', `${path(payment)}/operations/${encodeURIComponent(operation)}`, deadline),
        operationOutcomeOf,
      ),
    readNotification: notificationReader(notificationSecret),
    interpretNotification,
    // Whoever closes has waited for the requests; a call that still runs is one that nobody waits for.
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
    ...(submission.recurringOf !== undefined && { recurring: true, first_reference: submission.recurringOf }),
    return_url: submission.returnUrl,
    notify_url: submission.notifyUrl,
  };
}
