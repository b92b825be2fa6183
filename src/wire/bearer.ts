/** Authentication by bearer token and JSON parsing for the admin and sandbox APIs. */
import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Refusal } from '../rules/errors.ts';

const BEARER = /^bearer +([^ ]+)$/i;

export function requireBearer(app: FastifyInstance, action: string, isToken: (digest: Buffer) => boolean): void {
  app.addHook('onRequest', async (request, reply) => {
    request.action = action;
    const [, token] = BEARER.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined || !isToken(hash('sha256', token, 'buffer'))) {
      reply.header('www-authenticate', 'Bearer');
      throw new Refusal('unauthorised');
    }
  });
}

/** Accepts an empty body with a JSON content type, which clients send with calls that have no body. */
export function readOptionalJson(app: FastifyInstance): void {
  const readJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) =>
    text === '' ? done(null, undefined) : readJson(request, text as string, done),
  );
}
