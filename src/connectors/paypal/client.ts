/** Calls PayPal's REST API: over our HTTP client, with an access token that is renewed in time. */
import { Secret } from '../../lib/crypto/secret.ts';
import { Deadline } from '../../lib/time/deadline.ts';
import { LIMITS } from '../../rules/limits.ts';
import { type ConnectionAccess, NotSent, RateLimited } from '../connector.ts';
import { createHttpClient, type HttpClient, jsonOf } from '../http.ts';
import { type ApiCall, createJsonApi, NotAllowed } from '../json-api.ts';

const BASES = {
  sandbox: 'https://api-m.sandbox.paypal.com',
  production: 'https://api-m.paypal.com',
} as const satisfies Record<ConnectionAccess['environment'], string>;

export const baseOf = ({ apiBase, environment }: Pick<ConnectionAccess, 'apiBase' | 'environment'>): string =>
  apiBase ?? BASES[environment];

/** A call, with its idempotency key if it creates or moves something. */
export interface PaypalCall extends ApiCall {
  key?: string;
}

export interface PaypalClient {
  /** As `JsonApi`. */
  call<Answer = unknown>(deadline: Deadline, call: PaypalCall): Promise<Answer>;
  close(): Promise<void>;
}

/** An access token is renewed so long before it expires. */
const EARLY_MS = 60_000;

/** Another call completes the order at this moment. */
const IN_PROGRESS = ['ORDER_COMPLETION_IN_PROGRESS', 'PREVIOUS_REQUEST_IN_PROGRESS'];

export function createPaypalClient(access: ConnectionAccess): PaypalClient {
  const client = createHttpClient(baseOf(access), access.callsPerSecond);
  const tokens = createTokens(client, access);
  const api = createJsonApi({
    title: 'PayPal',
    client,
    authorise: async () => ({ authorization: `Bearer ${(await tokens.get()).reveal()}` }),
    refusals: [400, 404, 422],
    codeOf: ({ details, name }) => (Array.isArray(details) ? details[0]?.issue : undefined) ?? name,
    open: IN_PROGRESS,
  });
  return {
    async call<Answer>(deadline: Deadline, { key, headers, ...call }: PaypalCall) {
      const sent: ApiCall = {
        ...call,
        headers: {
          ...(call.method === 'POST' && { prefer: 'return=representation' }),
          ...(key !== undefined && { 'paypal-request-id': key }),
          ...headers,
        },
      };
      const answer = await api(deadline, sent).catch((error) => {
        if (!(error instanceof NotAllowed) || error.status !== 401) throw error;
        // The token was revoked before its time.
        tokens.forget();
        return api(deadline, sent);
      });
      return answer as Answer;
    },
    close: client.close,
  };
}

/** The access token of a connection; calls that need a new one wait for the same. Getting one moves no money. */
function createTokens(client: HttpClient, { credential }: ConnectionAccess) {
  let token: { value: Secret; until: number } | undefined;
  let requested: Promise<Secret> | undefined;

  const request = async (): Promise<Secret> => {
    const login = Buffer.from(`${credential('client_id')}:${credential('client_secret')}`).toString('base64');
    // Not that of the call, which has not begun yet.
    const deadline = new Deadline(LIMITS.outcomeTimeoutMs);
    const answer = await client
      .send(
        {
          method: 'POST',
          path: '/v1/oauth2/token',
          headers: { authorization: `Basic ${login}`, 'content-type': 'application/x-www-form-urlencoded' },
          body: 'grant_type=client_credentials',
        },
        deadline,
      )
      .catch((error) => {
        throw new NotSent(`PayPal returned no access token (${error.message}).`);
      })
      .finally(() => deadline.clear());
    if (answer.status === 401 || answer.status === 403) throw new NotAllowed('PayPal', answer.status, 'access token');
    if (answer.status === 429)
      throw new RateLimited('PayPal returned no access token: too many requests.', answer.headers['retry-after']);
    if (answer.status !== 200) throw new NotSent(`PayPal returned no access token (${answer.status}).`);
    const { access_token: value, expires_in: seconds } = jsonOf(answer);
    if (typeof value !== 'string' || typeof seconds !== 'number') throw new NotSent('PayPal returned no access token.');
    token = { value: new Secret(value), until: Date.now() + seconds * 1000 - EARLY_MS };
    return token.value;
  };

  return {
    async get(): Promise<Secret> {
      if (token && Date.now() < token.until) return token.value;
      requested ??= request().finally(() => {
        requested = undefined;
      });
      return requested;
    },
    forget(): void {
      token = undefined;
    },
  };
}
