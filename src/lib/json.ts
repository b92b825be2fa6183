/** Looks at what JSON brought, before anything is done with it. */

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text that the database can hold: no half characters, no NUL. */
export const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most && value.isWellFormed() && !value.includes('\0');
