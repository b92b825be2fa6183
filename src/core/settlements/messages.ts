/** Tells merchants of settlements, payouts and bank accounts: sends due callbacks and e-mails, with retries and an end. */
import { FAULT_MESSAGES } from '../../connectors/receiver.ts';
import { wireHash } from '../../lib/crypto/hash.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { amountText } from '../../lib/money/money.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { Refusal } from '../../rules/errors.ts';
import {
  MAIL_SETTING,
  MESSAGE_HASH_FIELDS,
  MESSAGE_LEASE_MS,
  MESSAGES_AT_A_TIME,
} from '../../rules/settlement-messages.ts';
import type { MessageFacts, MessageFilter, SettlementMessage } from '../../store/settlements/messages.ts';
import { displayName, findAccount } from '../accounts/accounts.ts';
import { signedHeaders } from '../callbacks/attempt.ts';
import { backoffMs } from '../callbacks/backoff.ts';
import type { Account, Gateway } from '../context.ts';
import { processPortions } from '../installation/catch-up.ts';
import { auditEntry, type Caller, type Principal } from '../operators/principal.ts';

export type { MessageFacts, SettlementMessage } from '../../store/settlements/messages.ts';

/** What came of one attempt; one that is not final may succeed at another time. */
interface Attempt {
  isSent: boolean;
  isFinal: boolean;
  reason: string | null;
  retryAfterMs?: number | undefined;
}

type Fields = Record<string, string>;

/** The fields of a callback, in order, without the hash. Amounts are those of the moment that it tells of. */
function fieldsOf(message: SettlementMessage, facts: MessageFacts): Fields {
  const { type, status, mid, currency, settlementId, transferId, detail, createdAt } = message;
  const amount = (minor: bigint): string => amountText(minor, exponentOf(currency));
  const common = { type, status, mid, settlement_id: settlementId ?? '', number: String(facts.number), currency };
  if (type === 'payout')
    return {
      ...common,
      transfer_id: transferId ?? '',
      amount: amount(facts.payout),
      ...(detail !== null && { reason: detail }),
      date: wireDate(createdAt),
    };
  const from = wireDateOrNull(facts.fromAt);
  return {
    ...common,
    ...(from !== null && { from }),
    until: wireDate(facts.untilAt),
    opening: amount(facts.opening),
    closing: amount(facts.closing),
    payout: amount(facts.payout),
    date: wireDate(createdAt),
  };
}

async function sendCallback(gateway: Gateway, message: SettlementMessage, account: Account): Promise<Attempt> {
  const { callback_url: url, callback_format, callback_hash_case, 'dialect.digest': digest } = account.settings;
  const facts = await gateway.settlementMessages.facts(message);
  if (!facts || message.type === 'bank_account')
    return { isSent: false, isFinal: true, reason: 'It tells of nothing.' };
  if (url === '') return { isSent: false, isFinal: false, reason: FAULT_MESSAGES.noAddress };
  const fields = fieldsOf(message, facts);
  const signed = MESSAGE_HASH_FIELDS[message.type].map((name) => fields[name] ?? '');
  fields.hash = wireHash(signed, account.passwords()[0] as string, callback_hash_case, digest);
  const isJson = callback_format === 'json';
  const body = isJson ? JSON.stringify(fields) : new URLSearchParams(fields).toString();
  const headers = signedHeaders(message.messageId, body, isJson, account.callbackSecrets());
  const delivery = await gateway.receiver.send({ url, headers, body });
  if (delivery.kind === 'failed') return { isSent: false, isFinal: false, reason: FAULT_MESSAGES[delivery.fault] };
  const { status, retryAfterMs } = delivery;
  const isSent = status >= 200 && status < 300;
  const reason = isSent ? null : `The server answered with status ${status}.`;
  return { isSent, isFinal: false, reason, retryAfterMs };
}

async function sendMail(gateway: Gateway, message: SettlementMessage, account: Account): Promise<Attempt> {
  const facts = message.settlementId === null ? undefined : await gateway.settlementMessages.facts(message);
  const to = account.settings[MAIL_SETTING];
  const never = (reason: string): Attempt => ({ isSent: false, isFinal: true, reason });
  if (!gateway.mailer) return never('This installation has no mail server.');
  if (to === '') return never('There is no address to send it to.');
  const { kind, reason } = await gateway.mailer.send({
    id: `settlement-${message.messageId}`,
    date: new Date(message.createdAt),
    fromName: displayName(account),
    to,
    ...gateway.writeSettlementMail(message, facts, account),
  });
  return { isSent: kind === 'sent', isFinal: kind === 'rejected', reason };
}

/** Never throws: if the outcome cannot be recorded, the message is due again after its lease, with the same id. */
async function sendMessage(gateway: Gateway, message: SettlementMessage): Promise<void> {
  const { mid, channel } = message;
  const names = { mid, message_id: message.messageId, channel };
  try {
    const account = await findAccount(gateway, mid);
    if (!account) return;
    const { isSent, isFinal, reason, retryAfterMs } = await (channel === 'mail' ? sendMail : sendCallback)(
      gateway,
      message,
      account,
    );
    const attemptedAt = gateway.clock.now(mid);
    const pauseMs = isSent || isFinal ? undefined : backoffMs(message.attempts, retryAfterMs);
    const state = isSent ? 'sent' : pauseMs === undefined ? 'failed' : 'waiting';
    const dueAt = pauseMs === undefined ? null : attemptedAt + pauseMs;
    await gateway.settlementMessages.record(message, { state, reason, dueAt, attemptedAt });
    if (state === 'failed') gateway.log.warn({ ...names, reason }, 'message to a merchant not sent');
  } catch (error) {
    gateway.log.error({ ...names, err: error }, 'message to a merchant could not be sent');
  }
}

/** Sends due messages, a few at a time, until none is due. */
export const sendDueMessages = (gateway: Gateway, isStopped: () => boolean): Promise<void> =>
  processPortions(
    gateway,
    isStopped,
    MESSAGE_LEASE_MS,
    () => gateway.settlementMessages.claimDue(MESSAGES_AT_A_TIME),
    (message) => sendMessage(gateway, message),
  );

/** Newest first. */
export const listMessages = (
  gateway: Gateway,
  { mids }: Pick<Principal, 'mids'>,
  filter: Omit<MessageFilter, 'mids'>,
  limit: number,
  before?: string,
): Promise<SettlementMessage[]> =>
  mids?.length === 0 ? Promise.resolve([]) : gateway.settlementMessages.list({ ...filter, mids }, limit, before);

/** Sends a message again, whatever its state. */
export async function resendMessage(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  id: string,
): Promise<SettlementMessage> {
  const find = async (): Promise<SettlementMessage | undefined> =>
    isUuid(id) ? (await listMessages(gateway, principal, { messageId: id.toLowerCase() }, 1))[0] : undefined;
  const message = await find();
  if (!message) throw new Refusal('noSuchMessage');
  const { mid, messageId: subject } = message;
  await gateway.audit.append(auditEntry(gateway, by, 'settlements.resend_message', { mid, subject }));
  await gateway.settlementMessages.resend(message, gateway.clock.now(mid));
  return (await find()) ?? message;
}
