/** Admin call of the hash debugger: explains the hash of a merchant request. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import type { Explanation } from '../../core/explain/explain.ts';
import { explainAs, type SentRequest } from '../../core/explain/explain-as.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { needs } from '../bearer.ts';
import { objectBody, uuidText } from './input.ts';

export function explainRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.post('/explain', needs('requests.explain', 'accounts'), async (request) => {
    const explanation = await explainAs(gateway, request.principal, request.caller, readInput(request.body));
    request.mid = explanation.mid;
    return view(explanation);
  });
}

const view = ({ mid, protocol, action, alternatives, fields, signedText, ...rest }: Explanation) => ({
  mid,
  protocol,
  action,
  alternatives,
  fields,
  signed_text: signedText,
  ...rest,
});

function readInput(body: unknown): SentRequest {
  const { mid, request, path } = objectBody(body);
  const problems: Problem[] = [];
  if (typeof mid !== 'string' || !isUuid(mid)) {
    problems.push({
      field: 'mid',
      sentence: (mid ?? '') === '' ? SENTENCES.blank : SENTENCES.notUuid,
      expected: uuidText.expected,
    });
  }
  if ((request ?? '') === '') problems.push({ field: 'request', sentence: SENTENCES.blank });
  else if (typeof request !== 'string') problems.push({ field: 'request', sentence: SENTENCES.notText });
  if ((path ?? '') !== '' && typeof path !== 'string') problems.push({ field: 'path', sentence: SENTENCES.notText });
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return {
    mid: (mid as string).toLowerCase(),
    text: request as string,
    path: (path as string | undefined) || undefined,
  };
}
