/** A double of Mollie: its API over HTTP, with answers of the types of the SDK, and books of the money that it moved. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CaptureStatus,
  type CardFailureReason,
  PaymentMethod,
  PaymentStatus,
  RefundStatus,
  SequenceType,
} from '@mollie/api-client';
import type { CreditCardDetails } from '@mollie/api-client/dist/types/data/payments/data.d.ts';
import { minorUnits } from '../../src/lib/money/money.ts';
import { CURRENCIES } from '../../src/rules/currencies.ts';
import type { Fault } from '../conformance/conforms.ts';
import { requestValidator } from '../support/request-schemas.ts';
import { REFUSED_EMAIL } from '../support/submissions.ts';
import type { CaptureData, ChargebackData, CustomerData, PaymentData, RefundData } from './mollie-objects.ts';
import * as objects from './mollie-objects.ts';
import { ACCESS_TOKEN, withoutTokenFields } from './mollie-tokens.ts';
import { isWalletToken, REFUSED_WALLET } from './mollie-wallets.ts';

const { links, newName, url } = objects;

export const API_KEY = 'test_dHar4XY7LxsDOtmnkVtjNVWXLSlXsM';

interface Book {
  payment: PaymentData;
  refunds: RefundData[];
  captures: CaptureData[];
  chargebacks: ChargebackData[];
}

interface Customer {
  data: CustomerData;
  mandate: string | undefined;
  /** The first payment was made at a bank: repetitions are direct debits, which take days. */
  isDebited?: boolean;
  /** Repetitions fail for this reason. */
  failure: CardFailureReason | undefined;
}

/** A call that the double received. */
export interface ReceivedCall {
  name: string;
  idempotencyKey: string | undefined;
  body: Record<string, unknown>;
}

interface Reply {
  status: number;
  body?: unknown;
}

const refusal = (status: number, title: string, detail: string, field?: string): Reply => ({
  status,
  body: { status, title, detail, ...(field && { field }), _links: { documentation: url('https://docs.mollie.com') } },
});
const notFound = refusal(404, 'Not Found', 'No such object exists.');
const unprocessable = (detail: string, field?: string): Reply => refusal(422, 'Unprocessable Entity', detail, field);

const minor = ({ currency, value }: { currency: string; value: string }): bigint => {
  const amount = minorUnits(value.replace('-', ''), CURRENCIES[currency]?.exponent ?? 2);
  return typeof amount === 'bigint' ? (value.startsWith('-') ? -amount : amount) : 0n;
};
const sum = (list: readonly { amount: { currency: string; value: string } }[]): bigint =>
  list.reduce((total, { amount }) => total + minor(amount), 0n);

/** Mollie insists on the decimals of the currency. */
const hasRightDecimals = ({ currency, value }: { currency: string; value: string }): boolean => {
  const exponent = CURRENCIES[currency]?.exponent ?? 2;
  return new RegExp(exponent === 0 ? '^\\d+$' : `^\\d+\\.\\d{${exponent}}$`).test(value);
};

/** Mollie answers 503 while the supplier of a method is down. */
export type MollieFault = Fault | 'error_503';

export interface MollieDouble {
  url: string;
  calls: ReceivedCall[];
  /** Requests that the schemas refuse. */
  violations: string[];
  /** The methods that are active in the profile. */
  activeMethods: PaymentMethod[];
  /** The domains for which Apple Pay has validated the file of Mollie. */
  domains: string[];
  /** The next calls that move money meet these faults, one each. */
  fault(...faults: MollieFault[]): void;
  /** Mollie keeps the answers of idempotency keys for an hour. */
  forgetKeys(): void;
  /** The next refund is refused because an equal one was made a moment ago. */
  conflictRefund(): void;
  /** The next refund stays pending until `settleRefunds` ends all of them. */
  delayRefund(): void;
  settleRefunds(status?: RefundStatus): Promise<void>;
  /** The next release is accepted, but the bank does not carry it out. */
  ignoreRelease(): void;
  /** A customer with a mandate, as a first payment leaves one. */
  newCustomer(failure?: CardFailureReason): { customer: string; mandate: string };
  /** What the payer, or the bank, does with a payment; `notify` sends the webhook of it. */
  finish(id: string, status: PaymentStatus, failure?: CardFailureReason): void;
  /** The payer pays, or agrees that the amount is held. */
  pay(id: string): void;
  /** What the operator does in the web app of Mollie. */
  captureElsewhere(id: string, value: string): void;
  refundElsewhere(id: string, value: string): RefundData;
  newChargeback(id: string): ChargebackData;
  notify(id: string): Promise<void>;
  /** Another payment like this one, with another reference. */
  copy(reference: string): void;
  /** The payment with our reference. */
  find(reference: string): Book | undefined;
  findAll(reference: string): Book[];
  balance(reference: string): bigint;
  close(): Promise<void>;
}

export async function startMollie(): Promise<MollieDouble> {
  const validate = requestValidator('mollie');
  const books = new Map<string, Book>();
  const customers = new Map<string, Customer>();
  const replies = new Map<string, Reply>();
  const calls: ReceivedCall[] = [];
  const violations: string[] = [];
  const activeMethods = ACTIVE_METHODS.slice();
  const domains: string[] = [];
  const faults: MollieFault[] = [];
  let isDelayed = false;
  let isConflict = false;
  let isIgnored = false;
  let base = '';

  const newPayment = (sent: Record<string, unknown>): Reply => {
    const { amount, sequenceType = SequenceType.oneoff, customerId, mandateId } = sent as unknown as PaymentData;
    if (!hasRightDecimals(amount)) return unprocessable('The amount contains an invalid value.', 'amount');
    const customer = customerId === undefined ? undefined : customers.get(customerId);
    if (customerId !== undefined && !customer) return notFound;
    const isRepetition = sequenceType === SequenceType.recurring;
    if (sequenceType !== SequenceType.oneoff && !customer)
      return unprocessable('A customer is required.', 'customerId');
    if (isRepetition && (!customer?.mandate || (mandateId ?? customer.mandate) !== customer.mandate))
      return unprocessable('The customer has no suitable mandates.', 'mandateId');
    if (!isRepetition && !sent.redirectUrl) return unprocessable('The redirect URL is missing.', 'redirectUrl');
    const lines = sent.lines as PaymentData['lines'];
    if (NEEDS_LINES.includes(String(sent.method)) && !lines)
      return unprocessable('The payment lines are required for this method.', 'lines');
    if (lines && lines.reduce((total, { totalAmount }) => total + minor(totalAmount), 0n) !== minor(amount))
      return unprocessable('The amount is not the sum of the lines.', 'lines');
    const {
      email,
      givenName = 'xx',
      familyName = 'xx',
      country = 'XX',
    } = (sent.billingAddress ?? {}) as Record<string, string>;
    if ([givenName, familyName].some(({ length }) => length < 2) || !/^[A-Z]{2}$/.test(country))
      return unprocessable('The billing address is invalid.', 'billingAddress');
    if (email === REFUSED_EMAIL) return unprocessable('The email address is invalid.', 'billingAddress.email');
    if (sent.method === 'riverty' && sent.captureMode !== 'manual')
      return unprocessable('The method has to be captured manually.', 'captureMode');
    if (sent.method === PaymentMethod.alma) return unprocessable('The method is not activated.', 'method');
    const token = sent.applePayPaymentToken ?? sent.googlePayPaymentToken;
    if (token !== undefined && !isWalletToken(sent)) return unprocessable('The token is invalid.', 'method');
    const payment = objects.payment(
      sent as unknown as PaymentData,
      isRepetition || token !== undefined ? undefined : (id) => `${base}/checkout/${id}`,
    );
    books.set(payment.id, { payment, refunds: [], captures: [], chargebacks: [] });
    if (token !== undefined) {
      const isRefused = String(token).includes(REFUSED_WALLET);
      setStatus(
        payment,
        isRefused ? PaymentStatus.failed : PaymentStatus.paid,
        isRefused ? ('insufficient_funds' as CardFailureReason) : undefined,
      );
    }
    if (isRepetition) {
      const paid = customer?.isDebited ? PaymentStatus.pending : PaymentStatus.paid;
      const status = payment.captureMode ? PaymentStatus.authorized : paid;
      if (customer?.isDebited) payment.method = PaymentMethod.directdebit;
      setStatus(payment, customer?.failure ? PaymentStatus.failed : status, customer?.failure);
    }
    return { status: 201, body: payment };
  };

  const setStatus = (payment: PaymentData, status: PaymentStatus, failure?: CardFailureReason): void => {
    payment.status = status;
    payment.isCancelable = status === PaymentStatus.open;
    delete payment._links.checkout;
    if (failure !== undefined) payment.details = { failureReason: failure } as CreditCardDetails;
    const customer = payment.customerId === undefined ? undefined : customers.get(payment.customerId);
    if (customer && status === PaymentStatus.paid) {
      customer.mandate ??= newName('mdt');
      customer.isDebited = AT_BANKS.includes(String(payment.method));
      payment.mandateId = customer.mandate;
    }
  };

  const heldBy = ({ payment, captures, refunds }: Book): bigint => {
    if (payment.status !== PaymentStatus.paid && captures.length === 0) return 0n;
    const taken = payment.captureMode ? sum(captures) : minor(payment.amount);
    return taken - sum(refunds.filter(({ status }) => status !== RefundStatus.failed));
  };

  const newRefund = (book: Book, sent: Record<string, unknown>): Reply => {
    if (isConflict) {
      isConflict = false;
      return refusal(409, 'Conflict', 'A duplicate refund has been detected.');
    }
    const { amount, description = '', metadata } = sent as unknown as RefundData;
    if (!hasRightDecimals(amount)) return unprocessable('The amount contains an invalid value.', 'amount');
    if (minor(amount) > heldBy(book)) return unprocessable('The amount is higher than the maximum.', 'amount');
    const status = isDelayed ? RefundStatus.pending : RefundStatus.refunded;
    const refund = objects.refund({ amount, description, metadata, status, paymentId: book.payment.id });
    isDelayed = false;
    book.refunds.push(refund);
    return { status: 201, body: refund };
  };

  const newCapture = (book: Book, sent: Record<string, unknown>): Reply => {
    const { amount = book.payment.amount, description = '', metadata } = sent as Partial<CaptureData>;
    if (book.payment.status !== PaymentStatus.authorized) return unprocessable('The payment is not authorized.');
    if (minor(amount) > minor(book.payment.amount)) return unprocessable('The amount is too high.', 'amount');
    const capture = objects.capture({ amount, description, metadata, paymentId: book.payment.id });
    book.captures.push(capture);
    book.payment.amountCaptured = amount;
    if (minor(amount) === minor(book.payment.amount)) setStatus(book.payment, PaymentStatus.paid);
    // Mollie answers before the capture is done.
    return { status: 201, body: { ...capture, status: CaptureStatus.pending } };
  };

  const release = (book: Book): Reply => {
    if (book.payment.status !== PaymentStatus.authorized) return unprocessable('There is nothing to release.');
    if (!isIgnored) setStatus(book.payment, book.captures.length > 0 ? PaymentStatus.paid : PaymentStatus.canceled);
    isIgnored = false;
    return { status: 202 };
  };

  const cancel = ({ payment }: Book): Reply => {
    if (!payment.isCancelable) return unprocessable('The payment cannot be canceled.');
    setStatus(payment, PaymentStatus.canceled);
    return { status: 200, body: payment };
  };

  const page = (name: string, list: readonly unknown[], from: string | null, limit: number): Reply => {
    const start = from === null ? 0 : list.findIndex((each) => (each as { id: string }).id === from);
    const next = (list[start + limit] as { id: string } | undefined)?.id;
    return {
      status: 200,
      body: {
        count: list.slice(start, start + limit).length,
        _embedded: { [name]: list.slice(start, start + limit) },
        _links: {
          ...links(),
          previous: null,
          next: next ? url(`${base}/v2/${name}?from=${next}&limit=${limit}`) : null,
        },
      },
    };
  };

  /** The name of the request, and what Mollie answers. */
  const route = (
    method: string,
    path: string,
    query: URLSearchParams,
    body: Record<string, unknown>,
  ): [string, () => Reply] | undefined => {
    const [what, id = '', part, partId] = path.replace(/^\/v2\//, '').split('/');
    const book = books.get(id);
    const on = (act: (book: Book) => Reply) => (): Reply => (book ? act(book) : notFound);
    const listed = (name: string, list: readonly unknown[]) => (): Reply =>
      page(name, list, query.get('from'), Number(query.get('limit') ?? 50));
    const name = [method, what, id && ':id', part, partId && ':id'].filter(Boolean).join(' ');
    const routes: Record<string, [string, () => Reply]> = {
      'GET methods': ['MethodList', listed('methods', activeMethods.map(objects.method))],
      'POST customers': ['CustomerCreate', () => newCustomer(body)],
      'GET customers :id payments': [
        'CustomerPayments',
        () => (customers.has(id) ? listed('payments', paymentsOf(id))() : notFound),
      ],
      'POST wallets :id sessions': ['SessionCreate', () => newSession(body as Record<string, string>)],
      'POST payments': ['PaymentCreate', () => newPayment(body)],
      'GET payments': [
        'PaymentList',
        listed('payments', [...books.values()].map(({ payment }) => payment).toReversed()),
      ],
      'GET payments :id': [
        'PaymentGet',
        on(({ payment, chargebacks, refunds }) => {
          const embedded = query.get('embed')?.split(',') ?? [];
          const all = Object.entries({ chargebacks, refunds }).filter(([name]) => embedded.includes(name));
          return { status: 200, body: { ...payment, ...(all.length > 0 && { _embedded: Object.fromEntries(all) }) } };
        }),
      ],
      'DELETE payments :id': ['PaymentCancel', on(cancel)],
      'POST payments :id release-authorization': ['PaymentRelease', on(release)],
      'POST payments :id refunds': ['RefundCreate', on((each) => newRefund(each, body))],
      'GET payments :id refunds': ['RefundList', on(({ refunds }) => listed('refunds', refunds)())],
      'POST payments :id captures': ['CaptureCreate', on((each) => newCapture(each, body))],
      'GET payments :id captures': ['CaptureList', on(({ captures }) => listed('captures', captures)())],
    };
    return routes[name];
  };

  /** The newest first. */
  const paymentsOf = (customer: string): PaymentData[] =>
    [...books.values()]
      .map(({ payment }) => payment)
      .filter(({ customerId }) => customerId === customer)
      .toReversed();

  const newCustomer = (sent: Partial<CustomerData>): Reply => {
    if (sent.email === REFUSED_EMAIL) return unprocessable('The email address is invalid.', 'email');
    const data = objects.customer(sent);
    customers.set(data.id, { data, mandate: undefined, failure: undefined });
    return { status: 201, body: data };
  };

  const newSession = ({ validationUrl = '', domain = '' }: Record<string, string>): Reply =>
    objects.APPLE_HOST.test(validationUrl) && domains.includes(domain)
      ? { status: 201, body: objects.session(domain) }
      : unprocessable('Apple Pay is not enabled for this domain.', 'domain');

  /** Each idempotency key gets the answer of its first call. */
  const once = (key: string | undefined, act: () => Reply): Reply => {
    const reply = (key !== undefined && replies.get(key)) || act();
    // As the payment was then: later changes do not show.
    if (key !== undefined) replies.set(key, structuredClone(reply));
    return reply;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { method = '', headers } = request;
    const { pathname, searchParams } = new URL(request.url ?? '', base);
    const body = parts.length === 0 ? {} : JSON.parse(Buffer.concat(parts).toString());
    const send = ({ status, body: content }: Reply): void => {
      response.writeHead(status, { 'content-type': 'application/hal+json' });
      response.end(content === undefined ? '' : JSON.stringify(content));
    };
    const isOrganisation = headers.authorization === `Bearer ${ACCESS_TOKEN}`;
    if (!isOrganisation && headers.authorization !== `Bearer ${API_KEY}`)
      return send(refusal(401, 'Unauthorized Request', 'Missing authentication, or failed to authenticate'));
    const found = route(method, pathname, searchParams, body);
    if (!found) {
      violations.push(`There is no call ${method} ${pathname}.`);
      return send(notFound);
    }
    const [name, act] = found;
    const key = headers['idempotency-key'] as string | undefined;
    calls.push({ name, idempotencyKey: key, body });
    const sent = method === 'GET' ? readQuery(searchParams) : body;
    const { fields, problem } = isOrganisation ? withoutTokenFields(name, sent) : { fields: sent };
    const violation = problem ?? validate(name, fields);
    if (violation !== undefined) {
      violations.push(violation);
      return send(unprocessable(violation));
    }
    const current = MOVES_MONEY.includes(name) ? faults.shift() : undefined;
    if (current === 'lost_before') return void request.socket.destroy();
    if (current === 'error_500') return send(refusal(500, 'Internal Server Error', 'Something went wrong.'));
    if (current === 'error_503') return send(refusal(503, 'Service Unavailable', 'The payment platform is down.'));
    if (current === 'rate_limited') return send(refusal(429, 'Too Many Requests', 'Slow down.'));
    const reply = once(key, act);
    if (current === 'lost_after') return void request.socket.destroy();
    send(reply);
  };

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const bookOf = (id: string): Book => {
    const book = books.get(id);
    if (!book) throw new Error(`There is no payment ${id}.`);
    return book;
  };
  const findAll = (reference: string): Book[] =>
    [...books.values()].filter(
      ({ payment: { metadata } }) => (metadata as { reference: string } | null)?.reference === reference,
    );
  const find = (reference: string): Book | undefined => findAll(reference)[0];
  const notify = async (id: string): Promise<void> => {
    const { webhookUrl } = bookOf(id).payment;
    if (webhookUrl === undefined) return;
    const { status } = await fetch(webhookUrl, { method: 'POST', body: new URLSearchParams({ id }) });
    if (status !== 200) throw new Error(`The webhook was answered with ${status}.`);
  };

  return {
    url: base,
    calls,
    violations,
    activeMethods,
    domains,
    fault: (...next) => void faults.push(...next),
    forgetKeys: () => replies.clear(),
    conflictRefund: () => {
      isConflict = true;
    },
    delayRefund: () => {
      isDelayed = true;
    },
    async settleRefunds(status = RefundStatus.refunded) {
      const open = [...books.values()].flatMap(({ refunds }) => refunds).filter(isPending);
      for (const refund of open) refund.status = status;
      for (const { paymentId } of open) await notify(paymentId);
    },
    ignoreRelease: () => {
      isIgnored = true;
    },
    newCustomer(failure) {
      const { id } = newCustomer({}).body as CustomerData;
      const mandate = newName('mdt');
      Object.assign(customers.get(id) as Customer, { mandate, failure });
      return { customer: id, mandate };
    },
    finish: (id, status, failure) => setStatus(bookOf(id).payment, status, failure),
    pay(id) {
      const { payment } = bookOf(id);
      if (payment.status !== PaymentStatus.open) return;
      setStatus(payment, payment.captureMode ? PaymentStatus.authorized : PaymentStatus.paid);
    },
    captureElsewhere: (id, value) => {
      const book = bookOf(id);
      newCapture(book, { amount: { ...book.payment.amount, value } });
      release(book);
    },
    refundElsewhere(id, value) {
      const book = bookOf(id);
      return newRefund(book, { amount: { ...book.payment.amount, value } }).body as RefundData;
    },
    newChargeback(id) {
      const { payment, chargebacks } = bookOf(id);
      const chargeback = objects.chargeback(payment);
      chargebacks.push(chargeback);
      return chargeback;
    },
    copy(reference) {
      const { payment } = find(reference) as Book;
      const id = newName('tr');
      books.set(id, { payment: { ...payment, id, metadata: null }, refunds: [], captures: [], chargebacks: [] });
    },
    notify,
    find,
    findAll,
    balance: (reference) => {
      const book = find(reference);
      return book ? heldBy(book) : 0n;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Wallets are listed only on request. */
const ACTIVE_METHODS = [
  ...[PaymentMethod.ideal, PaymentMethod.creditcard, PaymentMethod.bancontact, PaymentMethod.blik],
  ...[PaymentMethod.paypal, PaymentMethod.klarna, PaymentMethod.przelewy24, PaymentMethod.eps, PaymentMethod.twint],
  ...[PaymentMethod.swish, PaymentMethod.mobilepay, PaymentMethod.mbway],
];

const AT_BANKS: readonly string[] = [PaymentMethod.ideal, PaymentMethod.bancontact, PaymentMethod.eps, 'directdebit'];

const NEEDS_LINES: readonly string[] = ['klarna', 'billie', 'riverty', 'in3', 'billink', 'voucher'];

const MOVES_MONEY: readonly string[] = ['PaymentCreate', 'RefundCreate', 'CaptureCreate'];

const isPending = ({ status }: RefundData): boolean => status === RefundStatus.pending;

/** The parameters of a query as the types have them. */
const readQuery = (query: URLSearchParams): Record<string, unknown> =>
  Object.fromEntries(
    [...query].map(([name, value]) => [
      name,
      name === 'limit' ? Number(value) : name === 'embed' ? value.split(',') : value,
    ]),
  );
