/** Sends requests: with a timeout, and again only where a repeat cannot move money twice. */
import { setTimeout as pause } from 'node:timers/promises';
import { connectionFailure, type Failure, failureOf, withFacts } from './errors.ts';
import { DUPLICATE_WINDOW_MS, type Operation } from './generated.ts';

export interface TransportOptions {
  /** How long one attempt may take, in milliseconds. The gateway waits up to 20 seconds for a provider. */
  timeoutMs: number;
  /** How many times a request is repeated at most. */
  retries: number;
  /** The pause before the first repeat, in milliseconds; it doubles with each one and varies randomly. */
  retryPauseMs: number;
}

export const DEFAULTS: TransportOptions = { timeoutMs: 30_000, retries: 3, retryPauseMs: 250 };

/** The longest pause that a `Retry-After` may cause; a longer one is reported to the caller. */
const PAUSE_MOST_MS = 30_000;

/** A repeat is sent only this long after the first attempt, so that it arrives within the duplicate window. */
const REPEAT_WITHIN_MS = DUPLICATE_WINDOW_MS - 5_000;

export interface Message {
  url: string;
  contentType: string;
  body: string;
  /** The id of an operation, for its errors. */
  operationId: string | undefined;
}

async function attempt({ url, contentType, body }: Message, timeoutMs: number): Promise<object | Failure> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': contentType, accept: 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    text = await response.text();
  } catch (thrown) {
    return connectionFailure(thrown, timeoutMs);
  }
  const answer = objectIn(text);
  const isSuccess = response.status === 200 && answer !== undefined && !('error_code' in answer);
  return isSuccess ? answer : failureOf(response, answer);
}

function objectIn(text: string): object | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null ? read : undefined;
  } catch {
    return undefined;
  }
}

const isFailure = (outcome: object | Failure): outcome is Failure => 'isNotProcessed' in outcome;

/** The pause before a repeat: exponential with full jitter, and at least what the gateway asked for. */
function pauseBefore(repeat: number, { error }: Failure, retryPauseMs: number): number {
  const backoffMs = Math.random() * retryPauseMs * 2 ** repeat;
  return error.retryAfter === undefined ? backoffMs : error.retryAfter * 1000 + Math.random() * retryPauseMs;
}

/** Whether the failure can pass: a lost connection, a busy gateway. A refusal stays the same. */
const canPass = ({ error: { name } }: Failure): boolean => name === 'UnavailableError' || name === 'ConnectionError';

/**
 * Sends a request and returns its response, or throws. A request that the gateway did not process is repeated. One
 * whose outcome is unknown is repeated only if the gateway recognises the repeat.
 */
export async function send(message: Message, kind: Operation['repeat'], options: TransportOptions): Promise<object> {
  /** When the first attempt began whose outcome is unknown. */
  let doubtSince: number | undefined;
  for (let repeat = 0; ; repeat++) {
    const startedAt = performance.now();
    const outcome = await attempt(message, options.timeoutMs);
    if (!isFailure(outcome)) return outcome;
    if (outcome.error.mayHaveHappened) doubtSince ??= startedAt;
    const pauseMs = pauseBefore(repeat, outcome, options.retryPauseMs);
    const isLate = doubtSince !== undefined && performance.now() + pauseMs - doubtSince > REPEAT_WITHIN_MS;
    const isSafe = doubtSince === undefined || kind === 'read' || kind === 'operation' || (kind === 'order' && !isLate);
    if (!isSafe || !canPass(outcome) || repeat >= options.retries || pauseMs > PAUSE_MOST_MS) {
      const mayHaveHappened = doubtSince !== undefined && kind !== 'read';
      throw withFacts(outcome.error, { mayHaveHappened, operationId: message.operationId });
    }
    await pause(pauseMs);
  }
}
