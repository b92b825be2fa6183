/** Adjustments: proposed by one person, decided by another; the approval posts the entry in the same transaction. */
import type { AdjustmentState, LedgerEntry } from '../../rules/ledger.ts';
import { type AuditActor, type AuditEntry, appendAudit } from '../audit/audit.ts';
import { clientOf } from '../database/client.ts';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { lockCycles } from '../settlements/cycles.ts';
import { addEntries } from './entries.ts';

export interface Adjustment {
  mid: string;
  adjustmentId: string;
  currency: string;
  amount: bigint;
  reason: string;
  state: AdjustmentState;
  authorKind: AuditActor['kind'];
  authorId: string | null;
  authorName: string;
  proposedAt: number;
  decidedBy: string | null;
  decidedAt: number | null;
}

export interface AdjustmentFilter {
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  mid?: string | undefined;
  state?: AdjustmentState | undefined;
  adjustmentId?: string | undefined;
}

/** What a decision writes. */
export interface AdjustmentDecision {
  state: 'approved' | 'refused';
  decidedBy: string;
  decidedAt: number;
  /** Of an approval. */
  entry: LedgerEntry | null;
  audit: AuditEntry;
}

export interface AdjustmentStore {
  propose(adjustment: Adjustment, audit: AuditEntry): Promise<void>;
  /** Newest first; `before` is the last one of the page before. */
  list(filter: AdjustmentFilter, limit: number, before?: string): Promise<Adjustment[]>;
  /** Decides on the locked row, once; the decision refuses by throwing. */
  decide(
    key: Pick<Adjustment, 'mid' | 'adjustmentId'>,
    decide: (adjustment: Adjustment) => AdjustmentDecision,
  ): Promise<Adjustment>;
}

export function createAdjustmentStore({ query }: Database): AdjustmentStore {
  return {
    propose: ({ proposedAt, decidedAt: _, ...adjustment }, audit) =>
      query.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('ledgerAdjustments')
          .values({ ...adjustment, proposedAt: iso(proposedAt) })
          .execute();
        await appendAudit(transaction, audit);
      }),
    async list({ mids, mid, state, adjustmentId }, limit, before) {
      let found = query.selectFrom('ledgerAdjustments').selectAll().orderBy('adjustmentId', 'desc').limit(limit);
      if (mids !== null) found = found.where('mid', 'in', [...mids]);
      if (mid !== undefined) found = found.where('mid', '=', mid);
      if (state !== undefined) found = found.where('state', '=', state);
      if (adjustmentId !== undefined) found = found.where('adjustmentId', '=', adjustmentId);
      if (before !== undefined) found = found.where('adjustmentId', '<', before);
      return (await found.execute()) as Adjustment[];
    },
    decide: ({ mid, adjustmentId }, decide) =>
      query.transaction().execute(async (transaction) => {
        const row = await transaction
          .selectFrom('ledgerAdjustments')
          .selectAll()
          .where('mid', '=', mid)
          .where('adjustmentId', '=', adjustmentId)
          .forUpdate()
          .executeTakeFirstOrThrow();
        await lockCycles(transaction, [row]);
        const { state, decidedBy, decidedAt, entry, audit } = decide(row as Adjustment);
        await transaction
          .updateTable('ledgerAdjustments')
          .set({ state, decidedBy, decidedAt: iso(decidedAt) })
          .where('mid', '=', mid)
          .where('adjustmentId', '=', adjustmentId)
          .execute();
        if (entry) await addEntries(clientOf(transaction), [entry]);
        await appendAudit(transaction, audit);
        return { ...(row as Adjustment), state, decidedBy, decidedAt };
      }),
  };
}
