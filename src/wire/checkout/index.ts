/** The routes below `/api/v1/`: parses JSON, runs the checks, performs the operation of the path. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account, Gateway } from '../../core/context.ts';
import { printableName } from '../../lib/form.ts';
import { repeatedName } from '../../lib/json.ts';
import { invalidField, type Problem, type Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { type ApiOperation, CHECKOUT_OPERATIONS, type CheckoutPath } from '../../rules/operations.ts';
import { admit } from '../pipeline.ts';
import type { RequestLimits } from '../request-limits.ts';
import { CHECKOUT_ACTIONS } from './actions.ts';
import { type CheckoutBody, checkoutBody } from './body.ts';
import { sessionProblems } from './session.ts';

const PATHS = Object.keys(CHECKOUT_OPERATIONS) as CheckoutPath[];

/** Alternative names of fields. */
const ALIASES: Partial<Record<CheckoutPath, Record<string, string>>> = {
  'payment/status': { payment_id: 'trans_id' },
};

export function checkoutRoutes(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest) => string,
  limits: RequestLimits,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    request.action = 'checkout';
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
    done(invalidField('content-type', 'This value should be application/json.'));
  });
  for (const path of PATHS) {
    const operation: ApiOperation = CHECKOUT_OPERATIONS[path];
    app.post(`/${path}`, async (request) => {
      request.action = `checkout ${path}`;
      request.isRead = operation.isRead === true;
      const body = checkoutBody(request.body, ALIASES[path]);
      const account = await admit(gateway, {
        operation,
        body,
        keyField: 'merchant_key',
        address: addressOf(request),
        onAccount: (account) => {
          request.mid = account.mid;
          limits.countAccount(account);
        },
        accountFields: (account) => ({ fields: [], problems: EXTRA_CHECKS[path]?.(body, account) ?? [] }),
      });
      const answer = await CHECKOUT_ACTIONS[path](gateway, account, body);
      request.outcome = 'SUCCESS';
      return answer;
    });
  }
}

/** A repeated field is ambiguous, so it is refused. */
function repeatedField(text: string): Refusal | null {
  const path = repeatedName(text);
  return path === undefined ? null : invalidField(printableName(path), SENTENCES.once);
}

/** Checks that the field tables do not express. */
const EXTRA_CHECKS: Partial<Record<CheckoutPath, (body: CheckoutBody, account: Account) => Problem[]>> = {
  session: sessionProblems,
  // A status query must name a payment or an order.
  'payment/status': ({ value }) =>
    value('payment_id') === '' && value('order_id') === '' ? [{ field: 'payment_id', sentence: SENTENCES.blank }] : [],
};
