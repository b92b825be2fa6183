/** Reads the bodies of the sandbox's calls, each member by its row. */
import { isObject } from '../../lib/json.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';

/** What each member of a body has to be. */
export type BodyRows = Readonly<Record<string, (value: unknown) => boolean>>;

export const isWithin =
  (least: number, most: number) =>
  (value: unknown): boolean =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

/** How often something may be asked for at once. */
export const isCount = isWithin(1, 10_000);

/** The members of a body that are set, each as its row wants it; everything that is wrong is named. */
export function readBody(body: unknown, rows: BodyRows): Record<string, unknown> {
  if (!isObject(body)) throw invalidField('body', 'The body should be a JSON object.');
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(body)) {
    const accepts = Object.hasOwn(rows, name) ? rows[name] : undefined;
    if (!accepts)
      problems.push({ field: /^\w{1,64}$/.test(name) ? name : 'body', sentence: 'This value does not exist.' });
    else if (value !== null && !accepts(value)) problems.push({ field: name, sentence: SENTENCES.notAChoice });
  }
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
