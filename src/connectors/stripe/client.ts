/** Calls Stripe through its SDK: over our HTTP client, under a deadline, without the retries and telemetry of the SDK. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type Stripe from 'stripe';
import { isObject } from '../../lib/text/json.ts';
import type { Deadline } from '../../lib/time/deadline.ts';
import { type ConnectionAccess, NotSent, RateLimited } from '../connector.ts';
import { createHttpClient, type HttpClient } from '../http.ts';

/** The version whose types the connector is compiled against; the SDK sends the same one, and tsc compares them. */
const API_VERSION = '2026-10-28.endive' satisfies Stripe.StripeConfig['apiVersion'];
const API_BASE = 'https://api.stripe.com';

/** Loaded on first use, because loading it takes a third of a second. */
export const stripeSdk = async (): Promise<typeof Stripe> => (await import('stripe')).default;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const PAYER_CODES: readonly string[] = [
  'email_invalid',
  'country_code_invalid',
  'postal_code_invalid',
  'state_unsupported',
];

/** Stripe refused a call for good: it was not carried out, and would be refused again. It has the codes only. */
export class Refused extends Error {
  readonly type: string;
  readonly code: string | undefined;
  readonly decline_code: string | undefined;
  readonly advice_code: string | undefined;
  readonly network_advice_code: string | undefined;
  readonly network_decline_code: string | undefined;
  /** Stripe refused the payer's name, address, e-mail address or telephone number. */
  readonly isAboutPayer: boolean;
  /** Stripe refused the flag of a telephone order. */
  readonly isAboutTelephoneOrder: boolean;

  constructor({ type, code, decline_code, param, raw }: Partial<Stripe.errors.StripeError>) {
    super(`Stripe refused the call (${[type, code, decline_code].filter(Boolean).join(', ')}).`);
    this.type = type ?? '';
    this.code = code;
    this.decline_code = decline_code;
    const codes = isObject(raw) ? raw : {};
    this.advice_code = textOf(codes.advice_code);
    this.network_advice_code = textOf(codes.network_advice_code);
    this.network_decline_code = textOf(codes.network_decline_code);
    this.isAboutPayer = PAYER_CODES.includes(code ?? '') || /^(billing_details|customer_email)/.test(param ?? '');
    this.isAboutTelephoneOrder = (param ?? '').endsWith('[moto]');
  }
}

export const isAboutPayer = (error: unknown): boolean => error instanceof Refused && error.isAboutPayer;

/** The idempotency key was used before, with other parameters: the outcome of that call is not known here. */
export class KeyReused extends Error {}

/** Stripe stores the answer to a key, a 500 too: this one is that of an earlier call, and this call was not processed. */
export class StoredFailure extends Error {}

export interface StripeClient {
  /**
   * Throws `Refused`, `NotSent` if Stripe has not processed the call, and any other error if it may have. No error
   * contains what was sent or what Stripe returned besides codes.
   */
  call<Result>(deadline: Deadline, perform: (stripe: Stripe) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** What the HTTP client needs to know of the call that it belongs to. */
interface Call {
  deadline: Deadline;
  /** Why there was no answer; the SDK wraps it otherwise. */
  failure?: unknown;
}

const calls = new AsyncLocalStorage<Call>();

/** The HTTP client as the SDK wants it. */
const adapt = (client: HttpClient): Stripe.HttpClient => ({
  getClientName: () => 'turnpike',
  async makeRequest(_host, _port, path, method, headers, requestData) {
    const call = calls.getStore() as Call;
    const body = method === 'POST' ? requestData : undefined;
    const request = { method: method as 'GET' | 'POST' | 'DELETE', path, headers: textHeaders(headers), body };
    const answer = await client.send(request, call.deadline).catch((error) => {
      call.failure = error;
      // Without a code: the SDK would repeat a call whose connection was reset.
      throw new Error('There was no answer.');
    });
    return {
      getStatusCode: () => answer.status,
      getHeaders: () => answer.headers as Record<string, string>,
      getRawResponse: () => ({ headers: answer.headers }),
      toStream: () => undefined,
      async toJSON() {
        const body: unknown = JSON.parse(answer.text);
        // The SDK takes any JSON without an error for a success, such as the answer of a failing proxy.
        const isSuccess = answer.status >= 200 && answer.status < 300;
        if (isSuccess || (isObject(body) && body.error)) return body;
        call.failure = new Error(`Stripe answered ${answer.status}.`);
        throw call.failure;
      },
    };
  },
});

/** Undici computes the length itself. */
const textHeaders = (headers: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.toLowerCase() !== 'content-length')
      .map(([name, value]) => [name, String(value)]),
  );

export function createStripeClient({ credential, apiBase, callsPerSecond }: ConnectionAccess): StripeClient {
  const client = createHttpClient(apiBase ?? API_BASE, callsPerSecond);
  let opened: Stripe | undefined;
  const open = async (): Promise<Stripe> => {
    const Sdk = await stripeSdk();
    opened ??= new Sdk(credential('secret_key'), {
      apiVersion: API_VERSION,
      httpClient: adapt(client),
      maxNetworkRetries: 0,
      telemetry: false,
    });
    return opened;
  };
  return {
    async call(deadline, perform) {
      const stripe = opened ?? (await open());
      const call: Call = { deadline };
      return calls
        .run(call, () => perform(stripe))
        .catch((error) => {
          throw call.failure ?? translated(error);
        });
    },
    close: client.close,
  };
}

const isStripeError = (error: unknown): error is Stripe.errors.StripeError =>
  error instanceof Error && 'rawType' in error && 'statusCode' in error;

/** An error that says what the gateway may conclude, and that may be logged. */
function translated(error: unknown): Error {
  if (!isStripeError(error)) return new Error('Stripe’s answer cannot be read.');
  const { statusCode = 0, rawType, code } = error;
  const codes = [rawType, code].filter(Boolean).join(', ');
  if (statusCode === 401 || statusCode === 403)
    return new NotSent(`Stripe does not accept the key for this call (${codes}).`);
  // Another call holds the object, and may be ours.
  if (statusCode === 429 && code !== 'lock_timeout')
    return new RateLimited('Stripe is limiting the rate of our calls.', error.headers?.['retry-after']);
  if (rawType === 'idempotency_error') return new KeyReused('An earlier call with this key had other parameters.');
  if (statusCode >= 500 && error.headers?.['idempotent-replayed'] === 'true')
    return new StoredFailure(`Stripe repeats its answer ${statusCode} (${codes}) to an earlier call.`);
  const isRefusal = [400, 402, 404].includes(statusCode);
  return isRefusal
    ? new Refused({ ...error, type: rawType ?? '' })
    : new Error(`Stripe answered ${statusCode} (${codes}).`);
}
