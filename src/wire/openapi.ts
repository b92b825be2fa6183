/** The OpenAPI document of the gateway, generated from the same tables that its checks use. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../core/context.ts';
import { VERSION } from '../lib/files/version.ts';
import { CONNECTORS } from '../rules/connectors.ts';
import { ACCESS_PATHS, ACCESS_SCHEMAS } from './openapi/access.ts';
import { ACCOUNT_PATHS, ACCOUNT_SCHEMAS } from './openapi/accounts.ts';
import { CALLBACK_PATHS, CALLBACK_SCHEMAS } from './openapi/callbacks.ts';
import { CHARGEBACK_PATHS, CHARGEBACK_SCHEMAS } from './openapi/chargebacks.ts';
import { CHECKOUT_PATHS, CHECKOUT_SCHEMAS } from './openapi/checkout.ts';
import { CONNECTION_PATHS, CONNECTION_SCHEMAS } from './openapi/connections.ts';
import { ERASURE_PATHS } from './openapi/erasure.ts';
import { EXPLAIN_PATHS, EXPLAIN_SCHEMAS } from './openapi/explain.ts';
import { FEE_INVOICE_PATHS, FEE_INVOICE_SCHEMAS } from './openapi/fee-invoices.ts';
import { INVOICE_PATHS, INVOICE_SCHEMAS } from './openapi/invoices.ts';
import { LEDGER_PATHS, LEDGER_SCHEMAS } from './openapi/ledger.ts';
import { LINK_PATHS, LINK_SCHEMAS } from './openapi/links.ts';
import { PAYMENT_PATHS, PAYMENT_SCHEMAS } from './openapi/payments.ts';
import { POST_PATHS, POST_SCHEMAS } from './openapi/post.ts';
import { PRICE_PATHS, PRICE_SCHEMAS } from './openapi/prices.ts';
import { RECONCILIATION_PATHS, RECONCILIATION_SCHEMAS } from './openapi/reconciliations.ts';
import { REFUND_REQUEST_PATHS, REFUND_REQUEST_SCHEMAS } from './openapi/refund-requests.ts';
import { REPORT_PATHS, REPORT_SCHEMAS } from './openapi/reports.ts';
import { REQUEST_PATHS, REQUEST_SCHEMAS } from './openapi/requests.ts';
import { RESTORE_PATHS, RESTORE_SCHEMAS } from './openapi/restores.ts';
import { RISK_PATHS, RISK_SCHEMAS } from './openapi/risk.ts';
import { SANDBOX_PATHS, SANDBOX_SCHEMAS } from './openapi/sandbox.ts';
import { SCHEDULE_PATHS } from './openapi/schedules.ts';
import {
  answers,
  choice,
  described,
  inPath,
  integer,
  type Json,
  jsonBody,
  listOf,
  object,
  ref,
  refusals,
  text,
  uuid,
} from './openapi/schema.ts';
import { SETTLEMENT_MESSAGE_PATHS, SETTLEMENT_MESSAGE_SCHEMAS } from './openapi/settlement-messages.ts';
import { SETTLEMENT_PATHS, SETTLEMENT_SCHEMAS } from './openapi/settlements.ts';
import { STATEMENT_PATHS, STATEMENT_SCHEMAS } from './openapi/statements.ts';
import { TELEPHONE_ORDER_PATHS } from './openapi/telephone-orders.ts';
import { THREE_WAY_PATHS, THREE_WAY_SCHEMAS } from './openapi/three-way.ts';

const address: Json = { type: 'string', format: 'uri' };

const ERROR = object(
  {
    result: { const: 'ERROR' },
    error_code: integer,
    error_message: text,
    errors: described(listOf(ref('ErrorEntry')), 'The invalid fields; may be empty.'),
  },
  {
    hint: described(text, 'For an unknown address, method or action: what was probably meant.'),
    link: described(address, 'The section of the docs, with `hint`.'),
  },
);

const ERROR_ENTRY = object(
  {
    error_code: integer,
    error_message: described(text, 'The field and what is wrong with it, as `field: sentence`.'),
    param: described(text, 'The field, by the name that the request uses, such as `order.number`.'),
    link: described(address, 'The section of the docs.'),
  },
  {
    expected: described(text, 'What is accepted, in one sentence, with an example.'),
    hint: described(text, 'The mistake that was probably made.'),
    signed_text: described(
      text,
      'In the sandbox, for a wrong hash: the text that the hash covers, in upper case, with the password as `***`.',
    ),
  },
);

const inHeader = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: true,
  schema: text,
  description,
});

const NOTIFICATION = object(
  {
    reference: described(text, 'The payment id that the gateway assigned.'),
    type: choice(['payment', 'bank_status', 'chargeback', 'operation']),
  },
  {
    status: described(text, 'With `payment`: `settled`, `declined`, `pending`, …'),
    code: described(text, 'With `bank_status`: the code of the bank, `ACSC`, `RJCT`, …'),
    amount: described(text, 'In minor units.'),
    currency: text,
    reason: text,
  },
);

const signature = [
  inHeader('webhook-id', 'The id of the event; a repeated event is ignored.'),
  inHeader('webhook-timestamp', 'Seconds since 1970.'),
  inHeader('webhook-signature', '`v1,` and the base64-encoded HMAC-SHA256 of `{id}.{timestamp}.{body}`.'),
];

const inbound: Json = {
  parameters: [inPath('connector', choice(['upstream', 'vcard']), 'The connector of the provider.')],
  post: {
    operationId: 'receiveNotification',
    tags: ['providers'],
    summary: 'Receives a signed provider notification and stores it before it responds.',
    parameters: signature,
    requestBody: jsonBody(NOTIFICATION),
    responses: {
      ...answers('The notification is stored.', object({ result: { const: 'SUCCESS' } })),
      ...refusals('unknownRoute', 'bodyTooLarge', 'wrongSignature', 'internal', 'unavailable'),
    },
  },
};

const inboundOfConnection: Json = {
  parameters: [
    inPath('connector', choice(Object.keys(CONNECTORS)), 'The connector of the connection.'),
    inPath('connection_id', uuid, 'The connection.'),
  ],
  post: {
    operationId: 'receiveConnectionNotification',
    tags: ['providers'],
    summary: 'Receives notifications of a connection, signed as its provider signs them, and stores them.',
    requestBody: { required: true, content: { '*/*': { schema: text } } },
    responses: {
      '200': { description: 'The notifications are stored; some providers get a text that they expect.' },
      ...refusals('unknownRoute', 'bodyTooLarge', 'wrongSignature', 'internal', 'unavailable'),
    },
  },
};

const threeDsResult: Json = {
  post: {
    operationId: 'receiveAuthentication',
    tags: ['providers'],
    summary: 'Receives the signed result of a 3-D Secure challenge from the directory server.',
    parameters: signature,
    requestBody: jsonBody(
      object(
        { messageType: { const: 'RReq' }, threeDSServerTransID: uuid },
        { messageVersion: text, transStatus: text, eci: text, authenticationValue: text, dsTransID: text },
      ),
    ),
    responses: {
      ...answers('The result was applied (`RRes`), or belongs to no challenge (`Erro`).', {
        oneOf: [
          object({
            messageType: { const: 'RRes' },
            messageVersion: text,
            threeDSServerTransID: uuid,
            resultsStatus: text,
          }),
          object(
            { messageType: { const: 'Erro' }, errorCode: text, errorDescription: text },
            {
              messageVersion: text,
              threeDSServerTransID: text,
              errorComponent: text,
              errorMessageType: text,
              errorDetail: text,
            },
          ),
        ],
      }),
      ...refusals('bodyTooLarge', 'wrongSignature', 'internal', 'unavailable'),
    },
  },
};

const page = { content: { 'text/html': { schema: text } } };
const linkParameter = [inPath('link', text, 'The secret token of the address.')];
const codeParameter = [inPath('code', text, 'The end of the address of the link.')];

/** An operation that returns a page for the payer’s browser. */
const pageOperation = (operationId: string, summary: string, more: Json = {}): Json => ({
  operationId,
  tags: ['payers'],
  summary,
  responses: {
    '200': { description: 'A page.', ...page },
    '303': { description: 'Redirect to the provider, to another page of the gateway, or back to the shop.' },
    '404': { description: 'The link is unknown.', ...page },
    '503': { description: 'The page is temporarily unavailable.', ...page },
    ...more,
  },
});

const midParameter = [inPath('mid', text, 'The account.')];
const usedLink = { '410': { description: 'The link was used, or has expired.', ...page } };

const formRefusals = {
  '403': { description: 'The form was submitted by another site; nothing was paid.', ...page },
  '413': { description: 'The form is too large.', ...page },
  '422': { description: 'Fields are missing or invalid; the page marks them.', ...page },
  '429': { description: 'Too many attempts; nothing was paid, and the page shows when to try again.', ...page },
};

const health = (operationId: string, summary: string, content: Json, refused: Json = {}): Json => ({
  get: { operationId, tags: ['health'], summary, responses: { '200': { description: 'OK', content }, ...refused } },
});

const status = (value: string): Json => ({ 'application/json': { schema: object({ status: { const: value } }) } });

export function openApi(publicUrl: string): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Turnpike',
      version: VERSION,
      summary: 'An open, self-hosted payment gateway.',
      description:
        'Every response has the header `x-request-id`, and an error also the header `link` with the section of the docs about it. The merchant guide describes how to sign requests.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl || '/' }],
    tags: [
      { name: 'merchants', description: 'Server-to-server API for merchants: signed forms.' },
      {
        name: 'checkout',
        description: 'Checkout API for merchants: signed JSON; payers pay on the hosted payment page.',
      },
      { name: 'payers', description: 'Hosted payment pages for payers.' },
      { name: 'providers', description: 'Notifications from providers.' },
      { name: 'accounts', description: 'Merchant accounts, for operators.' },
      { name: 'connections', description: 'Connections to providers and routes, for operators.' },
      { name: 'prices', description: 'Price plans, what merchants pay and connections cost, for operators.' },
      { name: 'access', description: 'API tokens and the audit log, for owners.' },
      { name: 'payments', description: 'Payments, for operators.' },
      { name: 'risk', description: 'Risk rules, lists, back-tests and reviews, for operators.' },
      { name: 'callbacks', description: 'Callbacks to merchants, for operators.' },
      { name: 'requests', description: 'Recent API calls of merchants, for operators.' },
      { name: 'reports', description: 'Figures for operators.' },
      { name: 'settlements', description: 'Paying merchants: terms, settlements, payouts, payments of providers.' },
      { name: 'ledger', description: 'Whose money it is: balances and entries in double entry.' },
      { name: 'installation', description: 'Version, database and background work, for operators.' },
      { name: 'restore', description: 'A restored installation, for operators.' },
      {
        name: 'sandbox',
        description: 'The clock, the provider simulator and the callback inbox; only in the sandbox.',
      },
      { name: 'health', description: 'Health checks and metrics, for operators.' },
    ],
    paths: {
      ...POST_PATHS,
      ...CHECKOUT_PATHS,
      '/pay/{link}': {
        parameters: linkParameter,
        get: pageOperation(
          'showPayment',
          'Shows the payment page: a form, the next step, or the status of the payment.',
        ),
        post: pageOperation('completePayment', 'Submits the form of the payment page.', formRefusals),
      },
      '/pay/{link}/status': {
        parameters: linkParameter,
        get: {
          operationId: 'followPayment',
          tags: ['payers'],
          summary: 'Returns the version of a payment, which the payment page polls to detect changes.',
          responses: {
            ...answers(
              'The current version. If the page shows another version, it reloads itself.',
              object({ version: text }),
            ),
            '404': { description: 'The link is unknown.', content: { 'application/json': { schema: object({}) } } },
            '503': { description: 'The status is temporarily unavailable.', ...page },
          },
        },
      },
      '/pay/{link}/receipt': {
        parameters: linkParameter,
        get: pageOperation('showReceipt', 'Shows the receipt of a payment that was paid.'),
      },
      '/pay/{link}/leave': {
        parameters: linkParameter,
        post: pageOperation('leaveAttempt', 'Ends the current attempt, so that the payer can pay in another way.'),
      },
      '/pay/{link}/code': {
        parameters: linkParameter,
        post: pageOperation('renewCode', 'Shows the QR code of the payment again after it has expired.'),
      },
      '/l/{code}': {
        parameters: codeParameter,
        get: pageOperation('showLink', 'Shows the page of a payment link; it writes nothing.'),
        post: pageOperation('beginPayment', 'Begins a payment of a link, and leads to the payment page.', formRefusals),
      },
      '/l/{code}/qr.svg': {
        parameters: codeParameter,
        get: pageOperation('showLinkCodeAsSvg', 'Returns the QR code of the address of a link as SVG.'),
      },
      '/l/{code}/qr.png': {
        parameters: codeParameter,
        get: pageOperation('showLinkCodeAsPng', 'Returns the QR code of the address of a link as PNG.'),
      },
      '/i/{code}': {
        parameters: codeParameter,
        get: pageOperation('showInvoice', 'Shows an invoice with the button to pay it; it writes nothing.'),
        post: pageOperation('payInvoice', 'Begins the payment of an invoice.', formRefusals),
      },
      '/customer/{mid}': {
        parameters: midParameter,
        get: pageOperation('showCustomerRequest', 'Asks a payer for the e-mail address that gets a one-time link.'),
        post: pageOperation(
          'requestCustomerLink',
          'Requests the link; known and unknown addresses are answered alike.',
          {
            ...formRefusals,
            '422': { description: 'The address is not an e-mail address.', ...page },
          },
        ),
      },
      '/customer/{mid}/link/{secret}': {
        parameters: [...midParameter, inPath('secret', text, 'The secret of the link.')],
        get: pageOperation('showCustomerLink', 'Shows the button of a one-time link; it uses nothing up.', usedLink),
        post: pageOperation('redeemCustomerLink', 'Uses the link up, and opens a session of 30 minutes.', {
          ...usedLink,
          ...formRefusals,
        }),
      },
      '/customer/{mid}/saved': {
        parameters: midParameter,
        get: pageOperation('showSaved', 'Shows a payer the cards that the account has saved, and the subscriptions.'),
        post: pageOperation('removeSaved', 'Removes a card, or ends a subscription.', formRefusals),
      },
      '/return/{link}': {
        parameters: linkParameter,
        get: pageOperation(
          'return',
          'Return address for payers who come back from a provider; redirects to the shop or to the payment page.',
        ),
        post: pageOperation('returnByPost', 'Return address for providers that send payers back by POST.'),
      },
      '/3ds/{link}': {
        parameters: linkParameter,
        post: pageOperation('returnFromBank', 'Return address for payers who come back from a 3-D Secure challenge.'),
      },
      '/inbound/3ds': threeDsResult,
      '/inbound/{connector}': inbound,
      ...ACCESS_PATHS,
      '/inbound/{connector}/{connection_id}': inboundOfConnection,
      ...ACCOUNT_PATHS,
      ...CONNECTION_PATHS,
      ...PRICE_PATHS,
      ...PAYMENT_PATHS,
      ...ERASURE_PATHS,
      ...SCHEDULE_PATHS,
      ...LINK_PATHS,
      ...INVOICE_PATHS,
      ...TELEPHONE_ORDER_PATHS,
      ...SANDBOX_PATHS,
      ...EXPLAIN_PATHS,
      ...REQUEST_PATHS,
      ...CALLBACK_PATHS,
      ...CHARGEBACK_PATHS,
      ...RISK_PATHS,
      ...REPORT_PATHS,
      ...REFUND_REQUEST_PATHS,
      ...LEDGER_PATHS,
      ...SETTLEMENT_PATHS,
      ...STATEMENT_PATHS,
      ...THREE_WAY_PATHS,
      ...FEE_INVOICE_PATHS,
      ...SETTLEMENT_MESSAGE_PATHS,
      ...RECONCILIATION_PATHS,
      ...RESTORE_PATHS,
      '/health/live': health('isLive', 'Liveness: the process is running.', status('live')),
      '/health/ready': health(
        'isReady',
        'Readiness: the database accepts writes.',
        status('ready'),
        refusals('unavailable'),
      ),
      '/metrics': health('metrics', 'Metrics in Prometheus format.', { 'text/plain': { schema: text } }),
      '/openapi.json': health('openApi', 'This document.', { 'application/json': { schema: { type: 'object' } } }),
    },
    components: {
      schemas: {
        Error: ERROR,
        ErrorEntry: ERROR_ENTRY,
        ...POST_SCHEMAS,
        ...CHECKOUT_SCHEMAS,
        ...ACCESS_SCHEMAS,
        ...LINK_SCHEMAS,
        ...INVOICE_SCHEMAS,
        ...ACCOUNT_SCHEMAS,
        ...CONNECTION_SCHEMAS,
        ...PRICE_SCHEMAS,
        ...PAYMENT_SCHEMAS,
        ...SANDBOX_SCHEMAS,
        ...EXPLAIN_SCHEMAS,
        ...REQUEST_SCHEMAS,
        ...CALLBACK_SCHEMAS,
        ...CHARGEBACK_SCHEMAS,
        ...RISK_SCHEMAS,
        ...REPORT_SCHEMAS,
        ...REFUND_REQUEST_SCHEMAS,
        ...LEDGER_SCHEMAS,
        ...SETTLEMENT_SCHEMAS,
        ...STATEMENT_SCHEMAS,
        ...THREE_WAY_SCHEMAS,
        ...FEE_INVOICE_SCHEMAS,
        ...SETTLEMENT_MESSAGE_SCHEMAS,
        ...RECONCILIATION_SCHEMAS,
        ...RESTORE_SCHEMAS,
      },
      securitySchemes: { adminToken: { type: 'http', scheme: 'bearer' } },
    },
  };
}

export function openApiRoutes(app: FastifyInstance, gateway: Gateway): void {
  let document: string | undefined;
  app.get('/openapi.json', async (_request, reply) => {
    // Built on the first request: the address of the gateway is not known before it listens.
    document ??= JSON.stringify(openApi(gateway.publicUrl));
    return reply.type('application/json; charset=utf-8').send(document);
  });
}
