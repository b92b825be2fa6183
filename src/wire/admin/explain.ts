/** Admin call of the hash debugger: explains the hash of a merchant request. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { type Explanation, explain } from '../../core/explain/explain.ts';
import { auditEntry } from '../../core/principal.ts';
import { isUuid } from '../../lib/id.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { isAllowed } from '../../rules/roles.ts';
import { needs } from '../bearer.ts';
import { readPath, readRequest } from './explain-request.ts';
import { objectBody } from './input.ts';

export function explainRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.post('/explain', needs('requests.explain'), async (request) => {
    const { mids, role } = request.principal;
    // The digest of a status query is also that of a refund, so only a caller that may refund sees it.
    const showsDigests = isAllowed(role, 'payments.operate');
    const { mid, text, path } = readInput(request.body);
    const target = path === undefined ? undefined : readPath(path);
    const explanation = await explain(gateway, { mid, mids, showsDigests }, () => readRequest(text, target));
    request.mid = explanation.mid;
    const facts = { mid: explanation.mid, subject: explanation.action };
    if (showsDigests) await gateway.audit.append(auditEntry(gateway, request.caller, 'requests.explain', facts));
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

function readInput(body: unknown): { mid: string; text: string; path: string | undefined } {
  const { mid, request, path } = objectBody(body);
  const problems: Problem[] = [];
  if (typeof mid !== 'string' || !isUuid(mid)) {
    problems.push({ field: 'mid', sentence: (mid ?? '') === '' ? SENTENCES.blank : SENTENCES.notUuid });
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
