/** Standard Webhooks signatures over raw bytes: they prove the sender, the time and the content. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedHeaders {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

/** A secret is base64, with or without the prefix `whsec_`. */
const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64');

function mac(id: string, timestamp: string, body: Buffer | string, secret: string): Buffer {
  return createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();
}

/** The headers for a body, with one signature per secret: during a rotation either secret verifies. */
export function signatureOf(
  id: string,
  nowMs: number,
  body: Buffer | string,
  secrets: readonly string[],
): SignedHeaders {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signatures = secrets.map((secret) => `v1,${mac(id, timestamp, body, secret).toString('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/** The id of a message that one of the secrets signed within the tolerance; undefined for any other message. */
export function signedId(
  headers: Readonly<Record<string, unknown>>,
  body: Buffer | string,
  secrets: readonly string[],
  nowMs: number,
  toleranceMs: number,
): string | undefined {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string') return undefined;
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return undefined;
  if (Math.abs(nowMs - Number(timestamp) * 1000) > toleranceMs) return undefined;
  const candidates = signature
    .split(' ')
    .filter((entry) => entry.startsWith('v1,'))
    .map((entry) => Buffer.from(entry.slice(3), 'base64'));
  const isSigned = secrets.some((secret) => {
    const expected = mac(id, timestamp, body, secret);
    return candidates.some((each) => each.length === expected.length && timingSafeEqual(each, expected));
  });
  return isSigned ? id : undefined;
}
