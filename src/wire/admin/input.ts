/** Reads the input of admin calls: JSON objects, query parameters, page sizes, dates. */

import { isUuid } from '../../lib/crypto/id.ts';
import { keysetPage } from '../../lib/http/keyset-page.ts';
import { isObject } from '../../lib/text/json.ts';
import { mostSimilar } from '../../lib/text/similar.ts';
import { LATEST_TIME, dateTime as readDateTime } from '../../lib/time/date-time.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { expectation } from '../../rules/expectation.ts';
import { SENTENCES, uuid } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';

/** Returns a body, or a member of one, if it is an object; otherwise refuses the request. */
export function objectBody(body: unknown, field = 'body'): Record<string, unknown> {
  if (isObject(body)) return body;
  throw invalidField(field, field === 'body' ? 'The body should be a JSON object.' : SENTENCES.notAnObject);
}

/** What a name that does not exist should be. */
export function knownNames(unknown: string, known: readonly string[]): Pick<Problem, 'expected' | 'hint'> {
  const meant = mostSimilar(unknown, known);
  return {
    expected: known.length === 0 ? 'None.' : `Only ${known.join(', ')}.`,
    hint: meant && `Did you mean ${meant}?`,
  };
}

/** Refuses members of a body that have no meaning: a misspelled member must not be ignored. */
export function refuseUnknown(rest: Record<string, unknown>, known: readonly string[]): void {
  const [unknown] = Object.keys(rest);
  if (unknown === undefined) return;
  const field = /^\w{1,64}$/.test(unknown) ? unknown : 'body';
  throw invalidField(field, 'This value does not exist.', knownNames(unknown, known));
}

/** The members of a body; others are refused. */
export function readBody<Name extends string>(body: unknown, names: readonly Name[]): Record<Name, unknown> {
  const members = objectBody(body);
  refuseUnknown(Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name as Name))), names);
  return Object.fromEntries(names.map((name) => [name, members[name]])) as Record<Name, unknown>;
}

/** Reads a parameter; undefined for a value that is not valid. A refusal contains what the reader expects. */
export type Reader = ((text: string) => unknown) & { expected?: string };

export const expecting = <Read extends (text: string) => unknown>(
  expected: string,
  read: Read,
): Read & { expected: string } => Object.assign(read, { expected });

export const oneOf = <Choice extends string>(choices: readonly Choice[]) =>
  expecting(`One of ${choices.join(', ')}.`, (text: unknown): Choice | undefined =>
    choices.find((choice) => choice === text),
  );

/** The values that readers return; a parameter that was not sent is missing. */
export type QueryValues<Readers extends Record<string, Reader>> = {
  [Name in keyof Readers]?: Exclude<ReturnType<Readers[Name]>, undefined>;
};

/** Reads a query string with one reader per parameter; the refusal lists unknown, repeated and malformed parameters. */
export function readQuery<Readers extends Record<string, Reader>>(
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
        ...knownNames(name, Object.keys(readers)),
      });
    else if (typeof text !== 'string') problems.push({ field: name, sentence: SENTENCES.once });
    else if (text !== '') {
      values[name] = read(text);
      const expected = name === 'cursor' ? 'The next_cursor of the page before.' : read.expected;
      if (values[name] === undefined) problems.push({ field: name, sentence: SENTENCES.invalid, expected });
    }
  }
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return values as QueryValues<Readers>;
}

export const uuidText = expecting(expectation('UUID', uuid.example), (text: string): string | undefined =>
  isUuid(text) ? text.toLowerCase() : undefined,
);

export const dateTime = expecting(
  'A date, or a date and a time in UTC, such as 2026-11-15 or 2026-11-15T02:24:01Z.',
  (text: string) => readDateTime(text),
);

export const anyText = (text: string): string | undefined => (text.includes('\0') ? undefined : text);

export const pageSize = expecting(
  `A whole number from 1 to ${LIMITS.adminPageSizeMost}, such as ${LIMITS.adminPageSize}.`,
  (text: string): number | undefined => {
    const size = /^\d{1,4}$/.test(text) ? Number(text) : 0;
    return size >= 1 && size <= LIMITS.adminPageSizeMost ? size : undefined;
  },
);

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
