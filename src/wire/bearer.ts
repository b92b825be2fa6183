/** Authentication by bearer token, the permission and the scope of each route, and JSON parsing for the admin and sandbox APIs. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Caller, callerOf, isInScope, type Principal, sees } from '../core/operators/principal.ts';
import { isObject, withoutByteOrderMark } from '../lib/text/json.ts';
import { DOCS } from '../rules/docs.ts';
import { type ErrorName, type Problem, Refusal } from '../rules/errors.ts';
import { isAllowed, type Permission, SCOPES, type Scope } from '../rules/roles.ts';
import { invalidJson } from './envelope.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the routes of the admin and sandbox APIs. */
    principal: Principal;
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** What the caller of the route needs; every route of the admin and sandbox APIs has one. */
    permission?: Permission | 'any';
    /** What the route concerns; every route of the admin and sandbox APIs has one, too. */
    scope?: Scope;
  }
}

export interface Access {
  /** The caller that this token identifies. */
  principalOf(token: string): Promise<Principal | undefined>;
  addressOf(request: FastifyRequest): string;
}

const BEARER = /^bearer +([^ ]+)$/i;

const EXPECTED_TOKEN =
  'Authorization: Bearer, a space and the admin token or an API token, such as Bearer 870ff50b6385….';

/** What is wrong with the header; nothing of it is repeated. */
function tokenProblem(header: string | undefined): Problem {
  const sentence = header === undefined ? 'This header is missing.' : 'This value is not valid.';
  const isBearer = BEARER.test(header ?? '');
  const hint = isBearer ? 'The token is not known here, has expired or was revoked.' : undefined;
  return { field: 'authorization', sentence, expected: EXPECTED_TOKEN, hint, docs: DOCS.tokens };
}

export function requireBearer(app: FastifyInstance, action: string, { principalOf, addressOf }: Access): void {
  app.addHook('onRoute', ({ config, method, url }) => {
    if (!config?.permission) throw new Error(`The route ${method} ${url} names no permission.`);
    if (!config.scope || !SCOPES.includes(config.scope)) throw new Error(`The route ${method} ${url} names no scope.`);
  });
  app.addHook('onRequest', async (request, reply) => {
    request.action = action;
    const [, token] = BEARER.exec(request.headers.authorization ?? '') ?? [];
    const principal = token === undefined ? undefined : await principalOf(token);
    if (!principal) {
      reply.header('www-authenticate', 'Bearer');
      throw new Refusal('unauthorised', [tokenProblem(request.headers.authorization)]);
    }
    request.principal = principal;
    request.caller = callerOf(principal, addressOf(request));
    const { permission = 'any' } = request.routeOptions.config;
    if (permission !== 'any' && !isAllowed(principal.role, permission)) throw new Refusal('forbidden');
  });
  app.addHook('preHandler', async ({ principal, body, routeOptions }) => {
    const { scope = 'installation' } = routeOptions.config;
    if (!isInScope(principal, scope, isObject(body) ? body.mid : undefined)) throw new Refusal('forbidden');
  });
}

/** The options of a route that needs this permission, and concerns this. */
export const needs = (permission: Permission | 'any', scope: Scope) => ({ config: { permission, scope } });

/** Refuses a caller that may not see this account, as if the account or what belongs to it did not exist. */
export function requireSeen({ principal }: FastifyRequest, mid: string | undefined, error: ErrorName): void {
  if (mid === undefined || !sees(principal, mid)) throw new Refusal(error);
}

/** Accepts an empty body with a JSON content type, which clients send with calls that have no body. */
export function readOptionalJson(app: FastifyInstance): void {
  const readJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, sent, done) => {
    const text = withoutByteOrderMark(sent as string);
    if (text === '') done(null, undefined);
    else readJson(request, text, (error, body) => done(error && invalidJson(text), body));
  });
}
