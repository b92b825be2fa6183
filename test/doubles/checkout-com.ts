/** A double of Checkout.com: its Payments API on loopback, with books of the money, signed webhooks and faults. */
import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PaymentRequest } from '../../src/connectors/checkout-com/types.ts';
import type { Fault, Webhook } from '../conformance/conforms.ts';
import { problemOf } from '../connectors/checkout-com/schemas.ts';
import { REFUSED_EMAIL } from '../support/submissions.ts';

type Json = Record<string, unknown>;

interface BookedAction {
  id: string;
  type: string;
  amount: number;
  approved: boolean;
  response_code: string;
  reference: string;
}

interface BookedPayment {
  id: string;
  request: PaymentRequest;
  status: string;
  actions: BookedAction[];
  sourceId: string;
  captured: number;
  refunded: number;
}

const CREDENTIALS = {
  secret_key: 'sk_sbox_double7kqy3ffm2gxb5o4sjvm',
  processing_channel_id: 'pc_ozdhi2aysxjebj6kumgzyrbo24',
  webhook_secret: 'a signature key of the webhook',
} as const;

/** A card that is approved, as any other, one with insufficient funds, and one whose payer is challenged. */
export const CHECKOUT_CARDS = {
  success: '4242424242424242',
  decline: '4544249167673670',
  challenge: '4543474002249996',
} as const;

/** The code with which a card is declined, by the name of its holder: `DECLINED 20051`. */
const DECLINED = /^DECLINED (\d{5})$/;

const newId = (prefix: string): string =>
  `${prefix}_${randomBytes(26).toString('hex').replaceAll(/[01]/g, 'z').slice(0, 26)}`;

export type CheckoutDouble = Awaited<ReturnType<typeof startCheckout>>;

export async function startCheckout() {
  const payments = new Map<string, BookedPayment>();
  const tokens = new Map<string, { declinesWith?: string | undefined }>();
  const answers = new Map<string, { request: string; answer: [number, Json] }>();
  const calls: { path: string; key: string | undefined; body: Json }[] = [];
  const violations: string[] = [];
  const queue: { id: string; type: string; data: Json }[] = [];
  const faults: Fault[] = [];

  const notify = (type: string, data: Json): void => {
    const { processing_channel_id } = CREDENTIALS;
    queue.push({ id: newId('evt'), type, data: { processing_channel_id, ...data } });
  };
  const act = (
    payment: BookedPayment,
    type: string,
    amount: number,
    code: string,
    reference?: string,
  ): BookedAction => {
    const approved = code === '10000';
    const action = {
      id: newId('act'),
      type,
      amount,
      approved,
      response_code: code,
      reference: reference ?? payment.request.reference,
    };
    payment.actions.unshift(action);
    return action;
  };
  const report = (type: string, payment: BookedPayment, action: BookedAction): void =>
    notify(type, {
      id: payment.id,
      action_id: action.id,
      reference: action.reference,
      amount: action.amount,
      currency: payment.request.currency,
      response_code: action.response_code,
    });
  const redirectOf = ({ id, status }: BookedPayment) =>
    status === 'Pending' ? { redirect: { href: `${url()}/3ds/${id}` } } : {};
  const view = (payment: BookedPayment): Json => {
    const { id, request, status, sourceId, captured, refunded, actions } = payment;
    const { amount, currency, reference, payment_type } = request;
    const { number: _, token: __, cvv: ___, cryptogram: ____, ...source } = request.source as Json;
    return {
      id,
      requested_on: '2026-11-16T10:00:00Z',
      amount,
      currency,
      reference,
      payment_type,
      status,
      approved: !['Declined', 'Pending'].includes(status),
      source: { ...source, id: sourceId },
      ...(status !== 'Pending' && { scheme_id: `${id.slice(4, 19)}` }),
      balances: { total_authorized: amount, total_captured: captured, total_refunded: refunded },
      actions: actions.map(({ id: action, type, response_code }) => ({ id: action, type, response_code })),
      _links: { self: { href: `${url()}/payments/${id}` }, ...redirectOf(payment) },
    };
  };
  const error = (status: number, type: string, ...codes: string[]): [number, Json] => [
    status,
    { request_id: randomBytes(8).toString('hex'), error_type: type, ...(codes.length > 0 && { error_codes: codes }) },
  ];

  const capture = (payment: BookedPayment, amount: number, reference?: string): BookedAction => {
    payment.captured = amount;
    payment.status = amount === payment.request.amount ? 'Captured' : 'Partially Captured';
    const action = act(payment, 'Capture', amount, '10000', reference);
    report('payment_captured', payment, action);
    return action;
  };
  const authorise = (payment: BookedPayment, code: string): BookedAction => {
    const action = act(payment, 'Authorization', payment.request.amount, code);
    payment.status = action.approved ? 'Authorized' : 'Declined';
    report(action.approved ? 'payment_approved' : 'payment_declined', payment, action);
    if (!action.approved) return action;
    tokens.set(payment.sourceId, {});
    if (payment.request.capture) capture(payment, payment.request.amount);
    return action;
  };

  const pay = (body: Json): [number, Json] => {
    const request = body as unknown as PaymentRequest;
    const { source, customer } = request;
    if (customer?.email === REFUSED_EMAIL) return error(422, 'request_invalid', 'customer_email_invalid');
    const stored = source.type === 'id' ? tokens.get(source.id) : undefined;
    if (source.type === 'id' && !stored) return error(422, 'request_invalid', 'source_id_unknown');
    const number = source.type === 'card' ? source.number : '';
    if (source.type === 'card' && number.length < 12) return error(422, 'request_invalid', 'card_number_invalid');
    const payment: BookedPayment = {
      id: newId('pay'),
      request,
      status: 'Pending',
      actions: [],
      sourceId: source.type === 'id' ? source.id : newId('src'),
      captured: 0,
      refunded: 0,
    };
    payments.set(payment.id, payment);
    if (number === CHECKOUT_CARDS.challenge && request['3ds']?.enabled) return [202, view(payment)];
    const holder = source.type === 'card' ? (source.name ?? '') : '';
    const declined = number === CHECKOUT_CARDS.decline ? '20051' : DECLINED.exec(holder)?.[1];
    const code = stored?.declinesWith ?? declined ?? '10000';
    const { id: action_id } = authorise(payment, code);
    // The capture happens after the answer.
    const status = code === '10000' ? 'Authorized' : 'Declined';
    const { actions: _, ...answer } = view(payment);
    const processing = code.startsWith('200') ? { partner_response_code: code.slice(3) } : {};
    return [201, { ...answer, action_id, status, response_code: code, processing }];
  };

  const operate = (payment: BookedPayment, kind: string, body: Json): [number, Json] => {
    const reference = String(body.reference);
    const amount = Number(body.amount ?? payment.request.amount);
    const accept = (action: BookedAction): [number, Json] => [202, { action_id: action.id, reference, _links: {} }];
    if (kind === 'captures') {
      if (payment.status !== 'Authorized') return error(403, 'request_forbidden');
      if (amount > payment.request.amount)
        return error(422, 'request_invalid', 'capture_value_greater_than_authorized');
      return accept(capture(payment, amount, reference));
    }
    if (kind === 'voids') {
      if (payment.status !== 'Authorized') return error(403, 'request_forbidden');
      payment.status = 'Voided';
      const action = act(payment, 'Void', payment.request.amount, '10000', reference);
      report('payment_voided', payment, action);
      return accept(action);
    }
    if (payment.captured === 0) return error(403, 'request_forbidden');
    if (payment.refunded + amount > payment.captured)
      return error(422, 'request_invalid', 'refund_amount_exceeds_balance');
    payment.refunded += amount;
    payment.status = payment.refunded === payment.captured ? 'Refunded' : 'Partially Refunded';
    const action = act(payment, 'Refund', amount, '10000', reference);
    report('payment_refunded', payment, action);
    return accept(action);
  };

  const process = (path: string, body: Json): [number, Json] => {
    const [, id = '', kind = ''] = /^\/payments\/(\w+)\/(\w+)$/.exec(path) ?? [];
    const problem = problemOf(kind || path.slice(1), body);
    if (problem !== undefined) violations.push(problem);
    if (path === '/payments') return pay(body);
    const payment = payments.get(id);
    return payment ? operate(payment, kind, body) : [404, {}];
  };

  /** Only successes are kept with their key. */
  const processOnce = (path: string, key: string | undefined, body: Json): [number, Json] => {
    const request = path + JSON.stringify(body);
    const known = key === undefined ? undefined : answers.get(key);
    if (known && known.request !== request) violations.push(`another request with the idempotency key ${key}`);
    if (known) return known.answer;
    const answer = process(path, body);
    if (key !== undefined && answer[0] < 300) answers.set(key, { request, answer });
    return answer;
  };

  const get = (path: string, query: URLSearchParams): [number, Json | Json[]] => {
    if (path === '/payments') {
      const data = [...payments.values()].filter(({ request }) => request.reference === query.get('reference'));
      return [200, { limit: 10, skip: 0, total_count: data.length, data: data.toReversed().map(view) }];
    }
    const [, id = '', kind] = /^\/payments\/(\w+)(\/actions)?$/.exec(path) ?? [];
    const payment = payments.get(id);
    if (!payment) return [404, {}];
    return [200, kind === undefined ? view(payment) : payment.actions.map((action) => ({ ...action }))];
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://double');
    const { method, headers } = request;
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (headers.authorization !== `Bearer ${CREDENTIALS.secret_key}`) return void response.writeHead(401).end();
    if (method === 'GET') return send(...get(pathname, searchParams));
    const body = JSON.parse(Buffer.concat(parts).toString()) as Json;
    const key = headers['cko-idempotency-key'] as string | undefined;
    calls.push({ path: pathname, key, body });
    if (key === undefined) violations.push(`${pathname}: no idempotency key`);
    const met = faults.shift();
    if (met === 'rate_limited') return send(429, {});
    if (met === 'error_500') return send(500, {});
    if (met === 'lost_before') return void request.socket.destroy();
    const answer = processOnce(pathname, key, body);
    if (met === 'lost_after') return void request.socket.destroy();
    send(...answer);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const webhookOf = (event: Json, secret: string = CREDENTIALS.webhook_secret): Webhook => {
    const body = Buffer.from(JSON.stringify(event));
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    return { headers: { 'content-type': 'application/json', 'cko-signature': signature }, body };
  };
  const byReference = (reference: string): BookedPayment | undefined =>
    [...payments.values()].findLast(({ request }) => request.reference === reference);

  return {
    url: url(),
    credentials: CREDENTIALS,
    calls,
    /** Requests outside of Checkout.com's limits, and misuses of idempotency keys. */
    violations,
    /** The next calls that move money meet these faults, in this order. */
    fault(...next: Fault[]): void {
      faults.push(...next);
    },
    payment: byReference,
    newToken(declinesWith?: string): string {
      const id = newId('src');
      tokens.set(id, { declinesWith });
      return id;
    },
    /** The payer passes the challenge, or not; returns the parameters of the return. */
    finish(page: string, code = '10000'): Record<string, string> {
      const payment = payments.get(page.slice(page.lastIndexOf('/') + 1));
      if (!payment) throw new Error(`There is no page ${page}.`);
      if (payment.status === 'Pending') authorise(payment, code);
      return { 'cko-session-id': newId('sid') };
    },
    /** An operation that somebody makes in the dashboard; it has the reference of the payment. */
    inDashboard(reference: string, kind: 'captures' | 'refunds' | 'voids', amount?: number): void {
      const payment = byReference(reference);
      if (payment) operate(payment, kind, { reference, ...(amount !== undefined && { amount }) });
    },
    /** What happens at Checkout.com without a request. */
    report: notify,
    dispute(reference: string, type: string, fields: Json = {}): void {
      const payment = byReference(reference);
      if (!payment) throw new Error('There is no such payment.');
      notify(`dispute_${type}`, {
        id: `dsp_${payment.id.slice(4, 24)}`,
        category: 'fraudulent',
        reason_code: '10.4',
        amount: payment.request.amount,
        currency: payment.request.currency,
        payment_id: payment.id,
        payment_reference: reference,
        payment_method: 'VISA',
        ...(type === 'evidence_required' && { evidence_required_by: '2026-12-01T18:00:00+00:00' }),
        ...fields,
      });
    },
    balance: (reference: string): bigint =>
      [...payments.values()]
        .filter(({ request }) => request.reference === reference)
        .reduce((sum, { captured, refunded }) => sum + BigInt(captured - refunded), 0n),
    webhooks: (): Webhook[] =>
      queue.splice(0).map((event) => webhookOf({ version: '1.0.29', created_on: '2026-11-16T10:00:00Z', ...event })),
    webhookOf,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
