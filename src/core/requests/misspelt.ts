/** Finds fields of a merchant request that are not known, and that were probably meant as a field that is missing. */
import { printableName } from '../../lib/text/form.ts';
import { mostSimilar } from '../../lib/text/similar.ts';
import type { Field } from '../../rules/fields.ts';
import { type ApiOperation, COUNTERPARTS } from '../../rules/operations.ts';
import type { RequestBody } from './body.ts';

export interface KnownNames {
  operation: ApiOperation;
  /** The field of the key, and others that every request of the protocol has. */
  common: readonly string[];
  /** Fields that depend on the request, such as those of a brand. */
  more?: readonly Field[] | undefined;
}

/** Bounds the work for a body of many small fields. */
const UNKNOWN_MOST = 50;

/** The names that were sent and are not known, each with the missing field that was probably meant. */
export function misspellings(
  body: RequestBody,
  { operation, common, more = [] }: KnownNames,
): { sent: string; meant: string }[] {
  const fields = [...operation.fields, ...more].filter(({ isSetting }) => !isSetting);
  const known = new Set([...common, ...fields.flatMap(({ name, alias }) => [name, ...(alias ? [alias] : [])])]);
  const lists = [...(operation.also ?? []), ...fields.flatMap(({ name, items }) => (items ? [name] : []))];
  const isKnown = (name: string): boolean =>
    known.has(name) ||
    fields.some((field) => field.name.startsWith(`${name}.`)) ||
    lists.some((list) => name === list || (/^[.[]/.test(name.slice(list.length)) && name.startsWith(list)));
  const unknown: string[] = [];
  for (const name of body.names()) {
    if (!isKnown(name) && printableName(name) === name && unknown.push(name) === UNKNOWN_MOST) break;
  }
  if (unknown.length === 0) return [];
  const missing = [...known].filter((name) => body.value(name) === '' && !body.isNested(name));
  return unknown.flatMap((sent) => {
    const meant = counterpartsOf(sent).find((name) => missing.includes(name)) ?? mostSimilar(sent, missing);
    return meant === undefined ? [] : [{ sent, meant }];
  });
}

/** The names of a field in the other protocol. */
export const counterpartsOf = (name: string): string[] =>
  COUNTERPARTS.flatMap(([one, other]) => (name === one ? [other] : name === other ? [one] : []));

export const didYouMean = ({ sent, meant }: { sent: string; meant: string }): string =>
  `The request contains ${sent}, which is not a field of it. Did you mean ${meant}?`;
