/** One call to a provider: bounded by the limits of its connector and by a deadline, and recorded for the history. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Connector, NotSent, RateLimited } from '../../connectors/connector.ts';
import { createLimiter, NotBegun } from '../../lib/flow/limiter.ts';
import { continueWith, type MaybePromise } from '../../lib/flow/maybe-promise.ts';
import { cut } from '../../lib/text/cut.ts';
import { storable } from '../../lib/text/json.ts';
import { Deadline } from '../../lib/time/deadline.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { CallRecord, Payment } from '../../store/payments/payments.ts';
import { capabilitiesOf, connectorOf } from '../connections/connectors.ts';
import type { CallLimits, Gateway } from '../context.ts';

function limitsOf(gateway: Gateway, name: string): CallLimits | undefined {
  const { providerLimits } = gateway;
  const known = providerLimits.get(name);
  if (known) return known;
  const concurrency = capabilitiesOf(gateway, name)?.concurrency;
  if (concurrency === undefined) return undefined;
  const limits = {
    submissions: createLimiter(concurrency, LIMITS.providerWaiting),
    queries: createLimiter(LIMITS.queryConcurrency, LIMITS.providerWaiting),
  };
  providerLimits.set(name, limits);
  return limits;
}

/** Whether too many calls wait for a provider, so that a further one would not be sent. */
export const isQueueFull = (gateway: Gateway, connector: string): boolean =>
  limitsOf(gateway, connector)?.submissions.isFull === true;

/** Refuses a new payment, before anything is written for it, while too many calls wait for its provider. */
export function refuseWhileFull(gateway: Gateway, connector: string): void {
  if (isQueueFull(gateway, connector)) throw new Refusal('providerBusy', [], LIMITS.providerBusyRetrySeconds);
}

/**
 * The fence of a submission or operation. The work loop may query the row once it is due; this process stops sending
 * some time before, so that a query never overtakes the call, however long that waited in the limiter. A jump of the
 * sandbox clock does not shorten the deadline.
 */
export function sendDeadline({ clock }: Gateway, { mid, dueAt }: Pick<Payment, 'mid' | 'dueAt'>): Deadline {
  const leftMs = (dueAt ?? 0) - LIMITS.submissionMarginMs - clock.now(mid);
  const isJump = leftMs < LIMITS.providerLeastTimeMs && clock.wasMovedWithin(LIMITS.submissionMs);
  return new Deadline(isJump ? LIMITS.providerTimeoutMs : leftMs, LIMITS.providerLeastTimeMs);
}

export type Reply<Result> =
  | { kind: 'answered'; result: Result; record: (outcome: string) => CallRecord }
  /** The outcome is unknown; this is never a decline. */
  | { kind: 'unanswered'; call: CallRecord }
  /** The call was not sent: the provider cannot have received it. */
  | { kind: 'notSent'; call: CallRecord; limited?: RateLimited | undefined };

export interface ProviderCall<Result> {
  payment: Payment;
  verb: CallRecord['verb'];
  /** Queries have a limit of their own. */
  isQuery: boolean;
  deadline: Deadline;
  perform: (connector: Connector, deadline: Deadline) => MaybePromise<Result>;
}

/** Never throws and never rejects; without a network call, the reply is at hand. */
export function callProvider<Result>(gateway: Gateway, call: ProviderCall<Result>): MaybePromise<Reply<Result>> {
  const { payment, verb, deadline } = call;
  const started = performance.now();
  const record = (outcome: string, reason?: string): CallRecord => ({
    verb,
    connector: payment.connector,
    outcome,
    tookMs: Math.round(performance.now() - started),
    ...(reason && { reason }),
  });
  const answered = (result: Result): Reply<Result> => {
    deadline.clear();
    gateway.health.answered(payment.connector);
    return { kind: 'answered', result: storable(result), record };
  };
  const failed = (error: unknown): Reply<Result> => {
    deadline.clear();
    gateway.log.warn({ err: error, payment_id: payment.paymentId, verb }, 'provider did not answer');
    // A call that the limiter or the deadline rejected says nothing about the health of the provider.
    const reason = shortMessage(error);
    if (!(error instanceof NotBegun)) gateway.health.failed(payment.connector, reason);
    const isNotSent = error instanceof NotSent || error instanceof NotBegun;
    return isNotSent
      ? { kind: 'notSent', call: record('not sent', reason), limited: error instanceof RateLimited ? error : undefined }
      : { kind: 'unanswered', call: record('no answer', reason) };
  };
  let answer: MaybePromise<Result>;
  try {
    answer = perform(gateway, call);
  } catch (error) {
    return failed(error);
  }
  return answer instanceof Promise ? answer.then(answered, failed) : answered(answer);
}

const ERROR_LENGTH = 200;
/** For the operator. Messages of connectors contain no secrets, and those of the HTTP client only addresses. A parser quotes what it read. */
const shortMessage = (error: unknown): string =>
  cut(storable(error instanceof Error ? error.message : ''), ERROR_LENGTH);

function perform<Result>(gateway: Gateway, call: ProviderCall<Result>): MaybePromise<Result> {
  return continueWith(connectorOf(gateway, call.payment.connector), (connector) =>
    performWith(gateway, call, connector),
  );
}

function performWith<Result>(
  gateway: Gateway,
  call: ProviderCall<Result>,
  connector: Connector | undefined,
): MaybePromise<Result> {
  const { payment, isQuery, deadline } = call;
  if (!connector) throw new NotSent(`There is no connector ${payment.connector}.`);
  if (!deadline.mayBegin) throw new NotBegun('The deadline for starting the call has passed.');
  const limits = limitsOf(gateway, payment.connector);
  if (!limits) return answerInTime(call.perform(connector, deadline), deadline);
  const limiter = isQuery ? limits.queries : limits.submissions;
  return limiter.run(async () => answerInTime(call.perform(connector, deadline), deadline), deadline);
}

/** Rejects at the deadline, even if the connector ignores it. */
function answerInTime<Result>(answer: MaybePromise<Result>, deadline: Deadline): MaybePromise<Result> {
  if (!(answer instanceof Promise)) return answer;
  const { signal } = deadline;
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    answer.then(resolve, reject);
  });
}

/** A provider that has too many calls did not process this one: waits as long as it asks, if the call may still begin then. */
export async function hasPaused(
  answer: { kind: string; limited?: RateLimited | undefined },
  before: number,
  deadline: Deadline,
): Promise<boolean> {
  if (answer.kind !== 'notSent' || !answer.limited) return false;
  const pauseMs = answer.limited.retryAfterMs ?? LIMITS.rateLimitedPauseMs[before];
  if (pauseMs === undefined || before >= LIMITS.rateLimitedPauseMs.length) return false;
  if (deadline.leftMs - pauseMs <= LIMITS.providerLeastTimeMs) return false;
  await pause(pauseMs);
  return true;
}
