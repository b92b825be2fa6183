/** What the faults of PostgreSQL and of the line to it mean. */

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A short description without the values that PostgreSQL puts into its details. */
export const faultOf = (error: unknown): string =>
  codeOf(error) || (error instanceof Error ? error.message.split('\n')[0] : '') || 'unknown';

/** Bad data or a broken constraint: the statement changed nothing, and one item may be to blame. */
export const isItemFault = (error: unknown): boolean => /^2[23]...$/.test(codeOf(error));

/** A lock was not free in time: the statement changed nothing. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03';

/** No connection, shutting down, out of room, read-only, a lock that stays: the request may be sent again later. */
export const isOutage = (error: unknown): boolean =>
  /^(08...|53...|57...|25006|55P03|E[A-Z]+)$/.test(codeOf(error)) ||
  (error instanceof Error && /timeout|terminated|Connection|ended|after calling end/i.test(error.message));
