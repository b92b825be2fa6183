/** Reads the input of admin calls: JSON objects, query parameters, page sizes, dates. */
import { LATEST_TIME } from '../../lib/date-time.ts';
import { isUuid } from '../../lib/id.ts';
import { isObject } from '../../lib/json.ts';
import { keysetPage } from '../../lib/keyset-page.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';

export { dateTime } from '../../lib/date-time.ts';

/** Returns a body, or a member of one, if it is an object; otherwise refuses the request. */
export function objectBody(body: unknown, field = 'body'): Record<string, unknown> {
  if (isObject(body)) return body;
  throw invalidField(field, field === 'body' ? 'The body should be a JSON object.' : SENTENCES.notAnObject);
}

/** Refuses members of a body that have no meaning: a misspelled member must not be ignored. */
export function refuseUnknown(rest: Record<string, unknown>): void {
  const [unknown] = Object.keys(rest);
  if (unknown === undefined) return;
  throw invalidField(/^\w{1,64}$/.test(unknown) ? unknown : 'body', 'This value does not exist.');
}

/** The values that readers return; a parameter that was not sent is missing. */
export type QueryValues<Readers extends Record<string, (text: string) => unknown>> = {
  [Name in keyof Readers]?: Exclude<ReturnType<Readers[Name]>, undefined>;
};

/** Reads a query string with one reader per parameter; the refusal lists unknown, repeated and malformed parameters. */
export function readQuery<Readers extends Record<string, (text: string) => unknown>>(
  query: unknown,
  readers: Readers,
): QueryValues<Readers> {
  const problems: Problem[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(query as Record<string, unknown>)) {
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (!read)
      problems.push({
        field: /^[\w.-]{1,64}$/.test(name) ? name : 'query',
        sentence: 'This parameter does not exist.',
      });
    else if (typeof text !== 'string') problems.push({ field: name, sentence: SENTENCES.once });
    else if (text !== '') {
      values[name] = read(text);
      if (values[name] === undefined) problems.push({ field: name, sentence: SENTENCES.invalid });
    }
  }
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return values as QueryValues<Readers>;
}

export const uuidText = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined);

export const anyText = (text: string): string | undefined => (text.includes('\0') ? undefined : text);

export function pageSize(text: string): number | undefined {
  const size = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return size >= 1 && size <= LIMITS.adminPageSizeMost ? size : undefined;
}

/** Parses milliseconds since 1970, as cursors contain them, within the range of the database. */
export function epochMs(text: string): number | undefined {
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return ms <= LATEST_TIME ? ms : undefined;
}

/** Builds one page of a list. `rows` has one row more than the page if there is a next page. */
export function page<Row, Item>(
  rows: Row[],
  size: number,
  cursor: (row: Row) => string,
  view: (row: Row) => Item,
): { items: Item[]; next_cursor: string | null } {
  const { items, last } = keysetPage(rows, size);
  return { items: items.map(view), next_cursor: last ? cursor(last) : null };
}
