/** Reads the bodies of sandbox calls and checks each member. */
import { isObject } from '../../lib/text/json.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { MOST_FAULTS } from '../../rules/sandbox-scenarios.ts';

/** The members that a body may have, each with its check. */
export type BodyChecks = Readonly<Record<string, (value: unknown) => boolean>>;

export const isWithin =
  (least: number, most: number) =>
  (value: unknown): boolean =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

/** Checks the `count` of a fault or an inbox answer. */
export const isCount = isWithin(1, MOST_FAULTS);

/** Returns the members of a body that are not null; the refusal lists every unknown or invalid member. */
export function readBody(body: unknown, checks: BodyChecks): Record<string, unknown> {
  if (!isObject(body)) throw invalidField('body', 'The body should be a JSON object.');
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(body)) {
    const accepts = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!accepts)
      problems.push({
        field: /^\w{1,64}$/.test(name) ? name : 'body',
        sentence: 'This value does not exist.',
        expected: `Only ${Object.keys(checks).join(', ')}.`,
      });
    else if (value !== null && !accepts(value)) problems.push({ field: name, sentence: SENTENCES.notAChoice });
  }
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
