/** The routes below `/api/v1/`: parses JSON, runs the checks, performs the operation of the path. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account, Gateway, MerchantCall } from '../../core/context.ts';
import { type CheckoutBody, checkoutBody, repeatedFieldProblem } from '../../core/requests/checkout-body.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { type ApiOperation, aliasesOf, CHECKOUT_OPERATIONS, type CheckoutPath } from '../../rules/operations.ts';
import { admit } from '../pipeline.ts';
import type { RequestLimits } from '../request-limits.ts';
import { CHECKOUT_ACTIONS } from './actions.ts';
import { sessionProblems } from './session.ts';

const PATHS = Object.keys(CHECKOUT_OPERATIONS) as CheckoutPath[];

export function checkoutRoutes(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest) => string,
  limits: RequestLimits,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    request.action = 'checkout';
    request.call = { protocol: 'checkout' };
    limits.countAddress(addressOf(request));
    done();
  });
  app.removeAllContentTypeParsers();
  const readJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (!isUtf8(bytes)) return done(invalidField('body', 'The body should be UTF-8.'));
    const text = bytes.toString();
    readJson(request, text, (error, json) => done(error ?? repeatedField(text), json));
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) => {
    const expected = 'The header content-type: application/json, and the fields as a JSON object.';
    done(invalidField('content-type', 'This value should be application/json.', { expected }));
  });
  for (const path of PATHS) {
    const operation: ApiOperation = CHECKOUT_OPERATIONS[path];
    const aliases = aliasesOf(operation);
    app.post(`/${path}`, async (request) => {
      request.action = `checkout ${path}`;
      request.isRead = operation.isRead === true;
      const body = checkoutBody(request.body, aliases);
      const call = Object.assign(request.call as MerchantCall, { action: path, operation, body });
      const account = await admit(gateway, {
        operation,
        action: path,
        body,
        keyField: 'merchant_key',
        address: addressOf(request),
        onAccount: (account) => {
          request.mid = account.mid;
          call.account = account;
          limits.countAccount(account);
        },
        mayExplain: limits.mayExplain,
        accountFields: (account) => ({ fields: [], problems: EXTRA_CHECKS[path]?.(body, account) ?? [] }),
      });
      const answer = await CHECKOUT_ACTIONS[path](gateway, account, body);
      call.answer = answer;
      request.outcome = 'SUCCESS';
      return answer;
    });
  }
}

function repeatedField(text: string): Refusal | null {
  const problem = repeatedFieldProblem(text);
  return problem ? new Refusal('invalidData', [problem]) : null;
}

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
