/** Signatures over raw bytes in the way of Standard Webhooks: who sent this, when, and that not a byte was changed. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedHeaders {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

/** A secret is base64, with or without the usual `whsec_` before it. */
const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64');

function mac(id: string, timestamp: string, body: Buffer | string, secret: string): Buffer {
  return createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();
}

/** The headers that go with a body; with two secrets, while one is replaced, either of them verifies. */
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

/** The id of a message that one of the secrets signed within the tolerance, or nothing. */
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
  const given = signature
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice(3), 'base64'));
  const isRight = secrets.some((secret) => {
    const right = mac(id, timestamp, body, secret);
    return given.some((one) => one.length === right.length && timingSafeEqual(one, right));
  });
  return isRight ? id : undefined;
}
