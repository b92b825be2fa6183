/** Verifies callbacks on their raw bytes, and returns them as typed events. */
import { createHmac } from 'node:crypto';
import { CallbackError } from './errors.ts';
import { type Nested, objectOf } from './form.ts';
import {
  CALLBACK_HASH_FIELDS,
  type CallbackAction,
  type CallbackStatus,
  type CallbackType,
  CHECKOUT_STATES,
  SIGNATURE_TOLERANCE_MS,
  type State,
} from './generated.ts';
import { type CardPayment, type Digest, isReversedCallback, isSame, isSigned, signedValues } from './sign.ts';

interface CommonFields {
  hash: string;
  operation_id: string;
  card?: string;
  card_token?: string;
  recurring_token?: string;
  schedule_id?: string;
  transStatus?: string;
  eci?: string;
  protocolVersion?: string;
  /** As the request sent it, with strings as values. */
  custom_data?: Nested;
}

/** The callback of a payment over `/post`. */
export interface S2sCallback extends CommonFields {
  action: CallbackAction;
  result: 'SUCCESS' | 'DECLINED' | 'REDIRECT' | 'UNDEFINED';
  status: State;
  order_id: string;
  trans_id: string;
  trans_date: string;
  amount: string;
  currency: string;
  descriptor?: string;
  decline_reason?: string;
}

/** The callback of a Checkout payment. */
export interface CheckoutCallback extends CommonFields {
  id: string;
  type: CallbackType;
  status: CallbackStatus;
  order_number: string;
  order_amount: string;
  order_currency: string;
  order_description: string;
  /** The state in the words of Checkout: `settled`, `decline`, … */
  order_status: string;
  date: string;
  /** The amount of a capture, void or refund. */
  operation_amount?: string;
  reason?: string;
  card_expiration_date?: string;
  recurring_init_trans_id?: string;
  customer_name?: string;
  customer_email?: string;
  customer_phone?: string;
  customer_country?: string;
  customer_state?: string;
  customer_city?: string;
  customer_address?: string;
  customer_zip?: string;
  customer_ip?: string;
}

/** What both kinds of callbacks have in common. */
interface Summary {
  /** The `webhook-id`, the same in every retry: process each id once. */
  id: string;
  /** The number of the event within its payment: a lower number than one you have seen is outdated. */
  sequence: number;
  sentAt: Date;
  paymentId: string;
  orderId: string;
  /** The capture, void or refund; for the sale itself, the payment. */
  operationId: string;
  /** The state of the payment after the event. Deliver only when it is `SETTLED`. */
  state: State;
}

export type CallbackEvent =
  | (Summary & { protocol: 's2s'; fields: S2sCallback })
  | (Summary & { protocol: 'checkout'; fields: CheckoutCallback });

type HeaderValue = string | readonly string[] | undefined;

/** A callback as it was received; `body` has to be the raw body, not a parsed one. */
export interface RawCallback {
  headers: Headers | Readonly<Record<string, HeaderValue>>;
  body: Uint8Array | string;
}

export interface CallbackKeys {
  /** The callback secrets (`whsec_…`) that may have signed it; two while the secret is rotated. */
  secrets: readonly string[];
  /** The passwords that may have hashed it; two while the password is rotated. */
  passwords: readonly string[];
  /** The settings `dialect.digest` and `dialect.hash` of the account. */
  digest?: Digest | undefined;
  recipe?: 'specified' | 'reversed_md5' | undefined;
  /** The payer and the card of the payment that a callback is about; undefined if it was not made by card. */
  cardPaymentOf?: ((paymentId: string, orderId: string) => CardPayment | undefined) | undefined;
  /** How far the signed time may differ from the clock, in seconds. */
  toleranceSeconds?: number | undefined;
  /** The clock, in milliseconds since 1970. */
  now?: (() => number) | undefined;
}

function headerReader(headers: RawCallback['headers']): (name: string) => string {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? '';
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = lower.get(name);
    return typeof value === 'string' ? value : (value?.join(', ') ?? '');
  };
}

/** Checks the signature and the hash of a callback and returns its event; throws a `CallbackError` otherwise. */
export function verifyCallback(raw: RawCallback, keys: CallbackKeys): CallbackEvent {
  const header = headerReader(raw.headers);
  if (typeof raw.body !== 'string' && !(raw.body instanceof Uint8Array)) {
    throw new CallbackError('body', 'The body has to be the raw body (a Buffer or a string), not a parsed one.');
  }
  const body = Buffer.from(raw.body as Uint8Array);
  const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')];
  requireSignature({ id, timestamp, signatures: header('webhook-signature') }, body, keys);
  const fields = fieldsOf(header('content-type'), body);
  const protocol = 'trans_id' in fields ? 's2s' : 'checkout';
  const values = signedValues(fields, CALLBACK_HASH_FIELDS[protocol]);
  const isHashed = (hash: string, signed: readonly string[], password: string): boolean =>
    protocol === 's2s' && keys.recipe === 'reversed_md5'
      ? isReversedCallback(
          hash,
          flatFields(fields),
          password,
          keys.digest,
          keys.cardPaymentOf?.(String(fields.trans_id), String(fields.order_id)),
        )
      : isSigned(hash, signed, password, keys.digest);
  const claimed = typeof fields.hash === 'string' ? fields.hash : '';
  if (!keys.passwords.some((password) => isHashed(claimed, values, password))) {
    throw new CallbackError('hash', 'The hash of the callback does not match the password.');
  }
  const common = {
    id,
    sequence: Number(header('turnpike-sequence')),
    sentAt: new Date(Number(timestamp) * 1000),
    operationId: String(fields.operation_id ?? ''),
  };
  if (protocol === 's2s') {
    const sent = fields as unknown as S2sCallback;
    const { trans_id: paymentId, order_id: orderId, status: state } = sent;
    return { ...common, protocol, paymentId, orderId, state, fields: sent };
  }
  const sent = fields as unknown as CheckoutCallback;
  const state = CHECKOUT_STATES[sent.order_status] as State;
  return { ...common, protocol, paymentId: sent.id, orderId: sent.order_number, state, fields: sent };
}

/** The fields under their names in a form: `custom_data[cart][id]`. */
function flatFields(value: object, nameOf = (name: string): string => name): Record<string, string> {
  const entries = Object.entries(value).flatMap(([name, inner]): [string, string][] =>
    typeof inner === 'object' && inner !== null
      ? Object.entries(flatFields(inner, (below) => `${nameOf(name)}[${below}]`))
      : [[nameOf(name), String(inner)]],
  );
  return Object.fromEntries(entries);
}

function requireSignature(
  { id, timestamp, signatures }: { id: string; timestamp: string; signatures: string },
  body: Buffer,
  { secrets, toleranceSeconds = SIGNATURE_TOLERANCE_MS / 1000, now = Date.now }: CallbackKeys,
): void {
  if (id === '' || signatures === '' || !/^\d{1,12}$/.test(timestamp)) {
    throw new CallbackError('headers', 'The headers of the signature are missing or malformed.');
  }
  if (Math.abs(now() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new CallbackError('timestamp', `The callback was not sent within the last ${toleranceSeconds} seconds.`);
  }
  const given = signatures.split(' ').map((one) => Buffer.from(one));
  const isRight = secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    // Anyone could sign with an empty key.
    if (key.length === 0) return false;
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
    return given.some((one) => isSame(one, Buffer.from(`v1,${mac}`)));
  });
  if (!isRight) {
    throw new CallbackError(
      'signature',
      'The signature does not match: another secret, or the body is not the raw body as received.',
    );
  }
}

function fieldsOf(contentType: string, body: Buffer): Record<string, unknown> {
  const text = body.toString('utf8');
  if (!/^application\/json\b/i.test(contentType)) return objectOf(new URLSearchParams(text));
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new CallbackError('body', 'The body is not a JSON object.');
}
