/** The sandbox's own receiver: takes callbacks as a merchant's server does, checks them as one should, and keeps them. */
import { setTimeout as pause } from 'node:timers/promises';
import { isWireHash } from '../lib/hash.ts';
import { isUuid } from '../lib/id.ts';
import { isObject } from '../lib/json.ts';
import { signedId } from '../lib/signature.ts';
import { CALLBACK_HASH_FIELDS } from '../rules/callbacks.ts';
import { Refusal } from '../rules/errors.ts';
import { LIMITS } from '../rules/limits.ts';
import type { InboxCallback } from '../store/callback-inbox.ts';
import { findAccount } from './accounts.ts';
import type { Account, Gateway } from './context.ts';

export type { InboxCallback } from '../store/callback-inbox.ts';

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
  const signs = CALLBACK_HASH_FIELDS['trans_id' in fields ? 's2s' : 'checkout'];
  const values = signs.map((name) => String(fields[name] ?? ''));
  return isWireHash(String(fields.hash), values, passwords);
}

/** Whether one of the secrets signed exactly these bytes, and not long ago. */
export const isSignatureValid = ({ headers, body }: RawCallback, secrets: readonly string[], nowMs: number): boolean =>
  signedId(headers, body, secrets, nowMs, LIMITS.signatureToleranceMs) !== undefined;

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
  const callbackInbox = {
    ...raw,
    isHashValid: isHashValid(fieldsOf(raw), account.passwords()),
    isSignatureValid: isSignatureValid(raw, account.callbackSecrets(), receivedAt),
    receivedAt,
  };
  return gateway.callbackInbox.keep(account.mid, callbackInbox, LIMITS.inboxMost);
}

export interface InboxPage {
  items: InboxCallback[];
  /** The number of the newest that ever arrived. */
  last: number;
  /** Where this receiver takes callbacks. */
  url: string;
}

/** What arrived after a number, oldest first; whoever waits is answered as soon as there is something. */
export async function listInbox(
  gateway: Gateway,
  given: string,
  { after, limit, waitMs, signal }: { after: number; limit: number; waitMs: number; signal: AbortSignal },
): Promise<InboxPage> {
  const { mid } = await receiverOf(gateway, given);
  const until = Date.now() + waitMs;
  for (;;) {
    const last = await gateway.callbackInbox.last(mid);
    const items = last > after ? await gateway.callbackInbox.list(mid, after, limit) : [];
    if (items.length > 0 || Date.now() >= until || signal.aborted) {
      return { items, last, url: `${gateway.publicUrl}/sandbox/callbacks/${mid}` };
    }
    await pause(LIMITS.inboxPollMs, undefined, { signal }).catch(() => undefined);
  }
}

export async function clearInbox(gateway: Gateway, given: string): Promise<number> {
  const { mid } = await receiverOf(gateway, given);
  return gateway.callbackInbox.clear(mid);
}

/** Lets the next callbacks be answered with another status, so that a merchant sees how they come again. */
export async function setInboxAnswer(gateway: Gateway, given: string, answer: number, count: number): Promise<void> {
  const { mid } = await receiverOf(gateway, given);
  await gateway.callbackInbox.setAnswer(mid, answer, count);
}
