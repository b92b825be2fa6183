/** The test callback: a signed request to the callback address of an account that belongs to no payment. */
import { type Delivery, FAULT_MESSAGES } from '../../connectors/receiver.ts';
import { newId } from '../../lib/crypto/id.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Account, Gateway } from '../context.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';
import { signedHeaders } from './attempt.ts';

export interface TestCallback {
  id: string;
  /** Whether the server answered with a 2xx status. */
  isAccepted: boolean;
  /** Null if the server did not answer. */
  status: number | null;
  /** What is wrong with the answer, or why there is none; null if the server accepted the test. */
  problem: string | null;
  /** The beginning of the answer as text; null if the server did not answer. */
  answer: string | null;
  tookMs: number;
}

/** Without `id`, `trans_id` and `hash`: a receiver that does not know the type finds no payment and refuses it. */
const fieldsOf = ({ mid }: Account, nowMs: number): Record<string, string> => ({
  type: 'test',
  mid,
  date: wireDate(nowMs),
  message: 'This is a test. It belongs to no payment.',
});

const REDIRECTED = 'The server redirects. The gateway does not follow redirects: enter the final address.';

function problemOf(delivery: Delivery): string | null {
  if (delivery.kind === 'failed') return FAULT_MESSAGES[delivery.fault];
  const { status } = delivery;
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? REDIRECTED : `The server refused the test with status ${status}.`;
}

/** Bytes of an answer as text, without control characters other than line breaks and tabs. */
const printable = (bytes: Buffer): string => bytes.toString('utf8').replace(/(?![\t\n])\p{Cc}/gu, '');

/** Sends a test to the saved callback address. The delivery log does not contain it, and it is not retried. */
export async function sendTestCallback(gateway: Gateway, by: Caller, account: Account): Promise<TestCallback> {
  const { mid, settings } = account;
  const { callback_url: url, callback_format } = settings;
  if (url === '') throw invalidField('callback_url', FAULT_MESSAGES.noAddress);
  if (gateway.isTestCallbackTooFast(mid)) {
    throw new Refusal('tooManyRequests', [], Math.ceil(LIMITS.testCallbackWindowMs / 1000));
  }
  const isJson = callback_format === 'json';
  const fields = fieldsOf(account, Date.now());
  const body = isJson ? JSON.stringify(fields) : new URLSearchParams(fields).toString();
  const id = `test-${newId()}`;
  const headers = signedHeaders(id, body, isJson, account.callbackSecrets());
  const delivery = await gateway.receiver.send({ url, headers, body, sampleBytes: LIMITS.testCallbackAnswerBytes });
  const status = delivery.kind === 'answered' ? delivery.status : null;
  const problem = problemOf(delivery);
  const after = { status, problem };
  await gateway.audit.append(auditEntry(gateway, by, 'callbacks.test', { mid, subject: id, after }));
  const answer = delivery.kind === 'answered' ? printable(delivery.sample ?? Buffer.alloc(0)) : null;
  return { id, isAccepted: problem === null, status, problem, answer, tookMs: delivery.tookMs };
}
