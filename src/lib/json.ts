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

const TOKENS = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/g;

/** The path to the first name that stands twice in one object of a JSON text; who reads it would drop one of them. */
export function repeatedName(json: string): string | undefined {
  const objects: { names: Set<string>; name: string }[] = [];
  for (const [token, text = '', colon] of json.matchAll(TOKENS)) {
    const object = objects.at(-1);
    if (token === '{') objects.push({ names: new Set(), name: '' });
    else if (token === '}') objects.pop();
    else if (colon !== undefined && object) {
      object.name = JSON.parse(text);
      if (object.names.has(object.name)) return objects.map(({ name }) => name).join('.');
      object.names.add(object.name);
    }
  }
  return undefined;
}

/** The same text for the same value, in whatever order its members stand. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
