/** Messages to merchants about settlements: written with what they tell of, claimed under a lease, recorded, listed. */
import { sql } from 'kysely';
import { newId } from '../../lib/crypto/id.ts';
import {
  CALLBACK_SETTINGS,
  channelsOf,
  MAIL_SETTING,
  MESSAGE_LEASE_MS,
  type MessageChannel,
  type MessageState,
  type MessageType,
} from '../../rules/settlement-messages.ts';
import { claimStatement, iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

/** What happened, of which the merchant is told if its settings say so. */
export interface Happening {
  mid: string;
  type: MessageType;
  /** The state that the settlement or the transfer entered. */
  status: string;
  currency: string;
  settlementId: string | null;
  transferId: string | null;
  detail: string | null;
  at: number;
}

export interface SettlementMessage extends Omit<Happening, 'at'> {
  messageId: string;
  channel: MessageChannel;
  state: MessageState;
  attempts: number;
  /** What the receiver answered to the last attempt, or why there was no answer. */
  reason: string | null;
  dueAt: number | null;
  createdAt: number;
  attemptedAt: number | null;
}

/** What a message tells of besides its own columns. */
export interface MessageFacts {
  number: number;
  fromAt: number | null;
  untilAt: number;
  opening: bigint;
  closing: bigint;
  payout: bigint;
}

export interface MessageFilter {
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  mid?: string | undefined;
  settlementId?: string | undefined;
  state?: MessageState | undefined;
  messageId?: string | undefined;
}

export interface SettlementMessageStore {
  claimDue(most: number): Promise<SettlementMessage[]>;
  /** The settlement that a message is about. */
  facts(message: SettlementMessage): Promise<MessageFacts | undefined>;
  /** Records an attempt; false if the lease was lost, and another process has claimed the message. */
  record(
    claimed: SettlementMessage,
    outcome: Pick<SettlementMessage, 'state' | 'reason' | 'dueAt'> & { attemptedAt: number },
  ): Promise<boolean>;
  /** Newest first. */
  list(filter: MessageFilter, limit: number, before?: string): Promise<SettlementMessage[]>;
  /** Makes a message due again, with a new retry schedule. */
  resend(message: Pick<SettlementMessage, 'mid' | 'messageId'>, now: number): Promise<void>;
}

const COLUMNS = [
  ...(['mid', 'messageId', 'channel', 'type', 'status', 'currency', 'settlementId', 'transferId', 'detail'] as const),
  ...(['state', 'attempts', 'reason', 'dueAt', 'createdAt', 'attemptedAt'] as const),
] satisfies (keyof SettlementMessage)[];

const CLAIM = claimStatement('settlement_messages', 'message_id', COLUMNS);

/** Writes the messages that the settings of the accounts ask for, in the transaction of what happened. */
export async function writeMessages(transaction: Database['query'], happenings: readonly Happening[]): Promise<void> {
  const items = happenings.flatMap(({ at, ...one }) =>
    channelsOf(one.type, one.status).map((channel) => ({
      message_id: newId(),
      mid: one.mid,
      channel,
      type: one.type,
      status: one.status,
      currency: one.currency,
      settlement_id: one.settlementId,
      transfer_id: one.transferId,
      detail: one.detail,
      setting: channel === 'mail' ? MAIL_SETTING : CALLBACK_SETTINGS[one.type as keyof typeof CALLBACK_SETTINGS],
      at: iso(at),
    })),
  );
  if (items.length === 0) return;
  await sql`
    insert into settlement_messages (mid, message_id, channel, type, status, currency, settlement_id, transfer_id, detail,
      state, due_at, created_at)
    select i.mid, i.message_id, i.channel, i.type, i.status, i.currency, i.settlement_id, i.transfer_id, i.detail,
      'waiting', i.at, i.at
    from jsonb_to_recordset(${JSON.stringify(items)}::jsonb) i(message_id uuid, mid uuid, channel text, type text,
      status text, currency text, settlement_id uuid, transfer_id uuid, detail text, setting text, at timestamptz)
    join accounts a on a.mid = i.mid
    where coalesce(a.settings::jsonb ->> i.setting, '') not in ('', 'false')`.execute(transaction);
}

export function createSettlementMessageStore({ pool, query }: Database): SettlementMessageStore {
  return {
    async claimDue(most) {
      return (await pool.query<SettlementMessage>(CLAIM, [MESSAGE_LEASE_MS, most])).rows;
    },
    async facts({ mid, settlementId }) {
      const { rows } =
        await sql<MessageFacts>`select number, from_at, until_at, opening, closing, payout from settlements
        where mid = ${mid} and settlement_id = ${settlementId}::uuid`.execute(query);
      return rows[0];
    },
    async record({ mid, messageId, dueAt: claimedUntil }, { state, reason, dueAt, attemptedAt }) {
      const { rowCount } = await pool.query(
        `update settlement_messages set state = $3, reason = $4, due_at = $5, attempted_at = $6, attempts = attempts + 1
         where mid = $1 and message_id = $2 and due_at = $7`,
        [mid, messageId, state, reason, isoOrNull(dueAt), iso(attemptedAt), isoOrNull(claimedUntil)],
      );
      return rowCount === 1;
    },
    async list({ mids, mid, settlementId, state, messageId }, limit, before) {
      let found = query.selectFrom('settlementMessages').select(COLUMNS).orderBy('messageId', 'desc').limit(limit);
      if (mids !== null) found = found.where('mid', 'in', [...mids]);
      if (mid !== undefined) found = found.where('mid', '=', mid);
      if (settlementId !== undefined) found = found.where('settlementId', '=', settlementId);
      if (state !== undefined) found = found.where('state', '=', state);
      if (messageId !== undefined) found = found.where('messageId', '=', messageId);
      if (before !== undefined) found = found.where('messageId', '<', before);
      return (await found.execute()) as SettlementMessage[];
    },
    async resend({ mid, messageId }, now) {
      await query
        .updateTable('settlementMessages')
        .set({ state: 'waiting', reason: null, attempts: 0, dueAt: iso(now) })
        .where('mid', '=', mid)
        .where('messageId', '=', messageId)
        .execute();
    },
  };
}
