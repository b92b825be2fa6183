/** Admin calls on access: who the caller is, and API tokens to create, list and revoke. */
import type { FastifyInstance } from 'fastify';
import type { ApiToken, Gateway } from '../../core/context.ts';
import { readAccess } from '../../core/operators/access-input.ts';
import {
  createToken,
  listTokens,
  type NewToken,
  revokeToken,
  TOKEN_NAME_LENGTH,
} from '../../core/operators/api-tokens.ts';
import { isText } from '../../lib/text/json.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { needs } from '../bearer.ts';
import { dateTime, objectBody, refuseUnknown } from './input.ts';

export function tokenRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/me', needs('any', 'accounts'), async ({ principal: { kind, name, role, mids, refundLimit } }) => ({
    kind,
    name,
    role,
    mids,
    refund_limit: refundLimit,
  }));

  app.post('/tokens', needs('tokens.manage', 'accounts'), async (request, reply) => {
    const wanted = readToken(request.body, gateway.clock.now());
    const { token, secret } = await createToken(gateway, request.principal, request.caller, wanted);
    reply.code(201);
    return { ...tokenView(token), token: secret.reveal() };
  });

  app.get('/tokens', needs('tokens.manage', 'accounts'), async ({ principal }) => ({
    items: (await listTokens(gateway, principal)).map(tokenView),
    next_cursor: null,
  }));

  app.delete<{ Params: { tokenId: string } }>(
    '/tokens/:tokenId',
    needs('tokens.manage', 'accounts'),
    async (request) => {
      const tokenId = request.params.tokenId.toLowerCase();
      await revokeToken(gateway, request.principal, request.caller, tokenId);
      return { token_id: tokenId, revoked: true };
    },
  );
}

function readToken(body: unknown, now: number): NewToken {
  const { name, expires_at: expires, role, mids, refund_limit, ...rest } = objectBody(body);
  refuseUnknown(rest, ['name', 'role', 'mids', 'refund_limit', 'expires_at']);
  const problems: Problem[] = [];
  if (!isText(name, TOKEN_NAME_LENGTH) || name.trim() === '') {
    problems.push({
      field: 'name',
      sentence: `This value should be a text of ${TOKEN_NAME_LENGTH} characters or less.`,
    });
  }
  const access = readAccess({ role, mids, refund_limit }, problems);
  const expiresAt = expires === undefined || expires === null ? null : dateTime(String(expires));
  if (expiresAt === undefined || (expiresAt !== null && expiresAt <= now)) {
    problems.push({
      field: 'expires_at',
      sentence: 'This value should be a date and time in the future.',
      expected: dateTime.expected,
    });
  }
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return { name: (name as string).trim(), ...access, expiresAt: expiresAt as number | null };
}

const tokenView = (token: ApiToken) => ({
  token_id: token.tokenId,
  name: token.name,
  role: token.role,
  mids: token.mids,
  refund_limit: token.refundLimit,
  created_at: wireDate(token.createdAt),
  expires_at: wireDateOrNull(token.expiresAt),
  last_used_at: wireDateOrNull(token.lastUsedAt),
});
