/** The route `/post`: parses the form, runs the checks, performs the action. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { environmentOfKey, findAccountByKey } from '../../core/accounts/accounts.ts';
import type { Gateway, MerchantCall } from '../../core/context.ts';
import { readBody, type S2sBody, URL_ENCODED } from '../../core/requests/s2s-body.ts';
import { createBudget } from '../../lib/flow/budget.ts';
import { LONG_FIELDS } from '../../rules/brands.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  type ApiOperation,
  DIALECT_OPERATIONS,
  type DialectAction,
  isDialectAction,
  S2S_OPERATIONS,
  type S2sAction,
} from '../../rules/operations.ts';
import type { HandledRequest } from '../handled-request.ts';
import type { DirectRoute } from '../listener.ts';
import { admit } from '../pipeline.ts';
import type { RequestLimits } from '../request-limits.ts';
import { DIALECT_ACTIONS, S2S_ACTIONS } from './actions.ts';
import type { S2sAnswer } from './answers.ts';
import { announcesLongField, createBodyReader, LargeBody } from './reader.ts';

const EMPTY = Buffer.alloc(0);

/** Performs the request with this body, or throws a refusal. */
export type S2sHandler = (
  request: HandledRequest,
  contentType: string,
  address: string,
  bytes: Buffer,
  path?: string,
) => Promise<S2sAnswer>;

/** The path of sales with a brand at other gateways, for accounts with `dialect.card_sales`. */
const SALES_WITH_BRAND = '/post-va';

export function s2sHandler(gateway: Gateway, limits: RequestLimits): S2sHandler {
  const perform: S2sHandler = async (request, contentType, address, bytes, path) => {
    const body = readBody(contentType, bytes);
    // The parsed form has the card no more; its bytes are overwritten.
    if (body.hasCard) bytes.fill(0);
    try {
      return await performBody(request, body, address, bytes.length, path);
    } finally {
      if (body.hasCard) body.forgetCard();
    }
  };

  const performBody = async (
    request: HandledRequest,
    body: S2sBody,
    address: string,
    length: number,
    path: string | undefined,
  ): Promise<S2sAnswer> => {
    const call = request.call as MerchantCall;
    call.body = body;
    if (length > LIMITS.bodyBytes) refuseLargeBody(body);
    const sent = path === SALES_WITH_BRAND ? body.value('action') : actionOf(body);
    const isOfDialect = isDialectAction(sent) || path === SALES_WITH_BRAND;
    const isKnown = !isOfDialect || (await isTakenFrom(gateway, body, call, sent, path));
    const named = knownAction(sent);
    const name = isKnown ? named : undefined;
    const action = name && (isDialectAction(name) ? DIALECT_ACTIONS[name] : S2S_ACTIONS[name]);
    const operation = name && (isDialectAction(name) ? DIALECT_OPERATIONS[name] : S2S_OPERATIONS[name]);
    const { accountFields, operationFor } = action ?? {};
    // An action that the account does not take is recorded as well, so that the operator sees what is asked for.
    if (named) {
      request.action = named;
      call.action = named;
      call.operation = operation;
    }
    request.isRead = (operation as ApiOperation | undefined)?.isRead === true;
    const admitted = admit(gateway, {
      operation,
      action: name ?? '',
      body,
      keyField: 'client_key',
      address,
      handled: request,
      limits,
      accountFields: accountFields && ((account) => accountFields(gateway, account, body)),
      operationFor:
        operationFor &&
        ((account) => {
          const own = operationFor(account, body);
          if (own) call.operation = own;
          return own;
        }),
    });
    const account = admitted instanceof Promise ? await admitted : admitted;
    const answer = await (action as NonNullable<typeof action>).perform(gateway, account, body);
    call.answer = answer;
    request.outcome = answer.result as string;
    request.paymentId = answer.trans_id as string | undefined;
    return answer;
  };

  return perform;
}

/** Whether the account of the request takes what only `dialect.card_sales` allows; to any other it does not exist. */
async function isTakenFrom(
  gateway: Gateway,
  body: S2sBody,
  call: MerchantCall,
  action: string,
  path: string | undefined,
): Promise<boolean> {
  if (path === SALES_WITH_BRAND && (action !== 'SALE' || body.value('brand') === '')) return false;
  const key = body.value('client_key');
  const isHere = environmentOfKey(key) === gateway.environment;
  const account = isHere ? await findAccountByKey(gateway, 'clientKey', key) : undefined;
  if (account) call.account = account;
  return account?.settings['dialect.card_sales'] === true;
}

const knownAction = (action: string): S2sAction | DialectAction | undefined =>
  Object.hasOwn(S2S_OPERATIONS, action) || isDialectAction(action) ? (action as S2sAction | DialectAction) : undefined;

export const s2sDirectRoute = (handle: S2sHandler): DirectRoute => ({
  path: '/post',
  mediaType: URL_ENCODED,
  protocol: 's2s',
  action: 'unknown',
  handle: (request, address, bytes) => handle(request, URL_ENCODED, address, bytes),
});

/** The route of the framework, for the requests that the listener leaves to it: see `listener.ts`. */
export function s2sRoutes(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest) => string,
  limits: RequestLimits,
  handle: S2sHandler,
): void {
  const budget = createBudget(LIMITS.largeBodiesBytes);
  gateway.metrics.observeLargeBodies(() => budget.held);
  app.removeAllContentTypeParsers();
  const mayBeLarge = announcesLongField.bind(undefined, gateway);
  app.addContentTypeParser('*', createBodyReader({ budget, mayBeLarge }));
  app.addHook('onRequest', (request, _reply, done) => {
    request.action = 'unknown';
    request.call = { protocol: 's2s' };
    limits.countAddress(addressOf(request));
    done();
  });

  for (const path of ['/post', SALES_WITH_BRAND]) {
    app.post(path, async (request): Promise<S2sAnswer> => {
      const sent = (request.body as Buffer | LargeBody | undefined) ?? EMPTY;
      const bytes = sent instanceof LargeBody ? sent.bytes : sent;
      try {
        return await handle(request, request.headers['content-type'] ?? '', addressOf(request), bytes, path);
      } finally {
        if (sent instanceof LargeBody) sent.release();
      }
    });
  }
}

/** Refuses a body that exceeds the usual limit even without its long fields. */
function refuseLargeBody({ form }: S2sBody): void {
  let length = 0;
  for (const [name, value] of form.values) length += LONG_FIELDS.has(name) ? 0 : name.length + value.length;
  if (length > LIMITS.bodyBytes || form.problems.length > 0) throw new Refusal('bodyTooLarge');
}

/** The action of a request; a body that cannot be parsed is refused as invalid, not as an unknown action. */
function actionOf(body: S2sBody): string {
  const action = body.value('action');
  if (action === '' && body.problems.length > 0) throw new Refusal('invalidData', body.problems);
  if (body.isNested('action')) throw invalidField('action', SENTENCES.notSingle);
  return action;
}
