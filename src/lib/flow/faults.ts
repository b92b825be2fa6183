/** Classifies the errors of PostgreSQL and of connections to it. */

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** The error code, or the first line of the message: without the row values that PostgreSQL puts into its details. */
export const faultOf = (error: unknown): string =>
  codeOf(error) || (error instanceof Error ? error.message.split('\n')[0] : '') || 'unknown';

/** Invalid data, a violated constraint or a row written twice: nothing was changed, and one item may be the cause. */
export const isItemFault = (error: unknown): boolean => /^(2[23]...|21000)$/.test(codeOf(error));

/** `lock_timeout` expired: the statement changed nothing. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03';

/** PostgreSQL aborted the statement to resolve a deadlock; it wrote nothing. */
export const isDeadlock = (error: unknown): boolean => codeOf(error) === '40P01';

/** The gateway found that the database is not usable at the moment. */
export class Outage extends Error {}

/** The wait for the synchronous standby was cancelled: the commit is local, and may be lost in a failover. */
export class UnreplicatedCommit extends Outage {
  constructor() {
    super('A commit was not replicated to the standby.');
  }
}

/** The server is a standby, or is read-only: the connection leads to the wrong server. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006';

/** Division by zero: how a statement rolls itself back when it finds at its end that it came too late. */
export const isDivisionByZero = (error: unknown): boolean => codeOf(error) === '22012';

/** An integer that is too large: how a statement rolls itself back when it cannot have a lock at once. */
export const isOutOfRange = (error: unknown): boolean => codeOf(error) === '22003';

const ANSWER_TIMEOUT = 'Query read timeout';

export const answerTimeout = (): Error => new Error(ANSWER_TIMEOUT);

/** Nobody waits for the result of a statement any more; it is unknown whether the statement took effect. */
export const isAnswerTimeout = (error: unknown): boolean => error instanceof Error && error.message === ANSWER_TIMEOUT;

/** The driver's errors without a code: a connection was not established in time, was lost, or is being closed. */
const CONNECTION_FAULTS = [
  'timeout expired',
  'timeout exceeded when trying to connect',
  ANSWER_TIMEOUT,
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
  'There was an error establishing an SSL connection',
  'The server does not support SSL connections',
];

/** The connection was lost while a statement ran: it is unknown whether the statement took effect. */
export const isLost = (error: unknown): boolean =>
  error instanceof UnreplicatedCommit ||
  isAnswerTimeout(error) ||
  /^(08...|57P0[1245]|ECONNRESET|EPIPE|ETIMEDOUT)$/.test(codeOf(error)) ||
  (error instanceof Error && /^Connection terminated( unexpectedly)?$/.test(error.message));

/** No connection, shutdown, out of resources, read-only, lock timeout: the request may be sent again later. */
export const isOutage = (error: unknown): boolean =>
  error instanceof Outage ||
  /^(08...|53...|57...|25006|55P03|E[A-Z]+)$/.test(codeOf(error)) ||
  (error instanceof Error && CONNECTION_FAULTS.includes(error.message));

/** The result of a promise, or an `Outage` when it takes longer than `ms`. */
export async function within<Result>(ms: number, result: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Outage(`The database did not answer within ${ms} ms.`)), ms);
  try {
    return await Promise.race([result, promise]);
  } finally {
    clearTimeout(timer);
  }
}
