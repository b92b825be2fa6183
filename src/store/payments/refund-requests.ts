/** Refunds that need two persons: requested by one, decided by another, then sent as an operation of the payment. */
import type { RefundRequestState } from '../../rules/refund-requests.ts';
import { type AuditActor, type AuditEntry, appendAudit } from '../audit/audit.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

export interface RefundRequest {
  mid: string;
  requestId: string;
  paymentId: string;
  /** The operation that the approval makes. */
  operationId: string;
  /** What the request contained, to recognise a repetition. */
  content: string;
  currency: string;
  amount: bigint;
  note: string | null;
  state: RefundRequestState;
  authorKind: AuditActor['kind'];
  authorId: string | null;
  authorName: string;
  /** The limit of the author's refunds of one payment; null for no limit. */
  authorLimit: string | null;
  requestedAt: number;
  decidedBy: string | null;
  decidedAt: number | null;
  /** When the work loop sends an approved refund, if the process that approved it does not. */
  dueAt: number | null;
}

export interface RefundRequestFilter {
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  mid?: string | undefined;
  paymentId?: string | undefined;
  state?: RefundRequestState | undefined;
  requestId?: string | undefined;
}

/** A request with what a list shows of its payment. */
export interface ListedRefundRequest extends RefundRequest {
  orderId: string;
}

export type RefundRequestKey = Pick<RefundRequest, 'mid' | 'requestId'>;

export interface RefundRequestStore {
  /** Stores a request; returns the earlier one if its operation was requested before. */
  add(request: RefundRequest, audit: AuditEntry): Promise<RefundRequest>;
  /** The request of an operation. */
  ofOperation(key: Pick<RefundRequest, 'mid' | 'operationId'>): Promise<RefundRequest | undefined>;
  /** Newest first; `before` is the last one of the page before. */
  list(filter: RefundRequestFilter, limit: number, before?: string): Promise<ListedRefundRequest[]>;
  /** Decides on the locked row, once; the decision refuses by throwing. */
  decide(
    key: RefundRequestKey,
    decide: (
      request: RefundRequest,
    ) => Pick<RefundRequest, 'state' | 'decidedBy' | 'decidedAt' | 'dueAt'> & { audit: AuditEntry },
  ): Promise<RefundRequest>;
  /** Approved refunds that were not sent. */
  due(before: number, most: number): Promise<RefundRequest[]>;
  /** The refund was sent. */
  sent(key: RefundRequestKey): Promise<void>;
  /** The refund could not be sent: it waits for a decision again. */
  reopen(key: RefundRequestKey): Promise<void>;
}

export function createRefundRequestStore({ query }: Database): RefundRequestStore {
  const find = (mid: string, operationId: string) =>
    query.selectFrom('refundRequests').selectAll().where('mid', '=', mid).where('operationId', '=', operationId);
  /** Changes an approved request that is not sent yet. */
  const change = ({ mid, requestId }: RefundRequestKey) =>
    query
      .updateTable('refundRequests')
      .where('mid', '=', mid)
      .where('requestId', '=', requestId)
      .where('dueAt', 'is not', null);
  return {
    async add(request, audit) {
      const { requestedAt, decidedAt, dueAt, ...rest } = request;
      const values = {
        ...rest,
        requestedAt: iso(requestedAt),
        decidedAt: isoOrNull(decidedAt),
        dueAt: isoOrNull(dueAt),
      };
      const isAdded = await query.transaction().execute(async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto('refundRequests')
          .values(values)
          .onConflict((conflict) => conflict.columns(['mid', 'operationId']).doNothing())
          .executeTakeFirstOrThrow();
        if (numInsertedOrUpdatedRows !== 1n) return false;
        await appendAudit(transaction, audit);
        return true;
      });
      if (isAdded) return request;
      return (await find(request.mid, request.operationId).executeTakeFirstOrThrow()) as RefundRequest;
    },
    async ofOperation({ mid, operationId }) {
      return (await find(mid, operationId).executeTakeFirst()) as RefundRequest | undefined;
    },
    async list({ mids, mid, paymentId, state, requestId }, limit, before) {
      let found = query
        .selectFrom('refundRequests as r')
        .innerJoin('payments as p', (join) =>
          join.onRef('p.mid', '=', 'r.mid').onRef('p.paymentId', '=', 'r.paymentId'),
        )
        .selectAll('r')
        .select('p.orderId')
        .orderBy('r.requestId', 'desc')
        .limit(limit);
      if (mids !== null) found = found.where('r.mid', 'in', [...mids]);
      if (mid !== undefined) found = found.where('r.mid', '=', mid);
      if (paymentId !== undefined) found = found.where('r.paymentId', '=', paymentId);
      if (state !== undefined) found = found.where('r.state', '=', state);
      if (requestId !== undefined) found = found.where('r.requestId', '=', requestId);
      if (before !== undefined) found = found.where('r.requestId', '<', before);
      return (await found.execute()) as ListedRefundRequest[];
    },
    decide: ({ mid, requestId }, decide) =>
      query.transaction().execute(async (transaction) => {
        const row = (await transaction
          .selectFrom('refundRequests')
          .selectAll()
          .where('mid', '=', mid)
          .where('requestId', '=', requestId)
          .forUpdate()
          .executeTakeFirstOrThrow()) as RefundRequest;
        const { audit, ...decision } = decide(row);
        const { decidedAt, dueAt } = decision;
        await transaction
          .updateTable('refundRequests')
          .set({ ...decision, decidedAt: isoOrNull(decidedAt), dueAt: isoOrNull(dueAt) })
          .where('mid', '=', mid)
          .where('requestId', '=', requestId)
          .execute();
        await appendAudit(transaction, audit);
        return { ...row, ...decision };
      }),
    async due(before, most) {
      return (await query
        .selectFrom('refundRequests')
        .selectAll()
        .where('dueAt', '<=', iso(before) as never)
        .orderBy('dueAt')
        .limit(most)
        .execute()) as RefundRequest[];
    },
    async sent(key) {
      await change(key).set({ dueAt: null }).execute();
    },
    async reopen(key) {
      await change(key).set({ state: 'waiting', decidedBy: null, decidedAt: null, dueAt: null }).execute();
    },
  };
}
