/** The callback inbox of the sandbox: an endpoint that receives callbacks as a merchant's server does, and its admin calls. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import {
  clearInbox,
  fieldsOf,
  type InboxCallback,
  listInbox,
  receive,
  setInboxAnswer,
} from '../../core/sandbox/callback-inbox.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs, requireSeen } from '../bearer.ts';
import { type BodyChecks, isCount, isWithin, readBody } from './body.ts';

interface AccountParams {
  Params: { mid: string };
}

const EMPTY = Buffer.alloc(0);

/** Whether a header has credentials, by its name or, if the name is misspelt, by its value. */
const isCredential = (name: string, value: unknown): boolean =>
  ['authorization', 'proxy-authorization', 'cookie'].includes(name) ||
  /^(?:bearer|basic|digest)\s/i.test(String(value));

/** The receiving endpoint. It requires no token, like a merchant's server. */
export function callbackInboxRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));

  app.post<AccountParams>('/callbacks/:mid', async (request, reply) => {
    request.action = 'callback received';
    const { params } = request;
    // The gateway sends no credentials, and those of another sender do not belong into the inbox.
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name, value]) => !isCredential(name, value)),
    );
    const answer = await receive(gateway, params.mid, { headers, body: (request.body as Buffer | undefined) ?? EMPTY });
    request.mid = params.mid;
    return reply.code(answer).send({ result: answer < 300 ? 'SUCCESS' : 'ERROR' });
  });
}

/** The range and the default of each query parameter. */
const QUERY = {
  after: { most: 2 ** 31 - 1, least: 0, fallback: 0 },
  limit: { most: LIMITS.adminPageSizeMost, least: 1, fallback: LIMITS.adminPageSize },
  wait: { most: LIMITS.inboxWaitMs / 1000, least: 0, fallback: 0 },
} as const;

const ANSWER_BODY: BodyChecks = { answer: isWithin(200, 599), count: isCount };

/** The calls that read and configure the inbox; they require the admin token. */
export function callbackInboxAdminRoutes(app: FastifyInstance, gateway: Gateway): void {
  const closing = new AbortController();
  // A long poll must not delay the shutdown.
  app.addHook('preClose', (done) => {
    closing.abort();
    done();
  });

  app.get<AccountParams>('/callbacks/:mid', needs('sandbox.use', 'accounts'), async (request, reply) => {
    requireSeen(request, request.params.mid, 'noSuchAccount');
    request.isRead = true;
    const { after, limit, wait } = readQuery(request.query as Record<string, unknown>);
    const signal = AbortSignal.any([closing.signal, disconnectSignal(reply)]);
    const options = { after, limit, waitMs: wait * 1000, signal };
    const { items, last, url } = await listInbox(gateway, request.params.mid, options);
    const newest = items.at(-1)?.number ?? last;
    return { items: items.map(inboxCallbackView), next_cursor: newest < last ? String(newest) : null, last, url };
  });

  app.delete<AccountParams>('/callbacks/:mid', needs('sandbox.use', 'accounts'), async (request) => {
    requireSeen(request, request.params.mid, 'noSuchAccount');
    return { deleted: await clearInbox(gateway, request.caller, request.params.mid) };
  });

  app.post<AccountParams>('/callbacks/:mid', needs('sandbox.use', 'accounts'), async (request) => {
    requireSeen(request, request.params.mid, 'noSuchAccount');
    const { answer, count = 1 } = readBody(request.body, ANSWER_BODY) as { answer?: number; count?: number };
    if (answer === undefined) throw invalidField('answer', SENTENCES.blank);
    await setInboxAnswer(gateway, request.caller, request.params.mid, answer, count);
    return { result: 'SUCCESS', answer, count };
  });
}

/** Aborts when the client closes the connection. */
function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  raw.once('close', () => disconnected.abort());
  return disconnected.signal;
}

function readQuery(query: Record<string, unknown>): Record<keyof typeof QUERY, number> {
  const problems: Problem[] = Object.keys(query)
    .filter((name) => !Object.hasOwn(QUERY, name))
    .map((name) => ({ field: /^\w{1,64}$/.test(name) ? name : 'query', sentence: 'This parameter does not exist.' }));
  const values = Object.entries(QUERY).map(([name, { least, most, fallback }]) => {
    const text = query[name] ?? String(fallback);
    const value = /^\d{1,10}$/.test(String(text)) ? Number(text) : -1;
    if (value < least || value > most) {
      problems.push({ field: name, sentence: `This value should be a whole number from ${least} to ${most}.` });
    }
    return [name, value];
  });
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return Object.fromEntries(values);
}

const inboxCallbackView = (received: InboxCallback) => ({
  number: received.number,
  received_at: wireDate(received.receivedAt),
  webhook_id: received.headers['webhook-id'] ?? null,
  content_type: received.headers['content-type'] ?? null,
  headers: received.headers,
  body: received.body.toString('utf8'),
  fields: fieldsOf(received) ?? null,
  hash_is_valid: received.isHashValid,
  signature_is_valid: received.isSignatureValid,
  answered: received.answer,
});
