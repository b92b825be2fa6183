/** The face of `/post`: reads a form, lets it through the gates, performs its action. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { S2S_OPERATIONS, type S2sAction } from '../../rules/operations.ts';
import { admit } from '../pipeline.ts';
import { S2S_ACTIONS } from './actions.ts';
import type { Answer } from './answers.ts';
import { readBody, type S2sBody } from './body.ts';

export function s2sFace(app: FastifyInstance, gateway: Gateway, addressOf: (request: FastifyRequest) => string): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    readBody(request.headers['content-type'] ?? '', bytes as Buffer).then((body) => done(null, body), done);
  });

  app.post('/post', async (request, reply): Promise<Answer> => {
    const body = (request.body as S2sBody | undefined) ?? (await readBody('', Buffer.alloc(0)));
    const action = actionOf(body);
    request.action = action ?? 'unknown';
    const account = await admit(gateway, {
      operation: action && S2S_OPERATIONS[action],
      body,
      keyField: 'client_key',
      address: addressOf(request),
      ...withAccountFields(action, body),
    });
    request.mid = account.mid;
    const answer = await S2S_ACTIONS[action as S2sAction].perform(gateway, account, body);
    request.outcome = answer.result as string;
    request.paymentId = answer.trans_id;
    reply.header('cache-control', 'no-store');
    return answer;
  });
}

function withAccountFields(action: S2sAction | undefined, body: S2sBody) {
  const accountFields = action && S2S_ACTIONS[action].accountFields;
  return accountFields
    ? { accountFields: (account: Parameters<typeof accountFields>[0]) => accountFields(account, body) }
    : {};
}

/** The action a body names; a body that cannot be read at all is refused as such, not as an unknown action. */
function actionOf(body: S2sBody): S2sAction | undefined {
  const action = body.value('action');
  if (action === '' && body.problems.length > 0) throw new Refusal('invalidData', body.problems);
  if (body.isNested('action')) throw new Refusal('invalidData', [{ field: 'action', sentence: SENTENCES.notSingle }]);
  return Object.hasOwn(S2S_OPERATIONS, action) ? (action as S2sAction) : undefined;
}
