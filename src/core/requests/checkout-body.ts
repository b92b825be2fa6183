/** Reads the JSON body of a Checkout request for the checks; a dot in a field name denotes a nested object. */
import { printableName } from '../../lib/text/form.ts';
import { canonicalJson, isKeepable, isObject, isShallow, isText, repeatedName } from '../../lib/text/json.ts';
import type { Problem } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { CHECKOUT_OPERATIONS } from '../../rules/operations.ts';
import type { RequestBody } from './body.ts';

export type CheckoutBody = RequestBody & {
  /** The value at a path, as it was sent. */
  at(path: string): unknown;
};

/** The strings of a list, or a single string as a list; other values are ignored. */
export const textList = (value: unknown): string[] =>
  (toList(value) ?? [value]).filter((item) => typeof item === 'string' && item !== '') as string[];

/** A list, or an object with numeric keys: some languages serialise a list with gaps that way. */
export function toList(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  const isNumbered = isObject(value) && Object.keys(value).every((name) => /^\d{1,4}$/.test(name));
  return isNumbered ? Object.values(value) : undefined;
}

/** The content of a request in a canonical order, without the hash: after a password rotation a repeat has another hash. */
export function canonicalContent({ at }: CheckoutBody): string {
  const { hash: _hash, ...content } = at('') as Record<string, unknown>;
  return canonicalJson(content);
}

/** The parts of the paths that every request looks up. */
const PARTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.values(CHECKOUT_OPERATIONS)
    .flatMap(({ fields }) => fields.map(({ name }) => name))
    .map((path) => [path, path.split('.')]),
);

function lookUp(root: unknown, path: string): unknown {
  if (path === '') return root;
  let value = root;
  for (const name of PARTS.get(path) ?? path.split('.'))
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** Every string and number of a body with its path; a number counts, because its digits may be a card number. */
function* textsIn(value: unknown, path: string): Generator<[string, string]> {
  if (typeof value === 'string' || typeof value === 'number') yield [path, String(value)];
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) yield* textsIn(inner, path === '' ? name : `${path}.${name}`);
  }
}

/** The path of every value that is not an object with members. */
function* namesIn(value: unknown, path: string): Generator<string> {
  const members = isObject(value) ? Object.entries(value) : [];
  if (members.length === 0) yield path;
  for (const [name, inner] of members) yield* namesIn(inner, path === '' ? name : `${path}.${name}`);
}

const MAX_DEPTH = 16;

/** Names are limited, because `textsIn` repeats the whole path for every value. */
const hasLongName = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(([name, inner]) => name.length > LIMITS.nameLength || hasLongName(inner));

/** The problems of the body itself, before its fields are checked. */
function problemsOf(json: unknown): Problem[] {
  const bodyProblem = (sentence: string): Problem[] => [{ field: 'body', sentence }];
  if (!isObject(json)) return bodyProblem('The body should be a JSON object.');
  if (!isShallow(json, MAX_DEPTH))
    return bodyProblem(`The body is nested too deep. It should have ${MAX_DEPTH} levels or less.`);
  if (hasLongName(json)) return bodyProblem(SENTENCES.longNames(LIMITS.nameLength));
  if (isKeepable(json)) return [];
  const unkeepable = [...textsIn(json, '')].filter(([, text]) => !isText(text, Number.POSITIVE_INFINITY));
  const problems = unkeepable.map(([path]) => ({ field: printableName(path), sentence: SENTENCES.invalid }));
  return problems.length > 0 ? problems : bodyProblem(SENTENCES.invalid);
}

/** The problem of a JSON text that repeats a field; such a request is ambiguous. `json` is the parsed text. */
export function repeatedFieldProblem(text: string, json: unknown): Problem | undefined {
  const path = repeatedName(text, json);
  return path === undefined ? undefined : { field: printableName(path), sentence: SENTENCES.once };
}

/** The same JSON with numbers as they are written: `10.50` reads as `10.5` otherwise. */
function withNumberTexts(text: string): unknown {
  // The types of TypeScript lack the third argument, which has the text of a value.
  const reviver = (_name: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' ? context?.source : value;
  return JSON.parse(text, reviver);
}

/** `aliases` maps a field to another name under which it may be sent; `text` is the JSON as it arrived. */
export function checkoutBody(
  json: unknown,
  aliases: Readonly<Record<string, string>> = {},
  text: string | undefined = undefined,
): CheckoutBody {
  const problems = problemsOf(json);
  // The checks read every field several times.
  const cache = new Map<string, unknown>();
  const at = (path: string): unknown => {
    if (cache.has(path)) return cache.get(path);
    const alias = aliases[path];
    const own = lookUp(json, path);
    const value = alias !== undefined && (own ?? '') === '' ? lookUp(json, alias) : own;
    cache.set(path, value);
    return value;
  };
  let asWritten: unknown;
  /** An amount that is a number counts as it is written: the hash covers that. */
  const numberText = (path: string, number: number): string => {
    asWritten ??= text === undefined ? json : withNumberTexts(text);
    return String(lookUp(asWritten, path) ?? number);
  };
  let texts: [string, string][] | undefined;
  return {
    at,
    problems,
    value(name) {
      const value = at(name);
      if (typeof value === 'number' && name.endsWith('amount')) return numberText(name, value);
      return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
    },
    isNested: (name) => typeof at(name) === 'object' && at(name) !== null,
    isFlat: () => false,
    isText: (name) => typeof at(name) === 'string',
    positions: () => [],
    names: () => namesIn(json, ''),
    texts: () => {
      texts ??= [...textsIn(json, '')];
      return texts;
    },
  };
}
