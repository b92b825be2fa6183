/** The routes below `/api/v1/`: parses JSON, runs the checks, performs the operation of the path. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'secure-json-parse';
import type { Account, Gateway, MerchantCall } from '../../core/context.ts';
import { type CheckoutBody, checkoutBody, repeatedFieldProblem } from '../../core/requests/checkout-body.ts';
import { withoutByteOrderMark } from '../../lib/text/json.ts';
import { callbackAddress } from '../../rules/callback-address.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { may, SENTENCES } from '../../rules/fields.ts';
import { type ApiOperation, aliasesOf, CHECKOUT_OPERATIONS, type CheckoutPath } from '../../rules/operations.ts';
import { invalidJson } from '../envelope.ts';
import type { HandledRequest } from '../handled-request.ts';
import type { DirectRoute } from '../listener.ts';
import { admit } from '../pipeline.ts';
import type { RequestLimits } from '../request-limits.ts';
import { CHECKOUT_ACTIONS } from './actions.ts';
import { sessionProblems } from './session.ts';

const PATHS = Object.keys(CHECKOUT_OPERATIONS) as CheckoutPath[];
export const CHECKOUT_PREFIX = '/api/v1';
const JSON_TYPE = 'application/json';
const NOTHING = Buffer.alloc(0);

/** Performs the request to a path with this body, or throws a refusal. */
export type CheckoutHandler = (
  path: CheckoutPath,
  request: HandledRequest,
  address: string,
  bytes: Buffer | undefined,
) => Promise<object>;

export function checkoutHandler(gateway: Gateway, limits: RequestLimits): CheckoutHandler {
  const aliases = new Map(PATHS.map((path) => [path, aliasesOf(CHECKOUT_OPERATIONS[path])]));
  return async (path, request, address, bytes) => {
    const { json, text } = readJson(bytes);
    const operation: ApiOperation = CHECKOUT_OPERATIONS[path];
    request.action = `checkout ${path}`;
    request.isRead = operation.isRead === true;
    const body = checkoutBody(json, aliases.get(path), text);
    const call = Object.assign(request.call as MerchantCall, { action: path, operation, body });
    const account = await admit(gateway, {
      operation,
      action: path,
      body,
      keyField: 'merchant_key',
      address,
      handled: request,
      limits,
      accountFields: (account) => ({
        fields: path === 'session' && account.settings['dialect.session_callback_url'] ? SESSION_CALLBACK : [],
        problems: EXTRA_CHECKS[path]?.(body, account) ?? [],
      }),
    });
    const answer = await CHECKOUT_ACTIONS[path](gateway, account, body);
    call.answer = answer;
    request.outcome = 'SUCCESS';
    return answer;
  };
}

export const checkoutDirectRoutes = (handle: CheckoutHandler): DirectRoute[] =>
  PATHS.map((path) => ({
    path: `${CHECKOUT_PREFIX}/${path}`,
    mediaType: JSON_TYPE,
    protocol: 'checkout',
    action: 'checkout',
    handle: (request, address, bytes) => handle(path, request, address, bytes),
  }));

/** The routes of the framework, for the requests that the listener leaves to it: see `listener.ts`. */
export function checkoutRoutes(
  app: FastifyInstance,
  addressOf: (request: FastifyRequest) => string,
  limits: RequestLimits,
  handle: CheckoutHandler,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    request.action = 'checkout';
    request.call = { protocol: 'checkout' };
    limits.countAddress(addressOf(request));
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) => {
    const expected = 'The header content-type: application/json, and the fields as a JSON object.';
    done(invalidField('content-type', 'This value should be application/json.', { expected }));
  });
  for (const path of PATHS) {
    app.post(`/${path}`, (request) => handle(path, request, addressOf(request), request.body as Buffer | undefined));
  }
}

/** A text that is ambiguous, or that could change the prototype of an object, is refused. */
function readJson(bytes: Buffer = NOTHING): { json: unknown; text?: string } {
  if (bytes.length === 0) return { json: undefined };
  if (!isUtf8(bytes)) throw invalidField('body', 'The body should be UTF-8.');
  const text = withoutByteOrderMark(bytes.toString());
  let json: unknown;
  try {
    json = parse(text);
  } catch {
    throw invalidJson(text);
  }
  const problem = repeatedFieldProblem(text, json);
  if (problem) throw new Refusal('invalidData', [problem]);
  return { json, text };
}

/** The field of a session for accounts with `dialect.session_callback_url`. */
const SESSION_CALLBACK = [may('callback_url', callbackAddress)];

const PAYMENT_OR_ORDER = 'The payment_id of a payment, or the order_id of an order in its place, such as order-1001.';

/** Checks that the field tables do not express. */
const EXTRA_CHECKS: Partial<Record<CheckoutPath, (body: CheckoutBody, account: Account) => Problem[]>> = {
  session: sessionProblems,
  // A status query must name a payment or an order.
  'payment/status': ({ value }) =>
    value('payment_id') === '' && value('order_id') === ''
      ? [{ field: 'payment_id', sentence: SENTENCES.blank, expected: PAYMENT_OR_ORDER }]
      : [],
};
