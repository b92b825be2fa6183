/** Calls Adyen through its SDK: over our HTTP client, under a deadline; errors carry codes and nothing that was sent. */
import { createRequire } from 'node:module';
import type ClientModule from '@adyen/api-library/lib/src/client.js';
import type { Config } from '@adyen/api-library/lib/src/index.js';
import type * as Modifications from '@adyen/api-library/lib/src/services/checkout/modificationsApi.js';
import type * as Payments from '@adyen/api-library/lib/src/services/checkout/paymentsApi.js';
import type { IRequest } from '@adyen/api-library/lib/src/typings/requestOptions.js';
import { isObject } from '../../lib/text/json.ts';
import type { Deadline } from '../../lib/time/deadline.ts';
import { CONNECTORS } from '../../rules/connectors.ts';
import { type ConnectionAccess, NotSent, RateLimited } from '../connector.ts';
import { createHttpClient, type HttpClient, type HttpResponse } from '../http.ts';

const require = createRequire(import.meta.url);

/** Loaded on first use, and in parts: loading the whole SDK takes a second. It names the version of the API, v72. */
const loadSdk = () => ({
  Client: (require('@adyen/api-library/lib/src/client.js') as typeof ClientModule).default,
  ...(require('@adyen/api-library/lib/src/services/checkout/paymentsApi.js') as typeof Payments),
  ...(require('@adyen/api-library/lib/src/services/checkout/modificationsApi.js') as typeof Modifications),
});

/** Adyen did not accept a request: it was not processed, and would not be accepted again. */
export class Refused extends Error {
  readonly errorCode: string;
  constructor(status: number, errorCode: string) {
    super(`Adyen did not accept the request (${status}, error ${errorCode}).`);
    this.errorCode = errorCode;
  }
}

/** Adyen does not accept the API key, or the key may not do this. */
export class NotAllowed extends NotSent {
  readonly status: number;
  constructor(status: number, errorCode: string) {
    super(`Adyen does not allow the call (${status}, error ${errorCode}).`);
    this.status = status;
  }
}

/** Adyen answered with an error that leaves the outcome unknown. */
class Failed extends Error {}

/** Another request with the same idempotency key is being processed. */
const IN_PROGRESS = '704';

function errorOf({ status, text, headers }: HttpResponse): Error {
  const errorCode = errorCodeOf(text);
  if (status === 429)
    return new RateLimited('Adyen did not process the call: too many requests.', headers['retry-after']);
  if (status === 401 || status === 403) return new NotAllowed(status, errorCode);
  if ((status === 400 || status === 422) && errorCode !== IN_PROGRESS) return new Refused(status, errorCode);
  return new Failed(`Adyen answered ${status} (error ${errorCode}).`);
}

function errorCodeOf(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    const code = isObject(body) ? String(body.errorCode) : '';
    return /^\w{1,20}$/.test(code) ? code : 'unknown';
  } catch {
    return 'unknown';
  }
}

export interface AdyenApi {
  payments: Payments.PaymentsApi;
  modifications: Modifications.ModificationsApi;
}

export interface AdyenClient {
  /**
   * Throws `Refused`, `NotSent` if Adyen has not processed the call, and any other error if it may have. A call whose
   * answer got lost is repeated once if `isRepeatable`: its idempotency key makes it the same call.
   */
  call<Result>(
    deadline: Deadline,
    perform: (api: AdyenApi) => Promise<Result>,
    options?: { isRepeatable?: boolean },
  ): Promise<Result>;
  close(): Promise<void>;
}

/** The HTTP client as the SDK wants it; the SDK's own one would follow redirects and log bodies that are not JSON. */
const adapt = (client: HttpClient, deadline: Deadline) => ({
  async request(
    endpoint: string,
    json: string | Buffer,
    config: Config,
    _isKeyRequired: boolean,
    options: IRequest.Options = {},
  ): Promise<string> {
    const { idempotencyKey, method, params } = options;
    const query = params === undefined ? '' : `?${new URLSearchParams(params)}`;
    const answer = await client.send(
      {
        method: method === 'GET' ? 'GET' : 'POST',
        path: new URL(endpoint).pathname + query,
        headers: {
          'content-type': 'application/json',
          'x-api-key': config.apiKey ?? '',
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        body: json.length === 0 ? undefined : String(json),
      },
      deadline,
    );
    if (answer.status < 200 || answer.status > 299) throw errorOf(answer);
    if (!isJson(answer.text)) throw new Failed('The answer of Adyen is not JSON.');
    return answer.text;
  },
});

function isJson(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

const TEST_BASE = 'https://checkout-test.adyen.com';

/** The address that a connection calls; undefined if the settings name none of Adyen's. */
export function baseOf({ apiBase, environment, settings }: ConnectionAccess): string | undefined {
  if (environment === 'sandbox') return apiBase ?? TEST_BASE;
  const url = URL.parse(`https://${settings.live_prefix ?? ''}-checkout-live.adyenpayments.com`);
  const isAdyens = url !== null && CONNECTORS.adyen.hosts.test(url.host) && url.pathname === '/';
  return isAdyens ? url.origin : undefined;
}

export function createAdyenClient(access: ConnectionAccess): AdyenClient {
  const base = baseOf(access);
  const http = base === undefined ? undefined : createHttpClient(base, access.callsPerSecond);
  const open = (deadline: Deadline): AdyenApi => {
    if (!http) throw new NotSent('The setting live_prefix of the connection is missing or wrong.');
    const { Client, PaymentsApi, ModificationsApi } = loadSdk();
    const isLive = access.environment === 'production';
    const config = {
      apiKey: access.credential('api_key'),
      environment: isLive ? 'LIVE' : 'TEST',
      ...(isLive && { liveEndpointUrlPrefix: String(access.settings.live_prefix) }),
    };
    const client = new Client(config as Config, adapt(http, deadline));
    return { payments: new PaymentsApi(client), modifications: new ModificationsApi(client) };
  };
  return {
    async call(deadline, perform, { isRepeatable = false } = {}) {
      const api = open(deadline);
      try {
        return await perform(api);
      } catch (error) {
        const isLost = ![NotSent, Refused, Failed].some((kind) => error instanceof kind);
        if (!isLost || !isRepeatable || !deadline.mayBegin) throw error;
      }
      return perform(api).catch((error) => {
        // The first call was sent.
        throw error instanceof NotSent ? new Error(error.message) : error;
      });
    },
    close: async () => http?.close(),
  };
}
