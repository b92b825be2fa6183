/** Admin calls on access: who the caller is, the operators, and API tokens to create, list and revoke. */
import type { FastifyInstance } from 'fastify';
import { createToken, listTokens, type NewToken, revokeToken, TOKEN_NAME_LENGTH } from '../../core/api-tokens.ts';
import type { ApiToken, Gateway, Operator } from '../../core/context.ts';
import { listOperators } from '../../core/operators/manage.ts';
import { wireDate, wireDateOrNull } from '../../lib/clock.ts';
import { isUuid } from '../../lib/id.ts';
import { isText } from '../../lib/json.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { ROLES } from '../../rules/roles.ts';
import { needs } from '../bearer.ts';
import { dateTime, objectBody, refuseUnknown } from './input.ts';

const MOST_ACCOUNTS = 1000;

export function tokenRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/me', needs('any'), async ({ principal: { kind, name, role, mids } }) => ({ kind, name, role, mids }));

  app.get('/operators', needs('operators.manage'), async () => ({
    items: (await listOperators(gateway)).map(operatorView),
    next_cursor: null,
  }));

  app.post('/tokens', needs('tokens.manage'), async (request, reply) => {
    const wanted = readToken(request.body, gateway.clock.now());
    const { token, secret } = await createToken(gateway, request.caller, wanted);
    reply.code(201);
    return { ...tokenView(token), token: secret.reveal() };
  });

  app.get('/tokens', needs('tokens.manage'), async () => ({
    items: (await listTokens(gateway)).map(tokenView),
    next_cursor: null,
  }));

  app.delete<{ Params: { tokenId: string } }>('/tokens/:tokenId', needs('tokens.manage'), async (request) => {
    const { tokenId } = request.params;
    if (!isUuid(tokenId)) throw new Refusal('noSuchToken');
    await revokeToken(gateway, request.caller, tokenId.toLowerCase());
    return { token_id: tokenId.toLowerCase(), revoked: true };
  });
}

function readToken(body: unknown, now: number): NewToken {
  const { name, role: roleName, mids, expires_at: expires, ...rest } = objectBody(body);
  refuseUnknown(rest, ['name', 'role', 'mids', 'expires_at']);
  const problems: Problem[] = [];
  if (!isText(name, TOKEN_NAME_LENGTH) || name.trim() === '') {
    problems.push({
      field: 'name',
      sentence: `This value should be a text of ${TOKEN_NAME_LENGTH} characters or less.`,
    });
  }
  const role = ROLES.find((one) => one === roleName);
  if (!role) problems.push({ field: 'role', sentence: SENTENCES.notAChoice, expected: `One of ${ROLES.join(', ')}.` });
  const accounts = readAccounts(mids);
  if (accounts === undefined) {
    problems.push({ field: 'mids', sentence: `This value should be a list of 1 to ${MOST_ACCOUNTS} account ids.` });
  }
  if (role === 'merchant' && accounts === null)
    problems.push({
      field: 'mids',
      sentence: SENTENCES.blank,
      expected: 'The ids of the accounts that the merchant may see, as a list.',
    });
  const expiresAt = expires === undefined || expires === null ? null : dateTime(String(expires));
  if (expiresAt === undefined || (expiresAt !== null && expiresAt <= now)) {
    problems.push({
      field: 'expires_at',
      sentence: 'This value should be a date and time in the future.',
      expected: dateTime.expected,
    });
  }
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return { name: (name as string).trim(), role, mids: accounts, expiresAt } as NewToken;
}

/** Null means all accounts; undefined, a value that is not valid. */
function readAccounts(mids: unknown): string[] | null | undefined {
  if (mids === undefined || mids === null) return null;
  if (!Array.isArray(mids) || mids.length === 0 || mids.length > MOST_ACCOUNTS) return undefined;
  if (!mids.every((mid) => typeof mid === 'string' && isUuid(mid))) return undefined;
  return [...new Set(mids.map((mid) => mid.toLowerCase()))];
}

const operatorView = (operator: Operator) => ({
  operator_id: operator.operatorId,
  email: operator.email,
  name: operator.name,
  role: operator.role,
  mids: operator.mids,
  state: operator.state,
  created_at: wireDate(operator.createdAt),
  last_signed_in_at: wireDateOrNull(operator.lastSignedInAt),
});

const tokenView = (token: ApiToken) => ({
  token_id: token.tokenId,
  name: token.name,
  role: token.role,
  mids: token.mids,
  created_at: wireDate(token.createdAt),
  expires_at: wireDateOrNull(token.expiresAt),
  last_used_at: wireDateOrNull(token.lastUsedAt),
});
