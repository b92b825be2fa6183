/** The sentences of a refusal that say what a field accepts, from the tables. */
import { hasCardNumber } from '../lib/cards/search.ts';
import { EXAMPLES } from '../rules/brand-examples.ts';
import { expectation } from '../rules/expectation.ts';
import type { Field, FieldContext } from '../rules/fields.ts';
import { expectsOf } from './openapi/descriptions.ts';

const EXAMPLE_LENGTH_MOST = 64;

/** The row of a field by its name in the request: `list[0][type]` is a member of the row `list`. */
export function fieldNamed(fields: readonly Field[], name: string): Field | undefined {
  const row = fields.find((field) => field.name === name || field.alias === name);
  if (row) return row;
  const [, list, member] = /^(.+)\[\d+\]\[([^\]]+)\]$/.exec(name) ?? [];
  return fields.find((field) => field.name === list)?.items?.find((item) => item.name === member);
}

/** What a field accepts, with an example; undefined for a field that accepts every text. */
export function expectedOf(field: Field, context: FieldContext, brand = ''): string | undefined {
  if (field.isSetting) return 'A value in the settings of the account: ask your operator to set it.';
  const { expects, example } = field.expectsIn?.(context) ?? { expects: expectsOf(field), example: field.example };
  const shown = EXAMPLES[brand]?.fields?.[field.name] ?? example ?? '';
  const isShown = shown !== '' && shown.length <= EXAMPLE_LENGTH_MOST && !hasCardNumber(shown);
  return !isShown && expects === 'text' ? undefined : expectation(expects, isShown ? shown : '');
}
