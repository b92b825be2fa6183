/** Messages to merchants about settlements as the admin API shows them, and as CSV. */
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import type { Gateway } from '../context.ts';
import type { SettlementMessage } from '../settlements/messages.ts';
import type { Download } from './download.ts';
import { portionsCsv } from './ledger.ts';

export const messageView = (message: SettlementMessage) => ({
  message_id: message.messageId,
  mid: message.mid,
  channel: message.channel,
  type: message.type,
  status: message.status,
  currency: message.currency,
  settlement_id: message.settlementId,
  transfer_id: message.transferId,
  state: message.state,
  tries: message.attempts,
  reason: message.reason,
  next_try_at: wireDateOrNull(message.dueAt),
  created_at: wireDate(message.createdAt),
  tried_at: wireDateOrNull(message.attemptedAt),
});

const HEADER = [
  ...['message_id', 'mid', 'channel', 'type', 'status', 'currency', 'settlement_id', 'transfer_id', 'state', 'tries'],
  ...['reason', 'next_try_at', 'created_at', 'tried_at'],
];

export const messagesCsv = (
  gateway: Gateway,
  read: (limit: number, before?: string) => Promise<SettlementMessage[]>,
): Promise<Download> =>
  portionsCsv<SettlementMessage>(
    gateway,
    'settlement-messages',
    HEADER,
    (one) => [Object.values(messageView(one))],
    (limit, last) => read(limit, last?.messageId),
  );
