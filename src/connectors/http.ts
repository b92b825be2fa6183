/** The HTTP client of connectors: sends nothing after the deadline, and tells what was not sent from what got no answer. */

import { setTimeout as pause } from 'node:timers/promises';
import { DecoratorHandler, type Dispatcher, Pool } from 'undici';
import { withBytes } from '../lib/crypto/wipe.ts';
import { createPacer } from '../lib/flow/pacer.ts';
import { isObject } from '../lib/text/json.ts';
import type { Deadline } from '../lib/time/deadline.ts';
import { LIMITS } from '../rules/limits.ts';
import { NotSent } from './connector.ts';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE' | 'PATCH';
  /** Below the base address. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Its bytes are overwritten after the call. */
  body?: string | undefined;
}

export interface HttpResponse {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as text; empty if there was none. */
  text: string;
}

export interface HttpClient {
  /** Returns any complete answer. Throws `NotSent` if no byte was sent; any other error leaves the outcome unknown. */
  send(request: HttpRequest, deadline: Deadline): Promise<HttpResponse>;
  close(): Promise<void>;
}

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

/** A client for the addresses below `base`, which sends at most so many requests per second; 0 means any number. */
export function createHttpClient(base: string, perSecond = 0): HttpClient {
  const pacer = perSecond > 0 ? createPacer(perSecond) : undefined;
  const { origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, '');
  // Unlimited connections: the limiter of the connector bounds the calls, and the pool must not queue them again.
  const pool = new Pool(origin, {
    connections: null,
    connect: { timeout: LIMITS.providerConnectTimeoutMs },
    headersTimeout: LIMITS.providerTimeoutMs,
    bodyTimeout: LIMITS.providerTimeoutMs,
    maxResponseSize: LIMITS.providerBytes,
  });
  const dispatcher = pool.compose(fenced);
  return {
    async send({ method, path, headers = {}, body }, deadline) {
      const waitMs = pacer?.take(performance.now()) ?? 0;
      if (waitMs > deadline.leftMs) throw new NotSent('Too many calls wait for the provider.');
      if (waitMs > 0) await pause(waitMs, undefined, { signal: deadline.signal });
      const request = (bytes?: Buffer): Promise<Dispatcher.ResponseData> => {
        const options: Dispatcher.RequestOptions & FencedRequest = {
          method,
          path: prefix + path,
          headers: { ...headers },
          signal: deadline.signal,
          deadline,
        };
        return dispatcher.request(bytes ? { ...options, body: bytes } : options);
      };
      const answer = await (body === undefined ? request() : withBytes(body, request)).catch((error) => {
        if (!deadline.hasBegun) throw new NotSent(`The provider could not be reached (${error.message}).`);
        // An earlier call under the same deadline was sent, so the provider may have received something.
        throw error instanceof NotSent ? new Error(error.message) : error;
      });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    },
    // At shutdown all requests have ended, so no request waits for a call that is still in flight.
    close: () => pool.destroy(),
  };
}

/** The object in the body of an answer; throws if there is none, which leaves the outcome unknown. */
export function jsonOf({ text }: Pick<HttpResponse, 'text'>): Record<string, unknown> {
  const json: unknown = JSON.parse(text);
  if (!isObject(json)) throw new Error('The provider’s answer is not an object.');
  return json;
}
