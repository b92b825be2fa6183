/** Chargebacks and their evidence: lists them, and changes them together with the entry of the audit log. */
import { sql } from 'kysely';
import type { ChargebackStage, ChargebackState } from '../../rules/chargebacks.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { columns, iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Decide } from '../database/decision.ts';
import type { PaymentKey } from '../payments/payments.ts';

export interface Chargeback extends PaymentKey {
  stage: ChargebackStage;
  amount: bigint;
  /** In the provider's words; empty if it names none. */
  reason: string;
  /** When the provider reported this stage. */
  receivedAt: number;
  /** Null if the bank takes no answer. */
  respondBy: number | null;
  state: ChargebackState;
  note: string;
}

/** A chargeback with what a list shows of its payment. */
export interface ListedChargeback extends Chargeback {
  orderId: string;
  currency: string;
  files: number;
}

export interface ChargebackFilter {
  mid?: string | undefined;
  state?: ChargebackState | undefined;
  stage?: ChargebackStage | undefined;
  from?: number | undefined;
  to?: number | undefined;
  paymentId?: string | undefined;
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
}

export type ChargebackCursor = Pick<Chargeback, 'receivedAt' | 'paymentId'>;

export interface Evidence extends PaymentKey {
  evidenceId: string;
  name: string;
  mediaType: string;
  sizeBytes: number;
  addedBy: string;
  createdAt: number;
}

export interface ChargebackStore {
  /**
   * Records a stage that a provider reported; a repeated or an earlier one changes nothing, unless the payment was won. An
   * inquiry and a warning need an answer each: the nearest deadline of both is kept, in whichever order they arrive.
   */
  record(chargeback: Omit<Chargeback, 'state' | 'note'>): Promise<void>;
  /** Writes the state that a provider reported; an answer matters only while the chargeback is open. */
  report(key: PaymentKey, state: ChargebackState, at: number): Promise<void>;
  /** Newest first. */
  list(filter: ChargebackFilter, limit: number, before?: ChargebackCursor): Promise<ListedChargeback[]>;
  /** Undefined if there is no such chargeback. */
  change(
    key: PaymentKey,
    at: number,
    decide: Decide<Chargeback, Partial<Pick<Chargeback, 'state' | 'note'>>>,
  ): Promise<Chargeback | undefined>;
  /** Oldest first, without the contents. */
  evidence(key: PaymentKey): Promise<Evidence[]>;
  /** The sealed content of a file. */
  readEvidence(key: Pick<Evidence, 'mid' | 'paymentId' | 'evidenceId'>): Promise<Buffer | undefined>;
  /** False if the chargeback has `most` files already. */
  addEvidence(evidence: Evidence, sealed: Buffer, most: number, audit: AuditEntry): Promise<boolean>;
  /** False if there is no such file. */
  deleteEvidence(key: Pick<Evidence, 'mid' | 'paymentId' | 'evidenceId'>, audit: AuditEntry): Promise<boolean>;
}

const COLUMNS = ['mid', 'paymentId', 'stage', 'amount', 'reason', 'receivedAt', 'respondBy', 'state', 'note'] as const;
const EVIDENCE_COLUMNS = [
  'mid',
  'paymentId',
  'evidenceId',
  'name',
  'mediaType',
  'sizeBytes',
  'addedBy',
  'createdAt',
] as const;

export function createChargebackStore({ query }: Database): ChargebackStore {
  return {
    async record({ mid, paymentId, stage, amount, reason, receivedAt, respondBy }) {
      const at = iso(receivedAt);
      const until = respondBy === null ? null : iso(respondBy);
      await sql`
        insert into chargebacks as c (mid, payment_id, stage, amount, reason, received_at, respond_by, changed_at)
        values (${mid}, ${paymentId}, ${stage}, ${amount}, ${reason}, ${at}, ${until}, ${at})
        on conflict (mid, payment_id) do update
        set stage = excluded.stage, amount = excluded.amount, reason = excluded.reason, state = 'open',
          received_at = excluded.received_at, changed_at = excluded.changed_at, respond_by = case
            when c.state = 'open' and excluded.stage = 'warning' then least(c.respond_by, excluded.respond_by)
            else excluded.respond_by end
        where excluded.stage > c.stage or c.state = 'won'`.execute(query);
      if (stage === 'inquiry')
        await sql`
          update chargebacks set state = 'open', respond_by = ${until}, changed_at = ${at}
          where mid = ${mid} and payment_id = ${paymentId} and stage = 'warning'
            and coalesce(respond_by, 'infinity') > ${until}`.execute(query);
    },
    async report({ mid, paymentId }, state, at) {
      await sql`
        update chargebacks set state = ${state}, changed_at = ${iso(at)}
        where mid = ${mid} and payment_id = ${paymentId} and (state = 'open' or ${state} <> 'answered')`.execute(query);
    },
    async list({ mid, state, stage, from, to, paymentId, mids }, limit, before) {
      const conditions = [
        mid !== undefined && sql`c.mid = ${mid}`,
        mids !== null && sql`c.mid = any(${[...mids]}::uuid[])`,
        paymentId !== undefined && sql`c.payment_id = ${paymentId}`,
        state !== undefined && sql`c.state = ${state}`,
        stage !== undefined && sql`c.stage = ${stage}`,
        from !== undefined && sql`c.received_at >= ${iso(from)}`,
        to !== undefined && sql`c.received_at < ${iso(to)}`,
        before &&
          sql`(c.received_at, c.payment_id) < (${iso(before.receivedAt)}::timestamptz, ${before.paymentId}::uuid)`,
      ].filter((condition) => condition !== false && condition !== undefined);
      const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``;
      const { rows } = await sql<ListedChargeback>`
        select ${sql.raw(columns('c', COLUMNS))}, p.order_id as "orderId", p.currency, (
            select count(*)::int from chargeback_evidence e where e.mid = c.mid and e.payment_id = c.payment_id
          ) as files
        from chargebacks c join payments p on p.mid = c.mid and p.payment_id = c.payment_id ${where}
        order by c.received_at desc, c.payment_id desc limit ${limit}`.execute(query);
      return rows;
    },
    async change({ mid, paymentId }, at, decide) {
      return query.transaction().execute(async (transaction) => {
        const before = (await transaction
          .selectFrom('chargebacks')
          .select(COLUMNS)
          .where('mid', '=', mid)
          .where('paymentId', '=', paymentId)
          .forUpdate()
          .executeTakeFirst()) as Chargeback | undefined;
        if (!before) return undefined;
        const { change, audit } = decide(before);
        await transaction
          .updateTable('chargebacks')
          .set({ ...change, changedAt: iso(at) })
          .where('mid', '=', mid)
          .where('paymentId', '=', paymentId)
          .execute();
        await appendAudit(transaction, audit);
        return { ...before, ...change };
      });
    },
    evidence: ({ mid, paymentId }) =>
      query
        .selectFrom('chargebackEvidence')
        .select(EVIDENCE_COLUMNS)
        .where('mid', '=', mid)
        .where('paymentId', '=', paymentId)
        .orderBy('evidenceId')
        .execute(),
    async readEvidence({ mid, paymentId, evidenceId }) {
      const row = await query
        .selectFrom('chargebackEvidence')
        .select('sealed')
        .where('mid', '=', mid)
        .where('paymentId', '=', paymentId)
        .where('evidenceId', '=', evidenceId)
        .executeTakeFirst();
      return row?.sealed;
    },
    addEvidence: (evidence, sealed, most, audit) =>
      query.transaction().execute(async (transaction) => {
        const { mid, paymentId } = evidence;
        // The lock lets one file in at a time, so that the count is right.
        await sql`select from chargebacks where mid = ${mid} and payment_id = ${paymentId} for update`.execute(
          transaction,
        );
        const { rows } = await sql<{ files: number }>`select count(*)::int as files from chargeback_evidence
          where mid = ${mid} and payment_id = ${paymentId}`.execute(transaction);
        if ((rows[0]?.files ?? 0) >= most) return false;
        await transaction
          .insertInto('chargebackEvidence')
          .values({ ...evidence, sealed, createdAt: iso(evidence.createdAt) })
          .execute();
        await appendAudit(transaction, audit);
        return true;
      }),
    deleteEvidence: ({ mid, paymentId, evidenceId }, audit) =>
      query.transaction().execute(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('chargebackEvidence')
          .where('mid', '=', mid)
          .where('paymentId', '=', paymentId)
          .where('evidenceId', '=', evidenceId)
          .executeTakeFirst();
        if (numDeletedRows === 0n) return false;
        await appendAudit(transaction, audit);
        return true;
      }),
  };
}
