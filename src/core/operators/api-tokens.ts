/** API tokens: creates, lists and revokes them, and identifies the caller by one. */
import { hash, timingSafeEqual } from 'node:crypto';
import { isUuid, newId, newSecret } from '../../lib/crypto/id.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import { Refusal } from '../../rules/errors.ts';
import type { Role } from '../../rules/roles.ts';
import type { ApiToken } from '../../store/operators/api-tokens.ts';
import type { Gateway } from '../context.ts';
import { requireAccounts } from './access-input.ts';
import { auditEntry, type Caller, covers, type Principal, type Reach, requireCovered } from './principal.ts';

/** Tokens are recognisable, so that scanners find one that was published by mistake. */
const PREFIX = 'tpk_';

/** The time of use is exact to a minute, so that most calls write nothing. */
const TOUCH_INTERVAL_MS = 60_000;

export const TOKEN_NAME_LENGTH = 100;

const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer');

export interface NewToken {
  name: string;
  role: Role;
  mids: string[] | null;
  refundLimit: string | null;
  expiresAt: number | null;
}

/** The token is returned this once; only its digest is stored. It can do nothing that the caller cannot do. */
export async function createToken(
  gateway: Gateway,
  principal: Reach,
  by: Caller,
  wanted: NewToken,
): Promise<{ token: ApiToken; secret: Secret }> {
  requireCovered(principal, wanted);
  await requireAccounts(gateway, wanted.mids);
  const secret = PREFIX + newSecret(32);
  const token = { ...wanted, tokenId: newId(), createdAt: gateway.clock.real(), lastUsedAt: null };
  const { tokenId: subject, name, role, mids, refundLimit, expiresAt } = token;
  const after = { name, role, mids, refund_limit: refundLimit, expires_at: expiresAt };
  await gateway.apiTokens.insert(token, digestOf(secret), auditEntry(gateway, by, 'tokens.create', { subject, after }));
  return { token, secret: new Secret(secret) };
}

/** The tokens that the caller covers; to it, the others do not exist. */
export const listTokens = async ({ apiTokens }: Gateway, principal: Reach): Promise<ApiToken[]> =>
  (await apiTokens.list()).filter((token) => covers(principal, token));

/** The token is refused from the next call on. */
export async function revokeToken(gateway: Gateway, principal: Reach, by: Caller, tokenId: string): Promise<void> {
  const token = isUuid(tokenId) ? await gateway.apiTokens.find(tokenId) : undefined;
  if (!token || !covers(principal, token)) throw new Refusal('noSuchToken');
  const entry = auditEntry(gateway, by, 'tokens.revoke', { subject: tokenId });
  if (!(await gateway.apiTokens.delete(tokenId, entry))) throw new Refusal('noSuchToken');
}

/** The caller that a bearer token identifies; undefined if the token is unknown or has expired. */
export async function principalOf(
  gateway: Gateway,
  adminTokenDigest: Buffer,
  token: string,
): Promise<Principal | undefined> {
  const digest = digestOf(token);
  if (timingSafeEqual(digest, adminTokenDigest)) {
    return { kind: 'token', id: null, name: 'TURNPIKE_ADMIN_TOKEN', role: 'owner', mids: null, refundLimit: null };
  }
  if (!token.startsWith(PREFIX)) return undefined;
  const found = await gateway.apiTokens.findByDigest(digest);
  const now = gateway.clock.real();
  if (!found || (found.expiresAt !== null && found.expiresAt <= gateway.clock.now())) return undefined;
  const { lastUsedAt } = found;
  if (lastUsedAt === null || lastUsedAt < now - TOUCH_INTERVAL_MS) await gateway.apiTokens.touch(found.tokenId, now);
  const { tokenId: id, name, role, mids, refundLimit } = found;
  return { kind: 'token', id, name, role, mids, refundLimit };
}
