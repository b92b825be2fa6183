/** Authentication by bearer token, the permission of each route, and JSON parsing for the admin and sandbox APIs. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Caller, callerOf, type Principal, sees } from '../core/principal.ts';
import { type ErrorName, Refusal } from '../rules/errors.ts';
import { isAllowed, type Permission } from '../rules/roles.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the routes of the admin and sandbox APIs. */
    principal: Principal;
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** What the caller of the route needs; every route of the admin and sandbox APIs has one. */
    permission?: Permission | 'any';
  }
}

export interface Access {
  /** The caller that this token identifies. */
  principalOf(token: string): Promise<Principal | undefined>;
  addressOf(request: FastifyRequest): string;
}

const BEARER = /^bearer +([^ ]+)$/i;

export function requireBearer(app: FastifyInstance, action: string, { principalOf, addressOf }: Access): void {
  app.addHook('onRoute', ({ config, method, url }) => {
    if (!config?.permission) throw new Error(`The route ${method} ${url} names no permission.`);
  });
  app.addHook('onRequest', async (request, reply) => {
    request.action = action;
    const [, token] = BEARER.exec(request.headers.authorization ?? '') ?? [];
    const principal = token === undefined ? undefined : await principalOf(token);
    if (!principal) {
      reply.header('www-authenticate', 'Bearer');
      throw new Refusal('unauthorised');
    }
    request.principal = principal;
    request.caller = callerOf(principal, addressOf(request));
    const { permission = 'any' } = request.routeOptions.config;
    if (permission !== 'any' && !isAllowed(principal.role, permission)) throw new Refusal('forbidden');
  });
}

/** The options of a route that needs this permission. */
export const needs = (permission: Permission | 'any') => ({ config: { permission } });

/** Refuses a caller that may not see this account, as if the account or what belongs to it did not exist. */
export function requireSeen({ principal }: FastifyRequest, mid: string | undefined, error: ErrorName): void {
  if (mid === undefined || !sees(principal, mid)) throw new Refusal(error);
}

/** Refuses a caller that is restricted to some accounts: the call concerns the whole installation. */
export function requireUnrestricted({ principal }: FastifyRequest): void {
  if (principal.mids !== null) throw new Refusal('forbidden');
}

/** Accepts an empty body with a JSON content type, which clients send with calls that have no body. */
export function readOptionalJson(app: FastifyInstance): void {
  const readJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) =>
    text === '' ? done(null, undefined) : readJson(request, text as string, done),
  );
}
