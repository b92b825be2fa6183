/** A double of Stripe: its API over HTTP, with books, idempotency keys, payer pages and signed webhooks. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import type { Fault, Webhook } from '../conformance/conforms.ts';
import { REFUSED_EMAIL } from '../support/submissions.ts';
import * as objects from './stripe-objects.ts';
import { checkRequest } from './stripe-requests.ts';

export const STRIPE_CREDENTIALS = { secret_key: 'sk_test_of_the_double', webhook_secret: 'whsec_of_the_double' };

/** Test cards of Stripe; any other number succeeds. */
export const STRIPE_CARDS = {
  success: '4242424242424242',
  declined: '4000000000000002',
  insufficientFunds: '4000000000009995',
  stolen: '4000000000009979',
  expired: '4000000000000069',
  wrongCvc: '4000000000000127',
  processingError: '4000000000000119',
  challenge: '4000000000003220',
} as const;

/** What Stripe needs for a method, by its documentation. */
const METHOD_NEEDS: Readonly<Record<string, (fields: Stripe.PaymentIntentConfirmParams) => boolean>> = {
  bancontact: ({ payment_method_data: method }) => Boolean(method?.billing_details?.name),
  blik: ({ payment_method_options: options }) =>
    /^\d{6}$/.test((options?.blik as { code?: string } | undefined)?.code ?? ''),
  eps: ({ payment_method_data: method }) => Boolean(method?.billing_details?.name),
  klarna: ({ payment_method_data: method }) =>
    Boolean(method?.billing_details?.email && (method.billing_details.address as Stripe.AddressParam).country),
  mb_way: ({ payment_method_data: method }) => /^\+\d{7,15}$/.test(method?.billing_details?.phone || ''),
  p24: ({ payment_method_data: method }) => Boolean(method?.billing_details?.email),
  sepa_debit: ({ payment_method_data: method, mandate_data: mandate }) =>
    /^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(method?.sepa_debit?.iban ?? '') &&
    Boolean(method?.billing_details?.name && method.billing_details.email && mandate),
};

const DECLINES: Readonly<Record<string, { code: string; decline_code?: string }>> = {
  [STRIPE_CARDS.declined]: { code: 'card_declined', decline_code: 'generic_decline' },
  [STRIPE_CARDS.insufficientFunds]: { code: 'card_declined', decline_code: 'insufficient_funds' },
  [STRIPE_CARDS.stolen]: { code: 'card_declined', decline_code: 'stolen_card' },
  [STRIPE_CARDS.expired]: { code: 'expired_card' },
  [STRIPE_CARDS.wrongCvc]: { code: 'incorrect_cvc' },
  [STRIPE_CARDS.processingError]: { code: 'processing_error' },
};

const PICTURES = { image_url_png: 'https://qr.stripe.com/x.png', image_url_svg: 'https://qr.stripe.com/x.svg' };
const HOSTED = 'https://payments.stripe.com/instructions/x';
const SOON = Math.floor(Date.now() / 1000) + 3 * 24 * 3600;

type NextAction = Stripe.PaymentIntent.NextAction;

/** What Stripe wants the payer of a method to do, who may be sent to this page; other methods redirect there. */
const NEXT_ACTIONS: Readonly<Record<string, (page: string) => NextAction>> = {
  alipay: () => ({
    type: 'alipay_handle_redirect',
    alipay_handle_redirect: {
      native_data: null,
      native_url: null,
      return_url: null,
      url: 'https://hooks.stripe.com/a',
    },
  }),
  blik: () => ({ type: 'blik_authorize', blik_authorize: {} }),
  swish: (page) => ({
    type: 'swish_handle_redirect_or_display_qr_code',
    swish_handle_redirect_or_display_qr_code: {
      hosted_instructions_url: page,
      mobile_auth_url: page,
      qr_code: { data: 'swish', expires_at: SOON, ...PICTURES },
    },
  }),
  pix: () => ({
    type: 'pix_display_qr_code',
    pix_display_qr_code: { data: '00020126pix', expires_at: SOON, ...PICTURES },
  }),
  promptpay: () => ({
    type: 'promptpay_display_qr_code',
    promptpay_display_qr_code: { data: '00020101promptpay', hosted_instructions_url: HOSTED, ...PICTURES },
  }),
  paynow: () => ({
    type: 'paynow_display_qr_code',
    paynow_display_qr_code: { data: '00020101paynow', hosted_instructions_url: HOSTED, ...PICTURES },
  }),
  upi: () => ({
    type: 'upi_handle_redirect_or_display_qr_code',
    upi_handle_redirect_or_display_qr_code: {
      hosted_instructions_url: HOSTED,
      qr_code: { expires_at: SOON, ...PICTURES },
    },
  }),
  multibanco: () => ({
    type: 'multibanco_display_details',
    multibanco_display_details: {
      entity: '12345',
      reference: '999123456',
      expires_at: SOON,
      hosted_voucher_url: HOSTED,
    },
  }),
  boleto: () => ({
    type: 'boleto_display_details',
    boleto_display_details: { expires_at: SOON, hosted_voucher_url: HOSTED, number: '01010101', pdf: HOSTED },
  }),
  oxxo: () => ({
    type: 'oxxo_display_details',
    oxxo_display_details: { expires_after: SOON, hosted_voucher_url: HOSTED, number: '12345678901234567890' },
  }),
  konbini: () => ({
    type: 'konbini_display_details',
    konbini_display_details: {
      expires_at: SOON,
      hosted_voucher_url: HOSTED,
      stores: {
        familymart: { payment_code: '11111', confirmation_number: '22222' },
        lawson: null,
        ministop: null,
        seicomart: null,
      },
    },
  }),
  mb_way: () => ({ type: 'use_stripe_sdk', use_stripe_sdk: {} }),
  // Needs a script of Stripe on the page.
  nz_bank_account: () => ({ type: 'use_stripe_sdk', use_stripe_sdk: {} }),
};

const METHODS = [
  ...['card', 'ideal', 'bancontact', 'blik', 'paypal', 'klarna', 'sepa_debit', 'p24', 'eps', 'twint', 'swish'],
  ...['mobilepay', 'mb_way'],
];

/** The calls that move money, or begin to. */
const MONEY = ['PaymentIntentConfirm', 'PaymentIntentCapture', 'PaymentIntentCancel', 'RefundCreate', 'SessionCreate'];

type Json = Record<string, unknown>;
type ErrorFields = Omit<Partial<Stripe.StripeRawError>, 'type'> & { type: string };

class ApiError extends Error {
  readonly status: number;
  readonly error: ErrorFields;

  constructor(status: number, error: ErrorFields) {
    super(error.code ?? error.type);
    this.status = status;
    this.error = error;
  }
}

type Transfer = Pick<Stripe.PaymentIntentCreateParams, 'transfer_data' | 'application_fee_amount'>;

/** What a PaymentIntent shows of the connected account that gets its money; a fee needs one. */
function transferOf({ transfer_data: transfer, application_fee_amount: fee }: Transfer): Partial<Stripe.PaymentIntent> {
  if (fee !== undefined && !transfer) throw invalid();
  return transfer ? { transfer_data: { destination: transfer.destination }, application_fee_amount: fee ?? null } : {};
}

const invalid = (code?: string): ApiError =>
  new ApiError(code === 'resource_missing' ? 404 : 400, { type: 'invalid_request_error', ...(code && { code }) });

export interface StripeDouble {
  url: string;
  /** The requests that the schemas of the SDK refuse. */
  problems: string[];
  /** Every request: its kind, its fields and its headers. */
  requests: { kind: string; fields: Json; headers: IncomingMessage['headers'] }[];
  /** The next call that moves money meets this fault; or the next call of the given kind. */
  fault(fault: Fault, kind?: string): void;
  delayRefund(): void;
  /** Raw card numbers are refused, as for most accounts. */
  refusesCards: boolean;
  /** Telephone orders are refused, as for most accounts. */
  refusesTelephoneOrders: boolean;
  /** The methods that are active in the dashboard; undefined if the key may not read them. */
  activeMethods: readonly string[] | undefined;
  /** The active methods of further configurations, by their ids. */
  configurations: Record<string, readonly string[]>;
  /** Forgets idempotency keys, as Stripe does after a day. */
  forgetKeys(): void;
  intents: Map<string, Stripe.PaymentIntent>;
  sessions: Map<string, Stripe.Checkout.Session>;
  intentOf(reference: string): Stripe.PaymentIntent | undefined;
  balance(reference: string): bigint;
  /** What the operator does in the dashboard of Stripe, and the events that follow. */
  captureElsewhere(reference: string, amount: number): void;
  refundElsewhere(reference: string, amount: number): Stripe.Refund;
  failRefund(refund: Stripe.Refund): void;
  /** The refund that the gateway made with this operation. */
  refundOf(operation: string): Stripe.Refund;
  /** The payer approves, fails or leaves at the provider; returns where the payer is sent then. */
  pay(url: string, decision?: 'approve' | 'fail' | 'expire' | 'back'): Promise<URL>;
  /** Signs and sends an event. */
  send<Type extends Stripe.Event.Type>(
    type: Type,
    object: Extract<Stripe.Event, { type: Type }>['data']['object'],
  ): Webhook;
  received: Webhook[];
  /** Where webhooks are sent; they are also recorded. */
  webhookUrls: string[];
  close(): Promise<void>;
}

export async function startStripe(): Promise<StripeDouble> {
  const intents = new Map<string, Stripe.PaymentIntent>();
  const sessions = new Map<string, Stripe.Checkout.Session>();
  const refunds = new Map<string, Stripe.Refund>();
  const cards = new Map<string, string>();
  const singleUse = new Set<string>();
  const debits = new Set<string>();
  const keys = new Map<string, { request: string; status: number; body: Json }>();
  const returnUrls = new Map<string, string>();
  const sessionFields = new Map<string, Stripe.Checkout.SessionCreateParams>();
  let armed: { fault: Fault; kind: string | undefined } | undefined;
  let isRefundDelayed = false;

  const find = <Value>(map: Map<string, Value>, id: string | undefined): Value => {
    const found = map.get(id ?? '');
    if (!found) throw invalid('resource_missing');
    return found;
  };

  const intentOf = (reference: string): Stripe.PaymentIntent =>
    find(intents, [...intents.values()].find(({ metadata }) => metadata.turnpike_reference === reference)?.id);

  const signed = (payload: string): Webhook => ({
    headers: {
      'content-type': 'application/json',
      'stripe-signature': Stripe.webhooks.generateTestHeaderString({
        payload,
        secret: STRIPE_CREDENTIALS.webhook_secret,
      }),
    },
    body: Buffer.from(payload),
  });
  const send: StripeDouble['send'] = (type, object) => {
    const webhook = signed(objects.event(type, object));
    double.received.push(webhook);
    for (const url of double.webhookUrls)
      void fetch(url, { method: 'POST', ...webhook, body: webhook.body.toString() }).catch(() => {});
    return webhook;
  };

  const succeed = (intent: Stripe.PaymentIntent): void => {
    const isManual = intent.capture_method === 'manual';
    const captured = isManual ? 0 : intent.amount;
    Object.assign(intent, {
      status: isManual ? 'requires_capture' : 'succeeded',
      amount_received: captured,
      amount_capturable: isManual ? intent.amount : 0,
      latest_charge: objects.charge(intent, captured),
      last_payment_error: null,
      next_action: null,
    } satisfies Partial<Stripe.PaymentIntent>);
    if (isManual) send('payment_intent.amount_capturable_updated', intent);
    else send('payment_intent.succeeded', intent);
  };

  const fail = (intent: Stripe.PaymentIntent, error: ErrorFields): void => {
    intent.status = 'requires_payment_method';
    intent.next_action = null;
    intent.last_payment_error = error as Stripe.PaymentIntent.LastPaymentError;
    send('payment_intent.payment_failed', intent);
  };

  const confirm = (intent: Stripe.PaymentIntent, fields: Stripe.PaymentIntentConfirmParams): void => {
    if (intent.status !== 'requires_payment_method') throw invalid('payment_intent_unexpected_state');
    const isTelephoneOrder = (fields.payment_method_options?.card as { moto?: boolean } | undefined)?.moto === true;
    if (isTelephoneOrder && double.refusesTelephoneOrders) {
      const param = 'payment_method_options[card][moto]';
      throw new ApiError(400, { type: 'invalid_request_error', code: 'parameter_unknown', param });
    }
    const method = fields.payment_method ?? objects.newStripeId('pm');
    if (singleUse.has(method)) throw invalid('payment_method_unexpected_state');
    const number = cards.get(method) ?? '';
    // A method that belongs to no customer is used once.
    if (intent.customer === null) cards.delete(method);
    intent.payment_method = method;
    const isChallenged = number === STRIPE_CARDS.challenge && !isTelephoneOrder;
    const needsPayer = isChallenged || fields.payment_method_data !== undefined;
    const decline =
      DECLINES[number] ?? (needsPayer && fields.off_session ? { code: 'authentication_required' } : undefined);
    if (decline) {
      fail(intent, { type: 'card_error', ...decline });
      throw new ApiError(402, { type: 'card_error', ...decline, payment_intent: intent });
    }
    if (debits.has(method)) {
      intent.status = 'processing';
      return;
    }
    if (!needsPayer) {
      succeed(intent);
      return;
    }
    const type = fields.payment_method_data?.type ?? '';
    if (METHOD_NEEDS[type]?.(fields) === false) throw invalid('parameter_missing');
    if (type === 'sepa_debit') {
      intent.status = 'processing';
      return;
    }
    intent.status = 'requires_action';
    const return_url = fields.return_url ?? null;
    const page = `${double.url}/pay/${intent.id}`;
    intent.next_action = NEXT_ACTIONS[type]?.(page) ?? {
      type: 'redirect_to_url',
      redirect_to_url: { url: page, return_url },
    };
    returnUrls.set(intent.id, return_url ?? '');
  };

  const refundedOf = (intent: string): number =>
    [...refunds.values()]
      .filter(({ payment_intent, status }) => payment_intent === intent && status !== 'failed')
      .reduce((sum, { amount }) => sum + amount, 0);

  const checkEmail = (email?: Stripe.Emptyable<string>): void => {
    if (email && (email === REFUSED_EMAIL || !/^[^@\s]+@[^@\s]+\.[a-z]+$/i.test(email))) throw invalid('email_invalid');
  };

  /** A card takes a suffix only; what may be paid by any method may be paid by card. */
  const checkStatement = (
    { statement_descriptor: text, statement_descriptor_suffix: suffix = 'a' }: Stripe.PaymentIntentCreateParams,
    types: readonly string[] = ['card'],
  ): void => {
    const hasLetter = (each: string): boolean => /^(?=.*[a-z])[ -~]{1,22}$/i.test(each) && !/[<>\\'"*]/.test(each);
    const isRefused = text !== undefined && (types.includes('card') || text.length < 5 || !hasLetter(text));
    if (isRefused || !hasLetter(suffix)) throw invalid('parameter_invalid');
  };

  /** Creates the objects of each call. Its fields are valid by the schema of its kind. */
  const perform = (kind: string, id: string, sent: Json): object => {
    const intent = (): Stripe.PaymentIntent => find(intents, id);
    switch (kind) {
      case 'Balance':
        return objects.balance();
      case 'MethodConfigurationList': {
        if (!double.activeMethods) throw new ApiError(403, { type: 'invalid_request_error' });
        const data = [
          ...Object.entries(double.configurations).map(([id, methods]) => ({
            ...objects.methodConfiguration(METHODS, methods),
            id,
            is_default: false,
          })),
          objects.methodConfiguration(METHODS, double.activeMethods),
        ];
        return { object: 'list', data, has_more: false, url: '/v1/payment_method_configurations' };
      }
      case 'CustomerCreate':
        checkEmail((sent as Stripe.CustomerCreateParams).email);
        return objects.customer({ email: (sent as Stripe.CustomerCreateParams).email ?? null });
      case 'PaymentMethodCreate': {
        const { card, billing_details: payer } = sent as Stripe.PaymentMethodCreateParams;
        checkEmail(payer?.email);
        if (double.refusesCards) throw new ApiError(402, { type: 'invalid_request_error' });
        const method = objects.paymentMethod({});
        cards.set(method.id, card?.number ?? '');
        return method;
      }
      case 'PaymentIntentCreate': {
        const { amount, currency, capture_method, customer, setup_future_usage, metadata, description } =
          sent as unknown as Stripe.PaymentIntentCreateParams;
        const types = (sent as unknown as Stripe.PaymentIntentCreateParams).allowed_payment_method_types;
        checkStatement(sent as unknown as Stripe.PaymentIntentCreateParams, types);
        const created = objects.paymentIntent({
          payment_method_types: types ?? ['card'],
          amount,
          currency,
          capture_method: capture_method ?? 'automatic_async',
          customer: customer ?? null,
          setup_future_usage: setup_future_usage ?? null,
          metadata: metadata as Stripe.Metadata,
          description: description ?? null,
          ...transferOf(sent as Transfer),
        });
        intents.set(created.id, created);
        return created;
      }
      case 'PaymentIntentRetrieve':
        return intent();
      case 'PaymentIntentSearch': {
        const [, reference] = /"([^"]+)"$/.exec(String(sent.query)) ?? [];
        const data = [...intents.values()].filter(({ metadata }) => metadata.turnpike_reference === reference);
        return { object: 'search_result', data, has_more: false, next_page: null, url: '/v1/payment_intents/search' };
      }
      case 'PaymentIntentConfirm':
        checkEmail((sent as Stripe.PaymentIntentConfirmParams).payment_method_data?.billing_details?.email);
        confirm(intent(), sent as Stripe.PaymentIntentConfirmParams);
        return intent();
      case 'PaymentIntentCapture': {
        const { amount_to_capture = intent().amount } = sent as Stripe.PaymentIntentCaptureParams;
        if (intent().status !== 'requires_capture') throw invalid('payment_intent_unexpected_state');
        if (amount_to_capture > intent().amount_capturable) throw invalid('amount_too_large');
        const captured: Partial<Stripe.PaymentIntent> = { status: 'succeeded', amount_received: amount_to_capture };
        Object.assign(intent(), captured, {
          amount_capturable: 0,
          latest_charge: objects.charge(intent(), amount_to_capture),
        });
        send('payment_intent.succeeded', intent());
        return intent();
      }
      case 'PaymentIntentCancel':
        if (['succeeded', 'canceled'].includes(intent().status)) throw invalid('payment_intent_unexpected_state');
        Object.assign(intent(), {
          status: 'canceled',
          amount_capturable: 0,
          next_action: null,
          cancellation_reason: (sent as Stripe.PaymentIntentCancelParams).cancellation_reason ?? null,
        } satisfies Partial<Stripe.PaymentIntent>);
        send('payment_intent.canceled', intent());
        return intent();
      case 'RefundCreate': {
        const { payment_intent = '', amount = 0, metadata, ...reversal } = sent as Stripe.RefundCreateParams;
        const paid = find(intents, payment_intent);
        const hasFee = paid.application_fee_amount !== null;
        if ((reversal.reverse_transfer && !paid.transfer_data) || (reversal.refund_application_fee && !hasFee))
          throw invalid();
        if (refundedOf(paid.id) + amount > paid.amount_received) throw invalid('charge_already_refunded');
        const status = isRefundDelayed ? 'pending' : 'succeeded';
        const fields = { amount, currency: paid.currency, metadata: metadata as Stripe.Metadata };
        const created = objects.refund({ payment_intent, status, ...fields });
        refunds.set(created.id, created);
        (paid.latest_charge as Stripe.Charge).amount_refunded += amount;
        const answer = { ...created };
        if (isRefundDelayed) {
          created.status = 'succeeded';
          send('refund.updated', created);
        }
        isRefundDelayed = false;
        return answer;
      }
      case 'RefundList': {
        const { payment_intent, limit = 10, starting_after } = sent as Stripe.RefundListParams;
        const all = [...refunds.values()].filter((each) => each.payment_intent === payment_intent).toReversed();
        const start = starting_after === undefined ? 0 : all.findIndex(({ id }) => id === starting_after) + 1;
        const data = all.slice(start, start + Number(limit));
        return { object: 'list', data, has_more: start + data.length < all.length, url: '/v1/refunds' };
      }
      case 'RefundRetrieve':
        return find(refunds, id);
      case 'SessionCreate': {
        const fields = sent as Stripe.Checkout.SessionCreateParams;
        const { client_reference_id = null, success_url = null, cancel_url = null, metadata } = fields;
        checkEmail(fields.customer_email);
        checkStatement(
          (fields.payment_intent_data ?? {}) as Stripe.PaymentIntentCreateParams,
          fields.allowed_payment_method_types,
        );
        const created = objects.session({
          client_reference_id,
          success_url,
          cancel_url,
          metadata: metadata as Stripe.Metadata,
        });
        created.url = `${double.url}/pay/${created.id}`;
        sessions.set(created.id, created);
        sessionFields.set(created.id, fields);
        return created;
      }
      case 'SessionRetrieve':
        return find(sessions, id);
      case 'SessionExpire': {
        const open = find(sessions, id);
        if (open.status !== 'open') throw invalid();
        expire(open);
        return open;
      }
      default:
        throw invalid('resource_missing');
    }
  };

  const expire = (open: Stripe.Checkout.Session): void => {
    Object.assign(open, { status: 'expired', url: null } satisfies Partial<Stripe.Checkout.Session>);
    send('checkout.session.expired', open);
  };

  /** The payer pays on the page of a session. */
  const complete = (open: Stripe.Checkout.Session): void => {
    const {
      line_items: [item] = [],
      payment_intent_data: data,
      customer_creation,
      allowed_payment_method_types: [type = 'card'] = [],
    } = sessionFields.get(open.id) as Stripe.Checkout.SessionCreateParams;
    const method = objects.newStripeId('pm');
    const paid = objects.paymentIntent({
      amount: item?.price_data?.unit_amount ?? 0,
      currency: item?.price_data?.currency ?? '',
      capture_method: data?.capture_method ?? 'automatic_async',
      setup_future_usage: data?.setup_future_usage ?? null,
      metadata: data?.metadata as Stripe.Metadata,
      payment_method: method,
      customer: customer_creation === 'always' ? objects.newStripeId('cus') : null,
      ...transferOf(data ?? {}),
    });
    intents.set(paid.id, paid);
    const isAtBank = type === 'ideal' || type === 'bancontact';
    if (paid.customer !== null && !isAtBank) cards.set(method, STRIPE_CARDS.success);
    Object.assign(open, {
      status: 'complete',
      url: null,
      payment_intent: paid,
    } satisfies Partial<Stripe.Checkout.Session>);
    succeed(paid);
    if (isAtBank) {
      // Its payer approves each payment. If it is kept, Stripe makes a direct debit from the same account.
      singleUse.add(method);
      const debit = paid.setup_future_usage === null ? null : objects.newStripeId('pm');
      if (debit !== null) debits.add(debit);
      objects.payAtBank(paid, type, debit);
    }
    send('checkout.session.completed', { ...open, payment_intent: paid.id });
  };

  /** What the payer does on a page of Stripe; returns where the payer is sent. */
  const decide = (id: string, decision: string): string => {
    const open = sessions.get(id);
    if (!open) {
      const intent = find(intents, id);
      if (intent.status !== 'requires_action') return returnUrls.get(id) ?? '';
      if (decision === 'approve') succeed(intent);
      else fail(intent, { type: 'invalid_request_error', code: 'payment_intent_authentication_failure' });
      return `${returnUrls.get(id)}?payment_intent=${id}&redirect_status=${decision}`;
    }
    if (decision === 'approve' && open.status === 'open') complete(open);
    if (decision === 'expire') expire(open);
    return (decision === 'back' ? open.cancel_url : open.success_url) ?? '';
  };

  /** Related objects are ids unless they are to be expanded. */
  const shaped = (object: object, expand: unknown): Json => {
    const wanted = Array.isArray(expand) ? expand.map(String) : [];
    const copy = structuredClone(object) as Json;
    const intent = copy.object === 'payment_intent' ? copy : (copy.payment_intent as Json | null | string);
    if (typeof intent === 'object' && intent !== null) {
      const found = intent.latest_charge as Stripe.Charge | null;
      if (!wanted.some((path) => path.includes('latest_charge'))) intent.latest_charge = found?.id ?? null;
      if (intent !== copy && !wanted.some((path) => path.startsWith('payment_intent'))) copy.payment_intent = intent.id;
    }
    return copy;
  };

  const answer = (response: ServerResponse, status: number, body: Json, headers: Record<string, string> = {}): void => {
    response.writeHead(status, {
      'content-type': 'application/json',
      'request-id': objects.newStripeId('req'),
      ...headers,
    });
    response.end(JSON.stringify(body));
  };
  const failure = (error: ErrorFields): Json => ({ error: { message: 'Refused by the double.', ...error } });

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', double.url);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const form = request.method === 'GET' ? url.search.slice(1) : Buffer.concat(parts).toString();
    if (url.pathname.startsWith('/pay/')) {
      const to = decide(url.pathname.slice('/pay/'.length), new URLSearchParams(form).get('decision') ?? '');
      response.writeHead(303, { location: to }).end();
      return;
    }
    const { headers, method = '' } = request;
    const { kind = '', fields, problems } = checkRequest(method, url.pathname, form);
    double.problems.push(...problems);
    double.requests.push({ kind, fields, headers });
    if (headers.authorization !== `Bearer ${STRIPE_CREDENTIALS.secret_key}`)
      return answer(response, 401, failure({ type: 'invalid_request_error' }));
    if (problems.length > 0)
      return answer(response, 400, failure({ type: 'invalid_request_error', code: 'parameter_unknown' }));

    const isHit = armed && (armed.kind === undefined ? MONEY.includes(kind) : armed.kind === kind);
    const fault = isHit ? armed?.fault : undefined;
    if (fault) armed = undefined;
    if (fault === 'lost_before') return void request.socket.destroy();
    if (fault === 'rate_limited')
      return answer(response, 429, failure({ type: 'invalid_request_error', code: 'rate_limit' }));

    const key = method === 'POST' ? (headers['idempotency-key'] as string | undefined) : undefined;
    const known = key === undefined ? undefined : keys.get(key);
    if (known && known.request !== url.pathname + form)
      return answer(response, 400, failure({ type: 'idempotency_error' }));
    if (known) return answer(response, known.status, known.body, { 'idempotent-replayed': 'true' });
    let status = 200;
    let body: Json;
    try {
      if (fault === 'error_500') throw new ApiError(500, { type: 'api_error' });
      const id = /\/((?:pi|re|cs)_\w+)/.exec(url.pathname)?.[1] ?? '';
      body = shaped(perform(kind, id, fields), fields.expand);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      status = error.status;
      body = failure(error.error);
    }
    if (key !== undefined) keys.set(key, { request: url.pathname + form, status, body });
    if (fault === 'lost_after') return void request.socket.destroy();
    answer(response, status, body);
  };

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const double: StripeDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    problems: [],
    requests: [],
    received: [],
    webhookUrls: [],
    refusesCards: false,
    refusesTelephoneOrders: false,
    activeMethods: METHODS,
    configurations: {},
    intents,
    sessions,
    fault: (fault, kind) => {
      armed = { fault, kind };
    },
    delayRefund: () => {
      isRefundDelayed = true;
    },
    forgetKeys: () => keys.clear(),
    intentOf: (reference) => [...intents.values()].find(({ metadata }) => metadata.turnpike_reference === reference),
    balance: (reference) =>
      [...intents.values()]
        .filter(({ metadata }) => metadata.turnpike_reference === reference)
        .reduce((sum, { id, amount_received }) => sum + BigInt(amount_received - refundedOf(id)), 0n),
    captureElsewhere(reference, amount) {
      perform('PaymentIntentCapture', intentOf(reference).id, { amount_to_capture: amount });
    },
    refundElsewhere(reference, amount) {
      const { id: payment_intent } = intentOf(reference);
      const { id } = perform('RefundCreate', '', { payment_intent, amount, metadata: {} }) as Stripe.Refund;
      send('charge.refunded', intentOf(reference).latest_charge as Stripe.Charge);
      return find(refunds, id);
    },
    refundOf: (operation) =>
      find(refunds, [...refunds.values()].find(({ metadata }) => metadata?.turnpike_operation === operation)?.id),
    failRefund(refund) {
      refund.status = 'failed';
      const charge = find(intents, String(refund.payment_intent)).latest_charge as Stripe.Charge;
      charge.amount_refunded -= refund.amount;
      send('refund.failed', refund);
    },
    async pay(url, decision = 'approve') {
      const body = new URLSearchParams({ decision });
      const response = await fetch(url, { method: 'POST', body, redirect: 'manual' });
      return new URL(response.headers.get('location') ?? '');
    },
    send,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return double;
}
