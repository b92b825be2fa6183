/** The one-time links of operators, which are written beside other changes of them. */
import type { Transaction } from 'kysely';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { iso } from '../database/columns.ts';
import type { Schema } from '../schema.ts';

export interface Invitation {
  /** Null for the link that creates the first owner. */
  operatorId: string | null;
  expiresAt: number;
  /** The operator or the token that made the link; null for a command. */
  invitedBy: string | null;
}

export interface NewLink {
  /** Of the secret in the link. */
  digest: Buffer;
  invitation: Invitation;
  createdAt: number;
  audit: AuditEntry;
}

/** Creates a link; an earlier link of the same operator stops working. */
export async function writeLink(
  transaction: Transaction<Schema>,
  { digest, invitation: { operatorId, expiresAt, invitedBy }, createdAt, audit }: NewLink,
): Promise<void> {
  const link = { digest, invitedBy, createdAt: iso(createdAt), expiresAt: iso(expiresAt) };
  await transaction
    .insertInto('operatorInvitations')
    .values({ operatorId, ...link })
    .onConflict((conflict) => conflict.column('operatorId').doUpdateSet(link))
    .execute();
  await appendAudit(transaction, audit);
}
