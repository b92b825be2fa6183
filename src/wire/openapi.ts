/** The OpenAPI document of the gateway, generated from the same tables that its checks use. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../core/context.ts';
import { CONNECTORS } from '../rules/connectors.ts';
import { ACCESS_PATHS, ACCESS_SCHEMAS } from './openapi/access.ts';
import { ACCOUNT_PATHS, ACCOUNT_SCHEMAS } from './openapi/accounts.ts';
import { CALLBACK_PATHS, CALLBACK_SCHEMAS } from './openapi/callbacks.ts';
import { CHARGEBACK_PATHS, CHARGEBACK_SCHEMAS } from './openapi/chargebacks.ts';
import { CHECKOUT_PATHS, CHECKOUT_SCHEMAS } from './openapi/checkout.ts';
import { CONNECTION_PATHS, CONNECTION_SCHEMAS } from './openapi/connections.ts';
import { ERASURE_PATHS } from './openapi/erasure.ts';
import { EXPLAIN_PATHS, EXPLAIN_SCHEMAS } from './openapi/explain.ts';
import { PAYMENT_PATHS, PAYMENT_SCHEMAS } from './openapi/payments.ts';
import { POST_PATHS, POST_SCHEMAS } from './openapi/post.ts';
import { RECONCILIATION_PATHS, RECONCILIATION_SCHEMAS } from './openapi/reconciliations.ts';
import { REPORT_PATHS, REPORT_SCHEMAS } from './openapi/reports.ts';
import { REQUEST_PATHS, REQUEST_SCHEMAS } from './openapi/requests.ts';
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

export const VERSION = '0.1.0';

const ERROR = object({
  result: { const: 'ERROR' },
  error_code: integer,
  error_message: text,
  errors: described(listOf(ref('ErrorEntry')), 'The invalid fields; may be empty.'),
});

const address: Json = { type: 'string', format: 'uri' };

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
      { name: 'access', description: 'API tokens and the audit log, for owners.' },
      { name: 'payments', description: 'Payments, for operators.' },
      { name: 'callbacks', description: 'Callbacks to merchants, for operators.' },
      { name: 'requests', description: 'Recent API calls of merchants, for operators.' },
      { name: 'reports', description: 'Figures for operators.' },
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
      ...PAYMENT_PATHS,
      ...ERASURE_PATHS,
      ...SCHEDULE_PATHS,
      ...SANDBOX_PATHS,
      ...EXPLAIN_PATHS,
      ...REQUEST_PATHS,
      ...CALLBACK_PATHS,
      ...CHARGEBACK_PATHS,
      ...REPORT_PATHS,
      ...RECONCILIATION_PATHS,
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
        ...ACCOUNT_SCHEMAS,
        ...CONNECTION_SCHEMAS,
        ...PAYMENT_SCHEMAS,
        ...SANDBOX_SCHEMAS,
        ...EXPLAIN_SCHEMAS,
        ...REQUEST_SCHEMAS,
        ...CALLBACK_SCHEMAS,
        ...CHARGEBACK_SCHEMAS,
        ...REPORT_SCHEMAS,
        ...RECONCILIATION_SCHEMAS,
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
