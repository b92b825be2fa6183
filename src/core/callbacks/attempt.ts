/** One attempt to deliver a callback: signs it, sends it once, and records the outcome. */
import { type Delivery, FAULT_MESSAGES } from '../../connectors/receiver.ts';
import { signatureOf } from '../../lib/crypto/signature.ts';
import type { AttemptOutcome, CallbackRow } from '../../store/callbacks/callbacks.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Gateway } from '../context.ts';
import { backoffMs } from './backoff.ts';
import { callbackId } from './callback-id.ts';

const NOT_SIGNED = 'It could not be signed: the secret of the account cannot be opened.';
const ALL_ATTEMPTS_FAILED = 'All scheduled attempts failed.';

/** Returns whether the receiver accepted the callback. Never throws: a failed attempt is retried, if need be after its lease. */
export async function attemptDelivery(gateway: Gateway, row: CallbackRow): Promise<boolean> {
  const { mid } = row;
  try {
    const outcome = await send(gateway, row);
    if (!outcome) return false;
    const names = { mid, payment_id: row.paymentId, callback: callbackId(row) };
    if (await gateway.callbacks.record(outcome)) {
      gateway.metrics.delivered(outcome.state, gateway.clock.now(mid) - row.createdAt);
      if (outcome.state === 'parked') gateway.log.warn({ ...names, reason: outcome.reason }, 'callback parked');
    } else {
      gateway.log.debug(names, 'callback was attempted, but its lease was lost');
    }
    // Also without the lease, the answer shows whether the endpoint is healthy.
    return outcome.state === 'delivered';
  } catch (error) {
    // The outcome is not recorded, so the callback is sent again when its lease expires.
    gateway.log.error({ err: error, mid, payment_id: row.paymentId }, 'callback could not be recorded');
    return false;
  }
}

/** Undefined when this process ended the call: that is no attempt, and another process sends it after the lease. */
async function send(gateway: Gateway, row: CallbackRow): Promise<AttemptOutcome | undefined> {
  const { mid, paymentId, seq, dueAt: claimedUntil } = row;
  const base = { key: { mid, paymentId, seq }, claimedUntil };
  const account = await findAccount(gateway, mid);
  const secrets = openSecrets(gateway, account);
  if (!account || !secrets) {
    const parked = { state: 'parked', reason: NOT_SIGNED, dueAt: null } as const;
    return { ...base, ...parked, at: gateway.clock.now(mid), status: null, fault: NOT_SIGNED, tookMs: 0 };
  }
  const delivery = await post(gateway, row, row.url ?? account.settings.callback_url, secrets);
  if (delivery.kind === 'failed' && delivery.fault === 'stopped') return undefined;
  const at = gateway.clock.now(mid);
  const isAnswered = delivery.kind === 'answered';
  const attempt = {
    ...base,
    at,
    status: isAnswered ? delivery.status : null,
    fault: isAnswered ? null : FAULT_MESSAGES[delivery.fault],
    tookMs: delivery.tookMs,
  };
  if (isAnswered && delivery.status >= 200 && delivery.status < 300) {
    return { ...attempt, state: 'delivered', reason: null, dueAt: null };
  }
  const pauseMs = backoffMs(row.retryIndex, isAnswered ? delivery.retryAfterMs : undefined);
  if (pauseMs !== undefined) return { ...attempt, state: 'waiting', reason: null, dueAt: at + pauseMs };
  return { ...attempt, state: 'parked', reason: ALL_ATTEMPTS_FAILED, dueAt: null };
}

async function post(gateway: Gateway, row: CallbackRow, url: string, secrets: readonly string[]): Promise<Delivery> {
  if (url === '') return { kind: 'failed', fault: 'noAddress', tookMs: 0 };
  const { seq, body, isJson } = row;
  return gateway.receiver.send({
    url,
    headers: { ...signedHeaders(callbackId(row), body, isJson, secrets), 'turnpike-sequence': String(seq) },
    body,
  });
}

/** The headers of every request to a merchant's server. */
export const signedHeaders = (
  id: string,
  body: string,
  isJson: boolean,
  secrets: readonly string[],
): Record<string, string> => ({
  'content-type': isJson ? 'application/json; charset=utf-8' : 'application/x-www-form-urlencoded',
  'user-agent': 'Turnpike',
  // Real time: the receiver does not know the sandbox clock.
  ...signatureOf(id, Date.now(), body, secrets),
});

function openSecrets(
  gateway: Gateway,
  account: Awaited<ReturnType<typeof findAccount>>,
): readonly string[] | undefined {
  try {
    return account?.callbackSecrets();
  } catch (error) {
    gateway.log.error({ err: error, mid: account?.mid }, 'callback secret cannot be opened');
    return undefined;
  }
}
