/** The client of a merchant: Checkout, S2S requests to `/post`, and callbacks. */
import { randomUUID } from 'node:crypto';
import { type CallbackEvent, type CallbackKeys, type RawCallback, verifyCallback } from './callbacks.ts';
import { InvalidRequestError } from './errors.ts';
import { formOf } from './form.ts';
import {
  type AcceptedAnswer,
  type BrandFields,
  CHECKOUT_OPERATIONS,
  type CheckoutAccepted,
  type CheckoutCapture,
  type CheckoutPage,
  type CheckoutPayment,
  type CheckoutRequests,
  type Link,
  type OperationAnswer,
  S2S_OPERATIONS,
  type S2sRequests,
  type SaleAnswer,
  type ScheduleAnswer,
  type StatusAnswer,
} from './generated.ts';
import { expressHandler, fastifyPlugin, type Handle, type OnError, webHandler } from './servers.ts';
import { type CardPayment, type Digest, sign, signedValues } from './sign.ts';
import { DEFAULTS, send, type TransportOptions } from './transport.ts';

export interface TurnpikeOptions extends Partial<TransportOptions> {
  /** The address of the gateway, such as `https://pay.example`. */
  url: string;
  /** The key for requests to `/post`. */
  clientKey?: string | undefined;
  /** The key for Checkout. */
  merchantKey?: string | undefined;
  /** The password that signs requests. */
  password: string;
  /** The setting `dialect.digest` of the account. */
  digest?: Digest | undefined;
  /** The setting `dialect.hash` of the account; requests with the specified hash are accepted with either. */
  recipe?: 'specified' | 'reversed_md5' | undefined;
  /** The payer and the card of the payment that a callback is about, for `reversed_md5`; undefined if it is not by card. */
  cardPaymentOf?: ((paymentId: string, orderId: string) => CardPayment | undefined) | undefined;
  /** The former password while it is rotated: callbacks that were written before still have its hash. */
  previousPassword?: string | undefined;
  /** The callback secret (`whsec_…`), or both secrets while it is rotated. */
  callbackSecret?: string | readonly string[] | undefined;
}

export type Brand = keyof BrandFields;

/** Data of your own, returned in callbacks as strings. */
export interface CustomData {
  [name: string]: string | number | boolean | CustomData;
}

interface OtherBrandFields {
  parameters?: Readonly<Record<string, unknown>>;
  [field: string]: unknown;
}

/** A sale; the brand determines the further fields. A brand that the table does not list is an alias of your account. */
export type SaleRequest<B extends string = Brand> = { brand: B; custom_data?: CustomData } & S2sRequests['SALE'] &
  (B extends Brand ? BrandFields[B] : OtherBrandFields);

type ParametersOf<B extends Brand> = (BrandFields[B] extends { parameters?: infer P } ? Partial<P> : object) &
  Partial<Omit<BrandFields[B], 'parameters'>>;

/** A payment link: what is paid, and how often. */
export type LinkRequest = Omit<CheckoutRequests['link'], 'uses'> & {
  /** How often it can be paid: once without it, any number of times if it is null. */
  uses?: number | null;
  methods?: string[];
  /** What the payer is asked for first. */
  ask?: ('name' | 'email' | 'phone' | 'reference')[];
};

export type SessionRequest = CheckoutRequests['session'] & {
  /** The brands that the payer may choose from; without it, all brands that fit the order. */
  methods?: readonly (Brand | 'card' | (string & {}))[];
  /** Tokens of saved cards that the payer may choose from. */
  card_token?: readonly string[];
  /** Fields of brands, which the payer does not have to enter then. */
  parameters?: { [B in Brand]?: ParametersOf<B> };
  custom_data?: CustomData;
};

type ById = { payment_id: string };
type ByOrder = { order_id: string };

type CheckoutPath = keyof CheckoutRequests;
type Action = keyof S2sRequests;

/** The parts of the client that send Checkout requests. */
export interface Checkout {
  /** Opens a session; redirect the payer to its `redirect_url`. */
  session(request: SessionRequest): Promise<CheckoutPage>;
  /** Makes a payment link; its `url` is for payers. */
  link(request: LinkRequest): Promise<Link>;
  /** The status of a payment or of the newest attempt of an order; with `size`, the newest attempts. */
  status(request: ById | ByOrder): Promise<CheckoutPayment>;
  status(request: ByOrder & { size: number }): Promise<CheckoutPayment[]>;
  /** Refunds a payment in full, or the `amount`. The outcome is reported by callback. */
  refund(request: CheckoutRequests['payment/refund']): Promise<CheckoutAccepted>;
  /** Captures an authorised payment in full, or the `amount`, once. */
  capture(request: CheckoutRequests['payment/capture']): Promise<CheckoutCapture>;
  /** Cancels a payment that is not settled. */
  void(request: CheckoutRequests['payment/void']): Promise<CheckoutAccepted>;
  /** Pays money back to a saved card. */
  credit(request: CheckoutRequests['payment/card/credit']): Promise<CheckoutAccepted>;
  /** Charges a payer again with the token of the first payment. */
  recurring(request: CheckoutRequests['payment/recurring']): Promise<CheckoutPayment>;
  /** Repeats a declined recurring payment. */
  retry(request: CheckoutRequests['payment/retry']): Promise<CheckoutPayment>;
}

/** The parts of the client that send requests to `/post`. */
export interface S2s {
  /** A sale from your own pages. A decline is a result, not an error. */
  sale<const B extends Brand | (string & {})>(request: SaleRequest<B>): Promise<SaleAnswer>;
  /** The status of a payment, or of the newest attempt of an order. */
  status(request: S2sRequests['GET_TRANS_STATUS'] | S2sRequests['GET_TRANS_STATUS_BY_ORDER']): Promise<StatusAnswer>;
  capture(request: S2sRequests['CAPTURE']): Promise<OperationAnswer>;
  void(request: S2sRequests['VOID']): Promise<OperationAnswer>;
  /** Refunds a settled payment, or reverses an authorised one. The outcome is reported by callback. */
  creditvoid(request: S2sRequests['CREDITVOID']): Promise<AcceptedAnswer>;
  /** Charges a payer again with the token of the first payment. */
  recurringSale(request: S2sRequests['RECURRING_SALE']): Promise<SaleAnswer>;
  schedules: {
    /** The client generates the `schedule_id` unless you send one. */
    create(request: S2sRequests['CREATE_SCHEDULE']): Promise<ScheduleAnswer>;
    update(request: S2sRequests['UPDATE_SCHEDULE']): Promise<ScheduleAnswer>;
    delete(request: S2sRequests['DELETE_SCHEDULE']): Promise<ScheduleAnswer>;
  };
}

/** The parts of the client that receive callbacks. */
export interface Callbacks {
  /** Checks the signature and the hash on the raw body; throws a `CallbackError` if one of them is wrong. */
  verify(raw: RawCallback): CallbackEvent;
  /** A handler for Express and `node:http`; it needs the raw body, so register it before `express.json()`. */
  express(handle: Handle, onError?: OnError): ReturnType<typeof expressHandler>;
  /** A Fastify plugin with the route `POST path`. */
  fastify(handle: Handle, path?: string): ReturnType<typeof fastifyPlugin>;
  /** A route handler for the app router of Next.js, and for any server with `Request` and `Response`. */
  next(handle: Handle): ReturnType<typeof webHandler>;
}

export class Turnpike {
  // Closures hold the keys, so that logging the client or an error cannot print them.
  readonly checkout: Checkout;
  readonly s2s: S2s;
  readonly callbacks: Callbacks;

  constructor(options: TurnpikeOptions) {
    const url = baseOf(options.url);
    if (!options.password) throw new TypeError('The option `password` is missing.');
    const settings = { ...DEFAULTS, ...given(options) };
    const required = (name: 'clientKey' | 'merchantKey'): string => {
      const key = options[name];
      if (!key) throw new TypeError(`The option \`${name}\` is missing.`);
      return key;
    };

    const checkout = async <Answer>(path: CheckoutPath, request: object): Promise<Answer> => {
      const { signs, repeat } = CHECKOUT_OPERATIONS[path];
      const fields: Fields = repeat === 'operation' ? withId(request) : request;
      const hash = sign(signedValues(fields, signs), options.password, options.digest);
      const body = JSON.stringify({ merchant_key: required('merchantKey'), ...fields, hash });
      const { operation_id: operationId } = fields;
      const message = { url: `${url}/api/v1/${path}`, contentType: 'application/json', body, operationId };
      return (await send(message, repeat, settings)) as Answer;
    };

    const post = async <Answer>(action: Action, request: object, repeat = repeatOf(action)): Promise<Answer> => {
      const fields: Fields = repeatOf(action) === 'operation' ? withId(request) : request;
      const hash = sign(signedValues(fields, S2S_OPERATIONS[action].signs), options.password, options.digest);
      // The brand has to come before a long field.
      const body = formOf({ action, client_key: required('clientKey'), hash, brand: undefined, ...fields }).toString();
      const { operation_id: operationId } = fields;
      const message = { url: `${url}/post`, contentType: 'application/x-www-form-urlencoded', body, operationId };
      return (await send(message, repeat, settings)) as Answer;
    };

    /** With an id of its own, a lost creation can be repeated: the repeat is refused if the first one arrived. */
    const createSchedule = async (request: S2sRequests['CREATE_SCHEDULE']): Promise<ScheduleAnswer> => {
      if (request.schedule_id) return post('CREATE_SCHEDULE', request);
      const schedule_id = randomUUID();
      try {
        return await post('CREATE_SCHEDULE', { ...request, schedule_id }, 'operation');
      } catch (error) {
        const isCreated =
          error instanceof InvalidRequestError && error.mayHaveHappened && 'schedule_id' in error.entries;
        if (!isCreated) throw error;
        return { action: 'CREATE_SCHEDULE', result: 'SUCCESS', schedule_id };
      }
    };

    this.checkout = {
      session: (request) => checkout('session', { operation: 'purchase', ...request }),
      link: (request) => checkout('link', request),
      status: <Answer>(request: ById | ByOrder) => checkout<Answer>('payment/status', request),
      refund: (request) => checkout('payment/refund', request),
      capture: (request) => checkout('payment/capture', request),
      void: (request) => checkout('payment/void', request),
      credit: (request) => checkout('payment/card/credit', { operation: 'credit', ...request }),
      recurring: (request) => checkout('payment/recurring', request),
      retry: (request) => checkout('payment/retry', request),
    } as Checkout;

    this.s2s = {
      sale: (request) => post('SALE', request),
      status: (request) => post('trans_id' in request ? 'GET_TRANS_STATUS' : 'GET_TRANS_STATUS_BY_ORDER', request),
      capture: (request) => post('CAPTURE', request),
      void: (request) => post('VOID', request),
      creditvoid: (request) => post('CREDITVOID', request),
      recurringSale: (request) => post('RECURRING_SALE', request),
      schedules: {
        create: createSchedule,
        update: (request) => post('UPDATE_SCHEDULE', request),
        delete: (request) => post('DELETE_SCHEDULE', request),
      },
    };

    const keys: CallbackKeys = {
      secrets: [options.callbackSecret ?? []].flat().filter((secret) => secret !== ''),
      passwords: [options.password, ...(options.previousPassword ? [options.previousPassword] : [])],
      digest: options.digest,
      recipe: options.recipe,
      cardPaymentOf: options.cardPaymentOf,
    };
    const verify = (raw: RawCallback): CallbackEvent => {
      if (keys.secrets.length === 0) throw new TypeError('The option `callbackSecret` is missing.');
      return verifyCallback(raw, keys);
    };
    this.callbacks = {
      verify,
      express: (handle, onError) => expressHandler(verify, handle, onError),
      fastify: (handle, path = '/callback') => fastifyPlugin(verify, handle, path),
      next: (handle) => webHandler(verify, handle),
    };
  }
}

const repeatOf = (action: Action) => S2S_OPERATIONS[action].repeat;

/** The fields of any request. */
interface Fields {
  operation_id?: string;
}

/** An operation without an id gets one, so that a repeat is recognised. */
const withId = (request: Fields): Fields => ({ ...request, operation_id: request.operation_id || randomUUID() });

/** The options that were given, so that `undefined` means the default. */
const given = ({ timeoutMs, retries, retryPauseMs }: TurnpikeOptions): Partial<TransportOptions> =>
  Object.fromEntries(Object.entries({ timeoutMs, retries, retryPauseMs }).filter(([, value]) => value !== undefined));

function baseOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !isWeb || url.username || url.password || url.search || url.hash) {
    throw new TypeError('The option `url` is not the web address of a gateway.');
  }
  return url.href.replace(/\/+$/, '');
}
