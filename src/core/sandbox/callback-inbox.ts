/** The callback inbox of the sandbox: receives callbacks as a merchant's server does, verifies and stores them. */
import { setTimeout as pause } from 'node:timers/promises';
import { type HashDigest, isReversedHash, isWireHash } from '../../lib/crypto/hash.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { signedId } from '../../lib/crypto/signature.ts';
import { isObject } from '../../lib/text/json.ts';
import { CALLBACK_HASH_FIELDS } from '../../rules/callbacks.ts';
import { Refusal } from '../../rules/errors.ts';
import { CARD_DIGITS, callbackParts, PASSWORD, partsOf, REVERSED_CARD_CALLBACK } from '../../rules/hash-recipes.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { InboxCallback } from '../../store/sandbox/callback-inbox.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';
import { findPayment } from '../payments/find.ts';
import { kindOf, signedFacts } from '../requests/signed-facts.ts';

export type { InboxCallback } from '../../store/sandbox/callback-inbox.ts';

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
export function isHashValid(
  fields: Record<string, unknown> | undefined,
  passwords: readonly string[],
  digest: HashDigest = 'md5',
): boolean {
  if (!fields) return false;
  const signs = CALLBACK_HASH_FIELDS['trans_id' in fields ? 's2s' : 'checkout'];
  const values = signs.map((name) => String(fields[name] ?? ''));
  return isWireHash(String(fields.hash), values, passwords, digest);
}

/** Whether the `hash` field is valid in the recipe of the account; a card payment is read for it. */
async function isHashOf(gateway: Gateway, account: Account, raw: RawCallback): Promise<boolean> {
  const { 'dialect.hash': recipe, 'dialect.digest': digest } = account.settings;
  const fields = fieldsOf(raw);
  if (recipe === 'specified' || !fields || !('trans_id' in fields)) {
    return isHashValid(fields, account.passwords(), digest);
  }
  const payment = await findPayment(gateway, account, String(fields.trans_id));
  const texts = account.passwords().map((password) => {
    if (!payment || kindOf(payment) === 'apm') return callbackParts(flatFields(fields), password);
    const { email, card } = signedFacts(payment);
    const facts: Record<string, string> = { payer_email: email, [CARD_DIGITS]: card, [PASSWORD]: password };
    return partsOf(REVERSED_CARD_CALLBACK, (name) => facts[name] ?? String(fields[name] ?? ''));
  });
  return isReversedHash(String(fields.hash), texts, digest);
}

/** The fields under their names in a form; JSON has nested objects in their place. */
function flatFields(value: object, nameOf = (name: string): string => name): [string, string][] {
  return Object.entries(value).flatMap(([name, inner]) =>
    isObject(inner) ? flatFields(inner, (below) => `${nameOf(name)}[${below}]`) : [[nameOf(name), String(inner)]],
  );
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
    isHashValid: await isHashOf(gateway, account, raw),
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

export async function clearInbox(gateway: Gateway, by: Caller, accountId: string): Promise<number> {
  const { mid } = await existingAccount(gateway, accountId);
  const deleted = await gateway.callbackInbox.clear(mid);
  await gateway.audit.append(auditEntry(gateway, by, 'sandbox.clear_inbox', { mid, after: { deleted } }));
  return deleted;
}

/** Answers the next callbacks with another status, so that a merchant can test retries. */
export async function setInboxAnswer(
  gateway: Gateway,
  by: Caller,
  accountId: string,
  answer: number,
  count: number,
): Promise<void> {
  const { mid } = await existingAccount(gateway, accountId);
  await gateway.callbackInbox.setAnswer(mid, answer, count);
  const after = { status: answer, count };
  await gateway.audit.append(auditEntry(gateway, by, 'sandbox.set_answer', { mid, after }));
}
