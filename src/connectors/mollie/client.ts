/** Calls Mollie through its SDK: over our HTTP client, under a deadline, without the retries of the SDK. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { MollieOptions as Options, Page, MollieClient as Sdk } from '@mollie/api-client';
import { isObject } from '../../lib/text/json.ts';
import type { Deadline } from '../../lib/time/deadline.ts';
import { settingText } from '../../rules/connectors.ts';
import { type ConnectionAccess, NotSent, RateLimited } from '../connector.ts';
import { createHttpClient, type HttpResponse, jsonOf } from '../http.ts';

const API_BASE = 'https://api.mollie.com';
/** The version of the API, which is part of every address; that of the types of the SDK. */
const API_VERSION = '/v2/';

/** Mollie refused a call for good: it was not carried out. The message is that of Mollie. */
export class Refused extends Error {
  readonly status: number;
  /** The parameter that Mollie objects to. */
  readonly field: string | undefined;

  constructor(status: number, { detail, field }: Record<string, unknown>) {
    super(typeof detail === 'string' && detail !== '' ? detail : `Mollie answered ${status}.`);
    this.status = status;
    this.field = typeof field === 'string' ? field : undefined;
  }
}

/** Mollie answered, but neither with a result nor with a refusal: the outcome is not known. */
class Failed extends Error {}

export interface MollieClient {
  /** What a call says about its mode, for those calls to which the SDK does not add it. */
  mode: { testmode?: true };
  /**
   * Throws `Refused`, `NotSent` if Mollie has not processed the call, and any other error if it may have. A call whose
   * answer got lost is repeated once if `isRepeatable`: its idempotency key makes it the same call.
   */
  call<Result>(
    deadline: Deadline,
    perform: (mollie: Sdk) => Promise<Result>,
    options?: { isRepeatable?: boolean },
  ): Promise<Result>;
  close(): Promise<void>;
}

/** What the SDK passes to the function that sends its requests. */
interface SdkRequest {
  method?: 'GET' | 'POST' | 'DELETE';
  headers?: Record<string, string>;
  body?: string;
}

/** The part of the SDK that sends requests. */
interface Transport {
  request(path: string, request?: SdkRequest): Promise<unknown>;
}

/**
 * The SDK has no option for another HTTP client, and its own one repeats calls and ignores deadlines. The version of the
 * SDK is pinned, and a version with other internals fails here.
 */
function transportOf({ payments }: Sdk): Transport {
  const { networkClient } = payments as unknown as { networkClient?: { networkClient?: Transport } };
  const transport = networkClient?.networkClient;
  if (typeof transport?.request !== 'function') throw new Error('This version of the SDK of Mollie is not supported.');
  return transport;
}

const deadlines = new AsyncLocalStorage<Deadline>();

/** Whether a credential is an access token of an organisation, which has several profiles and both modes. */
export const isOrganisationToken = (key: string): boolean => key.startsWith('access_');

/** The profile of the connection; undefined for that of the API key. */
export const profileOf = (settings: ConnectionAccess['settings']): string | undefined =>
  settingText(settings, 'profile_id');

/** An API key has its mode; an access token gets that of the gateway. */
const modeOf = ({ credential, environment }: ConnectionAccess): MollieClient['mode'] =>
  isOrganisationToken(credential('api_key')) && environment === 'sandbox' ? { testmode: true } : {};

/** How the SDK is opened: calls with an access token say which profile and mode they are about, and others must not. */
function sdkOptions(access: ConnectionAccess): Options {
  const key = access.credential('api_key');
  if (!isOrganisationToken(key)) return { apiKey: key };
  const profileId = profileOf(access.settings);
  return { accessToken: key, parameterDefaults: { ...(profileId !== undefined && { profileId }), ...modeOf(access) } };
}

export function createMollieClient(access: ConnectionAccess): MollieClient {
  const { credential, apiBase, callsPerSecond } = access;
  const client = createHttpClient(apiBase ?? API_BASE, callsPerSecond);
  const request = async (path: string, { method = 'GET', headers, body }: SdkRequest = {}): Promise<unknown> => {
    const sent = {
      authorization: `Bearer ${credential('api_key')}`,
      accept: 'application/hal+json',
      'content-type': 'application/json',
      ...headers,
    };
    const deadline = deadlines.getStore() as Deadline;
    return readAnswer(await client.send({ method, path: API_VERSION + path, headers: sent, body }, deadline));
  };
  let opening: Promise<Sdk> | undefined;
  // Loaded on first use, because loading it takes a tenth of a second.
  const open = async (): Promise<Sdk> => {
    const sdk = (await import('@mollie/api-client')).createMollieClient(sdkOptions(access));
    transportOf(sdk).request = request;
    return sdk;
  };
  return {
    mode: modeOf(access),
    async call(deadline, perform, { isRepeatable = false } = {}) {
      opening ??= open();
      const sdk = await opening;
      return deadlines.run(deadline, async () => {
        try {
          return await perform(sdk);
        } catch (error) {
          const isLost = ![NotSent, Refused, Failed].some((kind) => error instanceof kind);
          if (!isLost || !isRepeatable || !deadline.mayBegin) throw error;
        }
        return perform(sdk).catch((error) => {
          // The first call was sent.
          throw error instanceof NotSent ? new Error(error.message) : error;
        });
      });
    },
    close: client.close,
  };
}

/** The most objects that Mollie returns on a page. */
const PAGE_SIZE = 250;

/** Finds an object in a list of Mollie by a member of the metadata that we sent with it. */
export async function findByMetadata<Listed extends { metadata: unknown }>(
  list: (page: { limit: number; from?: string }) => Promise<Page<Listed>>,
  name: string,
  value: string,
): Promise<Listed | undefined> {
  for (let from: string | undefined; ; ) {
    const page = await list({ limit: PAGE_SIZE, ...(from !== undefined && { from }) });
    const found = page.find(({ metadata }) => isObject(metadata) && metadata[name] === value);
    from = page.nextPageCursor;
    if (found || from === undefined) return found;
  }
}

/** Statuses of calls that Mollie has processed and refused. */
const REFUSALS: readonly number[] = [400, 404, 405, 410, 415, 422];

/** The body of a success, as the SDK expects it: `true` if there is none. */
function readAnswer(answer: HttpResponse): unknown {
  const { status, text } = answer;
  if (status >= 200 && status < 300) return text === '' ? true : jsonOf(answer);
  if (status === 401 || status === 403)
    throw new NotSent(`Mollie does not accept the API key for this call (${status}).`);
  if (status === 429) throw new RateLimited('Mollie is limiting the rate of our calls.', answer.headers['retry-after']);
  // An equal refund was made a moment ago.
  if (status === 409) throw new RateLimited('Mollie asks to repeat the call later.', answer.headers['retry-after']);
  if (REFUSALS.includes(status)) throw new Refused(status, jsonOf(answer));
  throw new Failed(`Mollie answered ${status}.`);
}
