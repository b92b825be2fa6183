/** The connector for providers that implement the HTTP protocol of `docs/provider-api.md`, such as the simulator. */

import { signedId } from '../lib/crypto/signature.ts';
import { cut } from '../lib/text/cut.ts';
import { isUtcMoment } from '../lib/text/identifiers.ts';
import { isKeepable, isObject, isText, withoutByteOrderMark } from '../lib/text/json.ts';
import type { Deadline } from '../lib/time/deadline.ts';
import { classify, type Decline, isSoftCode } from '../rules/declines.ts';
import { LIMITS } from '../rules/limits.ts';
import { REASONS } from '../rules/reasons.ts';
import {
  type Authentication,
  type Capabilities,
  type CardData,
  type ChargebackFields,
  type Connector,
  type ConnectorDefinition,
  declineOf,
  type NotificationMeaning,
  type OperationOutcome,
  type Outcome,
  RateLimited,
  type ReportedAmount,
  type Submission,
  type SubmittedWallet,
} from './connector.ts';
import { createHttpClient, jsonOf } from './http.ts';
import { linesOf } from './order-lines.ts';

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
const EVENT_ID_LENGTH = 255;

const textOf = (value: unknown): string => (isText(value, 2048) ? value : '');
const reasonOf = ({ reason }: Json): string => cut(textOf(reason), REASON_LENGTH) || REASONS.providerSaidNo;

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

/** By the code and the advice; a provider that says whether a decline is soft knows better, but for a card that must rest. */
function declineFields({ code, advice, soft }: Json): { isSoft?: boolean; decline: Decline } {
  const decline = classify('providerRefused', { iso: textOf(code), advice: textOf(advice) });
  const isSoft = typeof soft === 'boolean' ? soft : isSoftCode(textOf(code));
  return { decline, ...(isSoft && decline.class !== 'never' && { isSoft }) };
}

function outcomeOf(answer: Json): Outcome {
  const kind = entry(STATUSES, answer.status);
  const answered = { providerReference: textOf(answer.id) || undefined, reportedAmount: readAmount(answer) };
  switch (kind) {
    case undefined:
      return { kind: 'unknown' };
    case 'declined':
      return { kind, reason: reasonOf(answer), ...declineFields(answer), ...answered };
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

const chargebackOf = (body: Json): ChargebackFields => ({
  chargedBack: readAmount(body),
  respondBy: body.respond_by === null ? null : momentOf(body.respond_by),
  cause: textOf(body.reason),
  chargebackReference: isText(body.chargeback, EVENT_ID_LENGTH) ? body.chargeback : undefined,
});

/** Reads the notifications of each type. */
const MEANINGS: Readonly<Record<string, (body: Json) => NotificationMeaning>> = {
  payment: outcomeOf,
  bank_status: (body) => {
    const kind = entry(BANK_CODES, body.code) ?? 'accepted';
    const reportedAmount = readAmount(body);
    if (kind !== 'declined') return { kind, reportedAmount };
    return { kind, reason: reasonOf({ reason: body.reason ?? REASONS.bankSaidNo }), reportedAmount };
  },
  operation: (body) => ({ kind: 'operation', outcome: operationOutcomeOf(body) }),
  chargeback: (body) => ({ kind: 'chargedBack', ...chargebackOf(body) }),
  second_chargeback: (body) => ({ kind: 'secondChargedBack', ...chargebackOf(body) }),
  chargeback_reversed: (body) => ({ kind: 'chargebackReversed', ...chargebackOf(body) }),
  chargeback_lost: (body) => ({ kind: 'chargebackReport', state: 'lost', ...chargebackOf(body) }),
  inquiry: (body) => ({ kind: 'chargebackReport', stage: 'inquiry', ...chargebackOf(body) }),
  warning: (body) => ({ kind: 'chargebackReport', stage: 'warning', ...chargebackOf(body) }),
};

export const interpretNotification = (body: Json): NotificationMeaning => entry(MEANINGS, body.type)?.(body);

/** Reads a signed message; `referenceName` is the member of the body that holds our reference. */
export const signedMessageReader =
  (secret: string, referenceName: string) =>
  (
    headers: Readonly<Record<string, unknown>>,
    bytes: Buffer,
    now: number,
  ): { eventId: string; reference: string; body: Json } | undefined => {
    const eventId = signedId(headers, bytes, [secret], now, LIMITS.signatureToleranceMs);
    if (eventId === undefined || eventId.length > EVENT_ID_LENGTH) return undefined;
    try {
      const body: unknown = JSON.parse(withoutByteOrderMark(bytes.toString('utf8')));
      const isNotification = isObject(body) && isText(body[referenceName], 255) && isKeepable(body);
      return isNotification ? { eventId, reference: body[referenceName] as string, body } : undefined;
    } catch {
      return undefined;
    }
  };

/** Reads notifications signed with the secret. One with an `operation` is about that operation of the payment. */
export const notificationReader = (secret: string): Connector['readNotifications'] => {
  const read = signedMessageReader(secret, 'reference');
  return (headers, bytes, now) => {
    const message = read(headers, bytes, now);
    if (!message) return undefined;
    const { operation } = message.body;
    return [isText(operation, 255) ? { ...message, operation } : message];
  };
};

export interface Upstream extends Connector {
  interpretNotification(body: Json): NotificationMeaning;
  close(): Promise<void>;
}

const CAPABILITIES: Capabilities = {
  isIdempotent: true,
  supportsQueries: true,
  notFoundIsFinal: true,
  refunds: 'api',
  authentication: 'gateway',
  threeDsRequests: { require_3ds: 'exact', skip_3ds: 'exact', low_value: 'exact', transaction_risk: 'exact' },
  supportsWithdrawals: true,
  supportsTelephoneOrders: true,
  concurrency: LIMITS.providerConcurrency,
};

/** A connection to a provider that implements the protocol. */
export const upstream: ConnectorDefinition = {
  capabilities: CAPABILITIES,
  unhandled: [],
  create: ({ credential, apiBase, environment, callsPerSecond }) =>
    createUpstream(
      {
        url: apiBase ?? credential('url'),
        key: credential('key'),
        notificationSecret: credential('notification_secret'),
      },
      environment === 'sandbox',
      callsPerSecond,
    ),
};

export function createUpstream(
  { url, key, notificationSecret }: ProviderAccess,
  allowsSimulator = true,
  callsPerSecond?: number,
): Upstream {
  const client = createHttpClient(url, callsPerSecond);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

  /** Returns the body of a 200, and undefined for a 404; anything else counts as no answer. */
  const call = async (
    method: 'GET' | 'POST',
    path: string,
    deadline: Deadline,
    body?: Json,
  ): Promise<Json | undefined> => {
    const answer = await client.send({ method, path, headers, body: body && JSON.stringify(body) }, deadline);
    if (answer.status === 404) return undefined;
    if (answer.status === 429) {
      throw new RateLimited('The provider did not process the call: too many requests.', answer.headers['retry-after']);
    }
    if (answer.status !== 200) throw new Error(`The provider answered ${answer.status}.`);
    return jsonOf(answer);
  };
  const readIfFound = <Result>(
    answer: Json | undefined,
    read: (answer: Json) => Result,
  ): Result | { kind: 'notFound' } => (answer === undefined ? { kind: 'notFound' } : read(answer));
  const path = ({ reference }: { reference: string }): string => `/v1/payments/${encodeURIComponent(reference)}`;

  return {
    capabilities: CAPABILITIES,
    submit: async (submission, deadline) =>
      readIfFound(await call('POST', '/v1/payments', deadline, bodyOf(submission)), outcomeOf),
    query: async (submission, deadline) => readIfFound(await call('GET', path(submission), deadline), outcomeOf),
    // A void ends a payment that waits for its payer. If it was not done, the payment itself tells why.
    withdraw: async (submission, cause, deadline) => {
      const body = { operation: `${submission.reference}-withdrawal`, amount: String(submission.amount) };
      const answer = await call('POST', `${path(submission)}/void`, deadline, body);
      if (answer?.status === 'done') return { ...declineOf(cause), reportedAmount: readOperationAmount(answer) };
      return readIfFound(await call('GET', path(submission), deadline), outcomeOf);
    },
    operate: async ({ verb, operation, amount, reference }, deadline) => {
      const body = { operation, amount: String(amount) };
      return readIfFound(await call('POST', `${path({ reference })}/${verb}`, deadline, body), operationOutcomeOf);
    },
    queryOperation: async ({ operation, reference }, deadline) =>
      readIfFound(
        await call('GET', `${path({ reference })}/operations/${encodeURIComponent(operation)}`, deadline),
        operationOutcomeOf,
      ),
    readNotifications: notificationReader(notificationSecret),
    interpretNotification,
    async check(deadline) {
      const { status, text } = await client.send({ method: 'GET', path: '/v1/about', headers }, deadline);
      if (status === 401) return { ok: false, detail: 'The provider does not accept the key.' };
      if (status !== 200) return { ok: false, detail: `The provider answered ${status}.` };
      const { name, simulator } = jsonOf({ text });
      if (simulator === true && !allowsSimulator)
        return { ok: false, detail: 'The provider is a simulator, which production does not use.', isSimulated: true };
      return { ok: true, detail: `The provider is ${cut(textOf(name), 100) || 'unnamed'}.` };
    },
    close: client.close,
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

const orderLinesOf = (submission: Submission): Json[] =>
  linesOf(submission).map(({ kind, name, quantity, unitAmount }) => ({
    ...{ type: kind, name, quantity },
    unit_amount: String(unitAmount),
    amount: String(unitAmount * BigInt(quantity)),
  }));

function bodyOf(submission: Submission): Json {
  return {
    reference: submission.reference,
    brand: submission.brand,
    direction: submission.isPayout ? 'out' : 'in',
    merchant: { mid: submission.mid, name: submission.merchantName },
    amount: String(submission.amount),
    currency: submission.currency,
    capture: !submission.authoriseOnly,
    ...(submission.isTelephoneOrder && { channel: 'moto' }),
    description: submission.description,
    descriptor: submission.descriptor,
    identifier: submission.identifier,
    payer: submission.payer,
    parameters: submission.parameters(),
    ...(submission.lines && { lines: orderLinesOf(submission) }),
    ...(submission.methods.length > 0 && { methods: submission.methods }),
    ...(submission.card && { card: cardOf(submission.card) }),
    ...(submission.authentication && { authentication: authenticationFields(submission.authentication) }),
    ...(submission.threeDs?.requested && {
      three_ds: { requested: submission.threeDs.requested, reason: submission.threeDs.reason },
    }),
    ...(submission.wallet && { wallet: walletOf(submission.wallet) }),
    ...(submission.recurringOf !== undefined && { recurring: true, first_reference: submission.recurringOf }),
    return_url: submission.returnUrl(),
    notify_url: submission.notifyUrl,
  };
}
