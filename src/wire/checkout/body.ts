/** The JSON body of a Checkout request as the gates look at it: a dot leads into a nested object. */
import { printableName } from '../../lib/form.ts';
import { canonicalJson, isKeepable, isObject, isShallow, isText } from '../../lib/json.ts';
import type { Problem } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { RequestBody } from '../pipeline.ts';

export type CheckoutBody = RequestBody & {
  /** What stands at a path, as it was sent. */
  at(path: string): unknown;
};

/** A list of texts, or a single one; what is no text in it does not count. */
export const textList = (value: unknown): string[] =>
  (listOf(value) ?? [value]).filter((one) => typeof one === 'string' && one !== '') as string[];

/** A list, also one whose places are numbered, which some languages make of a list with gaps. */
export function listOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  const isNumbered = isObject(value) && Object.keys(value).every((name) => /^\d{1,4}$/.test(name));
  return isNumbered ? Object.values(value) : undefined;
}

/** Everything a request says but its hash, since two passwords may sign the same request. */
export function contentOf({ at }: CheckoutBody): string {
  const { hash: _hash, ...content } = at('') as Record<string, unknown>;
  return canonicalJson(content);
}

function lookUp(root: unknown, path: string): unknown {
  if (path === '') return root;
  let value = root;
  for (const name of path.split('.')) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** Every text of a body with the path that leads to it; a number is one, too, where it stands for its digits. */
function* textsIn(value: unknown, path: string): Generator<[string, string]> {
  if (typeof value === 'string' || typeof value === 'number') yield [path, String(value)];
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) yield* textsIn(inner, path === '' ? name : `${path}.${name}`);
  }
}

const DEPTH_MOST = 16;

/** Whoever looks at the texts of a body says with each the names that lead to it. */
const hasLongName = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(([name, inner]) => name.length > LIMITS.nameLength || hasLongName(inner));

/** What is wrong with a body before anybody looks for its fields. */
function problemsOf(json: unknown): Problem[] {
  const wrong = (sentence: string): Problem[] => [{ field: 'body', sentence }];
  if (!isObject(json)) return wrong('The body should be a JSON object.');
  if (!isShallow(json, DEPTH_MOST))
    return wrong(`The body is nested too deep. It should have ${DEPTH_MOST} levels or less.`);
  if (hasLongName(json)) return wrong(SENTENCES.longNames(LIMITS.nameLength));
  if (isKeepable(json)) return [];
  const unkeepable = [...textsIn(json, '')].filter(([, text]) => !isText(text, Number.POSITIVE_INFINITY));
  const named = unkeepable.map(([path]) => ({ field: printableName(path), sentence: SENTENCES.invalid }));
  return named.length > 0 ? named : wrong(SENTENCES.invalid);
}

/** `names` are other names under which a field may come. */
export function checkoutBody(json: unknown, names: Readonly<Record<string, string>> = {}): CheckoutBody {
  const problems = problemsOf(json);
  /** Every field is looked at several times. */
  const found = new Map<string, unknown>();
  const at = (path: string): unknown => {
    if (found.has(path)) return found.get(path);
    const other = names[path];
    const own = lookUp(json, path);
    const value = other !== undefined && (own ?? '') === '' ? lookUp(json, other) : own;
    found.set(path, value);
    return value;
  };
  let texts: [string, string][] | undefined;
  return {
    at,
    problems,
    value(name) {
      const value = at(name);
      return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
    },
    isNested: (name) => typeof at(name) === 'object' && at(name) !== null,
    isText: (name) => typeof at(name) === 'string',
    positions: () => [],
    texts: () => {
      texts ??= [...textsIn(json, '')];
      return texts;
    },
  };
}
