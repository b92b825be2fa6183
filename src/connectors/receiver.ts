/** The guarded line to merchants' servers: callbacks reach the internet and nothing inside, and learn a status only. */
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { type CallbackReach, mayCall, readCallbackAddress } from '../rules/callback-address.ts';
import { LIMITS } from '../rules/limits.ts';
import { createLookup } from './names.ts';

/** Why a callback got no answer, in the words of the delivery log. */
export const FAULT_MESSAGES = {
  noAddress: 'No callback_url is set.',
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
  | { kind: 'answered'; status: number; retryAfterMs: number | undefined }
  | { kind: 'failed'; fault: DeliveryFault };

/** What became of one try: a status, whichever it is, or why there was none. */
export type Delivery = Outcome & { tookMs: number };

export interface Receiver {
  /** Posts a body once and follows nothing; never throws. */
  send(call: { url: string; headers: Record<string, string>; body: Buffer | string }): Promise<Delivery>;
  /** Ends every call that is still under way. */
  close(): Promise<void>;
}

export interface ReceiverOptions extends CallbackReach {
  totalMs?: number;
  connectMs?: number;
  /** Who is asked for the addresses of a name, unless a test plays tricks. */
  lookup?: LookupFunction;
}

/** What the codes of errors mean; what any other means depends on how far the call has come. */
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

type FaultyError = NodeJS.ErrnoException & { fault?: DeliveryFault };

const faultyError = (fault: DeliveryFault): FaultyError => Object.assign(new Error(FAULT_MESSAGES[fault]), { fault });
const faultOf = ({ fault, code = '' }: FaultyError, otherwise: DeliveryFault): DeliveryFault =>
  fault ?? FAULT_OF_CODE[code] ?? otherwise;

/** Several errors in one are those of several addresses. */
const isOfNetwork = (error: FaultyError): boolean => error.syscall === 'connect' || error instanceof AggregateError;

/** Resolves a name, and fails if a single one of its addresses is off limits; who connects gets the checked ones only. */
const guardedLookup =
  (reach: CallbackReach, lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? found : [];
      const [first] = addresses;
      if (error) return callback(faultyError(faultOf(error, 'nameNotFound')), '');
      if (!first) return callback(faultyError('nameNotFound'), '');
      if (!addresses.every(({ address }) => mayCall(address, reach)))
        return callback(faultyError('privateAddress'), '');
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });

/** Connects to checked addresses only, with TLS that is verified whatever the environment says. */
function guardedConnector({ connectMs, lookup, ...reach }: ReceiverOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectMs ?? LIMITS.callbackConnectTimeoutMs,
    lookup: guardedLookup(reach, lookup ?? createLookup()),
    autoSelectFamily: true,
    rejectUnauthorized: true,
    allowH2: false,
  });
  const refuse = (fault: DeliveryFault, callback: buildConnector.Callback): void => callback(faultyError(fault), null);
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (!socket) return refuse(faultOf(error, isOfNetwork(error) ? 'unreachable' : 'tls'), callback);
      const { remoteAddress } = socket;
      if (remoteAddress !== undefined && mayCall(remoteAddress, reach)) return callback(null, socket);
      // Every address was checked before, so this is the second lock on the door; who is gone has no address.
      socket.destroy();
      refuse(remoteAddress === undefined ? 'closed' : 'privateAddress', callback);
    });
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** How long a receiver asks us to wait, whether it says seconds or a date. */
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
    // One limit for the whole call takes their place: bytes that drip would start these again and again.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const send: Receiver['send'] = ({ url, headers, body }) =>
    new Promise((resolve) => {
      const startedAt = performance.now();
      let control: Dispatcher.DispatchController | undefined;
      let answer: Outcome | undefined;
      let bytes = 0;
      let isOver = false;
      const end = (outcome: Outcome): void => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        // Whatever is still to come is not wanted; to a call that is complete this does nothing.
        control?.abort(faultyError('stopped'));
        resolve({ ...outcome, tookMs: Math.round(performance.now() - startedAt) });
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
            // It waited for a connection until its time was over.
            if (isOver) control.abort(faultyError('timeout'));
          },
          onResponseStart(_, status, { 'retry-after': retryAfter }) {
            // Hints come before the answer, which takes their place.
            answer = { kind: 'answered', status, retryAfterMs: retryAfterMs(retryAfter, Date.now()) };
          },
          onResponseData(_, chunk) {
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
