/** The sandbox's own receiver: takes callbacks as a merchant's server does, checks them as one should, and keeps them. */
import { setTimeout as pause } from 'node:timers/promises';
import { isWireHash } from '../lib/hash.ts';
import { isUuid } from '../lib/id.ts';
import { isObject } from '../lib/json.ts';
import { signedId } from '../lib/signature.ts';
import { CALLBACK_SIGNS } from '../rules/callbacks.ts';
import { Refusal } from '../rules/errors.ts';
import { LIMITS } from '../rules/limits.ts';
import type { ReceivedCallback } from '../store/received.ts';
import { findAccount } from './accounts.ts';
import type { Account, Gateway } from './context.ts';

export type { ReceivedCallback } from '../store/received.ts';

/** Headers and bytes as they came over the wire. */
export interface RawCallback {
  headers: Record<string, unknown>;
  body: Buffer;
}

/** What a form or a JSON object says; nothing when the body is neither. */
export function fieldsOf({ headers, body }: RawCallback): Record<string, unknown> | undefined {
  const text = body.toString('utf8');
  if (!/^application\/json\b/i.test(String(headers['content-type'])))
    return Object.fromEntries(new URLSearchParams(text));
  try {
    const read: unknown = JSON.parse(text);
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the `hash` field is right; which fields it covers depends on how the payment was made. */
export function isHashValid(fields: Record<string, unknown> | undefined, passwords: readonly string[]): boolean {
  if (!fields) return false;
  const signs = CALLBACK_SIGNS['trans_id' in fields ? 's2s' : 'checkout'];
  const values = signs.map((name) => String(fields[name] ?? ''));
  return isWireHash(String(fields.hash), values, passwords);
}

/** Whether one of the secrets signed exactly these bytes, and not long ago. */
export const isSignatureValid = ({ headers, body }: RawCallback, secrets: readonly string[], nowMs: number): boolean =>
  signedId(headers, body, secrets, nowMs, LIMITS.newsToleranceMs) !== undefined;

async function receiverOf(gateway: Gateway, mid: string): Promise<Account> {
  const account = isUuid(mid) ? await findAccount(gateway, mid) : undefined;
  if (!account) throw new Refusal('noSuchAccount');
  return account;
}

/** Takes a callback; returns the status to answer with. */
export async function receive(gateway: Gateway, given: string, raw: RawCallback): Promise<number> {
  const account = await receiverOf(gateway, given);
  // Real time, as everywhere outside: a receiver knows nothing of a clock that was moved.
  const receivedAt = Date.now();
  const received = {
    ...raw,
    isHashValid: isHashValid(fieldsOf(raw), account.passwords()),
    isSignatureValid: isSignatureValid(raw, account.callbackSecrets(), receivedAt),
    receivedAt,
  };
  return gateway.received.keep(account.mid, received, LIMITS.receivedMost);
}

export interface Arrivals {
  items: ReceivedCallback[];
  /** The number of the newest that ever arrived. */
  last: number;
  /** Where this receiver takes callbacks. */
  url: string;
}

/** What arrived after a number, oldest first; whoever waits is answered as soon as there is something. */
export async function listReceived(
  gateway: Gateway,
  given: string,
  { after, limit, waitMs, signal }: { after: number; limit: number; waitMs: number; signal: AbortSignal },
): Promise<Arrivals> {
  const { mid } = await receiverOf(gateway, given);
  const until = Date.now() + waitMs;
  for (;;) {
    const last = await gateway.received.last(mid);
    const items = last > after ? await gateway.received.list(mid, after, limit) : [];
    if (items.length > 0 || Date.now() >= until || signal.aborted) {
      return { items, last, url: `${gateway.publicUrl}/sandbox/callbacks/${mid}` };
    }
    await pause(LIMITS.receivedLookMs, undefined, { signal }).catch(() => undefined);
  }
}

export async function clearReceived(gateway: Gateway, given: string): Promise<number> {
  const { mid } = await receiverOf(gateway, given);
  return gateway.received.clear(mid);
}

/** Lets the next callbacks be answered with another status, so that a merchant sees how they come again. */
export async function setReceiverAnswer(gateway: Gateway, given: string, answer: number, count: number): Promise<void> {
  const { mid } = await receiverOf(gateway, given);
  await gateway.received.setAnswer(mid, answer, count);
}
