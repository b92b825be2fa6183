/** Calls the JSON API of a provider under a deadline; errors say whether the provider has processed the call. */
import { isObject } from '../lib/text/json.ts';
import type { Deadline } from '../lib/time/deadline.ts';
import { NotSent, RateLimited } from './connector.ts';
import type { HttpClient, HttpRequest, HttpResponse } from './http.ts';

/** The provider did not accept a call: it was not carried out, and would not be accepted again. */
export class Refused extends Error {
  readonly status: number;
  /** What is wrong, in the provider's words; `unknown` if it names nothing. */
  readonly code: string;

  constructor(title: string, status: number, code: string) {
    super(`${title} did not accept the request (${status}, ${code}).`);
    this.status = status;
    this.code = code;
  }
}

/** The provider does not accept the credentials, or they may not do this. */
export class NotAllowed extends NotSent {
  readonly status: number;

  constructor(title: string, status: number, code: string) {
    super(`${title} does not allow the call (${status}, ${code}).`);
    this.status = status;
  }
}

/** The provider answered with an error that leaves the outcome unknown. */
class Failed extends Error {}

export interface ApiCall extends Omit<HttpRequest, 'body'> {
  body?: object | undefined;
  /** A call whose answer got lost is sent again once: it only reads, or its idempotency key makes it the same call. */
  isRepeatable?: boolean;
}

export interface JsonApiOptions {
  /** The name of the provider in errors. */
  title: string;
  client: HttpClient;
  /** The headers that authorise a call. */
  authorise(): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  /** The statuses of calls that were processed and refused. */
  refusals: readonly number[];
  /** The code in the body of an error. */
  codeOf(body: Record<string, unknown>): unknown;
  /** Codes of errors that leave the outcome unknown although their status is that of a refusal. */
  open?: readonly string[];
}

/** Throws `Refused`, `NotSent` if the provider has not processed the call, and any other error if it may have. */
export type JsonApi = (deadline: Deadline, call: ApiCall) => Promise<object>;

const CODE = /^[\w.-]{1,64}$/;

export function createJsonApi({ title, client, authorise, refusals, codeOf, open = [] }: JsonApiOptions): JsonApi {
  const errorOf = ({ status, text, headers }: HttpResponse): Error => {
    const named = codeOf(objectIn(text));
    const code = typeof named === 'string' && CODE.test(named) ? named : 'unknown';
    if (status === 429)
      return new RateLimited(`${title} did not process the call: too many requests.`, headers['retry-after']);
    if (refusals.includes(status) && !open.includes(code)) return new Refused(title, status, code);
    if (status === 401 || status === 403) return new NotAllowed(title, status, code);
    return new Failed(`${title} answered ${status} (${code}).`);
  };
  const send = async ({ method, path, headers = {}, body }: ApiCall, deadline: Deadline): Promise<object> => {
    const sent = {
      accept: 'application/json',
      ...(await authorise()),
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    };
    const answer = await client.send({ method, path, headers: sent, body: body && JSON.stringify(body) }, deadline);
    if (answer.status < 200 || answer.status > 299) throw errorOf(answer);
    const json: unknown = answer.text === '' ? {} : JSON.parse(answer.text);
    if (!isObject(json) && !Array.isArray(json)) throw new Error(`The answer of ${title} is no object.`);
    return json;
  };
  return async (deadline, call) => {
    try {
      return await send(call, deadline);
    } catch (error) {
      const isLost = ![NotSent, Refused, Failed].some((kind) => error instanceof kind);
      if (!isLost || !(call.isRepeatable ?? call.method === 'GET') || !deadline.mayBegin) throw error;
    }
    return send(call, deadline).catch((error) => {
      // The first call was sent.
      throw error instanceof NotSent ? new Error(error.message) : error;
    });
  };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : {};
  } catch {
    return {};
  }
}
