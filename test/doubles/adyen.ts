/** A double of Adyen: its Checkout API on loopback, with books of the money, signed webhooks and faults. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type * as Checkout from '@adyen/api-library/lib/src/typings/checkout/models.js';
import type { NotificationRequestItem } from '@adyen/api-library/lib/src/typings/notification/models.js';
import type Hmac from '@adyen/api-library/lib/src/utils/hmacValidator.js';
import { Ajv, type ValidateFunction } from 'ajv';
import type { Plain } from '../../src/connectors/adyen/requests.ts';
import type { Fault, Webhook } from '../conformance/conforms.ts';
import schemas from '../connectors/adyen/schemas/requests.json' with { type: 'json' };
import { REFUSED_EMAIL } from '../support/submissions.ts';

const { default: HmacValidator } = createRequire(import.meta.url)(
  '@adyen/api-library/lib/src/utils/hmacValidator.js',
) as typeof Hmac;

type Json = Record<string, unknown>;
type Item = Plain<NotificationRequestItem>;
type Decision = 'authorise' | 'refuse' | 'cancel' | 'pend';

/** Methods that Adyen captures at once, whatever the request says. */
const NEVER_HELD: readonly string[] = ['ideal', 'multibanco', 'promptpay', 'bankTransfer_IBAN'];

/** Methods whose payers Adyen neither charges nor redirects. */
const ACTIONS: Readonly<Record<string, Plain<Checkout.PaymentResponse>>> = {
  multibanco: {
    resultCode: 'PresentToShopper',
    action: {
      type: 'voucher',
      paymentMethodType: 'multibanco',
      entity: '12101',
      reference: '501 422 944',
      expiresAt: '2026-12-01T10:00:00',
      downloadUrl: 'https://test.adyen.com/voucher.pdf',
    },
  },
  bankTransfer_IBAN: {
    resultCode: 'Received',
    action: {
      type: 'bankTransfer',
      paymentMethodType: 'bankTransfer_IBAN',
      beneficiary: 'TestMerchant',
      iban: 'NL13TEST0123456789',
      bic: 'TESTNL01',
      reference: 'X1',
    },
  },
  promptpay: {
    resultCode: 'Pending',
    action: { type: 'qrCode', paymentMethodType: 'promptpay', qrCodeData: '00020101promptpay' },
  },
  // Needs a script of Adyen on the page.
  paytm: { resultCode: 'Pending', action: { type: 'sdk', paymentMethodType: 'paytm' } },
};

const ajv = new Ajv({ strict: true, allowUnionTypes: true, formats: { 'date-time': true } });
ajv.addSchema(schemas, 'requests');

/** The validator of a request, by the name of its type in `test/connectors/adyen/requests.ts`. */
export const requestValidator = (name: string): ValidateFunction =>
  ajv.getSchema(`requests#/definitions/${name}`) as ValidateFunction;

export interface AdyenPayment {
  pspReference: string;
  reference: string;
  amount: Plain<Checkout.Amount>;
  isManual: boolean;
  state: 'open' | 'authorised' | 'refused' | 'cancelled';
  captured: number;
  refunded: number;
  /** Set if the payer has agreed that the payment is repeated. */
  shopper?: string | undefined;
  isCard: boolean;
}

/** What methods need, and those that the payer approves in an app. */
const NEEDS: Readonly<Record<string, readonly (readonly [name: string, format: RegExp])[]>> = {
  blik: [['blikCode', /^\d{6}$/]],
  mbway: [
    ['telephoneNumber', /^\+\d{7,15}$/],
    ['shopperEmail', /@/],
  ],
  paypal: [['subtype', /^redirect$/]],
  sepadirectdebit: [
    ['iban', /^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/],
    ['ownerName', /./],
  ],
};
const IN_APP = ['blik', 'mbway'];

const ACTIVE_METHODS = [
  ...['scheme', 'ideal', 'blik', 'paypal', 'klarna', 'sepadirectdebit', 'twint', 'swish', 'mobilepay', 'mbway'],
  ...['bcmc', 'bcmc_mobile', 'eps', 'onlineBanking_PL'],
];

/** Refuses with a `refusalReasonCode`, as Adyen's test environment does it by the name on the card. */
const REFUSAL = /^DECLINED(?::(\d+))?$/;
/** Adyen's test card that is authenticated. */
export const AUTHENTICATED_CARD = '4212345678901237';

const RELATIVE_PATHS: readonly (readonly [RegExp, string])[] = [
  [/^\/payments$/, 'Payment'],
  [/^\/payments\/details$/, 'PaymentDetails'],
  [/^\/paymentMethods$/, 'PaymentMethods'],
  [/^\/sessions$/, 'Session'],
  [/^\/cancels$/, 'StandaloneCancel'],
  [/^\/payments\/\w+\/captures$/, 'Capture'],
  [/^\/payments\/\w+\/refunds$/, 'Refund'],
  [/^\/payments\/\w+\/cancels$/, 'Cancel'],
];

export type AdyenDouble = Awaited<ReturnType<typeof startAdyen>>;

export async function startAdyen() {
  const hmacKey = randomBytes(32).toString('hex').toUpperCase();
  const credentials = { api_key: 'AQE-test-key', merchant_account: 'TurnpikeECOM', hmac_key: hmacKey };
  const payments = new Map<string, AdyenPayment>();
  const sessions = new Map<string, { request: Json; status: Checkout.SessionResultResponse['status']; psp: string }>();
  /** By the token in the address of the redirect. */
  const redirects = new Map<string, { payment: AdyenPayment; code: string; isCard: boolean }>();
  const answers = new Map<string, { status: number; body: Json; request: string }>();
  const calls: { path: string; key: string | undefined; body: Json }[] = [];
  const violations: string[] = [];
  /** The methods that are active in the merchant account. */
  const activeMethods = ACTIVE_METHODS.slice();
  const queue: Item[] = [];
  const faults: Fault[] = [];
  let scripted: { status: number; text: string } | undefined;
  let count = 0;
  const pspReference = (): string => `D${String(++count).padStart(15, '0')}`;

  const notify = (
    eventCode: Item['eventCode'],
    isSuccess: boolean,
    { amount, reference }: Pick<AdyenPayment, 'amount' | 'reference'>,
    { psp, original, reason = '', data = {} }: { psp: string; original?: string; reason?: string; data?: Json },
  ): void => {
    queue.push(
      sign({
        additionalData: data as Record<string, string>,
        eventDate: '2026-11-16T10:00:00+01:00',
        amount,
        eventCode,
        merchantAccountCode: credentials.merchant_account,
        merchantReference: reference,
        ...(original !== undefined && { originalReference: original }),
        paymentMethod: 'visa',
        reason,
        success: isSuccess ? 'true' : 'false',
        pspReference: psp,
      }),
    );
  };
  const sign = (item: Item, key = hmacKey): Item => {
    const hmacSignature = new HmacValidator().calculateHmac(item as unknown as NotificationRequestItem, key);
    return { ...item, additionalData: { ...item.additionalData, hmacSignature } };
  };
  const webhookOf = (items: readonly Item[]): Webhook => ({
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(
      JSON.stringify({ notificationItems: items.map((item) => ({ NotificationRequestItem: item })), live: 'false' }),
    ),
  });

  /** What Adyen returns of a payment that can be repeated. */
  const recurringData = ({ shopper, isCard, pspReference: psp }: AdyenPayment): Record<string, string> => ({
    ...(isCard && { networkTxReference: `NTX${psp}` }),
    ...(isCard && shopper !== undefined && { 'tokenization.storedPaymentMethodId': `TOKEN${psp}` }),
  });
  /** The token of another method than a card comes later, by webhook only. */
  const storeLater = (payment: AdyenPayment): void => {
    const { shopper, isCard, pspReference: original } = payment;
    if (shopper === undefined || isCard) return;
    const data = { 'recurring.recurringDetailReference': `TOKEN${original}`, 'recurring.shopperReference': shopper };
    notify('RECURRING_CONTRACT', true, payment, { psp: pspReference(), original, data });
  };
  const authorise = (payment: AdyenPayment): void => {
    payment.state = 'authorised';
    if (!payment.isManual) payment.captured = payment.amount.value;
    const data = recurringData(payment);
    notify('AUTHORISATION', true, payment, { psp: payment.pspReference, reason: '079763:1111:03/2030', data });
    storeLater(payment);
  };
  const refuse = (payment: AdyenPayment, reason: string): void => {
    payment.state = 'refused';
    notify('AUTHORISATION', false, payment, { psp: payment.pspReference, reason });
  };
  const open = (body: Json): AdyenPayment => {
    const request = body as unknown as Checkout.PaymentRequest;
    const payment: AdyenPayment = {
      pspReference: pspReference(),
      reference: request.reference,
      amount: request.amount,
      isManual:
        request.additionalData?.manualCapture === 'true' && !NEVER_HELD.includes(String(request.paymentMethod?.type)),
      state: 'open',
      captured: 0,
      refunded: 0,
      shopper: request.recurringProcessingModel === undefined ? undefined : request.shopperReference,
      isCard: ['scheme', 'networkToken', 'undefined'].includes(String(request.paymentMethod?.type)),
    };
    payments.set(payment.pspReference, payment);
    return payment;
  };
  const resultOf = (payment: AdyenPayment, code?: string): Plain<Checkout.PaymentDetailsResponse> => ({
    pspReference: payment.pspReference,
    merchantReference: payment.reference,
    amount: payment.amount,
    ...(payment.state === 'authorised'
      ? { resultCode: 'Authorised', additionalData: recurringData(payment) }
      : {
          resultCode: code === '16' ? 'Cancelled' : 'Refused',
          refusalReasonCode: code ?? '2',
          refusalReason: 'Refused',
        }),
  });
  const error = (status: number, errorCode: string, message: string): [number, Json] => [
    status,
    {
      status,
      errorCode,
      message,
      errorType: 'validation',
      pspReference: pspReference(),
    } satisfies Checkout.ServiceError & Json,
  ];

  const redirect = (payment: AdyenPayment, isCard: boolean): Plain<Checkout.PaymentResponse> => {
    const token = randomBytes(8).toString('hex');
    redirects.set(token, { payment, code: '2', isCard });
    const address = `${url()}/redirect/${token}`;
    return {
      resultCode: 'RedirectShopper',
      action: { type: 'redirect', paymentMethodType: isCard ? 'scheme' : 'ideal', method: 'GET', url: address },
    };
  };

  /** The payer's account is charged again by the token of a direct debit. */
  const repeat = (body: Json, stored: string): [number, Json] => {
    const { paymentMethod, shopperReference, shopperInteraction } = body as unknown as Checkout.PaymentRequest;
    const isKnown = contractOf(stored, shopperReference) && paymentMethod.type === 'sepadirectdebit';
    if (!isKnown || shopperInteraction !== 'ContAuth') return error(422, '800', 'Contract not found');
    const payment = open(body);
    payment.shopper = undefined;
    authorise(payment);
    return [200, { ...resultOf(payment) }];
  };
  const contractOf = (stored: string, shopper: string | undefined): AdyenPayment | undefined =>
    [...payments.values()].find((each) => `TOKEN${each.pspReference}` === stored && each.shopper === shopper);

  /** A payment with another method than a card. */
  const payByMethod = (body: Json): [number, Json] => {
    const method = body.paymentMethod as Record<string, string>;
    const { type = '' } = method;
    const action = ACTIONS[type];
    if (action) return [200, { ...action, pspReference: open(body).pspReference }];
    if (type.startsWith('klarna') && !body.lineItems)
      return error(422, '14_0403', 'Required field lineItems is not provided');
    const stored = method.storedPaymentMethodId;
    if (stored !== undefined) return repeat(body, stored);
    const missing = (NEEDS[type] ?? []).filter(([name, format]) => !format.test(method[name] ?? ''));
    if (missing.length > 0) return error(422, '14_012', `Invalid ${missing.map(([name]) => name).join()}`);
    if (type === 'sepadirectdebit') {
      const payment = open(body);
      authorise(payment);
      return [200, { ...resultOf(payment) }];
    }
    if (!IN_APP.includes(type)) return [200, { ...redirect(open(body), false) }];
    const { pspReference: psp, reference } = open(body);
    return [
      200,
      {
        pspReference: psp,
        merchantReference: reference,
        resultCode: 'Pending',
        action: { type: 'await', paymentMethodType: type, paymentData: randomBytes(8).toString('hex') },
      } satisfies Plain<Checkout.PaymentResponse>,
    ];
  };

  const refusesEmail = ({ shopperEmail }: Json): boolean => shopperEmail === REFUSED_EMAIL;

  const pay = (body: Json): [number, Json] => {
    if (refusesEmail(body)) return error(422, '000', 'Invalid e-mail address');
    const {
      paymentMethod: details,
      shopperInteraction,
      shopperReference,
      mpiData,
    } = body as unknown as Checkout.PaymentRequest;
    const method = details as Plain<Checkout.CardDetails>;
    if (method.type !== 'scheme' && method.type !== 'networkToken') return payByMethod(body);
    const isDevice = method.type === 'networkToken' && shopperInteraction === 'Ecommerce';
    const cryptogram = Buffer.from(mpiData?.tokenAuthenticationVerificationValue ?? '', 'base64');
    if (isDevice && (cryptogram.length !== 20 || mpiData?.authenticationResponse !== 'Y'))
      return error(422, '14_033', 'The cryptogram of the network token is missing');
    if (isDevice && body.authenticationData) violations.push('a device is authenticated once more');
    const { storedPaymentMethodId: stored } = method;
    if (stored !== undefined && !contractOf(stored, shopperReference)?.isCard)
      return error(422, '800', 'Contract not found');
    if (method.number !== undefined && !/^\d{12,19}$/.test(method.number))
      return error(422, '101', 'Invalid card number');
    if (method.number === AUTHENTICATED_CARD && shopperInteraction === 'Ecommerce')
      return [200, { ...redirect(open(body), true) }];
    const payment = open(body);
    const code = REFUSAL.exec(method.holderName ?? '');
    if (code) refuse(payment, 'Refused');
    else authorise(payment);
    return [200, { ...resultOf(payment, code?.[1]) }];
  };

  const complete = ({ details }: Json): [number, Json] => {
    const token = String((details as Json).redirectResult).replace(/^result-/, '');
    const found = redirects.get(token);
    if (!found) return error(422, '14_006', 'The provided details are not valid');
    const { payment, code, isCard } = found;
    if (payment.state === 'open' && isCard && code === '') authorise(payment);
    return [200, { ...resultOf(payment, code) }];
  };

  const openSession = (request: Json): [number, Json] => {
    if (refusesEmail(request)) return error(422, '000', 'Invalid e-mail address');
    const { amount, merchantAccount, reference, returnUrl } =
      request as unknown as Checkout.CreateCheckoutSessionRequest;
    const id = `CS${randomBytes(8).toString('hex').toUpperCase()}`;
    sessions.set(id, { request, status: 'active' as Checkout.SessionResultResponse.StatusEnum, psp: '' });
    const body = {
      id,
      amount,
      merchantAccount,
      reference,
      returnUrl,
      mode: 'hosted' as const,
      url: `${url()}/hosted/${id}`,
    };
    return [201, { ...body, expiresAt: String(request.expiresAt) }];
  };
  const sessionResult = (id: string, result: string | null): [number, Json] => {
    const session = sessions.get(id);
    if (!session || result !== `result-${id}`) return error(422, '14_007', 'Invalid sessionResult');
    const payment = payments.get(session.psp);
    const body = {
      id,
      reference: String(session.request.reference),
      ...(session.status && { status: session.status }),
      ...(payment && {
        payments: [{ pspReference: session.psp, amount: payment.amount, resultCode: 'Authorised' as const }],
        additionalData: recurringData(payment),
      }),
    } satisfies Plain<Checkout.SessionResultResponse>;
    return [200, body];
  };

  const modify = (kind: string, psp: string, body: Json): [number, Json] => {
    const payment =
      payments.get(psp) ?? [...payments.values()].find((each) => each.reference === body.paymentReference);
    if (!payment) return error(422, '167', 'Original pspReference required for this operation');
    const own = pspReference();
    const amount = (body.amount ?? payment.amount) as AdyenPayment['amount'];
    const isFree = payment.state === 'authorised';
    const about = { amount, reference: String(body.reference) };
    const report = (event: Item['eventCode'], isDone: boolean): void =>
      notify(event, isDone, about, {
        psp: own,
        original: payment.pspReference,
        reason: isDone ? '' : 'Insufficient balance on payment',
      });
    if (kind === 'captures') {
      const isDone = isFree && payment.captured === 0 && amount.value <= payment.amount.value;
      if (isDone) payment.captured = amount.value;
      report('CAPTURE', isDone);
    } else if (kind === 'refunds') {
      const isDone = isFree && payment.refunded + amount.value <= payment.captured;
      if (isDone) payment.refunded += amount.value;
      report('REFUND', isDone);
    } else {
      // By our reference a payment that is still pending can be cancelled, too.
      const isPending = psp === '' && payment.state === 'open';
      const isDone = (isFree && payment.captured === 0) || isPending;
      if (isDone) payment.state = 'cancelled';
      report(psp === '' ? 'TECHNICAL_CANCEL' : 'CANCELLATION', isDone);
    }
    const { merchantAccount, reference } = body as { merchantAccount: string; reference: string };
    const answer = { merchantAccount, reference, pspReference: own, status: 'received' as const };
    if (psp === '') return [201, { ...answer, paymentReference: payment.reference }];
    return [201, { ...answer, paymentPspReference: payment.pspReference, ...(body.amount ? { amount } : {}) }];
  };

  const process = (path: string, body: Json): [number, Json] => {
    const [, psp = '', kind = ''] = /^\/payments\/(\w+)\/(\w+)$/.exec(path) ?? [];
    if (path === '/payments') return pay(body);
    if (path === '/payments/details') return complete(body);
    if (path === '/sessions') return openSession(body);
    if (path === '/cancels') return modify('cancels', '', body);
    if (path === '/paymentMethods')
      return [
        200,
        {
          paymentMethods: activeMethods.map((type) => ({ type, name: type })),
        } satisfies Plain<Checkout.PaymentMethodsResponse>,
      ];
    return psp === '' ? error(404, '000', 'Not found') : modify(kind, psp, body);
  };

  /** Processes a request once per idempotency key. */
  const processOnce = (path: string, key: string | undefined, body: Json): { status: number; body: Json } => {
    const request = path + JSON.stringify(body, (name, value) => (name === 'expiresAt' ? '' : value));
    const known = key === undefined ? undefined : answers.get(key);
    if (known && known.request !== request) violations.push(`another request with the idempotency key ${key}`);
    if (known) return known;
    const [status, answer] = process(path, body);
    const processed = { status, body: answer, request };
    if (key !== undefined) answers.set(key, processed);
    return processed;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://double');
    const send = (status: number, body: Json): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const path = pathname.replace(/^\/v72/, '');
    if (path === pathname) violations.push(`another version of the API: ${pathname}`);
    if (request.headers['x-api-key'] !== credentials.api_key)
      return send(...error(401, '000', 'HTTP Status Response - Unauthorized'));
    if (scripted) {
      response.writeHead(scripted.status, { 'content-type': 'application/json' }).end(scripted.text);
      scripted = undefined;
      return;
    }
    if (request.method === 'GET')
      return send(...sessionResult(path.replace('/sessions/', ''), searchParams.get('sessionResult')));
    const body = JSON.parse(Buffer.concat(parts).toString()) as Json;
    const key = request.headers['idempotency-key'] as string | undefined;
    calls.push({ path, key, body });
    const [, type = ''] = RELATIVE_PATHS.find(([pattern]) => pattern.test(path)) ?? [];
    const validate = requestValidator(type);
    if (!validate?.(body)) violations.push(`${path}: ${ajv.errorsText(validate?.errors)}`);
    if (body.merchantAccount !== credentials.merchant_account && path !== '/payments/details')
      return send(...error(403, '901', 'Invalid Merchant Account'));
    if (path === '/paymentMethods') return send(...process(path, body));
    if (key === undefined || key.length > 64) violations.push(`${path}: no valid idempotency key`);
    const met = faults.shift();
    if (met === 'rate_limited') return send(...error(429, '000', 'Too many requests'));
    if (met === 'error_500') return send(...error(500, '905', 'Internal error'));
    if (met === 'lost_before') return void request.socket.destroy();
    const processed = processOnce(path, key, body);
    if (met === 'lost_after') return void request.socket.destroy();
    send(processed.status, processed.body);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url: url(),
    credentials,
    calls,
    /** Requests that the types of the SDK do not allow, and misuses of idempotency keys. */
    violations,
    activeMethods,
    /** The next calls that move money meet these faults, in this order. */
    fault(...next: Fault[]): void {
      faults.push(...next);
    },
    /** The next call is answered with this text, and not processed. */
    answer(status: number, body: Json | string): void {
      scripted = { status, text: typeof body === 'string' ? body : JSON.stringify(body) };
    },
    /** The payer decides on the page of the bank or of Adyen; returns the parameters of the return. */
    decide(page: string, decision: Decision = 'authorise'): Record<string, string> {
      const id = page.slice(page.lastIndexOf('/') + 1);
      const session = sessions.get(id);
      // A session is paid once.
      if (session?.status === 'completed') return { sessionId: id, sessionResult: `result-${id}` };
      if (session) {
        const payment = open(session.request);
        if (decision === 'authorise') {
          session.psp = payment.pspReference;
          authorise(payment);
        } else if (decision !== 'pend') refuse(payment, 'Refused');
        session.status = {
          authorise: 'completed',
          refuse: 'refused',
          cancel: 'canceled',
          pend: 'paymentPending',
        }[decision] as typeof session.status;
        return { sessionId: id, sessionResult: `result-${id}` };
      }
      const found = redirects.get(id);
      if (!found) throw new Error(`There is no page ${page}.`);
      found.code = { authorise: '', refuse: '2', cancel: '16', pend: '' }[decision];
      // A bank reports to Adyen at once; a card is charged when the gateway passes the result on.
      if (!found.isCard && decision === 'authorise') authorise(found.payment);
      if (!found.isCard && decision !== 'authorise')
        refuse(found.payment, decision === 'cancel' ? 'Shopper Cancelled' : 'Refused');
      return { redirectResult: `result-${id}` };
    },
    /** The payer decides in an app, which only a webhook reports. */
    decideInApp(reference: string, decision: Decision = 'authorise'): void {
      const payment = [...payments.values()].findLast((each) => each.reference === reference);
      if (!payment) throw new Error(`There is no payment ${reference}.`);
      if (decision === 'authorise') authorise(payment);
      else refuse(payment, 'Refused');
    },
    payment: (reference: string): AdyenPayment | undefined =>
      [...payments.values()].findLast((each) => each.reference === reference),
    /** What happens at Adyen without a request, such as a chargeback. */
    report: notify,
    balance: (reference: string): bigint =>
      [...payments.values()]
        .filter((each) => each.reference === reference)
        .reduce((sum, { captured, refunded }) => sum + BigInt(captured - refunded), 0n),
    /** The webhooks since the last call, one per item as Adyen sends them. */
    webhooks: (): Webhook[] => queue.splice(0).map((item) => webhookOf([item])),
    combine: (webhooks: readonly Webhook[]): Webhook =>
      webhookOf(
        webhooks.flatMap(({ body }) =>
          JSON.parse(body.toString()).notificationItems.map((each: Json) => each.NotificationRequestItem as Item),
        ),
      ),
    sign,
    webhookOf,
    /** The webhook about the token of a payment, signed as a whole with a key of its own. */
    tokenWebhook(reference: string, key: string, type = 'recurring.token.created'): Webhook {
      const payment = [...payments.values()].findLast((each) => each.reference === reference);
      const event = {
        createdAt: '2026-11-16T10:00:00+01:00',
        environment: 'test',
        eventId: payment?.pspReference ?? '',
        type,
        version: '1',
        data: {
          merchantAccount: credentials.merchant_account,
          operation: 'created',
          shopperReference: payment?.shopper ?? '',
          storedPaymentMethodId: `TOKEN${payment?.pspReference}`,
          type: 'sepadirectdebit',
        },
      };
      const text = JSON.stringify(event);
      return {
        headers: { hmacsignature: new HmacValidator().calculateHmacSignature(text, key), protocol: 'HmacSHA256' },
        body: Buffer.from(text),
      };
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
