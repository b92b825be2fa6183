/** What the faults of PostgreSQL and of the line to it mean. */

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A short description without the values that PostgreSQL puts into its details. */
export const faultOf = (error: unknown): string =>
  codeOf(error) || (error instanceof Error ? error.message.split('\n')[0] : '') || 'unknown';

/** Bad data, a broken constraint or a row written twice: the statement changed nothing, and one item may be to blame. */
export const isItemFault = (error: unknown): boolean => /^(2[23]...|21000)$/.test(codeOf(error));

/** A lock was not free in time: the statement changed nothing. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03';

/** The database cannot be used at the moment, as the gateway itself found out. */
export class Outage extends Error {}

/** A statement found out at its end that it came too late, and undid itself. */
export const isDivisionByZero = (error: unknown): boolean => codeOf(error) === '22012';

const ANSWER_TIMEOUT = 'Query read timeout';

/** The driver stopped waiting for the answer to a statement; whether it took effect is not known. */
export const isAnswerTimeout = (error: unknown): boolean => error instanceof Error && error.message === ANSWER_TIMEOUT;

/** What the driver says, in words alone, when a connection was not there in time, is gone, or is being closed. */
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

/** No connection, shutting down, out of room, read-only, a lock that stays: the request may be sent again later. */
export const isOutage = (error: unknown): boolean =>
  error instanceof Outage ||
  /^(08...|53...|57...|25006|55P03|E[A-Z]+)$/.test(codeOf(error)) ||
  (error instanceof Error && CONNECTION_FAULTS.includes(error.message));

/** What a promise brings, or an outage when it takes longer than this. */
export async function within<Result>(ms: number, result: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Outage(`The database did not answer within ${ms} ms.`)), ms);
  try {
    return await Promise.race([result, promise]);
  } finally {
    clearTimeout(timer);
  }
}
