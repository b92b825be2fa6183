/** Checks of parsed JSON values and of JSON text. */

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a member of a request has no value: it was not sent, or is null or an empty text. */
export const isAbsent = (value: unknown): value is undefined | null | '' =>
  value === undefined || value === null || value === '';

/** A JSON text without the byte order mark that some programs put before it: RFC 8259 allows to pass over it. */
export const withoutByteOrderMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text);

/** A text that PostgreSQL can store: no lone surrogates, no NUL. */
export const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most && value.isWellFormed() && !value.includes('\0');

/** In JSON text, the escape of a NUL or of a lone surrogate, which PostgreSQL cannot store; not an escaped backslash. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(0000|d[89a-f])/i;

/** Whether PostgreSQL can store a value as JSON. */
export const isKeepable = (value: unknown): boolean => !UNSTORABLE.test(JSON.stringify(value));

/** Whether a value is nested no deeper than this. */
export const isShallow = (value: unknown, most: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (most > 0 && Object.values(value).every((inner) => isShallow(inner, most - 1)));

const TOKENS = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/g;

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];

/** How many names the objects of a JSON text have: each is followed by a colon. */
function countNames(json: string): number {
  let count = 0;
  let isInText = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) isInText = !isInText;
    else if (isInText && code === BACKSLASH) at++;
    else if (!isInText && code === COLON) count++;
  }
  return count;
}

/** How many members the objects in a value have. */
function countMembers(value: unknown): number {
  let count = 0;
  const values = [value];
  // Not recursive, because a text may be nested deeper than the stack.
  for (const each of values) {
    if (typeof each !== 'object' || each === null) continue;
    const inner = Object.values(each);
    if (!Array.isArray(each)) count += inner.length;
    for (const one of inner) values.push(one);
  }
  return count;
}

/**
 * The path of the first name that occurs twice in one object of a JSON text, which `value` was parsed from: `JSON.parse`
 * drops one of the values.
 */
export function repeatedName(json: string, value: unknown): string | undefined {
  if (countNames(json) === countMembers(value)) return undefined;
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

/** JSON with sorted members: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

/** A copy of a JSON value in which every text is mapped; the names of members stay. */
export function mapTexts<Value>(value: Value, map: (text: string) => string): Value {
  if (typeof value === 'string') return map(value) as Value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map)) as Value;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, map)])) as Value;
}

const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

const isPlain = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value));

/**
 * A copy of a value that came from elsewhere, in which PostgreSQL can store every name and text: NUL and lone surrogates become
 * replacement characters. What is no text, list or plain object, such as a secret, stays as it is.
 */
export function storable<Value>(value: Value): Value {
  if (typeof value === 'string') return storableText(value) as Value;
  if (Array.isArray(value)) return value.map(storable) as Value;
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [storableText(name), storable(inner)]),
  ) as Value;
}
