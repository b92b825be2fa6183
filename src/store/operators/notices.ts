/** The topics that operators want to be told of by e-mail: chosen ones, and those that are due. */

import type { Attention } from '../../rules/attention.ts';
import type { NoticeTopic } from '../../rules/notices.ts';
import { REFUND_MARK } from '../../rules/refund-requests.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { columns, iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { PaymentKey } from '../payments/payments.ts';

export interface DueNotice {
  operatorId: string;
  topic: NoticeTopic;
  /** What happened until then was told. */
  toldUntil: number;
  /** The end of the lease. */
  dueAt: number;
}

/** A payment that came onto the attention list, or a refund of it that waits for a second person. */
export interface MarkedPayment extends PaymentKey {
  orderId: string;
  attention: Attention | typeof REFUND_MARK;
}

export interface NoticeStore {
  /** In no particular order. */
  chosen(operatorId: string): Promise<NoticeTopic[]>;
  /** Replaces the topics; those that stay keep what was told. `dueAt` says when each new one is looked at first. */
  choose(
    operatorId: string,
    topics: readonly { topic: NoticeTopic; dueAt: number }[],
    now: number,
    audit: AuditEntry,
  ): Promise<void>;
  /** Claims due topics of active operators under a lease. */
  claimDue(now: number, leaseMs: number, most: number): Promise<DueNotice[]>;
  /** Ends a lease; nothing if another process has claimed the topic since. */
  record(claimed: DueNotice, next: Pick<DueNotice, 'toldUntil' | 'dueAt'>): Promise<void>;
  /** The payments on the attention list that changed after `since`, and refunds that wait since then, newest first. */
  marked(mids: readonly string[] | null, since: number, most: number): Promise<MarkedPayment[]>;
}

const COLUMNS = ['operatorId', 'topic', 'toldUntil', 'dueAt'] as const satisfies (keyof DueNotice)[];

const CLAIM = `
  with due as materialized (
    select n.operator_id, n.topic from operator_notices n join operators o using (operator_id)
    where n.due_at <= $1 and o.state = 'active'
    order by n.due_at limit $3 for update of n skip locked
  )
  update operator_notices n set due_at = $1::timestamptz + $2 * interval '1 ms' from due
  where n.operator_id = due.operator_id and n.topic = due.topic
  returning ${columns('n', COLUMNS)}`;

export function createNoticeStore({ pool, query }: Database): NoticeStore {
  return {
    async chosen(operatorId) {
      const rows = await query
        .selectFrom('operatorNotices')
        .select('topic')
        .where('operatorId', '=', operatorId)
        .execute();
      return rows.map(({ topic }) => topic as NoticeTopic);
    },
    choose: (operatorId, topics, now, audit) =>
      query.transaction().execute(async (transaction) => {
        let removed = transaction.deleteFrom('operatorNotices').where('operatorId', '=', operatorId);
        if (topics.length > 0) {
          removed = removed.where(
            'topic',
            'not in',
            topics.map(({ topic }) => topic),
          );
        }
        await removed.execute();
        for (const { topic, dueAt } of topics) {
          await transaction
            .insertInto('operatorNotices')
            .values({ operatorId, topic, toldUntil: iso(now), dueAt: iso(dueAt) })
            .onConflict((conflict) => conflict.doNothing())
            .execute();
        }
        await appendAudit(transaction, audit);
      }),
    async claimDue(now, leaseMs, most) {
      return (await pool.query<DueNotice>(CLAIM, [iso(now), leaseMs, most])).rows;
    },
    async record({ operatorId, topic, dueAt: claimedUntil }, { toldUntil, dueAt }) {
      await pool.query(
        `update operator_notices set told_until = $3, due_at = $4
         where operator_id = $1 and topic = $2 and due_at = $5`,
        [operatorId, topic, iso(toldUntil), iso(dueAt), iso(claimedUntil)],
      );
    },
    async marked(mids, since, most) {
      const { rows } = await pool.query<MarkedPayment>(
        `select mid, "paymentId", "orderId", attention from (
           select ${columns('p', ['mid', 'paymentId', 'orderId'])}, attention::text, updated_at as at from payments p
           where attention is not null and updated_at > $2 and ($1::uuid[] is null or mid = any($1))
           union all
           select ${columns('p', ['mid', 'paymentId', 'orderId'])}, '${REFUND_MARK}', r.requested_at
           from refund_requests r join payments p on p.mid = r.mid and p.payment_id = r.payment_id
           where r.state = 'waiting' and r.requested_at > $2 and ($1::uuid[] is null or r.mid = any($1))
         ) found order by at desc limit $3`,
        [mids, iso(since), most],
      );
      return rows;
    },
  };
}
