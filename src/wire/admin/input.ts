/** Reads what admin requests bring: JSON objects, page sizes, dates. */
import { isUuid } from '../../lib/id.ts';
import { isObject } from '../../lib/json.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';

/** A body, or a member of one, that has to be an object. */
export function objectBody(body: unknown, field = 'body'): Record<string, unknown> {
  if (isObject(body)) return body;
  throw invalidField(field, field === 'body' ? 'The body should be a JSON object.' : SENTENCES.notAnObject);
}

/** The parameters of a query string, each read by its row; unknown, repeated and malformed ones are named. */
export function readQuery<Row extends Record<string, (text: string) => unknown>>(
  query: unknown,
  rows: Row,
): { [Name in keyof Row]?: Exclude<ReturnType<Row[Name]>, undefined> } {
  const problems: Problem[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(query as Record<string, unknown>)) {
    const read = Object.hasOwn(rows, name) ? rows[name] : undefined;
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
  return values as { [Name in keyof Row]?: Exclude<ReturnType<Row[Name]>, undefined> };
}

export const uuidText = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined);

export const anyText = (text: string): string | undefined => (text.includes('\0') ? undefined : text);

export function pageSize(text: string): number | undefined {
  const size = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return size >= 1 && size <= LIMITS.adminPageSizeMost ? size : undefined;
}

/** A day, or a moment with `T` or a space between day and time; without a zone it is UTC. */
export function moment(text: string): number | undefined {
  const parts = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/.exec(text);
  if (!parts) return undefined;
  const [, day, time = '00:00', zone = 'Z'] = parts;
  const ms = Date.parse(`${day}T${time}${zone}`);
  // The parser takes February 30 for a day in March, and the database knows no year 0.
  const isDay = new Date(`${day}T00:00Z`).toJSON()?.startsWith(day as string);
  return isDay && ms >= EARLIEST && ms <= LATEST ? ms : undefined;
}

const EARLIEST = Date.parse('0001-01-01T00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** A moment in milliseconds since 1970, as cursors write it: one that the database knows. */
export function milliseconds(text: string): number | undefined {
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return ms <= LATEST ? ms : undefined;
}

/** One page of a list: a row more than was asked for was read, to know whether there is a next page. */
export function page<Row, Item>(
  rows: Row[],
  size: number,
  cursor: (row: Row) => string,
  view: (row: Row) => Item,
): { items: Item[]; next_cursor: string | null } {
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  return { items: shown.map(view), next_cursor: rows.length > size && last ? cursor(last) : null };
}
