/** The face of `/api/v1/`: reads JSON, lets it through the gates, performs what its path says. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { isYes, SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { CHECKOUT_OPERATIONS, type CheckoutPath, type Operation } from '../../rules/operations.ts';
import { admit } from '../pipeline.ts';
import { CHECKOUT_ACTIONS } from './actions.ts';
import { type CheckoutBody, checkoutBody, textList } from './body.ts';

const PATHS = Object.keys(CHECKOUT_OPERATIONS) as CheckoutPath[];

/** Fields that callers send under another name, too. */
const OTHER_NAMES: Partial<Record<CheckoutPath, Record<string, string>>> = {
  'payment/status': { payment_id: 'trans_id' },
};

export function checkoutFace(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest) => string,
): void {
  app.removeAllContentTypeParsers();
  const readJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, readJson);
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) => {
    const sentence = 'This value should be application/json.';
    done(new Refusal('invalidData', [{ field: 'content-type', sentence }]));
  });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });

  for (const path of PATHS) {
    const operation: Operation = CHECKOUT_OPERATIONS[path];
    app.post(`/${path}`, async (request) => {
      request.action = `checkout ${path}`;
      request.isRead = operation.isRead === true;
      const body = checkoutBody(request.body, OTHER_NAMES[path]);
      const account = await admit(gateway, {
        operation,
        body,
        keyField: 'merchant_key',
        address: addressOf(request),
        onAccount: ({ mid }) => {
          request.mid = mid;
        },
        accountFields: () => ({ fields: [], problems: MORE_PROBLEMS[path]?.(body) ?? [] }),
      });
      const answer = await CHECKOUT_ACTIONS[path](gateway, account, body);
      request.outcome = 'SUCCESS';
      return answer;
    });
  }
}

/** What the rows of the fields do not say. */
const MORE_PROBLEMS: Partial<Record<CheckoutPath, (body: CheckoutBody) => Problem[]>> = {
  session: ({ at, value }) => [
    ...(textList(at('card_token')).length > LIMITS.savedCardsMost
      ? [{ field: 'card_token', sentence: SENTENCES.tooMany(LIMITS.savedCardsMost) }]
      : []),
    // A schedule repeats what may be repeated.
    ...(value('schedule_id') !== '' && !isYes(value('recurring_init'))
      ? [{ field: 'recurring_init', sentence: SENTENCES.blank }]
      : []),
  ],
  // A status query names a payment or an order.
  'payment/status': ({ value }) =>
    value('payment_id') === '' && value('order_id') === '' ? [{ field: 'payment_id', sentence: SENTENCES.blank }] : [],
};
