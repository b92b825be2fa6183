/** A double of PayPal: its Orders, Payments and Webhooks APIs on loopback, with access tokens, books of the money and signed webhooks. */
import { randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';
import type { Money, OrderRequest } from '../../src/connectors/paypal/types.ts';
import type { Fault, Webhook } from '../conformance/conforms.ts';
import { problemOf } from '../connectors/paypal/schemas.ts';
import { selfSigned } from '../support/certificate.ts';
import { REFUSED_EMAIL } from '../support/submissions.ts';

type Json = Record<string, unknown>;

interface Entry {
  id: string;
  status: string;
  amount: Money;
  custom_id: string;
  /** The capture of a refund, or the authorisation of a capture. */
  parent?: string;
}

interface BookedOrder {
  id: string;
  request: OrderRequest;
  status: string;
  /** The issue with which the next capture is refused. */
  declinesWith?: string;
  authorizations: Entry[];
  captures: Entry[];
  refunds: Entry[];
  vaultId?: string;
}

const CREDENTIALS = {
  client_id: 'AeA1QIZXiflr1-double',
  client_secret: 'ECYYrrSHdKfk-double',
  webhook_id: '9XL90610J3647323C',
} as const;

const newCertificate = () => selfSigned(['messageverificationcerts.paypal.com'], 30, 'rsa');
/** The certificate that signs webhooks, and the one after it, by the ids that their addresses end with. */
const CERTIFICATES = {
  now: { id: 'CERT-360caa42-fca2a594-a5cafa77', ...newCertificate() },
  next: { id: 'CERT-360caa42-fca2a594-df8cd2d5', ...newCertificate() },
};

const minor = ({ value }: Money): bigint => BigInt(value.replace('.', ''));
const money = (amount: bigint, currency_code: string): Money => ({
  currency_code,
  value: `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`,
});
/** The error that a request asks for, for a test of its handling. */
const mockedIn = (header: string | undefined): string | undefined =>
  header === undefined ? undefined : JSON.parse(header).mock_application_codes;
const newId = (): string => randomBytes(9).toString('hex').slice(0, 17).toUpperCase();

export type PaypalDouble = Awaited<ReturnType<typeof startPaypal>>;

export async function startPaypal() {
  const orders = new Map<string, BookedOrder>();
  const vault = new Map<string, { declinesWith?: string | undefined }>();
  const tokens = new Set<string>();
  /** By idempotency key: the request, and how it is answered again. */
  const answers = new Map<string, { request: string; answer: () => [number, Json] }>();
  const calls: { method: string; path: string; key: string | undefined; body: Json }[] = [];
  const violations: string[] = [];
  const queue: { type: string; resource: Json; resource_type: string }[] = [];
  const faults: Fault[] = [];
  const tokenFaults: true[] = [];
  const events = { types: ['*'] };
  let tokenCalls = 0;
  let isRefundDelayed = false;
  let isVaultDelayed = false;
  const delayed: Entry[] = [];

  const notify = (type: string, resource: Json, resource_type = 'capture'): void => {
    queue.push({ type, resource, resource_type });
  };
  const linksOf = (entry: Entry, kind: string) => [
    { rel: 'self', method: 'GET', href: `${url()}/v2/payments/${kind}/${entry.id}` },
    ...(entry.parent === undefined
      ? []
      : [
          {
            rel: 'up',
            method: 'GET',
            href: `${url()}/v2/payments/${kind === 'refunds' ? 'captures' : 'authorizations'}/${entry.parent}`,
          },
        ]),
  ];
  const unitOf = ({ request }: BookedOrder) => request.purchase_units[0];
  const captureView = (order: BookedOrder, entry: Entry) => {
    const { parent: authorization_id, ...view } = entry;
    const fee = money((minor(entry.amount) * 3n) / 100n, entry.amount.currency_code);
    return {
      ...view,
      invoice_id: unitOf(order).invoice_id,
      final_capture: true,
      seller_protection: { status: 'NOT_ELIGIBLE' },
      seller_receivable_breakdown: { gross_amount: entry.amount, paypal_fee: fee },
      supplementary_data: { related_ids: { order_id: order.id, ...(authorization_id && { authorization_id }) } },
      create_time: '2026-11-16T10:00:00Z',
      links: linksOf(entry, 'captures'),
    };
  };
  const authorizationView = (order: BookedOrder, entry: Entry) => ({
    ...entry,
    invoice_id: unitOf(order).invoice_id,
    expiration_time: '2026-12-15T10:00:00Z',
    supplementary_data: { related_ids: { order_id: order.id } },
    links: linksOf(entry, 'authorizations'),
  });
  const refundView = (order: BookedOrder, entry: Entry) => {
    const { parent: _, ...view } = entry;
    return { ...view, invoice_id: unitOf(order).invoice_id, links: linksOf(entry, 'refunds') };
  };
  const orderView = (order: BookedOrder) => {
    const { id, status, request, authorizations, captures, refunds } = order;
    const hasPayments = authorizations.length + captures.length > 0;
    return {
      id,
      status,
      intent: request.intent,
      purchase_units: request.purchase_units.map((unit) => ({
        reference_id: 'default',
        ...unit,
        ...(hasPayments && {
          payments: {
            ...(authorizations.length > 0 && {
              authorizations: authorizations.map((entry) => authorizationView(order, entry)),
            }),
            ...(captures.length > 0 && { captures: captures.map((entry) => captureView(order, entry)) }),
            ...(refunds.length > 0 && { refunds: refunds.map((entry) => refundView(order, entry)) }),
          },
        }),
      })),
      ...(request.payment_source && {
        payment_source: {
          paypal: {
            email_address: 'buyer@example.com',
            ...(order.vaultId !== undefined && {
              attributes: { vault: { id: order.vaultId, status: 'VAULTED', customer: { id: 'customer' } } },
            }),
          },
        },
      }),
      links: [
        { rel: 'self', href: `${url()}/v2/checkout/orders/${id}`, method: 'GET' },
        ...(status === 'PAYER_ACTION_REQUIRED'
          ? [{ rel: 'payer-action', href: `${url()}/checkoutnow?token=${id}`, method: 'GET' }]
          : []),
      ],
    };
  };
  const error = (status: number, name: string, issue?: string): [number, Json] => [
    status,
    {
      name,
      message: 'The request could not be processed.',
      debug_id: newId().toLowerCase(),
      ...(issue !== undefined && { details: [{ issue, description: 'A description.' }] }),
      links: [],
    },
  ];
  const refused = (issue: string): [number, Json] => error(422, 'UNPROCESSABLE_ENTITY', issue);
  const notFound = (): [number, Json] => error(404, 'RESOURCE_NOT_FOUND', 'INVALID_RESOURCE_ID');

  const create = (body: Json): [number, Json] => {
    const request = body as unknown as OrderRequest;
    if (request.payment_source?.paypal.email_address === REFUSED_EMAIL)
      return error(400, 'INVALID_REQUEST', 'INVALID_PARAMETER_SYNTAX');
    const status = request.payment_source ? 'PAYER_ACTION_REQUIRED' : 'CREATED';
    const order: BookedOrder = { id: newId(), request, status, authorizations: [], captures: [], refunds: [] };
    orders.set(order.id, order);
    return [201, orderView(order)];
  };

  const isPaid = ({ authorizations, captures }: BookedOrder): boolean => authorizations.length + captures.length > 0;
  const newCapture = (order: BookedOrder, amount: Money, parent?: string): Entry => {
    const { custom_id } = unitOf(order);
    const entry = { id: newId(), status: 'COMPLETED', amount, custom_id, ...(parent !== undefined && { parent }) };
    order.captures.push(entry);
    notify('PAYMENT.CAPTURE.COMPLETED', captureView(order, entry));
    return entry;
  };

  const complete = (order: BookedOrder, step: string, body: Json): [number, Json] => {
    const source = body.payment_source as { paypal: { vault_id: string } } | undefined;
    const isCapture = step === 'capture';
    if (order.request.intent !== (isCapture ? 'CAPTURE' : 'AUTHORIZE')) return refused('ACTION_DOES_NOT_MATCH_INTENT');
    if (isPaid(order)) return refused(isCapture ? 'ORDER_ALREADY_CAPTURED' : 'ORDER_ALREADY_AUTHORIZED');
    const token = source && vault.get(source.paypal.vault_id);
    if (source && !token) return refused('TOKEN_ID_NOT_FOUND');
    if (!source && order.status !== 'APPROVED') return refused('ORDER_NOT_APPROVED');
    const { invoice_id, custom_id, amount } = unitOf(order);
    if ([...orders.values()].some((each) => isPaid(each) && unitOf(each).invoice_id === invoice_id))
      return refused('DUPLICATE_INVOICE_ID');
    const issue = token?.declinesWith ?? order.declinesWith;
    if (issue !== undefined) return refused(issue);
    order.status = 'COMPLETED';
    if (isCapture) newCapture(order, amount);
    else {
      const entry = { id: newId(), status: 'CREATED', amount, custom_id };
      order.authorizations.push(entry);
      notify('PAYMENT.AUTHORIZATION.CREATED', authorizationView(order, entry), 'authorization');
    }
    if (order.request.payment_source?.paypal.attributes?.vault) {
      const id = newId().toLowerCase();
      vault.set(id, {});
      if (!isVaultDelayed) order.vaultId = id;
      else setVault.push(() => Object.assign(order, { vaultId: id }));
    }
    return [201, orderView(order)];
  };
  /** Tokens that PayPal stores later. */
  const setVault: (() => void)[] = [];

  const find = (list: 'authorizations' | 'captures' | 'refunds', id: string): [BookedOrder, Entry] | undefined => {
    for (const order of orders.values()) {
      const entry = order[list].find((each) => each.id === id);
      if (entry) return [order, entry];
    }
    return undefined;
  };

  const captureAuthorization = (id: string, body: Json): [number, Json] => {
    const [order, authorization] = find('authorizations', id) ?? [];
    if (!order || !authorization) return notFound();
    if (authorization.status === 'VOIDED') return refused('AUTHORIZATION_VOIDED');
    if (authorization.status !== 'CREATED') return refused('AUTHORIZATION_ALREADY_CAPTURED');
    const amount = (body.amount ?? authorization.amount) as Money;
    // PayPal takes up to 115 percent.
    if (minor(amount) * 100n > minor(authorization.amount) * 115n) return refused('MAX_CAPTURE_AMOUNT_EXCEEDED');
    authorization.status = body.final_capture === true ? 'CAPTURED' : 'PARTIALLY_CAPTURED';
    return [201, captureView(order, newCapture(order, amount, id))];
  };
  const voidAuthorization = (id: string): [number, Json] => {
    const [order, authorization] = find('authorizations', id) ?? [];
    if (!order || !authorization) return notFound();
    if (authorization.status === 'VOIDED') return refused('PREVIOUSLY_VOIDED');
    if (authorization.status !== 'CREATED') return refused('PREVIOUSLY_CAPTURED');
    authorization.status = 'VOIDED';
    notify('PAYMENT.AUTHORIZATION.VOIDED', authorizationView(order, authorization), 'authorization');
    return [200, authorizationView(order, authorization)];
  };
  const settle = (order: BookedOrder, entry: Entry, status: string): void => {
    entry.status = status;
    const capture = order.captures.find(({ id }) => id === entry.parent);
    if (capture && status === 'COMPLETED') {
      const isWhole = refundedOf(order) === minor(capture.amount);
      capture.status = isWhole ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
      notify('PAYMENT.CAPTURE.REFUNDED', refundView(order, entry), 'refund');
    } else notify('PAYMENT.REFUND.FAILED', refundView(order, entry), 'refund');
  };
  const refundedOf = ({ refunds }: BookedOrder, statuses = ['COMPLETED']): bigint =>
    refunds.filter(({ status }) => statuses.includes(status)).reduce((sum, { amount }) => sum + minor(amount), 0n);
  const refund = (id: string, body: Json): [number, Json] => {
    const [order, capture] = find('captures', id) ?? [];
    if (!order || !capture) return notFound();
    const amount = (body.amount ?? capture.amount) as Money;
    if (refundedOf(order, ['COMPLETED', 'PENDING']) + minor(amount) > minor(capture.amount))
      return refused('REFUND_AMOUNT_EXCEEDED');
    const custom_id = String(body.custom_id);
    const entry: Entry = { id: newId(), status: 'PENDING', amount, custom_id, parent: id };
    order.refunds.push(entry);
    if (isRefundDelayed) {
      delayed.push(entry);
      notify('PAYMENT.REFUND.PENDING', refundView(order, entry), 'refund');
    } else settle(order, entry, 'COMPLETED');
    isRefundDelayed = false;
    return [201, refundView(order, entry)];
  };

  const post = (
    path: string,
    body: Json,
  ): { name: string; perform: () => [number, Json]; again?: () => [number, Json] } => {
    const [, orderId = '', step = ''] = /^\/v2\/checkout\/orders\/(\w+)\/(\w+)$/.exec(path) ?? [];
    const [, kind = '', id = '', verb = ''] = /^\/v2\/payments\/(\w+)\/(\w+)\/(\w+)$/.exec(path) ?? [];
    if (path === '/v2/checkout/orders') return { name: 'create', perform: () => create(body) };
    const order = orders.get(orderId);
    if (order) return { name: step, perform: () => complete(order, step, body) };
    const operations: Record<string, () => [number, Json]> = {
      'authorizations capture': () => captureAuthorization(id, body),
      'authorizations void': () => voidAuthorization(id),
      'captures refund': () => refund(id, body),
    };
    return { name: `${kind} ${verb}`, perform: operations[`${kind} ${verb}`] ?? notFound };
  };

  const get = (path: string): [number, Json] => {
    const [, orderId = ''] = /^\/v2\/checkout\/orders\/(\w+)$/.exec(path) ?? [];
    const [, kind = '', id = ''] = /^\/v2\/payments\/(authorizations|captures|refunds)\/(\w+)$/.exec(path) ?? [];
    const order = orders.get(orderId);
    if (order) return [200, orderView(order)];
    if (path === `/v1/notifications/webhooks/${CREDENTIALS.webhook_id}`)
      return [200, { id: CREDENTIALS.webhook_id, event_types: events.types.map((name) => ({ name })) }];
    const [owner, entry] = (kind === '' ? undefined : find(kind as 'refunds', id)) ?? [];
    if (!owner || !entry) return notFound();
    const views = { authorizations: authorizationView, captures: captureView, refunds: refundView };
    return [200, views[kind as keyof typeof views](owner, entry)];
  };

  /** Processes a request once per idempotency key; an order is returned as it is now. */
  const processOnce = (path: string, key: string | undefined, body: Json): [number, Json] => {
    const request = path + JSON.stringify(body);
    const known = key === undefined ? undefined : answers.get(key);
    if (known && known.request !== request) violations.push(`another request with the idempotency key ${key}`);
    if (known) return known.answer();
    const { name, perform } = post(path, body);
    const problem = problemOf(name, body);
    if (problem !== undefined) violations.push(problem);
    const processed = perform();
    const created = name === 'create' ? orders.get(String(processed[1].id)) : undefined;
    // A refusal is not kept.
    if (key !== undefined && processed[0] < 300)
      answers.set(key, { request, answer: () => (created ? [200, orderView(created)] : processed) });
    return processed;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const { pathname } = new URL(request.url ?? '', 'http://double');
    const { method = '', headers } = request;
    const send = (status: number, body: Json): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (pathname.startsWith('/v1/notifications/certs/')) {
      const found = Object.values(CERTIFICATES).find(({ id }) => pathname.endsWith(`/${id}`));
      return void response.writeHead(found ? 200 : 404).end(found?.cert);
    }
    if (pathname === '/v1/oauth2/token') {
      const login = Buffer.from(`${CREDENTIALS.client_id}:${CREDENTIALS.client_secret}`).toString('base64');
      tokenCalls++;
      if (tokenFaults.shift()) return void response.writeHead(429, { 'retry-after': '0' }).end('{}');
      if (headers.authorization !== `Basic ${login}` || text !== 'grant_type=client_credentials')
        return send(401, { error: 'invalid_client', error_description: 'Client Authentication failed' });
      const access_token = `A21AA${randomBytes(24).toString('base64url')}`;
      tokens.add(access_token);
      return send(200, { scope: '', access_token, token_type: 'Bearer', app_id: 'APP-1', expires_in: 32_400 });
    }
    if (!tokens.has(headers.authorization?.replace('Bearer ', '') ?? ''))
      return send(401, { error: 'invalid_token', error_description: 'Token signature verification failed' });
    if (method === 'GET') return send(...get(pathname));
    const body = JSON.parse(text) as Json;
    const key = headers['paypal-request-id'] as string | undefined;
    calls.push({ method, path: pathname, key, body });
    if (key === undefined || key.length > 108) violations.push(`${pathname}: no valid PayPal-Request-Id`);
    const mocked = mockedIn(headers['paypal-mock-response'] as string | undefined);
    if (mocked === 'INTERNAL_SERVER_ERROR') return send(...error(500, mocked));
    if (mocked !== undefined) return send(...refused(mocked));
    const met = faults.shift();
    if (met === 'rate_limited') return send(...error(429, 'RATE_LIMIT_REACHED'));
    if (met === 'error_500') return send(...error(500, 'INTERNAL_SERVER_ERROR'));
    if (met === 'lost_before') return void request.socket.destroy();
    const answer = processOnce(pathname, key, body);
    if (met === 'lost_after') return void request.socket.destroy();
    send(...answer);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const webhookOf = (
    event: Json,
    webhookId: string = CREDENTIALS.webhook_id,
    signedBy: keyof typeof CERTIFICATES = 'now',
  ): Webhook => {
    const { id: certificate, key } = CERTIFICATES[signedBy];
    const body = Buffer.from(JSON.stringify(event));
    const [id, time] = [`${newId()}-transmission`, '2026-11-16T10:00:00Z'];
    const signature = sign('RSA-SHA256', Buffer.from([id, time, webhookId, crc32(body)].join('|')), key);
    return {
      headers: {
        'content-type': 'application/json',
        'paypal-auth-algo': 'SHA256withRSA',
        'paypal-cert-url': `${url()}/v1/notifications/certs/${certificate}`,
        'paypal-transmission-id': id,
        'paypal-transmission-sig': signature.toString('base64'),
        'paypal-transmission-time': time,
      },
      body,
    };
  };
  const byReference = (reference: string): BookedOrder | undefined =>
    [...orders.values()].findLast((order) => unitOf(order).custom_id === reference);

  return {
    url: url(),
    credentials: CREDENTIALS,
    calls,
    /** Requests outside of PayPal's limits, and misuses of idempotency keys. */
    violations,
    events,
    tokenCalls: () => tokenCalls,
    revokeTokens: () => tokens.clear(),
    /** The next request for an access token is one too many. */
    limitTokens: (): void => void tokenFaults.push(true),
    /** The next calls that create or move something meet these faults, in this order. */
    fault(...next: Fault[]): void {
      faults.push(...next);
    },
    order: byReference,
    /** The payer approves the order on the page; returns the parameters of the return. */
    approve(page: string, declinesWith?: string): Record<string, string> {
      const id = new URL(page).searchParams.get('token') ?? '';
      const order = orders.get(id);
      if (!order) throw new Error(`There is no page ${page}.`);
      if (order.status === 'PAYER_ACTION_REQUIRED') {
        order.status = 'APPROVED';
        notify('CHECKOUT.ORDER.APPROVED', orderView(order), 'checkout-order');
      }
      if (declinesWith !== undefined) order.declinesWith = declinesWith;
      return { token: id, PayerID: 'QYR5Z8XDVJNXQ' };
    },
    newToken(declinesWith?: string): string {
      const id = newId().toLowerCase();
      vault.set(id, { declinesWith });
      return id;
    },
    /** The tokens of wallets are stored when `storeTokens` is called. */
    delayTokens: () => {
      isVaultDelayed = true;
    },
    storeTokens: () => {
      isVaultDelayed = false;
      for (const store of setVault.splice(0)) store();
    },
    delayRefund: () => {
      isRefundDelayed = true;
    },
    settleRefunds(status: 'COMPLETED' | 'FAILED' = 'COMPLETED'): void {
      for (const entry of delayed.splice(0)) {
        const [order] = find('refunds', entry.id) ?? [];
        if (order) settle(order, entry, status);
      }
    },
    /** The bank sends back the refunds of a payment that were done. */
    failRefunds(reference: string): void {
      const order = byReference(reference);
      for (const entry of order?.refunds ?? []) if (order) settle(order, entry, 'FAILED');
    },
    /** An operation that somebody makes in PayPal's account; a refund has the id of its payment. */
    atPaypal(reference: string, verb: 'capture' | 'refund' | 'void', value = '0'): void {
      const order = byReference(reference);
      if (!order) throw new Error('There is no such payment.');
      const amount = { currency_code: unitOf(order).amount.currency_code, value };
      const [authorization, capture] = [order.authorizations[0]?.id ?? '', order.captures[0]?.id ?? ''];
      if (verb === 'capture') captureAuthorization(authorization, { amount });
      else if (verb === 'void') voidAuthorization(authorization);
      else refund(capture, { amount, custom_id: reference });
    },
    /** What happens at PayPal without a request. */
    report: notify,
    dispute(reference: string, type: 'CREATED' | 'UPDATED' | 'RESOLVED', fields: Json = {}): void {
      const order = byReference(reference);
      const [capture] = order?.captures ?? [];
      if (!order || !capture) throw new Error('Only a payment that was captured is disputed.');
      notify(
        `CUSTOMER.DISPUTE.${type}`,
        {
          dispute_id: `PP-D-${order.id}`,
          disputed_transactions: [
            { seller_transaction_id: capture.id, custom: capture.custom_id, invoice_number: unitOf(order).invoice_id },
          ],
          reason: 'MERCHANDISE_OR_SERVICE_NOT_RECEIVED',
          status: 'WAITING_FOR_SELLER_RESPONSE',
          dispute_amount: capture.amount,
          dispute_life_cycle_stage: 'CHARGEBACK',
          dispute_channel: 'INTERNAL',
          seller_response_due_date: '2026-12-01T00:00:00.000Z',
          ...fields,
        },
        'dispute',
      );
    },
    balance: (reference: string): bigint =>
      [...orders.values()]
        .filter((order) => unitOf(order).custom_id === reference)
        .reduce((sum, order) => {
          const captured = order.captures.reduce((total, { amount }) => total + minor(amount), 0n);
          return sum + captured - refundedOf(order);
        }, 0n),
    /** The webhooks since the last call. */
    webhooks: (): Webhook[] =>
      queue.splice(0).map(({ type, resource, resource_type }) =>
        webhookOf({
          id: `WH-${newId()}`,
          event_version: '1.0',
          create_time: '2026-11-16T10:00:00Z',
          resource_type,
          event_type: type,
          resource,
        }),
      ),
    webhookOf,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
