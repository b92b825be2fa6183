/** The callback inbox of the sandbox: receives callbacks as a merchant's server does, verifies and stores them. */
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

/** A callback as received, before it is parsed. */
export interface RawCallback {
  headers: Record<string, unknown>;
  body: Buffer;
}

/** The fields of a form or a JSON object; undefined if the body cannot be parsed. */
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

/** Whether the `hash` field is valid; the fields that it covers depend on the protocol of the payment. */
export function isHashValid(fields: Record<string, unknown> | undefined, passwords: readonly string[]): boolean {
  if (!fields) return false;
  const signs = CALLBACK_HASH_FIELDS['trans_id' in fields ? 's2s' : 'checkout'];
  const values = signs.map((name) => String(fields[name] ?? ''));
  return isWireHash(String(fields.hash), values, passwords);
}

/** Whether one of the secrets signed these bytes recently. */
export const isSignatureValid = ({ headers, body }: RawCallback, secrets: readonly string[], nowMs: number): boolean =>
  signedId(headers, body, secrets, nowMs, LIMITS.signatureToleranceMs) !== undefined;

async function existingAccount(gateway: Gateway, mid: string): Promise<Account> {
  const account = isUuid(mid) ? await findAccount(gateway, mid) : undefined;
  if (!account) throw new Refusal('noSuchAccount');
  return account;
}

/** Stores a callback; returns the HTTP status to answer with. */
export async function receive(gateway: Gateway, mid: string, raw: RawCallback): Promise<number> {
  const account = await existingAccount(gateway, mid);
  // Real time: a merchant's server does not know the sandbox clock.
  const receivedAt = Date.now();
  const received = {
    ...raw,
    isHashValid: isHashValid(fieldsOf(raw), account.passwords()),
    isSignatureValid: isSignatureValid(raw, account.callbackSecrets(), receivedAt),
    receivedAt,
  };
  return gateway.callbackInbox.keep(account.mid, received, LIMITS.inboxMost);
}

export interface InboxPage {
  items: InboxCallback[];
  /** The number of the newest callback, also if it is deleted since. */
  last: number;
  /** The address of this inbox. */
  url: string;
}

/** Lists the callbacks after a number, oldest first; long polling: waits up to `waitMs` for the next one. */
export async function listInbox(
  gateway: Gateway,
  accountId: string,
  { after, limit, waitMs, signal }: { after: number; limit: number; waitMs: number; signal: AbortSignal },
): Promise<InboxPage> {
  const { mid } = await existingAccount(gateway, accountId);
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

export async function clearInbox(gateway: Gateway, accountId: string): Promise<number> {
  const { mid } = await existingAccount(gateway, accountId);
  return gateway.callbackInbox.clear(mid);
}

/** Answers the next callbacks with another status, so that a merchant can test retries. */
export async function setInboxAnswer(
  gateway: Gateway,
  accountId: string,
  answer: number,
  count: number,
): Promise<void> {
  const { mid } = await existingAccount(gateway, accountId);
  await gateway.callbackInbox.setAnswer(mid, answer, count);
}
