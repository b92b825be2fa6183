/** The interface for machines: one OpenAPI document, made from the rows that the gateway itself goes by. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../core/context.ts';
import { CALLBACK_PATHS, CALLBACK_SCHEMAS } from './openapi/callbacks.ts';
import { CHECKOUT_PATHS, CHECKOUT_SCHEMAS } from './openapi/checkout.ts';
import { OPERATOR_PATHS, OPERATOR_SCHEMAS } from './openapi/operator.ts';
import { POST_PATHS, POST_SCHEMAS } from './openapi/post.ts';
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
  refusals,
  text,
  uuid,
} from './openapi/schema.ts';

export const VERSION = '0.1.0';

const ERROR = object({
  result: { const: 'ERROR' },
  error_code: integer,
  error_message: text,
  errors: described(
    listOf(object({ error_code: integer, error_message: text })),
    'The fields at fault, as `field: sentence`; empty when there are none.',
  ),
});

const inHeader = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: true,
  schema: text,
  description,
});

const NOTIFICATION = object(
  {
    reference: described(text, 'The payment, by the id that the gateway gave it.'),
    type: choice(['payment', 'bank_status', 'chargeback', 'operation']),
  },
  {
    status: described(text, 'Of a payment: `settled`, `declined`, `pending`, …'),
    code: described(text, 'Of a bank: `ACSC`, `RJCT`, …'),
    amount: described(text, 'In minor units.'),
    currency: text,
    reason: text,
  },
);

const signature = [
  inHeader('webhook-id', 'The event; the same event counts once.'),
  inHeader('webhook-timestamp', 'Seconds since 1970.'),
  inHeader('webhook-signature', '`v1,` and the base64 of the HMAC-SHA256 over `{id}.{timestamp}.{body}`.'),
];

const inbound: Json = {
  parameters: [inPath('connector', choice(['upstream', 'vcard']), 'Whose news they are.')],
  post: {
    operationId: 'receiveNotification',
    tags: ['providers'],
    summary: 'Takes news of a provider: signed, and kept before they are answered.',
    parameters: signature,
    requestBody: jsonBody(NOTIFICATION),
    responses: {
      ...answers('The news are kept.', object({ result: { const: 'SUCCESS' } })),
      ...refusals('unknownRoute', 'bodyTooLarge', 'wrongSignature', 'internal', 'unavailable'),
    },
  },
};

const threeDsResult: Json = {
  post: {
    operationId: 'receiveAuthentication',
    tags: ['providers'],
    summary: 'Takes the result of a 3DS challenge from the directory, signed; nothing else counts.',
    parameters: signature,
    requestBody: jsonBody(
      object(
        { messageType: { const: 'RReq' }, threeDSServerTransID: uuid },
        { messageVersion: text, transStatus: text, eci: text, authenticationValue: text, dsTransID: text },
      ),
    ),
    responses: {
      ...answers(
        'The result is applied.',
        object({
          messageType: { const: 'RRes' },
          messageVersion: text,
          threeDSServerTransID: uuid,
          resultsStatus: text,
        }),
      ),
      ...refusals('bodyTooLarge', 'wrongSignature', 'internal', 'unavailable'),
    },
  },
};

const page = { content: { 'text/html': { schema: text } } };
const linkParameter = [inPath('link', text, 'The secret part of the address.')];

/** A page for a payer’s browser. */
const view = (operationId: string, summary: string, more: Json = {}): Json => ({
  operationId,
  tags: ['payers'],
  summary,
  responses: {
    '200': { description: 'A page.', ...page },
    '303': { description: 'The payer goes on: to the provider, to our page, or back to the shop.' },
    '404': { description: 'The link does not work.', ...page },
    '503': { description: 'The page cannot be shown at the moment.', ...page },
    ...more,
  },
});

const incomplete = {
  '403': { description: 'Another site sent the form; nothing was taken.', ...page },
  '413': { description: 'The form is too large.', ...page },
  '422': { description: 'Something is missing or wrong; the page says what.', ...page },
  '429': { description: 'Too often; nothing was taken, and the page says when to try again.', ...page },
};

const health = (operationId: string, summary: string, content: Json, refused: Json = {}): Json => ({
  get: { operationId, tags: ['health'], summary, responses: { '200': { description: 'OK', content }, ...refused } },
});

const status = (word: string): Json => ({ 'application/json': { schema: object({ status: { const: word } }) } });

export function openApi(publicUrl: string): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Turnpike',
      version: VERSION,
      summary: 'An open, self-hosted payment gateway.',
      description:
        'Every answer has the header `x-request-id`. What works today, and how a request is signed, is in the merchant guide.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl || '/' }],
    tags: [
      { name: 'merchants', description: 'Signed forms of merchants.' },
      { name: 'checkout', description: 'Signed JSON of merchants whose payers pay on our page.' },
      { name: 'payers', description: 'Pages for the browsers of payers.' },
      { name: 'providers', description: 'What providers send.' },
      { name: 'accounts', description: 'Merchant accounts, for operators.' },
      { name: 'payments', description: 'Payments, for operators.' },
      { name: 'callbacks', description: 'What merchants are told, for operators.' },
      { name: 'sandbox', description: 'Time and the provider simulator; these paths exist in the sandbox only.' },
      { name: 'health', description: 'For the machines of operators.' },
    ],
    paths: {
      ...POST_PATHS,
      ...CHECKOUT_PATHS,
      '/pay/{link}': {
        parameters: linkParameter,
        get: view('showPayment', 'Asks the payer for what is missing, or tells how the payment stands.'),
        post: view('completePayment', 'Takes what the payer filled in.', incomplete),
      },
      '/pay/{link}/status': {
        parameters: linkParameter,
        get: {
          operationId: 'followPayment',
          tags: ['payers'],
          summary: 'Tells the page of a payer whether it is still up to date.',
          responses: {
            ...answers('Another version than that of the page: it loads itself again.', object({ version: text })),
            '404': { description: 'The link does not work.', content: { 'application/json': { schema: object({}) } } },
            '503': { description: 'It cannot be told at the moment.', ...page },
          },
        },
      },
      '/return/{link}': {
        parameters: linkParameter,
        get: view('return', 'Where a provider sends the payer back to; leads on to the shop.'),
        post: view('returnByPost', 'The same for providers that send payers back by POST.'),
      },
      '/3ds/{link}': {
        parameters: linkParameter,
        post: view('returnFromBank', 'Where the bank of a card sends the payer back to after a challenge.'),
      },
      '/inbound/3ds': threeDsResult,
      '/inbound/{connector}': inbound,
      ...OPERATOR_PATHS,
      ...CALLBACK_PATHS,
      '/health/live': health('isLive', 'Whether the process runs.', status('live')),
      '/health/ready': health(
        'isReady',
        'Whether a row could be written just now.',
        status('ready'),
        refusals('unavailable'),
      ),
      '/metrics': health('metrics', 'Counts for Prometheus.', { 'text/plain': { schema: text } }),
      '/openapi.json': health('openApi', 'This document.', { 'application/json': { schema: { type: 'object' } } }),
    },
    components: {
      schemas: { Error: ERROR, ...POST_SCHEMAS, ...CHECKOUT_SCHEMAS, ...OPERATOR_SCHEMAS, ...CALLBACK_SCHEMAS },
      securitySchemes: { adminToken: { type: 'http', scheme: 'bearer' } },
    },
  };
}

export function openApiRoutes(app: FastifyInstance, gateway: Gateway): void {
  let document: string | undefined;
  app.get('/openapi.json', async (_request, reply) => {
    // Composed when it is first asked for: before the gateway listens, it does not know its own address.
    document ??= JSON.stringify(openApi(gateway.publicUrl));
    return reply.type('application/json; charset=utf-8').send(document);
  });
}
