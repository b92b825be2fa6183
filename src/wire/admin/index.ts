/** The admin API: JSON for operators, behind one bearer token. */
import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { Refusal } from '../../rules/errors.ts';
import { accountRoutes } from './accounts.ts';
import { clockRoutes } from './clock.ts';
import { paymentRoutes } from './payments.ts';

const BEARER = /^bearer +([^ ]+)$/i;

export function adminFace(app: FastifyInstance, gateway: Gateway, isToken: (digest: Buffer) => boolean): void {
  app.addHook('onRequest', async (request, reply) => {
    request.action = 'admin';
    reply.header('cache-control', 'no-store');
    const [, token] = BEARER.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined || !isToken(hash('sha256', token, 'buffer'))) {
      reply.header('www-authenticate', 'Bearer');
      throw new Refusal('unauthorised');
    }
  });
  // A call without a body may still say that it speaks JSON.
  const readJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) =>
    text === '' ? done(null, undefined) : readJson(request, text as string, done),
  );
  accountRoutes(app, gateway);
  paymentRoutes(app, gateway);
  if (gateway.environment === 'sandbox') clockRoutes(app, gateway);
}
