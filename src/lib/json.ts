/** Looks at what JSON brought, before anything is done with it. */

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text that the database can hold: no half characters, no NUL. */
export const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most && value.isWellFormed() && !value.includes('\0');

/** What no database keeps as text: a zero character, or half of a character; not a text that only speaks of one. */
const UNKEEPABLE = /(?<!\\)(?:\\\\)*\\u(0000|d[89a-f])/i;

/** Whether a value can be kept in a database as it is. */
export const isKeepable = (value: unknown): boolean => !UNKEEPABLE.test(JSON.stringify(value));

/** Whether a value is nested no deeper than this. */
export const isShallow = (value: unknown, most: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (most > 0 && Object.values(value).every((inner) => isShallow(inner, most - 1)));

/** The same text for the same value, in whatever order its members stand. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
