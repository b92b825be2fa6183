/** The guarded HTTP client for merchants' servers: calls public addresses only, and returns the status of an answer. */

import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { type CallbackReach, mayCall, readCallbackAddress } from '../rules/callback-address.ts';
import { NO_CALLBACK_ADDRESS } from '../rules/callbacks.ts';
import { LIMITS } from '../rules/limits.ts';
import { createLookup } from './names.ts';

/** Why a callback got no answer, as shown in the delivery log. */
export const FAULT_MESSAGES = {
  noAddress: NO_CALLBACK_ADDRESS,
  badAddress: 'The address is not one that callbacks are sent to.',
  privateAddress: 'The address is private, and callbacks do not go to private addresses.',
  nameNotFound: 'The name of the server was not found.',
  refused: 'The server refused the connection.',
  unreachable: 'The server could not be reached.',
  tls: 'The server could not prove who it is: its certificate or its TLS is not valid.',
  timeout: 'The server did not answer in time.',
  closed: 'The server closed the connection before its answer was complete.',
  broken: 'The connection broke, or the answer was not HTTP.',
  stopped: 'The gateway was stopped before the answer came.',
} as const;

export type DeliveryFault = keyof typeof FAULT_MESSAGES;

type Outcome =
  | { kind: 'answered'; status: number; retryAfterMs: number | undefined; sample?: Buffer }
  | { kind: 'failed'; fault: DeliveryFault };

/** The result of one attempt: any status, or why there is none. */
export type Delivery = Outcome & { tookMs: number };

export interface ReceiverCall {
  url: string;
  headers: Record<string, string>;
  body: Buffer | string;
  /** How many of the first bytes of the answer are returned as its sample; none by default. */
  sampleBytes?: number;
}

export interface Receiver {
  /** Posts a body once, without following redirects; never throws. */
  send(call: ReceiverCall): Promise<Delivery>;
  /** Aborts all calls in flight; they fail as `stopped`. */
  close(): Promise<void>;
}

/** The certificate with which this side identifies itself, and the authorities to trust instead of the usual ones. */
export interface ClientIdentity {
  cert: string;
  key: string;
  ca?: string;
}

export interface ReceiverOptions extends CallbackReach {
  totalMs?: number;
  connectMs?: number;
  /** Resolves host names; tests pass their own. */
  lookup?: LookupFunction;
  identity?: ClientIdentity;
}

/** The fault of an error by its code; for other codes it depends on the stage that the call had reached. */
const FAULT_OF_CODE: Readonly<Record<string, DeliveryFault>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  UND_ERR_SOCKET: 'closed',
  UND_ERR_DESTROYED: 'stopped',
};

type DeliveryError = NodeJS.ErrnoException & { fault?: DeliveryFault };

const deliveryError = (fault: DeliveryFault): DeliveryError =>
  Object.assign(new Error(FAULT_MESSAGES[fault]), { fault });
const faultOf = ({ fault, code = '' }: DeliveryError, otherwise: DeliveryFault): DeliveryFault =>
  fault ?? FAULT_OF_CODE[code] ?? otherwise;

/** Node throws an AggregateError when it tried several addresses. */
const isConnectError = (error: DeliveryError): boolean =>
  error.syscall === 'connect' || error instanceof AggregateError;

/** Resolves a name and fails if any of its addresses is not allowed, so that a connection uses checked addresses only. */
const guardedLookup =
  (reach: CallbackReach, lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? found : [];
      const [first] = addresses;
      if (error) return callback(deliveryError(faultOf(error, 'nameNotFound')), '');
      if (!first) return callback(deliveryError('nameNotFound'), '');
      if (!addresses.every(({ address }) => mayCall(address, reach)))
        return callback(deliveryError('privateAddress'), '');
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });

/** Connects to checked addresses only, and verifies TLS even if NODE_TLS_REJECT_UNAUTHORIZED disables it. */
export function guardedConnector({ connectMs, lookup, identity, ...reach }: ReceiverOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectMs ?? LIMITS.callbackConnectTimeoutMs,
    lookup: guardedLookup(reach, lookup ?? createLookup()),
    autoSelectFamily: true,
    rejectUnauthorized: true,
    allowH2: false,
    ...identity,
  });
  const refuse = (fault: DeliveryFault, callback: buildConnector.Callback): void =>
    callback(deliveryError(fault), null);
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (!socket) return refuse(faultOf(error, isConnectError(error) ? 'unreachable' : 'tls'), callback);
      const { remoteAddress } = socket;
      if (remoteAddress !== undefined && mayCall(remoteAddress, reach)) return callback(null, socket);
      // Defence in depth: the address was checked before. A socket that is closed already has no address.
      socket.destroy();
      refuse(remoteAddress === undefined ? 'closed' : 'privateAddress', callback);
    });
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads `Retry-After`, which is a number of seconds or a date. */
function retryAfterMs(header: string | string[] | undefined, now: number): number | undefined {
  const text = String(header);
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const until = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(until) ? undefined : Math.max(0, until - now);
}

export function createReceiver(options: ReceiverOptions): Receiver {
  const { totalMs = LIMITS.callbackTimeoutMs } = options;
  const agent = new Agent({
    connect: guardedConnector(options),
    connections: LIMITS.callbackConnections,
    keepAliveTimeout: LIMITS.callbackIdleMs,
    keepAliveMaxTimeout: LIMITS.callbackIdleMs,
    allowH2: false,
    // Replaced by one timeout for the whole call: a server that sends a byte now and then would keep restarting these.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const send: Receiver['send'] = ({ url, headers, body, sampleBytes = 0 }) =>
    new Promise((resolve) => {
      const startedAt = performance.now();
      let control: Dispatcher.DispatchController | undefined;
      let answer: Outcome | undefined;
      let bytes = 0;
      let sample = Buffer.alloc(0);
      let isOver = false;
      const end = (outcome: Outcome): void => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        // Drops the rest of the answer; has no effect on a call that is complete.
        control?.abort(deliveryError('stopped'));
        const isSampled = sampleBytes > 0 && outcome.kind === 'answered';
        resolve({ ...outcome, ...(isSampled && { sample }), tookMs: Math.round(performance.now() - startedAt) });
      };
      const timer = setTimeout(() => end({ kind: 'failed', fault: 'timeout' }), totalMs);

      const address = readCallbackAddress(url, options);
      if (!(address instanceof URL)) return end({ kind: 'failed', fault: address });
      const { origin, pathname, search } = address;
      agent.dispatch(
        { origin, path: pathname + search, method: 'POST', headers, body },
        {
          onRequestStart(started) {
            control = started;
            // The timeout passed while the call waited for a connection.
            if (isOver) control.abort(deliveryError('timeout'));
          },
          onResponseStart(_, status, { 'retry-after': retryAfter }) {
            // Called for informational responses (1xx), too; the final one comes last.
            answer = { kind: 'answered', status, retryAfterMs: retryAfterMs(retryAfter, Date.now()) };
          },
          onResponseData(_, chunk) {
            if (sample.length < sampleBytes) sample = Buffer.concat([sample, chunk]).subarray(0, sampleBytes);
            bytes += chunk.length;
            if (bytes > LIMITS.callbackAnswerBytes) end(answer as Outcome);
          },
          onResponseEnd: () => end(answer as Outcome),
          onResponseError: (_, error) => end({ kind: 'failed', fault: faultOf(error, 'broken') }),
        },
      );
    });

  return { send, close: () => agent.destroy() };
}
