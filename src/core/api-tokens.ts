/** API tokens: creates, lists and revokes them, and identifies the caller by one. */
import { hash, timingSafeEqual } from 'node:crypto';
import { newId, newSecret } from '../lib/id.ts';
import { Secret } from '../lib/secret.ts';
import { Refusal } from '../rules/errors.ts';
import type { Role } from '../rules/roles.ts';
import type { ApiToken } from '../store/api-tokens.ts';
import type { Gateway } from './context.ts';
import { auditEntry, type Caller, type Principal } from './principal.ts';

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
  expiresAt: number | null;
}

/** The token is returned this once; only its digest is stored. */
export async function createToken(
  gateway: Gateway,
  by: Caller,
  wanted: NewToken,
): Promise<{ token: ApiToken; secret: Secret }> {
  const secret = PREFIX + newSecret(32);
  const token = { ...wanted, tokenId: newId(), createdAt: gateway.clock.real(), lastUsedAt: null };
  const { tokenId: subject, name, role, mids, expiresAt } = token;
  const after = { name, role, mids, expires_at: expiresAt };
  await gateway.apiTokens.insert(token, digestOf(secret), auditEntry(gateway, by, 'tokens.create', { subject, after }));
  return { token, secret: new Secret(secret) };
}

export const listTokens = ({ apiTokens }: Gateway): Promise<ApiToken[]> => apiTokens.list();

/** The token is refused from the next call on. */
export async function revokeToken(gateway: Gateway, by: Caller, tokenId: string): Promise<void> {
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
    return { kind: 'token', id: null, name: 'TURNPIKE_ADMIN_TOKEN', role: 'owner', mids: null };
  }
  if (!token.startsWith(PREFIX)) return undefined;
  const found = await gateway.apiTokens.findByDigest(digest);
  const now = gateway.clock.real();
  if (!found || (found.expiresAt !== null && found.expiresAt <= gateway.clock.now())) return undefined;
  const { lastUsedAt } = found;
  if (lastUsedAt === null || lastUsedAt < now - TOUCH_INTERVAL_MS) await gateway.apiTokens.touch(found.tokenId, now);
  return { kind: 'token', id: found.tokenId, name: found.name, role: found.role, mids: found.mids };
}
