/** What the faults of PostgreSQL and of the line to it mean. */

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A short description without the values that PostgreSQL puts into its details. */
export const faultOf = (error: unknown): string =>
  codeOf(error) || (error instanceof Error ? error.message.split('\n')[0] : '') || 'unknown';

/** Bad data, a broken constraint or a row written twice: the statement changed nothing, and one item may be to blame. */
export const isItemFault = (error: unknown): boolean => /^(2[23]...|21000)$/.test(codeOf(error));

/** No connection, shutting down, out of room, read-only: the request may be sent again later. */
export const isOutage = (error: unknown): boolean =>
  /^(08...|53...|57...|25006|E[A-Z]+)$/.test(codeOf(error)) ||
  (error instanceof Error && /timeout|terminated|Connection|ended|after calling end/i.test(error.message));
