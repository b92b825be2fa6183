/** API tokens: who may call the admin API, with which role, until when. */
import type { Role } from '../../rules/roles.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

export interface ApiToken {
  tokenId: string;
  name: string;
  role: Role;
  /** The accounts that the token may see; null means all. */
  mids: string[] | null;
  /** The most that the token refunds of one payment, a decimal number in its currency; null for no limit. */
  refundLimit: string | null;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
}

export interface ApiTokenStore {
  insert(token: ApiToken, digest: Buffer, audit: AuditEntry): Promise<void>;
  find(tokenId: string): Promise<ApiToken | undefined>;
  findByDigest(digest: Buffer): Promise<ApiToken | undefined>;
  /** Newest first. */
  list(): Promise<ApiToken[]>;
  /** False if there is no such token. */
  delete(tokenId: string, audit: AuditEntry): Promise<boolean>;
  /** Records the time of use. */
  touch(tokenId: string, now: number): Promise<void>;
}

const COLUMNS = ['tokenId', 'name', 'role', 'mids', 'refundLimit', 'createdAt', 'expiresAt', 'lastUsedAt'] as const;

export function createApiTokenStore({ query }: Database): ApiTokenStore {
  const tokens = () => query.selectFrom('apiTokens').select(COLUMNS);
  return {
    async insert(token, digest, audit) {
      await query.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('apiTokens')
          .values({
            ...token,
            digest,
            createdAt: iso(token.createdAt),
            expiresAt: isoOrNull(token.expiresAt),
            lastUsedAt: isoOrNull(token.lastUsedAt),
          })
          .execute();
        await appendAudit(transaction, audit);
      });
    },
    async find(tokenId) {
      return (await tokens().where('tokenId', '=', tokenId).executeTakeFirst()) as ApiToken | undefined;
    },
    async findByDigest(digest) {
      return (await tokens().where('digest', '=', digest).executeTakeFirst()) as ApiToken | undefined;
    },
    async list() {
      return (await tokens().orderBy('tokenId', 'desc').execute()) as ApiToken[];
    },
    delete: (tokenId, audit) =>
      query.transaction().execute(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('apiTokens')
          .where('tokenId', '=', tokenId)
          .executeTakeFirst();
        if (numDeletedRows === 0n) return false;
        await appendAudit(transaction, audit);
        return true;
      }),
    async touch(tokenId, now) {
      await query
        .updateTable('apiTokens')
        .set({ lastUsedAt: iso(now) })
        .where('tokenId', '=', tokenId)
        .execute();
    },
  };
}
